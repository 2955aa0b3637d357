use lab::experiment::Point;
use load::{Failure, Recording};
use serde_json::Value;

use super::*;
use crate::load::FinishedLoad;
use crate::load::fixture::{self, as_run, closed, fail, finished, healthy};
use crate::render::{self, Screen, Shown as _};

/// What several loads say in their JSON and in their text.
fn told(recordings: &[Recording]) -> (String, String) {
    let (run, trials) = as_run(recordings, Point::Connections(10));
    let loads: Vec<FinishedLoad> =
        recordings.iter().map(|recording| finished(closed(), recording.clone())).collect();
    let findings = Findings::of(&1, &run, &trials, Vec::new()).of_ended(&loads);
    let json: Value = serde_json::from_str(&repeated_json(&findings).unwrap()).unwrap();
    let screen = Screen::file(400);
    let text = render::text(&findings.document(), screen);
    (json["sentence"].as_str().unwrap().to_string(), text)
}

#[test]
fn a_load_is_shown_from_the_store_as_it_was_when_it_ended() {
    let mut recording = healthy();
    fail(&mut recording, Failure::named("recv.reset").unwrap(), 7);
    let load = finished(closed(), recording);
    let (record, trials) = as_run(std::slice::from_ref(&load.recording), Point::Connections(10));
    let findings = Findings::of(&1, &record, &trials, Vec::new());
    let screen = Screen { is_full: true, ..Screen::file(400) };
    let kept = render::text(&findings.document(), screen);
    let ended = fixture::told(&load, |findings| render::text(&findings.document(), screen));
    // What dyno itself took in memory is not kept.
    let is_kept = |line: &&str| !line.contains("of memory at most");
    let lines = ended.lines().skip_while(|line| !line.starts_with("throughput/s"));
    let lines = lines.take_while(|line| *line != "The machine").filter(is_kept);
    let lines: Vec<&str> = lines.map(str::trim).collect();
    assert!(20 < lines.len(), "{ended}");
    for line in lines {
        assert!(kept.contains(line), "`{line}` is not in:\n{kept}");
    }
    let words = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(&crate::load::sentence::of(&load)), "{kept}");
}

#[test]
fn what_several_loads_failed_comes_first_where_it_is_not_tolerated() {
    let of = |class: &str, times: [u64; 3]| {
        let recordings = times.map(|times| {
            let mut recording = healthy();
            if 0 < times {
                fail(&mut recording, Failure::named(class).unwrap(), times);
            }
            recording
        });
        let (sentence, text) = told(&recordings);
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains(&sentence), "{sentence}: {text}");
        sentence
    };
    assert!(of("recv.reset", [0; 3]).starts_with("The server answered 2,000"));
    let says = of("content.status", [4_000, 0, 0]);
    let first = "The server failed 6.7 % of the requests (4,000 of 60,000), all content.status; it answered ";
    assert!(says.starts_with(first), "{says}");
    let says = of("content.mismatch", [0, 0, 1]);
    assert!(
        says.starts_with("The server answered wrongly: < 0.1 % of the requests (1 of 60,000); it"),
        "{says}"
    );
    // All together are within the limit, and one is not: the exit code is 1.
    let says = of("content.status", [0, 300, 0]);
    assert!(says.starts_with("Load 2 failed 1.5 % of the requests (300 of 20,000), all"), "{says}");
    let says = of("content.status", [200; 3]);
    assert!(says.starts_with("The server answered "), "{says}");
    assert!(
        says.ends_with("; it failed 600 of 60,000 requests (1.0 %), all content.status."),
        "{says}"
    );
    assert!(of("own.blocked", [4_000; 3]).starts_with("The server answered "), "dyno's own");
}
