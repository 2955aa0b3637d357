//! Where a service has CPUs of its own: what it answers with no server, and which of the load, the server and the
//! service is the limit of each server's rate.

use analysis::{CpuShares, Limit, Placed, Table};
use units::{listed_in_short, percent, rate};

use super::name_only;
use crate::Findings;

/// What the service answers alone; nothing where that was not measured.
pub(super) fn ceiling(findings: &Findings<'_>, table: &Table) -> Option<String> {
    let known =
        table.service_ceilings.iter().filter_map(|(point, it)| Some((point, it.as_ref().ok()?)));
    let highest =
        known.max_by(|(_, one), (_, other)| one.answers_per_s.total_cmp(&other.answers_per_s));
    let Some((point, highest)) = highest else {
        let why = table.service_ceilings.first()?.1.as_ref().err()?;
        return Some(format!("What the database alone answers is not known: {why}."));
    };
    let place = match table.service_ceilings.len() {
        1 => String::new(),
        _ => format!(", at most, with {}", findings.place(*point)),
    };
    let per_s = rate(highest.answers_per_s.round());
    Some(format!("The database alone answered {per_s}/s by {}{place}.", highest.by))
}

/// Which of the three is the limit, server by server; nothing where their CPU shares are not known.
pub(super) fn limits(findings: &Findings<'_>, ranked: &[Placed<'_>]) -> Option<String> {
    let mut groups: Vec<(Vec<Limit>, Vec<String>)> = Vec::new();
    for row in ranked.iter().map(|placed| placed.row) {
        let Some(shares) = row.shares else { continue };
        let (limits, name) =
            (shares.limits(), format!("{} ({})", name_only(findings, row), all(shares)));
        match groups.iter_mut().find(|(known, _)| *known == limits) {
            Some((_, names)) => names.push(name),
            None => groups.push((limits, vec![name])),
        }
    }
    let says = groups
        .iter()
        .map(|(limits, names)| format!("{} for {}", who(limits), listed_in_short(names)));
    let says = says.collect::<Vec<_>>().join("; ");
    (!groups.is_empty()).then(|| format!("By CPU shares, the limit is {says}."))
}

fn who(limits: &[Limit]) -> String {
    let name = |limit: &Limit| match limit {
        Limit::Load => "the load".to_string(),
        Limit::Server => "the server".into(),
        Limit::Service => "the database".into(),
    };
    match limits {
        [] => "none of the three".into(),
        several => listed_in_short(&several.iter().map(name).collect::<Vec<_>>()),
    }
}

fn all(shares: CpuShares) -> String {
    let CpuShares { load, server, service } = shares;
    format!("load {}, server {}, database {}", percent(load), percent(server), percent(service))
}
