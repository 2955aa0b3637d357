//! The report for a terminal: a table of its contents.

use super::{
    Glyphs, Told, conformance, curve, differences, heading, held, picture, results, rounds,
    standing, trouble,
};
use crate::report::paint::{Ink, Line, wrapped};

/// Narrower than this nothing can be read.
const NARROWEST: usize = 40;
/// Wider lines are no easier to read; tables may be.
const PROSE: usize = 120;

/// The whole report.
pub(super) fn of(told: &Told<'_>, width: usize, is_coloured: bool, glyphs: Glyphs) -> String {
    let width = width.max(NARROWEST);
    let prose = width.min(PROSE);
    let mut sections = vec![heading::lines(told, prose), heading::entrants(told, width)];
    sections.push(held::prices(told, width));
    sections.extend(told.board.ramps.iter().map(|ramps| held::plateaus(told, ramps, width)));
    sections.push(held::gave_way(told, prose));
    sections.push(held::losses(told, prose));
    sections.push(held::after(told, prose));
    for table in told.board.tables.iter().filter(|table| !table.is_held()) {
        sections.push(results::lines(told, table, width));
        sections.push(results::peaks(told, table, width));
        sections.push(standing::lines(told, table, prose));
        sections.push(curve::lines(told, table, width, glyphs));
    }
    sections.push(conformance::lines(told, prose));
    sections.push(rounds::lines(told, prose));
    sections.push(trouble::alarms(told, prose));
    sections.push(trouble::doubts(told, prose));
    sections.push(trouble::under_load(told, prose));
    sections.push(trouble::failures(told, prose));
    sections.push(differences::lines(told, prose));
    sections.push(sentences(told, prose));
    sections.push(more(told, prose));
    let mut text = String::new();
    for section in sections.iter().filter(|section| !section.is_empty()) {
        for (place, line) in section.iter().enumerate() {
            // Prose was wrapped and tables fit; what is left is titles.
            let line = if place == 0 { line.clone().cut(width) } else { line.clone() };
            text.push_str(line.shown(is_coloured).trim_end());
            text.push('\n');
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// The answer in short; nothing of a run without a measurement.
fn sentences(told: &Told<'_>, width: usize) -> Vec<Line> {
    let rows = told.board.tables.iter().flat_map(|table| &table.rows);
    if rows.map(analysis::Row::measured).sum::<usize>() == 0 {
        return Vec::new();
    }
    let texts = picture::sentences(told);
    let lines = texts.iter().flat_map(|text| wrapped(text, width)).map(Line::plain);
    std::iter::once(Line::ink(Ink::Bold, "in short")).chain(lines).collect()
}

fn more(told: &Told<'_>, width: usize) -> Vec<Line> {
    let mut texts = vec![format!(
        "more: `dyno report {0} --format csv` has every trial, `--format json` everything",
        told.id
    )];
    texts.extend(told.history.about.iter().map(|about| format!("{}: {about}", told.history.label)));
    let lines = texts.iter().flat_map(|text| wrapped(text, width));
    lines.map(|line| Line::ink(Ink::Dim, line)).collect()
}
