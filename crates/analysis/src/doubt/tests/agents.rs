//! Agents that were too slow for their share are named, each judged by itself.

use ::agents::AgentFacts;
use load::PartSummary;

use super::*;

/// Eight agents of two lanes each, none of which was late or busy.
fn eight() -> Vec<AgentFacts> {
    let one = |number: usize| AgentFacts {
        name: format!("desk{number}"),
        first: 2 * (number - 1),
        lanes: 2,
        of: 16,
        saw: Some(PartSummary {
            attempted: 2_500,
            correct: 2_500,
            p50: Some(MS),
            p99: Some(MS),
            late_p99: Some(10_000),
            lanes: 2,
            idle: 10 * SECOND,
            cpu: 10 * SECOND,
            measured: 10 * SECOND,
            ..PartSummary::default()
        }),
        ..AgentFacts::default()
    };
    (1..=8).map(one).collect()
}

/// The doubts about a healthy trial by eight agents, with changes to what the second and the seventh saw.
fn of_eight(second: fn(&mut PartSummary), seventh: fn(&mut PartSummary)) -> Vec<Doubt> {
    let mut agents = eight();
    second(agents[1].saw.as_mut().unwrap());
    seventh(agents[6].saw.as_mut().unwrap());
    of_trial(|trial| trial.loaded.as_mut().unwrap().agents = agents)
}

fn late(agents: &[(&str, f64, f64)]) -> Vec<Doubt> {
    let one = |&(agent, p99_ms, bound_ms): &_| LateSender {
        agent: Some(str::to_string(agent)),
        p99_ms,
        bound_ms,
    };
    vec![GeneratorDoubt::Late { senders: agents.iter().map(one).collect() }.into()]
}

fn named(agents: &[(&str, f64, f64)]) -> Vec<BusyThreads> {
    let one =
        |&(agent, busy, cpu): &_| BusyThreads { agent: Some(str::to_string(agent)), busy, cpu };
    agents.iter().map(one).collect()
}

#[test]
fn the_agent_that_stood_still_for_longest_is_named_unless_nothing_here_looked_for_longer() {
    let of = |looked_at: fn(u64) -> bool| {
        let mut agents = eight();
        agents[1].saw.as_mut().unwrap().still = 40 * MS;
        agents[6].saw.as_mut().unwrap().still = 90 * MS;
        let found = of_trial(|trial| {
            let points: Vec<_> = (0..=130_u64).filter(|at| looked_at(*at)).collect();
            let points: Vec<_> = points.iter().map(|at| (at * SECOND / 10, 1.0)).collect();
            trial.series = vec![series("subject.processes", "count", &points)];
            let loaded = trial.loaded.as_mut().unwrap();
            loaded.recording.total.still =
                load::Still { sum: 130 * MS, overslept: 90 * MS, kept_waiting: 0 };
            loaded.agents = agents;
        });
        match &found[..] {
            [Doubt::Generator(GeneratorDoubt::StoodStill { agent, .. })] => agent.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of(|_| true), Some("desk7".into()));
    assert_eq!(of(|at| !(50..70).contains(&at)), None);
}

#[test]
fn one_late_agent_of_eight_is_named_though_all_together_were_in_time() {
    assert_eq!(of_eight(|_| {}, |_| {}), []);
    // A millisecond is no reason for a doubt, and more is.
    assert_eq!(of_eight(|saw| saw.late_p99 = Some(MS), |_| {}), []);
    let found = of_eight(|saw| saw.late_p99 = Some(MS + 500_000), |_| {});
    assert_eq!(found, late(&[("desk2", 1.5, 1.0)]));
    // A tenth of what its own requests took.
    let slow = |late: u64| PartSummary {
        p50: Some(30 * MS),
        late_p99: Some(late),
        ..PartSummary::default()
    };
    let mut agents = eight();
    agents[1].saw = Some(slow(3 * MS));
    let of = |agents: &[AgentFacts]| {
        let agents = agents.to_vec();
        let mut found = of_trial(|trial| trial.loaded.as_mut().unwrap().agents = agents);
        found.retain(|doubt| matches!(doubt, Doubt::Generator(GeneratorDoubt::Late { .. })));
        found
    };
    assert_eq!(of(&agents), []);
    agents[1].saw = Some(slow(3 * MS + 1));
    assert_eq!(of(&agents), late(&[("desk2", 3.000_001, 3.0)]));
    // One that was lost says nothing.
    agents[1].saw = None;
    assert_eq!(of(&agents), []);
}

#[test]
fn of_several_late_agents_the_worst_is_first() {
    let found = of_eight(|saw| saw.late_p99 = Some(2 * MS), |saw| saw.late_p99 = Some(7 * MS));
    assert_eq!(found, late(&[("desk7", 7.0, 1.0), ("desk2", 2.0, 1.0)]));
}

#[test]
fn all_together_are_late_where_no_agent_says_how_late_it_was() {
    let mut agents = eight();
    agents.iter_mut().for_each(|agent| agent.saw = None);
    let found = of_trial(|trial| {
        trial.loaded.as_mut().unwrap().agents = agents;
        (0..1_000).for_each(|_| recording(trial).total.late.record(3 * MS));
    });
    assert!(
        matches!(&found[..], [Doubt::Generator(GeneratorDoubt::Late { senders })] if senders[0].agent.is_none()),
        "{found:?}"
    );
}

#[test]
fn one_busy_agent_of_eight_is_named_though_the_others_were_idle() {
    // Of twenty seconds of two lanes.
    assert_eq!(of_eight(|saw| saw.idle = 2 * SECOND, |_| {}), [], "nine tenths are not much");
    let busy = |saw: &mut PartSummary| (saw.idle, saw.cpu) = (SECOND, 14 * SECOND);
    let found = of_eight(busy, |_| {});
    let doubt = GeneratorDoubt::Busy { threads: named(&[("desk2", 0.95, 0.7)]) };
    assert_eq!(found, [Doubt::Generator(doubt)]);
    // Another one had no CPU while it had something to do.
    let starved = |saw: &mut PartSummary| (saw.idle, saw.cpu) = (0, 12 * SECOND);
    let found = of_eight(busy, starved);
    let doubts = [
        GeneratorDoubt::Starved { threads: named(&[("desk7", 1.0, 0.6)]) },
        GeneratorDoubt::Busy { threads: named(&[("desk2", 0.95, 0.7)]) },
    ];
    assert_eq!(found, doubts.map(Doubt::Generator));
}

#[test]
fn of_several_busy_agents_the_worst_is_first() {
    let busy = |saw: &mut PartSummary| (saw.idle, saw.cpu) = (SECOND, 19 * SECOND);
    let busier = |saw: &mut PartSummary| (saw.idle, saw.cpu) = (0, 20 * SECOND);
    let threads = named(&[("desk7", 1.0, 1.0), ("desk2", 0.95, 0.95)]);
    assert_eq!(of_eight(busy, busier), [Doubt::Generator(GeneratorDoubt::Busy { threads })]);
}
