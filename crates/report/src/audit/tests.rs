//! What a reader sees of an audit.

use audit::{Audit, Stated, audit, read};
use expect_test::expect;

use crate::render::{self, Screen, Shown};

const SCREEN: Screen = Screen { is_full: true, ..Screen::file(100) };

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
    expect![[r#"
        results
        Audit of 2 files
        An audit sees only what a file carries: a row that raises no doubt need not be true.
        verdict: invalid; rows: 2 valid · 2 suspect · 3 invalid

        What was read
        httparena  json-64.json: HttpArena's data, 6 rows
                   not applied to 5 rows: percentiles_not_ascending, because no percentiles are given
                   not applied to 5 rows: rate_impossible, because it is not stated what the rate counts
                   not applied to 5 rows: sd_impossible, because no standard deviation is given
                   not applied to 5 rows: same_median, because no median above 0 is given
        wrk        wrk.txt: the text of wrk or wrk2, 1 row
                   not applied to 1 row: same_rate, same_median, because the file does not name the server,
                   and runs of one server have one speed
                   not counted: requests that were never answered, at most one for each connection

        What to doubt
        invalid: the mean is too long for so few connections (Little's law) (littles_law): 1 row
          A connection carries one request at a time, or as many as are pipelined. So rate × mean latency is
          at most the number of connections; it may be less, because connections also wait for the client.
          brook (json-64): 64,000 requests/s × 2.20 ms are 141 requests in flight at once, and no more than
          64 can be
          what to do: see whether requests were pipelined, whether times count from a schedule, and whether
          the load generator corrects its times afterwards (wrk does); measure again with another one
        invalid: failed requests are counted as answers (failures_ranked): 1 row
          A refusal is often faster than an answer, so a server that fails looks fast. More than 1 % is too
          much.
          creek (json-64): 320,000 of 321,000 requests failed (99.7 %)
          what to do: show the row with its failures, and give it no rank
        invalid: a number stands for no number (no_number): 1 row
          It is sorted and averaged like a number. Leave it out, or write null.
          pond (json-64): rps is 0, avg_latency is 0, p99_latency is 0
          what to do: leave the row out of the ranking, and the number out of the file
        suspect: the mean reaches the p99 (mean_above_p99): 1 row
          A few requests were so slow that they raised the mean above the p99, or the p99 is an average
          under another name.
          river (json-64): p99 and mean are both 990 µs
          what to do: look which column of the load generator was copied; do not rank by this p99
        suspect: many servers have the same rate (same_rate): 4 rows
          Servers of different authors do not have one speed by chance. The limit may be the load
          generator's or the machine's.
          brook (json-64): 4 of 5 rows of this load have between 64,000 and 64,300 requests/s
          and 3 more
          what to do: measure a server that does next to nothing with the same load: what it reaches is the
          limit
        note: a unit is missing (unit_missing): 1 row
          A number without its unit is read with a wrong one sooner or later.
          delta (json-64): the unit is not one of a rate: bandwidth 61.20MB
          what to do: write the unit beside the number, or in the column's name
        Every row that was found
        row    place    verdict  requests/s     mean      p99  failed  why
        brook  json-64  invalid      64,000  2.20 ms  5.60 ms     0 %  littles_law, same_rate
        river  json-64  suspect      64,100   990 µs   990 µs     0 %  mean_above_p99, same_rate
        creek  json-64  invalid      64,200   980 µs  2.10 ms  99.7 %  failures_ranked, same_rate
        delta  json-64  suspect      64,300   970 µs  2.20 ms     0 %  same_rate
        pond   json-64  invalid           –        –        –       –  no_number

        in short
        verdict: invalid; rows: 2 valid · 2 suspect · 3 invalid
        Of 7 rows: 3 cannot be true or are no measurement; 2 should not be ranked as they stand; 2 raise no
        doubt.
    "#]].assert_eq(&render::text(&found.document(), SCREEN));
}

#[test]
fn an_audit_that_finds_nothing_says_so() {
    let text = render::text(&of(&[HEALTHY]).document(), SCREEN);
    assert!(text.contains("verdict: valid\n"), "{text}");
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
    let text = render::text(&found.document(), SCREEN);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
    let markdown = render::markdown(&found.document());
    assert!(!markdown.contains("<script>") && markdown.contains("script"), "{markdown}");
    let json: serde_json::Value = serde_json::from_str(&found.json().unwrap()).unwrap();
    assert_eq!(json["files"][0]["rows"][0]["name"], name);
    assert_eq!(json["files"][0]["rows"][0]["rate_per_s"], serde_json::Value::Null);
}
