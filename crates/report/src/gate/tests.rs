use analysis::gate::Rule;
use lab::experiment::Point;
use lab::figure::Figure;
use lab::record::{LoadRecord, Outcome, OutcomeKind, TrialKey};
use lab::source_file::SourceFile;
use load::{Failure, SECOND};

use super::*;
use crate::render::Screen;
use crate::run::fixture::{recording, recount};

pub(crate) fn gate<'a>(
    weighing: &'a Weighing,
    run: &'a RunRecord,
    head: &'a str,
) -> FinishedGate<'a> {
    FinishedGate {
        weighing,
        early: None,
        equal: Vec::new(),
        base: "git:main (1a2b3c4)",
        head,
        newly_broken: Some(Ok(Vec::new())),
        command: "dyno gate x --base git:main --head dir:.",
        runs: vec!["1".into(), "2".into()],
        run: Some(run),
        trials: &[],
        why: None,
    }
}

/// The names of branches and folders are others' texts.
#[test]
fn names_are_shown_and_never_obeyed() {
    let course = course(&ALIKE.map(head));
    let load = Gated { course: &course, gated: vec![Figure::Throughput], shown: Vec::new() };
    let weighing = weigh(&[load], Rule::usual(), 0);
    let run = RunRecord::default();
    let gate = gate(&weighing, &run, "git:<img src=x>|`@all`[a](b)\u{1b}");
    let markdown = gate.markdown();
    assert!(markdown.starts_with("<!-- dyno gate -->\n"), "{markdown}");
    let is_escaped =
        |text: &str| markdown.match_indices(text).all(|(at, _)| markdown[..at].ends_with('\\'));
    assert!(is_escaped("<img") && is_escaped("[a") && is_escaped("@all"), "{markdown}");
    assert!(!markdown.contains('\u{1b}'), "{markdown}");
    assert!(markdown.contains("Not worse"), "{markdown}");
}

/// One side of a simulated pair: its throughput, how its trial ended, and what happened under load.
#[derive(Clone, Copy)]
struct Side(u64, OutcomeKind, Happened);

#[derive(Clone, Copy, PartialEq)]
enum Happened {
    Nothing,
    /// The load generator was too busy.
    Busy,
    /// So many answers were errors.
    Failed(u64),
    /// One had the wrong body.
    Wrong,
}

const FINE: Side = Side(1_300, OutcomeKind::Measured, Happened::Nothing);
const DEAD: Side = Side(0, OutcomeKind::Died, Happened::Nothing);
/// Answers a second of heads that are as fast as the base.
const ALIKE: [u64; 6] = [1_300, 1_310, 1_290, 1_305, 1_295, 1_300];

/// A head that answers so many requests a second, beside the base.
fn head(per_s: u64) -> [Side; 2] {
    [FINE, Side(per_s, OutcomeKind::Measured, Happened::Nothing)]
}

fn trial(subject: &str, repeat: u32, Side(per_s, kind, happened): Side) -> TrialRecord {
    let point = Point::Connections(8);
    let (subject, workload) = (subject.to_string(), "hello".to_string());
    let mut recording = recording(per_s * 10, 1_000_000);
    let mut fail = |name: &str, times: u64| {
        let total = &mut recording.total;
        total.failed[Failure::named(name).unwrap().index()] += times;
        (total.correct, total.correct_inside) = (total.correct - times, total.correct - times);
        recount(total, 1_000_000);
    };
    match happened {
        Happened::Nothing => {}
        Happened::Busy => {
            let lane = &mut recording.lanes[0];
            (lane.idle, lane.cpu_time) = (0, lane.wall);
        }
        Happened::Failed(times) => fail("content.status", times),
        Happened::Wrong => fail("content.mismatch", 1),
    }
    let loaded = LoadRecord { began: SECOND, in_turns: None, agents: Vec::new(), recording };
    TrialRecord {
        outcome: Outcome { kind, says: String::new() },
        loaded: (kind == OutcomeKind::Measured).then_some(loaded),
        ..TrialRecord::new(TrialKey { number: 0, subject, workload, point, repeat }, 0)
    }
}

/// The course of a gate with these keys of an experiment and of its pairs.
pub(crate) fn course_of(keys: &str, of_pairs: &str) -> GateCourse {
    let text = format!(
        "question = 'x'\nsubjects = ['base', 'head']\nworkload = 'hello'\n\
         load = {{ closed = {{ connections = 8 }}, duration = '10s' }}\n{keys}\n\
         trials = {{ slices = '100ms', pairs = {{ detect = 0.05, level = 0.01, missed = 0.05, \
         figures = ['throughput_per_s'], most = 20{of_pairs} }} }}"
    );
    let source = SourceFile { name: "x".into(), text };
    GateCourse::of(&Experiment::parse("x", source).unwrap()).unwrap()
}

fn course(pairs: &[[Side; 2]]) -> GateCourse {
    let mut course = course_of("", "");
    for (repeat, [base, head]) in pairs.iter().enumerate() {
        course.add(&trial("base", repeat as u32, *base));
        course.add(&trial("head", repeat as u32, *head));
    }
    course
}

/// What a gate of these pairs says in each of its forms, which agree: its word, its sentence, and all of its texts.
#[track_caller]
fn told(
    pairs: &[[Side; 2]],
    gated: &[Figure],
    newly_broken: Option<Result<Vec<String>, String>>,
    early: Option<Early>,
) -> (Word, String, String) {
    let course = course(pairs);
    let load = Gated { course: &course, gated: gated.to_vec(), shown: Vec::new() };
    let broken = newly_broken.as_ref().and_then(|it| it.as_ref().ok()).map_or(0, Vec::len);
    let weighing = match early {
        None => weigh(&[load], Rule::usual(), broken),
        Some(_) => Weighing::of_nothing(Rule::usual()),
    };
    let run = RunRecord::default();
    let gate = FinishedGate {
        newly_broken,
        early: early.map(|early| (early, "for a reason".to_string())),
        ..gate(&weighing, &run, "dir:.")
    };
    let (word, sentence) = (gate.word(), gate.sentence());
    assert!(sentence.ends_with('.') && !sentence.contains("; ."), "{sentence}");
    let json: serde_json::Value = serde_json::from_str(&gate.json().unwrap()).unwrap();
    assert_eq!(
        (&json["answer"], &json["sentence"]),
        (&word.name().into(), &sentence.clone().into())
    );
    assert_eq!(json["unclear"].is_null(), word != Word::CannotTell, "{json}");
    let kind = match word {
        Word::NotWorse => "the head is not worse\"/>",
        Word::Worse => "the head is not worse\">\n   <failure ",
        Word::CannotTell => "the head is not worse\">\n   <skipped ",
        Word::Refused | Word::Interrupted => "the head is not worse\">\n   <error ",
    };
    assert!(gate.junit().unwrap().contains(kind), "{}", gate.junit().unwrap());
    let screen = Screen::file(200);
    let measures = gate.measures().unwrap();
    let is_within = |it: &Measure| it.ends[0] < Some(it.value) && Some(it.value) < it.ends[1];
    assert!(measures.iter().all(is_within), "{measures:?}");
    let texts = [gate.text(screen), gate.markdown()].concat();
    let begins = sentence.split([':', ';', '[']).next().unwrap();
    assert_eq!(texts.matches(begins).count(), 2, "{begins}: {texts}");
    let of_programs = format!("{}{measures:?}", gate.junit().unwrap());
    (word, sentence, texts + &gate.json().unwrap() + &of_programs)
}

/// Every end of a gate, by trials that are made up.
#[test]
fn every_end_of_a_gate_is_told_alike_in_all_forms() {
    let alike = ALIKE.map(head);
    let slower = [1_000, 1_010, 990, 1_005, 995, 1_000].map(head);
    let wide = [1_800, 900, 1_700, 1_000, 1_600, 950].map(head);
    let speed = &[Figure::Throughput][..];
    let of = |pairs: &[[Side; 2]], gated: &[Figure], broken, early, word, says: &str| {
        let (found, sentence, texts) = told(pairs, gated, broken, early);
        assert_eq!(found, word, "{sentence}");
        assert!(sentence.contains(says), "{sentence}");
        texts
    };
    let kept = || Some(Ok(Vec::new()));
    let ruled_out = "Not worse: a head that is 5 % worse is ruled out; throughput/s";
    of(&alike, speed, None, None, Word::NotWorse, ruled_out);
    let texts =
        of(&slower, speed, kept(), None, Word::Worse, "Worse: throughput/s, 8 connections: 0.7");
    for part in [
        "tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\"",
        "<failure message=\"worse: 0.7",
        "\"head ÷ base · 8 connections\", name: \"throughput_per_s_ratio\"",
        "\"worse, 6 pairs\"",
    ] {
        assert!(texts.contains(part), "{part}: {texts}");
    }
    let wide_says = "Cannot tell whether the head is 5 % worse";
    let texts = of(&wide, speed, kept(), None, Word::CannotTell, wide_says);
    assert!(texts.contains("failures=\"0\" errors=\"0\" skipped=\"2\""), "{texts}");
    let broken = Some(Ok(vec!["x (y)".to_string()]));
    of(&alike, speed, broken, None, Word::Worse, "newly breaks x (y)");
    let faulty = |happened| Side(1_300, OutcomeKind::Measured, happened);
    let (failing, wrong) = (faulty(Happened::Failed(520)), faulty(Happened::Wrong));
    let few = alike.map(|[_, head]| [faulty(Happened::Failed(13)), head]);
    // Wrong answers and failures come first, and what is tolerated comes last.
    let faults: [(&[[Side; 2]], Word, &str); 8] = [
        (&alike, Word::NotWorse, "; and the head breaks no clause of the RFCs"),
        (&[[FINE, DEAD]; 3], Word::Worse, "where the base was measured"),
        (&[[DEAD, DEAD]; 3], Word::CannotTell, "3 of 3 pairs were disturbed and did not count"),
        (
            &[[FINE, failing]; 6],
            Word::Worse,
            "Worse: the head failed 4.0 % of the requests (3,120 of 78,000), all",
        ),
        (
            &[[FINE, wrong]; 6],
            Word::Worse,
            "Worse: the head answered wrongly: < 0.1 % of the requests (6 of 78,000)",
        ),
        (
            &[[failing, FINE]; 6],
            Word::CannotTell,
            "Cannot tell: the base failed 4.0 % of the requests",
        ),
        (&[[failing, wrong]; 6], Word::CannotTell, "; and the head answered wrongly"),
        (&few, Word::NotWorse, " Tolerated: the base failed 78 of 78,000 requests (0.1 %)"),
    ];
    for (pairs, word, says) in faults {
        of(pairs, speed, kept(), None, word, says);
    }
    // Clauses alone: what disturbs the pairs does not matter.
    let busy = [1, 2, 3].map(|it| [FINE, Side(1_300 + it, OutcomeKind::Measured, Happened::Busy)]);
    let clauses = "Not worse: the head breaks no clause of the RFCs that the base keeps.";
    of(&busy, &[], kept(), None, Word::NotWorse, clauses);
    // What was measured is shown where it decides nothing.
    let disturbed = "3 of 3 pairs were disturbed and did not count";
    let texts = of(&busy, speed, None, None, Word::CannotTell, disturbed);
    let pairs = texts.matches("1,300/1,301*, 1,300/1,302*, 1,300/1,303*").count();
    assert_eq!(pairs, 1, "Markdown escapes the stars, and the text has them: {texts}");
    let last =
        "\"head\": 1303.0,\n          \"head_is_bound\": false,\n          \"counts\": false";
    assert!(texts.contains(last), "{texts}");
    for (early, word, says) in [
        (Early::HeadFails, Word::Worse, "Worse: the head failed twice, and the base did not: for"),
        (
            Early::Limit,
            Word::CannotTell,
            "Cannot tell whether the head is 5 % worse: for a reason.",
        ),
        (Early::Disturbed, Word::CannotTell, "Cannot tell: for a reason."),
        (Early::Refused, Word::Refused, "Not compared: for a reason."),
        (Early::Interrupted, Word::Interrupted, "Interrupted: for a reason."),
    ] {
        of(&[], &[], None, Some(early), word, says);
    }
}
