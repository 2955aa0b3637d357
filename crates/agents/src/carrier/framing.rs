//! How a carrier writes lines: those of one agent bare, those of several behind the agent's name.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;

use post::{CoordinatorEvent, LineError, MILLISECOND, Nanos};

use super::CarrierEvent;

/// Lines that a shell writes before an agent speaks, at most.
const NOISE_MAX: u32 = 1_000;

pub(crate) enum Framing {
    One(usize),
    /// Lines of a host of servers, which are handed on as they are.
    Servers,
    Named(BTreeMap<String, usize>),
}

/// Why no further line is read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The host has no dyno of this hash yet; its system and machine, as `uname` names them.
    Missing { system: String, machine: String },
    /// What it wrote cannot be read, or the reader has gone.
    Done,
}

/// The lines of a carrier, as they are read.
pub(super) struct Listener<'a> {
    framing: &'a Framing,
    sender: &'a SyncSender<CarrierEvent>,
    has_spoken: bool,
    noise: u32,
}

impl<'a> Listener<'a> {
    pub(super) fn new(framing: &'a Framing, sender: &'a SyncSender<CarrierEvent>) -> Listener<'a> {
        Listener { framing, sender, has_spoken: false, noise: 0 }
    }

    /// A line that came at this time. None: go on.
    pub(super) fn take(&mut self, line: Result<&[u8], LineError>, at: Nanos) -> Option<Stop> {
        let is_preamble = |line: &[u8]| !self.has_spoken && !line.starts_with(b"{");
        match (self.framing, line) {
            (Framing::One(_) | Framing::Servers, Ok(line)) if is_preamble(line) => {
                self.preamble(line)
            }
            (Framing::One(agent), line) => {
                self.has_spoken = true;
                self.frame(*agent, line, at)
            }
            (Framing::Servers, line) => {
                self.has_spoken = true;
                self.send(CarrierEvent::Raw(line.map(<[u8]>::to_vec)))
            }
            (Framing::Named(_), Err(_)) => None,
            (Framing::Named(agents), Ok(line)) => {
                let length = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
                let name = String::from_utf8_lossy(&line[..length]);
                // A name of no agent is of no use to anyone.
                let agent = *agents.get(name.as_ref())?;
                match line.get(length + 1..) {
                    None => {
                        let how = "the broker has no such agent, or it has gone".into();
                        self.gone(agent, how)
                    }
                    Some(rest) => match blinked(rest) {
                        Some(nanos) => self.send(CarrierEvent::Blinked { agent, nanos }),
                        None => self.frame(agent, Ok(rest), at),
                    },
                }
            }
        }
    }

    /// What a shell says before the agent does.
    fn preamble(&mut self, line: &[u8]) -> Option<Stop> {
        let text = String::from_utf8_lossy(line);
        if let Some(rest) = text.strip_prefix("dyno-agent missing ") {
            let (system, machine) = rest.split_once(' ').unwrap_or((rest, ""));
            return Some(Stop::Missing { system: system.into(), machine: machine.trim().into() });
        }
        self.noise += 1;
        (NOISE_MAX < self.noise).then(|| self.unread("more than its shell's greeting")).flatten()
    }

    fn frame(&self, agent: usize, line: Result<&[u8], LineError>, at: Nanos) -> Option<Stop> {
        match line.and_then(post::decode) {
            Ok(frame) => {
                let frame = Box::new(frame);
                self.send(CarrierEvent::Agents(CoordinatorEvent::Heard { agent, frame, at }))
            }
            Err(error) => {
                let how = format!(
                    "it wrote what cannot be read: {}",
                    super::child::plain(&error.to_string())
                );
                self.gone(agent, how);
                matches!(self.framing, Framing::One(_)).then_some(Stop::Done)
            }
        }
    }

    fn unread(&self, what: &str) -> Option<Stop> {
        let how = format!("it wrote {what}, and nothing of an agent");
        match self.framing {
            Framing::One(agent) => self.gone(*agent, how),
            Framing::Servers => self.gone(0, how),
            Framing::Named(_) => None,
        };
        Some(Stop::Done)
    }

    fn gone(&self, agent: usize, how: String) -> Option<Stop> {
        self.send(CarrierEvent::Agents(CoordinatorEvent::Gone { agent, how }))
    }

    /// Stops if no one listens any more.
    fn send(&self, event: CarrierEvent) -> Option<Stop> {
        self.sender.send(event).is_err().then_some(Stop::Done)
    }
}

/// `!blinked MS`
fn blinked(rest: &[u8]) -> Option<Nanos> {
    let text = std::str::from_utf8(rest.strip_prefix(b"!blinked ")?).ok()?;
    text.trim().parse::<u32>().ok().map(|ms| Nanos::from(ms) * MILLISECOND)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use post::FromAgent;

    use super::*;

    const ALIVE: &str = r#"{"run":"r","meeting":1,"says":{"alive":{"trial":0}}}"#;

    /// The events of these lines, in short, and why it stopped.
    fn heard(framing: &Framing, lines: &[&str]) -> (Vec<String>, Option<Stop>) {
        let (sender, events) = sync_channel(100);
        let mut listener = Listener::new(framing, &sender);
        let stop = lines.iter().find_map(|line| listener.take(Ok(line.as_bytes()), 7));
        drop(sender);
        let short = |event| match event {
            CarrierEvent::Agents(CoordinatorEvent::Heard { agent, frame, at: 7 }) => {
                assert!(matches!(frame.says, FromAgent::Alive { trial: 0 }));
                format!("{agent} lives")
            }
            CarrierEvent::Agents(CoordinatorEvent::Gone { agent, how }) => {
                format!("{agent} gone: {how}")
            }
            CarrierEvent::Blinked { agent, nanos } => format!("{agent} blinked {nanos}"),
            CarrierEvent::Agents(_) | CarrierEvent::Raw(_) | CarrierEvent::Enough => {
                panic!("no carrier says this, or not now")
            }
        };
        (events.iter().map(short).collect(), stop)
    }

    #[test]
    fn a_shell_may_greet_before_the_agent_speaks_and_not_after_it() {
        let one = Framing::One(3);
        let (events, stop) = heard(&one, &["Welcome!", "", ALIVE, ALIVE]);
        assert_eq!((events.join(", ").as_str(), stop), ("3 lives, 3 lives", None));
        let (events, stop) = heard(&one, &[ALIVE, "Welcome!", ALIVE]);
        assert!(events[1].starts_with("3 gone: it wrote what cannot be read"), "{events:?}");
        assert_eq!((events.len(), stop), (2, Some(Stop::Done)));
        let (events, stop) = heard(&one, &["x"; 2_000]);
        assert_eq!((events.len(), stop), (1, Some(Stop::Done)), "{events:?}");
    }

    #[test]
    fn a_host_without_dyno_says_what_it_is() {
        let (_, stop) = heard(&Framing::One(0), &["hi", "dyno-agent missing Linux x86_64"]);
        let (system, machine) = ("Linux".into(), "x86_64".into());
        assert_eq!(stop, Some(Stop::Missing { system, machine }));
    }

    #[test]
    fn lines_of_several_agents_stand_behind_their_names() {
        let agents = BTreeMap::from([("a".to_string(), 0), ("b-1".to_string(), 1)]);
        let named = Framing::Named(agents);
        let lines = [
            &format!("b-1 {ALIVE}"),
            "c {}",
            "",
            "a !blinked 250",
            "a",
            "b-1 {",
            &format!("b-1 {ALIVE}"),
        ];
        let (events, stop) = heard(&named, &lines);
        assert_eq!(events[..2], ["1 lives", "0 blinked 250000000"]);
        assert!(
            events[2].starts_with("0 gone: the broker")
                && events[3].starts_with("1 gone: it wrote")
        );
        assert_eq!((events[4].as_str(), stop), ("1 lives", None));
    }
}
