//! What dyno writes itself: loads are examined, everything else is refused.

use super::*;

#[test]
fn dyno_s_own_results_are_asked_the_same() {
    let text = |name: &str| String::from_utf8(fixture(name)).unwrap();
    let several = format!(
        "{{\"schema\": \"dyno.loads/1\", \"loads\": [{}, {}]}}",
        text("dyno-healthy.json"),
        text("dyno-false.json")
    );
    let audit = audit(vec![read("x", several.as_bytes(), NOTHING).unwrap()]);
    let rows: Vec<_> = audit.rows().map(|row| (row.row.name.clone(), row.verdict())).collect();
    assert_eq!(rows, [("x #1".into(), Verdict::Valid), ("x #2".into(), Verdict::Invalid)]);
}

#[test]
fn a_load_is_no_better_than_its_own_file_says() {
    let verdict = |text: &str| {
        let load = String::from_utf8(fixture("dyno-healthy.json")).unwrap();
        let load = load.replace("\"order\"", &format!("\"verdict\": {text}, \"order\""));
        let audit = audit(vec![read("x", load.as_bytes(), NOTHING).unwrap()]);
        let row = audit.rows().next().unwrap();
        (row.verdict(), row.findings.clone())
    };
    let doubts =
        r#""doubts": [{"id": "steal", "gravity": "suspect"}, {"id": "late", "gravity": "note"}]"#;
    for (word, gravity, expected) in [
        ("suspect", Gravity::Suspect, Verdict::Suspect),
        ("invalid", Gravity::Invalid, Verdict::Invalid),
    ] {
        let own = OwnVerdict { gravity, doubts: vec!["steal".into()] };
        let found = verdict(&format!("{{\"word\": \"{word}\", {doubts}}}"));
        assert_eq!(found, (expected, vec![Finding::OwnVerdict(own)]));
    }
    for nothing in ["null", "7", "{\"word\": \"valid\", \"doubts\": []}", "{\"word\": \"odd\"}"] {
        assert_eq!(verdict(nothing), (Verdict::Valid, Vec::new()), "{nothing}");
    }
}

#[test]
fn requests_that_end_after_the_measured_time_break_no_law() {
    let stalled = |max_ns: u64| {
        let load = String::from_utf8(fixture("dyno-healthy.json")).unwrap();
        let load = load
            .replace("\"mean_ns\": 990000.0", "\"mean_ns\": 1100000.0")
            .replace("\"max_ns\": 9800000", &format!("\"max_ns\": {max_ns}"))
            .replace("\"order\"", "\"measured_s\": 10.0, \"order\"");
        let audit = audit(vec![read("x", load.as_bytes(), NOTHING).unwrap()]);
        audit.rows().map(crate::examine::AuditedRow::verdict).collect::<Vec<_>>()
    };
    // 64,000/s × 1.1 ms are 70.4 under way: more than 64, and fewer than 64 × (1 + 2 s / 10 s).
    assert_eq!(stalled(9_800_000), [Verdict::Invalid]);
    assert_eq!(stalled(2_000_000_000), [Verdict::Valid]);
}

#[test]
fn what_else_dyno_writes_is_no_result_of_a_load() {
    let why = |text: &str| read("x", text.as_bytes(), NOTHING).unwrap_err();
    let own = |schema: &str| Unreadable::OwnDocument(schema.into());
    assert_eq!(why("{\"schema\": \"dyno.run/1\"}"), own("dyno.run/1"));
    assert_eq!(why("{\"schema\": \"dyno.loader/1\"}"), own("dyno.loader/1"));
    let stream = "{\"schema\": \"dyno.stream/1\"}\n{\"schema\": \"dyno.stream/1\"}\n";
    assert_eq!(why(stream), own("dyno.stream/1"));
    for nothing in ["", "\n", " \t\n\n"] {
        assert_eq!(why(nothing), Unreadable::Empty);
    }
}
