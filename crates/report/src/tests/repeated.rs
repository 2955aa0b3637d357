//! Loads that were repeated: each of them, and every figure over all of them.

use lab::experiment::Point;
use lab::figure::Figure;
use load::Recording;
use serde_json::Value;

use super::cases::Case;
use super::printed::Stated;
use super::readers::CSV;
use super::{Seen, compare, estimate, formats, list, number, table, unit};
use crate::Findings;
use crate::load::fixture::as_run;
use crate::load::{FinishedLoad, repeated_json};
use crate::render::Shown as _;
use crate::run::tests::csv;

const LOADS: u64 = 3;

/// Three loads, of which each answers a little less than the one before, and later.
fn recordings(case: &Case) -> Vec<Recording> {
    let mut first = case.recording();
    if !case.is_open {
        first.scheduled_until = None;
    }
    let one = |place: u64| {
        let mut recording = first.clone();
        recording.total.correct_inside -= 41 * place;
        recording.total.on_time -= 49 * place;
        recording
    };
    (0..LOADS).map(one).collect()
}

/// What the JSON of one load has of a figure.
fn of_load(load: &Value, figure: Figure) -> Option<Stated> {
    let plain = |value: Option<f64>| Some(Stated { value: value?, ..Stated::default() });
    let time = |name: &str| {
        let of = &load["response"];
        let few = list(&of["unsupported"]).any(|it| it == name);
        Some(Stated {
            value: number(&of[name])? * 1e-9,
            is_bound: of["is_bound"][name] == true,
            marks: if few { "*".into() } else { String::new() },
            ..Stated::default()
        })
    };
    let books = |name: &str| number(&load["books"][name]);
    match figure {
        Figure::Throughput => plain(number(&load["rate"]["throughput_per_s"])),
        Figure::OnTime => plain(number(&load["rate"]["on_time"]["share"]).map(|it| 100.0 * it)),
        Figure::ResponseP50 => time("p50_ns"),
        Figure::ResponseP90 => time("p90_ns"),
        Figure::ResponseP99 => time("p99_ns"),
        Figure::FailedShare => plain(Some(100.0 * books("failed")? / books("attempted")?)),
        _ => None,
    }
}

/// A line of CSV has every digit of each figure of a load.
fn lines_agree(text: &str, json: &Value) {
    let lines = table("repeated", &(&CSV, text.into()), "", LOADS as usize);
    for (load, line) in list(&json["loads"]).zip(lines) {
        for figure in Figure::OF_TRIALS {
            let Some(stated) = of_load(load, figure) else { continue };
            let (name, unit) = (figure.name(), unit(figure.name()));
            let value: f64 = line[name].parse().unwrap();
            assert!((value * unit - stated.value).abs() <= 1e-12 * stated.value, "{name}: {value}");
            let is_bound = line.get(&format!("{name}_bound")).is_some_and(|it| it == "true");
            assert_eq!(is_bound, stated.is_bound, "{name}");
        }
    }
}

#[test]
fn every_format_of_repeated_loads_says_what_the_json_says() {
    let mut all = [(); 3].map(|()| Seen::default());
    for case in Case::all().iter().filter(|case| case.kind == "load") {
        let recordings = recordings(case);
        let point = if case.is_open { Point::Requests(2_000.0) } else { Point::Connections(10) };
        let (run, trials) = as_run(&recordings, point);
        let findings = Findings::of(&7, &run, &trials, Vec::new());
        let loads: Vec<FinishedLoad> =
            recordings.into_iter().map(|recording| case.finished(recording)).collect();
        let findings = findings.of_ended(&loads);
        let json: Value = serde_json::from_str(&repeated_json(&findings).unwrap()).unwrap();
        let document = findings.document();
        lines_agree(&csv(&findings), &json);
        let page = findings.page();
        for (format, seen) in formats(&document, page).iter().zip(&mut all) {
            let rows = table("repeated", format, "load", 1 + LOADS as usize);
            let (mean, rows) = rows.split_last().unwrap();
            let is_shown = |figure: &Figure| {
                let is_known = of_load(&json["loads"][0], *figure).is_some();
                is_known && !json["figures"][figure.name()].is_null()
            };
            for figure in Figure::OF_TRIALS.into_iter().filter(is_shown) {
                let (name, heading) = (figure.name(), figure.heading());
                let about = format!("{case}, {}, {name}", format.0.name);
                let wanted = estimate(name, &json["figures"][name]);
                let wanted = Stated { has_interval: true, ..wanted };
                compare(seen, &about, mean.get(heading), &wanted);
                for (load, row) in list(&json["loads"]).zip(rows) {
                    let stated = of_load(load, figure).expect(&about);
                    compare(seen, &about, row.get(heading), &stated);
                }
            }
        }
    }
    for Seen { values, bounds, intervals, .. } in all {
        assert!(1_000 < values && 50 < bounds && 300 < intervals, "{values} {bounds} {intervals}");
    }
}
