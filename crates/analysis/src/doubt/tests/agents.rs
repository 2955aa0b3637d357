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

#[test]
fn the_agent_that_stood_still_for_longest_is_named_unless_nothing_here_looked_for_longer() {
    let of = |looked_at: fn(u64) -> bool| {
        let mut agents = eight();
        agents[1].saw.as_mut().unwrap().still = 40 * MS;
        agents[6].saw.as_mut().unwrap().still = 90 * MS;
        of_trial(|trial| {
            let points: Vec<_> = (0..=130_u64).filter(|at| looked_at(*at)).collect();
            let points: Vec<_> = points.iter().map(|at| (at * SECOND / 10, 1.0)).collect();
            trial.series = vec![series("subject.processes", "count", &points)];
            let loaded = trial.loaded.as_mut().unwrap();
            loaded.recording.total.still =
                load::Still { sum: 130 * MS, overslept: 90 * MS, kept_waiting: 0 };
            loaded.agents = agents;
        })
    };
    expect![[r#"
        instrument_stood_still (invalid): agent desk7 was not running for up to 90.0 ms, 1.3 % of the time in all (the p99 of what it measured: 1.00 ms): answers that arrived meanwhile are timed too late
        instrument_stood_still (invalid): dyno was not running for up to 2.00 s, 20 % of the time in all (the p99 of what it measured: 1.00 ms): answers that arrived meanwhile are timed too late"#]]
    .assert_eq(&told([&of(|_| true), &of(|at| !(50..70).contains(&at))]));
}

#[test]
fn one_late_agent_of_eight_is_named_though_all_together_were_in_time() {
    assert_eq!(of_eight(|_| {}, |_| {}), []);
    // A millisecond is no reason for a doubt, and more is.
    assert_eq!(of_eight(|saw| saw.late_p99 = Some(MS), |_| {}), []);
    let found = of_eight(|saw| saw.late_p99 = Some(MS + 500_000), |_| {});
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
        found.retain(|doubt| doubt.is(&generator::INSTRUMENT_LATE));
        found
    };
    assert_eq!(of(&agents), []);
    agents[1].saw = Some(slow(3 * MS + 1));
    expect![[r#"
        instrument_late (suspect): agent desk2 sent 1 % of its requests at least 1.50 ms late (limit: 1.00 ms); the response times contain this delay
        instrument_late (suspect): agent desk2 sent 1 % of its requests at least 3.00 ms late (limit: 3.00 ms); the response times contain this delay"#]]
    .assert_eq(&told([&found, &of(&agents)]));
    // One that was lost says nothing.
    agents[1].saw = None;
    assert_eq!(of(&agents), []);
}

#[test]
fn of_several_late_agents_the_worst_is_first() {
    let found = of_eight(|saw| saw.late_p99 = Some(2 * MS), |saw| saw.late_p99 = Some(7 * MS));
    expect!["instrument_late (suspect): agent desk7 sent 1 % of its requests at least 7.00 ms late (limit: 1.00 ms); also late: desk2 (2.00 ms); the response times contain this delay"]
        .assert_eq(&told([&found]));
    assert_eq!(found[0].way_out(By::Flags), found[0].way_out(By::Experiment), "on that host");
}

#[test]
fn all_together_are_late_where_no_agent_says_how_late_it_was() {
    let mut agents = eight();
    agents.iter_mut().for_each(|agent| agent.saw = None);
    let found = of_trial(|trial| {
        trial.loaded.as_mut().unwrap().agents = agents;
        recording(trial).total.late.record_many(3 * MS, 1_000);
    });
    expect!["instrument_late (suspect): dyno sent 1 % of the requests at least 3.00 ms late (limit: 1.00 ms); the response times contain this delay"]
        .assert_eq(&told([&found]));
}

#[test]
fn one_busy_agent_of_eight_is_named_though_the_others_were_idle() {
    // Of twenty seconds of two lanes.
    assert_eq!(of_eight(|saw| saw.idle = 2 * SECOND, |_| {}), [], "nine tenths are not much");
    let busy = |saw: &mut PartSummary| (saw.idle, saw.cpu) = (SECOND, 14 * SECOND);
    let one = of_eight(busy, |_| {});
    // Another one had no CPU while it had something to do.
    let starved = |saw: &mut PartSummary| (saw.idle, saw.cpu) = (0, 12 * SECOND);
    let both = of_eight(busy, starved);
    expect![[r#"
        instrument_busy (suspect): the threads of agent desk2 were busy 95 % of the time: the rate may be the limit of that host, and not the server's
        instrument_starved (suspect): the threads of agent desk7 had something to do 100 % of the time, and a CPU for 60 % of it: other programs there, or a limit on dyno's CPU time, delayed it
        instrument_busy (suspect): the threads of agent desk2 were busy 95 % of the time: the rate may be the limit of that host, and not the server's"#]]
    .assert_eq(&told([&one, &both]));
}

#[test]
fn of_several_busy_agents_the_worst_is_first() {
    let busy = |saw: &mut PartSummary| (saw.idle, saw.cpu) = (SECOND, 19 * SECOND);
    let busier = |saw: &mut PartSummary| (saw.idle, saw.cpu) = (0, 20 * SECOND);
    expect!["instrument_busy (suspect): the threads of agent desk7 were busy 100 % of the time, and so were those of desk2 (95 %): the rate may be the limit of that host, and not the server's"]
        .assert_eq(&told([&of_eight(busy, busier)]));
}
