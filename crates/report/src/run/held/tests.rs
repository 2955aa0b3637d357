use expect_test::expect;
use load::SECOND;

use super::super::Findings;
use super::super::tests::{csv, full, json, parts};
use super::fixture;
use crate::render::Shown;

/// What a report of any run does not have.
const PARTS: [&str; 10] = [
    "held · run 7",
    "What a held connection costs",
    "wspoll, step by step",
    "What gave way first",
    "Connections that failed",
    "Memory after all were closed",
    "Quick, wspoll\nlate",
    "What went wrong",
    "How it was measured",
    "in short",
];

#[test]
fn two_rounds_of_a_ramp_in_120_columns() {
    let text = full(&Findings::held(2), 120, false);
    expect![[r#"
        held · run 7 · 2026-11-21 13:28 UTC
        What does a held connection cost?
        held: 3,000 connections, 1,000 more every 10 s at 500 a second, a message each 1 s, time-out 5 s; 2 rounds
        Linux 6.18 · load on CPU 1 · dyno 0.1.0 · seed 7
        verdict: suspect; rows: 2 valid · 0 suspect · 1 invalid

        What a held connection costs  0 to 2 rounds
        server                    KiB each  CPU/1k  late p99  reached  gave way first                   given back  verdict
        Quick             6.05 [5.45–6.72]  20.0ms    6.00ms    3,000  nothing                                 75%  valid
        Lossy ␛[31m       30.4 [26.1–35.3]  20.0ms     330ms    2,980  2,000: 30 lost, recv.reset (+2)         75%  valid
        =Mortal|x                        –       –         –        –  2,000: died (+1)                          –  invalid
        Bare (reference)  1.00 [1.00–1.00]  2.00ms    1.50ms    3,000  nothing                                 75%  valid
        the same in all rows: held wspoll · conformance not checked
        KiB each: slope of mean memory (PSS) over open connections, by least squares over the plateaus · [95 %]: by Student's t
        over the rounds' slopes · CPU/1k: the server's CPU time for 1,000 messages, at the last step · reached: the most that
        were open where no more than 0.1 % of those requested were lost · gave way first: on the first step, of any round, where
        connections failed, were lost, did not open or were silent, or p99 of lateness was beyond a tenth of the interval ·
        given back: of the memory that was added, after all connections were closed · (reference) a server that does nothing but
        answer: the ceiling of this machine and of dyno, not a competitor

        wspoll, step by step: A WebSocket with a text every second
        Every step of wspoll in numbers
        server            connections   open  failed  lost  silent  missed  connect p99  late p99  late max   CPU     PSS  sched
        Quick                   1,000  1,000       0     0       0       0       1.00ms    2.00ms    2.00ms  2.0%  26.2MB   7.0%
        Quick                   2,000  2,000       0     0       0       0       1.00ms    4.00ms    4.00ms  4.0%  32.6MB    17%
        Quick                   3,000  3,000       0     0       0       0       1.00ms    6.00ms    6.00ms  6.0%  38.6MB    27%
        Lossy ␛[31m             1,000  1,000       0     0       0       0       1.00ms    40.0ms    40.0ms  2.0%  50.7MB      –
        Lossy ␛[31m             2,000  1,980      12    35       0       0       1.00ms    80.0ms    80.0ms  4.0%  81.6MB      –
        Lossy ␛[31m             3,000  2,980       0     0       7      21       1.00ms     330ms     900ms  6.0%   112MB      –
        Bare (reference)        1,000  1,000       0     0       0       0       1.00ms     500µs     500µs  0.2%  21.0MB      –
        Bare (reference)        2,000  2,000       0     0       0       0       1.00ms    1.00ms    1.00ms  0.4%  22.2MB      –
        Bare (reference)        3,000  3,000       0     0       0       0       1.00ms    1.50ms    1.50ms  0.6%  23.1MB      –
        the same in all rows: rounds 2
        connections: since the step began; all else: in its measured part · failed, lost, silent, waiting, missed: sums over n
        rounds; all else: the mean of the rounds · late: how long after it was due a message arrived; own: the most of it that
        dyno itself may have added · sched: BEAM schedulers in use (`beam.scheduler.utilisation_ratio`), on average
        =Mortal|x with 3,000: not measured: died (2 of 2)

        What gave way first
        Lossy ␛[31m, wspoll
          with 2,000, of which 1,953 were open at the end (round 1; 2 of 2 rounds gave way); 30 lost, recv.reset (reset while
          waiting for the answer); 12 failed, connect.refused (no server listens there); 5 lost, ws.goodbye (the server closed
          the WebSocket)
        =Mortal|x, wspoll
          with 2,000, of which 0 were open at the end (round 1; 2 of 2 rounds gave way); died (the trial ended there); 2,000
          lost, recv.reset (reset while waiting for the answer)

        Connections that failed or were lost  all measured rounds together
        Lossy ␛[31m, wspoll
          at 2,000: 30 lost, recv.reset (reset while waiting for the answer); 12 failed, connect.refused (no server listens
          there); 5 lost, ws.goodbye (the server closed the WebSocket)

        Memory after all were closed  10 s later; means of the rounds
        Quick, wspoll
          20.0MB before, 38.6MB at most, 24.6MB after (PSS): 75% of what they took was given back
        Lossy ␛[31m, wspoll
          20.0MB before, 112MB at most, 43.0MB after (PSS): 75% of what they took was given back
        Bare, wspoll
          20.0MB before, 23.1MB at most, 20.8MB after (PSS): 75% of what they took was given back

        Quick, wspoll
        late  a lower bound, measured against the interval of each connection
        dyno  14 % of a CPU in the last step, 210 kB received

        What went wrong
        =Mortal|x, wspoll at 3,000 held connections, round 1, and 1 more alike: died
          it ended 17.0 s after the load began: signal 9 (KILL)

        How it was measured
        Every trial starts its server anew, unless it ran already, verifies its answers, loads it, and verifies them again.
        Trials are shuffled by the seed.
        throughput: correct answers inside the measured time. Response time counts from when a request was due, not from when it
        was sent; a request that was given up counts at the time-out.
        95 % interval: by Student's t over the rounds of this run. It does not include what differs from one run, day or machine
        to the next. With one round there is no interval.
        Held connections: a trial is a whole ramp. Connections are added in steps, and each step is measured once its
        connections have been begun and have settled. At the end all are closed, and the server is watched while it releases
        memory.
        A message's lateness counts from when it was due, and includes dyno's own share, which is shown beside it (own p99).

        in short
        verdict: suspect; rows: 2 valid · 0 suspect · 1 invalid
        Quick holds 3,000 connections at 6.05 KiB each [5.45–6.72]; Lossy ␛[31m holds 2,980 connections at 30.4 KiB each
        [26.1–35.3]. On the way to 3,000 connections Lossy ␛[31m gives way first, at 2,000: 30 lost, recv.reset (+2).
        The intervals show how much the rounds differ; another day or machine may differ more. Trials that failed or have not
        been run are in no average."#]]
    .assert_eq(&parts(&text, &PARTS));
}

#[test]
fn one_round_in_80_columns() {
    let text = full(&Findings::held(1), 80, false);
    let costs = parts(&text, &["What a held connection costs"]);
    let (table, legend) = costs.split_once("\nthe same in all rows").unwrap();
    expect![[r#"
        What a held connection costs  0 to 1 rounds
        server                     KiB each  reached  gave way first
        Quick                6.0 ~[4.6–7.4]    3,000  nothing
        Lossy ␛[31m       30.7 ~[23.8–37.6]    2,953  2,000: 30 lost, recv.reset (+2)
        =Mortal|x                         –        –  2,000: died (+1)
        Bare (reference)       1.0 ~[0–2.4]    3,000  nothing"#]]
    .assert_eq(table);
    assert!(
        legend.contains("~[95 %]: of one round's line (its slope's standard error);"),
        "{text}"
    );
    assert!(text.contains("missed  21 numbered messages never came"), "{text}");
    let short = parts(&text, &["in short"]);
    for says in
        ["Quick holds 3,000 connections at 6.0 KiB each ~[4.6–7.4];", "There was one round,"]
    {
        assert!(short.contains(says), "{says}: {short}");
    }
}

#[test]
fn markdown_has_the_price_list_first() {
    let text = Findings::held(2).markdown();
    let heads = ["| server | KiB each |", "**What gave way first**", "**What went wrong**"];
    assert!(heads.map(|head| text.find(head).expect(head)).is_sorted(), "{text}");
}

#[test]
fn json_has_every_plateau_and_its_price() {
    let json = json(&Findings::held(2));
    let quick = &json["held"][0]["subjects"][0];
    assert_eq!(quick["price"]["memory_per_connection"]["memory"], "pss");
    assert!(quick["price"]["gave_way"].is_null());
    let lossy = &json["held"][0]["subjects"][1];
    assert_eq!(lossy["price"]["gave_way"]["causes"][0]["name"], "recv.reset");
    assert_eq!(lossy["plateaus"][1]["gone"][0]["times"], 30);
    assert_eq!(lossy["rounds"][0]["plateaus"][2]["figures"]["silent"], 7.0);
    assert_eq!(json["tables"][0]["rows"][0]["point_unit"], "held connections");
}

const JVM: &str = r#"
title = "A made-up virtual machine"
env = {}

[[reading]]
name = "jvm.heap.used_bytes"
title = "heap <b>in use"
heading = "heap"
fold = ["mean", "max"]

[[reading]]
name = "jvm.gc_ns"
title = "time spent collecting"
heading = "collecting"
fold = "growth"
"#;

#[test]
fn a_probe_of_another_runtime_has_its_own_columns_charts_and_keys() {
    let mut run = fixture::run(2);
    let file = |name: &str, text: &str| (name.to_string(), text.to_string());
    run.files.push(file("subjects/lossy/subject.toml", "probe = \"jvm\""));
    run.files.push(file("probes/jvm/probe.toml", JVM));
    let mut trials = fixture::trials(&run);
    for trial in trials.iter_mut().filter(|trial| trial.key.subject == "lossy") {
        let made = |name: &str, unit: &str, value: fn(u64) -> f64| {
            let points = (0..=40).map(|second| (second * SECOND, value(second)));
            fixture::points(name, unit, points.collect())
        };
        trial.series.push(made("jvm.heap.used_bytes", "bytes", |_| 64e6));
        trial.series.push(made("jvm.gc_ns", "ns", |second| second as f64 * 25e7));
    }
    let findings = Findings::of(&7, &run, &trials, Vec::new());
    let text = full(&findings, 300, false);
    let heading =
        text.lines().find(|line| line.contains("late p99") && line.contains("PSS")).unwrap();
    assert!(heading.contains("heap max") && heading.contains("collecting"), "{heading}");
    let line = text.lines().find(|line| line.starts_with("Lossy") && line.contains("64.0MB"));
    assert!(line.is_some_and(|line| line.contains("25%")), "{text}");
    assert!(text.contains("heap: heap <b>in use (`jvm.heap.used_bytes`), on average"), "{text}");
    let page = findings.page();
    // A chart over the connections, on a desktop and on a phone, and one along the time.
    for title in [">heap &lt;b&gt;in use<", ">time spent collecting<"] {
        assert!(3 <= page.matches(title).count(), "{title}");
    }
    let json = json(&findings);
    let figures = |subject: usize| &json["held"][0]["subjects"][subject]["plateaus"][0]["figures"];
    for (name, expected) in [
        ("jvm_heap_used_mean_bytes", 64e6),
        ("jvm_heap_used_max_bytes", 64e6),
        ("jvm_gc_percent", 25.0),
    ] {
        let value = figures(1)[name]["value"].as_f64().unwrap();
        assert!((value / expected - 1.0).abs() < 1e-9, "{name}: {value}");
        assert!(figures(0)[name].is_null(), "another has no such probe");
        assert!(csv(&findings).contains(&format!(",{name}")), "{name}");
    }
}

#[test]
fn a_run_of_which_nothing_was_tried_has_lists_without_numbers() {
    let run = fixture::run(1);
    let findings = Findings::of(&7, &run, &[], Vec::new());
    for text in [full(&findings, 80, false), findings.markdown(), csv(&findings)] {
        for odd in ["NaN", "  nothing", "| nothing |"] {
            assert!(!text.contains(odd), "{odd}: {text}");
        }
    }
}
