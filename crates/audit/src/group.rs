//! Compares the rows of one place with each other: different servers on one figure have something else in common.

use std::collections::BTreeMap;

use analysis::rule::{ALIKE_AT_LEAST, SAME_MEDIAN, SAME_RATE, alike};

use crate::examine::AuditedSource;
use crate::finding::{Finding, Rule, Why};
use crate::formats::Format;
use crate::row::{Limit, NoLimit, Row};

/// Rows that can be compared, by the numbers of their source and row.
type Places = BTreeMap<(Format, String), Vec<(usize, usize)>>;

/// Adds what rows have in common; a rule that could not be applied to a source's rows is handed to `cannot`.
pub(crate) fn compare(sources: &mut [AuditedSource], cannot: &mut dyn FnMut(usize, Rule, Why)) {
    let mut places = Places::new();
    for (number, source) in sources.iter().enumerate() {
        for (place, audited) in source.rows.iter().enumerate() {
            let key = (source.format, audited.row.place.clone());
            places.entry(key).or_default().push((number, place));
        }
    }
    for rows in places.into_values() {
        for compared in [Compared::Rate, Compared::Median] {
            let mut values: Vec<(f64, (usize, usize))> = Vec::new();
            for &(source, place) in &rows {
                match compared.of(&sources[source].rows[place].row) {
                    Ok(value) => values.push((value, (source, place))),
                    Err(why) if sources[source].rows[place].row.is_measured() => {
                        cannot(source, compared.rule(), why);
                    }
                    Err(_) => {}
                }
            }
            if values.len() < ALIKE_AT_LEAST {
                let alone = values.iter().map(|(_, (source, _))| *source);
                alone.for_each(|source| cannot(source, compared.rule(), Why::FewRows));
                continue;
            }
            values.sort_by(|one, other| one.0.total_cmp(&other.0));
            mark(sources, compared, &values);
        }
    }
}

/// The figure that rows have in common.
#[derive(Clone, Copy)]
enum Compared {
    Rate,
    Median,
}

impl Compared {
    fn rule(self) -> Rule {
        match self {
            Compared::Rate => Rule::SameRate,
            Compared::Median => Rule::SameMedian,
        }
    }

    fn of(self, row: &Row) -> Result<f64, Why> {
        if !row.names_server {
            return Err(Why::NoServer);
        }
        match self {
            Compared::Rate => rate(row),
            Compared::Median => median(row),
        }
    }
}

fn mark(sources: &mut [AuditedSource], compared: Compared, values: &[(f64, (usize, usize))]) {
    let within = match compared {
        Compared::Rate => SAME_RATE,
        Compared::Median => SAME_MEDIAN,
    };
    let Some(group) = alike(values, within) else { return };
    let (rows, of, low) = (group.len(), values.len(), group[0].0);
    let high = group[rows - 1].0;
    for (_, (source, place)) in group {
        let audited = &mut sources[*source].rows[*place];
        let has_unit = audited.row.has_unit;
        audited.findings.push(match compared {
            Compared::Rate => Finding::SameRate { rows, of, low, high },
            Compared::Median => Finding::SameMedian { rows, of, median: low, has_unit },
        });
    }
}

/// A rate that a schedule gave is no coincidence. Where it is not known what limited it, the rule is not applied.
fn rate(row: &Row) -> Result<f64, Why> {
    let rate = row.rate_per_s.ok_or(Why::NoRate)?;
    match row.limit {
        Limit::Unknown(why @ (NoLimit::Schedule | NoLimit::Executor | NoLimit::Connections)) => {
            Err(Why::NoLimit(why))
        }
        Limit::UnderWay(_)
        | Limit::Unknown(
            NoLimit::Averages | NoLimit::Streams | NoLimit::Pipelined | NoLimit::Profile,
        ) => Ok(rate),
    }
}

fn median(row: &Row) -> Result<f64, Why> {
    let median = row.at(0.5).ok_or(Why::NoMedian)?;
    if median.is_coarse() { Err(Why::FewDigits) } else { Ok(median.value) }
}
