//! What came of held connections, for people.

use load::{Distribution, HoldWindow, Holding, Loss, Plateau};

use super::Held;
use crate::report::units::{bytes, count, nanos, rate, time};
use crate::verdict::Verdict;

/// While it goes on: a line a second.
pub(crate) fn second(window: &HoldWindow) -> String {
    let mut says = format!(
        "{:>5}  {:>9} open",
        format!("{} s", window.until / 1_000_000_000),
        count(window.open)
    );
    if 0 < window.opening {
        says.push_str(&format!(", {} opening", count(window.opening)));
    }
    if 0 < window.failed + window.lost {
        says.push_str(&format!(", {} failed, {} lost", count(window.failed), count(window.lost)));
    }
    says.push_str(&format!("  {} messages", count(window.messages)));
    if let Some(late) = window.late.unfold().quantile(0.99) {
        says.push_str(&format!(", late p99 {}", nanos(late.value)));
    }
    says
}

/// At the end.
pub(crate) fn of(held: &Held, verdict: &Verdict) -> String {
    let holding = &held.holding;
    let mut rows = vec![HEAD.map(String::from).to_vec()];
    rows.extend(holding.plateaus.iter().map(row));
    let mut text = table(&rows);
    text.push('\n');
    let lost = held.lost.iter().map(ToString::to_string);
    for line in lines(holding).into_iter().chain(lost).chain(worth(verdict)) {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// What it is worth, and why it is worth no more.
fn worth(verdict: &Verdict) -> Vec<String> {
    let mut lines = vec![format!("verdict: {}", verdict.word())];
    for doubt in &verdict.doubts {
        lines.push(format!("  {}: {}", doubt.gravity.name(), doubt.says));
        lines.push(format!("    → {}", doubt.what_to_do));
    }
    lines
}

const HEAD: [&str; 12] = [
    "asked",
    "open",
    "failed",
    "lost",
    "silent",
    "connect p50",
    "p99",
    "messages/s",
    "late p50",
    "p99",
    "max",
    "own p99",
];

fn row(plateau: &Plateau) -> Vec<String> {
    vec![
        count(plateau.times.connections as u64),
        count(plateau.open),
        count(plateau.failed_in_all()),
        count(plateau.lost_in_all()),
        count(plateau.silent),
        at(&plateau.connect, 0.5),
        at(&plateau.connect, 0.99),
        plateau.messages_per_s().map_or("–".into(), rate),
        at(&plateau.late, 0.5),
        at(&plateau.late, 0.99),
        plateau.late.extremes().map_or("–".into(), |(_, most)| nanos(most)),
        at(&plateau.own, 0.99),
    ]
}

fn at(distribution: &Distribution, quantile: f64) -> String {
    distribution.quantile(quantile).map_or("–".into(), |found| {
        let bound = if found.is_censored { "≥" } else { "" };
        format!("{bound}{}", nanos(found.value))
    })
}

fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width =
        |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}

/// What the table does not say.
fn lines(holding: &Holding) -> Vec<String> {
    let mut lines = Vec::new();
    for (what, pick) in [("failed", failed as Pick), ("lost", lost as Pick)] {
        for (loss, times) in causes(holding, pick) {
            let whose = if loss.is_own() { "dyno's own; " } else { "" };
            lines.push(format!("{what}  {:>9}  {loss}: {whose}{}", count(times), loss.meaning()));
        }
    }
    let again: u64 = holding.plateaus.iter().map(|plateau| plateau.begun_again).sum();
    if 0 < again {
        lines.push(format!("{} were begun again", count(again)));
    }
    let missed: u64 = holding.plateaus.iter().map(|plateau| plateau.missed).sum();
    if 0 < missed {
        lines.push(format!("{} numbered messages never came", count(missed)));
    }
    if let Some(last) = holding.plateaus.last() {
        lines.extend(lateness(last));
        lines.extend(echoes(last));
        lines.extend(broadcasts(last));
        lines.push(cost(last));
    }
    if holding.plateaus.iter().any(|plateau| plateau.messages_per_s().is_none()) {
        lines.push("messages/s: – where a step measured for less than one beat".into());
    }
    if holding.was_halted {
        lines.push(format!("stopped after {}", time(holding.closed_at as f64)));
    }
    lines
}

type Pick = fn(&Plateau) -> &[u64; Loss::COUNT];

fn failed(plateau: &Plateau) -> &[u64; Loss::COUNT] {
    &plateau.failed
}

fn lost(plateau: &Plateau) -> &[u64; Loss::COUNT] {
    &plateau.lost
}

/// Over all steps, most first.
pub(crate) fn causes(holding: &Holding, pick: Pick) -> Vec<(Loss, u64)> {
    let sum = |loss: &Loss| -> u64 {
        holding.plateaus.iter().map(|plateau| pick(plateau)[loss.index()]).sum()
    };
    let mut all: Vec<(Loss, u64)> =
        Loss::all().map(|loss| (loss, sum(&loss))).filter(|(_, times)| 0 < *times).collect();
    all.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    all
}

fn lateness(last: &Plateau) -> Option<String> {
    let all = last.late.count();
    if all == 0 {
        return None;
    }
    Some(match last.stamped {
        0 => "late: against each connection's own beat, so no less than this".into(),
        stamped if stamped == all => {
            "late: against the instants that the messages themselves say, on this machine's clock"
                .into()
        }
        stamped => format!(
            "late: {} of {} messages say when they were due; the others go by their beat",
            count(stamped),
            count(all)
        ),
    })
}

fn echoes(last: &Plateau) -> Option<String> {
    let echoes = &last.echoes;
    (0 < echoes.due).then(|| {
        format!(
            "echo: {} due = {} correct + {} failed + {} blocked + {} under way; p50 {}, p99 {}",
            count(echoes.due),
            count(echoes.correct),
            count(echoes.failed),
            count(echoes.blocked),
            count(echoes.under_way),
            at(&echoes.response, 0.5),
            at(&echoes.response, 0.99)
        )
    })
}

fn broadcasts(last: &Plateau) -> Option<String> {
    let (said, heard) = (last.broadcasts.len() as u64, last.broadcasts.values());
    if said == 0 {
        return None;
    }
    let mut firsts: Vec<u64> = heard.clone().map(|one| one.first).collect();
    let mut lasts: Vec<u64> = heard.clone().map(|one| one.last).collect();
    firsts.sort_unstable();
    lasts.sort_unstable();
    let (first, last_one) = (firsts[firsts.len() / 2], lasts[lasts.len() / 2]);
    let all: u64 = heard.map(|one| one.heard).sum();
    Some(format!(
        "broadcast: {} said, {} heard; the first receiver after {}, half of all after {}, the last after {} (medians)",
        count(said),
        count(all),
        nanos(first),
        at(&last.late, 0.5),
        nanos(last_one)
    ))
}

fn cost(last: &Plateau) -> String {
    let share = last.cpu as f64 / last.measured.max(1) as f64;
    format!(
        "dyno: {:.0} % of a CPU in the last step, {} received",
        100.0 * share,
        bytes(last.bytes)
    )
}
