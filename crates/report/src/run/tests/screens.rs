//! The same run on a narrow terminal; a run of one load level; a run without any trial: what is said of them alone.

use expect_test::{Expect, expect};
use lab::record::{RunRecord, TrialRecord};

use super::{Findings, fixture, full};

/// Of the full text, the lines that begin so.
fn check(
    change: impl FnOnce(&mut RunRecord, &mut Vec<TrialRecord>),
    width: usize,
    begin: &[&str],
    expected: &Expect,
) {
    let text = full(&Findings::after(change), width, false);
    let wanted = text.lines().filter(|line| begin.iter().any(|begin| line.starts_with(begin)));
    expected.assert_eq(&wanted.collect::<Vec<_>>().join("\n"));
}

#[test]
fn in_80_columns_the_columns_that_matter_least_are_gone() {
    check(
        |_, _| {},
        80,
        &["server  ", "setting"],
        &expect![[r#"
            server      requests/s         throughput/s  on time (5 s)     p50     p99
            server      keeps it up to  breaks it at  by               knee
            server        requests/s  throughput/s, 2011    now      ×
            setting           library's default  changed by its settings
            server      version                start-up   answer"#]],
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
        &["quick: ", "experiments/", "at 1,000", "server   ", "Evil", "Quick  ", "All s", "What e"],
        &expect![[r#"
            quick: times and rounds were reduced; for a first look, not to be quoted
            experiments/history/two-2011.csv: it is not among the run's files
            at 1,000 requests/s
            server           throughput/s  offered/s     p50     p99  verdict  CPU/1k            rounds     p90
            Evil ␛[31m              1,000?     1,000  1.00ms  1.00ms  suspect   500ms  1 of 2, 1 × died  1.00ms
            Quick       1,002 [977–1,028]      1,002  1.05ms  1.05ms  valid     499ms                 2  1.05ms
            Evil ␛[31m, echo-xml at 1,000 requests/s, round 2: died
            server      version                start-up   answer
            Quick       1.2                        32ms  101+46B
            Evil ␛[31m  =cmd|' /C calc'!A0***      33ms  102+46B
            All servers kept up with 1,000 requests/s. The lowest p99 is 1.00ms (Evil ␛[31m), the highest 1.05ms"#]],
    );
}

#[test]
fn a_run_without_a_trial_says_so() {
    check(
        |_, trials| trials.clear(),
        100,
        &[
            "0 of 8",
            "server  ",
            "Quick  ",
            "      ",
            "Evil",
            "the same",
            "No server",
            "Trials that",
        ],
        &expect![[r#"
            0 of 8 trials: the run is not finished; `dyno run --resume 7` continues it
            server      requests/s  throughput/s  version
            Quick            1,000   not run yet  1.2
                             2,000   not run yet  1.2
            Evil ␛[31m       1,000   not run yet  =cmd|' /C calc'!A0***
                             2,000   not run yet  =cmd|' /C calc'!A0***
            the same in all rows: verdict not run yet · conformance not checked · rounds 0 of 2 · processes one
            server      keeps it up to  breaks it at  by              knee
            Quick        no rate tried         1,000  a round failed     –
            Evil ␛[31m   no rate tried         1,000  a round failed     –
            server  requests/s  throughput/s, 2011  now  ×
            Quick        1,000                 800    –  –
            Quick        2,000                   –    –  –
            Quick         best                 900    –  –
            server      version                start-up
            Quick       1.2                           –
            Evil ␛[31m  =cmd|' /C calc'!A0***         –
            the same in all rows: in C · processes one · tier default
            No server has been measured yet.
            Trials that failed or have not been run are in no average."#]],
    );
}
