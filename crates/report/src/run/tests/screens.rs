//! The same run on a narrow terminal; a run of one load level; a run without any trial.

use expect_test::{Expect, expect};
use lab::record::{RunRecord, TrialRecord};

use super::{Findings, fixture, full, parts};

/// Of the full text, what begins so.
fn check(
    change: impl FnOnce(&mut RunRecord, &mut Vec<TrialRecord>),
    width: usize,
    begin: &[&str],
    expected: &Expect,
) {
    let (mut run, mut trials) = (fixture::run(), fixture::trials());
    change(&mut run, &mut trials);
    let findings = Findings::of(&7, &run, &trials, Vec::new());
    expected.assert_eq(&parts(&full(&findings, width, false), begin));
}

#[test]
fn the_same_in_80_columns() {
    check(
        |_, _| {},
        80,
        &["echo-xml: Echo a value", "What differs between them"],
        &expect![[r#"
            echo-xml: Echo a value
            each server under the load where it did best
            server      requests/s         throughput/s  2011  on time (5 s)     p50     p99
            Quick            1,000    1,002 [977–1,028]   800           100%  1.05ms  1.05ms
                             2,000  2,002 [1,977–2,028]     –           100%  1.05ms  1.05ms
            Evil ␛[31m       1,000                1,000?    –           100%  1.00ms  1.00ms
                             2,000  1,170↓? [900–1,540]     –            98%   180ms  ≥949ms
            the same in all rows: memory 4.20MB · conformance not checked · processes one
            means over the rounds (geometric for rates, times and bytes), in brackets the
            95 % interval by Student's t over the rounds of this run · throughput/s: correct
            answers inside the measured time, divided by that time · 2011: as published, on
            another machine · ≥ requests were given up at the time-out: the true value is no
            lower · ↓ the server did not keep up with the offered rate, or the trial was too
            short to tell · ? suspect: read why before you use the figure
            echo-xml: dyno's own server has no valid figure at 1,000, 2,000 requests/s: what
            dyno and the machine can reach there is not known

            What differs between them
            setting           library's default  changed by its settings
            backlog           128                –
            backlog           5                  128: too few
            bytes, head+rest  echo-xml           –
            answers           echo-xml           –"#]],
    );
}

#[test]
fn one_place_is_one_line_each() {
    let one_place = |run: &mut RunRecord, trials: &mut Vec<TrialRecord>| {
        run.plan.retain(|key| key.point.value() < 150.0);
        trials.retain(|trial| trial.key.point.value() < 150.0);
        run.entries.pop();
        run.is_quick = true;
        run.files.truncate(2);
        fixture::reread(run);
    };
    check(
        one_place,
        100,
        &["two · run 7", "echo-xml: Echo a value", "echo-xml: answers", "in short"],
        &expect![[r#"
            two · run 7 · 2026-11-21 13:28 UTC
            Which of two answers, and how fast?
            After: Two servers (Author, May 2011)
            quick: times and rounds were reduced; for a first look, not to be quoted
            experiments/history/two-2011.csv: it is not among the run's files
            sessions: 1,000, 2,000 requests/s (= 100, 200 sessions/s × 10 calls); 100 sessions a trial, no
            warm-up, time-out 5 s; 1 round
            checked: status 2xx of 30,040 answers; the bodies were not compared
            A CPU · Linux 6.18 · server on CPU 0 · memory: 1.5 GiB by cgroup v1 · dyno 0.1.0 · seed 7
            verdict: suspect; rows: 1 valid · 1 suspect · 0 invalid

            echo-xml: Echo a value
            at 1,000 requests/s
            server           throughput/s  offered/s     p50     p99  verdict  CPU/1k            rounds     p90
            Evil ␛[31m              1,000?     1,000  1.00ms  1.00ms  suspect   500ms  1 of 2, 1 × died  1.00ms
            Quick       1,002 [977–1,028]      1,002  1.05ms  1.05ms  valid     499ms                 2  1.05ms
            the same in all rows: on time (5 s) 100% · failed 0% · memory 4.20MB · conformance not checked · sd
            0ns · processes one
            means over the rounds (geometric for rates, times and bytes), in brackets the 95 % interval by
            Student's t over the rounds of this run · throughput/s: correct answers inside the measured time,
            divided by that time · CPU/1k: the server's CPU time for 1,000 correct answers · ? suspect: read why
            before you use the figure
            echo-xml: dyno's own server has no valid figure at 1,000 requests/s: what dyno and the machine can
            reach there is not known

            echo-xml: answers a second of each
            Evil ␛[31m  █████████████████████████████████████████████████████████ 1,000?
            Quick       ████████████████████████████████████████████████████████░░┃ 1,002

            in short
            verdict: suspect; rows: 1 valid · 1 suspect · 0 invalid
            All servers kept up with 1,000 requests/s. The lowest p99 is 1.00ms (Evil ␛[31m), the highest 1.05ms
            (Quick).
            The intervals show how much the rounds differ; another day or machine may differ more. Trials that
            failed or have not been run are in no average. Some figures are in doubt; they are marked."#]],
    );
}

#[test]
fn a_run_without_a_trial_says_so() {
    check(
        |_, trials| trials.clear(),
        100,
        &["two · run 7", "echo-xml: Echo a value", "What each can be offered", "in short"],
        &expect![[r#"
            two · run 7 · 2026-11-21 13:28 UTC
            Which of two answers, and how fast?
            After: Two servers (Author, May 2011)
            0 of 8 trials: the run is not finished; `dyno run --resume 7` continues it
            sessions: 1,000, 2,000 requests/s (= 100, 200 sessions/s × 10 calls); 1,000 sessions a trial, no
            warm-up, time-out 5 s; 2 rounds
            A CPU · Linux 6.18 · dyno 0.1.0 · seed 7

            echo-xml: Echo a value
            each server under the load where it did best
            server      requests/s  throughput/s  2011  version
            Quick            1,000   not run yet   800  1.2
                             2,000   not run yet     –  1.2
            Evil ␛[31m       1,000   not run yet     –  =cmd|' /C calc'!A0***
                             2,000   not run yet     –  =cmd|' /C calc'!A0***
            the same in all rows: verdict not run yet · conformance not checked · rounds 0 of 2 · processes one
            throughput/s: correct answers inside the measured time, divided by that time · 2011: as published,
            on another machine

            What each can be offered
            The limits: p99 ≤ 100ms, at most 1.0% failed, at least 99.0% on time. Capacity is read off the rates
            that were tried, in requests/s; it lies between the first two columns. The knee is the rate with the
            most throughput for its median response time.
            server      keeps it up to  breaks it at  by              knee
            Quick        no rate tried         1,000  a round failed     –
            Evil ␛[31m   no rate tried         1,000  a round failed     –

            in short
            No server has been measured yet.
            Trials that failed or have not been run are in no average."#]],
    );
}
