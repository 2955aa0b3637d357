//! How two kept loads differ in what was ordered. Their address, path and number may differ: that is what is compared.

use std::collections::BTreeMap;

use lab::amounts;
use lab::experiment::{Experiment, Shape};
use lab::record::{REQUEST, fact};
use lab::schedule::Schedule;
use lab::trial::SPIN;
use lab::workload::StatedRequest;
use load::End;

use crate::load::file::POLLING;
use crate::load::terms;
use crate::run::experiment_text;
use crate::run::findings::Findings;

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
    // What HTTP/1.x or a load without TLS does not have, or an older run did not keep.
    let may_lack = |thing: &str| terms::is_one(thing) || thing == POLLING;
    things.retain(|thing| !may_lack(thing) || all.iter().all(|of| of.contains_key(*thing)));
    let difference = |thing: &&str| {
        let [a, b] = all.each_ref().map(|of| of.get(*thing).map_or("nothing", String::as_str));
        (a != b).then(|| format!("the loads differ in {thing}: {}", values([a, b])))
    };
    things.iter().filter_map(difference).collect()
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

/// What was ordered, each thing by its name.
fn ordered(findings: &Findings<'_>) -> BTreeMap<String, String> {
    let run = findings.run;
    let mut all = BTreeMap::new();
    let mut put = |thing: &str, value: String| {
        all.insert(thing.to_string(), value);
    };
    if let Some(experiment) = &run.experiment {
        of_load(experiment, &mut put);
    }
    let stated = run.files.iter().filter_map(|(path, text)| StatedRequest::of_run(path, text));
    for (thing, value) in stated.flat_map(|request| request.things()) {
        put(thing, value);
    }
    let request = fact(&run.facts, REQUEST);
    if let Some((words, digest)) = request.and_then(|text| text.rsplit_once(" (SHA-256 ")) {
        let is_so = |order: &&str| words.contains(&format!(", {order}, to "));
        if let Some(order) = ORDERS.into_iter().find(is_so) {
            all.insert("order of the requests (--order)".into(), order.into());
        }
        let digest: String = digest.chars().take(12).collect();
        all.insert("file of requests".into(), format!("one with SHA-256 {digest}…"));
    }
    let mut conditions = findings.trials.iter().flat_map(|trial| &trial.conditions);
    if let Some(spin) = conditions.find(|fact| fact.name == SPIN) {
        all.insert(POLLING.into(), spin.value.clone());
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

fn of_load(experiment: &Experiment, put: &mut impl FnMut(&str, String)) {
    let load = match experiment.shape {
        Shape::Closed => "closed".to_string(),
        Shape::Open { poisson, connections, max_connections } => {
            let law = if poisson { "poisson" } else { "constant" };
            format!("open, {law} arrivals, {connections} to {max_connections} connections")
        }
        Shape::Sessions { calls, max_connections } => {
            format!("sessions of {calls} calls, {max_connections} connections")
        }
        Shape::Held(_) => "held".into(),
    };
    let places: Vec<String> = match &experiment.course {
        Some(course) => vec![experiment_text::rates(course)],
        None => experiment.points.iter().map(ToString::to_string).collect(),
    };
    put("load", format!("{load}, {}", places.join(", ")));
    // Steps have lengths of their own.
    if let (Some(time), None | Some(Schedule::Ramp(..))) = (experiment.duration, &experiment.course)
    {
        put("duration", amounts::written(time));
    }
    if let Some(total) = experiment.total {
        put("total", total.to_string());
    }
    put("warmup", amounts::written(experiment.warmup));
    put("timeout", amounts::written(experiment.timeout));
    put("keep alive", experiment.keep_alive.to_string());
    if experiment.promise.is_stated {
        put("p99", amounts::written(experiment.promise.p99));
    }
    put("failures", format!("{}%", experiment.promise.failed_percent));
}
