//! What a public file leaves out of a run: all that no figure and no doubt reads, and what may hold others' secrets
//! without an allow-list saying otherwise.

use lab::record::{LOAD_ON, RunRecord, SUBJECT_ADDRESS, SUBJECT_HOST, SUBJECT_ON, TrialRecord};
use machine::Fact;

/// Readings of dyno's monitors begin so; those of probes have other names, and are kept.
const MONITORS: [&str; 6] = ["subject.", "machine.", "kernel.", "watch.", "load.", "service."];
/// The readings of monitors that figures and doubts read. The longest gap between any two is judged, too: that of the
/// busiest of them.
const READ: [&str; 23] = [
    "subject.cpu.total",
    "subject.cpu.user",
    "subject.cpu.system",
    "subject.cpu.cgroup",
    "subject.memory.rss",
    "subject.memory.pss",
    "subject.memory.kills",
    "subject.processes",
    "subject.switches.voluntary",
    "subject.io.read",
    "subject.io.written",
    "machine.cpu.busy",
    "machine.cpu.other",
    "machine.cpu.steal",
    "machine.cpu.throttled",
    "machine.frequency.mean",
    "machine.clock.offset",
    "kernel.tcp.listen_overflows",
    "kernel.tcp.syn_retransmitted",
    "kernel.tcp.accept_queue",
    "service.cpu.total",
    "service.memory.pss",
    "load.helpers.cpu",
];
/// Facts and conditions that are published are called so, or begin so where the name ends in a point.
const FACTS: [&str; 42] = [
    "address",
    "agents",
    "agents.lost",
    "agents.lost.share",
    "architecture",
    "build",
    "capacity.",
    "cgroup",
    "check",
    "clocksource",
    "cpu-time",
    "cpu.",
    "cpus.",
    "cpus.load",
    "distribution",
    "files",
    "files.",
    "fs.",
    "kernel",
    "limit.",
    "load-average",
    "load.",
    "memory",
    "memory.",
    "net.",
    "network",
    "port",
    "port.own",
    "protocol (--http2)",
    "queue.",
    "race.",
    "repeat.of",
    "request",
    "search",
    "service",
    "service.",
    "streams (--streams)",
    "subject.",
    "swap",
    "tls.",
    "virtualisation",
    "vm.",
];
/// Facts whose values name other machines.
const HOSTS: [&str; 4] = [SUBJECT_ON, LOAD_ON, SUBJECT_ADDRESS, SUBJECT_HOST];

/// Leaves it out, and says what was left out, and how often.
pub(crate) fn reduce(run: &mut RunRecord, trials: &mut [TrialRecord], note: &mut impl FnMut(&str)) {
    keep_known(&mut run.facts, note);
    for trial in trials {
        keep_known(&mut trial.conditions, note);
        trial.series.retain(|series| is_read(&series.name));
        if !trial.ending.output_tail.is_empty() {
            note("the last output of a server");
            trial.ending.output_tail.clear();
        }
        if let Some(launch) = &mut trial.launch {
            launch.pid = 0;
        } else {
            trial.checks.iter_mut().for_each(|check| {
                check.request.clear();
                check.response.clear();
            });
        }
        let is_ours = trial.launch.is_some();
        if let Some(loaded) = &mut trial.loaded {
            loaded.recording.outline();
            if !is_ours && !loaded.recording.total.evidence.is_empty() {
                note("bytes of a server that dyno did not start");
                loaded.recording.total.evidence.clear();
            }
        }
        let loaded = trial.loaded.iter_mut().flat_map(|it| &mut it.agents);
        let held = trial.held.iter_mut().flat_map(|it| &mut it.agents);
        for (agent, number) in loaded.chain(held).zip(1..) {
            note("the name of an agent");
            agent.name = format!("agent {number}");
            agent.host.name = agent.name.clone();
        }
    }
}

fn is_read(name: &str) -> bool {
    READ.contains(&name) || !MONITORS.iter().any(|monitor| name.starts_with(monitor))
}

fn keep_known(facts: &mut Vec<Fact>, note: &mut impl FnMut(&str)) {
    facts.retain_mut(|fact| {
        let name = fact.name.as_str();
        let is_known =
            FACTS.iter().any(|it| name == *it || it.ends_with('.') && name.starts_with(it));
        if !is_known || name == "kernel.command-line" {
            note("a fact that is not on the list of those that are published");
            return false;
        }
        if HOSTS.contains(&name) && !fact.value.starts_with('{') {
            note("the name of a machine");
            fact.value = "{host}".into();
        }
        true
    });
}
