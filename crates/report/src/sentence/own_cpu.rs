//! The sentence of a table that is ordered by CPU time: which server needs the least of its own for an answer.

use analysis::{Placed, Row, Table};
use lab::figure::Figure;
use units::{digits, listed_in_short};

use super::name;
use crate::Findings;
use crate::number_format::{Written, as_written};

const BOTH: &str = "; server and database share one CPU, and their throughput is not ranked";

/// None if there is no server.
pub(super) fn least(
    findings: &Findings<'_>,
    table: &Table,
    ranked: &[Placed<'_>],
) -> Option<String> {
    let both = if table.shares_cpu { BOTH } else { "" };
    let is_known = |placed: &&Placed<'_>| placed.row.estimate(Figure::CpuPerThousand).is_some();
    let (known, unknown): (Vec<&Placed<'_>>, Vec<&Placed<'_>>) = ranked.iter().partition(is_known);
    let unknown: Vec<String> =
        unknown.iter().map(|placed| name(findings, placed.row).to_string()).collect();
    let with_cpu = |placed: &Placed<'_>| with_cpu(findings, placed.row);
    let (Some(first), Some(last)) = (known.first(), known.last()) else {
        let names = (!unknown.is_empty()).then(|| listed_in_short(&unknown));
        return names.map(|names| format!("The CPU time of {names} is not known{both}."));
    };
    let of_all = match known.len() {
        1 => with_cpu(first),
        _ => format!("{} to {}", with_cpu(first), with_cpu(last)),
    };
    let (least, rest) = match first.rank {
        _ if ranked.len() == 1 => {
            return Some(format!("{}: CPU time for 1,000 answers{both}.", with_cpu(first)));
        }
        None => {
            let of_others = match unknown.is_empty() {
                true => String::new(),
                false => format!("; that of {} is not known", listed_in_short(&unknown)),
            };
            return Some(format!(
                "CPU time of the server for 1,000 answers: {of_all}{of_others}{both}."
            ));
        }
        Some((_, until)) => ranked.split_at(until),
    };
    let Some(next) = rest.first() else {
        return Some(format!(
            "This data cannot tell which server needs the least CPU time of its own for 1,000 answers: {of_all}{both}."
        ));
    };
    let names: Vec<String> = least.iter().map(with_cpu).collect();
    let needs = if least.len() == 1 { "needs" } else { "need" };
    let times = digits(value(next.row) / value(first.row));
    // Of several that share the last rank none is known to need the most.
    let is_alone = last.rank.is_some_and(|(from, until)| from == until);
    let most = match rest.len() {
        1 => String::new(),
        _ if is_alone => format!("; {} needs the most", with_cpu(last)),
        _ => String::new(),
    };
    Some(format!(
        "{} {needs} the least CPU time of its own for 1,000 answers; {} needs {times} times as much{most}{both}.",
        listed_in_short(&names),
        with_cpu(next)
    ))
}

/// As it is written beside the ratio.
fn value(row: &Row) -> f64 {
    row.estimate(Figure::CpuPerThousand).map_or(f64::NAN, |estimate| as_written(&estimate))
}

fn with_cpu(findings: &Findings<'_>, row: &Row) -> String {
    let shown = row.estimate(Figure::CpuPerThousand).map_or(String::new(), |estimate| {
        let cpu = Written::estimate(Figure::CpuPerThousand.unit(), &estimate);
        format!(" ({}{})", cpu.value, cpu.between())
    });
    format!("{}{shown}", name(findings, row))
}
