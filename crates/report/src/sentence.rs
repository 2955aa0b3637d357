//! The answer in two or three honest sentences: who leads and by how much, who is left behind, and what it is worth.

use analysis::{Comparison, Number, Row, Table, compare, ranks};
use lab::experiment::Point;
use lab::figure::Figure;

use crate::{Findings, competing, held, ranking};

/// A paragraph about each workload, and what they are worth.
pub(crate) fn all(findings: &Findings<'_>) -> Vec<String> {
    let tables: Vec<&Table> =
        findings.board.tables.iter().filter(|table| !table.is_held()).collect();
    let about = |table: &&Table| {
        let says = answer(findings, table)?;
        Some(if 1 < tables.len() { format!("{}: {says}", table.workload) } else { says })
    };
    let mut texts = held::sentences(findings);
    texts.extend(tables.iter().filter_map(about));
    texts.push(worth(findings));
    texts
}

/// Each competitor where it came to the most, best first; who is not ranked comes last.
pub(crate) fn bests(table: &Table) -> Vec<&Row> {
    let competing = competing(table);
    let is_best = |row: &&Row| {
        let peak = table.peaks.iter().find(|peak| peak.subject == row.subject);
        peak.is_none_or(|peak| peak.point == row.point)
    };
    let mut rows: Vec<&Row> = competing.into_iter().filter(is_best).collect();
    // Who was never measured has no best place: its first one stands for it.
    rows.dedup_by(|one, other| one.subject == other.subject);
    rows.sort_by(|one, other| {
        let by_rate = achieved(other).total_cmp(&achieved(one));
        one.unmet.is_some().cmp(&other.unmet.is_some()).then(by_rate)
    });
    rows
}

fn achieved(row: &Row) -> f64 {
    row.estimate(Figure::Achieved).map_or(-1.0, |estimate| estimate.value)
}

fn answer(findings: &Findings<'_>, table: &Table) -> Option<String> {
    let all = bests(table).into_iter().filter(|row| 0 < row.measured());
    let (measured, unmet): (Vec<&Row>, Vec<&Row>) = all.partition(|row| row.unmet.is_none());
    if measured.is_empty() && !unmet.is_empty() {
        return Some(
            "Nobody who was measured keeps what the experiment requires: nobody is ranked.".into(),
        );
    }
    if measured.is_empty() {
        return (!table.rows.is_empty()).then(|| "Nobody was measured: see below why.".into());
    }
    if measured.iter().all(|row| achieved(row) <= 0.0) {
        return Some("Nobody gave one right answer under load: see below why.".into());
    }
    // Who keeps up with a schedule achieves what was offered: that ranks nobody.
    let open = measured.iter().filter(|row| is_open(row)).count();
    let (lead, least) = match open {
        0 | 1 => (lead(findings, &measured), None),
        all if all == measured.len() => (None, None),
        _ => (None, least(findings, &measured)),
    };
    let (limits, fastest) =
        (limits(findings, table, &measured), fastest(findings, table, &measured));
    let texts = [lead, limits, least, fastest, left_out(findings, &unmet)];
    Some(texts.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

/// Who was measured and is not ranked.
fn left_out(findings: &Findings<'_>, unmet: &[&Row]) -> Option<String> {
    let names: Vec<String> = unmet.iter().map(|row| name_only(findings, row).into()).collect();
    (!names.is_empty()).then(|| {
        format!("Not ranked, for what the experiment requires: {}; see below.", list(&names))
    })
}

/// Who came to the least, where nobody is known to have come to the most.
fn least(findings: &Findings<'_>, rows: &[&Row]) -> Option<String> {
    let last = rows.last()?;
    Some(format!("The least comes from {}, {}.", name(findings, last), rate(findings, last)))
}

/// Who came to the most, and how far ahead of whom.
fn lead(findings: &Findings<'_>, rows: &[&Row]) -> Option<String> {
    let (first, last) = (rows.first()?, rows.last()?);
    if rows.len() == 1 {
        return Some(format!("{} comes to {}.", name(findings, first), rate(findings, first)));
    }
    let groups = match rows.iter().all(|row| 1 < row.measured()) {
        true => ranks(rows, Figure::Achieved),
        false => Vec::new(),
    };
    let least =
        format!("; the least comes from {}, {}.", name(findings, last), rate(findings, last));
    let Some((leaders, next)) = groups.split_first() else {
        let second = rows[1];
        let least = if rows.len() == 2 { ".".into() } else { least };
        return Some(format!(
            "{} comes to the most, {}, before {} with {}{least}",
            name(findings, first),
            rate(findings, first),
            name(findings, second),
            rate(findings, second),
        ));
    };
    let names: Vec<String> = leaders.iter().map(|row| name(findings, row)).collect();
    let Some(second) = next.first().and_then(|group| group.first()) else {
        return Some(format!(
            "{} come to {} and to {}, or between: this data cannot tell which of them is ahead.",
            list(&names),
            rate(findings, first),
            rate(findings, last),
        ));
    };
    let least = if second.subject == last.subject { ".".into() } else { least };
    let ahead = ahead(leaders[0], second);
    let second = match next[0].len() {
        1 => name(findings, second),
        _ => list(&next[0].iter().map(|row| name(findings, row)).collect::<Vec<_>>()),
    };
    let who = match leaders.len() {
        1 => format!("{} comes to the most,", list(&names)),
        _ => format!(
            "{} come to the most, and this data cannot tell which of them is ahead: {} comes to",
            list(&names),
            name(findings, leaders[0])
        ),
    };
    Some(format!("{who} {}{ahead} {second}{least}", rate(findings, leaders[0])))
}

/// `, 1.27× [1.22–1.31] as much as`.
fn ahead(one: &Row, other: &Row) -> String {
    let numbers = |row: &Row| -> Vec<Number> {
        let measured = row.trials.iter().filter(|trial| trial.is_measured());
        measured.filter_map(|trial| trial.figures.get(Figure::Achieved)).collect()
    };
    match compare(Figure::Achieved, &numbers(other), &numbers(one)) {
        Ok(Comparison { ratio, interval: (low, high), .. }) => {
            let bound = if is_open(one) { "at least " } else { "" };
            format!(", {bound}{ratio:.2}× [{low:.2}–{high:.2}] as much as")
        }
        Err(_) => ", before".into(),
    }
}

/// Whether it achieved all that was offered: it might do more.
fn is_open(row: &Row) -> bool {
    matches!(row.point, Point::Requests(_) | Point::Sessions(_)) && !row.is_behind()
}

/// Who fell behind what was offered, and where.
fn limits(findings: &Findings<'_>, table: &Table, rows: &[&Row]) -> Option<String> {
    let last = rows.iter().map(|row| row.point).max_by(|a, b| a.value().total_cmp(&b.value()))?;
    if matches!(last, Point::Connections(_) | Point::Held(_)) {
        return None;
    }
    let behind = |best: &&Row| {
        let own = table.rows.iter().filter(|row| row.subject == best.subject);
        own.into_iter().find(|row| row.is_behind())
    };
    let mut broken: Vec<&Row> = rows.iter().filter_map(behind).collect();
    broken.sort_by(|one, other| one.point.value().total_cmp(&other.point.value()));
    let is_whole = |best: &&&Row| broken.iter().all(|row| row.subject != best.subject);
    let whole: Vec<&Row> = rows.iter().filter(is_whole).copied().collect();
    let place = |point| findings.place(point);
    let Some(first) = broken.first() else {
        let all = if rows.len() == 1 { "It" } else { "All" };
        return Some(format!(
            "{all} kept up with what was offered, up to {last}: no limit was reached."
        ));
    };
    let together: Vec<&Row> =
        broken.iter().filter(|row| row.point == first.point).copied().collect();
    let falls = if together.len() == 1 { "falls" } else { "fall" };
    let says =
        format!("{} {falls} behind first, at {}", few(findings, &together), place(first.point));
    Some(match broken.last().filter(|last| last.point != first.point) {
        _ if !whole.is_empty() => {
            let keep = if whole.len() == 1 { "keeps" } else { "keep" };
            format!("{says}; {} {keep} up to the end, {}.", few(findings, &whole), place(last))
        }
        Some(longest) => {
            format!("{says}; {} only at {}.", name_only(findings, longest), place(longest.point))
        }
        None => format!("{says}."),
    })
}

/// Up to four by name; of more, how many.
fn few(findings: &Findings<'_>, rows: &[&Row]) -> String {
    match rows.len() {
        0..=4 => {
            list(&rows.iter().map(|row| name_only(findings, row).to_string()).collect::<Vec<_>>())
        }
        count => format!("{count} servers"),
    }
}

/// Who answers the slowest hundredth soonest and latest, where all were pressed alike.
fn fastest(findings: &Findings<'_>, table: &Table, bests: &[&Row]) -> Option<String> {
    let highest = bests.iter().max_by(|a, b| a.point.value().total_cmp(&b.point.value()))?.point;
    let is_there = |row: &&Row| row.point == highest && row.estimate(Figure::ResponseP99).is_some();
    let mut timed: Vec<&Row> = ranking(table).into_iter().filter(is_there).collect();
    // What did not keep up with a schedule is slow by the length of its queue.
    if timed.len() < 2 || (table.is_curve() && timed.iter().any(|row| row.is_behind())) {
        return None;
    }
    let p99 = |row: &Row| row.estimate(Figure::ResponseP99);
    let value = |row: &Row| p99(row).map_or(f64::MAX, |estimate| estimate.value);
    timed.sort_by(|one, other| value(one).total_cmp(&value(other)));
    let (soonest, latest) = (timed.first()?, timed.last()?);
    let says = |row: &Row| {
        let estimate = p99(row)?;
        let bound = if estimate.is_censored { "≥" } else { "" };
        let time = (findings.number)(Figure::ResponseP99, estimate.value);
        Some(format!("{bound}{time} ({})", name_only(findings, row)))
    };
    let at = match table.is_curve() {
        true => format!(" at {}", findings.place(highest)),
        false => String::new(),
    };
    Some(format!(
        "The time within which 99 % of the answers come{at} goes from {} to {}.",
        says(soonest)?,
        says(latest)?
    ))
}

fn name_only<'t>(findings: &'t Findings<'_>, row: &'t Row) -> &'t str {
    findings.title(&row.subject)
}

/// With its doubt, where not all are in doubt anyway.
fn name(findings: &Findings<'_>, row: &Row) -> String {
    let is_special = row.is_doubtful() && !is_all_doubtful(findings);
    format!("{}{}", name_only(findings, row), if is_special { " (in doubt)" } else { "" })
}

fn is_all_doubtful(findings: &Findings<'_>) -> bool {
    let mut rows = findings.board.tables.iter().flat_map(competing);
    rows.all(Row::is_doubtful)
}

/// `11,099/s [11,020–11,180] at 1,100 sessions/s`.
fn rate(findings: &Findings<'_>, row: &Row) -> String {
    let shown = |value| (findings.number)(Figure::Achieved, value);
    let Some(estimate) = row.estimate(Figure::Achieved) else { return "nothing".into() };
    let interval = estimate
        .interval
        .map_or(String::new(), |(low, high)| format!(" [{}–{}]", shown(low), shown(high)));
    format!("{}/s{interval}", shown(estimate.value))
}

/// `A, B and C`; of many, `A, B, C and 5 others`.
fn list(names: &[String]) -> String {
    match names {
        [one, two, three, _, rest @ ..] if !rest.is_empty() => {
            format!("{one}, {two}, {three} and {} others", names.len() - 3)
        }
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn worth(findings: &Findings<'_>) -> String {
    let rows: Vec<&Row> = findings.board.tables.iter().flat_map(competing).collect();
    let most = rows.iter().map(|row| row.measured()).max();
    let mut says = match most.unwrap_or_default() {
        0 => "",
        1 => "There was one round, so how far rounds lie apart is not known: small differences mean nothing.",
        _ => "Rounds differ as the intervals show; another day or machine may differ more.",
    }
    .to_string();
    if rows.iter().any(|row| row.measured() < row.planned) {
        says.push_str(" Some trials are no measurement; they are told and not averaged.");
    }
    if !rows.is_empty() && is_all_doubtful(findings) {
        says.push_str(" All figures are in doubt: see below why.");
    } else if rows.iter().any(|row| row.is_doubtful()) {
        says.push_str(" Some figures are in doubt; they are marked.");
    }
    says.trim_start().to_string()
}
