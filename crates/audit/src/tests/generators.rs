//! What zrk, gcannon and the newer h2load write, and rows of a fixed rate.

use super::*;

#[test]
fn gcannon_s_counts_and_its_connections_are_read() {
    let row = audited("gcannon-false.txt", NOTHING).rows.remove(0).row;
    // An answer of 1xx or of no status may have failed.
    assert_eq!(
        (row.failed, row.unclear, row.requests),
        (Some(2_000_321.0), 3.0, Some(3_200_321.0))
    );
    let row = audited("gcannon-healthy.txt", NOTHING).rows.remove(0).row;
    assert_eq!((row.limit, row.rate_per_s), (Limit::UnderWay(1_024.0), Some(640_000.0)));
}

#[test]
fn h2load_s_newer_text_and_its_json_have_the_same_figures() {
    let row_of = |name: &str| audited(name, NOTHING).rows.remove(0).row;
    let (text, json) = (row_of("h2load-new.txt"), row_of("h2load-new.json"));
    let shares = |row: &Row| row.percentiles.iter().map(|(share, _)| *share).collect::<Vec<_>>();
    assert_eq!(shares(&text), [0.0, 0.5, 0.95, 0.99, 1.0]);
    assert_eq!(shares(&text), shares(&json));
    for (one, other) in text.percentiles.iter().zip(&json.percentiles) {
        assert!((one.1.value - other.1.value).abs() < 1.0, "{one:?} {other:?}");
    }
    assert_eq!(
        (text.requests, text.samples, text.failed),
        (json.requests, json.samples, json.failed)
    );
}

#[test]
fn the_rate_of_a_ramp_of_zrk_s_is_no_count_divided_by_a_time() {
    // A ramp's rate is that of its end, and no constant rate was missed.
    let text = String::from_utf8(fixture("zrk-healthy.json")).unwrap();
    let ramp = text.replace("\"target_rate_end\": 10000,\n", "\"target_rate_end\": 50000,\n");
    let source = read("zrk.json", ramp.as_bytes(), NOTHING).unwrap();
    assert_eq!(source.rows[0].place, "10000 to 50000 requests/s");
    assert_eq!((source.rows[0].counted, source.rows[0].asked_per_s), (None, None));
}

#[test]
fn a_fixed_rate_that_was_not_reached_is_another_load() {
    let whole = String::from_utf8(fixture("arena-server.json")).unwrap();
    for (rate, rules, verdict) in
        [("9810", &[][..], Verdict::Valid), ("9790", &["rate_missed"], Verdict::Suspect)]
    {
        let text = whole.replace("\"rps\": 10000,", &format!("\"rps\": {rate},"));
        let found = audit(vec![read("x", text.as_bytes(), NOTHING).unwrap()]);
        let row = found.rows().find(|row| row.row.place == "latency-10k-64").unwrap();
        assert_eq!((ids([row].into_iter()), row.verdict()), (rules.to_vec(), verdict));
    }
}
