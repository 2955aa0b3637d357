//! How two kept loads differ in what was ordered. Their address, path and number may differ: that is what is compared.

use std::collections::BTreeMap;

use lab::record::{REQUEST, RunRecord};

/// What belongs to a side, to its number of loads, or to what is done between them.
const OWN: [&str; 6] = ["question", "subjects", "title", "repeat", "seed", "pause"];
/// Longer values are not repeated.
const LONGEST: usize = 60;

/// A sentence for each thing that was not ordered alike.
pub(super) fn differences(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let all = [ordered(a), ordered(b)];
    let mut things: Vec<&str> = all.iter().flatten().map(|(thing, _)| thing.as_str()).collect();
    things.sort_unstable();
    things.dedup();
    let one = |thing: &&str| {
        let [a, b] = all.each_ref().map(|of| of.get(*thing).map_or("nothing", String::as_str));
        let is_short = a.chars().count().max(b.chars().count()) <= LONGEST;
        let values = if is_short { format!(": A had {a}, B {b}") } else { String::new() };
        (a != b).then(|| format!("the loads differ in {thing}{values}"))
    };
    things.iter().filter_map(one).collect()
}

/// What was ordered, by the keys of the texts that are kept with a load.
fn ordered(run: &RunRecord) -> BTreeMap<String, String> {
    let lines = run.files.iter().flat_map(|(_, text)| text.lines());
    let pairs = lines.filter_map(|line| line.split_once(" = "));
    let named = |(key, value): (&str, &str)| match key {
        "closed" | "open" | "sessions" => {
            ("load".into(), format!("{key}, {}", value.trim_matches(['{', '}', ' '])))
        }
        // Its path may differ, and its method may not.
        "request" => ("method".into(), bare(value).split(' ').next().unwrap_or_default().into()),
        _ => (key.replace('_', " "), bare(value).into()),
    };
    let pairs = pairs.filter(|(key, _)| !OWN.contains(key));
    let mut all: BTreeMap<String, String> = pairs.map(named).collect();
    let request = run.facts.iter().find(|fact| fact.name == REQUEST);
    if let Some((_, digest)) = request.and_then(|fact| fact.value.split_once(" (SHA-256 ")) {
        let digest: String = digest.chars().take(12).collect();
        all.insert("file of requests".into(), format!("one with SHA-256 {digest}…"));
    }
    all
}

/// A text without its quotation marks.
fn bare(value: &str) -> &str {
    value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value)
}
