//! The picture of a table made of characters: curves against the load, where there are several places.

use analysis::{Row, Table, Verdict};
use lab::experiment::Point;
use lab::figure::Figure;

use super::findings::Findings;
use crate::chart::braille::{Braille, braille};
use crate::chart::scale::Scale;
use crate::document::{Mark, Marks};
use crate::grouped::distinct;
use crate::number_format::in_unit_of;
use crate::paint::{Line, Tone};
use crate::render::Glyphs;

/// More curves than these cannot be distinguished.
const CURVES: usize = 8;
/// Wider pictures are no easier to read.
const WIDEST: usize = 78;
const NAME: usize = 24;

/// One subject's measured places.
struct Curve<'t> {
    letter: char,
    title: &'t str,
    is_unmet: bool,
    rows: Vec<&'t Row>,
}

/// The picture; empty if there is nothing to show.
pub(super) fn lines(
    findings: &Findings<'_>,
    table: &Table,
    width: usize,
    glyphs: Glyphs,
) -> Vec<Line> {
    if !table.is_curve() {
        return Vec::new();
    }
    let width = width.min(WIDEST);
    let bests = table.bests();
    let of = bests.len();
    let all: Vec<Curve<'_>> = bests
        .into_iter()
        .zip('A'..='Z')
        .map(|(best, letter)| Curve {
            letter,
            title: findings.title(&best.row.subject),
            is_unmet: best.row.unmet.is_some(),
            rows: table.rows.iter().filter(|row| row.subject == best.row.subject).collect(),
        })
        .collect();
    let drawn = &all[..all.len().min(CURVES)];
    let panels = [Figure::Throughput, Figure::ResponseP99]
        .map(|figure| panel(findings, drawn, figure, width, glyphs));
    let panels: Vec<Line> = panels.into_iter().flatten().flatten().collect();
    if panels.is_empty() {
        return panels;
    }
    let unit = findings.axis(table);
    let heading = Line::toned(Tone::Strong, findings.task(&table.workload))
        .and(Tone::Plain, format!(": throughput/s and p99 against {unit}"))
        .cut(width);
    let legend = packed(&legend(drawn, of, glyphs), width, glyphs);
    let legend = legend.into_iter().map(|line| Line::toned(Tone::Dim, line).cut(width));
    std::iter::once(heading).chain(panels).chain(legend).collect()
}

/// Which letter stands for which subject, and what the marks mean.
fn legend(drawn: &[Curve<'_>], of: usize, glyphs: Glyphs) -> Vec<String> {
    let names = drawn.iter().map(|curve| {
        let marks = Marks::default().when(curve.is_unmet, Mark::Unranked);
        format!("{} {}", curve.letter, marks.around(&short(curve.title, glyphs)))
    });
    let mut parts: Vec<String> = names.collect();
    if drawn.len() < of {
        parts.push(format!("{} more in the table", of - drawn.len()));
    }
    if 1 < drawn.len() {
        parts.push(format!("{} several at once", several(glyphs)));
    }
    let rows = || drawn.iter().flat_map(|curve| &curve.rows);
    if rows().any(|row| row.is_doubtful()) {
        parts.push("small letters: in doubt".into());
    }
    if rows().any(|row| is_invalid(row)) {
        parts.push(format!("{INVALID} invalid"));
    }
    parts
}

fn is_invalid(row: &Row) -> bool {
    0 < row.measured() && row.verdict() == Some(Verdict::Invalid)
}

/// As many of these on a line as fit; none is cut in two.
fn packed(parts: &[String], width: usize, glyphs: Glyphs) -> Vec<String> {
    let between = if glyphs == Glyphs::Unicode { " · " } else { ", " };
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 3 + part.chars().count() <= width => {
                line.push_str(between);
                line.push_str(part);
            }
            Some(_) | None => lines.push(part.clone()),
        }
    }
    lines
}

fn short(title: &str, glyphs: Glyphs) -> String {
    let end = if glyphs == Glyphs::Unicode { '…' } else { '~' };
    match title.chars().count() <= NAME {
        true => title.into(),
        false => title.chars().take(NAME - 1).chain([end]).collect(),
    }
}

fn several(glyphs: Glyphs) -> char {
    match glyphs {
        Glyphs::Unicode => '●',
        Glyphs::Ascii => '*',
    }
}

/// One figure of all curves against the load.
fn panel(
    findings: &Findings<'_>,
    curves: &[Curve<'_>],
    figure: Figure,
    width: usize,
    glyphs: Glyphs,
) -> Option<Vec<Line>> {
    let value = |row: &Row| row.estimate(figure).map(|found| found.value).filter(|v| v.is_finite());
    let rows = || curves.iter().flat_map(|curve| curve.rows.iter().copied());
    let values: Vec<f64> = rows().filter_map(value).collect();
    if !values.iter().any(|value| 0.0 < *value) {
        return None;
    }
    let scale = if figure == Figure::Throughput { Scale::linear } else { Scale::log };
    let scale = scale(&values, 0.0, 1.0);
    let measured = rows().filter(|row| value(row).is_some());
    let mut places: Vec<Point> = distinct(measured.map(|row| row.point));
    places.sort_by(|one, other| one.value().total_cmp(&other.value()));
    if places.len() < 2 {
        return None;
    }
    let labels =
        [scale.high(), scale.low()].map(|end| in_unit_of(figure, end)).map(|label| match glyphs {
            Glyphs::Unicode => label,
            Glyphs::Ascii => label.replace('µ', "u"),
        });
    let gutter = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0) + 1;
    let height = if figure == Figure::Throughput { 10 } else { 7 };
    let mut plot = Plot::new(width.saturating_sub(gutter + 1), height, &places);
    for curve in curves {
        let rows = curve.rows.iter().copied();
        let points = rows.map(|row| (row, value(row).map(|value| scale.at(value))));
        plot.add(curve, points);
    }
    plot.mark_invalid();
    let mut lines = vec![Line::toned(Tone::Dim, format!("{:>gutter$}", figure.heading()))];
    lines.extend(plot.lines(&labels, gutter, glyphs));
    lines.push(ticks(findings, &plot, &places, gutter));
    Some(lines)
}

/// The picture itself: dots for the lines, letters for the points.
struct Plot {
    dots: Braille,
    letters: Vec<Option<(char, Tone)>>,
    /// The cells of invalid values.
    invalid: Vec<usize>,
    width: usize,
    height: usize,
    low: f64,
    high: f64,
    is_log: bool,
}

impl Plot {
    fn new(width: usize, height: usize, places: &[Point]) -> Plot {
        /// From this ratio on the low places would overlap.
        const WIDE: f64 = 40.0;
        let low = places.first().map_or(0.0, |place| place.value());
        let high = places.last().map_or(0.0, |place| place.value());
        Plot {
            dots: Braille::new(width, height),
            letters: vec![None; width * height],
            invalid: Vec::new(),
            width,
            height,
            low,
            high,
            is_log: 0.0 < low && WIDE * low < high,
        }
    }

    /// The position of a place, from 0 to 1.
    fn across(&self, place: Point) -> f64 {
        let value = place.value();
        let share = match self.is_log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        share.clamp(0.0, 1.0)
    }

    /// Points with a line between neighbours; none across a place that was not measured.
    fn add<'t>(&mut self, curve: &Curve<'_>, points: impl Iterator<Item = (&'t Row, Option<f64>)>) {
        let (last_x, last_y) = (self.dots.dots_across() - 1, self.dots.dots_down() - 1);
        let mut before: Option<(f64, f64)> = None;
        for (row, up) in points {
            let Some(up) = up else {
                before = None;
                continue;
            };
            let x = self.across(row.point) * last_x as f64;
            let y = (1.0 - up) * last_y as f64;
            if let Some(from) = before {
                self.line(from, (x, y));
            }
            before = Some((x, y));
            let cell = (y.round() as usize / 4) * self.width + x.round() as usize / 2;
            let (letter, tone) = match row.is_doubtful() {
                true => (curve.letter.to_ascii_lowercase(), Tone::Doubtful),
                false => (curve.letter, Tone::Strong),
            };
            let tone = if curve.is_unmet { Tone::Dim } else { tone };
            if is_invalid(row) {
                self.invalid.push(cell);
            }
            self.letters[cell] = match self.letters[cell] {
                None => Some((letter, tone)),
                Some(_) => Some((SEVERAL, Tone::Strong)),
            };
        }
    }

    /// Marks invalid values beside their letters, where there is room.
    fn mark_invalid(&mut self) {
        for &cell in &self.invalid {
            let column = cell % self.width;
            let right = (column + 1 < self.width).then_some(cell + 1);
            let left = (0 < column).then(|| cell - 1);
            let mut beside = [right, left].into_iter().flatten();
            if let Some(free) = beside.find(|&cell| self.letters[cell].is_none()) {
                self.letters[free] = Some((INVALID, Tone::Bad));
            }
        }
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().max(1.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            let x = from.0 + (to.0 - from.0) * share;
            let y = from.1 + (to.1 - from.1) * share;
            self.dots.dot(x.round() as usize, y.round() as usize);
        }
    }

    fn lines(&self, labels: &[String; 2], gutter: usize, glyphs: Glyphs) -> Vec<Line> {
        let axis = if glyphs == Glyphs::Unicode { '│' } else { '|' };
        let lines = (0..self.height).map(|row| {
            let label = match row {
                0 => &labels[0],
                _ if row + 1 == self.height => &labels[1],
                _ => "",
            };
            let mut line = Line::toned(Tone::Dim, format!("{label:>gutter$}{axis}"));
            for column in 0..self.width {
                line = match self.letters[row * self.width + column] {
                    Some((SEVERAL, tone)) => line.and(tone, several(glyphs).to_string()),
                    Some((letter, tone)) => line.and(tone, letter.to_string()),
                    None => {
                        line.and(Tone::Dim, dot(self.dots.cell(column, row), glyphs).to_string())
                    }
                };
            }
            line
        });
        lines.collect()
    }
}

/// Marks an invalid value, as in tables.
const INVALID: char = '!';

/// Marks a cell that several curves share.
const SEVERAL: char = '*';

fn dot(dots: u8, glyphs: Glyphs) -> char {
    match (dots, glyphs) {
        (0, _) => ' ',
        (dots, Glyphs::Unicode) => braille(dots),
        (_, Glyphs::Ascii) => '.',
    }
}

/// The places under the picture, as many as fit, including the first and the last.
fn ticks(findings: &Findings<'_>, plot: &Plot, places: &[Point], gutter: usize) -> Line {
    let mut text = vec![' '; gutter + 1 + plot.width];
    let (first, rest) = (&places[..1], &places[1..]);
    let (middle, last) = rest.split_at(rest.len() - 1);
    for &place in first.iter().chain(last).chain(middle) {
        let label: Vec<char> = findings.place_alone(place).chars().collect();
        let center = gutter + 1 + (plot.across(place) * (plot.width - 1) as f64).round() as usize;
        let Some(furthest) = text.len().checked_sub(label.len()) else { continue };
        let start = center.saturating_sub(label.len() / 2).min(furthest);
        let around = start.saturating_sub(1)..(start + label.len() + 1).min(text.len());
        if text[around].iter().all(|&character| character == ' ') {
            text[start..start + label.len()].copy_from_slice(&label);
        }
    }
    Line::toned(Tone::Dim, text.into_iter().collect::<String>().trim_end())
}

#[cfg(test)]
mod tests;
