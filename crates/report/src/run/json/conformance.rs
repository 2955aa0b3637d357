//! How much of the RFCs the subjects keep, as JSON.

use analysis::Conformity;
use lab::conformance::{Finding, Tally, Verdict};
use serde::Serialize;

use super::super::{Findings, conformance};

#[derive(Serialize)]
pub(super) struct ConformanceJson<'t> {
    subject: &'t str,
    is_reference: bool,
    /// Why nothing was found.
    not_checked: Option<&'t str>,
    /// Why it is not ranked.
    not_ranked: Option<&'t str>,
    from_run: Option<u64>,
    catalogue: Option<CatalogueJson<'t>>,
    rounds: Option<usize>,
    cut_short: Option<&'t str>,
    all: Option<TallyJson<'t>>,
    protocols: Vec<NamedJson<'t>>,
    areas: Vec<NamedJson<'t>>,
    findings: Vec<FindingJson<'t>>,
}

#[derive(Serialize)]
struct CatalogueJson<'t> {
    version: &'t str,
    hash: &'t str,
}

#[derive(Serialize)]
struct NamedJson<'t> {
    name: &'static str,
    #[serde(flatten)]
    tally: TallyJson<'t>,
}

#[derive(Serialize)]
struct TallyJson<'t> {
    pass: usize,
    warn: usize,
    fail: usize,
    crash: usize,
    not_testable: usize,
    not_applicable: usize,
    applicable: usize,
    must_broken: usize,
    should_broken: usize,
    security: &'t [String],
    unstable: usize,
    percent: Option<f64>,
    coverage_percent: f64,
}

#[derive(Serialize)]
struct FindingJson<'t> {
    id: &'t str,
    title: &'t str,
    area: &'static str,
    clause: &'t str,
    level: &'static str,
    weight: u8,
    tags: Vec<&'static str>,
    verdict: &'static str,
    rounds: Vec<&'static str>,
    why: &'t str,
    demand: &'t str,
    doubt: &'t str,
    expected: &'t str,
    sent: Option<String>,
    received: Option<String>,
}

pub(super) fn all<'t>(findings: &'t Findings<'_>) -> Vec<ConformanceJson<'t>> {
    findings.board.conformities.iter().map(|found| of(findings, found)).collect()
}

fn of<'t>(findings: &'t Findings<'_>, found: &'t Conformity) -> ConformanceJson<'t> {
    let score = found.score.as_ref().ok();
    let cut_short = score.map(|score| score.cut_short.as_str());
    ConformanceJson {
        subject: &found.subject,
        is_reference: found.is_reference,
        not_checked: found.score.as_ref().err().map(String::as_str),
        not_ranked: found.unmet.as_deref(),
        from_run: found.from_run,
        catalogue: score.map(|score| CatalogueJson {
            version: &score.catalogue.version,
            hash: &score.catalogue.hash,
        }),
        rounds: score.map(|score| score.rounds),
        cut_short: cut_short.filter(|says| !says.is_empty()),
        all: score.map(|score| tally(&score.all)),
        protocols: score.map_or(Vec::new(), |score| {
            let named = |(protocol, found): &'t (lab::conformance::Protocol, Tally)| NamedJson {
                name: protocol.title(),
                tally: tally(found),
            };
            score.protocols.iter().map(named).collect()
        }),
        areas: score.map_or(Vec::new(), |score| {
            let named = |(area, found): &'t (lab::conformance::Area, Tally)| NamedJson {
                name: area.name(),
                tally: tally(found),
            };
            score.areas.iter().map(named).collect()
        }),
        findings: conformance::cases(findings, &found.subject).iter().map(finding).collect(),
    }
}

fn tally(tally: &Tally) -> TallyJson<'_> {
    TallyJson {
        pass: tally.pass,
        warn: tally.warn,
        fail: tally.fail,
        crash: tally.crash,
        not_testable: tally.not_testable,
        not_applicable: tally.not_applicable,
        applicable: tally.applicable(),
        must_broken: tally.must_broken,
        should_broken: tally.should_broken,
        security: &tally.security,
        unstable: tally.unstable,
        percent: tally.percent(),
        coverage_percent: 100.0 * tally.coverage(),
    }
}

fn finding(finding: &Finding) -> FindingJson<'_> {
    let octets = |octets: &[u8]| finding.is_broken().then(|| octets.escape_ascii().to_string());
    FindingJson {
        id: &finding.id,
        title: &finding.title,
        area: finding.area.name(),
        clause: &finding.clause,
        level: finding.level.name(),
        weight: finding.weight,
        tags: finding.tags.iter().map(|tag| tag.name()).collect(),
        verdict: finding.verdict.name(),
        rounds: finding.rounds.iter().copied().map(Verdict::name).collect(),
        why: &finding.why,
        demand: &finding.demand,
        doubt: &finding.doubt,
        expected: &finding.expected,
        sent: octets(&finding.evidence.sent),
        received: octets(&finding.evidence.heard),
    }
}
