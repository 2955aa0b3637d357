//! What differs between the subjects: what they declare, what was seen, whether they answered alike.

use analysis::{Answers, Fairness, Variant};

use super::Told;
use crate::report::paint::{Ink, Line, wrapped};

/// Where values begin.
const LABEL: usize = 18;

/// The fairness table; nothing of a single subject.
pub(super) fn lines(told: &Told<'_>, width: usize) -> Vec<Line> {
    let fairness = &told.fairness;
    let mut lines = vec![
        Line::ink(Ink::Bold, "what differs between them")
            .and(Ink::Dim, "  the library's own way → what the entry says instead: whose"),
    ];
    for setting in &fairness.settings {
        let texts = setting.variants.iter().map(|variant| of_variant(told, variant));
        lines.extend(labelled(&setting.name.replace('_', " "), texts, width));
    }
    lines.extend(wires(told, fairness, width));
    lines.extend(answers(told, &fairness.answers, width));
    lines
}

fn of_variant(told: &Told<'_>, variant: &Variant) -> String {
    let default = variant.default.as_deref().unwrap_or("not known");
    let way = match &variant.change {
        None => default.to_string(),
        Some(change) => format!("{default} → {change}"),
    };
    format!("{way}: {}", titles(told, &variant.subjects))
}

/// Bytes of an answer, for each question.
fn wires(told: &Told<'_>, fairness: &Fairness, width: usize) -> Vec<Line> {
    let mut asked: Vec<(&str, &str)> = Vec::new();
    for wire in fairness.observed.iter().flat_map(|observed| &observed.wires) {
        if !asked.contains(&(&wire.workload, &wire.ask)) {
            asked.push((&wire.workload, &wire.ask));
        }
    }
    let text = |(workload, ask): (&str, &str)| {
        let of_each = fairness.observed.iter().filter_map(|observed| {
            let mut wires = observed.wires.iter();
            let wire = wires
                .find(|wire| (wire.workload.as_str(), wire.ask.as_str()) == (workload, ask))?;
            let title = told.title(&observed.subject);
            Some(format!("{title} {}+{}", wire.head_bytes, wire.rest_bytes))
        });
        format!("{}: {}", question(workload, ask), of_each.collect::<Vec<_>>().join(", "))
    };
    labelled("bytes, head+rest", asked.into_iter().map(text), width)
}

fn answers(told: &Told<'_>, answers: &[Answers], width: usize) -> Vec<Line> {
    let text = |answers: &Answers| {
        let question = question(&answers.workload, &answers.ask);
        match (answers.alike.as_slice(), answers.apart.as_slice()) {
            ([one], []) => format!("{question}: only {} was asked", told.title(one)),
            (_, []) => format!("{question}: all answered alike, but for fields about themselves"),
            (alike, apart) => {
                format!(
                    "{question}: {} answered otherwise than {}",
                    titles(told, apart),
                    titles(told, alike)
                )
            }
        }
    };
    labelled("answers", answers.iter().map(text), width)
}

/// A workload with one question has its name only.
fn question(workload: &str, ask: &str) -> String {
    match ask.is_empty() || ask == workload {
        true => workload.into(),
        false => format!("{workload} `{ask}`"),
    }
}

fn titles(told: &Told<'_>, subjects: &[String]) -> String {
    let all: Vec<&str> = subjects.iter().map(|subject| told.title(subject)).collect();
    all.join(", ")
}

/// A label, and texts to its right.
fn labelled(label: &str, texts: impl Iterator<Item = String>, width: usize) -> Vec<Line> {
    let mut label = format!("{label:<LABEL$}");
    let mut lines = Vec::new();
    for text in texts {
        for (n, part) in wrapped(&text, width.saturating_sub(LABEL).max(20)).into_iter().enumerate()
        {
            let indent = if n == 0 { "" } else { "  " };
            lines.push(Line::ink(Ink::Dim, label).and(Ink::Plain, format!("{indent}{part}")));
            label = " ".repeat(LABEL);
        }
    }
    lines
}
