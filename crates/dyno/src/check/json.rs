//! Checks as JSON, `dyno.check/1`: every finding with its bytes. docs/check.schema.json is the schema, docs/check.md
//! explains the fields.

use check::{Area, Finding, Protocol, Stamp, Tally};
use serde::Serialize;

use super::excerpt::escaped;
use super::{Came, Checked};

/// The whole document, with a line end.
pub(crate) fn of(checked: &[Checked], stamp: &Stamp) -> serde_json::Result<String> {
    let document = Document {
        schema: "dyno.check/1",
        dyno_version: env!("CARGO_PKG_VERSION"),
        catalogue: CatalogueJson { version: &stamp.version, hash: &stamp.hash },
        servers: checked.iter().map(server).collect(),
    };
    serde_json::to_string_pretty(&document).map(|text| text + "\n")
}

#[derive(Serialize)]
struct Document<'c> {
    schema: &'static str,
    dyno_version: &'static str,
    catalogue: CatalogueJson<'c>,
    servers: Vec<ServerJson<'c>>,
}

#[derive(Serialize)]
struct CatalogueJson<'c> {
    version: &'c str,
    hash: &'c str,
}

#[derive(Serialize)]
struct ServerJson<'c> {
    name: &'c str,
    title: &'c str,
    version: &'c str,
    /// Why the server could not be checked.
    error: Option<&'c str>,
    check: Option<CheckJson<'c>>,
}

#[derive(Serialize)]
struct CheckJson<'c> {
    address: String,
    page: &'c str,
    posts: &'c [String],
    socket: Option<&'c str>,
    sent_what_could_harm: bool,
    rounds: usize,
    took_s: f64,
    cut_short: &'c str,
    protocols: Vec<ScoreJson>,
    areas: Vec<AreaJson>,
    findings: Vec<FindingJson<'c>>,
}

#[derive(Serialize)]
struct ScoreJson {
    protocol: &'static str,
    says: String,
    #[serde(flatten)]
    tally: TallyJson,
    /// Null if too few cases were decided.
    percent: Option<f64>,
    coverage_percent: f64,
}

#[derive(Serialize)]
struct AreaJson {
    area: &'static str,
    protocol: &'static str,
    #[serde(flatten)]
    tally: TallyJson,
}

#[derive(Serialize)]
struct TallyJson {
    pass: usize,
    warn: usize,
    fail: usize,
    crash: usize,
    not_testable: usize,
    not_applicable: usize,
    applicable: usize,
    must_broken: usize,
    should_broken: usize,
    unstable: usize,
    security: Vec<String>,
}

#[derive(Serialize)]
struct FindingJson<'c> {
    id: &'c str,
    title: &'c str,
    protocol: &'static str,
    area: &'static str,
    clause: &'c str,
    level: &'static str,
    weight: u8,
    tags: Vec<&'static str>,
    verdict: &'static str,
    why: &'c str,
    expected: &'c str,
    demand: &'c str,
    doubt: &'c str,
    rounds: Vec<&'static str>,
    is_unstable: bool,
    sent: String,
    sent_bytes: u64,
    heard: String,
    heard_bytes: u64,
}

fn server(checked: &Checked) -> ServerJson<'_> {
    ServerJson {
        name: &checked.name,
        title: &checked.title,
        version: &checked.version,
        error: checked.came.as_ref().err().map(String::as_str),
        check: checked.came.as_ref().ok().map(check),
    }
}

fn check(came: &Came) -> CheckJson<'_> {
    let report = &came.report;
    CheckJson {
        address: came.target.address.to_string(),
        page: &came.target.get,
        posts: &came.target.posts,
        socket: came.target.socket.as_deref(),
        sent_what_could_harm: came.was_rude,
        rounds: report.rounds,
        took_s: report.took_ms as f64 / 1e3,
        cut_short: &report.cut_short,
        protocols: came.tallies().into_iter().map(|(protocol, of)| score(protocol, &of)).collect(),
        areas: areas(came),
        findings: report.findings.iter().map(finding).collect(),
    }
}

fn score(protocol: Protocol, of: &Tally) -> ScoreJson {
    ScoreJson {
        protocol: protocol.title(),
        says: of.to_string(),
        tally: tally(of),
        percent: of.percent(),
        coverage_percent: 100.0 * of.coverage(),
    }
}

fn areas(came: &Came) -> Vec<AreaJson> {
    let of = |area: &Area| {
        let own = came.report.findings.iter().filter(|finding| finding.area == *area);
        let own: Vec<&Finding> = own.collect();
        (!own.is_empty()).then(|| AreaJson {
            area: area.name(),
            protocol: area.protocol().title(),
            tally: tally(&Tally::of(own)),
        })
    };
    Area::ALL.iter().filter_map(of).collect()
}

fn tally(of: &Tally) -> TallyJson {
    TallyJson {
        pass: of.pass,
        warn: of.warn,
        fail: of.fail,
        crash: of.crash,
        not_testable: of.not_testable,
        not_applicable: of.not_applicable,
        applicable: of.applicable(),
        must_broken: of.must_broken,
        should_broken: of.should_broken,
        unstable: of.unstable,
        security: of.security.clone(),
    }
}

fn finding(finding: &Finding) -> FindingJson<'_> {
    let evidence = &finding.evidence;
    FindingJson {
        id: &finding.id,
        title: &finding.title,
        protocol: finding.area.protocol().title(),
        area: finding.area.name(),
        clause: &finding.clause,
        level: finding.level.name(),
        weight: finding.weight,
        tags: finding.tags.iter().map(|tag| tag.name()).collect(),
        verdict: finding.verdict.name(),
        why: &finding.why,
        expected: &finding.expected,
        demand: &finding.demand,
        doubt: &finding.doubt,
        rounds: finding.rounds.iter().map(|verdict| verdict.name()).collect(),
        is_unstable: finding.is_unstable(),
        sent: escaped(&evidence.sent),
        sent_bytes: evidence.sent_len,
        heard: escaped(&evidence.heard),
        heard_bytes: evidence.heard_len,
    }
}
