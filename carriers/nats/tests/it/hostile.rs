//! Others at the broker: they read all frames, and publish what they like. The broker here has no keys and no permissions,
//! so nothing but signatures stands in their way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use async_nats::Client;
use futures_util::StreamExt;

use crate::rig::{Broker, Program};

/// A client of the test's own, on a thread of its own: it captures everything, and publishes.
struct Stranger {
    captured: std::sync::mpsc::Receiver<(String, Vec<u8>)>,
    publish: tokio::sync::mpsc::UnboundedSender<(String, Vec<u8>)>,
}

impl Stranger {
    fn at(broker: &Broker) -> Stranger {
        let (sender, captured) = channel();
        let (publish, mut to_publish) = tokio::sync::mpsc::unbounded_channel::<(String, Vec<u8>)>();
        let (ready, is_ready) = channel();
        let url = broker.url();
        thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let client: Client = async_nats::connect(&url).await.unwrap();
                let mut all = client.subscribe("dyno.>").await.unwrap();
                client.flush().await.unwrap();
                ready.send(()).unwrap();
                loop {
                    tokio::select! {
                        Some(message) = all.next() => {
                            let _ = sender.send((message.subject.to_string(), message.payload.to_vec()));
                        }
                        wanted = to_publish.recv() => {
                            let Some((subject, bytes)) = wanted else { return };
                            client.publish(subject, bytes.into()).await.unwrap();
                        }
                    }
                }
            });
        });
        is_ready.recv().unwrap();
        Stranger { captured, publish }
    }

    fn publish(&self, subject: &str, bytes: &[u8]) {
        self.publish.send((subject.to_string(), bytes.to_vec())).unwrap();
    }

    /// The next frames, up to one that is wanted; without the numbers that programs publish for themselves.
    #[track_caller]
    fn captured_until(&self, is_wanted: impl Fn(&str, &[u8]) -> bool) -> Vec<(String, Vec<u8>)> {
        let mut all = Vec::new();
        let until = Instant::now() + Duration::from_secs(60);
        while Instant::now() < until {
            let Ok((subject, bytes)) = self.captured.recv_timeout(Duration::from_secs(1)) else {
                continue;
            };
            if subject.contains(".own.") {
                continue;
            }
            let is_last = is_wanted(&subject, &bytes);
            all.push((subject, bytes));
            if is_last {
                return all;
            }
        }
        panic!("it was never published");
    }
}

/// An agent and a coordinator that know each other's keys, at a broker that lets every client in.
fn pair(broker: &Broker) -> (Program, Program) {
    let folder = broker.folder();
    let (ours, theirs) = (folder.key("coordinator"), folder.key("a"));
    let list = folder.file("list", &format!("a {theirs}\n"));
    let agent = broker.agent("a", &["--key-file", &folder.path("a"), "--trust", &ours]);
    let key = folder.path("coordinator");
    let coordinator = broker.coordinator("a", &["--key-file", &key, "--keys", &list]);
    (agent, coordinator)
}

fn has(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|part| part == word.as_bytes())
}

/// Every line so far has come, and no other: what comes next is the next.
fn still_talks(agent: &mut Program, coordinator: &mut Program, word: &str) {
    coordinator.line(&format!("a {word}"));
    agent.prints(word);
    agent.line(word);
    coordinator.prints(&format!("a {word}"));
}

#[test]
fn frames_that_are_repeated_changed_or_made_up_are_dropped_with_a_word() {
    let Some(broker) = Broker::open() else { return };
    let stranger = Stranger::at(&broker);
    let (mut agent, mut coordinator) = pair(&broker);
    still_talks(&mut agent, &mut coordinator, "one");
    let captured =
        stranger.captured_until(|subject, bytes| subject.contains(".from.") && has(bytes, "one"));
    for (subject, bytes) in &captured {
        stranger.publish(subject, bytes);
        if subject.contains(".from.") {
            stranger.publish("dyno.1.lab.from.b", bytes);
        }
    }
    agent.says("has been seen");
    coordinator.says("it was published under another agent's subject");
    for (subject, bytes) in &captured {
        let other = if subject.contains(".to.") { "dyno.1.lab.from.a" } else { "dyno.1.lab.to.a" };
        stranger.publish(other, bytes);
        for place in (0..bytes.len()).step_by(7) {
            let mut forged = bytes.clone();
            forged[place] ^= 1;
            stranger.publish(subject, &forged);
        }
        stranger.publish(subject, &bytes[..bytes.len() / 2]);
    }
    for subject in ["dyno.1.lab.to.a", "dyno.1.lab.from.a"] {
        for text in ["", "{\"halt\":1}", "\u{0}", "a halt"] {
            stranger.publish(subject, text.as_bytes());
        }
    }
    agent.says("its signature is wrong");
    still_talks(&mut agent, &mut coordinator, "two");
    assert!(agent.said().lines().count() < 30, "few sentences: {}", agent.said());
    coordinator.close();
    coordinator.ends_with(0, "more frames were dropped");
    agent.ends_with(0, "more frames were dropped");
}

#[test]
fn a_coordinator_with_another_key_is_not_obeyed_and_one_with_the_right_key_has_to_wait_its_turn() {
    let Some(broker) = Broker::open() else { return };
    let (mut agent, mut coordinator) = pair(&broker);
    let folder = broker.folder();
    folder.key("other");
    let other = |key: &str| {
        let mut other = broker.coordinator("a", &["--key-file", &folder.path(key), "--wait", "1"]);
        other.line("a obey me");
        other.prints("a");
        other
    };
    other("other").says("a: it did not answer");
    agent.says("which is not trusted here");
    still_talks(&mut agent, &mut coordinator, "one");
    other("coordinator").says("a: it works for another coordinator");
    still_talks(&mut agent, &mut coordinator, "two");
}

#[test]
fn orders_for_an_agent_that_has_gone_are_nothing_to_the_one_that_is_started_anew() {
    let Some(broker) = Broker::open() else { return };
    let stranger = Stranger::at(&broker);
    let (mut agent, mut coordinator) = pair(&broker);
    still_talks(&mut agent, &mut coordinator, "load the server");
    let captured =
        stranger.captured_until(|subject, bytes| subject.contains(".from.") && has(bytes, "load"));
    agent.kill();
    coordinator.kill();
    let trust = public_of(&broker);
    let agent = broker.agent("a", &["--key-file", &broker.folder().path("a"), "--trust", &trust]);
    // It is there when it answers a greeting, even an old one; the others it drops.
    let (is_over, publisher) = (AtomicBool::new(false), stranger.publish.clone());
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                captured.iter().for_each(|frame| publisher.send(frame.clone()).unwrap());
                thread::sleep(Duration::from_millis(100));
            }
        });
        let is_new = |bytes: &[u8]| !captured.iter().any(|(_, old)| old == bytes);
        stranger.captured_until(|subject, bytes| subject == "dyno.1.lab.from.a" && is_new(bytes));
        is_over.store(true, Ordering::Relaxed);
    });
    agent.says("it is for another process that was called a");
    assert_eq!(agent.prints_within(Duration::from_millis(300)), None);
}

fn public_of(broker: &Broker) -> String {
    let path = broker.folder().path("coordinator");
    let shown = crate::rig::program().args(["key", "--public", &path]).output().unwrap();
    String::from_utf8(shown.stdout).unwrap().trim().replace("coordinator ", "")
}
