//! Where the servers of a run ran, and where its load came from.

use agents::AgentFacts;
use lab::record::{Fact, LOAD_ON, RunRecord, SUBJECT_HOST, TrialRecord, fact};
use machine::facts::of_host;

use super::findings::Findings;
use crate::agents::{ORIGIN, load_from, table};
use crate::document::{Block, Depth, Section, Tone};
use crate::grouped::grouped;

/// The agents of a trial.
pub(super) fn of_trial(trial: &TrialRecord) -> &[AgentFacts] {
    let loaded = trial.loaded.as_ref().map(|loaded| &loaded.agents[..]);
    loaded.or(trial.held.as_ref().map(|held| &held.agents[..])).unwrap_or_default()
}

/// Where the load came from, in a few words; none if dyno's own process made it.
pub(super) fn load(run: &RunRecord, trials: &[TrialRecord]) -> Option<String> {
    let agents = trials.iter().flat_map(of_trial).map(|agent| (&agent.name, agent));
    let seen: Vec<&AgentFacts> = grouped(agents).into_iter().map(|(_, same)| same[0]).collect();
    match seen.is_empty() {
        false => Some(load_from(&seen)),
        true => fact(&run.facts, LOAD_ON).map(String::from),
    }
}

/// `servers on desk1, load from desk2, desk3`; none where dyno did all of it on one machine.
pub(super) fn in_words(findings: &Findings<'_>) -> Option<String> {
    let run = findings.run;
    let load = load(run, findings.trials);
    let servers = fact(&run.facts, SUBJECT_HOST);
    // Where the server of `dyno load` runs is not known.
    if load.is_none() && servers.is_none() || findings.is_load() {
        return None;
    }
    let servers = servers.unwrap_or("the machine of this dyno");
    let load = load.unwrap_or("dyno's own process".into());
    Some(format!("servers on {servers}, load from {load}"))
}

/// A row for each agent.
pub(super) fn section(findings: &Findings<'_>) -> Section {
    let section = Section::new("origin", ORIGIN, Depth::Full);
    let loads: Vec<&[AgentFacts]> = findings.trials.iter().map(of_trial).collect();
    let Some(table) = table("origin", &loads) else { return section };
    let servers =
        fact(&findings.run.facts, SUBJECT_HOST).map(|host| format!("The servers ran on {host}. "));
    let says = format!(
        "{}All trials together: of what differs from one to the next, the worst is shown. A response time is measured by one \
         agent, on its own clock, and includes the way to the server and back.",
        servers.unwrap_or_default()
    );
    section.with([Block::paragraph(Tone::Dim, says), Block::Table(table)])
}

/// The facts of a run, without those of other machines that are the same on the first one; and whether there were any.
pub(super) fn facts_that_differ(facts: &[Fact]) -> (Vec<&Fact>, bool) {
    let is_same = |fact: &&Fact| {
        of_host(&fact.name).is_some_and(|(_, own)| {
            facts.iter().any(|other| other.name == own && other.value == fact.value)
        })
    };
    let (same, kept): (Vec<&Fact>, Vec<&Fact>) = facts.iter().partition(is_same);
    (kept, !same.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_another_machine_stands_what_differs() {
        let fact = |(name, value): (&str, &str)| Fact { name: name.into(), value: value.into() };
        let all = [
            ("kernel", "Linux 6.1"),
            ("memory", "16 kB"),
            ("g1: kernel", "Linux 6.1"),
            ("g1: memory", "8 kB"),
            ("g1: host", "desk3"),
        ];
        let all = all.map(fact);
        let (kept, is_shortened) = facts_that_differ(&all);
        let names: Vec<&str> = kept.iter().map(|fact| fact.name.as_str()).collect();
        assert_eq!(
            (names, is_shortened),
            (vec!["kernel", "memory", "g1: memory", "g1: host"], true)
        );
        assert!(!facts_that_differ(&all[..2]).1);
    }
}
