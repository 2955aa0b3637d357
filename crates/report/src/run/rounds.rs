//! Why rows have no more rounds, where the number of rounds was determined by the data.

use analysis::{Row, Stopped, WhyStopped};
use units::percent;

use super::findings::Findings;
use crate::document::{Block, Tone};

/// A sentence for each reason, and which intervals are still wide.
pub(super) fn blocks(findings: &Findings<'_>) -> Vec<Block> {
    let Some(until) = findings.run.experiment.as_ref().and_then(|experiment| experiment.until)
    else {
        return Vec::new();
    };
    let rows = findings.board.tables.iter().flat_map(|table| &table.rows);
    let stopped: Vec<(&Row, Stopped)> = rows.filter_map(|row| Some((row, row.stopped?))).collect();
    let all = [WhyStopped::Narrow, WhyStopped::Most, WhyStopped::OutOfTime, WhyStopped::Nothing];
    let blocks = all.into_iter().filter_map(|why| {
        let alike = stopped.iter().filter(|(_, stopped)| stopped.why == why);
        let rows: Vec<String> =
            alike.map(|(row, stopped)| of_row(findings, row, stopped)).collect();
        let tone = if why == WhyStopped::Narrow { Tone::Dim } else { Tone::Doubtful };
        let text = format!("{}: {}", reason(why, until.within), rows.join(", "));
        (!rows.is_empty()).then(|| Block::paragraph(tone, text))
    });
    blocks.collect()
}

pub(super) fn heading(findings: &Findings<'_>) -> String {
    let until = findings.run.experiment.as_ref().and_then(|experiment| experiment.until);
    until.map_or(String::new(), |until| {
        format!("How narrow the rounds' intervals are (±{} is wanted)", percent(until.within))
    })
}

fn reason(why: WhyStopped, within: f64) -> String {
    match why {
        WhyStopped::Narrow => format!("came within ±{} and had one more round", percent(within)),
        WhyStopped::Most => "still wider after the most rounds".into(),
        WhyStopped::OutOfTime => "still wider when the limit of time was reached".into(),
        WhyStopped::Nothing => "never measured, and not tried again".into(),
    }
}

fn of_row(findings: &Findings<'_>, row: &Row, stopped: &Stopped) -> String {
    let within = match stopped.within {
        None => String::new(),
        Some(within) => format!(" ±{} after {} rounds", percent(within), stopped.rounds),
    };
    format!("{} at {}{within}", findings.title(&row.subject), findings.place_alone(row.point))
}
