//! What is carried, between whom, and how it ends.

use std::time::Duration;

use crate::rig::{Broker, Folder, server};

#[test]
fn two_agents_and_a_coordinator_talk_and_each_may_end_it() {
    let Some(broker) = Broker::closed(|config| config) else { return };
    let (mut two, mut three) = (broker.known_agent("desk2"), broker.known_agent("desk3"));
    let mut coordinator = broker.known_coordinator("desk2,desk3");
    coordinator.line("desk2 {\"arm\":1}");
    coordinator.line("desk3 {\"arm\":2}");
    two.prints("{\"arm\":1}");
    three.prints("{\"arm\":2}");
    two.line("{\"armed\":1}");
    coordinator.prints("desk2 {\"armed\":1}");
    three.line("{\"armed\":2}");
    coordinator.prints("desk3 {\"armed\":2}");
    two.close();
    two.ends_with(0, "");
    coordinator.prints("desk2");
    coordinator.says("desk2: it has ended");
    coordinator.close();
    coordinator.ends_with(0, "");
    three.ends_with(0, "");
}

#[test]
fn a_line_may_have_4_mib_and_is_carried_whatever_a_message_may_have() {
    for max_payload in ["1048576", "4096"] {
        let change = |config: String| {
            config.replace("max_payload: 1048576", &format!("max_payload: {max_payload}"))
        };
        let Some(broker) = Broker::closed(change) else { return };
        let (mut agent, mut coordinator) =
            (broker.known_agent("desk2"), broker.known_coordinator("desk2"));
        let long = "x".repeat(4 << 20);
        coordinator.line(&format!("desk2 {long}"));
        agent.prints(&long);
        agent.line(&long);
        coordinator.prints(&format!("desk2 {long}"));
        agent.line(&format!("{long}x"));
        agent.says("a line of 4194305 bytes was not sent: 4 MiB is the most");
        coordinator.line(&format!("desk2 {long}{long}"));
        coordinator.says("was not sent");
        agent.line("short");
        coordinator.prints("desk2 short");
    }
}

#[test]
fn a_broker_that_takes_no_messages_of_a_useful_size_is_refused() {
    let Some(server) = server() else { return };
    let Some(broker) = Broker::with(&server, Folder::new(), "max_payload: 512\n") else { return };
    broker.agent("a", &["--trust", "any"]).ends_with(2, "takes messages of 512 bytes at most");
}

#[test]
fn lines_that_are_early_wait_and_agents_may_come_late() {
    let Some(broker) = Broker::open() else { return };
    let mut coordinator = broker.coordinator("a", &["--wait", "60"]);
    coordinator.line("a first");
    coordinator.says("no keys of agents are given");
    let mut agent = broker.agent("a", &["--trust", "any"]);
    agent.line("hello");
    agent.prints("first");
    coordinator.prints("a hello");
}

#[test]
fn who_is_killed_is_noticed_by_the_other_side() {
    let Some(broker) = Broker::closed(|config| config) else { return };
    let (mut two, mut three) = (broker.known_agent("desk2"), broker.known_agent("desk3"));
    let mut coordinator = broker.known_coordinator("desk2,desk3");
    for (agent, line) in [(&mut two, "desk2 x"), (&mut three, "desk3 x")] {
        coordinator.line(line);
        agent.prints("x");
    }
    two.kill();
    coordinator.prints("desk2");
    coordinator.says("desk2: it has left the broker");
    // The one that is started anew is another one, and this coordinator's run has lost the first.
    let again = broker.known_agent("desk2");
    coordinator.line("desk2 y");
    assert_eq!(again.prints_within(Duration::from_millis(600)), None);
    coordinator.kill();
    three.ends_with(2, "the coordinator has left the broker");
}
