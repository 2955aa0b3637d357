//! A run's figures by themselves, for programs that follow them.

use lab::record::{OutcomeKind, TrialRecord};
use load::Failure;

use super::*;

/// Of each measure the row, the name and what it is worth.
fn measures(change: fn(&mut TrialRecord)) -> Vec<String> {
    let findings = Findings::after(|_, trials| trials.iter_mut().for_each(change));
    let all = findings.measures().unwrap();
    let line = |it: render::Measure| {
        let render::Measure { of, name, unit, value, ends, says, .. } = it;
        format!("{of} | {name} {unit} {value:.1} {:.1?} {:.1?} | {says}", ends[0], ends[1])
    };
    all.into_iter().filter(|it| !it.name.starts_with("rss")).map(line).collect()
}

#[test]
fn each_row_has_its_figures_with_intervals_verdict_and_rounds() {
    let mut rows = measures(|_| {});
    rows.retain(|row| !row.starts_with("quick · echo-xml · 2,000"));
    expect![[r#"
        quick · echo-xml · 1,000 requests/s | throughput_per_s 1/s 1002.0 Some(976.9) Some(1027.7) | valid, 2 rounds
        quick · echo-xml · 1,000 requests/s | response_p50_ms ms 1.0 Some(0.6) Some(1.9) | valid, 2 rounds
        quick · echo-xml · 1,000 requests/s | response_p99_ms ms 1.0 Some(0.6) Some(1.9) | valid, 2 rounds
        quick · echo-xml · 1,000 requests/s | cpu_ms_per_1000 ms 499.0 Some(486.5) Some(511.8) | valid, 2 rounds
        evil · echo-xml · 1,000 requests/s | throughput_per_s 1/s 1000.0 None None | suspect, 1 round
        evil · echo-xml · 1,000 requests/s | response_p50_ms ms 1.0 None None | suspect, 1 round
        evil · echo-xml · 1,000 requests/s | response_p99_ms ms 1.0 None None | suspect, 1 round
        evil · echo-xml · 1,000 requests/s | cpu_ms_per_1000 ms 500.0 None None | suspect, 1 round
        evil · echo-xml · 2,000 requests/s | throughput_per_s 1/s 1174.7 Some(896.4) Some(1539.5) | suspect, 2 rounds
        evil · echo-xml · 2,000 requests/s | response_p50_ms ms 180.1 Some(180.1) Some(180.1) | suspect, 2 rounds
        evil · echo-xml · 2,000 requests/s | response_p99_ms ms 949.3 Some(0.0) None | suspect, 2 rounds
        evil · echo-xml · 2,000 requests/s | cpu_ms_per_1000 ms 425.6 Some(324.8) Some(557.8) | suspect, 2 rounds"#]].assert_eq(&rows.join("\n"));
}

#[test]
fn a_row_that_is_invalid_is_left_out() {
    let rows = measures(|trial| {
        if let ("evil", Some(loaded)) = (&*trial.key.subject, &mut trial.loaded) {
            let wrong = Failure::named("content.mismatch").unwrap();
            loaded.recording.total.failed[wrong.index()] += 1;
        }
    });
    assert!(!rows.is_empty() && rows.iter().all(|row| row.starts_with("quick")), "{rows:?}");
}

#[test]
fn what_is_only_known_to_be_no_less_is_not_written_like_a_value() {
    let rows = measures(|trial| {
        if trial.key.repeat == 1 {
            (trial.outcome.kind, trial.loaded) = (OutcomeKind::Died, None);
        }
    });
    let ends = |of: &str| rows.iter().find_map(|row| row.strip_prefix(of)).map(str::to_owned);
    let evil = "evil · echo-xml · 2,000 requests/s | response_";
    let [median, tail] = ["p50", "p99"].map(|it| ends(&format!("{evil}{it}_ms ms ")));
    assert_eq!(median.as_deref(), Some("180.1 None None | suspect, 1 round"), "{rows:?}");
    assert_eq!(tail.as_deref(), Some("5003.8 Some(5003.8) None | suspect, 1 round"), "{rows:?}");
}
