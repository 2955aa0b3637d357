//! Searches for capacities: every rate that was tried, and the two rates of each server of a run.

use std::time::Duration;

use analysis::search::{Conclusion, End, Evidence, Judged, Place, Searched};
use serde_json::Value;
use units::duration;
use wire::Chance;

use super::printed::Stated;
use super::{Reader, Seen, any, compare, compare_cell, formats, list, mark, number, table};
use crate::capacity;
use crate::render::Shown;
use crate::run::tests::searches::{aim, of, with};

/// One to six trials of a rate, of which some may have ended early.
fn judged(chance: &mut Chance) -> Judged {
    let due = any(chance, &[700, 10_000, 300_000]);
    let late = any(chance, &[0.0, 0.0, 0.000_004, 0.000_4, 0.007, 0.08, 0.6]);
    let failed = any(chance, &[0.0, 0.0, 0.003, 0.4]);
    let is_cut = chance.below(4) == 0;
    let trial = |n: u64| Evidence {
        due,
        lost: [late, failed].map(|share| (due as f64 * share) as u64 + n % 2).into(),
        is_cut: is_cut && n.is_multiple_of(2),
        answered_per_s: 997.3,
        ..Evidence::default()
    };
    let trials: Vec<Evidence> = (0..1 + chance.below(6) as u64).map(trial).collect();
    Judged::of(&aim(), &trials.iter().collect::<Vec<_>>())
}

fn end(chance: &mut Chance, rate: f64) -> End {
    let is_short = chance.below(3) == 0;
    let answered_per_s = rate * any(chance, &[1.0, 0.913]);
    End { rate, judged: judged(chance), is_short, answered_per_s, percentile: None }
}

fn search(chance: &mut Chance, subject: &str) -> Searched {
    let rate = any(chance, &[0.7, 41.7, 1_044.0, 87_123.4]);
    let conclusion = match chance.below(5) {
        0 => Conclusion::Found,
        1 => Conclusion::Wider,
        2 => Conclusion::AtLeast,
        3 => Conclusion::NotMet,
        _ => Conclusion::OutOfTime { needed_s: 61.0 },
    };
    let lower = (conclusion != Conclusion::NotMet).then(|| end(chance, rate));
    let upper = (conclusion != Conclusion::AtLeast).then(|| end(chance, 1.05 * rate));
    let mut found = of(subject, conclusion, (lower, upper));
    for more in [1.3, 1.7] {
        let full = (chance.below(2) == 0).then(|| judged(chance));
        let short = (full.is_none() || chance.below(2) == 0).then(|| judged(chance));
        found.answer.places.push(Place { rate: more * rate, judged: full, short });
    }
    found.answer.seconds = any(chance, &[4.0, 131.4, 1_207.0]);
    found
}

fn plain(value: f64) -> Stated {
    Stated { value, ..Stated::default() }
}

/// What was lost, with the marks of a bound before a space.
fn lost_agrees(seen: &mut Seen, about: &str, printed: &str, of: &Value) {
    let stated = Stated {
        value: number(&of["percent"]).unwrap(),
        ends: [number(&of["low_percent"]), number(&of["high_percent"])],
        is_bound: of["is_bound"] == true,
        ..Stated::default()
    };
    let printed = printed.replace("≥ ", "≥").replace("< ", "<");
    assert_eq!(printed.contains('['), stated.ends[1].is_some(), "{about}: {printed}");
    compare(seen, about, Some(&printed), &stated);
}

fn rates_agree(seen: &mut Seen, format: &(&Reader, String), json: &Value) {
    let kinds = [("trials", "kept", "lost"), ("short_trials", "short_kept", "short_lost")];
    let tried = list(&json["tried"]).flat_map(|place| kinds.map(|kind| (place, kind)));
    let tried: Vec<_> = tried.filter(|(place, (trials, ..))| place[*trials] != 0).collect();
    let columns: Vec<String> = list(&json["aim"])
        .map(|of| match number(&of["within_ms"]) {
            Some(ms) => format!("> {}", duration(Duration::from_secs_f64(ms / 1e3))),
            None => "failed".into(),
        })
        .collect();
    let rows = table("searched", format, "requests/s", tried.len());
    for ((place, (trials, kept, lost)), cells) in tried.into_iter().zip(rows) {
        let about = format!("{}, at {}", format.0.name, place["per_s"]);
        let rate = plain(number(&place["per_s"]).unwrap());
        compare(seen, &about, cells.get("requests/s"), &rate);
        assert_eq!(cells["kept"], format!("{} of {}", place[kept], place[trials]), "{about}");
        for (column, of) in columns.iter().zip(list(&place[lost])) {
            lost_agrees(seen, &format!("{about}, {column}"), &cells[column], of);
        }
    }
}

fn servers_agree(seen: &mut Seen, format: &(&Reader, String), searches: &[&Value]) {
    let rows = table("searched", format, "holds/s", searches.len());
    for (of, cells) in searches.iter().zip(rows) {
        let about = format!("{}, {}", format.0.name, of["subject"]);
        let (search, capacity) = (&of["search"], &of["search"]["capacity"]);
        let doubt = mark(&search["verdict"]["word"]);
        for (column, name, marks, is_bound) in [
            ("holds/s", "lower_per_s", doubt, capacity["conclusion"] == "at_least"),
            ("not/s", "upper_per_s", doubt, false),
            ("answers/s", "answered_at_lower_per_s", "", false),
        ] {
            let stated = number(&capacity[name]).map(|value| Stated {
                is_bound,
                marks: marks.into(),
                ..plain(value)
            });
            let printed = cells[column].replace(" (short)", "");
            compare_cell(seen, &format!("{about}, {column}"), &printed, stated.as_ref());
        }
        assert_eq!(cells["trials"], search["trials"].to_string(), "{about}");
    }
}

#[test]
fn every_format_of_a_search_says_what_the_json_says() {
    let mut all = [(); 3].map(|()| Seen::default());
    for seed in 0..60 {
        let chance = &mut Chance::new(seed);
        let searches: Vec<Searched> =
            ["a", "b", "c"].into_iter().map(|subject| search(chance, subject)).collect();
        with(searches.clone(), |findings| {
            let json: Value = serde_json::from_str(&findings.json().unwrap()).unwrap();
            let document = findings.document();
            let of_run: Vec<&Value> = list(&json["searches"]).collect();
            for (format, seen) in formats(&document, findings.page()).iter().zip(&mut all) {
                servers_agree(seen, format, &of_run);
            }
        });
        for found in searches {
            with(vec![found], |findings| {
                let json = capacity::json(findings).unwrap();
                let json: Value = serde_json::from_str(&json).unwrap();
                let document = findings.document();
                for (format, seen) in formats(&document, findings.page()).iter().zip(&mut all) {
                    rates_agree(seen, format, &json);
                }
            });
        }
    }
    for Seen { values, bounds, intervals, .. } in all {
        assert!(1_000 < values && 100 < bounds && 300 < intervals, "{values} {bounds} {intervals}");
    }
}
