use expect_test::{Expect, expect};

use super::super::{Glyphs, Told, csv, json, markdown, text};
use super::fixture;

fn check(rounds: u32, width: usize, expected: &Expect) {
    let run = fixture::run(rounds);
    let trials = fixture::trials(&run);
    let told = Told::of(&7, &run, &trials, Vec::new(), None);
    expected.assert_eq(&text(&told, width, false, Glyphs::Unicode));
}

#[test]
fn two_rounds_of_a_ramp_in_120_columns() {
    check(
        2,
        120,
        &expect![[r#"
            held  run 7 · 2026-11-21 13:28 UTC
            What does a held connection cost?
            held: 3,000 connections, 1,000 more every 10 s at 500 a second, a message each 1 s, time-out 5 s; 2 rounds
            Linux 6.18 · load on CPU 1 · dyno 0.1.0 · seed 7
            verdict: suspect; rows: 2 valid · 0 suspect · 1 invalid

            subject      version  in  processes  tier       start-up  backlog  answer
            Quick        1.2      C   one        default           –        –       –
            Lossy ␛[31m  1.2      C   one        default           –        –       –
            =Mortal|x    1.2      C   one        default           –        –       –
            Oracle       1.2      C   one        reference         –        –       –
            processes: as declared (as seen) · start-up: mean over all trials · backlog: as the kernel says · answer: bytes of the
            head + the rest, as they came (first question)

            what a held connection costs  wspoll, 0 to 2 rounds
                                KiB each  conformance       [95 %]  CPU/1k  reached  given back  gave way first
            Quick                   6.05  not checked  [5.45–6.72]  20.0ms    3,000         75%  nothing
            Lossy ␛[31m             30.4  not checked  [26.1–35.3]  20.0ms    2,977         75%  2,000: 30 lost, recv.reset…
            =Mortal|x                  –  not checked            –       –        –           –  2,000: died…
            Oracle (reference)      1.00  not checked  [1.00–1.00]  2.00ms    3,000         75%  nothing
            KiB each: slope of mean memory (PSS) over open connections, by least squares over the plateaus · [95 %]: by Student's t
            over the rounds' slopes · CPU/1k: the subject's CPU time for 1,000 messages on the last plateau · reached: the most that
            were open where no more than 0.1 % of those asked for were lost · given back: of the memory that they took, after all
            were closed · gave way first: on the first plateau, of any round, where connections failed, were lost, did not open or
            were silent, or p99 of lateness was beyond a tenth of the beat · conformance: cases of the RFCs passed, of those that
            apply · obligations broken · failures that an attacker could use; never part of a speed

            wspoll: A WebSocket with a text every second  by held connections
                      open  failed  lost  silent  missed  connect p99  late p50  late p99  (ref.)  late max   CPU     PSS  sched  n
            Quick
              1,000  1,000       0     0       0       0       1.00ms    2.00ms    2.00ms   500µs    2.00ms  2.0%  26.2MB   7.0%  2
              2,000  2,000       0     0       0       0       1.00ms    4.00ms    4.00ms  1.00ms    4.00ms  4.0%  32.6MB    17%  2
              3,000  3,000       0     0       0       0       1.00ms    6.00ms    6.00ms  1.50ms    6.00ms  6.0%  38.6MB    27%  2
            Lossy ␛[31m
              1,000  1,000       0     0       0       0       1.00ms    40.0ms    40.0ms   500µs    40.0ms  2.0%  50.7MB      –  2
              2,000  1,977      12    35       0       0       1.00ms    80.0ms    80.0ms  1.00ms    80.0ms  4.0%  81.6MB      –  2
              3,000  2,977       0     0       7      21       1.00ms     120ms     329ms  1.50ms     900ms  6.0%   112MB      –  2
            =Mortal|x
              3,000  not measured: died (2 of 2)
            Oracle (reference)
              1,000  1,000       0     0       0       0       1.00ms     500µs     500µs             500µs  0.2%  21.0MB      –  2
              2,000  2,000       0     0       0       0       1.00ms    1.00ms    1.00ms            1.00ms  0.4%  22.2MB      –  2
              3,000  3,000       0     0       0       0       1.00ms    1.50ms    1.50ms            1.50ms  0.6%  23.1MB      –  2
            of connections, what happened since the step began; of all else, what was seen in its measured part · failed, lost,
            silent, waiting, missed: sums over n rounds; all else: the mean of the rounds · late: messages against their beat; own:
            the most that dyno itself may have added · (ref.): the reference's late p99 with as many connections: what the load and
            the machine add · sched: the BEAM's schedulers in use, of all on average; max: of the busiest at its busiest

            what gave way first
            Lossy ␛[31m, wspoll: with 2,000, of which 1,953 were open at the end (round 1; 2 of 2 rounds gave way); 30 were lost:
            recv.reset (reset while waiting for the answer); 12 failed: connect.refused (nobody listens there); 5 were lost:
            ws.goodbye (the server said goodbye)
            =Mortal|x, wspoll: with 2,000, of which 0 were open at the end (round 1; 2 of 2 rounds gave way); the trial ended there:
            died; 2,000 were lost: recv.reset (reset while waiting for the answer)

            connections that failed or were lost  all measured rounds together
            Lossy ␛[31m, wspoll: at 2,000 30 lost, recv.reset (reset while waiting for the answer); 12 failed, connect.refused
            (nobody listens there); 5 lost, ws.goodbye (the server said goodbye)

            memory after all were closed  10 s later; means of the rounds
            Quick, wspoll: 20.0 MB before, 38.6 MB at most, 24.6 MB after (PSS): 75% of what they took was given back
            Lossy ␛[31m, wspoll: 20.0 MB before, 112 MB at most, 43.0 MB after (PSS): 75% of what they took was given back
            Oracle, wspoll: 20.0 MB before, 23.1 MB at most, 20.8 MB after (PSS): 75% of what they took was given back

            how much of the RFCs they keep  beside the speed, and never part of it
            not checked: nothing was kept of it

            what went wrong
            =Mortal|x, wspoll at 3000 held connections, round 1, and 1 more alike: died
              it ended 17.0 s after the load began: signal 9 (KILL)

            what differs between them  whose: the library's way → the entry's

            in short
            Quick holds 3,000 connections at 6.05 KiB each [5.45–6.72]; Lossy ␛[31m holds 2,977 connections at 30.4 KiB each
            [26.1–35.3]. On the way to 3,000 connections Lossy ␛[31m gives way first, at 2,000: 30 lost, recv.reset and 2 more.
            The intervals show how much the rounds differ; another day or machine may differ more. Some trials failed or have not
            been run; they are listed, and are in no average.

            more: `dyno report 7 --format csv` has every trial, `--format json` everything
        "#]],
    );
}

#[test]
fn one_round_in_80_columns() {
    check(
        1,
        80,
        &expect![[r#"
            held  run 7 · 2026-11-21 13:28 UTC
            What does a held connection cost?
            held: 3,000 connections, 1,000 more every 10 s at 500 a second, a message each
            1 s, time-out 5 s; 1 round
            Linux 6.18 · load on CPU 1 · dyno 0.1.0 · seed 7
            verdict: suspect; rows: 2 valid · 0 suspect · 1 invalid

            subject      version  in  processes  tier       start-up  backlog  answer
            Quick        1.2      C   one        default           –        –       –
            Lossy ␛[31m  1.2      C   one        default           –        –       –
            =Mortal|x    1.2      C   one        default           –        –       –
            Oracle       1.2      C   one        reference         –        –       –
            processes: as declared (as seen) · start-up: mean over all trials · backlog: as
            the kernel says · answer: bytes of the head + the rest, as they came (first
            question)

            what a held connection costs  wspoll, 0 to 1 rounds
                                KiB each  conformance  gave way first
            Quick                   6.00  not checked  nothing
            Lossy ␛[31m             30.7  not checked  2,000: 30 lost, recv.reset…
            =Mortal|x                  –  not checked  2,000: died…
            Oracle (reference)      1.00  not checked  nothing
            KiB each: slope of mean memory (PSS) over open connections, by least squares
            over the plateaus · ~[95 %]: of one round's line (its slope's standard error);
            what another round comes to is not in it · CPU/1k: the subject's CPU time for
            1,000 messages on the last plateau · reached: the most that were open where no
            more than 0.1 % of those asked for were lost · given back: of the memory that
            they took, after all were closed · gave way first: on the first plateau, of any
            round, where connections failed, were lost, did not open or were silent, or p99
            of lateness was beyond a tenth of the beat · conformance: cases of the RFCs
            passed, of those that apply · obligations broken · failures that an attacker
            could use; never part of a speed

            wspoll: A WebSocket with a text every second  by held connections
                      open  failed  lost  silent  missed  late p99  late max   CPU     PSS
            Quick
              1,000  1,000       0     0       0       0    2.00ms    2.00ms  2.0%  26.1MB
              2,000  2,000       0     0       0       0    4.00ms    4.00ms  4.0%  32.5MB
              3,000  3,000       0     0       0       0    6.00ms    6.00ms  6.0%  38.4MB
            Lossy ␛[31m
              1,000  1,000       0     0       0       0    40.0ms    40.0ms  2.0%  50.7MB
              2,000  1,953      12    35       0       0    80.0ms    80.0ms  4.0%  81.6MB
              3,000  2,953       0     0       7      21     900ms     900ms  6.0%   112MB
            =Mortal|x
              3,000  not measured: died (1 of 1)
            Oracle (reference)
              1,000  1,000       0     0       0       0     500µs     500µs  0.2%  21.0MB
              2,000  2,000       0     0       0       0    1.00ms    1.00ms  0.4%  22.2MB
              3,000  3,000       0     0       0       0    1.50ms    1.50ms  0.6%  23.1MB
            of connections, what happened since the step began; of all else, what was seen
            in its measured part · late: messages against their beat; own: the most that
            dyno itself may have added · (ref.): the reference's late p99 with as many
            connections: what the load and the machine add · sched: the BEAM's schedulers in
            use, of all on average; max: of the busiest at its busiest

            what gave way first
            Lossy ␛[31m, wspoll: with 2,000, of which 1,953 were open at the end; 30 were
            lost: recv.reset (reset while waiting for the answer); 12 failed:
            connect.refused (nobody listens there); 5 were lost: ws.goodbye (the server said
            goodbye)
            =Mortal|x, wspoll: with 2,000, of which 0 were open at the end; the trial ended
            there: died; 2,000 were lost: recv.reset (reset while waiting for the answer)

            connections that failed or were lost  all measured rounds together
            Lossy ␛[31m, wspoll: at 2,000 30 lost, recv.reset (reset while waiting for the
            answer); 12 failed, connect.refused (nobody listens there); 5 lost, ws.goodbye
            (the server said goodbye)

            memory after all were closed  10 s later; means of the rounds
            Quick, wspoll: 20.0 MB before, 38.4 MB at most, 24.6 MB after (PSS): 75% of what
            they took was given back
            Lossy ␛[31m, wspoll: 20.0 MB before, 112 MB at most, 43.0 MB after (PSS): 75% of
            what they took was given back
            Oracle, wspoll: 20.0 MB before, 23.1 MB at most, 20.8 MB after (PSS): 75% of
            what they took was given back

            how much of the RFCs they keep  beside the speed, and never part of it
            not checked: nothing was kept of it

            what went wrong
            =Mortal|x, wspoll at 3000 held connections, round 1: died
              it ended 17.0 s after the load began: signal 9 (KILL)

            what differs between them  whose: the library's way → the entry's

            in short
            Quick holds 3,000 connections at 6.00 KiB each ~[4.57–7.43]; Lossy ␛[31m holds
            2,953 connections at 30.7 KiB each ~[23.8–37.6]. On the way to 3,000 connections
            Lossy ␛[31m gives way first, at 2,000: 30 lost, recv.reset and 2 more.
            There was one round, so the spread between rounds is not known: small
            differences mean nothing. Some trials failed or have not been run; they are
            listed, and are in no average.

            more: `dyno report 7 --format csv` has every trial, `--format json` everything
        "#]],
    );
}

#[test]
fn markdown_has_the_price_list_first() {
    let run = fixture::run(2);
    let trials = fixture::trials(&run);
    let told = Told::of(&7, &run, &trials, Vec::new(), None);
    expect![[r#"
        **What does a held connection cost?** (held, run 7, 2026-11-21 13:28 UTC)

        Quick holds 3,000 connections at 6.05 KiB each \[5.45–6.72\]; Lossy ␛\[31m holds 2,977 connections at 30.4 KiB each \[26.1–35.3\]. On the way to 3,000 connections Lossy ␛\[31m gives way first, at 2,000: 30 lost, recv.reset and 2 more.

        The intervals show how much the rounds differ; another day or machine may differ more. Some trials failed or have not been run; they are listed, and are in no average.

        What a held connection costs:

        | subject | held | gave way first | KiB each | conformance | 95 % | CPU/1k | reached | given back | rounds | verdict |
        | --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |
        | Quick | wspoll | nothing | 6.05 | not checked | \[5.45–6.72\] | 20.0ms | 3,000 | 75% | 2 | valid |
        | Lossy ␛\[31m | wspoll | 2,000: 30 lost, recv.reset… | 30.4 | not checked | \[26.1–35.3\] | 20.0ms | 2,977 | 75% | 2 | valid |
        | =Mortal\|x | wspoll | 2,000: died… | – | not checked | – | – | – | – | 0 | invalid |
        | Oracle (reference) | wspoll | nothing | 1.00 | not checked | \[1.00–1.00\] | 2.00ms | 3,000 | 75% | 2 | valid |

        KiB each: slope of mean memory (PSS) over open connections, by least squares over the plateaus · \[95 %\]: by Student's t over the rounds' slopes · CPU/1k: the subject's CPU time for 1,000 messages on the last plateau · reached: the most that were open where no more than 0.1 % of those asked for were lost · given back: of the memory that they took, after all were closed · gave way first: on the first plateau, of any round, where connections failed, were lost, did not open or were silent, or p99 of lateness was beyond a tenth of the beat

        <details><summary>Every plateau</summary>

        wspoll: A WebSocket with a text every second

        | subject | held | open | failed | lost | silent | missed | connect p50 | connect p99 | late p50 | late p99 | late max | own p99 | gap p99 | messages/s | CPU | PSS | PSS max | RSS | BEAM | sched | sched max | rounds |
        | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
        | Quick | 1,000 | 1,000 | 0 | 0 | 0 | 0 | 1.00ms | 1.00ms | 2.00ms | 2.00ms | 2.00ms | 100µs | 1.00s | 1,000 | 2.0% | 26.2MB | 26.2MB | 29.3MB | 18.7MB | 7.0% | 20% | 2 |
        | Quick | 2,000 | 2,000 | 0 | 0 | 0 | 0 | 1.00ms | 1.00ms | 4.00ms | 4.00ms | 4.00ms | 100µs | 1.00s | 2,000 | 4.0% | 32.6MB | 32.6MB | 38.8MB | 19.7MB | 17% | 40% | 2 |
        | Quick | 3,000 | 3,000 | 0 | 0 | 0 | 0 | 1.00ms | 1.00ms | 6.00ms | 6.00ms | 6.00ms | 100µs | 1.00s | 3,000 | 6.0% | 38.6MB | 38.6MB | 47.9MB | 20.7MB | 27% | 60% | 2 |
        | Lossy ␛\[31m | 1,000 | 1,000 | 0 | 0 | 0 | 0 | 1.00ms | 1.00ms | 40.0ms | 40.0ms | 40.0ms | 100µs | 1.00s | 1,000 | 2.0% | 50.7MB | 50.7MB | 66.1MB | – | – | – | 2 |
        | Lossy ␛\[31m | 2,000 | 1,977 | 12 | 35 | 0 | 0 | 1.00ms | 1.00ms | 80.0ms | 80.0ms | 80.0ms | 100µs | 1.00s | 2,000 | 4.0% | 81.6MB | 81.6MB | 112MB | – | – | – | 2 |
        | Lossy ␛\[31m | 3,000 | 2,977 | 0 | 0 | 7 | 21 | 1.00ms | 1.00ms | 120ms | 329ms | 900ms | 100µs | 1.00s | 3,000 | 6.0% | 112MB | 112MB | 158MB | – | – | – | 2 |
        | Oracle (reference) | 1,000 | 1,000 | 0 | 0 | 0 | 0 | 1.00ms | 1.00ms | 500µs | 500µs | 500µs | 100µs | 1.00s | 1,000 | 0.2% | 21.0MB | 21.0MB | 21.5MB | – | – | – | 2 |
        | Oracle (reference) | 2,000 | 2,000 | 0 | 0 | 0 | 0 | 1.00ms | 1.00ms | 1.00ms | 1.00ms | 1.00ms | 100µs | 1.00s | 2,000 | 0.4% | 22.2MB | 22.2MB | 23.3MB | – | – | – | 2 |
        | Oracle (reference) | 3,000 | 3,000 | 0 | 0 | 0 | 0 | 1.00ms | 1.00ms | 1.50ms | 1.50ms | 1.50ms | 100µs | 1.00s | 3,000 | 0.6% | 23.1MB | 23.1MB | 24.6MB | – | – | – | 2 |

        </details>

        held: 3,000 connections, 1,000 more every 10 s at 500 a second, a message each 1 s, time-out 5 s; 2 rounds · Linux 6.18 · load on CPU 1 · dyno 0.1.0 · seed 7 · once more: dyno run held
    "#]].assert_eq(&markdown::of(&told));
}

#[test]
fn a_line_of_csv_is_a_plateau() {
    let run = fixture::run(1);
    let trials = fixture::trials(&run);
    let csv = csv::of(&Told::of(&7, &run, &trials, Vec::new(), None));
    let rows: Vec<Vec<&str>> =
        csv.trim_end().split("\r\n").map(|line| line.split(',').collect()).collect();
    // Three plateaus of three subjects, two of the one that died.
    assert_eq!(rows.len(), 1 + 3 * 3 + 2);
    let column = |name: &str| rows[0].iter().position(|head| *head == name).unwrap();
    let (plateau, open, late) = (column("plateau"), column("open"), column("push_late_p99_ms"));
    assert_eq!((rows[1][plateau], rows[1][open]), ("1000", "1000"));
    assert!(rows[3][late].parse::<f64>().is_ok_and(|late| (late - 6.0).abs() < 0.01));
    let lossy = rows.iter().find(|row| row[5] == "lossy" && row[plateau] == "2000").unwrap();
    assert_eq!((lossy[open], lossy[column("lost")]), ("1953", "35"));
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
}

#[test]
fn json_has_every_plateau_and_its_price() {
    let run = fixture::run(2);
    let trials = fixture::trials(&run);
    let json = json::of(&Told::of(&7, &run, &trials, Vec::new(), None)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let quick = &json["held"][0]["subjects"][0];
    let slope = &quick["price"]["memory_per_connection"];
    assert_eq!((&slope["interval_of"], &slope["memory"]), (&"rounds".into(), &"pss".into()));
    assert!((slope["bytes"].as_f64().unwrap() - 6.05 * 1_024.0).abs() < 1.0, "{slope}");
    assert_eq!(quick["plateaus"][2]["figures"]["open"]["value"], 3_000.0);
    assert!(quick["price"]["gave_way"].is_null());
    let lossy = &json["held"][0]["subjects"][1];
    assert_eq!(lossy["price"]["gave_way"]["causes"][0]["name"], "recv.reset");
    assert_eq!(lossy["plateaus"][1]["gone"][0]["times"], 30);
    assert_eq!(lossy["rounds"][0]["plateaus"][2]["figures"]["silent"], 7.0);
    assert_eq!(json["tables"][0]["rows"][0]["point_unit"], "held connections");
}

#[test]
fn a_run_of_which_nothing_was_tried_has_lists_without_numbers() {
    let run = fixture::run(1);
    let told = Told::of(&7, &run, &[], Vec::new(), None);
    for text in [text(&told, 80, false, Glyphs::Unicode), markdown::of(&told), csv::of(&told)] {
        assert!(!text.contains("NaN") && !text.contains("nothing\n"), "{text}");
    }
}
