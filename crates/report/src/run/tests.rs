use analysis::Gate;
use expect_test::expect;
use lab::experiment::Point;
use lab::record::{Entry, RunRecord, TrialKey, TrialRecord};

use super::*;

mod damaged;
mod difference;
mod headline;
mod held_page;
mod markdown;
mod measures;
mod page;
mod screens;
pub(crate) mod searches;
mod why;

impl Findings<'static> {
    /// What is found of a run, which lives as long as the process.
    pub(crate) fn found((run, trials): (RunRecord, Vec<TrialRecord>)) -> Findings<'static> {
        Findings::of(&7, Box::leak(Box::new(run)), trials.leak(), Vec::new())
    }

    pub(crate) fn usual() -> Findings<'static> {
        Findings::after(|_, _| {})
    }

    /// Of the fixture's run after this change.
    pub(crate) fn after(
        change: impl FnOnce(&mut RunRecord, &mut Vec<TrialRecord>),
    ) -> Findings<'static> {
        Findings::numbered(7, change)
    }

    /// The same by another number in its store.
    pub(crate) fn numbered(
        id: u64,
        change: impl FnOnce(&mut RunRecord, &mut Vec<TrialRecord>),
    ) -> Findings<'static> {
        let (mut run, mut trials) = (fixture::run(), fixture::trials());
        change(&mut run, &mut trials);
        Findings::of(&id, Box::leak(Box::new(run)), trials.leak(), Vec::new())
    }

    /// Of held connections, so many rounds.
    pub(crate) fn held(rounds: u32) -> Findings<'static> {
        let run = held::fixture::run(rounds);
        let trials = held::fixture::trials(&run);
        Findings::found((run, trials))
    }
}

impl<'a> Compared<'a> {
    /// Two runs as they are, by the usual gate.
    pub(crate) fn whole(a: &'a Findings<'a>, b: &'a Findings<'a>) -> Compared<'a> {
        let [a, b] = [a, b].map(|findings| Side { findings, subject: None });
        Compared::of(a, b, Gate::default())
    }
}

/// Gives a run another load, in the words of an experiment.
pub(crate) fn order(run: &mut RunRecord, load: &str) {
    let text = run.files[0].1.clone();
    let line = text.lines().find(|line| line.starts_with("load")).unwrap();
    let load =
        format!("load = {{ {load}, duration = \"10s\", warmup = \"0s\", timeout = \"5s\" }}");
    run.files[0].1 = text.replace(line, &load);
    fixture::reread(run);
}

/// The fixture's servers under this load, at a place which has the trials of so many sessions a second.
pub(crate) fn under(load: &str, point: Point, sessions: f64) -> (RunRecord, Vec<TrialRecord>) {
    let (mut run, mut trials) = (fixture::run(), fixture::trials());
    order(&mut run, load);
    run.plan.retain(|key| key.point == Point::Sessions(sessions));
    trials.retain(|trial| trial.key.point == Point::Sessions(sessions));
    let keys = run.plan.iter_mut().chain(trials.iter_mut().map(|trial| &mut trial.key));
    keys.for_each(|key| key.point = point);
    (run, trials)
}

/// The first of `quick`, `evil`, which is called Other, and `third`, in so many rounds at one place. Of each trial the
/// number of its side is handed over.
pub(crate) fn sides(
    sides: usize,
    rounds: usize,
    load: &str,
    point: Point,
    mut change: impl FnMut(usize, &mut TrialRecord),
) -> (RunRecord, Vec<TrialRecord>) {
    let mut run = fixture::run();
    let text = run.files[0].1.replace("history = \"two-2011.csv\"\n", "");
    let text = text.replace("\"absent\"", "\"third\"");
    run.files[0].1 = text.replace("repeat = 2", &format!("repeat = {rounds}"));
    order(&mut run, load);
    run.files.truncate(2);
    run.entries[1].title = "Other".into();
    let (name, title) = ("third".into(), "Third".into());
    run.entries[2] = Entry { name, title, ..run.entries[0].clone() };
    run.entries.truncate(sides);
    let mut trials = vec![fixture::trial(run.plan[0].clone()); sides * rounds];
    for (number, trial) in trials.iter_mut().enumerate() {
        let (subject, repeat) = (["quick", "evil", "third"][number % sides], number / sides);
        trial.key = TrialKey::new(number as u32, subject, "echo-xml", point, repeat as u32);
        change(number % sides, trial);
    }
    run.plan = trials.iter().map(|trial| trial.key.clone()).collect();
    (run, trials)
}

/// The parts of a text, with an empty line between them, that begin so.
pub(crate) fn parts(text: &str, begin: &[&str]) -> String {
    let all = text.trim_end().split("\n\n");
    let wanted = all.filter(|part| begin.iter().any(|begin| part.starts_with(begin)));
    wanted.collect::<Vec<_>>().join("\n\n")
}

pub(crate) fn json(findings: &Findings<'_>) -> serde_json::Value {
    serde_json::from_str(&findings.json().unwrap()).unwrap()
}

pub(crate) fn csv(findings: &Findings<'_>) -> String {
    findings.csv().expect("a run has trials")
}

/// The full text, in this width.
pub(super) fn full(findings: &Findings<'_>, width: usize, is_coloured: bool) -> String {
    findings.text(Screen { is_coloured, is_full: true, ..Screen::file(width) })
}

fn whole(width: usize, is_coloured: bool) -> String {
    full(&Findings::usual(), width, is_coloured)
}

#[test]
fn a_curve_with_a_death_doubts_and_published_figures_in_120_columns() {
    expect![[r#"
        two · run 7 · 2026-11-21 13:28 UTC
        Which of two answers, and how fast?
        After: Two servers (Author, May 2011)
        sessions: 1,000, 2,000 requests/s (= 100, 200 sessions/s × 10 calls); 1,000 sessions a trial, no warm-up, time-out 5 s;
        2 rounds
        checked: status 2xx of 93,580 answers; the bodies were not compared
        A CPU · Linux 6.18 · server on CPU 0 · memory: 1.5 GiB by cgroup v1 · dyno 0.1.0 · seed 7
        verdict: suspect; rows: 2 valid · 2 suspect · 0 invalid

        echo-xml: Echo a value
        each server under the load where it did best
        rank  server      requests/s         throughput/s  offered/s  on time (5 s)     p50     p99  failed  verdict  CPU/1k
        –     Quick            1,000    1,002 [977–1,028]      1,002           100%  1.05ms  1.05ms      0%  valid     499ms
        1     Quick            2,000  2,002 [1,977–2,028]      2,002           100%  1.05ms  1.05ms      0%  valid     250ms
        –     Evil ␛[31m       1,000                1,000?     1,000           100%  1.00ms  1.00ms      0%  suspect   500ms
        2     Evil ␛[31m       2,000  1,170↓? [900–1,540]      1,200            98%   180ms  ≥949ms    2.1%  suspect   430ms
        the same in all rows: memory 4.20MB · conformance not checked · processes one
        means over the rounds (geometric for rates, times and bytes), in brackets the 95 % interval by Student's t over the
        rounds of this run · throughput/s: correct answers inside the measured time, divided by that time · CPU/1k: the server's
        CPU time for 1,000 correct answers · ≥ requests were given up at the time-out: the true value is no lower · ↓ the server
        did not keep up with the offered rate, or the trial was too short to tell · ? suspect: read why before you use the
        figure
        echo-xml: dyno's own server has no valid figure at 1,000, 2,000 requests/s: what dyno and the machine can reach there is
        not known

        What each can be offered
        The limits: p99 ≤ 100ms, at most 1.0% failed, at least 99.0% on time. Capacity is read off the rates that were tried, in
        requests/s; it lies between the first two columns. The knee is the rate with the most throughput for its median response
        time.
        server      keeps it up to  breaks it at  by               knee
        Quick               ≥2,000             –  –               2,000
        Evil ␛[31m   no rate tried         1,000  a round failed  1,000

        echo-xml: throughput/s and p99 against requests/s
        throughput/s
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
             1,000                                                               2,000
            p99
          1.00s│                                                             ⣀⣀⣀⠤⠤⠔⠒⠒b
               │                                                   ⣀⣀⡠⠤⠤⠒⠒⠊⠉⠉
               │                                        ⢀⣀⣀⠤⠤⠔⠒⠒⠉⠉⠉
               │                              ⣀⣀⡠⠤⠤⠔⠒⠒⠉⠉⠁
               │                   ⢀⣀⣀⡠⠤⠤⠒⠒⠊⠉⠉
               │         ⢀⣀⣀⠤⠤⠔⠒⠒⠉⠉⠁
         1.00ms│●⣠⣤⣤⣒⣒⣊⣉⣉⣁⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀A
              1,000                                                              2,000
        A Quick · B Evil ␛[31m · ● several at once · small letters: in doubt

        The article's figures, 2011 and now
        Two servers, May 2011
        Machines, versions and ways of measuring differ: much of what has changed since is not the servers' doing.
        server        requests/s  throughput/s, 2011    now      ×
        Quick              1,000                 800  1,002  1.25×
        Quick              2,000                   –  2,002      –
        Quick   best (now 2,000)                 900  2,002  2.22×

        Conformance to the RFCs  not part of any speed figure
        Not checked: Quick, Evil ␛[31m: nothing was kept of it.

        What to doubt
        Evil ␛[31m at 2,000: suspect, own failures (in 1 of 2 rounds): 100 of 12,000 requests failed for reasons on dyno's side
          what to do: see their classes; offer less, or give dyno more of what it lacked

        Requests that failed  all measured rounds together
        Evil ␛[31m, echo-xml at 2,000 requests/s: 400 recv.deadline (the answer began and did not end within the time-out); 100
        connect.no_ports (ours: no local port is left; give more addresses with --source)

        What went wrong
        Evil ␛[31m, echo-xml at 1,000 requests/s, round 2: died
          it ended 1.2 s after the load began: signal 11 (SEGV)
          its process: signal 11 (SEGV)
          │ =1+1,"x"
          │ ␛]0;owned␛� ␛olleh
          │ <script>

        What differs between them
        setting           library's default  changed by its settings  servers
        backlog           128                –                        Quick
        backlog           5                  128: too few             Evil ␛[31m
        bytes, head+rest  echo-xml           –                        Quick 101+46, Evil ␛[31m 102+46
        answers           echo-xml           –                        Quick answered differently from Evil ␛[31m

        Which servers took part
        server      version                start-up   answer
        Quick       1.2                      32.9ms  101+46B
        Evil ␛[31m  =cmd|' /C calc'!A0***    33.9ms  102+46B
        the same in all rows: in C · processes one · tier default · backlog 128
        start-up: mean over all trials · answer: bytes of the head + the rest, as they came (first question)
        Absent took no part: needs `gone`

        How it was measured
        Every trial starts its server anew, unless it ran already, verifies its answers, loads it, and verifies them again.
        Trials are shuffled by the seed.
        throughput: correct answers inside the measured time. Response time counts from when a request was due, not from when it
        was sent; a request that was given up counts at the time-out.
        95 % interval: by Student's t over the rounds of this run. It does not include what differs from one run, day or machine
        to the next. With one round there is no interval.

        The machine
        fact       as it was read
        cpu.model  A CPU
        kernel     Linux 6.18

        in short
        verdict: suspect; rows: 2 valid · 2 suspect · 0 invalid
        Within the limits (p99 ≤ 100ms, at most 1.0% failed, at least 99.0% on time): Quick holds every rate up to 2,000
        requests/s; Evil ␛[31m (in doubt) holds no rate that was tried; the lowest is 1,000 requests/s (a round failed).
        The intervals show how much the rounds differ; another day or machine may differ more. Trials that failed or have not
        been run are in no average. Some figures are in doubt; they are marked.

        more: `dyno report 7 --full` has all of it, `--format csv` every trial, `--format json` everything · to repeat: `dyno
        run two`
    "#]].assert_eq(&whole(120, false));
}

#[test]
fn the_method_says_that_servers_take_turns_in_slices() {
    let findings = Findings::after(|run, _| {
        run.experiment.as_mut().unwrap().slices = Some(std::time::Duration::from_millis(100));
    });
    let text = full(&findings, 200, false);
    assert!(text.contains("loads them in slices") && !text.contains("shuffled"), "{text}");
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
fn a_silence_and_stated_processes_are_shown_only_where_there_are_some() {
    let said = |silence: u64, processes: &str| {
        let findings = Findings::after(|run, trials| {
            run.entries.iter_mut().for_each(|entry| entry.processes = processes.into());
            for loaded in trials.iter_mut().filter_map(|trial| trial.loaded.as_mut()) {
                let found = &mut loaded.recording.silence;
                (found.longest, found.sum) = (silence, silence);
            }
        });
        let text = findings.markdown();
        let alike = text.lines().find(|line| line.starts_with("the same in all rows")).unwrap();
        ["silent", "longest silence", "processes"].map(|it| alike.contains(&format!(" · {it} ")))
    };
    assert_eq!(said(0, "unstated"), [false; 3]);
    assert_eq!(said(500_000_000, "one"), [true; 3]);
}

#[test]
fn a_history_that_cannot_be_read_is_reported() {
    let unknown = "quick,echo-xml,1,zebra,1,\n";
    let findings = Findings::after(|run, _| run.files[2].1.push_str(unknown));
    let text = full(&findings, 100, false);
    assert!(text.contains("experiments/history/two-2011.csv:5: unknown figure `zebra`"), "{text}");
}

#[test]
fn what_runs_it_once_more_is_a_command_that_works() {
    let again = |file: &str, is_quick| {
        let findings = Findings::after(|run, _| {
            run.files[0].0 = file.into();
            fixture::reread(run);
            run.is_quick = is_quick;
        });
        let text = full(&findings, 300, false);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        text.split_once("to repeat: `").unwrap().1.split('`').next().unwrap().to_string()
    };
    assert_eq!(again("experiments/two.toml", true), "dyno run two --quick");
    assert_eq!(again("two.toml", false), "dyno run two.toml");
    assert_eq!(again("/of mine/two.toml", true), "dyno run '/of mine/two.toml' --quick");
}

#[test]
fn a_line_of_csv_has_the_version_as_a_text_and_why_a_trial_is_no_measurement() {
    let csv = csv(&Findings::usual());
    assert!(csv.contains("'=cmd|' /C calc'!A0***"), "{csv}");
    let died = "died,it ended 1.2 s after the load began: signal 11 (SEGV),invalid,not_measured,";
    assert!(csv.contains(died), "{csv}");
}
