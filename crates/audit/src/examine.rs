//! Applies every rule to every row, and remembers which could not be applied and why.

use std::collections::BTreeMap;

use analysis::{Gravity, Verdict, Worth, rule};
use load::is_supported;

use crate::finding::{Finding, Rule, Why};
use crate::formats::Format;
use crate::group;
use crate::row::{Limit, Row, Time};
use crate::source::Source;

/// More than this share of failed requests is what dyno's own promise does not allow either.
const FAILED: f64 = 0.01;
/// Below this share of the rate that was to be offered, the load was another one.
const REACHED: f64 = 0.98;

/// All files, examined.
#[derive(Clone, Debug, PartialEq)]
pub struct Audit {
    pub sources: Vec<AuditedSource>,
}

/// A file, examined.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditedSource {
    pub name: String,
    pub format: Format,
    /// What is the same in all its rows.
    pub findings: Vec<Finding>,
    pub rows: Vec<AuditedRow>,
    pub untested: Vec<Untested>,
}

/// A row, examined.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditedRow {
    pub row: Row,
    pub findings: Vec<Finding>,
}

/// A rule that could not be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untested {
    pub rule: Rule,
    pub why: Why,
    /// Of how many rows.
    pub rows: usize,
}

/// Examines files together: rows of one place are compared wherever they stand.
#[must_use]
pub fn audit(sources: Vec<Source>) -> Audit {
    let mut untested: Vec<BTreeMap<(Rule, Why), usize>> = Vec::new();
    let mut audited: Vec<AuditedSource> = Vec::new();
    for source in sources {
        let mut missing = BTreeMap::new();
        let findings = of_source(&source);
        let rows = source.rows.into_iter().map(|row| {
            let findings = of_row(&row, source.has_no_units, &mut |rule, why| {
                *missing.entry((rule, why)).or_insert(0) += 1;
            });
            AuditedRow { row, findings }
        });
        let rows = rows.collect();
        audited.push(AuditedSource {
            name: source.name,
            format: source.format,
            findings,
            rows,
            untested: Vec::new(),
        });
        untested.push(missing);
    }
    group::compare(&mut audited, &mut |source, rule, why| {
        *untested[source].entry((rule, why)).or_insert(0) += 1;
    });
    for (source, missing) in audited.iter_mut().zip(untested) {
        let entry = |((rule, why), rows)| Untested { rule, why, rows };
        source.untested = missing.into_iter().map(entry).collect();
    }
    Audit { sources: audited }
}

fn of_source(source: &Source) -> Vec<Finding> {
    let marks =
        (!source.marks.is_empty()).then(|| Finding::NoNumber { marks: source.marks.clone() });
    let unit = source.has_no_units.then(|| Finding::NoUnit { figures: Vec::new() });
    marks.into_iter().chain(unit).collect()
}

/// What speaks against one row; the rules that cannot be applied are handed to `cannot`.
fn of_row(row: &Row, is_unit_of_file: bool, cannot: &mut dyn FnMut(Rule, Why)) -> Vec<Finding> {
    let marks = (!row.marks.is_empty()).then(|| Finding::NoNumber { marks: row.marks.clone() });
    let no_unit =
        (!row.has_unit && !is_unit_of_file).then(|| Finding::NoUnit { figures: Vec::new() });
    let unitless =
        (!row.unitless.is_empty()).then(|| Finding::NoUnit { figures: row.unitless.clone() });
    let own = row.own.clone().map(Finding::OwnVerdict);
    let tested = [
        (Rule::NotAscending, not_ascending(row)),
        (Rule::MeanImpossible, mean_impossible(row)),
        (Rule::RateImpossible, rate_impossible(row)),
        (Rule::SdImpossible, sd_impossible(row)),
        (Rule::Little, little(row)),
        (Rule::RateMissed, rate_missed(row)),
        (Rule::MeanAboveP99, mean_above_p99(row)),
        (Rule::Failures, failures(row)),
        (Rule::FewSamples, few_samples(row)),
    ];
    let mut findings: Vec<Finding> = [own, marks, no_unit].into_iter().flatten().collect();
    for (rule, found) in tested {
        match found {
            Ok(finding) => findings.extend(finding),
            // A row that has a mark for its rate is no measurement: that the rest is missing, too, is no news.
            Err(why) if row.is_measured() => cannot(rule, why),
            Err(_) => {}
        }
    }
    findings.extend(unitless);
    findings
}

fn mean_above_p99(row: &Row) -> Result<Option<Finding>, Why> {
    let (mean, p99) = (row.mean.ok_or(Why::NoMean)?, row.at(0.99).ok_or(Why::NoP99)?);
    // A p99 of few samples is what `few_samples` is about.
    if row.samples.is_some_and(|samples| !is_supported(samples as u64, 0.99)) {
        return Ok(None);
    }
    let is_found = match row.at(0.5) {
        None if mean.value == p99.value => !mean.is_coarse(),
        None => rule::mean_reaches_p99(mean.least(), p99.most(), None),
        Some(p50) => rule::mean_reaches_p99(mean.least(), p99.most(), Some(p50.most())),
    };
    let has_unit = row.has_unit;
    Ok(is_found.then_some(Finding::MeanAboveP99 { mean: mean.value, p99: p99.value, has_unit }))
}

/// The least mean that the percentiles allow, and the most.
fn bounds(row: &Row) -> (f64, Option<f64>) {
    let bounds = |edge: fn(Time) -> f64| {
        let pairs: Vec<(f64, f64)> =
            row.percentiles.iter().map(|&(share, time)| (share, edge(time))).collect();
        rule::mean_bounds(&pairs)
    };
    (bounds(Time::least).0, bounds(Time::most).1)
}

fn little(row: &Row) -> Result<Option<Finding>, Why> {
    let rate_per_s = row.rate_per_s.ok_or(Why::NoRate)?;
    let under_way = match row.limit {
        Limit::UnderWay(under_way) => under_way,
        Limit::Unknown(why) => return Err(Why::NoLimit(why)),
    };
    let mean = row.mean.ok_or(Why::NoMean)?;
    if !row.has_unit {
        return Err(Why::NoUnit);
    }
    let is_found = rule::is_above_littles_law(mean.least() / 1e9, under_way, rate_per_s);
    Ok(is_found.then_some(Finding::Little { mean_ns: mean.value, rate_per_s, under_way }))
}

fn mean_impossible(row: &Row) -> Result<Option<Finding>, Why> {
    let mean = row.mean.ok_or(Why::NoMean)?;
    if row.percentiles.is_empty() {
        return Err(Why::NoPercentiles);
    }
    // What is not ascending bounds nothing.
    if matches!(not_ascending(row), Ok(Some(_))) {
        return Ok(None);
    }
    let (least, most) = bounds(row);
    let is_below = mean.most() * rule::ROUNDING < least;
    let is_above = most.is_some_and(|most| most * rule::ROUNDING < mean.least());
    let has_unit = row.has_unit;
    let found = Finding::MeanImpossible { mean: mean.value, least, most, has_unit };
    Ok((is_below || is_above).then_some(found))
}

fn not_ascending(row: &Row) -> Result<Option<Finding>, Why> {
    if row.percentiles.len() < 2 {
        return Err(Why::NoPercentiles);
    }
    let pairs = row.percentiles.windows(2).find(|pair| pair[1].1.most() < pair[0].1.least());
    Ok(pairs.map(|pair| Finding::NotAscending {
        lower: (pair[0].0, pair[0].1.value),
        higher: (pair[1].0, pair[1].1.value),
        has_unit: row.has_unit,
    }))
}

fn rate_impossible(row: &Row) -> Result<Option<Finding>, Why> {
    let rate_per_s = row.rate_per_s.ok_or(Why::NoRate)?;
    let (requests, seconds) = row.counted.ok_or(Why::NoDuration)?;
    let is_found =
        rule::is_unlike_its_count(rate_per_s, requests, [seconds.least(), seconds.most()]);
    let seconds = seconds.value;
    Ok(is_found.then_some(Finding::RateImpossible { requests, seconds, rate_per_s }))
}

fn sd_impossible(row: &Row) -> Result<Option<Finding>, Why> {
    let sd = row.sd.ok_or(Why::NoSd)?;
    let longest = row.at(1.0).ok_or(Why::NoPercentiles)?;
    let samples = row.samples.ok_or(Why::NoSamples)?;
    // Where the shortest time is not given, it is above zero.
    let shortest = row.at(0.0).unwrap_or(Time::exact(0.0));
    let range = longest.most() - shortest.least();
    let (sd, is_found) = (sd.value, rule::is_above_half_the_range(sd.least(), range, samples));
    let (shortest, longest, has_unit) = (shortest.value, longest.value, row.has_unit);
    Ok(is_found.then_some(Finding::SdImpossible { sd, shortest, longest, has_unit }))
}

fn rate_missed(row: &Row) -> Result<Option<Finding>, Why> {
    // Most loads were to have no rate, which is no news.
    let Some(asked_per_s) = row.asked_per_s else { return Ok(None) };
    let rate_per_s = row.rate_per_s.ok_or(Why::NoRate)?;
    let is_found = rate_per_s < REACHED * asked_per_s;
    Ok(is_found.then_some(Finding::RateMissed { asked_per_s, rate_per_s }))
}

/// The lowest percentile beyond which too few samples lie.
fn few_samples(row: &Row) -> Result<Option<Finding>, Why> {
    let inner = || row.percentiles.iter().filter(|(share, _)| 0.0 < *share && *share < 1.0);
    inner().next().ok_or(Why::NoPercentiles)?;
    let samples = row.samples.ok_or(Why::NoSamples)?;
    let mut lacking = inner().filter(|(share, _)| !is_supported(samples as u64, *share));
    Ok(lacking.next().map(|&(share, _)| Finding::FewSamples { samples, share }))
}

fn failures(row: &Row) -> Result<Option<Finding>, Why> {
    let failed = row.failed.ok_or(Why::NoFailures)?;
    let requests = row.requests.ok_or(Why::NoSamples)?;
    let at_most = failed + row.unclear;
    let is_found = 0.0 < requests && FAILED * requests < at_most;
    Ok(is_found.then_some(Finding::Failures { failed, at_most, requests }))
}

impl AuditedRow {
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        Verdict::by(self.findings.iter().map(Finding::gravity))
    }
}

impl Audit {
    pub fn rows(&self) -> impl Iterator<Item = &AuditedRow> {
        self.sources.iter().flat_map(|source| &source.rows)
    }

    /// How many rows are worth what.
    #[must_use]
    pub fn worth(&self) -> Worth {
        let rows = |verdict| self.rows().filter(|row| row.verdict() == verdict).count();
        Worth {
            valid: rows(Verdict::Valid),
            suspect: rows(Verdict::Suspect),
            invalid: rows(Verdict::Invalid),
            untried: 0,
        }
    }

    /// The verdict by the gravest finding; none without rows.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let of_files = self.sources.iter().flat_map(|source| &source.findings);
        let of_rows = self.rows().flat_map(|row| &row.findings);
        let gravities: Vec<Gravity> = of_files.chain(of_rows).map(Finding::gravity).collect();
        self.rows().next().map(|_| Verdict::by(gravities.into_iter()))
    }
}
