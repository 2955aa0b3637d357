//! What kept loads had on their connections: what was agreed on with TLS, and what was seen of HTTP/2.

use load::{Http2, Security, Tally};

use super::Findings;
use crate::document::{Block, Fact};
use crate::load::terms;
use crate::{http2, security};

/// The lines of all loads together. Sides of a race are not alike, and have no line in common.
pub(super) fn blocks(findings: &Findings<'_>) -> Option<Block> {
    if !findings.is_load() {
        return None;
    }
    let loads = findings.trials.iter().filter_map(|trial| trial.loaded.as_ref());
    let totals: Vec<&Tally> = loads.map(|load| &load.recording.total).collect();
    let secured = totals.iter().filter_map(|total| total.security.as_deref());
    let secured: Option<Security> = secured.cloned().reduce(|mut all, more| {
        all.merge(&more);
        all
    });
    let spoken = totals.iter().filter_map(|total| total.http2.as_deref());
    let spoken: Option<Http2> = spoken.cloned().reduce(|mut all, more| {
        all.merge(&more);
        all
    });
    let is_unverified = terms::is_unverified(&findings.run.facts);
    let secured = secured.map(|seen| security::fact(&seen, is_unverified));
    let facts: Vec<Fact> = secured.into_iter().chain(spoken.as_ref().map(http2::fact)).collect();
    (!facts.is_empty()).then_some(Block::Facts(facts))
}
