//! The agent: it meets one coordinator, carries out what that orders as far as its owner allows it, and ends with it.

pub(crate) mod orders;
mod way;
pub(crate) mod work;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use load::Halt;
use post::{
    Agent, AgentAction, AgentEvent, AgentFrame, Caps, CoordinatorFrame, Greeting, Host,
    MILLISECOND, Nanos, SECOND, Task, ToServers,
};

use crate::allow::Allow;
use crate::busy::Claim;
use crate::identity::{nonce, own_host, same_program, unread};
use crate::pipes::{Writer, each_line, in_a_thread};
use crate::{carrier, now_ns};

const ONLY_LOADS: &str = "this agent only loads, and was asked to run servers (`--server-on`); name a login, or a key with \
                          the line of `dyno agents key --servers`, that may have servers run";

/// Time is looked at this often.
const TICK: Nanos = 50 * MILLISECOND;
/// So many events wait to be dealt with; the thread that brings one more waits.
const EVENTS: usize = 32;
/// Lines that wait to be written. When there are more, a line is lost, and said again later if it matters.
const LINES: usize = 64;
/// A coordinator greets as soon as there is a line, and gives up after less than this.
const GREETED_WITHIN: Nanos = 90 * SECOND;
/// So many of the owner's rules are told.
const RULES_MAX: usize = 256;
/// How long the last lines may take to be read.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What an agent's owner allows.
#[derive(Clone, Debug)]
pub struct Limits {
    pub allow: Allow,
    pub caps: Caps,
    /// The coordinator started this process on its own machine: both are one program, and there may be several of them.
    pub is_local: bool,
}

/// Serves the coordinator at the other end of these two, until it has gone; or, while none is met, until the end is asked
/// for. Its lanes may still be there when this returns: the process should end.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    limits: Limits,
    end: &Halt,
) -> Result<(), String> {
    serve_within(Some(GREETED_WITHIN), input, output, limits, end)
}

/// Serves a coordinator that must have come within this time.
fn serve_within(
    greeted_within: Option<Nanos>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    limits: Limits,
    end: &Halt,
) -> Result<(), String> {
    let (sender, events) = sync_channel(EVENTS);
    let closed = sender.clone();
    let writer = Writer::start(output, LINES, move || drop(closed.send(Happening::Closed)))?;
    let reader = sender.clone();
    in_a_thread("reads", move || read(input, &reader))?;
    let served = Server {
        agent: Agent::new(nonce(), now_ns()),
        limits,
        lines: writer.messages.clone(),
        sender,
        claim: None,
        order: None,
        halts: BTreeMap::new(),
        ticked: now_ns(),
        greeted_by: greeted_within.map(|time| now_ns() + time),
    }
    .listen(&events, end);
    writer.close(LAST_WORDS);
    served
}

/// Serves a coordinator that comes by a broker of NATS: `carrier_arguments` tell `dyno-nats` which one, and as whom.
pub fn serve_via(
    carrier_arguments: &[OsString],
    program: &Path,
    limits: Limits,
    end: &Halt,
) -> Result<(), String> {
    let carrier = carrier::beside(program);
    let mut command = Command::new(&carrier);
    command.args(carrier_arguments);
    let refused = |error: std::io::Error| {
        format!("{} cannot be started: {error}; dyno-nats belongs beside dyno", carrier.display())
    };
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(refused)?;
    let (Some(input), Some(output)) = (child.stdout.take(), child.stdin.take()) else {
        return Err("the carrier's pipes are missing".into());
    };
    let served = serve_within(None, input, output, limits, end);
    if end.is_asked() {
        let _ = child.kill();
        let _ = child.wait();
        return served;
    }
    let ended = child.wait();
    match (served, ended) {
        (Ok(()), Ok(status)) if !status.success() => Err("the carrier could not go on".into()),
        (served, _) => served,
    }
}

/// What happens to an agent.
enum Happening {
    Heard {
        frame: Box<CoordinatorFrame>,
        at: Nanos,
    },
    /// Why a line cannot be read.
    Unread(String),
    /// The coordinator has gone.
    Closed,
    /// A load says something.
    Event(AgentEvent),
}

struct Server {
    agent: Agent,
    limits: Limits,
    lines: SyncSender<Box<AgentFrame>>,
    sender: SyncSender<Happening>,
    /// While a coordinator is met.
    claim: Option<Claim>,
    /// The order that was checked last.
    order: Option<Task>,
    halts: BTreeMap<u64, Arc<Halt>>,
    ticked: Nanos,
    /// Until when a coordinator must have come: a line may be dead, and no end of it is seen.
    greeted_by: Option<Nanos>,
}

impl Server {
    /// Until the coordinator has gone, or writes what is no line of one. With a coordinator, that one decides about the end.
    fn listen(mut self, events: &Receiver<Happening>, end: &Halt) -> Result<(), String> {
        let mut was_met = false;
        loop {
            let wait = (self.ticked + TICK).saturating_sub(now_ns());
            let event = match events.recv_timeout(Duration::from_nanos(wait)) {
                Ok(Happening::Heard { frame, at }) => AgentEvent::Heard { frame, at },
                Ok(Happening::Event(event)) => event,
                Ok(Happening::Closed) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(Happening::Unread(says)) => return Err(says),
                Err(RecvTimeoutError::Timeout) => AgentEvent::Tick,
            };
            self.on(event);
            // Many lines do not keep the lease from being looked at.
            if self.ticked + TICK <= now_ns() {
                self.ticked = now_ns();
                self.on(AgentEvent::Tick);
            }
            if was_met && !self.agent.is_met() {
                return Ok(());
            }
            was_met = self.agent.is_met();
            if !was_met && end.is_asked() {
                return Ok(());
            }
            if !was_met && self.greeted_by.is_some_and(|until| until < now_ns()) {
                return Err("no coordinator came in time".into());
            }
        }
    }

    fn on(&mut self, event: AgentEvent) {
        if let AgentEvent::Ended { load, .. } = event {
            self.halts.remove(&load);
        }
        for action in self.agent.on(event, now_ns()) {
            self.obey(action);
        }
    }

    fn obey(&mut self, action: AgentAction) {
        match action {
            AgentAction::Say(frame) => {
                // If the writer has gone, so has the coordinator, and an event says so.
                let _ = self.lines.try_send(frame);
            }
            AgentAction::Meet { run, greeting } => {
                let met = self.meet(&run, &greeting);
                self.on(AgentEvent::Met(met));
            }
            AgentAction::Check { order } => {
                let checked = orders::check(&order, &self.limits).map(|(task, ready)| {
                    self.order = Some(task);
                    ready
                });
                self.on(AgentEvent::Checked(checked));
            }
            AgentAction::Start { load, origin } => self.start(load, origin),
            AgentAction::Halt { load, at } => {
                if let Some(halt) = self.halts.get(&load) {
                    at.map_or_else(|| halt.ask(), |at| halt.ask_at(at));
                }
            }
            AgentAction::Stop { load } => {
                if let Some(halt) = self.halts.get(&load) {
                    halt.ask();
                }
            }
            AgentAction::Part => self.claim = None,
        }
    }

    /// Whether this coordinator may be met, and what it learns then.
    fn meet(&mut self, run: &str, greeting: &Greeting) -> Result<Box<Host>, String> {
        let sha256 = same_program(greeting)?;
        if !self.limits.is_local {
            self.claim = Some(Claim::stake("agent", run, &carrier::child::plain(&greeting.by))?);
        }
        let facts = match self.limits.is_local {
            true => Vec::new(),
            false => machine::facts::read().into_iter().map(|it| (it.name, it.value)).collect(),
        };
        let (caps, allow) = (self.limits.caps, self.limits.allow.rules(RULES_MAX));
        Ok(Box::new(Host { caps, allow, facts, ..own_host(sha256) }))
    }

    fn start(&mut self, load: u64, origin: Nanos) {
        let halt = Arc::new(Halt::default());
        self.halts.insert(load, Arc::clone(&halt));
        let Some(order) = self.order.take() else { return };
        let sender = self.sender.clone();
        let started = in_a_thread("load", move || {
            let result = work::carry_out(order, origin, &halt, &mut |window| {
                let _ = sender.send(Happening::Event(AgentEvent::Window { load, window }));
            });
            let _ = sender.send(Happening::Event(AgentEvent::Ended { load, result }));
        });
        if let Err(says) = started {
            let result = Err(format!("it {says}"));
            self.on(AgentEvent::Ended { load, result });
        }
    }
}

/// Hands on what comes, until the coordinator has gone.
fn read(input: impl Read, sender: &SyncSender<Happening>) {
    each_line(
        input,
        |_| (),
        |line, at| {
            let happening = match line.clone().and_then(post::decode) {
                Ok(frame) => Happening::Heard { frame: Box::new(frame), at },
                Err(error) => Happening::Unread(unread::<ToServers>(&line, &error, ONLY_LOADS)),
            };
            sender.send(happening).err()
        },
    );
    let _ = sender.send(Happening::Closed);
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn an_agent_that_nobody_greets_ends() {
        let (input, _held) = UnixStream::pair().unwrap();
        let limits = Limits { allow: Allow::loopback(), caps: Caps::default(), is_local: true };
        let served = serve_within(
            Some(10 * MILLISECOND),
            input,
            std::io::sink(),
            limits.clone(),
            &Halt::default(),
        );
        assert_eq!(served, Err("no coordinator came in time".into()));
        let (end, (input, _held)) = (Halt::default(), UnixStream::pair().unwrap());
        end.ask();
        assert_eq!(serve(input, std::io::sink(), limits, &end), Ok(()));
    }
}
