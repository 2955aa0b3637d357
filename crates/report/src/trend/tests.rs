use expect_test::expect;
use lab::experiment::Point;
use lab::record::{OutcomeKind, RunRecord, TrialRecord};

use super::*;
use crate::document::Document;
use crate::render::{Screen, html, text};
use crate::run::fixture;

/// A closed loop of the fixture's servers at one place, with so many answers of each in a round.
fn run(
    id: u32,
    answers: [u64; 2],
    change: impl Fn(&mut RunRecord, &mut [TrialRecord]),
) -> RunFigures {
    let mut run = fixture::run();
    run.files[0].1 = run.files[0].1.replace(
        "load = { sessions = { rate = [100, 200], calls = 10 }, total = 1000,",
        "load = { closed = { connections = [16] }, duration = \"10s\",",
    );
    fixture::reread(&mut run);
    run.plan.retain(|key| key.point == Point::Sessions(100.0));
    run.plan.iter_mut().for_each(|key| key.point = Point::Connections(16));
    run.began_unix_ms += i64::from(id) * 3_600_000;
    let mut trials: Vec<TrialRecord> =
        fixture::trials().into_iter().filter(|it| it.key.point == Point::Sessions(100.0)).collect();
    // In the fixture one trial dies.
    let whole = trials[0].clone();
    for trial in &mut trials {
        let is_evil = trial.key.subject == "evil";
        let (key, round) = (trial.key.clone(), u64::from(trial.key.repeat));
        *trial = TrialRecord { key, ..whole.clone() };
        trial.key.point = Point::Connections(16);
        let answers = answers[usize::from(is_evil)] + round * 20;
        trial.loaded.as_mut().unwrap().recording = fixture::recording(answers, 1_000_000);
    }
    change(&mut run, &mut trials);
    Findings::of(&id, &run, &trials, Vec::new(), None).figures()
}

fn alike(_: &mut RunRecord, _: &mut [TrialRecord]) {}

fn page(runs: &[RunFigures]) -> String {
    html::document(&document(runs)).into_string()
}

/// How many corners each line has in the picture for a large screen.
fn corners(page: &str) -> Vec<usize> {
    let wide = page.split("class=\"narrow\"").next().unwrap();
    let lines = wide.lines().filter(|line| line.contains("<polyline class=\"line"));
    lines.map(|line| line.matches(',').count()).collect()
}

fn shown(document: &Document) -> String {
    text(document, Screen { width: 90, is_coloured: false, is_full: true })
}

#[test]
fn a_trend_has_every_run_of_every_server_with_its_interval() {
    let runs = [run(1, [10_000, 8_000], alike), run(2, [11_000, 8_100], alike)];
    expect![[r#"
        run by run
        two, run by run
        Runs of one plan are in one picture. A line joins only runs of one machine, one kernel and
        one version of dyno.

        echo-xml: Echo a value  2 runs
        server      run         throughput/s  verdict  began                 version
        Quick         1    1,001 [988–1,014]  valid    2026-11-21 14:28 UTC  1.2
        Quick         2  1,101 [1,088–1,114]  valid    2026-11-21 15:28 UTC  1.2
        Evil ␛[31m    1        801 [788–814]  valid    2026-11-21 14:28 UTC  =cmd|' /C calc'!A0***
        Evil ␛[31m    2        811 [798–824]  valid    2026-11-21 15:28 UTC  =cmd|' /C calc'!A0***
    "#]]
    .assert_eq(&shown(&document(&runs)));
    assert_eq!(corners(&page(&runs)), [2, 2]);
}

#[test]
fn no_line_joins_what_another_machine_kernel_or_dyno_measured() {
    let change = |run: &mut RunRecord, _: &mut [TrialRecord]| {
        run.dyno = "0.2.0".into();
        run.facts[1].value = "Linux 7.0".into();
    };
    let fast = |id| run(id, [10_000, 8_000], alike);
    let other = |id| run(id, [20_000, 9_000], change);
    let changed = page(&[fast(1), fast(2), other(3), other(4)]);
    assert_eq!(corners(&changed), [2, 2, 2, 2], "{changed}");
    assert!(changed.contains("before run 3: kernel, dyno changed"), "{changed}");
    assert!(changed.contains("kernel was Linux 6.18, and is Linux 7.0"), "{changed}");
    assert!(changed.contains("<title>kernel, dyno</title><line class=\"limit\""), "{changed}");
    let same = page(&[fast(1), fast(2), fast(3), fast(4)]);
    assert_eq!(corners(&same), [4, 4]);
    assert!(!same.contains("class=\"limit\"") && !same.contains("What changed"), "{same}");
}

#[test]
fn what_is_not_this_machine_s_for_long_changes_nothing() {
    let passing = |run: &mut RunRecord, _: &mut [TrialRecord]| {
        run.facts.push(Fact { name: "load-average".into(), value: run.began_unix_ms.to_string() });
    };
    let page = page(&[run(1, [10_000, 8_000], passing), run(2, [10_000, 8_000], passing)]);
    assert_eq!(corners(&page), [2, 2]);
}

#[test]
fn another_plan_is_another_picture_and_the_newest_comes_first() {
    let quick = |run: &mut RunRecord, _: &mut [TrialRecord]| run.is_quick = true;
    let longer = |run: &mut RunRecord, _: &mut [TrialRecord]| {
        run.files[0].1 = run.files[0].1.replace("10s", "20s");
        fixture::reread(run);
    };
    let server = |run: &mut RunRecord, _: &mut [TrialRecord]| {
        run.files.push(("subjects/quick/subject.toml".into(), run.began_unix_ms.to_string()));
    };
    let of =
        |id, change: &dyn Fn(&mut RunRecord, &mut [TrialRecord])| run(id, [10_000, 8_000], change);
    let trend = document(&[of(1, &quick), of(2, &server), of(3, &longer), of(4, &server)]);
    let found: Vec<(&str, &str)> =
        trend.sections.iter().map(|it| (&it.heading[..], &it.note[..])).collect();
    let title = "echo-xml: Echo a value";
    let earlier = format!("{title} (an earlier plan)");
    assert_eq!(found, [(title, "2 runs"), (&earlier, "1 run"), (&earlier, "1 run, quick")]);
}

#[test]
fn what_is_broken_or_invalid_is_crossed_and_joined_with_nothing() {
    let dies = |_: &mut RunRecord, trials: &mut [TrialRecord]| {
        for trial in trials.iter_mut().filter(|trial| trial.key.subject == "evil") {
            trial.outcome.kind = OutcomeKind::Died;
        }
    };
    let fast = |id| run(id, [10_000, 8_000], alike);
    let page = page(&[fast(1), fast(2), run(3, [10_000, 8_000], dies), fast(4), fast(5)]);
    let mut lines = corners(&page);
    lines.sort_unstable();
    assert_eq!(lines, [2, 2, 5], "{page}");
    assert!(page.contains("crossed: invalid, or not measured"), "{page}");
    assert!(page.contains("not measured: died (2 of 2)"), "{page}");
    assert!(!page.contains("NaN"), "{page}");
}

#[test]
fn what_strangers_wrote_is_shown_and_not_obeyed() {
    let hostile = |run: &mut RunRecord, _: &mut [TrialRecord]| {
        run.name = fixture::POLYGLOT.into();
        run.dyno = format!("{} {}", fixture::POLYGLOT, run.began_unix_ms);
        run.entries.iter_mut().for_each(|entry| {
            (entry.title, entry.version) = (fixture::POLYGLOT.into(), fixture::POLYGLOT.into());
        });
    };
    let runs = [run(1, [10_000, 8_000], hostile), run(2, [10_000, 8_000], hostile)];
    let page = page(&runs);
    assert!(
        !page.contains("<script>") && !page.contains("<img") && !page.contains('\u{1b}'),
        "{page}"
    );
    assert!(page.contains("&lt;script&gt;"), "{page}");
}

#[test]
fn no_run_is_an_empty_trend() {
    assert!(document(&[]).sections.is_empty());
}
