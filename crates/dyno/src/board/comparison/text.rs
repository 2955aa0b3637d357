//! A comparison for a terminal.

use analysis::{Comparison, Finding, Gate, Pair, Row, Why};
use lab::figure::Figure;

use super::{Compared, Side, answer, conformance};
use crate::board::columns::{Column, fitted};
use crate::board::words;
use crate::report::paint::{Ink, Line, wrapped};
use crate::report::table::Cell;
use crate::report::time::utc;
use crate::report::units::digits;

/// From here on a finding has room for its sentence.
const WIDE: usize = 116;
/// The difference that more rounds are counted for.
const SOUGHT: f64 = 0.05;

pub(super) fn of(compared: &Compared<'_>, width: usize, is_coloured: bool) -> String {
    let width = width.max(40);
    let prose = width.min(120);
    let mut lines: Vec<Line> = Vec::new();
    for (name, side) in ["A", "B"].into_iter().zip(&compared.sides) {
        lines.push(heading(name, side).cut(width));
    }
    lines.push(Line::default());
    let mut pairs = compared.versus.pairs.as_slice();
    while let Some(first) = pairs.first() {
        let is_alike =
            |pair: &&Pair<'_>| (pair.workload, pair.a.point) == (first.workload, first.a.point);
        let count = pairs.iter().take_while(is_alike).count();
        lines.extend(table(compared, &pairs[..count], width));
        lines.push(Line::default());
        pairs = &pairs[count..];
    }
    let dim = [legend(compared), more(compared)].concat();
    for (place, says) in answer::says(compared).iter().enumerate() {
        let ink = if place == 0 { Ink::Bold } else { Ink::Plain };
        lines.extend(wrapped(says, prose).into_iter().map(|line| Line::ink(ink, line)));
    }
    lines.extend(wrapped(&findings(compared), prose).into_iter().map(Line::plain));
    lines.extend(
        dim.iter().flat_map(|text| wrapped(text, prose)).map(|line| Line::ink(Ink::Dim, line)),
    );
    let conformance = conformance::lines(compared);
    if !conformance.is_empty() {
        lines.push(Line::default());
        lines.push(Line::ink(Ink::Bold, "conformance").and(Ink::Dim, "  case by case"));
        lines.extend(conformance.iter().flat_map(|text| wrapped(text, prose)).map(Line::plain));
    }
    let notes = compared.notes();
    if !notes.is_empty() {
        lines.push(Line::default());
        lines.push(Line::ink(Ink::Doubtful, "to be known"));
        lines.extend(notes.iter().flat_map(|text| wrapped(text, prose)).map(Line::plain));
    }
    let shown = lines.iter().map(|line| line.shown(is_coloured).trim_end().to_string() + "\n");
    shown.collect()
}

fn heading(name: &str, side: &Side<'_>) -> Line {
    let told = side.told;
    let what = match side.subject {
        Some(subject) => format!("{}, {}", told.title(subject), told.run.name),
        None => told.run.name.clone(),
    };
    Line::ink(Ink::Bold, format!("{name}  {what}"))
        .and(Ink::Dim, format!("  run {} · {}", told.id, utc(told.run.began_unix_ms)))
}

/// Pairs of one workload at one point.
fn table(compared: &Compared<'_>, pairs: &[Pair<'_>], width: usize) -> Vec<Line> {
    let is_named = compared.sides[0].subject.is_none();
    let mut drawn = fitted(columns(compared, pairs, width), width).into_iter();
    let mut lines: Vec<Line> = pairs
        .first()
        .map(|pair| {
            Line::ink(Ink::Bold, pair.workload).and(Ink::Dim, format!("  at {}", pair.a.point))
        })
        .into_iter()
        .collect();
    lines.extend(drawn.next());
    for pair in pairs {
        if is_named {
            let title = compared.sides[0].told.title(&pair.a.subject);
            lines.push(Line::ink(Ink::Bold, title).cut(width));
        }
        lines.extend(drawn.by_ref().take(pair.figures.len()));
    }
    lines
}

pub(super) type Made = Result<Comparison, Why>;

fn columns(compared: &Compared<'_>, pairs: &[Pair<'_>], width: usize) -> Vec<Column> {
    let cells = |cell: &dyn Fn(&Pair<'_>, Figure, &Made) -> Cell| -> Vec<Cell> {
        let figures = pairs.iter().flat_map(|pair| {
            pair.figures.iter().map(move |(figure, made)| cell(pair, *figure, made))
        });
        figures.collect()
    };
    let dim = |text: &str| Cell::ink(Ink::Dim, text);
    vec![
        Column {
            heading: dim(""),
            drop: 0,
            cells: cells(&|_, figure, _| Cell::plain(format!("  {}", figure.heading()))),
        },
        Column {
            heading: dim("A"),
            drop: 2,
            cells: cells(&|pair, figure, made| value(pair.a, figure, made, 0)),
        },
        Column {
            heading: dim("B"),
            drop: 2,
            cells: cells(&|pair, figure, made| value(pair.b, figure, made, 1)),
        },
        Column { heading: dim("B / A [95 %]"), drop: 0, cells: cells(&|_, _, made| ratio(made)) },
        Column {
            heading: Cell::left(Ink::Dim, "B is"),
            drop: 0,
            cells: cells(&|_, _, made| finding(made, compared.gate, WIDE <= width)),
        },
    ]
}

/// The mean over the rounds.
pub(super) fn value(row: &Row, figure: Figure, made: &Made, side: usize) -> Cell {
    let doubt = if row.is_doubtful() { "?" } else { "" };
    match (made, row.estimate(figure)) {
        (Ok(made), _) => {
            let few = if made.is_supported { "" } else { "*" };
            Cell::plain(format!("{}{doubt}{few}", words::number(figure, made.means[side])))
        }
        (Err(_), Some(estimate)) => Cell::plain(words::estimate(figure, &estimate) + doubt),
        (Err(_), None) => Cell::ink(Ink::Dim, "–"),
    }
}

pub(super) fn ratio(made: &Made) -> Cell {
    match made {
        Err(_) => Cell::ink(Ink::Dim, "–"),
        Ok(made) => Cell::plain(bracket(made)),
    }
}

/// `0.98× [0.95, 1.01]`.
pub(super) fn bracket(made: &Comparison) -> String {
    let bound = match made.is_bound {
        true if 1.0 < made.ratio => "≥",
        true => "≤",
        false => "",
    };
    let (low, high) = made.interval;
    format!("{bound}{}× [{}, {}]", times(made.ratio), times(low), times(high))
}

pub(super) fn finding(made: &Made, gate: Gate, is_wide: bool) -> Cell {
    let comparison = match made {
        Err(why) => return Cell::left(Ink::Dim, format!("not compared: {}", because(*why))),
        Ok(comparison) => comparison,
    };
    match (comparison.finding(), is_wide) {
        (Finding::Worse, _) => Cell::left(Ink::Bad, "worse"),
        (Finding::Better, _) => Cell::left(Ink::Good, "better"),
        (Finding::Differs, _) => Cell::left(Ink::Bold, "different"),
        (Finding::ByChance, true) => Cell::left(
            Ink::Doubtful,
            format!(
                "probably {}, not certain (p = {:.2})",
                leaning(comparison),
                comparison.adjusted_p
            ),
        ),
        (Finding::ByChance, false) => {
            Cell::left(Ink::Doubtful, format!("probably {}", leaning(comparison)))
        }
        (Finding::NotShown, _) if comparison.is_within(gate.tolerance) => Cell::left(
            Ink::Dim,
            format!("alike, or worse by less than {}", answer::tolerated(gate)),
        ),
        (Finding::NotShown, _) => Cell::left(Ink::Dim, unknown(comparison)),
    }
}

/// Which way it seems to go.
fn leaning(comparison: &Comparison) -> &'static str {
    match (analysis::better(comparison.figure), 1.0 < comparison.ratio) {
        (analysis::Better::Higher, true) | (analysis::Better::Lower, false) => "better",
        (analysis::Better::Higher, false) | (analysis::Better::Lower, true) => "worse",
        (analysis::Better::Neither, _) => "different",
    }
}

/// What is not known, as the interval has it.
fn unknown(comparison: &Comparison) -> String {
    let (low, high) = comparison.interval;
    format!("not known: {}× to {}×", times(low), times(high))
}

pub(super) fn because(why: Why) -> &'static str {
    match why {
        Why::Missing => "not measured",
        Why::OneRound => "one round",
        Why::Nothing => "a round has 0",
        Why::KeptUp => "both kept up",
        Why::Bounds => "only bounds",
    }
}

fn times(ratio: f64) -> String {
    if ratio < 0.0995 { format!("{ratio:.3}") } else { digits(ratio) }
}

pub(super) fn findings(compared: &Compared<'_>) -> String {
    let all = compared.versus.made().count();
    let [worse, better, differs] =
        [Finding::Worse, Finding::Better, Finding::Differs].map(|finding| compared.count(finding));
    if all == 0 {
        return "Nothing could be compared: it takes two measured rounds of each side, of the same workload at the same \
                place; `[trials] repeat` in the experiment sets the rounds.".into();
    }
    let rest = all - worse - better - differs;
    format!(
        "All {all} comparisons: B is worse in {worse}, better in {better}, and not shown to differ in {rest}."
    )
}

pub(super) fn legend(compared: &Compared<'_>) -> Vec<String> {
    if !compared.is_any() {
        return vec![];
    }
    vec![
        "A, B: geometric means over the measured rounds, each a fresh process · B / A: their ratio, with Welch's \
         95 % interval on logarithms · worse, better: with Holm's correction over all comparisons · not known: the \
         interval holds 1 · ?: in doubt, see below · *: too few samples"
            .into(),
    ]
}

/// What more rounds would bring: for each figure that shows no difference, for the pair that needs most.
pub(super) fn more(compared: &Compared<'_>) -> Vec<String> {
    let needs = |figure: Figure| {
        let unsettled = compared.versus.made().filter(|made| {
            made.figure == figure && matches!(made.finding(), Finding::NotShown | Finding::ByChance)
        });
        let most = unsettled.map(|made| made.more_rounds(SOUGHT).unwrap_or(usize::MAX)).max()?;
        match most {
            0 => None,
            usize::MAX => Some(format!("{} over 1,000", figure.heading())),
            most => Some(format!("{} {most}", figure.heading())),
        }
    };
    let needs: Vec<String> = analysis::COMPARED.into_iter().filter_map(needs).collect();
    if needs.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "to find a difference of 5 % four times in five, so many more rounds of each side are needed: {}",
        needs.join(" · ")
    )]
}
