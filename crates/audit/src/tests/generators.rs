//! What zrk, gcannon and the newer h2load write, and rows of a fixed rate.

use super::*;

/// The only row of a fixture in which a text was replaced by another.
fn changed(name: &str, from: &str, to: &str) -> AuditedRow {
    let text = String::from_utf8(fixture(name)).unwrap();
    assert!(text.contains(from), "{name} has no {from}");
    let source = read(name, text.replace(from, to).as_bytes(), NOTHING).unwrap();
    audit(vec![source]).sources.remove(0).rows.remove(0)
}

fn ids(row: &AuditedRow) -> Vec<&str> {
    row.findings.iter().map(|finding| finding.rule().name()).collect()
}

#[test]
fn what_was_planted_in_gcannon_s_text_is_found() {
    let found = found("gcannon-false.txt", NOTHING);
    let says = "gcannon-false.txt: invalid percentiles_not_ascending rate_impossible littles_law failures_ranked";
    assert_eq!(found, [says]);
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
fn gcannon_s_json_is_asked_the_same() {
    assert_eq!(ids(&changed("gcannon-ws.json", "\"avg\": 610", "\"avg\": 710")), ["littles_law"]);
    let row = changed("gcannon-ws.json", "\"read\": 0", "\"read\": 50000");
    assert_eq!(ids(&row), ["failures_ranked"]);
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
    let refused = changed("h2load-new.json", "\"4xx\":0", "\"4xx\":4000000");
    assert_eq!(ids(&refused), ["failures_ranked"]);
    assert_eq!(
        ids(&changed("h2load-new.json", "\"sd\":0.0021", "\"sd\":0.0221")),
        ["sd_impossible"]
    );
}

#[test]
fn a_rate_of_zrk_s_is_a_count_divided_by_a_time_but_for_a_ramp() {
    let rate = ("\"achieved_rate\": 9990.00", "\"achieved_rate\": 11990.00");
    assert_eq!(ids(&changed("zrk-healthy.json", rate.0, rate.1)), ["rate_impossible"]);
    // A ramp's rate is that of its end, and no constant rate was missed.
    let text = String::from_utf8(fixture("zrk-healthy.json")).unwrap();
    let ramp = text.replace("\"target_rate_end\": 10000,\n", "\"target_rate_end\": 50000,\n");
    let source = read("zrk.json", ramp.as_bytes(), NOTHING).unwrap();
    assert_eq!(source.rows[0].place, "10000 to 50000 requests/s");
    assert_eq!((source.rows[0].counted, source.rows[0].asked_per_s), (None, None));
}

#[test]
fn zrk_s_times_count_from_a_schedule_unless_it_was_closed() {
    let why = [Why::NoLimit(NoLimit::Schedule)];
    assert_eq!(untested("zrk-healthy.json", NOTHING, Rule::Little), why);
    // 9,990/s × 9.9 ms are 99 requests on 64 connections.
    let closed = changed("zrk-healthy.json", "\"closed\": false", "\"closed\": true");
    assert_eq!(ids(&closed), ["littles_law"]);
    let timeouts = changed("zrk-healthy.json", "\"timeout\": 0", "\"timeout\": 5000");
    assert_eq!(ids(&timeouts), ["failures_ranked"]);
}

/// What is found in a row of a fixed rate of 10,000/s, if this rate was reached.
fn found_at(rate: &str) -> Vec<&'static str> {
    let text = String::from_utf8(fixture("arena-server.json")).unwrap();
    let text = text.replace("\"rps\": 10000,", &format!("\"rps\": {rate},"));
    let found = audit(vec![read("x", text.as_bytes(), NOTHING).unwrap()]);
    let rows = found.rows().filter(|row| row.row.place == "latency-10k-64");
    rows.flat_map(|row| &row.findings).map(|it| it.rule().name()).collect()
}

#[test]
fn a_fixed_rate_that_was_not_reached_is_another_load() {
    assert_eq!((found_at("9810"), found_at("9790")), (vec![], vec!["rate_missed"]));
    let text = String::from_utf8(fixture("zrk-healthy.json")).unwrap();
    let text = text.replace("\": 10000,", "\": 12000,");
    let found = audit(vec![read("zrk.json", text.as_bytes(), NOTHING).unwrap()]);
    let row = found.rows().next().unwrap();
    assert_eq!((ids(row), row.verdict()), (vec!["rate_missed"], Verdict::Suspect));
}
