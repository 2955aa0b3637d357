//! What was found of the RFCs' cases, as JSON.

use lab::conformance::{Area, CaseVerdict, Finding, Protocol, VerdictCounts};

use super::json_type;

json_type! {
    /// Numbers of cases.
    pub struct TallyJson as "tally" of tally: VerdictCounts {
        #[serde(flatten)]
        counts: VerdictCounts = tally.clone(),
        /// all but those that do not apply
        applicable: usize = tally.applicable(),
        /// weighted, with half the points for a warning, and no more than 50 after a crash; null if less than 80 % of
        /// the cases were decided
        percent: Option<f64> = tally.percent(),
        /// the share of the applicable cases that were decided
        coverage_percent: f64 = 100.0 * tally.coverage(),
    }
}

json_type! {
    /// The cases of a protocol.
    pub struct ProtocolJson as "protocol" of tally: VerdictCounts, with protocol: Protocol {
        /// HTTP/1.1 or WebSocket
        protocol: &'static str = protocol.name(),
        /// the counts in words
        says: String = tally.to_string(),
        /// counts of cases
        tally: TallyJson = tally.into(),
    }
}

json_type! {
    /// The cases of an area.
    pub struct AreaJson as "area" of tally: VerdictCounts, with area: Area {
        /// its name
        area: &'static str = area.name(),
        /// its protocol
        protocol: &'static str = area.protocol().name(),
        /// counts of cases
        tally: TallyJson = tally.into(),
    }
}

json_type! {
    /// One case: what the server did.
    pub struct FindingJson<'t> as "finding" of finding: Finding;
        let evidence = &finding.evidence;
        let is_kept = 0 < evidence.sent_len + evidence.received_len;
    {
        /// the case's id, which never changes
        id: &'t str = &finding.id,
        /// the case in words
        title: &'t str = &finding.title,
        /// HTTP/1.1 or WebSocket
        protocol: &'static str = finding.area.protocol().name(),
        /// the area of the protocol
        area: &'static str = finding.area.name(),
        /// the clause of the RFC
        clause: &'t str = &finding.clause,
        /// where to read the clause
        clause_link: String = finding.clause_link(),
        /// MUST, SHOULD or OUGHT
        level: &'static str = finding.level.name(),
        /// how much it counts
        weight: u8,
        /// what a breach can be used for
        tags: Vec<&'static str> = finding.tags.iter().map(|tag| tag.name()).collect(),
        /// the worst of the rounds: pass, warn, fail, crash, n/t, n/a
        verdict: &'static str = finding.verdict.name(),
        /// the verdict of each round
        rounds: Vec<&'static str> = finding.rounds.iter().copied().map(CaseVerdict::name).collect(),
        /// whether the rounds differ
        is_unstable: bool = finding.is_unstable(),
        /// what the server did
        why: &'t str = &finding.why,
        /// what the clause demands
        demand: &'t str = &finding.demand,
        /// why it is only a warning
        doubt: &'t str = &finding.doubt,
        /// which answers pass
        expected: &'t str = &finding.expected,
        /// the beginning of what was sent; `\r`, `\n`, `\t`, `\\` and `\xNN` stand for octets that are not printable
        /// ASCII; null if it was not kept
        sent: Option<String> = is_kept.then(|| escaped(&evidence.sent)),
        /// octets sent; null if nothing was kept
        sent_bytes: Option<u64> = is_kept.then_some(evidence.sent_len),
        /// the beginning of what was received, written like `sent`
        received: Option<String> = is_kept.then(|| escaped(&evidence.received)),
        /// octets received; null if nothing was kept
        received_bytes: Option<u64> = is_kept.then_some(evidence.received_len),
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
