//! The result of held connections, for readers.

use analysis::{LossCount, gone};
use load::{Distribution, HoldWindow, Holding, Plateau};
use tls::Trust;
use units::{bytes, count, nanos, rate};

use super::{FinishedHold, title};
use crate::agents::{self, facts_of, lost_agent};
use crate::document::{
    Block, Cell, Column, Depth, Document, Entry, Fact, Row, Section, Table, Tone,
};
use crate::{quantile, security};

/// While it runs: a line a second.
pub fn second(window: &HoldWindow) -> String {
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
pub fn document(held: &FinishedHold) -> Document {
    let holding = &held.holding;
    let rows = holding.plateaus.iter().map(row).collect();
    let has_rough = holding.plateaus.iter().any(is_rough);
    let mut sections = vec![
        Section::new("steps", "", Depth::Brief).with([steps(rows, has_rough)]),
        Section::new("losses", "", Depth::Brief).with(losses(holding)),
        Section::new("beside", "", Depth::Brief).with([Block::Facts(beside(held))]),
        Section::new("agents", "", Depth::Brief)
            .with(held.lost.iter().map(|lost| Block::paragraph(Tone::Bad, lost_agent(lost)))),
    ];
    let is_elsewhere = held.agents.iter().any(|agent| !agent.has_our_clock);
    let origin = agents::section(&held.agents).filter(|_| is_elsewhere);
    sections.extend(origin.map(|section| Section { depth: Depth::Brief, ..section }));
    sections.push(held.verdict.section());
    sections.retain(|section| !section.blocks.is_empty());
    Document {
        label: "held connections".into(),
        title: title(&held.spec),
        answer: vec![sentence(holding)],
        verdict: held.verdict.word,
        sections,
        ..Document::default()
    }
}

/// What was held, how late messages were at the end, and what broke.
pub(super) fn sentence(holding: &Holding) -> String {
    let Some(last) = holding.plateaus.last() else {
        return "Nothing was held: it was stopped before the first step.".into();
    };
    let held = format!(
        "It held {} of {} connections",
        count(last.open),
        count(last.times.connections as u64)
    );
    let late = last.late.quantile(0.99).map_or(String::new(), |late| {
        let within = if late.is_bound { "only after" } else { "within" };
        format!(", and 99 % of the messages came {within} {} of their beat", nanos(late.value))
    });
    let sum = |of: fn(&Plateau) -> u64| holding.plateaus.iter().map(of).sum::<u64>();
    let broken: Vec<String> = [
        (sum(Plateau::failed_in_all), "attempts to open one failed"),
        (sum(Plateau::lost_in_all), "were lost"),
        (last.silent, "were silent at the end"),
    ]
    .into_iter()
    .filter(|(times, _)| 0 < *times)
    .map(|(times, what)| format!("{} {what}", count(times)))
    .collect();
    let broken = match broken.is_empty() {
        true => "; none failed, was lost or fell silent".into(),
        false => format!("; {}", broken.join(", ")),
    };
    format!("{held}{late}{broken}.")
}

/// A row for each step.
fn steps(rows: Vec<Row>, has_rough: bool) -> Block {
    let counted = match has_rough {
        true => {
            "~ over the measured part, up to one message of each connection too many or too few; \
             give --beat to count whole beats"
        }
        false => "over whole beats",
    };
    let column = |key: &'static str, heading: &str, priority| Column::new(key, heading, priority);
    let columns = vec![
        column("asked", "connections", 0),
        column("open", "open", 0).meaning("at the end of the step"),
        column("failed", "failed", 1),
        column("lost", "lost", 1),
        column("silent", "silent", 3),
        column("connect_p50", "connect p50", 6),
        column("connect_p99", "connect p99", 4),
        column("messages", "messages/s", 2).meaning(counted).explained(),
        column("late_p50", "late p50", 5),
        column("late_p99", "late p99", 0).meaning("messages, after their beat").explained(),
        column("late_max", "late max", 5),
        column("own_p99", "own p99", 6).meaning("what dyno may have added to it").explained(),
    ];
    Block::Table(Table::of("steps", columns, rows))
}

fn row(plateau: &Plateau) -> Row {
    let number = |number: u64| Cell::text(count(number)).valued(Some(number as f64));
    let bad = |times: u64| match times {
        0 => number(times),
        _ => number(times).toned(Tone::Bad),
    };
    let cells = vec![
        number(plateau.times.connections as u64),
        number(plateau.open).toned(Tone::Strong),
        bad(plateau.failed_in_all()),
        bad(plateau.lost_in_all()),
        bad(plateau.silent),
        quantile::cell(&plateau.connect, 0.5),
        quantile::cell(&plateau.connect, 0.99),
        messages_per_s(plateau),
        quantile::cell(&plateau.late, 0.5),
        quantile::cell(&plateau.late, 0.99),
        quantile::moment_cell(&plateau.late, |all| all.max),
        quantile::cell(&plateau.own, 0.99),
    ];
    Row { cells, ..Row::default() }
}

fn messages_per_s(plateau: &Plateau) -> Cell {
    let Some(per_s) = plateau.messages_per_s() else { return Cell::none() };
    let about = if is_rough(plateau) { "~" } else { "" };
    Cell::text(format!("{about}{}", rate(per_s))).valued(Some(per_s))
}

/// No interval between messages is known, so the edges of the measured part may cut one.
fn is_rough(plateau: &Plateau) -> bool {
    plateau.whole.is_none() && plateau.echoes.due == 0 && 0 < plateau.messages
}

fn at(distribution: &Distribution, q: f64) -> String {
    distribution.quantile(q).map_or("–".into(), quantile::shown)
}

/// What failed and what was lost, by cause, most first.
fn losses(holding: &Holding) -> Option<Block> {
    let plateaus: Vec<&Plateau> = holding.plateaus.iter().collect();
    let one = |gone: &LossCount| {
        let what = if gone.was_open { "lost" } else { "failed" };
        let whose = if gone.loss.is_own() { "dyno's own; " } else { "" };
        let (times, loss) = (count(gone.times), gone.loss);
        Entry::new(Tone::Bad, format!("{times} {what}, {loss}: {whose}{}", loss.meaning()))
    };
    let mut entries: Vec<Entry> = gone(&plateaus).iter().map(one).collect();
    entries.extend(holding.security().iter().flat_map(security::reasons));
    (!entries.is_empty()).then_some(Block::Entries(entries))
}

/// Facts that are not in the table.
fn beside(held: &FinishedHold) -> Vec<Fact> {
    let holding = &held.holding;
    let mut facts = Vec::new();
    let is_unverified = held.spec.tls.as_ref().is_some_and(|order| order.trust == Trust::All);
    facts.extend(holding.security().map(|seen| security::fact(&seen, is_unverified)));
    let sum = |of: fn(&Plateau) -> u64| holding.plateaus.iter().map(of).sum::<u64>();
    let (again, missed) = (sum(|plateau| plateau.begun_again), sum(|plateau| plateau.missed));
    if 0 < again {
        facts.push(Fact::new("begun again", format!("{} connections", count(again))));
    }
    if 0 < missed {
        facts.push(Fact::new("missed", format!("{} numbered messages never came", count(missed))));
    }
    if let Some(last) = holding.plateaus.last() {
        facts.extend(lateness(last).map(|says| Fact::new("late", says)));
        facts.extend(echoes(last).map(|says| Fact::new("echo", says)));
        facts.extend(broadcasts(last).map(|says| Fact::new("broadcast", says)));
        facts.push(Fact::new("dyno", cost(last)));
    }
    facts.extend(facts_of(&held.agents));
    if holding.plateaus.iter().any(|plateau| plateau.messages_per_s().is_none()) {
        facts.push(Fact::new("messages/s", "– where a step measured for less than one beat"));
    }
    facts
}

fn lateness(last: &Plateau) -> Option<String> {
    let all = last.late.count();
    if all == 0 {
        return None;
    }
    Some(match last.stamped {
        0 => "against each connection's own beat, so no less than this".into(),
        stamped if stamped == all => {
            "against the instants that the messages themselves say, on this machine's clock".into()
        }
        stamped => format!(
            "{} of {} messages say when they were due; the others go by their beat",
            count(stamped),
            count(all)
        ),
    })
}

fn echoes(last: &Plateau) -> Option<String> {
    let echoes = &last.echoes;
    (0 < echoes.due).then(|| {
        format!(
            "{} due = {} correct + {} failed + {} blocked + {} under way; p50 {}, p99 {}",
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
    let (said, received) = (last.broadcasts.len() as u64, last.broadcasts.values());
    if said == 0 {
        return None;
    }
    let mut firsts: Vec<u64> = received.clone().map(|one| one.first).collect();
    let mut lasts: Vec<u64> = received.clone().map(|one| one.last).collect();
    firsts.sort_unstable();
    lasts.sort_unstable();
    let (first, last_one) = (firsts[firsts.len() / 2], lasts[lasts.len() / 2]);
    let all: u64 = received.map(|one| one.received).sum();
    Some(format!(
        "{} sent, {} received; the first receiver after {}, half of all after {}, the last after {} (medians)",
        count(said),
        count(all),
        nanos(first),
        at(&last.late, 0.5),
        nanos(last_one)
    ))
}

fn cost(last: &Plateau) -> String {
    let share = last.cpu as f64 / last.measured.max(1) as f64;
    format!("{:.0} % of a CPU in the last step, {} received", 100.0 * share, bytes(last.bytes))
}
