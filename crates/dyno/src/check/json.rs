//! Checks as JSON, `dyno.check/2`: every finding with its bytes.

use check::{Area, Finding, Stamp, VerdictCounts};
use report::json::{AreaJson, CatalogueJson, FindingJson, ProtocolJson, written};
use schemars::JsonSchema;
use serde::Serialize;

use super::{CheckResult, Checked};

const SCHEMA: &str = "dyno.check/2";

/// The whole document, with a line end.
pub(crate) fn of(checked: &[Checked], stamp: &Stamp) -> serde_json::Result<String> {
    written(&Document {
        schema: SCHEMA,
        dyno_version: env!("CARGO_PKG_VERSION"),
        sentence: checked.iter().map(sentence).collect::<Vec<_>>().join(" "),
        catalogue: stamp.into(),
        servers: checked.iter().map(server).collect(),
    })
}

/// How much of the RFCs each server keeps.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "check")]
pub(crate) struct Document<'c> {
    /// which document this is
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// the dyno that wrote it
    dyno_version: &'static str,
    /// how each server did, in plain words
    sentence: String,
    /// which cases there are
    catalogue: CatalogueJson,
    /// each server that was to be checked
    servers: Vec<ServerJson<'c>>,
}

/// A server that was to be checked.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "server")]
struct ServerJson<'c> {
    /// its name
    name: &'c str,
    /// its title
    title: &'c str,
    /// its version
    version: &'c str,
    /// why it could not be checked; null if it was
    error: Option<&'c str>,
    /// what was found; null if it could not be checked
    check: Option<CheckJson<'c>>,
}

/// What was found of one server.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "checked_server")]
struct CheckJson<'c> {
    /// its address
    address: String,
    /// the path that is requested
    page: &'c str,
    /// the paths that take a body
    posts: &'c [String],
    /// the path of its WebSocket; null if it has none
    socket: Option<&'c str>,
    /// whether it was sent what could harm a server that others use
    sent_what_could_harm: bool,
    /// how often each case was played
    rounds: usize,
    /// how long it took
    took_s: f64,
    /// why the check ended early; null if it did not
    cut_short: Option<&'c str>,
    /// the cases of each protocol
    protocols: Vec<ProtocolJson>,
    /// the cases of each area
    areas: Vec<AreaJson>,
    /// every case
    findings: Vec<FindingJson<'c>>,
}

/// `A server: HTTP/1.1 pass 150 of 158 …`, or why it could not be checked.
fn sentence(checked: &Checked) -> String {
    let says = match &checked.result {
        Err(why) => format!("not checked: {why}"),
        Ok(result) => {
            let of_each = result.tallies().into_iter();
            let says = of_each.map(|(protocol, of)| format!("{} {of}", protocol.title()));
            says.collect::<Vec<_>>().join("; ")
        }
    };
    format!("{}: {says}.", checked.title)
}

fn server(checked: &Checked) -> ServerJson<'_> {
    ServerJson {
        name: &checked.name,
        title: &checked.title,
        version: &checked.version,
        error: checked.result.as_ref().err().map(String::as_str),
        check: checked.result.as_ref().ok().map(check),
    }
}

fn check(result: &CheckResult) -> CheckJson<'_> {
    let report = &result.report;
    CheckJson {
        address: result.target.address.to_string(),
        page: &result.target.get,
        posts: &result.target.posts,
        socket: result.target.socket.as_deref(),
        sent_what_could_harm: result.was_rude,
        rounds: report.rounds,
        took_s: report.took_ms as f64 / 1e3,
        cut_short: Some(report.cut_short.as_str()).filter(|says| !says.is_empty()),
        protocols: result
            .tallies()
            .iter()
            .map(|(of, tally)| ProtocolJson::new(*of, tally))
            .collect(),
        areas: areas(result),
        findings: report.findings.iter().map(FindingJson::from).collect(),
    }
}

fn areas(result: &CheckResult) -> Vec<AreaJson> {
    let of = |area: &Area| {
        let own = result.report.findings.iter().filter(|finding| finding.area == *area);
        let own: Vec<&Finding> = own.collect();
        (!own.is_empty()).then(|| AreaJson::new(*area, &VerdictCounts::of(own)))
    };
    Area::ALL.iter().filter_map(of).collect()
}
