//! How two kept loads differ in what was ordered. Their address, path and number may differ: that is what is compared.

use lab::record::{REQUEST, RunRecord};

/// What belongs to a side, or to its number of loads: the keys of the texts that are kept with a load.
const OWN: [&str; 7] = ["question", "subjects", "title", "request", "repeat", "seed", "pause"];

/// A sentence for each key that is not the same in both.
pub(super) fn differences(a: &RunRecord, b: &RunRecord) -> Vec<String> {
    let (ours, theirs) = (ordered(a), ordered(b));
    let mut keys: Vec<&str> = ours.iter().chain(&theirs).map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    let value = |all: &[(String, String)], key: &str| {
        let found = all.iter().find(|(other, _)| other == key);
        found.map_or("nothing".to_string(), |(_, value)| value.clone())
    };
    let one = |key: &&str| {
        let (ours, theirs) = (value(&ours, key), value(&theirs, key));
        (ours != theirs).then(|| format!("the loads differ in {key}: A had {ours}, B {theirs}"))
    };
    keys.iter().filter_map(one).collect()
}

/// The keys of a load's texts with their values; the digest of a file of requests is among them.
fn ordered(run: &RunRecord) -> Vec<(String, String)> {
    let lines = run.files.iter().flat_map(|(_, text)| text.lines());
    let pairs = lines.filter_map(|line| line.split_once(" = "));
    let mut all: Vec<(String, String)> = pairs
        .filter(|(key, _)| !OWN.contains(key))
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    let request = run.facts.iter().find(|fact| fact.name == REQUEST);
    if let Some((_, digest)) = request.and_then(|fact| fact.value.split_once(" (SHA-256 ")) {
        all.push(("file of requests".into(), format!("SHA-256 {}", digest.trim_end_matches(')'))));
    }
    all
}
