//! Held connections: the price list, every step, and every step of every round.

use lab::figure::Figure;
use serde_json::Value;

use super::printed::Stated;
use super::readers::{CSV, MARKDOWN};
use super::{Seen, compare, compare_cell, estimate, formats, list, mark, number, table};
use crate::render::Shown;
use crate::run::Findings;
use crate::run::held::fixture;

/// What a step's sums are called in the JSON, whose figures are means.
fn sum(figure: Figure) -> Option<&'static str> {
    match figure {
        Figure::StepFailed => Some("failed"),
        Figure::Lost => Some("lost"),
        Figure::Silent => Some("silent"),
        Figure::Waiting => Some("waiting"),
        Figure::Missed => Some("missed"),
        _ => None,
    }
}

fn prices_agree(seen: &mut Seen, format: &(&super::Reader, String), subjects: &[&Value]) {
    let rows = table("held", format, "KiB each", subjects.len());
    for (held, cells) in subjects.iter().zip(rows) {
        let about = format!("{}, {}", format.0.name, held["subject"]);
        let price = &held["price"];
        let slope = &price["memory_per_connection"];
        if slope.is_object() {
            let kib = |name: &str| number(&slope[name]).map(|bytes| bytes / 1_024.0);
            let stated = Stated {
                value: kib("bytes").unwrap(),
                ends: [kib("low"), kib("high")],
                marks: mark(&held["verdict"]["word"]).into(),
                has_interval: true,
                ..Stated::default()
            };
            // The mark of an interval that is about the line of one round.
            let line = if slope["interval_of"] == "line" { "~[" } else { "[" };
            assert!(cells["KiB each"].contains(line), "{about}: {}", cells["KiB each"]);
            let printed = cells["KiB each"].replace('~', "");
            compare(seen, &format!("{about}, KiB each"), Some(&printed), &stated);
        }
        let last = list(&held["plateaus"]).last();
        let late = Figure::PushLateP99.name();
        let late = last.map_or(&Value::Null, |last| &last["figures"][late]);
        for (column, name, of) in [
            ("CPU/1k", "cpu_ms", &price["cpu_ms_per_1000"]),
            ("late p99", "late_ms", late),
            ("reached", "reached", &price["reached"]),
            ("given back", "percent", &price["memory_after"]["given_back_percent"]),
        ] {
            let stated = of.is_object().then(|| estimate(name, of));
            compare_cell(seen, &format!("{about}, {column}"), &cells[column], stated.as_ref());
        }
    }
}

fn steps_agree(seen: &mut Seen, format: &(&super::Reader, String), subjects: &[&Value]) {
    let steps: Vec<&Value> = subjects.iter().flat_map(|held| list(&held["plateaus"])).collect();
    for (step, cells) in steps.iter().zip(table("held", format, "connections", steps.len())) {
        let connections = cells["connections"].replace(',', "");
        assert_eq!(connections, step["connections"].to_string(), "{}", format.0.name);
        for figure in Figure::OF_STEPS {
            let Some(printed) = cells.get(figure.heading()) else { continue };
            let about = format!("{}, {connections}, {}", format.0.name, figure.name());
            let of = &step["figures"][figure.name()];
            match sum(figure) {
                Some(name) => {
                    assert_eq!(printed.replace(',', ""), step["sums"][name].to_string(), "{about}");
                }
                None => {
                    let mut stated = of.is_object().then(|| estimate(figure.name(), of));
                    let is_cut = figure == Figure::Messages && step["cuts_beats"] == true;
                    let cut = stated.as_mut().filter(|_| is_cut);
                    cut.into_iter().for_each(|stated| stated.marks += "~");
                    compare_cell(seen, &about, printed, stated.as_ref());
                }
            }
        }
    }
}

/// A line of CSV has every digit of each figure of each step of a round.
fn lines_agree(seen: &mut Seen, csv: String, subjects: &[&Value]) {
    let rounds = || subjects.iter().flat_map(|held| list(&held["rounds"]));
    let steps = |round: &Value| list(&round["plateaus"]).count();
    let count = rounds().map(|round| steps(round).max(1)).sum();
    let lines = table("held", &(&CSV, csv), "", count);
    for round in rounds() {
        for step in list(&round["plateaus"]) {
            let place = [&round["number"], &step["connections"]].map(Value::to_string);
            let mut lines = lines.iter();
            let line = lines.find(|it| it["trial"] == place[0] && it["plateau"] == place[1]);
            let line = line.expect("a line of each step");
            for figure in Figure::OF_STEPS {
                let name = figure.name();
                assert_eq!(line[name].parse().ok(), number(&step["figures"][name]), "{name}");
                seen.values += 1;
            }
        }
    }
}

#[test]
fn every_format_of_held_connections_says_what_the_json_says() {
    let mut all = [(); 4].map(|()| Seen::default());
    for rounds in 1..=4 {
        let run = fixture::run(rounds);
        let trials = fixture::trials(&run);
        let findings = Findings::of(&7, &run, &trials, Vec::new());
        let json: Value = serde_json::from_str(&findings.json().unwrap()).unwrap();
        let subjects: Vec<&Value> = list(&json["held"][0]["subjects"]).collect();
        assert_eq!(subjects.len(), 4);
        let document = findings.document();
        let [.., of_csv] = &mut all;
        lines_agree(of_csv, findings.csv().unwrap(), &subjects);
        for (format, seen) in formats(&document, findings.page()).iter().zip(&mut all) {
            prices_agree(seen, format, &subjects);
            // What a pull request is shown has the prices alone.
            if format.0.name != MARKDOWN.name {
                steps_agree(seen, format, &subjects);
            }
        }
    }
    for (Seen { values, .. }, least) in all.into_iter().zip([300, 50, 300, 300]) {
        assert!(least < values, "{values}");
    }
}
