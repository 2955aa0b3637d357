use expect_test::{Expect, expect};
use lab::record::{RunRecord, TrialRecord};

use super::*;

mod headline;

fn check(
    change: impl FnOnce(&mut RunRecord, &mut Vec<TrialRecord>),
    width: usize,
    expected: &Expect,
) {
    let (mut run, mut trials) = (fixture::run(), fixture::trials());
    change(&mut run, &mut trials);
    expected.assert_eq(&text(
        &Told::of(&7, &run, &trials, Vec::new(), None),
        width,
        false,
        Glyphs::Unicode,
    ));
}

fn whole(width: usize, is_coloured: bool) -> String {
    let (run, trials) = (fixture::run(), fixture::trials());
    text(&Told::of(&7, &run, &trials, Vec::new(), None), width, is_coloured, Glyphs::Unicode)
}

#[test]
fn a_curve_with_a_death_doubts_and_published_figures_in_120_columns() {
    check(
        |_, _| {},
        120,
        &expect![[r#"
            two  run 7 · 2026-11-21 13:28 UTC
            Which of two answers, and how fast?
            after: Two servers (nobody, May 2011)
            sessions: 100, 200 sessions/s, 10 calls each; 1,000 sessions a trial, no warm-up, time-out 5 s; 2 rounds
            A CPU · Linux 6.18 · subject on CPU 0 · memory: 1.5 GiB by cgroup v1 · dyno 0.1.0 · seed 7
            verdict: suspect; rows: 2 valid · 2 suspect · 0 invalid

            subject     version                in  processes  tier     start-up  backlog   answer
            Quick       1.2                    C   one        default    32.9ms      128  101+46B
            Evil ␛[31m  =cmd|' /C calc'!A0***  C   one        default    33.9ms      128  102+46B
            Absent took no part: needs `gone`
            processes: as declared (as seen) · start-up: mean over all trials · backlog: as the kernel says · answer: bytes of the
            head + the rest, as they came (first question)

            echo-xml: Echo a value  by sessions/s
                   offered/s  achieved/s  conformance         [95 %]  2011     p50     p99     max  failed  CPU/1k  memory    n
            Quick
              100      1,000       1,002  not checked    [977–1,028]   800  1.05ms  1.05ms  1.10ms      0%   499ms  4.20MB    2
              200      2,000       2,002  not checked  [1,977–2,028]        1.05ms  1.05ms  1.10ms      0%   250ms  4.20MB    2
            Evil ␛[31m
              100      1,000       1,000? not checked              –        1.00ms  1.00ms  1.00ms      0%   500ms  4.20MB  1/2
              200      2,000       1,170↓?not checked    [900–1,540]         180ms  ≥949ms  ≥5.00s    2.0%   430ms  4.20MB    2
            figures: means of n rounds (geometric for rates, times and bytes) [95 % interval by Student's t over the rounds of this
            run] · times: response time from when a request was due · CPU/1k: the subject's CPU time for 1,000 correct answers ·
            memory: the most that the subject held (RSS) · conformance: cases of the RFCs passed, of those that apply · obligations
            broken · failures that an attacker could use; never part of a speed · 2011: as published, on another machine · ?: in
            doubt, see below · ↓: it did not keep up with what was offered, or the trial was too short to tell · ≥: requests were
            given up at the time-out, the truth is no less
            echo-xml: no reference was measured at 100, 200 sessions/s: how far dyno and the machine come there is not known

            echo-xml: the most answers a second of each
                        peak/s         [95 %]              at  2011
            Quick       ≥2,002  [1,977–2,028]  200 sessions/s   900  ████████████████████
            Evil ␛[31m   1,170?   [900–1,540]  200 sessions/s     –  ███████████▊
            ≥: at the last place, where it still kept up: it may be able to do more

            echo-xml: capacity in sessions/s with p99 ≤ 100ms, at most 1.0 % failed and at least 99.0 % on time: Quick ≥ 200 · Evil
            ␛[31m < 100

            echo-xml: answers/s and p99 against sessions/s
            achieved/s
             2,500│
                  │
                  │                                                      ⣀⣀⣀⣀⡠⠤⠤⠤⠤⠒⠒⠒⠒⠊⠉⠉A
                  │                                    ⣀⣀⣀⣀⡠⠤⠤⠤⠤⠒⠒⠒⠒⠊⠉⠉⠉⠉
                  │                 ⢀⣀⣀⣀⣀⡠⠤⠤⠤⠤⠒⠒⠒⠒⠊⠉⠉⠉⠉
                  │●⣀⣀⣀⣤⣤⣤⣤⣔⣒⣒⣒⣒⣉⣉⣉⣉⣁⣀⣀⣀⣀⣀⡠⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠔⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒b
                  │
                  │
                  │
                 0│
                  100                                                                  200
                p99
              1.00s│                                                             ⣀⣀⣀⠤⠤⠔⠒⠒b
                   │                                                   ⣀⣀⡠⠤⠤⠒⠒⠊⠉⠉
                   │                                        ⢀⣀⣀⠤⠤⠔⠒⠒⠉⠉⠉
                   │                              ⣀⣀⡠⠤⠤⠔⠒⠒⠉⠉⠁
                   │                   ⢀⣀⣀⡠⠤⠤⠒⠒⠊⠉⠉
                   │         ⢀⣀⣀⠤⠤⠔⠒⠒⠉⠉⠁
             1.00ms│●⣠⣤⣤⣒⣒⣊⣉⣉⣁⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀A
                   100                                                                 200
            A Quick · B Evil ␛[31m · ● several at once · small letters: in doubt

            how much of the RFCs they keep  beside the speed, and never part of it
            not checked: nothing was kept of it

            in doubt  marked ? or ! above; the figures hold them nevertheless
            Evil ␛[31m, echo-xml at 200 sessions/s, 1 of 2 rounds: 100 of 12,000 requests failed for reasons of dyno's own; see
            their classes below; offer less, or give dyno more of what it lacked

            requests that failed  all measured rounds together
            Evil ␛[31m, echo-xml at 200 sessions/s: 400 recv.deadline (the answer began and did not end within the time-out); 100
            connect.no_ports (ours: no local port is left; give more addresses with --source)

            what went wrong
            Evil ␛[31m, echo-xml at 100 sessions/s, round 2: died
              it ended 1.2 s after the load began: signal 11 (SEGV)
              its process: signal 11 (SEGV)
              │ =1+1,"x"
              │ ␛]0;owned␛� ␛olleh
              │ <script>

            what differs between them  whose: the library's way → the entry's
            backlog                  Quick: 128
                                     Evil ␛[31m: 5 → 128: too few
            bytes, head+rest         echo-xml: Quick 101+46, Evil ␛[31m 102+46
            answers                  echo-xml: Quick answered otherwise than Evil ␛[31m

            in short
            Under the promise (p99 ≤ 100ms, at most 1.0% failed, at least 99.0% on time): Quick holds every rate up to 200
            sessions/s; Evil ␛[31m (in doubt) holds no rate that was tried; the lowest is 100 sessions/s (a round failed).
            The intervals show how much the rounds differ; another day or machine may differ more. Some trials failed or have not
            been run; they are listed, and are in no average. Some figures are in doubt; they are marked.

            more: `dyno report 7 --format csv` has every trial, `--format json` everything
            2011: Two servers, May 2011
        "#]],
    );
}

#[test]
fn the_same_in_80_columns() {
    check(
        |_, _| {},
        80,
        &expect![[r#"
            two  run 7 · 2026-11-21 13:28 UTC
            Which of two answers, and how fast?
            after: Two servers (nobody, May 2011)
            sessions: 100, 200 sessions/s, 10 calls each; 1,000 sessions a trial, no
            warm-up, time-out 5 s; 2 rounds
            A CPU · Linux 6.18 · subject on CPU 0 · memory: 1.5 GiB by cgroup v1 · dyno
            0.1.0 · seed 7
            verdict: suspect; rows: 2 valid · 2 suspect · 0 invalid

            subject     version                processes  start-up  backlog   answer
            Quick       1.2                    one          32.9ms      128  101+46B
            Evil ␛[31m  =cmd|' /C calc'!A0***  one          33.9ms      128  102+46B
            Absent took no part: needs `gone`
            processes: as declared (as seen) · start-up: mean over all trials · backlog: as
            the kernel says · answer: bytes of the head + the rest, as they came (first
            question)

            echo-xml: Echo a value  by sessions/s
                   achieved/s  conformance         [95 %]  2011     p50     p99  failed    n
            Quick
              100       1,002  not checked    [977–1,028]   800  1.05ms  1.05ms      0%    2
              200       2,002  not checked  [1,977–2,028]        1.05ms  1.05ms      0%    2
            Evil ␛[31m
              100       1,000? not checked              –        1.00ms  1.00ms      0%  1/2
              200       1,170↓?not checked    [900–1,540]         180ms  ≥949ms    2.0%    2
            figures: means of n rounds (geometric for rates, times and bytes) [95 % interval
            by Student's t over the rounds of this run] · times: response time from when a
            request was due · CPU/1k: the subject's CPU time for 1,000 correct answers ·
            memory: the most that the subject held (RSS) · conformance: cases of the RFCs
            passed, of those that apply · obligations broken · failures that an attacker
            could use; never part of a speed · 2011: as published, on another machine · ?:
            in doubt, see below · ↓: it did not keep up with what was offered, or the trial
            was too short to tell · ≥: requests were given up at the time-out, the truth is
            no less
            echo-xml: no reference was measured at 100, 200 sessions/s: how far dyno and the
            machine come there is not known

            echo-xml: the most answers a second of each
                        peak/s         [95 %]              at  2011
            Quick       ≥2,002  [1,977–2,028]  200 sessions/s   900  ████████████████████
            Evil ␛[31m   1,170?   [900–1,540]  200 sessions/s     –  ███████████▊
            ≥: at the last place, where it still kept up: it may be able to do more

            echo-xml: capacity in sessions/s with p99 ≤ 100ms, at most 1.0 % failed and at
            least 99.0 % on time: Quick ≥ 200 · Evil ␛[31m < 100

            echo-xml: answers/s and p99 against sessions/s
            achieved/s
             2,500│
                  │
                  │                                                      ⣀⣀⣀⣀⡠⠤⠤⠤⠤⠒⠒⠒⠒⠊⠉⠉A
                  │                                    ⣀⣀⣀⣀⡠⠤⠤⠤⠤⠒⠒⠒⠒⠊⠉⠉⠉⠉
                  │                 ⢀⣀⣀⣀⣀⡠⠤⠤⠤⠤⠒⠒⠒⠒⠊⠉⠉⠉⠉
                  │●⣀⣀⣀⣤⣤⣤⣤⣔⣒⣒⣒⣒⣉⣉⣉⣉⣁⣀⣀⣀⣀⣀⡠⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠔⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒b
                  │
                  │
                  │
                 0│
                  100                                                                  200
                p99
              1.00s│                                                             ⣀⣀⣀⠤⠤⠔⠒⠒b
                   │                                                   ⣀⣀⡠⠤⠤⠒⠒⠊⠉⠉
                   │                                        ⢀⣀⣀⠤⠤⠔⠒⠒⠉⠉⠉
                   │                              ⣀⣀⡠⠤⠤⠔⠒⠒⠉⠉⠁
                   │                   ⢀⣀⣀⡠⠤⠤⠒⠒⠊⠉⠉
                   │         ⢀⣀⣀⠤⠤⠔⠒⠒⠉⠉⠁
             1.00ms│●⣠⣤⣤⣒⣒⣊⣉⣉⣁⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀A
                   100                                                                 200
            A Quick · B Evil ␛[31m · ● several at once · small letters: in doubt

            how much of the RFCs they keep  beside the speed, and never part of it
            not checked: nothing was kept of it

            in doubt  marked ? or ! above; the figures hold them nevertheless
            Evil ␛[31m, echo-xml at 200 sessions/s, 1 of 2 rounds: 100 of 12,000 requests
            failed for reasons of dyno's own; see their classes below; offer less, or give
            dyno more of what it lacked

            requests that failed  all measured rounds together
            Evil ␛[31m, echo-xml at 200 sessions/s: 400 recv.deadline (the answer began and
            did not end within the time-out); 100 connect.no_ports (ours: no local port is
            left; give more addresses with --source)

            what went wrong
            Evil ␛[31m, echo-xml at 100 sessions/s, round 2: died
              it ended 1.2 s after the load began: signal 11 (SEGV)
              its process: signal 11 (SEGV)
              │ =1+1,"x"
              │ ␛]0;owned␛� ␛olleh
              │ <script>

            what differs between them  whose: the library's way → the entry's
            backlog                  Quick: 128
                                     Evil ␛[31m: 5 → 128: too few
            bytes, head+rest         echo-xml: Quick 101+46, Evil ␛[31m 102+46
            answers                  echo-xml: Quick answered otherwise than Evil ␛[31m

            in short
            Under the promise (p99 ≤ 100ms, at most 1.0% failed, at least 99.0% on time):
            Quick holds every rate up to 200 sessions/s; Evil ␛[31m (in doubt) holds no rate
            that was tried; the lowest is 100 sessions/s (a round failed).
            The intervals show how much the rounds differ; another day or machine may differ
            more. Some trials failed or have not been run; they are listed, and are in no
            average. Some figures are in doubt; they are marked.

            more: `dyno report 7 --format csv` has every trial, `--format json` everything
            2011: Two servers, May 2011
        "#]],
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
    };
    check(
        one_place,
        100,
        &expect![[r#"
            two  run 7 · 2026-11-21 13:28 UTC
            Which of two answers, and how fast?
            after: Two servers (nobody, May 2011)
            quick: times and rounds were shrunk; good for a look, not to be quoted
            sessions: 100, 200 sessions/s, 10 calls each; 100 sessions a trial, no warm-up, time-out 5 s; 1
            round
            A CPU · Linux 6.18 · subject on CPU 0 · memory: 1.5 GiB by cgroup v1 · dyno 0.1.0 · seed 7
            experiments/history/two-2011.csv: no project is here to look for it
            verdict: suspect; rows: 1 valid · 1 suspect · 0 invalid

            subject     version                in  processes  tier     start-up  backlog   answer
            Quick       1.2                    C   one        default    32.0ms      128  101+46B
            Evil ␛[31m  =cmd|' /C calc'!A0***  C   one        default    33.0ms      128  102+46B
            processes: as declared (as seen) · start-up: mean over all trials · backlog: as the kernel says ·
            answer: bytes of the head + the rest, as they came (first question)

            echo-xml: Echo a value  at 100 sessions/s
                        offered/s  achieved/s  conformance       [95 %]     p50     p99  failed  CPU/1k    n
            Quick           1,000       1,002  not checked  [977–1,028]  1.05ms  1.05ms      0%   499ms    2
            Evil ␛[31m      1,000       1,000? not checked            –  1.00ms  1.00ms      0%   500ms  1/2
            figures: means of n rounds (geometric for rates, times and bytes) [95 % interval by Student's t over
            the rounds of this run] · times: response time from when a request was due · CPU/1k: the subject's
            CPU time for 1,000 correct answers · memory: the most that the subject held (RSS) · conformance:
            cases of the RFCs passed, of those that apply · obligations broken · failures that an attacker could
            use; never part of a speed · ?: in doubt, see below
            echo-xml: no reference was measured at 100 sessions/s: how far dyno and the machine come there is
            not known

            echo-xml: answers a second of each
            Evil ␛[31m  █████████████████████████████████████████████████████████ 1,000?
            Quick       ████████████████████████████████████████████████████████░░┃ 1,002

            how much of the RFCs they keep  beside the speed, and never part of it
            not checked: nothing was kept of it

            what went wrong
            Evil ␛[31m, echo-xml at 100 sessions/s, round 2: died
              it ended 1.2 s after the load began: signal 11 (SEGV)
              its process: signal 11 (SEGV)
              │ =1+1,"x"
              │ ␛]0;owned␛� ␛olleh
              │ <script>

            what differs between them  whose: the library's way → the entry's
            backlog                  Quick: 128
                                     Evil ␛[31m: 5 → 128: too few
            bytes, head+rest         echo-xml: Quick 101+46, Evil ␛[31m 102+46
            answers                  echo-xml: Quick answered otherwise than Evil ␛[31m

            in short
            All servers kept up with 100 sessions/s. The lowest p99 is 1.00ms (Evil ␛[31m), the highest 1.05ms
            (Quick).
            The intervals show how much the rounds differ; another day or machine may differ more. Some trials
            failed or have not been run; they are listed, and are in no average. Some figures are in doubt; they
            are marked.

            more: `dyno report 7 --format csv` has every trial, `--format json` everything
        "#]],
    );
}

#[test]
fn a_run_without_a_trial_says_so() {
    check(
        |_, trials| trials.clear(),
        100,
        &expect![[r#"
            two  run 7 · 2026-11-21 13:28 UTC
            Which of two answers, and how fast?
            after: Two servers (nobody, May 2011)
            0 of 8 trials: the run is not finished; `dyno run --resume 7` goes on
            sessions: 100, 200 sessions/s, 10 calls each; 1,000 sessions a trial, no warm-up, time-out 5 s; 2
            rounds
            A CPU · Linux 6.18 · dyno 0.1.0 · seed 7

            subject     version                in  processes  tier     start-up  backlog  answer
            Quick       1.2                    C   one        default         –        –       –
            Evil ␛[31m  =cmd|' /C calc'!A0***  C   one        default         –        –       –
            Absent took no part: needs `gone`
            processes: as declared (as seen) · start-up: mean over all trials · backlog: as the kernel says ·
            answer: bytes of the head + the rest, as they came (first question)

            echo-xml: Echo a value  by sessions/s
            Quick
              100  not run yet
              200  not run yet
            Evil ␛[31m
              100  not run yet
              200  not run yet

            echo-xml: capacity in sessions/s with p99 ≤ 100ms, at most 1.0 % failed and at least 99.0 % on time:
            Quick < 100 · Evil ␛[31m < 100

            how much of the RFCs they keep  beside the speed, and never part of it
            not checked: nothing was kept of it

            what differs between them  whose: the library's way → the entry's
            backlog                  Quick: 128
                                     Evil ␛[31m: 5 → 128: too few

            more: `dyno report 7 --format csv` has every trial, `--format json` everything
            2011: Two servers, May 2011
        "#]],
    );
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [40, 60, 80, 100, 120, 200] {
        let text = whole(width, false);
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn what_a_subject_wrote_is_shown_and_not_obeyed() {
    for is_coloured in [false, true] {
        let text = whole(100, is_coloured);
        assert!(!text.contains(['\u{7}', '\r', '\u{202e}']), "{text}");
        // Only our own colours.
        let codes = text.split('\u{1b}').skip(1);
        for code in codes {
            let is_ours = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"]
                .iter()
                .any(|known| code.starts_with(known));
            assert!(is_ours && is_coloured, "{code}");
        }
        assert!(text.contains("␛]0;owned␛"), "{text}");
    }
}

#[test]
fn a_history_that_cannot_be_read_is_told() {
    let break_it = |run: &mut RunRecord| run.files[2].1.push_str("quick,echo-xml,1,zebra,1,\n");
    let (mut run, trials) = (fixture::run(), fixture::trials());
    break_it(&mut run);
    let text = text(&Told::of(&7, &run, &trials, Vec::new(), None), 100, false, Glyphs::Unicode);
    assert!(text.contains("experiments/history/two-2011.csv:5: unknown figure `zebra`"), "{text}");
}

#[test]
fn every_trial_has_a_line_and_every_figure_a_column() {
    let (run, trials) = (fixture::run(), fixture::trials());
    let csv = csv(&Told::of(&7, &run, &trials, Vec::new(), None));
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 8);
    let heading: Vec<&str> = lines[0].split(',').collect();
    let place = heading.iter().position(|name| *name == "achieved_per_s").unwrap();
    let cells: Vec<&str> = lines[1].split(',').collect();
    assert_eq!((cells.len(), cells[place]), (heading.len(), "1000"));
    assert!(csv.contains("'=cmd|' /C calc'!A0***"), "{csv}");
    assert!(
        csv.contains(
            "died,it ended 1.2 s after the load began: signal 11 (SEGV),invalid,not_measured,"
        ),
        "{csv}"
    );
}
