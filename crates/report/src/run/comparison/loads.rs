//! How two kept loads differ in what was ordered. Their address, path and number may differ: that is what is compared.

use std::collections::BTreeMap;

use lab::record::REQUEST;
use load::End;

use crate::load::terms;
use crate::run::Findings;

/// What belongs to a side, to its number of loads, or to what is done between them.
const OWN: [&str; 6] = ["question", "subjects", "title", "repeat", "seed", "pause"];
const EXPECTED_BODY: &str = "expected body (--expect-body)";
/// How the requests of a file may be ordered, as a load's request says it.
const ORDERS: [&str; 3] = ["in order", "shuffled", "by weight"];
/// A longer value is cut.
const LONGEST: usize = 60;

/// A sentence for each thing that was not ordered alike.
pub(super) fn differences(both: [&Findings<'_>; 2]) -> Vec<String> {
    let all = both.map(ordered);
    let mut things: Vec<&str> = all.iter().flatten().map(|(thing, _)| thing.as_str()).collect();
    things.sort_unstable();
    things.dedup();
    let one = |thing: &&str| {
        // What HTTP/1.x or a load without TLS does not have.
        if terms::is_one(thing) && all.iter().any(|of| !of.contains_key(*thing)) {
            return None;
        }
        let [a, b] = all.each_ref().map(|of| of.get(*thing).map_or("nothing", String::as_str));
        (a != b).then(|| format!("the loads differ in {thing}: {}", values([a, b])))
    };
    things.iter().filter_map(one).collect()
}

/// `A had 1, B 2`
pub(super) fn values(values: [&str; 2]) -> String {
    let [a, b] = values.map(cut);
    let end = if a == b { ", which differ further on" } else { "" };
    format!("A had {a}, B {b}{end}")
}

/// The beginning of a long value.
fn cut(value: &str) -> String {
    match value.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.into(),
    }
}

/// What was ordered, by the keys of the texts that are kept with a load.
fn ordered(findings: &Findings<'_>) -> BTreeMap<String, String> {
    let run = findings.run;
    let lines = run.files.iter().flat_map(|(_, text)| text.lines());
    let pairs = lines.filter_map(|line| line.split_once(" = "));
    let named = |(key, value): (&str, &str)| match key {
        "closed" | "open" | "sessions" => {
            ("load".into(), format!("{key}, {}", value.trim_matches(['{', '}', ' '])))
        }
        // Its path may differ, and its method may not.
        "request" => ("method".into(), bare(value).split(' ').next().unwrap_or_default().into()),
        "send_header" => {
            ("header fields (--header)".into(), value.trim_matches(['{', '}', ' ']).into())
        }
        "send" => ("body (--body)".into(), bare(value).into()),
        "body" => (EXPECTED_BODY.into(), bare(value).into()),
        "body_length" => (EXPECTED_BODY.into(), format!("{value} bytes")),
        "body_sha256" => (EXPECTED_BODY.into(), format!("one with SHA-256 {}", bare(value))),
        "status" => ("expected status (--expect-status)".into(), bare(value).into()),
        _ => (key.replace('_', " "), bare(value).into()),
    };
    let pairs = pairs.filter(|(key, _)| !OWN.contains(key));
    let mut all: BTreeMap<String, String> = pairs.map(named).collect();
    let request = run.facts.iter().find(|fact| fact.name == REQUEST);
    if let Some((words, digest)) = request.and_then(|fact| fact.value.rsplit_once(" (SHA-256 ")) {
        let is_so = |order: &&str| words.contains(&format!(", {order}, to "));
        if let Some(order) = ORDERS.into_iter().find(is_so) {
            all.insert("order of the requests (--order)".into(), order.into());
        }
        let digest: String = digest.chars().take(12).collect();
        all.insert("file of requests".into(), format!("one with SHA-256 {digest}…"));
    }
    let terms = run.facts.iter().filter(|fact| terms::is_one(&fact.name));
    all.extend(terms.map(|fact| (fact.name.clone(), fact.value.clone())));
    let mut recordings =
        findings.trials.iter().filter_map(|trial| Some(&trial.loaded.as_ref()?.recording));
    let was_halted = recordings.any(|recording| matches!(recording.end, End::Halted));
    all.insert(
        "how they ended".into(),
        if was_halted { "an interrupted load" } else { "whole loads" }.into(),
    );
    all
}

/// A text without its quotation marks.
fn bare(value: &str) -> &str {
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value)
}
