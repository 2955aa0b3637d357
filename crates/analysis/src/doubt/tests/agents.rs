//! Agents that were too slow for their share are named, each judged by itself; and so are those that saw another server
//! than the others.

use ::agents::{AgentFacts, Beside, LinkUse};
use load::{Nanos, PartSummary};

use super::*;

/// So many agents of two lanes each that saw the same server, and none of which was late or busy.
fn alike(count: usize) -> Vec<AgentFacts> {
    let one = |number: usize| AgentFacts {
        name: format!("desk{number}"),
        first: 2 * (number - 1),
        lanes: 2,
        of: 2 * count,
        drift_ns: Some(0),
        drift_error_ns: MS,
        saw: Some(PartSummary {
            attempted: 2_500,
            correct: 2_500,
            p50: Some(5 * MS + number as Nanos * 10_000),
            p50_of_windows: Some((4 * MS, 6 * MS)),
            p99: Some(MS),
            late_p99: Some(10_000),
            lanes: 2,
            idle: 10 * SECOND,
            cpu: 10 * SECOND,
            measured: 10 * SECOND,
            ..PartSummary::default()
        }),
        beside: Beside { began_late: 0, link: Some(link()) },
        ..AgentFacts::default()
    };
    (1..=count).map(one).collect()
}

fn link() -> LinkUse {
    LinkUse {
        name: "eth0".into(),
        speed: Some(1_000_000_000),
        sent: 10_000_000,
        received: 90_000_000,
        over: SECOND,
        segments: 10_000,
        retransmitted: 9,
        ..LinkUse::default()
    }
}

/// The doubts about three agents, with a change to the second.
fn found(change: impl FnOnce(&mut AgentFacts)) -> Vec<Doubt> {
    let mut agents = alike(3);
    change(&mut agents[1]);
    of_agents(&agents)
}

fn seen(agent: &mut AgentFacts, p50: Nanos, windows: (Nanos, Nanos)) {
    let saw = agent.saw.as_mut().unwrap();
    (saw.p50, saw.p50_of_windows) = (Some(p50), Some(windows));
}

#[test]
fn agents_that_see_one_server_alike_raise_no_doubt() {
    assert_eq!(found(|_| {}), []);
    assert_eq!(of_agents(&[]), []);
    assert_eq!(of_agents(&alike(3)[..1]), []);
    // A server that varies so much for all of them.
    assert_eq!(found(|agent| seen(agent, 8 * MS, (5 * MS, 9 * MS))), []);
    // Steadily another way, but hardly.
    assert_eq!(found(|agent| seen(agent, 6_010_000, (6_001_000, 6_020_000))), []);
    assert_eq!(found(|agent| agent.saw = None), []);
}

#[test]
fn an_agent_whose_answers_take_another_time_is_apart() {
    // Of two the slower one is named, once.
    let mut two = alike(3);
    two.pop();
    seen(&mut two[1], 8 * MS, (7 * MS, 9 * MS));
    expect![[r#"
        agents_apart (suspect): half of the answers to desk2 took more than 8.00 ms, and of those to the other agents more than 5.03 ms: they did not see the same server, or not over equal network paths
        agents_apart (suspect): half of the answers to desk2 took more than 2.00 ms, and of those to the other agents more than 5.03 ms: they did not see the same server, or not over equal network paths
        agents_apart (suspect): half of the answers to desk2 took more than 8.00 ms, and of those to the other agents more than 5.01 ms: they did not see the same server, or not over equal network paths"#]]
    .assert_eq(&told([
        &found(|agent| seen(agent, 8 * MS, (7 * MS, 9 * MS))),
        &found(|agent| seen(agent, 2 * MS, (2 * MS, 3 * MS))),
        &of_agents(&two),
    ]));
}

#[test]
fn a_late_start_and_a_clock_of_its_own_pace_are_seen() {
    let late = |by| found(|agent| agent.beside.began_late = by);
    assert_eq!(late(50 * MS), []);
    let by = 51 * MS;
    let drifted =
        |by, within| found(|agent| (agent.drift_ns, agent.drift_error_ns) = (Some(by), within));
    assert_eq!(drifted(-12_000_000, 2 * MS), [], "it may be the estimate's error");
    let beyond = -12_000_001;
    expect![[r#"
        start_apart (suspect): desk2 began 51.0 ms later than all agents had agreed: until then only a part of the ordered load was sent
        clock_drift (suspect): the clock of desk2 lost 12.0 ms against this machine's during the load: its windows are not aligned with those of other agents, and its seconds have another length"#]]
    .assert_eq(&told([&late(by), &drifted(beyond, 2 * MS)]));
}

#[test]
fn a_full_link_and_a_lossy_way_are_seen() {
    let link =
        |change: fn(&mut LinkUse)| found(|agent| change(agent.beside.link.as_mut().unwrap()));
    assert_eq!(link(|link| link.received = 100_000_000), []);
    let full = link(|link| link.received = 100_000_001);
    assert_eq!(
        link(|link| (link.speed, link.sent) = (None, u64::MAX)),
        [],
        "its speed is not known"
    );
    assert_eq!(link(|link| (link.speed, link.over) = (Some(0), 0)), []);
    assert_eq!(link(|link| link.retransmitted = 10), [], "one of a thousand");
    expect![[r#"
        link_full (suspect): 80 % of what eth0 of desk2 can carry passed over it: the network may have been the limit, and not the server
        path_loss (suspect): desk2 retransmitted 11 of 10,000 TCP segments: they were lost or delayed, and the response times contain the wait for them"#]]
    .assert_eq(&told([&full, &link(|link| link.retransmitted = 11)]));
}

#[test]
fn an_interrupted_connection_to_an_agent_is_noted() {
    let blinked = found(|agent| agent.blinked_ns = 900 * MS);
    expect!["control_blinked (note): the connection to desk2 was interrupted for 900 ms; its load continued"]
        .assert_eq(&told([&blinked]));
}

/// The doubts about a healthy trial by eight agents, with changes to what the second and the seventh saw.
fn of_eight(second: fn(&mut PartSummary), seventh: fn(&mut PartSummary)) -> Vec<Doubt> {
    let mut agents = alike(8);
    second(agents[1].saw.as_mut().unwrap());
    seventh(agents[6].saw.as_mut().unwrap());
    of_trial(|trial| trial.loaded.as_mut().unwrap().agents = agents)
}

#[test]
fn the_agent_that_stood_still_for_longest_is_named_unless_nothing_here_looked_for_longer() {
    let of = |looked_at: fn(u64) -> bool| {
        let mut agents = alike(8);
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
    let mut agents = alike(8);
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
    let mut agents = alike(8);
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
