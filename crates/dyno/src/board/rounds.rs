//! Why rows have no more rounds, where their number was looked for.

use analysis::{Row, Stopped, WhyStopped};

use super::{Told, words};
use crate::report::paint::{Ink, Line, wrapped};
use crate::report::units::percent;

/// A sentence for each reason, and who is still wide.
pub(super) fn lines(told: &Told<'_>, width: usize) -> Vec<Line> {
    let Some(until) = told.experiment.as_ref().and_then(|experiment| experiment.until) else {
        return Vec::new();
    };
    let rows = told.board.tables.iter().flat_map(|table| &table.rows);
    let stopped: Vec<(&Row, Stopped)> = rows.filter_map(|row| Some((row, row.stopped?))).collect();
    let mut lines = Vec::new();
    for why in [WhyStopped::Narrow, WhyStopped::Most, WhyStopped::OutOfTime, WhyStopped::Nothing] {
        let alike: Vec<_> = stopped.iter().filter(|(_, stopped)| stopped.why == why).collect();
        if alike.is_empty() {
            continue;
        }
        let told: Vec<String> =
            alike.iter().map(|(row, stopped)| one(told, row, stopped)).collect();
        let text = format!("{}: {}", reason(why, until.within), told.join(", "));
        let ink = if why == WhyStopped::Narrow { Ink::Dim } else { Ink::Doubtful };
        lines.extend(wrapped(&text, width).into_iter().map(|line| Line::ink(ink, line)));
    }
    if !lines.is_empty() {
        let says = "  of achieved/s; where it kept up with a schedule, of p99";
        let title = format!(
            "how narrow the rounds' intervals are (±{} was asked for)",
            percent(until.within)
        );
        lines.insert(0, Line::ink(Ink::Bold, title).and(Ink::Dim, says));
    }
    lines
}

fn reason(why: WhyStopped, within: f64) -> String {
    match why {
        WhyStopped::Narrow => format!("came within ±{} and had one more round", percent(within)),
        WhyStopped::Most => "still wider after the most rounds".into(),
        WhyStopped::OutOfTime => "still wider when the limit of time was reached".into(),
        WhyStopped::Nothing => "never measured, and not tried again".into(),
    }
}

fn one(told: &Told<'_>, row: &Row, stopped: &Stopped) -> String {
    let within = match stopped.within {
        None => String::new(),
        Some(within) => format!(" ±{} after {} rounds", percent(within), stopped.rounds),
    };
    format!("{} at {}{within}", told.title(&row.subject), words::place(row.point))
}
