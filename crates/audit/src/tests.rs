//! Every format with planted faults, each beside a healthy twin that raises nothing; and hostile files.

use analysis::{Gravity, Verdict};

use super::*;

mod failures;
mod generators;
mod own;

/// The fixtures, written by hand for these tests.
fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

const NOTHING: Stated = Stated { connections: None, time_unit_ns: None };
const SECONDS: Stated = Stated { connections: None, time_unit_ns: Some(1e9) };

const fn with_connections(connections: f64) -> Stated {
    Stated { connections: Some(connections), ..NOTHING }
}

fn audited(name: &str, stated: Stated) -> AuditedSource {
    let source = read(name, &fixture(name), stated).unwrap_or_else(|why| panic!("{name}: {why:?}"));
    audit(vec![source]).sources.remove(0)
}

/// Of each row its name, its verdict and what was found, and last the file's own findings.
fn found(name: &str, stated: Stated) -> Vec<String> {
    let source = audited(name, stated);
    let ids = |findings: &[Finding]| {
        let ids: Vec<&str> = findings.iter().map(|finding| finding.rule().name()).collect();
        ids.join(" ")
    };
    let rows = source
        .rows
        .iter()
        .map(|row| format!("{}: {} {}", row.row.name, row.verdict().name(), ids(&row.findings)));
    let of_file = (!source.findings.is_empty()).then(|| format!("file: {}", ids(&source.findings)));
    rows.map(|line| line.trim_end().to_string()).chain(of_file).collect()
}

/// The rules that were broken.
fn ids<'a>(rows: impl Iterator<Item = &'a AuditedRow>) -> Vec<&'static str> {
    rows.flat_map(|row| &row.findings).map(|it| it.rule().name()).collect()
}

fn untested(name: &str, stated: Stated, rule: Rule) -> Vec<Why> {
    let source = audited(name, stated);
    source.untested.iter().filter(|it| it.rule == rule).map(|it| it.why).collect()
}

#[test]
fn healthy_results_raise_nothing() {
    let healthy = [
        ("wrk-healthy.txt", NOTHING, Format::Wrk, 1),
        ("hey-healthy.txt", with_connections(50.0), Format::Hey, 1),
        ("ab-healthy.txt", NOTHING, Format::Ab, 1),
        ("oha-healthy.txt", with_connections(50.0), Format::Oha, 1),
        ("oha-healthy.json", with_connections(50.0), Format::OhaJson, 1),
        ("h2load-healthy.txt", with_connections(6400.0), Format::H2load, 1),
        ("h2load-new.txt", with_connections(6400.0), Format::H2load, 1),
        ("h2load-new.json", with_connections(6400.0), Format::H2loadJson, 1),
        ("gcannon-healthy.txt", NOTHING, Format::Gcannon, 1),
        ("gcannon-ws.json", NOTHING, Format::GcannonJson, 1),
        ("zrk-healthy.json", NOTHING, Format::Zrk, 1),
        ("k6-healthy.json", with_connections(10.0), Format::K6Json, 1),
        ("k6-handle-summary.json", NOTHING, Format::K6Json, 1),
        ("k6-healthy.txt", NOTHING, Format::K6, 1),
        ("techempower-healthy.json", NOTHING, Format::TechEmpower, 7),
        ("arena-healthy-64.json", NOTHING, Format::HttpArena, 4),
        ("arena-h2-64.json", NOTHING, Format::HttpArena, 2),
        ("arena-server.json", NOTHING, Format::HttpArena, 3),
        ("web-frameworks-healthy.json", SECONDS, Format::WebFrameworks, 4),
        ("dyno-healthy.json", NOTHING, Format::DynoLoad, 1),
    ];
    for (name, stated, format, rows) in healthy {
        let source = audited(name, stated);
        assert_eq!((source.format, source.rows.len()), (format, rows), "{name}");
        let findings: Vec<&Finding> = source.rows.iter().flat_map(|row| &row.findings).collect();
        assert!(findings.is_empty() && source.findings.is_empty(), "{name}: {findings:?}");
        let has_figures = |row: &AuditedRow| row.row.rate_per_s.is_some() && row.row.mean.is_some();
        assert!(source.rows.iter().all(has_figures), "{name}: {:?}", source.rows);
    }
}

/// Files in which something is false, and what is found in them.
const PLANTED: [(&str, Stated, &[&str]); 15] = [
    (
        "wrk-false.txt",
        NOTHING,
        &[
            "wrk-false.txt #1: invalid littles_law",
            "wrk-false.txt #2: invalid percentiles_not_ascending",
            "wrk-false.txt #3: invalid mean_impossible mean_above_p99",
            "wrk-false.txt #4: invalid failures_ranked",
            "wrk-false.txt #5: suspect failures_ranked too_few_samples",
            "wrk-false.txt #6: invalid no_number",
        ],
    ),
    // 1,967/s × 1.2 s are 2,360 requests on 100 connections, and no contradiction: they count from a schedule.
    ("wrk2.txt", NOTHING, &["wrk2.txt: valid too_few_samples"]),
    (
        "hey-false.txt",
        NOTHING,
        &["hey-false.txt: invalid mean_impossible mean_above_p99 failures_ranked"],
    ),
    ("hey-healthy.txt", with_connections(10.0), &["hey-healthy.txt: invalid littles_law"]),
    ("oha-false.txt", NOTHING, &["oha-false.txt: invalid percentiles_not_ascending"]),
    (
        "oha-false.json",
        NOTHING,
        &["oha-false.json: invalid mean_impossible mean_above_p99 failures_ranked"],
    ),
    (
        "h2load-false.txt",
        NOTHING,
        &["h2load-false.txt: invalid mean_impossible mean_above_p99 failures_ranked"],
    ),
    // 512,000/s × 12.4 ms are 6,349 streams: more than 50 on each of 64 connections.
    ("h2load-healthy.txt", with_connections(3200.0), &["h2load-healthy.txt: invalid littles_law"]),
    (
        "k6-false.json",
        NOTHING,
        &["k6-false.json: invalid mean_impossible mean_above_p99 failures_ranked"],
    ),
    ("k6-false.txt", NOTHING, &["k6-false.txt: invalid percentiles_not_ascending failures_ranked"]),
    (
        "gcannon-false.txt",
        NOTHING,
        &[
            "gcannon-false.txt: invalid percentiles_not_ascending rate_impossible littles_law failures_ranked",
        ],
    ),
    (
        "dyno-false.json",
        NOTHING,
        &["dyno-false.json: invalid percentiles_not_ascending littles_law failures_ranked"],
    ),
    (
        "techempower-false.json",
        NOTHING,
        &[
            "brook: valid",
            "brook: invalid littles_law",
            "brook: invalid no_number",
            "river: valid",
            "river: invalid unit_missing failures_ranked",
            "river: invalid mean_impossible",
            "brook: valid",
            "brook: invalid littles_law",
        ],
    ),
    (
        "arena-false-64.json",
        NOTHING,
        &[
            "brook: invalid littles_law same_rate",
            "river: suspect mean_above_p99 same_rate",
            "creek: invalid failures_ranked same_rate",
            "delta: suspect unit_missing same_rate",
            "rill: valid",
            "pond: invalid no_number",
        ],
    ),
    (
        "web-frameworks-false.json",
        SECONDS,
        &[
            "brook: suspect same_rate same_median",
            "river: suspect same_rate same_median",
            "creek: suspect same_rate same_median",
            "delta: suspect same_rate same_median",
            "rill: invalid percentiles_not_ascending",
            "pond: invalid no_number",
            "fen: invalid failures_ranked",
            "file: no_number",
        ],
    ),
];

#[test]
fn what_was_planted_is_found() {
    for (name, stated, expected) in PLANTED {
        assert_eq!(found(name, stated), expected, "{name}");
    }
    let without = found("web-frameworks-false.json", NOTHING);
    assert_eq!(without.last().map(String::as_str), Some("file: no_number unit_missing"));
}

#[test]
fn a_rule_that_cannot_be_applied_says_why() {
    for (name, stated, why) in [
        ("wrk2.txt", NOTHING, NoLimit::Schedule),
        ("wrk2.txt", with_connections(100.0), NoLimit::Schedule),
        ("hey-healthy.txt", NOTHING, NoLimit::Connections),
        ("h2load-healthy.txt", NOTHING, NoLimit::Streams),
        // A board has rows of many kinds.
        ("arena-h2-64.json", with_connections(3200.0), NoLimit::Streams),
        ("arena-h2-64.json", NOTHING, NoLimit::Streams),
        // The summary does not say whether a schedule started the requests.
        ("k6-false.txt", NOTHING, NoLimit::Executor),
        // 64,000/s × 2.2 ms are more than 64 connections hold, but both figures are means of several runs.
        ("web-frameworks-healthy.json", SECONDS, NoLimit::Averages),
        ("zrk-healthy.json", NOTHING, NoLimit::Schedule),
    ] {
        assert_eq!(untested(name, stated, Rule::Little), [Why::NoLimit(why)], "{name}");
    }
    // The mean of a pipelined load is not compared with its connections.
    let why = untested("techempower-false.json", NOTHING, Rule::Little);
    assert!(why.contains(&Why::NoLimit(NoLimit::Pipelined)), "{why:?}");
    assert_eq!(untested("techempower-false.json", NOTHING, Rule::MeanAboveP99), [Why::NoP99]);
    let renamed = read("renamed.json", &fixture("arena-healthy-64.json"), NOTHING).unwrap();
    assert_eq!(renamed.rows[0].limit, Limit::Unknown(NoLimit::Profile));
}

#[test]
fn of_wrk2_s_two_lists_the_corrected_one_is_read() {
    // `wrk2 -U` also prints the times as wrk counts them, under a heading of their own.
    let text = String::from_utf8(fixture("wrk2.txt")).unwrap();
    let uncorrected = "
  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%    1.02ms
 62.500%    1.11ms
 99.000%    2.31ms
100.000%    9.04ms

  Detailed Percentile spectrum:
----------------------------------------------------------
  59000 requests in";
    let both = text.replace("  59000 requests in", uncorrected);
    assert_ne!(text, both);
    let source = |text: &str| read("wrk2.txt", text.as_bytes(), NOTHING).unwrap();
    assert_eq!(source(&both), source(&text));
    assert_eq!(audit(vec![source(&both)]).verdict(), Some(Verdict::Valid));
}

#[test]
fn a_share_that_is_there_already_is_not_read_again() {
    let text = String::from_utf8(fixture("wrk2.txt")).unwrap();
    let twice = text.replace(" 75.000%", " 50.000%    9.99ms\n 75.000%");
    let source = |text: &str| read("wrk2.txt", text.as_bytes(), NOTHING).unwrap();
    assert_eq!(source(&twice), source(&text));
}

#[test]
fn rows_of_one_place_are_compared_across_files() {
    let text = String::from_utf8(fixture("arena-server.json")).unwrap();
    let sources = |rates: [&str; 4]| {
        let source = |rate: &str| {
            let text = text.replace("\"rps\": 64000,", &format!("\"rps\": {rate},"));
            read(rate, text.as_bytes(), NOTHING).unwrap()
        };
        audit(rates.map(source).to_vec())
    };
    let suspect = |audit: &Audit| {
        let rows = audit.rows().filter(|row| row.verdict() == Verdict::Suspect);
        rows.map(|row| row.row.place.clone()).collect::<Vec<_>>()
    };
    // Of the other two profiles one has a rate that a schedule gave.
    let alike = sources(["64000", "64100", "64200", "64300"]);
    assert_eq!(suspect(&alike).iter().filter(|place| *place == "json-64").count(), 4, "{alike:?}");
    let scheduled = |place: &String| place.starts_with("latency");
    assert!(!suspect(&alike).iter().any(scheduled), "{alike:?}");
    let apart = sources(["64000", "52000", "41000", "31000"]);
    assert!(!suspect(&apart).contains(&"json-64".to_string()), "{apart:?}");
}

#[test]
fn repeated_runs_of_one_server_may_have_one_rate() {
    let run = || read("wrk.txt", &fixture("wrk-healthy.txt"), NOTHING).unwrap();
    let found = audit(vec![run(), run(), run(), run()]);
    assert_eq!(found.verdict(), Some(Verdict::Valid), "{found:?}");
    let asked = &found.sources[0].untested;
    assert!(asked.iter().any(|it| it.rule == Rule::SameRate && it.why == Why::NoServer));
}

#[test]
fn several_runs_in_one_file_are_a_row_each() {
    for tool in ["wrk", "hey", "ab", "oha", "h2load", "gcannon"] {
        let name = format!("{tool}-healthy.txt");
        let first = fixture(&name);
        let alone = |file: &str| read("all.txt", &fixture(file), NOTHING).unwrap().rows.remove(0);
        let named = |row: Row, number: usize| Row { name: format!("all.txt #{number}"), ..row };
        let other = format!("{tool}-false.txt");
        let second = if tool == "wrk" { &name } else { &other };
        let both = [&first[..], b"\nthe second run\n", &fixture(second)].concat();
        let found = read("all.txt", &both, NOTHING).unwrap().rows;
        assert_eq!(found, [named(alone(&name), 1), named(alone(second), 2)], "{tool}");
    }
}

#[test]
fn what_broke_off_before_its_results_is_no_run() {
    let healthy = String::from_utf8(fixture("h2load-healthy.txt")).unwrap();
    let broken = &healthy[..healthy.find("finished in").unwrap()];
    let rows = |text: &str| read("x", text.as_bytes(), NOTHING).map(|source| source.rows);
    assert_eq!(rows(&[broken, &healthy, broken].concat()), rows(&healthy));
    assert_eq!(rows(broken), Err(Unreadable::Unknown));
    // Without what stands above the results, two runs are still two.
    let results = &healthy[broken.len()..];
    assert_eq!(rows(&results.repeat(2)).unwrap().len(), 2);
    let hey = String::from_utf8(fixture("hey-healthy.txt")).unwrap();
    assert_eq!(rows(&["Summary:\n  follows\n", &hey].concat()), rows(&hey));
}

#[test]
fn a_rounded_time_is_given_the_benefit_of_the_doubt() {
    // 0.0001 secs may be 50 µs, and 8 connections at 100,000/s have 80.
    let text = String::from_utf8(fixture("hey-healthy.txt")).unwrap();
    let text = text.replace("20000.0000", "100000.0000");
    let mut text = text.replace("200000 responses", "1000000 responses");
    for time in
        ["0.0004", "0.0011", "0.0017", "0.0023", "0.0024", "0.0029", "0.0038", "0.0045", "0.0071"]
    {
        text = text.replace(time, "0.0001");
    }
    // Not even 50 µs fit on four.
    for (connections, expected) in [(8.0, &[][..]), (4.0, &["littles_law"])] {
        let stated = with_connections(connections);
        let found = audit(vec![read("hey.txt", text.as_bytes(), stated).unwrap()]);
        assert_eq!(ids(found.rows()), expected);
    }
}

#[test]
fn an_archive_of_httparena_has_lists_and_descriptions() {
    let list = String::from_utf8(fixture("arena-healthy-64.json")).unwrap();
    let archive = format!(
        "{{\"json-64\": {list}, \"json-512\": [], \"_frameworks\": {{}}, \"current\": {{}}}}"
    );
    let source = read("round.json", archive.as_bytes(), NOTHING).unwrap();
    assert_eq!((source.rows.len(), source.rows[0].limit), (4, Limit::UnderWay(64.0)));
    let other = br#"{"json-64": [], "names": ["a"]}"#;
    assert_eq!(read("x", other, NOTHING), Err(Unreadable::Unknown));
    assert_eq!(read("x", br#"{"json-64": []}"#, NOTHING), Err(Unreadable::Unknown));
}

#[test]
fn what_has_none_of_the_formats_is_refused() {
    let unknown: [&[u8]; 6] =
        [b"hello", b"{}", b"{\"a\": 1}", b"[1, 2]", b"\xff\xfe\x00R\x00u", b"Running late"];
    for content in unknown {
        assert_eq!(read("x", content, NOTHING), Err(Unreadable::Unknown), "{content:?}");
    }
    let deep = [vec![b'['; 1 << 20], vec![b']'; 1 << 20]].concat();
    for content in [&deep[..], b"{\"rps\": NaN}", b"[1e999]", b"{\"a\": \"\xff\"}", b"{\"a\": 1"] {
        let read = read("x", content, NOTHING);
        assert!(matches!(read, Err(Unreadable::NoJson(_))), "{read:?}");
    }
}

#[test]
fn hostile_numbers_and_names_do_no_harm() {
    let huge = r#"[{"framework": "\u001b[31m<b>", "rps": 1.7e308, "avg_latency": "99999999999999999999h",
        "p99_latency": "1ns", "connections": 1, "status_2xx": -5, "status_5xx": 1e300},
        {"framework": "", "rps": "many", "avg_latency": {}, "connections": 1e300}]"#;
    let source = read("x-1.json", huge.as_bytes(), NOTHING).unwrap();
    let found = audit(vec![source]);
    assert_eq!(found.sources[0].rows[0].verdict(), Verdict::Invalid, "{found:?}");
    let line = [b"Running 10s test @ http://x\n".to_vec(), vec![b'9'; 10 << 20]].concat();
    assert_eq!(read("x", &line, NOTHING).unwrap().rows.len(), 1);
    let percentiles: String =
        (1..100_000).map(|n| format!("\"p{}\": 1,", f64::from(n) / 1e4)).collect();
    let many =
        format!("{{\"summary\": {{}}, \"latencyPercentiles\": {{{percentiles} \"p99\": 1}}}}");
    assert!(read("x", many.as_bytes(), NOTHING).unwrap().rows[0].percentiles.len() <= 64);
}

#[test]
fn many_marks_in_many_rows_are_compared_in_time() {
    // A hundred thousand figures without a number in each of two rows: half of them are the same.
    let run = |from: u32| {
        let lines: String = (from..from + 100_000).map(|n| format!("{n}% -1us\n")).collect();
        format!("Running 10s test @ http://x\n{lines}")
    };
    let begun = std::time::Instant::now();
    let source = read("x", (run(0) + &run(50_000)).as_bytes(), NOTHING).unwrap();
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    let marks = source.rows.iter().map(|row| row.marks.len());
    assert_eq!((source.marks.len(), marks.collect()), (50_000, vec![50_000, 50_000]));
    assert_eq!(source.marks[0].figure, "p50000", "in the order of the file");
}

#[test]
fn damaged_files_are_read_or_refused() {
    let mut chance = load::Chance::new(7);
    let folder = format!("{}/fixtures", env!("CARGO_MANIFEST_DIR"));
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(20 < names.len());
    for name in names {
        let whole = fixture(&name);
        for _ in 0..60 {
            let mut content = whole.clone();
            for _ in 0..=chance.below(8) {
                let (at, byte) = (chance.below(content.len()), chance.below(256) as u8);
                match chance.below(3) {
                    0 => content.truncate(at + 1),
                    1 => content[at] = byte,
                    _ => content.insert(at, b"09-.%\"{}[]:, \n"[usize::from(byte) % 14]),
                }
            }
            let Ok(source) = read(&name, &content, SECONDS) else { continue };
            let _ = audit(vec![source]).verdict();
        }
    }
}

#[test]
fn a_healthy_result_with_one_false_number_raises_what_it_must() {
    for (name, from, to, rule) in [
        ("wrk-healthy.txt", "640640 requests", "320320 requests", "rate_impossible"),
        ("hey-healthy.txt", "10.0031 secs", "5.0031 secs", "rate_impossible"),
        ("wrk-healthy.txt", "310.00us", "5.00ms", "sd_impossible"),
        ("h2load-healthy.txt", "2.10ms    80", "20.10ms    80", "sd_impossible"),
        ("h2load-new.json", "\"sd\":0.0021", "\"sd\":0.0221", "sd_impossible"),
        ("h2load-new.json", "\"4xx\":0", "\"4xx\":4000000", "failures_ranked"),
        ("gcannon-ws.json", "\"avg\": 610", "\"avg\": 710", "littles_law"),
        ("gcannon-ws.json", "\"read\": 0", "\"read\": 50000", "failures_ranked"),
        // A rate of zrk's is a count divided by a time.
        (
            "zrk-healthy.json",
            "\"achieved_rate\": 9990.00",
            "\"achieved_rate\": 11990.00",
            "rate_impossible",
        ),
        // 9,990/s × 9.9 ms are 99 requests on 64 connections.
        ("zrk-healthy.json", "\"closed\": false", "\"closed\": true", "littles_law"),
        ("zrk-healthy.json", "\"timeout\": 0", "\"timeout\": 5000", "failures_ranked"),
        ("zrk-healthy.json", "\": 10000,", "\": 12000,", "rate_missed"),
    ] {
        let whole = String::from_utf8(fixture(name)).unwrap();
        let found = audit(vec![read(name, whole.replace(from, to).as_bytes(), NOTHING).unwrap()]);
        assert_eq!(ids(found.rows()), [rule], "{name}: {to}");
    }
}
