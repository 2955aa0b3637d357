//! Both ends and a broker between them that does what it likes, in simulated time.

use std::collections::BTreeMap;

use nkeys::KeyPair;

use crate::agent::{Agent, Trust};
use crate::coordinator::Coordinator;
use crate::frame::Nonce;
use crate::link::Identity;
use crate::machine::{Action, Event, Machine};
use crate::name::Name;

const MAX_PAYLOAD: usize = 1024;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn identity(keys: &KeyPair, named: &str, nonce: u8) -> Identity {
    let keys = KeyPair::from_seed(&keys.seed().unwrap()).unwrap();
    Identity::new(keys, name("lab"), name(named), Nonce([nonce; 16]))
}

fn agent(keys: &KeyPair, named: &str, nonce: u8, trust: Trust) -> Agent {
    Agent::new(identity(keys, named, nonce), trust, MAX_PAYLOAD).unwrap()
}

/// A coordinator that looks for these agents for two seconds.
fn coordinator(keys: &KeyPair, nonce: u8, agents: &[(&str, Option<String>)]) -> Coordinator {
    let agents = agents.iter().map(|(named, key)| (name(named), key.clone()));
    Coordinator::new(identity(keys, "coordinator", nonce), agents, 8, MAX_PAYLOAD).unwrap()
}

/// A message at the broker.
#[derive(Clone)]
struct Sent {
    from: String,
    to: String,
    bytes: Vec<u8>,
}

/// One side, and what it did.
struct Side {
    machine: Box<dyn Machine>,
    printed: Vec<String>,
    said: Vec<String>,
    ended: Option<Result<(), String>>,
}

#[derive(Default)]
struct World {
    sides: BTreeMap<String, Side>,
    wire: Vec<Sent>,
    /// Everything that was ever published.
    captured: Vec<Sent>,
}

impl World {
    /// `place` is where others publish for it: several may listen at the same place under names of their own.
    fn with(mut self, place: &str, machine: impl Machine + 'static) -> World {
        let side =
            Side { machine: Box::new(machine), printed: Vec::new(), said: Vec::new(), ended: None };
        self.sides.insert(place.to_string(), side);
        self
    }

    fn side(&self, place: &str) -> &Side {
        &self.sides[place]
    }

    fn printed(&self, place: &str) -> Vec<&str> {
        self.side(place).printed.iter().map(String::as_str).collect()
    }

    fn said(&self, place: &str) -> String {
        self.side(place).said.join("\n")
    }

    fn happens(&mut self, place: &str, event: Event) {
        let Some(side) = self.sides.get_mut(place) else { return };
        if side.ended.is_some() {
            return;
        }
        for action in side.machine.on(event) {
            match action {
                Action::Print(line) => side.printed.push(String::from_utf8(line).unwrap()),
                Action::Tell(text) => side.said.push(text),
                Action::End(ended) => side.ended = Some(ended),
                Action::Send(peer, bytes) => {
                    let sent = Sent { from: place.into(), to: peer.to_string(), bytes };
                    self.captured.push(sent.clone());
                    self.wire.push(sent);
                }
            }
        }
    }

    /// What stands after `/` is for this test only: two that share a name are two sides.
    fn deliver(&mut self, sent: &Sent) {
        let is_at = |place: &&String| place.split('/').next() == Some(&sent.to);
        let places: Vec<String> = self.sides.keys().filter(is_at).cloned().collect();
        let is_there = |place: &String| self.sides[place].ended.is_none();
        if !places.iter().any(is_there) {
            let absent = Event::Absent(name(&sent.to));
            return self.happens(&sent.from, absent);
        }
        for place in places {
            let subject = sent.from.split('/').next().map(name);
            self.happens(&place, Event::Bytes { bytes: sent.bytes.clone(), subject });
        }
    }

    /// A quarter of a second: the broker delivers what was published, once it has gone through `broker`.
    fn tick_with(&mut self, mut broker: impl FnMut(Sent) -> Vec<Sent>) {
        for place in self.sides.keys().cloned().collect::<Vec<_>>() {
            self.happens(&place, Event::Tick);
        }
        for _ in 0..4 {
            for sent in std::mem::take(&mut self.wire) {
                for sent in broker(sent) {
                    self.deliver(&sent);
                }
            }
        }
    }

    fn ticks(&mut self, count: usize) {
        for _ in 0..count {
            self.tick_with(|sent| vec![sent]);
        }
    }

    fn line(&mut self, place: &str, line: &str) {
        self.happens(place, Event::Line(line.into()));
    }
}

/// A coordinator and two agents that know each other's keys.
fn lab() -> (World, [KeyPair; 3]) {
    let keys = [(); 3].map(|()| KeyPair::new_user());
    let [ours, a, b] = &keys;
    let known = [("a", Some(a.public_key())), ("b", Some(b.public_key()))];
    let trust = Trust::Key(ours.public_key());
    let world = World::default()
        .with("coordinator", coordinator(ours, 1, &known))
        .with("a", agent(a, "a", 2, trust.clone()))
        .with("b", agent(b, "b", 3, trust));
    (world, keys)
}

#[test]
fn lines_go_to_their_agent_and_back_also_those_that_were_early_and_those_that_are_cut() {
    let (mut world, _) = lab();
    let long = "x".repeat(3_000);
    world.line("coordinator", "a early");
    world.line("b", "early, too");
    world.ticks(2);
    world.line("coordinator", &format!("b {long}"));
    world.line("a", "{}");
    world.ticks(1);
    assert_eq!(world.printed("a"), ["early"]);
    assert_eq!(world.printed("b"), [&long]);
    assert_eq!(world.printed("coordinator"), ["b early, too", "a {}"]);
    world.happens("coordinator", Event::LinesEnded);
    world.ticks(1);
    assert!(["a", "b", "coordinator"].iter().all(|it| world.side(it).ended == Some(Ok(()))));
}

#[test]
fn an_agent_that_ends_is_named_alone_and_at_once() {
    let (mut world, _) = lab();
    world.ticks(1);
    world.line("a", "last words");
    world.happens("a", Event::LinesEnded);
    world.ticks(1);
    assert_eq!(world.printed("coordinator"), ["a last words", "a"]);
    assert!(world.said("coordinator").contains("a: it has ended"));
    world.line("coordinator", "a are you there?");
    world.ticks(20);
    assert_eq!(world.printed("coordinator").len(), 2, "no more of it");
}

#[test]
fn an_agent_that_is_killed_is_named_within_seconds_and_one_that_hangs_after_ten() {
    let (mut world, _) = lab();
    world.ticks(1);
    world.sides.remove("a");
    world.ticks(11);
    assert_eq!(world.printed("coordinator"), ["a"]);
    let mut without_b = |ticks| {
        for _ in 0..ticks {
            world.tick_with(|sent| if sent.from == "b" { Vec::new() } else { vec![sent] });
        }
        world.printed("coordinator").len()
    };
    assert_eq!(without_b(36), 1, "b is only silent");
    assert_eq!(without_b(4), 2);
    assert_eq!(world.printed("coordinator"), ["a", "b"]);
    assert!(world.said("coordinator").contains("b: it was silent for 10 s"));
}

#[test]
fn an_agent_ends_with_its_coordinator() {
    let (mut world, _) = lab();
    world.ticks(1);
    world.sides.remove("coordinator");
    world.ticks(12);
    let why = world.side("a").ended.clone().unwrap().unwrap_err();
    assert!(why.contains("has left the broker"), "{why}");
}

#[test]
fn who_is_not_there_in_time_is_named_with_the_reason() {
    let keys = [(); 4].map(|()| KeyPair::new_user());
    let [ours, a, b, other] = &keys;
    let known =
        [("a", Some(a.public_key())), ("b", Some(b.public_key())), ("c", None), ("d", None)];
    let trust = Trust::Key(other.public_key());
    let mut world = World::default()
        .with("coordinator", coordinator(ours, 1, &known))
        // It has another key than is known, and so has the coordinator for the second.
        .with("a", agent(other, "a", 2, Trust::Any))
        .with("b", agent(b, "b", 3, trust))
        .with("d", agent(other, "d", 4, Trust::Any));
    world.ticks(7);
    assert_eq!(world.printed("coordinator"), [""; 0]);
    world.ticks(1);
    assert_eq!(world.printed("coordinator"), ["a", "b", "c"]);
    let said = world.said("coordinator");
    assert!(
        said.contains("which is not this agent's key") && said.contains("a: it did not answer")
    );
    assert!(said.contains("b: it did not answer") && said.contains("c: no such agent"), "{said}");
    assert!(world.said("b").contains("which is not trusted here"));
    assert!(!world.side("b").machine.is_in_session() && world.side("d").machine.is_in_session());
}

#[test]
fn an_agent_works_for_one_coordinator_at_a_time() {
    let (mut world, [ours, a, _]) = lab();
    world.ticks(1);
    let second = coordinator(&ours, 9, &[("a", Some(a.public_key()))]);
    world = world.with("coordinator/2", second);
    world.line("coordinator/2", "a obey me");
    world.ticks(10);
    assert_eq!(world.printed("coordinator/2"), ["a"]);
    assert!(world.said("coordinator/2").contains("it works for another coordinator"));
    assert_eq!((world.printed("a"), world.printed("coordinator")), (vec![], vec![]));
}

#[test]
fn of_two_coordinators_that_find_an_agent_together_one_is_refused() {
    let (a, ours) = (KeyPair::new_user(), KeyPair::new_user());
    let mut world = World::default()
        .with("coordinator/1", coordinator(&ours, 1, &[("a", None)]))
        .with("coordinator/2", coordinator(&ours, 2, &[("a", None)]))
        .with("a", agent(&a, "a", 3, Trust::Any));
    world.line("coordinator/1", "a one");
    world.line("coordinator/2", "a two");
    world.ticks(10);
    assert_eq!(world.printed("a"), ["one"]);
    assert_eq!(world.printed("coordinator/1"), [""; 0]);
    assert_eq!(world.printed("coordinator/2"), ["a"]);
}

#[test]
fn an_agent_that_was_started_anew_obeys_nothing_that_was_for_the_one_before() {
    let (mut world, [ours, a, _]) = lab();
    world.ticks(1);
    world.line("coordinator", "a load the server");
    world.ticks(1);
    assert_eq!(world.printed("a"), ["load the server"]);
    let mut later = World::default();
    later = later.with("a", agent(&a, "a", 7, Trust::Key(ours.public_key())));
    for sent in world.captured.clone() {
        later.deliver(&Sent { to: "a".into(), ..sent });
    }
    assert_eq!(later.printed("a"), [""; 0]);
    assert!(!later.side("a").machine.is_in_session());
    assert!(later.said("a").contains("another process that was called a"));
}

#[test]
fn blinks_are_said_to_the_coordinator_by_either_side() {
    let (mut world, _) = lab();
    world.ticks(1);
    world.happens("a", Event::Blinked(412));
    world.ticks(1);
    world.happens("coordinator", Event::Blinked(90));
    assert_eq!(world.printed("coordinator"), ["a !blinked 412", "a !blinked 90", "b !blinked 90"]);
    assert_eq!(world.printed("a"), [""; 0]);
}

#[test]
fn what_the_broker_forbids_is_said() {
    let (mut world, _) = lab();
    world.ticks(1);
    world.happens("coordinator", Event::Forbidden(name("a")));
    assert_eq!(world.printed("coordinator"), ["a"]);
    assert!(world.said("coordinator").contains("agents nats"));
    world.happens("b", Event::Forbidden(name("coordinator")));
    assert!(world.side("b").ended.clone().unwrap().unwrap_err().contains("agents nats"));
    world.happens("coordinator", Event::MaxPayload(100));
    assert!(world.side("coordinator").ended.clone().unwrap().unwrap_err().contains("100 bytes"));
}

#[test]
fn lines_for_nobody_known_are_dropped_with_a_word() {
    let (mut world, _) = lab();
    for line in ["c {}", "", "A {}", "a", "a "] {
        world.line("coordinator", line);
    }
    world.ticks(2);
    assert_eq!(world.printed("a"), [""; 0]);
    assert_eq!(world.said("coordinator").matches("no such agent").count(), 3);
}

/// A broker that was captured has all frames and none of the keys.
#[test]
fn a_captured_broker_can_delay_and_lose_but_never_command() {
    for seed in 1..=12u64 {
        let mut state = seed;
        let mut chance = move |of: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % of
        };
        let (mut world, _) = lab();
        let mut held: Vec<Sent> = Vec::new();
        for tick in 0..40 {
            for agent in ["a", "b"] {
                world.line("coordinator", &format!("{agent} {agent}-{tick}"));
                world.line(agent, &format!("{agent}-{tick}"));
            }
            let captured = world.captured.clone();
            world.tick_with(|sent| {
                let any = |chance: &mut dyn FnMut(usize) -> usize| {
                    captured.get(chance(captured.len().max(1))).cloned()
                };
                match chance(12) {
                    0 => Vec::new(),
                    1 => vec![sent.clone(), sent],
                    2 => held.drain(..).chain([sent]).collect(),
                    3 => {
                        held.push(sent);
                        Vec::new()
                    }
                    4 => {
                        let to = ["a", "b", "coordinator"][chance(3)].to_string();
                        any(&mut chance)
                            .map(|old| Sent { to, ..old })
                            .into_iter()
                            .chain([sent])
                            .collect()
                    }
                    5 => {
                        let mut forged = sent.clone();
                        let place = chance(forged.bytes.len());
                        forged.bytes[place] ^= 1 << chance(8);
                        vec![forged, sent]
                    }
                    _ => vec![sent],
                }
            });
        }
        for agent in ["a", "b"] {
            let sent: Vec<String> = (0..40).map(|tick| format!("{agent}-{tick}")).collect();
            let heard = world.printed("coordinator");
            let heard = heard.iter().filter_map(|it| it.strip_prefix(&format!("{agent} ")));
            for got in [world.printed(agent), heard.collect()] {
                let mut rest = sent.iter();
                assert!(got.iter().all(|line| rest.any(|it| it == line)), "seed {seed}: {got:?}");
                assert!(5 < got.len(), "seed {seed}: lines do arrive: {got:?}");
            }
            assert!(world.side(agent).said.len() <= 21, "few sentences");
        }
    }
}
