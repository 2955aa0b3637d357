//! Carries: joins one side's pipes, the broker, and the machine that decides; nothing is decided here.

use std::path::Path;
use std::time::Duration;

use async_nats::{Client, ClientError, Message, ServerError, StatusCode, Subscriber};
use futures_util::StreamExt;
use nkeys::KeyPair;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, timeout};

use crate::agent::Agent;
use crate::broker::{self, Report, Subjects};
use crate::contact::Contact;
use crate::coordinator::Coordinator;
use crate::flags::{Carry, Role};
use crate::keys;
use crate::link::Identity;
use crate::machine::{Action, Event, Machine, TICK_MS};
use crate::name::{Name, shortened};
use crate::pipes::{self, Input, Pipes};

/// How long a frame may wait to be written, and the broker to be reached again.
const MOST_OUT_OF_REACH: Duration = Duration::from_secs(2);
const OUT_OF_REACH: &str = "the broker was out of reach for 2 s";

pub(crate) async fn carry(order: Carry) -> Result<(), String> {
    let keys = match &order.key_file {
        Some(path) => keys::read(path).map_err(|why| format!("--key-file {why}"))?,
        None => KeyPair::new_user(),
    };
    let agents = match &order.role {
        Role::Agent { .. } => Vec::new(),
        Role::Coordinator { agents: names, keys } => agents(names, keys.as_deref())?,
    };
    let pipes = pipes::open();
    let ca = order.ca.as_deref();
    let (client, reports) = tokio::select! {
        connected = broker::connect(&order.url, &keys, ca, order.wait_seconds) => connected?,
        () = pipes.has_ended.notified() => {
            return Err("standard input ended before the broker was reached".into());
        }
    };
    let max_payload = client.server_info().max_payload;
    let (machine, subjects) = machine(order, keys, agents, max_payload)?;
    let inbox = subscribe(&client, subjects.inbox()).await?;
    let own = subscribe(&client, format!("{}.>", subjects.own())).await?;
    let mut ticks = interval(Duration::from_millis(TICK_MS));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let started = Instant::now();
    let mut carrier = Carrier {
        client,
        subjects,
        machine,
        inbox,
        own,
        reports,
        pipes,
        ticks,
        started,
        contact: Contact::new(0),
        is_connected: true,
        is_said: false,
        lost_lines: 0,
    };
    let ended = carrier.run().await;
    if 0 < carrier.lost_lines {
        notice(&format!("{} lines in all were not read and are lost", carrier.lost_lines));
    }
    let _ = timeout(Duration::from_secs(1), carrier.client.flush()).await;
    carrier.pipes.printer.finish();
    ended
}

/// The agents that are to be found, each with its key if keys are known.
fn agents(names: &[Name], list: Option<&Path>) -> Result<Vec<(Name, Option<String>)>, String> {
    let Some(path) = list else {
        notice(
            "no keys of agents are given (--keys): the first that an agent shows is taken for its own",
        );
        return Ok(names.iter().map(|name| (name.clone(), None)).collect());
    };
    let known = keys::list(path).map_err(|why| format!("--keys {why}"))?;
    let with_key = |name: &Name| {
        let key = known.get(name).ok_or_else(|| format!("--keys has no key of {name}"))?;
        Ok((name.clone(), Some(key.clone())))
    };
    names.iter().map(with_key).collect()
}

/// What decides for this side, and its subjects.
fn machine(
    order: Carry,
    keys: KeyPair,
    agents: Vec<(Name, Option<String>)>,
    max_payload: usize,
) -> Result<(Box<dyn Machine>, Subjects), String> {
    let nonce = keys::draw_nonce()?;
    let Carry { lab, role, wait_seconds, .. } = order;
    match role {
        Role::Agent { name, trust } => {
            let subjects = Subjects::new(&lab, &name, false);
            let me = Identity::new(keys, lab, name, nonce);
            Ok((Box::new(Agent::new(me, trust, max_payload)?), subjects))
        }
        Role::Coordinator { .. } => {
            let name = Name::coordinator();
            let subjects = Subjects::new(&lab, &name, true);
            let me = Identity::new(keys, lab, name, nonce);
            let wait = wait_seconds.saturating_mul(1000 / TICK_MS as u32);
            Ok((Box::new(Coordinator::new(me, agents, wait, max_payload)?), subjects))
        }
    }
}

async fn subscribe(client: &Client, subject: String) -> Result<Subscriber, String> {
    let done = timeout(MOST_OUT_OF_REACH, client.subscribe(subject)).await;
    done.map_err(|_| OUT_OF_REACH.to_string())?.map_err(|error| error.to_string())
}

struct Carrier {
    client: Client,
    subjects: Subjects,
    machine: Box<dyn Machine>,
    inbox: Subscriber,
    own: Subscriber,
    reports: mpsc::Receiver<Report>,
    pipes: Pipes,
    ticks: Interval,
    started: Instant,
    contact: Contact,
    is_connected: bool,
    /// Whether it was said that the broker is out of reach.
    is_said: bool,
    /// Lines for our own side that it did not read in time.
    lost_lines: u64,
}

impl Carrier {
    async fn run(&mut self) -> Result<(), String> {
        loop {
            let event = tokio::select! {
                message = self.inbox.next() => self.published(message)?,
                message = self.own.next() => self.own(message)?,
                Some(report) = self.reports.recv() => self.report(report)?,
                // While nothing can be published, the program that writes to this one waits.
                Some(input) = self.pipes.lines.recv(), if self.is_connected => self.input(input),
                () = self.pipes.has_ended.notified(), if !self.is_connected => return Ok(()),
                _ = self.ticks.tick() => self.tick().await?,
            };
            let Some(event) = event else { continue };
            let was_in_session = self.machine.is_in_session();
            let actions = self.machine.on(event);
            if !was_in_session && self.machine.is_in_session() {
                self.contact.has_session();
            }
            for action in actions {
                match action {
                    Action::Send(peer, bytes) => self.publish(&peer, bytes).await?,
                    Action::Print(line) => self.print(line),
                    Action::Tell(text) => notice(&text),
                    Action::End(ended) => return ended,
                }
            }
        }
    }

    fn published(&self, message: Option<Message>) -> Result<Option<Event>, String> {
        let message = message.ok_or("the connection to the broker was closed")?;
        let subject = Subjects::peer(&message.subject);
        Ok(Some(Event::Bytes { bytes: message.payload.to_vec(), subject }))
    }

    /// What was published for our own: numbers that return, and the broker's word that a peer is absent.
    fn own(&mut self, message: Option<Message>) -> Result<Option<Event>, String> {
        let message = message.ok_or("the connection to the broker was closed")?;
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            return Ok(Subjects::peer(&message.subject).map(Event::Absent));
        }
        let Ok(number) = message.payload[..].try_into() else { return Ok(None) };
        let now_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let blinked = self.contact.heard(u64::from_be_bytes(number), now_ms);
        if let Some(ms) = blinked {
            notice(&format!("the broker was out of reach for {ms} ms; lines may have been lost"));
            self.is_said = false;
        }
        Ok(blinked.map(Event::Blinked))
    }

    fn report(&mut self, report: Report) -> Result<Option<Event>, String> {
        match report {
            Report::Connected => {
                self.is_connected = true;
                return Ok(Some(Event::MaxPayload(self.client.server_info().max_payload)));
            }
            Report::Disconnected => {
                self.is_connected = false;
                self.contact.broke();
            }
            Report::Closed => return Err("the connection to the broker was closed".into()),
            Report::SlowConsumer(_) => notice("frames were lost: too many came at once"),
            Report::ServerError(ServerError::AuthorizationViolation) => {
                return Err("the broker does not accept this key any more".into());
            }
            Report::ServerError(ServerError::Other(words)) => {
                if words.contains("Permissions Violation") {
                    return self
                        .subjects
                        .forbidden(&words)
                        .map(|peer| Some(Event::Forbidden(peer)));
                }
                notice(&format!("the broker says: {}", shortened(&words)));
            }
            Report::ClientError(ClientError::Other(words)) if words.contains("authorization") => {
                return Err("the broker does not accept this key any more".into());
            }
            _ => {}
        }
        Ok(None)
    }

    fn input(&mut self, input: Input) -> Option<Event> {
        match input {
            Input::Line(line) if self.is_too_long(&line) => self.refuse(line.len() as u64),
            Input::Line(line) if line.is_empty() => None,
            Input::Line(line) => Some(Event::Line(line)),
            Input::TooLong(length) => self.refuse(length),
            Input::Ended => Some(Event::LinesEnded),
        }
    }

    fn is_too_long(&self, line: &[u8]) -> bool {
        pipes::is_too_long(line, self.subjects.is_coordinator())
    }

    fn refuse(&self, length: u64) -> Option<Event> {
        notice(&format!("a line of {length} bytes was not sent: 4 MiB is the most"));
        None
    }

    async fn tick(&mut self) -> Result<Option<Event>, String> {
        if self.contact.tick() {
            if self.machine.is_in_session() {
                return Err(OUT_OF_REACH.into());
            }
            if !std::mem::replace(&mut self.is_said, true) {
                notice("the broker is out of reach; waiting for it");
            }
        }
        if self.is_connected {
            let number = self.contact.next().to_be_bytes().to_vec();
            let (subject, reply) = (self.subjects.echo(), None);
            self.write(subject, reply, number).await?;
        }
        Ok(Some(Event::Tick))
    }

    async fn publish(&self, peer: &Name, bytes: Vec<u8>) -> Result<(), String> {
        // To this subject the broker answers if it has no subscriber.
        let reply = Some(self.subjects.absent(peer));
        self.write(self.subjects.outbox(peer), reply, bytes).await
    }

    /// Hands a message to the connection, which has room for a few.
    async fn write(
        &self,
        subject: String,
        reply: Option<String>,
        bytes: Vec<u8>,
    ) -> Result<(), String> {
        let written = async {
            match reply {
                Some(reply) => self.client.publish_with_reply(subject, reply, bytes.into()).await,
                None => self.client.publish(subject, bytes.into()).await,
            }
        };
        let written = timeout(MOST_OUT_OF_REACH, written).await;
        written.map_err(|_| OUT_OF_REACH.to_string())?.map_err(|error| error.to_string())
    }

    fn print(&mut self, line: Vec<u8>) {
        if !self.pipes.printer.print(line) {
            if self.lost_lines == 0 {
                notice("lines are lost: what is printed here is not read");
            }
            self.lost_lines += 1;
        }
    }
}

/// A sentence on standard error, for a person.
pub(crate) fn notice(text: &str) {
    use std::io::Write;
    // Where it cannot be written, there is no other place for it.
    let _ = std::io::stderr().write_all(format!("dyno-nats: {text}\n").as_bytes());
}
