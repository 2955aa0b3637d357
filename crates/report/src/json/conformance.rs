//! What was found of the RFCs' cases, as JSON.

use lab::conformance::{Area, CaseVerdict, Finding, Protocol, Stamp, VerdictCounts};
use schemars::JsonSchema;
use serde::Serialize;

/// Which cases there are. Scores by different catalogues cannot be compared.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "catalogue")]
pub struct CatalogueJson {
    /// raised with every change of a case
    version: String,
    /// of all cases
    hash: String,
}

impl From<&Stamp> for CatalogueJson {
    fn from(stamp: &Stamp) -> CatalogueJson {
        CatalogueJson { version: stamp.version.clone(), hash: stamp.hash.clone() }
    }
}

/// Numbers of cases.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "tally")]
pub struct TallyJson {
    /// as the clause requires
    pass: usize,
    /// tolerable
    warn: usize,
    /// not as the clause requires
    fail: usize,
    /// the server was gone afterwards
    crash: usize,
    /// the case's well-formed twin was not accepted
    not_testable: usize,
    /// the case does not apply to this server
    not_applicable: usize,
    /// all but those that do not apply
    applicable: usize,
    /// failures of clauses that oblige
    must_broken: usize,
    /// failures of clauses that advise
    should_broken: usize,
    /// short ids of failures that an attacker could use
    security: Vec<String>,
    /// cases that differed from round to round
    unstable: usize,
    /// weighted, with half the points for a warning, and no more than 50 after a crash; null if less than 80 % of the
    /// cases were decided
    percent: Option<f64>,
    /// the share of the applicable cases that were decided
    coverage_percent: f64,
}

impl From<&VerdictCounts> for TallyJson {
    fn from(tally: &VerdictCounts) -> TallyJson {
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
            security: tally.security.clone(),
            unstable: tally.unstable,
            percent: tally.percent(),
            coverage_percent: 100.0 * tally.coverage(),
        }
    }
}

/// The cases of a protocol.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "protocol")]
pub struct ProtocolJson {
    /// HTTP/1.1 or WebSocket
    protocol: &'static str,
    /// the counts in words
    says: String,
    /// counts of cases
    tally: TallyJson,
}

impl ProtocolJson {
    pub fn new(protocol: Protocol, tally: &VerdictCounts) -> ProtocolJson {
        ProtocolJson { protocol: protocol.title(), says: tally.to_string(), tally: tally.into() }
    }
}

/// The cases of an area.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "area")]
pub struct AreaJson {
    /// its name
    area: &'static str,
    /// its protocol
    protocol: &'static str,
    /// counts of cases
    tally: TallyJson,
}

impl AreaJson {
    pub fn new(area: Area, tally: &VerdictCounts) -> AreaJson {
        let protocol = area.protocol().title();
        AreaJson { area: area.name(), protocol, tally: tally.into() }
    }
}

/// One case: what the server did.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "finding")]
pub struct FindingJson<'t> {
    /// the case's id, which never changes
    id: &'t str,
    /// the case in words
    title: &'t str,
    /// HTTP/1.1 or WebSocket
    protocol: &'static str,
    /// the area of the protocol
    area: &'static str,
    /// the clause of the RFC
    clause: &'t str,
    /// MUST, SHOULD or OUGHT
    level: &'static str,
    /// how much it counts
    weight: u8,
    /// what a breach can be used for
    tags: Vec<&'static str>,
    /// the worst of the rounds: pass, warn, fail, crash, n/t, n/a
    verdict: &'static str,
    /// the verdict of each round
    rounds: Vec<&'static str>,
    /// whether the rounds differ
    is_unstable: bool,
    /// what the server did
    why: &'t str,
    /// what the clause demands
    demand: &'t str,
    /// why it is only a warning
    doubt: &'t str,
    /// which answers pass
    expected: &'t str,
    /// the beginning of what was sent; `\r`, `\n`, `\t`, `\\` and `\xNN` stand for octets that are not printable
    /// ASCII; null if it was not kept
    sent: Option<String>,
    /// octets sent; null if nothing was kept
    sent_bytes: Option<u64>,
    /// the beginning of what was received, written likewise
    received: Option<String>,
    /// octets received; null if nothing was kept
    received_bytes: Option<u64>,
}

impl<'t> From<&'t Finding> for FindingJson<'t> {
    fn from(finding: &'t Finding) -> FindingJson<'t> {
        let evidence = &finding.evidence;
        let is_kept = 0 < evidence.sent_len + evidence.heard_len;
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
            rounds: finding.rounds.iter().copied().map(CaseVerdict::name).collect(),
            is_unstable: finding.is_unstable(),
            why: &finding.why,
            demand: &finding.demand,
            doubt: &finding.doubt,
            expected: &finding.expected,
            sent: is_kept.then(|| escaped(&evidence.sent)),
            sent_bytes: is_kept.then_some(evidence.sent_len),
            received: is_kept.then(|| escaped(&evidence.heard)),
            received_bytes: is_kept.then_some(evidence.heard_len),
        }
    }
}

/// Octets as printable ASCII; a backslash is doubled, so that the text can be decoded.
pub fn escaped(octets: &[u8]) -> String {
    let mut text = String::with_capacity(octets.len());
    for octet in octets {
        match octet {
            b'\r' => text.push_str("\\r"),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'\\' => text.push_str("\\\\"),
            0x20..=0x7e => text.push(char::from(*octet)),
            other => text.push_str(&format!("\\x{other:02x}")),
        }
    }
    text
}
