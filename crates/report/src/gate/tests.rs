use analysis::gate::Answer;
use analysis::gate::{Finding, Rule, Unclear, WhyWorse};
use lab::experiment::Point;
use lab::figure::Figure;

use super::*;

fn weighed(figure: Figure, answer: Answer, mean: f64) -> Weighed {
    let finding = Finding { answer, pairs: 8, units: 8, mean, spread: 0.02, half: Some(0.015) };
    Weighed {
        figure,
        point: Point::Connections(16),
        is_gated: true,
        finding,
        means: Some([10_000.0, 9_000.0]),
        ratio: (-mean).exp(),
        interval: Some(((-mean - 0.015).exp(), (-mean + 0.015).exp())),
        least: Some(0.043),
        false_alarms: Some(0.004),
        control: None,
    }
}

fn weighing(verdict: Verdict, figures: Vec<Weighed>) -> Weighing {
    Weighing {
        rule: Rule::usual(),
        figures,
        verdict,
        tried: 9,
        counted: 8,
        disturbances: Vec::new(),
    }
}

fn gate<'a>(weighing: &'a Weighing, run: &'a RunRecord, head: &'a str) -> FinishedGate<'a> {
    FinishedGate {
        weighing,
        base: "git:main (1a2b3c4)",
        head,
        newly_broken: Some(Ok(Vec::new())),
        command: "dyno gate x --base git:main --head dir:.",
        runs: vec!["1".into(), "2".into()],
        run,
        trials: &[],
    }
}

#[test]
fn a_head_that_is_worse_is_named_with_its_ratio() {
    let figures = vec![weighed(Figure::Throughput, Answer::Worse, 0.1)];
    let weighing = weighing(Verdict::Worse(WhyWorse::Figures), figures);
    let run = RunRecord::default();
    let gate = gate(&weighing, &run, "dir:.");
    assert!(
        gate.sentence().starts_with("Worse: throughput/s, 16 connections: 0.90"),
        "{}",
        gate.sentence()
    );
    assert!(gate.junit().contains("<failure message=\"worse: 0.90"), "{}", gate.junit());
    assert!(gate.junit().contains("tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\""));
    let json: serde_json::Value = serde_json::from_str(&gate.json().unwrap()).unwrap();
    assert_eq!((&json["answer"], &json["figures"][0]["pairs"]), (&"worse".into(), &8.into()));
}

#[test]
fn what_cannot_be_told_says_why_and_is_skipped() {
    let wide = Answer::CannotTell(Unclear::Wide);
    let weighing = weighing(
        Verdict::CannotTell(WhyUnclear::Figures),
        vec![weighed(Figure::CpuPerThousand, wide, 0.01)],
    );
    let run = RunRecord::default();
    let gate = gate(&weighing, &run, "dir:.");
    assert!(gate.sentence().contains("8 pairs lie so far apart that they show 4.3 %"));
    assert!(gate.junit().contains("<skipped"), "{}", gate.junit());
}

/// The names of branches and folders are others' texts.
#[test]
fn names_are_shown_and_never_obeyed() {
    let weighing =
        weighing(Verdict::NotWorse, vec![weighed(Figure::Throughput, Answer::NotWorse, 0.0)]);
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
