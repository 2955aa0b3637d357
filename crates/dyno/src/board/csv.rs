//! A line for each trial: what it was, how it ended, every figure. Figures are plain numbers with the unit in the
//! column's name, empty where there is none.

use analysis::{Row, Score, Weighed};
use lab::figure::Figure;

use super::{Told, conformance, held};

/// What every line begins with.
pub(super) const WORDS: [&str; 19] = [
    "run",
    "experiment",
    "quick",
    "trial",
    "workload",
    "subject",
    "version",
    "reference",
    "point",
    "unit",
    "round",
    "outcome",
    "says",
    "verdict",
    "doubts",
    "conformance",
    "must_broken",
    "security",
    "not_ranked",
];

/// The whole table, with its heading. Of held connections a line is a plateau.
pub(super) fn of(told: &Told<'_>) -> String {
    if !told.board.ramps.is_empty() {
        return held::csv::of(told);
    }
    let mut heading: Vec<String> = WORDS.map(String::from).to_vec();
    heading.extend(Figure::ALL.map(|figure| figure.name().to_string()));
    let mut text = line(&heading);
    for (workload, row, trial) in told.weighed() {
        let mut cells = words(told, workload, row, trial);
        cells.extend(Figure::ALL.map(|figure| {
            trial.figures.get(figure).map_or(String::new(), |number| number.value.to_string())
        }));
        text.push_str(&line(&cells));
    }
    text
}

/// What a trial was and how it ended, under `WORDS`.
pub(super) fn words(told: &Told<'_>, workload: &str, row: &Row, trial: &Weighed) -> Vec<String> {
    let entry = told.run.entries.iter().find(|entry| entry.name == row.subject);
    let doubts: Vec<&str> = trial.doubts.iter().map(crate::doubt::id).collect();
    let score = conformance::score(told, &row.subject);
    let counted =
        |of: fn(&Score) -> usize| score.map_or(String::new(), |score| of(score).to_string());
    vec![
        number(&told.id),
        cell(&told.run.name),
        told.run.is_quick.to_string(),
        trial.number.to_string(),
        cell(workload),
        cell(&row.subject),
        cell(entry.map_or("", |entry| &entry.version)),
        row.is_reference.to_string(),
        row.point.value().to_string(),
        row.point.unit().to_string(),
        (trial.repeat + 1).to_string(),
        trial.outcome.kind.name().to_string(),
        cell(&trial.outcome.says),
        trial.verdict().name().to_string(),
        doubts.join(" "),
        score.map_or(conformance::NOT_CHECKED.into(), |score| {
            format!("{} of {}", score.all.pass, score.all.applicable())
        }),
        counted(|score| score.all.must_broken),
        counted(|score| score.all.security.len()),
        cell(row.unmet.as_deref().unwrap_or_default()),
    ]
}

pub(super) fn line(cells: &[String]) -> String {
    cells.join(",") + "\r\n"
}

/// A run's number is one; whatever else it may be is a text.
fn number(text: &str) -> String {
    if text.parse::<u64>().is_ok() { text.into() } else { cell(text) }
}

/// A text that no spreadsheet takes for a formula, and whose commas, quotation marks and lines stay its own.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let text = if is_formula { format!("'{text}") } else { text.to_string() };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula_or_breaks_out_of_its_cell() {
        for (text, shown) in [
            ("plain", "plain"),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@x", "'@x"),
            ("\tx", "'\tx"),
            ("\rx", "\"'\rx\""),
            ("a,\"b\"\nc", "\"a,\"\"b\"\"\nc\""),
            ("", ""),
        ] {
            assert_eq!(cell(text), shown);
        }
        assert_eq!([number("7"), number("-7")], ["7", "'-7"]);
    }
}
