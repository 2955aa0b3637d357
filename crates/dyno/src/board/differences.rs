//! What differs between the subjects: what they declare, what was seen, whether they answered alike.

use analysis::{Answers, Fairness, Variant, Wire};

use super::Told;
use crate::report::paint::{Ink, Line, wrapped};

/// Where values begin.
const LABEL: usize = 25;

/// The fairness table; nothing of a single subject.
pub(super) fn lines(told: &Told<'_>, width: usize) -> Vec<Line> {
    let fairness = &told.fairness;
    let mut lines = vec![
        Line::ink(Ink::Bold, "what differs between them")
            .and(Ink::Dim, "  whose: the library's way → the entry's"),
    ];
    for setting in &fairness.settings {
        let texts = setting.variants.iter().map(|variant| of_variant(told, variant));
        lines.extend(labelled(&setting.name.replace('_', " "), texts, width));
    }
    lines.extend(wires(told, fairness, width));
    lines.extend(answers(told, fairness, width));
    lines
}

fn of_variant(told: &Told<'_>, variant: &Variant) -> String {
    let default = variant.default.as_deref().unwrap_or("not known");
    let way = match &variant.change {
        None => default.to_string(),
        Some(change) => format!("{default} → {change}"),
    };
    format!("{}: {way}", titles(told, &variant.subjects))
}

/// Bytes of an answer, for each question.
fn wires(told: &Told<'_>, fairness: &Fairness, width: usize) -> Vec<Line> {
    let text = |answers: &Answers| {
        let of_each = fairness.observed.iter().filter_map(|observed| {
            let is_asked =
                |wire: &&Wire| (&wire.workload, &wire.ask) == (&answers.workload, &answers.ask);
            let wire = observed.wires.iter().find(is_asked)?;
            Some(format!(
                "{} {}+{}",
                told.title(&observed.subject),
                wire.head_bytes,
                wire.rest_bytes
            ))
        });
        format!("{}: {}", question(fairness, answers), of_each.collect::<Vec<_>>().join(", "))
    };
    labelled("bytes, head+rest", fairness.answers.iter().map(text), width)
}

/// Who answered alike, and who did not.
fn answers(told: &Told<'_>, fairness: &Fairness, width: usize) -> Vec<Line> {
    let (all_alike, others): (Vec<&Answers>, Vec<&Answers>) =
        fairness.answers.iter().partition(|answers| answers.apart.is_empty());
    let mut texts = Vec::new();
    if !all_alike.is_empty() {
        let questions: Vec<String> =
            all_alike.iter().map(|answers| question(fairness, answers)).collect();
        let says = "all the same, but for fields about the server, the time and the framing";
        texts.push(format!("{}: {says}", questions.join(", ")));
    }
    texts.extend(others.into_iter().map(|answers| {
        let (apart, alike) = (titles(told, &answers.apart), titles(told, &answers.alike));
        format!("{}: {apart} answered otherwise than {alike}", question(fairness, answers))
    }));
    labelled("answers", texts.into_iter(), width)
}

/// A workload with one question has its name only.
fn question(fairness: &Fairness, answers: &Answers) -> String {
    let of_workload = fairness.answers.iter().filter(|other| other.workload == answers.workload);
    match of_workload.count() {
        1 => answers.workload.clone(),
        _ => format!("{} `{}`", answers.workload, answers.ask),
    }
}

fn titles(told: &Told<'_>, subjects: &[String]) -> String {
    let all: Vec<&str> = subjects.iter().map(|subject| told.title(subject)).collect();
    all.join(", ")
}

/// A label, and texts to its right; below it, where there is no room.
fn labelled(label: &str, texts: impl Iterator<Item = String>, width: usize) -> Vec<Line> {
    const NARROW: usize = 60;
    let mut lines = Vec::new();
    let (mut label, indent) = match width < NARROW {
        true => {
            lines.push(Line::ink(Ink::Dim, label));
            (String::new(), 2)
        }
        false => (format!("{label:<LABEL$}"), LABEL),
    };
    for text in texts {
        for (n, part) in wrapped(&text, width - indent - 2).into_iter().enumerate() {
            let hang = if n == 0 { "" } else { "  " };
            lines
                .push(Line::ink(Ink::Dim, format!("{label:<indent$}{hang}")).and(Ink::Plain, part));
            label.clear();
        }
    }
    let is_empty = lines.len() == usize::from(width < NARROW);
    if is_empty { Vec::new() } else { lines }
}
