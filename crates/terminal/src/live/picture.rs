//! Pictures over time in characters, which the live views of `dyno load` and `dyno hold` share. Pure.

use load::{Nanos, SECOND};

use report::chart::braille::{Braille, braille, sparkline};
use report::chart::scale::Scale;
use report::paint::{Line, Tone};

/// Left of every picture: they share one time axis.
const MARGIN: usize = 23;
/// Right of every picture: room for a line's name.
const NAME: usize = 4;
/// The fewest rows of a chart with its heading and its axis.
const ROWS_MIN: usize = 5;
/// The fewest columns of a row of blocks, and of a chart.
const BLOCKS_MIN: usize = 8;
const CHART_MIN: usize = 20;

/// How time lies across a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Across {
    /// The whole time, if it is known: then the picture has all of it. Otherwise it has the newest slots.
    pub(super) whole: Option<Nanos>,
    /// Here the axis has its zero.
    pub(super) zero: Nanos,
    /// Characters from left to right.
    pub(super) columns: usize,
}

impl Across {
    /// For a screen of this width; None if it is too narrow for any picture.
    pub(super) fn on(width: usize, whole: Option<Nanos>, zero: Nanos) -> Option<Across> {
        let columns = width.checked_sub(MARGIN + NAME).filter(|it| BLOCKS_MIN <= *it)?;
        Some(Across { whole, zero, columns })
    }

    fn dots(self) -> usize {
        2 * self.columns
    }

    /// The first slot that is shown.
    fn first(self, slots: usize) -> usize {
        if self.whole.is_some() { 0 } else { slots.saturating_sub(self.dots()) }
    }

    /// The place, in dots, of the `n`th slot that is shown.
    fn place(self, from: Nanos, n: usize) -> usize {
        let place = match self.whole {
            None => n,
            Some(whole) => (from as f64 / whole.max(1) as f64 * self.dots() as f64) as usize,
        };
        place.min(self.dots().saturating_sub(1))
    }

    /// A line with the times at both ends and between them; `begins` are the beginnings of all slots.
    fn axis(self, begins: &[Nanos]) -> Line {
        let first = self.first(begins.len());
        let (from, until, reached) = match (self.whole, begins.get(first), begins.last()) {
            (Some(whole), ..) => (0, whole, self.columns),
            (None, Some(from), Some(until)) => {
                (*from, *until, 1 + self.place(*until, begins.len() - 1 - first) / 2)
            }
            (None, _, _) => return Line::default(),
        };
        let mut row: Vec<char> = vec!['─'; reached];
        let column = |at: Nanos| {
            let share = at.saturating_sub(from) as f64 / (until - from).max(1) as f64;
            (share * reached as f64).round() as usize
        };
        let middle = self.zero.max(from) / 2 + until / 2;
        // The ends matter most: another label stands only where it touches none of them.
        for at in [self.zero.max(from), until, middle] {
            let label = format!(" {} ", seconds(at.saturating_sub(self.zero)));
            let length = label.chars().count();
            let start = if at == until {
                reached.saturating_sub(length)
            } else if at == middle {
                column(at).saturating_sub(length / 2)
            } else {
                column(at)
            };
            let place = start..start + length;
            if row.get(place.clone()).is_some_and(|free| free.iter().all(|it| *it == '─')) {
                drop(row.splice(place, label.chars()));
            }
        }
        Line::plain(" ".repeat(MARGIN)).and(Tone::Dim, row.into_iter().collect::<String>())
    }
}

/// `3 s`, `2.5 s`
fn seconds(time: Nanos) -> String {
    let tenths = (time as f64 / SECOND as f64 * 10.0).round() as u64;
    match tenths % 10 {
        0 => format!("{} s", tenths / 10),
        part => format!("{}.{part} s", tenths / 10),
    }
}

/// A row of blocks, as high as the values of these slots: each with its beginning. `top` is a full block.
pub(super) fn blocks(across: Across, slots: &[(Nanos, f64)], top: f64) -> String {
    sparkline(&means(across, slots), top)
}

/// A value for each column that time has reached: the mean of its slots, or the value before.
fn means(across: Across, slots: &[(Nanos, f64)]) -> Vec<f64> {
    let mut means: Vec<f64> = Vec::new();
    let mut slots_in_column = 0.0;
    for (n, &(from, value)) in slots[across.first(slots.len())..].iter().enumerate() {
        let column = across.place(from, n) / 2;
        if means.len() <= column {
            let before = means.last().copied().unwrap_or(value);
            means.resize(column + 1, before);
            slots_in_column = 0.0;
        }
        slots_in_column += 1.0;
        means[column] += (value - means[column]) / slots_in_column;
    }
    means
}

/// The median and the p99 of a slot, with its beginning.
pub(super) type Spread = (Nanos, Option<Nanos>, Option<Nanos>);

/// The medians and the p99 over time, by factors, each line with its name: a heading that says so, and the time below.
/// Empty before the first value.
pub(super) fn quantiles(across: Across, what: &str, slots: &[Spread], height: usize) -> Vec<Line> {
    let low = slots.iter().filter_map(|slot| slot.1).min();
    let high = slots.iter().filter_map(|slot| slot.2).max();
    let (Some(low), Some(high)) = (low, high) else { return Vec::new() };
    if across.columns < CHART_MIN || height < ROWS_MIN {
        return Vec::new();
    }
    let rows = height - 2;
    let axis = Scale::log(&[low.max(1) as f64, high.max(1) as f64], 0.0, 1.0);
    let unit = Unit::of(axis);
    let begins: Vec<Nanos> = slots.iter().map(|slot| slot.0).collect();
    let first = across.first(slots.len());
    let shown = &slots[first..];
    let medians = Braille::new(across.columns, rows);
    let (canvas, end) = drawn(medians, across, axis, shown, |slot| slot.1);
    let mut median = Curve { name: "p50", tone: Tone::Good, canvas, end };
    let tails = Braille::new(across.columns, rows);
    let (canvas, end) = drawn(tails, across, axis, shown, |slot| slot.2);
    let mut tail = Curve { name: "p99", tone: Tone::Doubtful, canvas, end };
    keep_apart(&mut tail, &mut median);
    let name = unit.name;
    let says = format!("{what} in {name}, logarithmic: p99 is the upper line, p50 the lower");
    let mut lines = vec![Line::toned(Tone::Dim, says)];
    let ticks = ticks(axis, unit, rows);
    lines.extend((0..rows).map(|row| {
        let label = format!("{:>1$}  ", ticks[row], MARGIN - 2);
        cells(Line::toned(Tone::Dim, label), [&median, &tail], row, across.columns)
    }));
    lines.push(across.axis(&begins));
    lines
}

/// A line of the chart.
struct Curve {
    name: &'static str,
    tone: Tone,
    canvas: Braille,
    /// Column and row of its newest value.
    end: Option<(usize, usize)>,
}

/// Two names that would stand in one row: the upper one moves up or, at the top, the lower one down.
fn keep_apart(upper: &mut Curve, lower: &mut Curve) {
    if let (Some((_, above)), Some((_, below))) = (&mut upper.end, &mut lower.end)
        && above == below
    {
        match above.checked_sub(1) {
            Some(higher) => *above = higher,
            None => *below += 1,
        }
    }
}

impl Curve {
    /// Its name, where it stands in this row: from this column on.
    fn name_in(&self, row: usize) -> Option<(usize, &'static str)> {
        let (column, _) = self.end.filter(|end| end.1 == row)?;
        Some((column + 2, self.name))
    }
}

fn cells(mut line: Line, curves: [&Curve; 2], row: usize, columns: usize) -> Line {
    let names = curves.map(|curve| Some((curve.name_in(row)?, curve.tone)));
    let mut column = 0;
    while column < columns {
        let named = names.iter().flatten().find(|((from, _), _)| *from == column);
        if let Some(((_, name), tone)) = named {
            line = line.and(*tone, *name);
            column += name.len();
            continue;
        }
        let [median, tail] = curves.map(|curve| curve.canvas.cell(column, row));
        let tone = match (median, tail) {
            (0, 0) => Tone::Plain,
            (_, 0) => curves[0].tone,
            (_, _) => curves[1].tone,
        };
        line = line.and(tone, if median | tail == 0 { ' ' } else { braille(median | tail) });
        column += 1;
    }
    // A line that has reached the right edge has its name beyond it.
    match names.iter().flatten().find(|((from, _), _)| columns <= *from) {
        None => line,
        Some(((from, name), tone)) => {
            line.and(Tone::Plain, " ".repeat(from - column)).and(*tone, *name)
        }
    }
}

/// The canvas with a line of values, and the column and row of its newest value.
fn drawn(
    mut canvas: Braille,
    across: Across,
    axis: Scale,
    slots: &[Spread],
    value: fn(&Spread) -> Option<Nanos>,
) -> (Braille, Option<(usize, usize)>) {
    let (mut last, mut end) = (None, None);
    for (n, slot) in slots.iter().enumerate() {
        last = follow(&mut canvas, axis, across.place(slot.0, n), value(slot), last);
        end = last.or(end);
    }
    (canvas, end.map(|(x, y)| (x / 2, y / 4)))
}

/// Draws from where the line was to where it is now.
fn follow(
    canvas: &mut Braille,
    axis: Scale,
    x: usize,
    value: Option<Nanos>,
    last: Option<(usize, usize)>,
) -> Option<(usize, usize)> {
    let bottom = canvas.dots_down().saturating_sub(1);
    let y = bottom - (axis.at(value? as f64) * bottom as f64).round() as usize;
    let (last_x, last_y) = last.unwrap_or((x, y));
    for between in last_x..x {
        canvas.dot(between, last_y);
    }
    for between in y.min(last_y)..=y.max(last_y) {
        canvas.dot(x, between);
    }
    Some((x, y))
}

/// The unit of an axis.
#[derive(Clone, Copy, Debug)]
struct Unit {
    name: &'static str,
    nanos: f64,
}

impl Unit {
    /// That in which the upper end is from 1 to 999.
    fn of(axis: Scale) -> Unit {
        let all = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];
        let fits = all.into_iter().find(|(_, nanos)| *nanos <= axis.high() * 1.000_001);
        let (name, nanos) = fits.unwrap_or(all[3]);
        Unit { name, nanos }
    }

    fn shown(self, nanos: f64) -> String {
        let text = format!("{:.6}", nanos / self.nanos);
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    }
}

/// The label of each row: the ends, and as many of 1, 2, 5, 10, … between them as have room.
fn ticks(axis: Scale, unit: Unit, rows: usize) -> Vec<String> {
    let mut labels = vec![String::new(); rows];
    let first = axis.low().log10().floor() as i32;
    let last = axis.high().log10().ceil() as i32;
    let decades = |digit: f64| (first..=last).map(move |decade| digit * 10_f64.powi(decade));
    let between = [1.0, 5.0, 2.0].into_iter().flat_map(decades);
    for value in [axis.low(), axis.high()].into_iter().chain(between) {
        if !(axis.low() * 0.999..=axis.high() * 1.001).contains(&value) {
            continue;
        }
        let bottom = rows.saturating_sub(1);
        let row = bottom - (axis.at(value) * bottom as f64).round() as usize;
        let near = row.saturating_sub(1)..rows.min(row + 2);
        if labels[near].iter().all(String::is_empty) {
            labels[row] = unit.shown(value);
        }
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_one_unit_and_round_values() {
        let axis = Scale::log(&[5e4, 9e7], 0.0, 1.0);
        let unit = Unit::of(axis);
        assert_eq!(unit.name, "ms");
        let found: Vec<String> =
            ticks(axis, unit, 12).into_iter().filter(|it| !it.is_empty()).collect();
        assert_eq!(found, ["100", "10", "1", "0.2", "0.05"]);
    }

    #[test]
    fn a_time_axis_says_where_time_begins_and_ends() {
        let text = |across: Across, begins: &[Nanos]| {
            across.axis(begins).shown(false).trim_start().to_string()
        };
        let known = Across { whole: Some(6 * SECOND), zero: SECOND, columns: 40 };
        assert_eq!(text(known, &[]), "─────── 0 s ──────── 2.5 s ──────── 5 s ");
        let open = Across { whole: None, zero: 0, columns: 20 };
        let begins: Vec<Nanos> = (0..30).map(|n| n * SECOND).collect();
        assert_eq!(text(open, &begins), "0 s ──── 29 s ");
    }

    #[test]
    fn lines_that_lie_on_each_other_both_have_their_names() {
        let across = Across { whole: Some(10 * SECOND), zero: 0, columns: 40 };
        for value in [1_000_000, 1_999_000] {
            let slots: Vec<Spread> =
                (0..5).map(|n| (n * SECOND, Some(value), Some(value))).collect();
            let lines = quantiles(across, "time", &slots, 8);
            let rows: Vec<String> = lines[1..].iter().map(|line| line.shown(false)).collect();
            let place = |name: &str| rows.iter().position(|row| row.contains(name)).unwrap();
            assert_eq!(place("p50"), place("p99") + 1, "{rows:#?}");
        }
    }
}
