//! What a reader sees of an audit.

use audit::{Audit, Stated, audit, read};
use expect_test::expect;

use super::{document, json};
use crate::render::{self, Screen};

const SCREEN: Screen = Screen { width: 100, is_coloured: false, is_full: true };

fn of(files: &[(&str, &[u8])]) -> Audit {
    let stated = Stated { connections: None, time_unit_ns: None };
    audit(files.iter().map(|(name, content)| read(name, content, stated).unwrap()).collect())
}

const FALSE: (&str, &[u8]) =
    ("json-64.json", include_bytes!("../../../audit/fixtures/arena-false-64.json"));
const HEALTHY: (&str, &[u8]) =
    ("wrk.txt", include_bytes!("../../../audit/fixtures/wrk-healthy.txt"));

#[test]
fn an_audit_in_a_terminal() {
    let found = of(&[FALSE, HEALTHY]);
    expect![[""]].assert_eq(&render::text(&document(&found), SCREEN));
}

#[test]
fn an_audit_that_finds_nothing_says_so() {
    let text = render::text(&document(&of(&[HEALTHY])), SCREEN);
    assert!(text.contains("verdict: valid; rows: 1 valid · 0 suspect · 0 invalid"), "{text}");
    assert!(text.contains("1 row raises no doubt."), "{text}");
}

#[test]
fn names_of_others_are_shown_and_never_obeyed() {
    let name = "\u{1b}[31m<script>|*`\u{202e}";
    let row = format!(
        r#"[{{"framework": {}, "rps": 0, "connections": 64}}]"#,
        serde_json::to_string(name).unwrap()
    );
    let found = of(&[(name, row.as_bytes())]);
    let text = render::text(&document(&found), SCREEN);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
    let markdown = render::markdown(&document(&found));
    assert!(!markdown.contains("<script>") && markdown.contains("script"), "{markdown}");
    let json: serde_json::Value = serde_json::from_str(&json(&found).unwrap()).unwrap();
    assert_eq!(json["files"][0]["rows"][0]["name"], name);
    assert_eq!(json["files"][0]["rows"][0]["rate_per_s"], serde_json::Value::Null);
}
