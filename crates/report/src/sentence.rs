//! The answer in two or three honest sentences: which server is ahead and by how much, what gave wrong answers, and how
//! far the figures can be trusted. The order is the tables' own: the server that is named first stands in their first
//! row.

mod limit;
mod own_cpu;

use analysis::{Breach, Capacity, Conduct, Estimate, KEPT_UP, Placed, Row, Table, Unranked};
use lab::experiment::Promised;
use lab::figure::Figure;
use units::{digits, listed_in_short};

use crate::document::{Mark, Marks};
use crate::number_format::{Written, as_written, in_unit_of};
use crate::run::findings::Findings;
use crate::run::{price, race, searches, trouble, why};
use crate::{held, load};

/// A paragraph about each workload, and one about how far to trust them.
pub(crate) fn all(findings: &Findings<'_>) -> Vec<String> {
    if findings.is_search() {
        return searches::sentences(findings);
    }
    if findings.is_load() {
        let of_run = std::iter::once(load::sentence::of_run(findings));
        return of_run.chain(why::sentences(findings)).collect();
    }
    let tables: Vec<&Table> =
        findings.board.tables.iter().filter(|table| !table.is_held()).collect();
    let about = |table: &&Table| match answer(findings, table)? {
        says if 1 < tables.len() => Some(format!("{}: {says}", findings.task(&table.workload))),
        says => Some(says),
    };
    let mut texts = held::sentences(findings);
    // What a run compares across protocols is what it asks first.
    texts.extend(price::sentences(findings));
    match findings.is_race() {
        true => texts.extend(race::sentences(findings)),
        false => texts.extend(tables.iter().filter_map(about)),
    }
    texts.extend(why::sentences(findings));
    texts.push(worth(findings));
    texts
}

fn answer(findings: &Findings<'_>, table: &Table) -> Option<String> {
    let all = table.bests();
    let measured = || all.iter().filter(|placed| 0 < placed.row.measured());
    let ranked: Vec<Placed<'_>> =
        measured().filter(|placed| placed.row.judgement.is_ranked()).copied().collect();
    let left_out: Vec<&Row> =
        measured().map(|placed| placed.row).filter(|row| !row.judgement.is_ranked()).collect();
    let are_all = ranked.len() == all.len();
    let [mut texts, tolerated] = conduct(findings, table);
    let first = if all.is_empty() {
        return None;
    } else if measured().next().is_none() {
        return Some(unmeasured(findings));
    } else if table.is_mostly_invalid() {
        let mut says = texts;
        says.push(no_ranking(findings, table));
        says.extend(tolerated);
        return Some(says.join(" "));
    } else if ranked.is_empty() {
        Some("No server is ranked.".into())
    } else if ranked.iter().all(|placed| rate_of(placed.row) <= 0.0) {
        Some(format!("No server gave one correct answer under load: see \"{}\".", trouble::FAILED))
    } else if table.by_cpu {
        let is_behind = |row: &Row| row.is_offered() && row.is_behind();
        let others: Vec<Placed<'_>> =
            ranked.iter().copied().filter(|it| !is_behind(it.row)).collect();
        let has_fallen = others.len() < ranked.len();
        let is_offered = !table.shares_cpu && ranked[0].row.is_offered();
        let kept = (has_fallen || is_offered).then(|| kept_up(findings, &ranked, are_all));
        let both = kept.into_iter().chain(own_cpu::least(findings, table, &others));
        Some(both.collect::<Vec<_>>().join(" "))
    } else if !ranked[0].row.is_offered() {
        lead(findings, &ranked)
    } else if table.is_curve() {
        Some(capacities(findings, table, &ranked))
    } else {
        Some(kept_up(findings, &ranked, are_all))
    };
    texts.extend([first, tails(findings, table, &ranked)].into_iter().flatten());
    texts.extend(limit::limits(findings, &ranked));
    texts.extend(limit::ceiling(findings, table));
    texts.extend(reasons(findings, &left_out));
    texts.extend(tolerated);
    Some(texts.join(" "))
}

/// What the servers answered wrongly or failed: a sentence for each that is not ranked for it, and one for each other.
fn conduct(findings: &Findings<'_>, table: &Table) -> [Vec<String>; 2] {
    let named = table.competitors().map(|row| {
        // Its answers at all places are counted together.
        let is_of_all = !table.is_curve() || matches!(row.conduct, Conduct::Wrong(_));
        let name = name_only(findings, row);
        let place = || format!("{name} at {}", findings.place(row.point));
        (if is_of_all { name.into() } else { place() }, row.conduct)
    });
    let [mut failing, mut tolerated] = crate::conduct::sentences(named, " Not ranked.");
    failing.dedup();
    let more = tolerated.len().saturating_sub(TOLERATED_SHOWN);
    tolerated.truncate(TOLERATED_SHOWN);
    if 0 < more {
        tolerated.push(format!("{more} others failed requests, too: see \"{}\".", trouble::FAILED));
    }
    [failing, tolerated]
}

/// Up to so many rows whose faults are tolerated are named.
const TOLERATED_SHOWN: usize = 4;

/// Where too few rows answer the question, with the gravest reason of the first that does not.
fn no_ranking(findings: &Findings<'_>, table: &Table) -> String {
    let measured: Vec<&Row> = table.competitors().filter(|row| 0 < row.measured()).collect();
    let invalid: Vec<&Row> = measured
        .iter()
        .copied()
        .filter(|row| row.judgement.unranked == Some(Unranked::Invalid))
        .collect();
    let why = invalid.first().and_then(|row| row.reasons().into_iter().next());
    let why = why.map_or(String::new(), |why| format!(" ({})", why.doubt.says()));
    let heading = trouble::DOUBTS;
    let (these, of) = (invalid.len(), measured.len());
    match of {
        1 => format!("{} is invalid{why}; see \"{heading}\".", name_only(findings, measured[0])),
        _ => {
            let are = if these == 1 { "is" } else { "are" };
            format!("No ranking: {these} of {of} rows {are} invalid{why}; see \"{heading}\".")
        }
    }
}

/// Where no trial is a measurement.
pub(crate) fn unmeasured(findings: &Findings<'_>) -> String {
    match trouble::failures(findings).is_empty() {
        true => "No server has been measured yet.".into(),
        false => format!("No server was measured: see \"{}\".", trouble::WRONG),
    }
}

/// As it is written beside the ratio.
fn rate_of(row: &Row) -> f64 {
    row.estimate(Figure::Throughput).map_or(-1.0, |estimate| as_written(&estimate))
}

/// For closed loops: the fastest, how far it is ahead of the next, and the slowest.
fn lead(findings: &Findings<'_>, ranked: &[Placed<'_>]) -> Option<String> {
    let (first, last) = (ranked.first()?, ranked.last()?);
    if ranked.len() == 1 {
        return Some(format!("{} answered {}.", name(findings, first.row), rate(first.row)));
    }
    let Some((_, until)) = first.rank else {
        return Some(format!(
            "{}: {} to {}.",
            not_ahead(findings, ranked),
            named_rate(findings, last.row),
            named_rate(findings, first.row)
        ));
    };
    if until == ranked.len() {
        return Some(format!(
            "This data cannot tell which server is fastest: {} to {}.",
            named_rate(findings, last.row),
            named_rate(findings, first.row)
        ));
    }
    let (leaders, rest) = ranked.split_at(until);
    let next = rest.first()?;
    let names: Vec<String> = leaders.iter().map(|placed| name(findings, placed.row)).collect();
    let leads = match leaders.len() {
        1 => format!("{} is fastest with {}", names[0], rate(first.row)),
        _ => format!(
            "{} are fastest, and this data cannot tell which of them is ahead: {} answered {}",
            listed_in_short(&names),
            names[0],
            rate(first.row)
        ),
    };
    let times = rate_of(first.row) / rate_of(next.row);
    let ahead = if times.is_finite() {
        format!(", {}× the rate of", digits(times))
    } else {
        ", before".into()
    };
    let slowest = if rest.len() == 1 { String::new() } else { slowest(findings, rest) };
    Some(format!("{leads}{ahead} {}.{slowest}", named_rate(findings, next.row)))
}

/// Why no server is ahead: one that has a single round, or all.
fn not_ahead(findings: &Findings<'_>, ranked: &[Placed<'_>]) -> String {
    let rows = ranked.iter().map(|placed| placed.row);
    let single: Vec<&Row> = rows.filter(|row| row.measured() < 2).collect();
    match single.len() {
        some if 0 < some && some < ranked.len() => {
            let have = if some == 1 { "has" } else { "have" };
            let names = few(findings, &single);
            format!("No server is ahead, because {names} {have} only one measured round")
        }
        _ => "After one round no server is ahead".into(),
    }
}

/// The server of the last rank, or all that share it.
fn slowest(findings: &Findings<'_>, rest: &[Placed<'_>]) -> String {
    let last_rank = rest.last().and_then(|placed| placed.rank);
    let last = rest.iter().filter(|placed| placed.rank == last_rank).map(|placed| placed.row);
    match last.collect::<Vec<_>>().as_slice() {
        [only] => format!(" Slowest is {}.", named_rate(findings, only)),
        several => {
            let names: Vec<String> = several.iter().map(|row| name(findings, row)).collect();
            format!(
                " {} are slowest, and this data cannot tell which of them is behind.",
                listed_in_short(&names)
            )
        }
    }
}

/// For one offered rate: which servers kept up. Where not all are ranked, those that are stand there by name.
fn kept_up(findings: &Findings<'_>, ranked: &[Placed<'_>], are_all: bool) -> String {
    let place = findings.place(ranked[0].row.point);
    let (behind, kept): (Vec<&Row>, Vec<&Row>) =
        ranked.iter().map(|placed| placed.row).partition(|row| row.is_behind());
    let why = |share: Estimate| format!(" ({})", why_behind(share.value, share.interval()));
    let on_time = |row: &&Row| {
        let why = row.estimate(Figure::OnTime).map_or(String::new(), why);
        format!("{}{why}", name_only(findings, row))
    };
    let fell: Vec<String> = behind.iter().map(on_time).collect();
    match (kept.len(), behind.len()) {
        (1, 0) => format!("{} kept up with {place}.", few(findings, &kept)),
        (_, 0) if are_all => format!("All servers kept up with {place}."),
        (_, 0) => format!("{} kept up with {place}.", few(findings, &kept)),
        (0, _) if are_all => format!("No server kept up with {place}: {}.", listed_in_short(&fell)),
        (0, _) => format!("{} did not keep up with {place}.", listed_in_short(&fell)),
        _ => format!(
            "{} kept up with {place}; {} did not.",
            few(findings, &kept),
            listed_in_short(&fell)
        ),
    }
}

/// Why a server did not keep up, by its percentage on time, which may be no reason; it is not shown as 99 % unless it is.
fn why_behind(on_time: f64, interval: Option<(f64, f64)>) -> String {
    if KEPT_UP <= on_time / 100.0 {
        return "response times grew for as long as the load lasted".into();
    }
    let share = match Written::of(Figure::OnTime.unit(), on_time, interval).value {
        share if share == "99%" || share == "99.0%" => {
            format!("{:.2}%", (on_time * 100.0).floor() / 100.0)
        }
        share => share,
    };
    format!("{share} of the requests on time")
}

/// For several offered rates: how much each server can be offered under the promise, best first.
fn capacities(findings: &Findings<'_>, table: &Table, ranked: &[Placed<'_>]) -> String {
    let all = table.capacities();
    let capacity_of = |row: &Row| all.iter().find(|(subject, _)| *subject == row.subject);
    let found: Vec<(&Row, &Capacity)> = ranked
        .iter()
        .filter_map(|placed| Some((placed.row, &capacity_of(placed.row)?.1)))
        .collect();
    let promised = promised(table.promise);
    let capacity_sentence = |(row, capacity): &(&Row, &Capacity)| {
        format!("{} {}", name(findings, row), keeps(findings, table, &row.subject, capacity))
    };
    let shown = if found.len() <= CAPACITIES_SHOWN { found.len() } else { CAPACITIES_SHOWN - 1 };
    let mut texts: Vec<String> = found[..shown].iter().map(capacity_sentence).collect();
    if let [_, .., last] = &found[shown..] {
        texts.push(format!(
            "{} others follow, the last of which, {}",
            found.len() - shown,
            capacity_sentence(last)
        ));
    }
    format!("Within the limits ({promised}): {}.", texts.join("; "))
}

/// `p99 ≤ 100ms, at most 1.0% failed, at least 99.0% on time`.
pub(crate) fn promised(promise: Promised) -> String {
    format!(
        "p99 ≤ {}, at most {} failed, at least {} on time",
        in_unit_of(Figure::ResponseP99, promise.p99_ms()),
        in_unit_of(Figure::FailedShare, promise.failed_percent),
        in_unit_of(Figure::OnTime, KEPT_UP * 100.0),
    )
}

/// Up to this many servers' capacities are written out.
const CAPACITIES_SHOWN: usize = 5;

/// `holds 3,000 requests/s and breaks at 4,000 (p99 1.11s)`.
fn keeps(findings: &Findings<'_>, table: &Table, subject: &str, capacity: &Capacity) -> String {
    let bad = capacity.bad.as_ref().map(|(point, _)| point);
    match (capacity.good, bad.zip(broken(table, subject, capacity))) {
        (Some(good), None) => format!("holds every rate up to {}", findings.place(good)),
        (Some(good), Some((bad, why))) => {
            format!(
                "holds {} and breaks at {} ({why})",
                findings.place(good),
                findings.place_alone(*bad)
            )
        }
        (None, Some((bad, why))) => {
            format!("holds no rate that was tried; the lowest is {} ({why})", findings.place(*bad))
        }
        (None, None) => "was not measured".into(),
    }
}

/// What of the promise was broken, with figures that have the same digits as in the table.
pub(crate) fn broken(table: &Table, subject: &str, capacity: &Capacity) -> Option<String> {
    let (point, breaches) = capacity.bad.as_ref()?;
    let row = table.rows.iter().find(|row| row.subject == subject && row.point == *point);
    Some(breaches.iter().map(|breach| breach_in_words(breach, row)).collect::<Vec<_>>().join(", "))
}

/// A figure with as many digits and the marks that it has in the row of the table.
fn as_in_table(row: Option<&Row>, figure: Figure, value: f64) -> String {
    let estimate = row.and_then(|row| row.estimate(figure));
    let is_bound = estimate.is_some_and(|estimate| estimate.is_bound);
    let interval = estimate.and_then(|estimate| estimate.interval());
    let written = Written::of(figure.unit(), value, interval).value;
    Marks::default().when(is_bound, Mark::Bound).around(&written)
}

fn breach_in_words(breach: &Breach, row: Option<&Row>) -> String {
    match *breach {
        Breach::P99(ms) => format!("p99 {}", as_in_table(row, Figure::ResponseP99, ms)),
        Breach::Failed(percent) => {
            format!("{} failed", as_in_table(row, Figure::FailedShare, percent))
        }
        Breach::Behind(share) => {
            format!("{} on time", as_in_table(row, Figure::OnTime, share * 100.0))
        }
        Breach::Growing => "response times grew for as long as the load lasted".into(),
        Breach::Unmeasured => "a round failed".into(),
    }
}

/// The lowest and the highest p99 at one place, where all servers were under the same load.
fn tails(findings: &Findings<'_>, table: &Table, ranked: &[Placed<'_>]) -> Option<String> {
    let point = match table.points().as_slice() {
        [only] => *only,
        _ => return None,
    };
    let p99 = |row: &Row| row.estimate(Figure::ResponseP99);
    let rows = ranked.iter().map(|placed| placed.row).filter(|row| row.point == point);
    // The time of a server that fell behind its schedule is the length of its queue.
    let mut timed: Vec<&Row> =
        rows.filter(|row| p99(row).is_some() && !(row.is_offered() && row.is_behind())).collect();
    if timed.len() < 2 {
        return None;
    }
    let value = |row: &Row| p99(row).map_or(f64::MAX, |estimate| estimate.value);
    timed.sort_by(|one, other| value(one).total_cmp(&value(other)));
    let p99_of = |row: &Row| {
        let time = Written::estimate(Figure::ResponseP99.unit(), &p99(row)?).bounded();
        Some(format!("{time} ({})", name_only(findings, row)))
    };
    let (lowest, highest) = (p99_of(timed.first()?)?, p99_of(timed.last()?)?);
    Some(format!("The lowest p99 is {lowest}, the highest {highest}."))
}

/// Why measured servers are not ranked that neither answered wrongly nor failed too often.
fn reasons(findings: &Findings<'_>, left_out: &[&Row]) -> Vec<String> {
    let rest = left_out.iter().copied().filter(|row| row.conduct.is_tolerated());
    let (unmet, invalid): (Vec<&Row>, Vec<&Row>) = rest.partition(|row| row.unmet.is_some());
    let mut texts = Vec::new();
    for (rows, why, heading) in [
        (unmet, "what the experiment requires is not met", trouble::UNRANKED),
        (invalid, "the figures are invalid", trouble::DOUBTS),
    ] {
        if !rows.is_empty() {
            let names = few(findings, &rows);
            texts.push(format!("Not ranked, because {why}: {names}; see \"{heading}\"."));
        }
    }
    texts
}

/// Up to four by name; if there are more, their number.
fn few(findings: &Findings<'_>, rows: &[&Row]) -> String {
    match rows.len() {
        0..=4 => listed_in_short(
            &rows.iter().map(|row| name_only(findings, row).to_string()).collect::<Vec<_>>(),
        ),
        count => format!("{count} servers"),
    }
}

fn name_only<'t>(findings: &'t Findings<'_>, row: &'t Row) -> &'t str {
    findings.title(&row.subject)
}

/// With its mark of doubt, unless all are in doubt anyway.
fn name(findings: &Findings<'_>, row: &Row) -> String {
    marked_name(findings, &row.subject, row.is_doubtful())
}

/// A server's name with its mark of doubt.
pub(crate) fn marked_name(findings: &Findings<'_>, subject: &str, is_doubtful: bool) -> String {
    let is_special = is_doubtful && !is_all_doubtful(findings);
    format!("{}{}", findings.title(subject), if is_special { " (in doubt)" } else { "" })
}

/// `B with 59,659/s [58,000–61,000]`.
fn named_rate(findings: &Findings<'_>, row: &Row) -> String {
    format!("{} with {}", name(findings, row), rate(row))
}

fn is_all_doubtful(findings: &Findings<'_>) -> bool {
    let mut rows = findings.board.tables.iter().flat_map(Table::competitors);
    rows.all(Row::is_doubtful)
}

/// `11,099/s [11,020–11,180]`.
fn rate(row: &Row) -> String {
    let Some(estimate) = row.estimate(Figure::Throughput) else { return "nothing".into() };
    let rate = Written::estimate(Figure::Throughput.unit(), &estimate);
    format!("{}/s{}", rate.value, rate.between())
}

fn worth(findings: &Findings<'_>) -> String {
    let rows: Vec<&Row> = findings.board.tables.iter().flat_map(Table::competitors).collect();
    let most = rows.iter().map(|row| row.measured()).max();
    let mut says = match most.unwrap_or_default() {
        0 => "",
        1 => "There was one round, so the spread between rounds is not known: small differences mean nothing.",
        _ => "The intervals show how much the rounds differ; another day or machine may differ more.",
    }
    .to_string();
    if rows.iter().any(|row| row.measured() < row.planned) {
        says.push_str(" Trials that failed or have not been run are in no average.");
    }
    if !rows.is_empty() && is_all_doubtful(findings) {
        let is_listed = !trouble::doubts(findings).is_empty();
        let heading = if is_listed { trouble::DOUBTS } else { trouble::WRONG };
        says.push_str(&format!(" All figures are in doubt: see \"{heading}\"."));
    } else if rows.iter().any(|row| row.is_doubtful()) {
        says.push_str(" Some figures are in doubt; they are marked.");
    }
    says.trim_start().to_string()
}

#[cfg(test)]
mod tests {
    use super::why_behind;

    #[test]
    fn no_server_fell_behind_with_all_requests_on_time() {
        assert_eq!(why_behind(71.0, None), "71% of the requests on time");
        assert_eq!(why_behind(98.996, None), "98.99% of the requests on time");
        let grew = "response times grew for as long as the load lasted";
        assert_eq!([99.0, 100.0].map(|share| why_behind(share, None)), [grew, grew]);
    }
}
