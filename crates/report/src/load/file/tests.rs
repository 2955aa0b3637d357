use crate::render::Shown;
use std::time::Duration;

use analysis::{Gate, GateAnswer};
use load::{Arrivals, Failure, Listed, Load, Rate};

use super::{LoadsFile, Point};
use crate::load::fixture::{MS, answer_after, closed, fail, finished, healthy, open, order};
use crate::run::{Compared, Side};

fn json_of(times: &[(u64, u64)]) -> String {
    let mut recording = healthy();
    answer_after(&mut recording.total, times);
    crate::load::json(&finished(closed(), recording), &[]).unwrap()
}

/// Several loads in one file.
fn loads(each: &[&str]) -> String {
    format!("{{\"schema\":\"dyno.loads/1\",\"loads\":[{}]}}", each.join(","))
}

fn compared(a: &str, b: &str) -> (GateAnswer, String, serde_json::Value) {
    let [a, b] = [("a.json", a), ("b.json", b)].map(|(name, text)| {
        LoadsFile::read(name, text).unwrap_or_else(|why| panic!("{name}: {why}"))
    });
    let [first, second] = LoadsFile::findings(&a, &b);
    let compared = Compared::of(
        Side { findings: &first, subject: Some(a.subject()) },
        Side { findings: &second, subject: Some(b.subject()) },
        Gate::default(),
    );
    let screen = crate::render::Screen::file(120);
    let json = serde_json::from_str(&compared.json().unwrap()).unwrap();
    (compared.answer(), crate::render::text(&compared.document(), screen), json)
}

#[test]
fn single_loads_have_a_ratio_and_no_interval() {
    let (answer, text, json) = compared(&json_of(&[(20_000, MS)]), &json_of(&[(10_000, 2 * MS)]));
    assert_eq!(answer, GateAnswer::CannotTell);
    for part in ["A: a.json: closed: 10 connections", "0.50×", "Single loads have no repetitions"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let throughput = &json["rows"][0]["figures"][0];
    assert_eq!(throughput["ratio"], 0.5);
    assert_eq!(throughput["finding"], "not_compared_one_round");
    assert!(throughput["ratio_low"].is_null() && throughput["p"].is_null());
    assert_eq!((&throughput["a_mean"], &throughput["b_rounds"]), (&2_000.0.into(), &1.into()));
}

#[test]
fn a_load_in_which_nothing_was_measured_has_no_throughput() {
    let whole = json_of(&[(20_000, MS)]);
    let mut none: serde_json::Value = serde_json::from_str(&whole).unwrap();
    none["figures"].as_object_mut().unwrap().remove("throughput_per_s").unwrap();
    let none = none.to_string();
    let (answer, text, _) = compared(&whole, &none);
    assert_eq!(answer, GateAnswer::CannotTell, "{text}");
    assert!(text.contains("throughput/s: not compared, not measured."), "{text}");
}

#[test]
fn repeated_loads_have_intervals_and_the_usual_gate() {
    let of = |counts: [u64; 3]| {
        let each = counts.map(|count| json_of(&[(count, MS)]));
        loads(&each.each_ref().map(String::as_str))
    };
    let (a, b) = (of([20_000, 20_100, 20_050]), of([15_000, 15_100, 15_050]));
    let (answer, text, json) = compared(&a, &b);
    assert_eq!(answer, GateAnswer::Worse, "{text}");
    assert!(json["rows"][0]["figures"][0]["ratio_low"].as_f64().unwrap() > 0.7);
    assert_eq!(compared(&a, &a).0, GateAnswer::Within);
}

#[test]
fn unlike_loads_are_named_and_not_judged() {
    let each = [20_000, 20_100, 20_050].map(|count| json_of(&[(count, MS)]));
    let of = |each: &[String; 3]| loads(&each.each_ref().map(String::as_str));
    // Two servers may be compared.
    for (from, to, expected, says) in [
        ("lenient\": false", "lenient\": true", GateAnswer::CannotTell, "lenient: A had no, B yes"),
        ("status 2xx", "status 200", GateAnswer::CannotTell, "A had status 2xx, B status 200"),
        ("localhost:8080", "localhost:9090", GateAnswer::Within, "A had GET http://localhost:8080"),
    ] {
        let other = each.clone().map(|text| text.replace(from, to));
        let (answer, text, _) = compared(&of(&each), &of(&other));
        assert_eq!(answer, expected, "{text}");
        assert!(text.contains(says), "{says}: {text}");
        assert_eq!(text.contains("not alike"), expected == GateAnswer::CannotTell, "{text}");
    }
}

/// Of 20,000 requests so many failed in this way.
fn failing(class: &str, times: u64) -> String {
    let mut recording = healthy();
    fail(&mut recording, Failure::named(class).unwrap(), times);
    crate::load::json(&finished(closed(), recording), &[]).unwrap()
}

#[test]
fn a_load_that_failed_too_often_or_answered_wrongly_is_named_first_and_not_compared() {
    let sound = json_of(&[(20_000, MS)]);
    let all = |text: &str| loads(&[text; 3]);
    for (class, says) in [
        ("content.status", "failed 20 % of the requests (4,000 of 20,000), all content.status"),
        ("content.mismatch", "answered wrongly: 20 % of the requests (4,000 of 20,000)"),
    ] {
        let bad = failing(class, 4_000);
        let tripled = says.replace("4,000 of 20,000", "12,000 of 60,000");
        for (bad, sound, says) in
            [(&bad, &sound, says), (&all(&bad), &all(&sound), tripled.as_str())]
        {
            for (side, pair) in [("A (a.json)", [bad, sound]), ("B (b.json)", [sound, bad])] {
                let (answer, text, json) = compared(pair[0], pair[1]);
                assert_eq!(answer, GateAnswer::Failing, "{text}");
                assert_eq!(json["gate"]["says"][0], format!("{side} {says}. Not compared."));
                let figures = json["rows"][0]["figures"].as_array().unwrap();
                assert!(figures.iter().all(|figure| figure["ratio"].is_null()), "{figures:?}");
                assert!(!text.contains('×'), "{text}");
                assert!(text.contains("\nNothing was compared.\n"), "{text}");
            }
        }
    }
    // With a limit of its own, and within the usual one.
    let allowed = failing("content.status", 4_000);
    let allowed = allowed.replace("\"max_failures_percent\": 1.0", "\"max_failures_percent\": 20");
    let few = [failing("content.status", 200), failing("recv.deadline", 200), allowed];
    for few in few {
        let (answer, text, json) = compared(&all(&sound), &all(&few));
        assert_ne!(answer, GateAnswer::Failing, "{text}");
        assert!(json["rows"][0]["figures"][0]["ratio"].is_number(), "{text}");
        assert!(text.contains("B (b.json) failed"), "{text}");
    }
    let beyond = failing("content.status", 201);
    assert_eq!(compared(&sound, &beyond).0, GateAnswer::Failing, "1.005 %");
    let own = failing("own.blocked", 4_000);
    assert_ne!(compared(&sound, &own).0, GateAnswer::Failing, "dyno's own");
}

#[test]
fn a_verdict_is_taken_over_with_its_reasons() {
    let doubtful = json_of(&[(500, MS)]);
    let (_, text, json) = compared(&json_of(&[(20_000, MS)]), &doubtful);
    assert_eq!(json["rows"][0]["b_is_doubtful"], true);
    assert!(text.contains("the load was judged suspect: too_few_samples"), "{text}");
}

#[test]
fn what_is_no_load_is_refused_with_the_reason() {
    let whole = json_of(&[(20_000, MS)]);
    let scheduled = crate::load::json(&finished(open(), healthy()), &[]).unwrap();
    let attempted = format!("\"attempted\": {}", u64::MAX);
    for (text, part) in [
        ("", "no JSON of `dyno load`"),
        ("[]", "no JSON of `dyno load`"),
        ("{}", "it has no `schema`"),
        ("{\"schema\":\"dyno.run/1\"}", "`dyno.run/1`"),
        ("{\"schema\":\"\\u001b[31m\"}", "`\\u{1b}[31m`"),
        ("{\"schema\":\"dyno.load/1\"}", "the key `began_unix_ms` is missing"),
        (&loads(&[]), "no load in it"),
        (&loads(&[&whole, &scheduled]), "not of one kind"),
        (&whole.replace("\"valid\"", "\"good\""), "its verdict is none"),
        (&whole.replace("\"connections\": 10", "\"connections\": 0"), "no rate"),
        (&whole.replace("\"value\": 2000.0", "\"value\": -1.0"), "below 0"),
        (&whole.replace("\"value\": 2000.0", "\"value\": 1e999"), "number"),
        (&whole.replace("\"attempted\": 20000", &attempted), "more requests"),
        (&failing("recv.reset", 7).replace("recv.reset\": 7", "recv.lost\": 7"), "unknown class"),
        (&whole[..whole.len() / 2], "no JSON of `dyno load`"),
        (&"[".repeat(100_000), "no JSON of `dyno load`"),
    ] {
        let says = LoadsFile::read("x", text).err().unwrap_or_default();
        assert!(says.contains(part), "{part}: {says}");
    }
}

/// The highest rate at which these come. A new law must be thought of here.
fn highest(arrivals: &Arrivals) -> f64 {
    match arrivals {
        Arrivals::Constant(_) => 100.0,
        Arrivals::Poisson(_) => 200.0,
        Arrivals::Ramp { .. } => 300.0,
        Arrivals::Steps(_) => 400.0,
        Arrivals::Listed(_) => 2.0,
    }
}

#[test]
fn a_load_has_its_highest_rate_by_whatever_law_its_requests_are_due() {
    let rate = |per_s: u64| Rate::per_s(per_s).unwrap();
    let second = Duration::from_secs(1);
    for arrivals in [
        Arrivals::Constant(rate(100)),
        Arrivals::Poisson(rate(200)),
        Arrivals::Ramp { from: rate(300), to: rate(100), over: second },
        Arrivals::Steps(vec![(rate(100), second), (rate(400), second)]),
        Arrivals::Listed(Listed::new(&[0, 500_000_000, 1_000_000_000]).unwrap()),
    ] {
        let highest = highest(&arrivals);
        let open = Load::Open { arrivals: arrivals.clone(), connections: 1, max_connections: 1 };
        let sessions = Load::Sessions { arrivals, calls: 1, max_connections: 1 };
        for (load, point) in
            [(open, Point::Requests(highest)), (sessions, Point::Sessions(highest))]
        {
            let json = crate::load::json(&finished(order(load), healthy()), &[]).unwrap();
            let read = LoadsFile::read("x", &json).map(|file| file.point);
            assert_eq!(read, Ok(point));
        }
    }
}

#[test]
fn listed_arrivals_of_no_length_have_no_rate() {
    let arrivals = Arrivals::Listed(Listed::new(&[0, MS]).unwrap());
    let load = Load::Open { arrivals, connections: 1, max_connections: 1 };
    let json = crate::load::json(&finished(order(load), healthy()), &[]).unwrap();
    let none = json.replace("\"length_s\": 0.002", "\"length_s\": 0.0");
    assert_ne!(json, none, "the test changes something");
    assert!(LoadsFile::read("x", &json).is_ok());
    assert!(LoadsFile::read("x", &none).err().is_some_and(|why| why.contains("no rate")));
}
