//! The answer in words: what a connection costs with whom, how far they came, and what gave way.

use analysis::{Climb, Ramps};
use lab::figure::Unit;

use super::lines::number;
use crate::Findings;

/// A paragraph about each workload that was held.
pub(crate) fn all(findings: &Findings<'_>) -> Vec<String> {
    let ramps = &findings.board.ramps;
    let about = |one: &Ramps| {
        let says = answer(findings, one);
        if 1 < ramps.len() { format!("{}: {says}", one.workload) } else { says }
    };
    ramps.iter().map(about).collect()
}

fn answer(findings: &Findings<'_>, ramps: &Ramps) -> String {
    let is_measured = |climb: &&Climb| 0 < climb.measured && !climb.is_reference;
    let measured: Vec<&Climb> = ramps.climbs.iter().filter(is_measured).collect();
    if measured.is_empty() {
        return "Nobody was measured: see below why.".into();
    }
    let texts = [costs(findings, &measured), gave_way(findings, &measured)];
    texts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// What each connection takes: of a few, all of them; of many, the least and the most.
fn costs(findings: &Findings<'_>, climbs: &[&Climb]) -> Option<String> {
    const FEW: usize = 4;
    let slope = |climb: &&&Climb| climb.price.memory.is_some();
    let mut priced: Vec<&Climb> = climbs.iter().filter(slope).copied().collect();
    let bytes = |climb: &Climb| climb.price.memory.map_or(f64::MAX, |slope| slope.bytes);
    priced.sort_by(|one, other| bytes(one).total_cmp(&bytes(other)));
    let says = |climb: &Climb| {
        let slope = climb.price.memory?;
        let shown = |value| number(findings, Unit::Bytes, value);
        let interval = slope
            .interval
            .map_or(String::new(), |(low, high)| format!(" [{}–{}]", shown(low.max(0.0)), shown(high)));
        let name = findings.title(&climb.subject);
        Some(format!("{}{interval} with {name}", shown(slope.bytes)))
    };
    let said: Vec<String> = match priced.as_slice() {
        [first, .., last] if FEW < priced.len() => {
            return Some(format!("A connection takes from {} to {}.", says(first)?, says(last)?));
        }
        some => some.iter().filter_map(|climb| says(climb)).collect(),
    };
    (!said.is_empty()).then(|| format!("A connection takes {}.", said.join(", ")))
}

/// Who gave way first, and what it was.
fn gave_way(findings: &Findings<'_>, climbs: &[&Climb]) -> Option<String> {
    let asked = climbs.iter().map(|climb| climb.connections).max()?;
    let first = climbs
        .iter()
        .filter_map(|climb| Some((climb.price.gave_way.as_ref()?, climb)))
        .min_by_key(|(found, _)| found.connections);
    let all = number(findings, Unit::Count, f64::from(asked));
    let Some((found, climb)) = first else {
        return Some(format!("Nothing gave way up to {all} connections."));
    };
    let name = findings.title(&climb.subject);
    let what = super::price::gave_way(findings, found);
    Some(format!("On the way to {all} connections {name} gives way first, {what}."))
}
