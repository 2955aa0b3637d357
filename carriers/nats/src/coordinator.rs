//! The coordinator's end: it looks for its agents, and says which of them it has lost. Pure.

use std::collections::BTreeMap;

use crate::frame::{Frame, Kind, Nonce};
use crate::link::{Identity, Link, Said};
use crate::machine::{Action, Dropped, Event, Machine, Waiting, piece_of};
use crate::name::{Name, shortened};

const BUSY: &str = "it works for another coordinator";

pub(crate) struct Coordinator {
    me: Identity,
    piece: usize,
    /// For how many ticks an agent may let itself be waited for.
    wait: u32,
    ticks: u32,
    agents: BTreeMap<Name, Agent>,
    dropped: Dropped,
}

/// What is known of one agent.
struct Agent {
    /// The key that it must have; none if the first one that it shows is taken for its own.
    key: Option<String>,
    state: State,
}

enum State {
    /// It was not found yet.
    Sought {
        waiting: Waiting,
        is_busy: bool,
        is_absent: bool,
    },
    Found(Box<Link>),
    Gone,
}

impl Coordinator {
    /// Looks for these agents, each with its key if that is known.
    pub(crate) fn new(
        me: Identity,
        agents: impl IntoIterator<Item = (Name, Option<String>)>,
        wait: u32,
        max_payload: usize,
    ) -> Result<Coordinator, String> {
        let sought =
            || State::Sought { waiting: Waiting::default(), is_busy: false, is_absent: false };
        let agents = agents.into_iter().map(|(name, key)| (name, Agent { key, state: sought() }));
        Ok(Coordinator {
            me,
            piece: piece_of(max_payload)?,
            wait,
            ticks: 0,
            agents: agents.collect(),
            dropped: Dropped::default(),
        })
    }

    /// Done each tick, for those that are not found yet.
    fn greet(&self) -> Result<Vec<Action>, String> {
        let sought = self.agents.iter().filter(|it| matches!(it.1.state, State::Sought { .. }));
        let greet = |(name, _): (&Name, &Agent)| {
            let hello = self.me.greeting(Kind::Hello, name, Nonce::NONE)?;
            Ok(Action::Send(name.clone(), hello))
        };
        sought.map(greet).collect()
    }

    fn accept(&mut self, bytes: &[u8], subject: Option<&Name>) -> Result<Vec<Action>, String> {
        let frame = match Frame::decode(bytes, self.me.lab()) {
            Ok(frame) => frame,
            Err(fault) => return Ok(self.dropped.fault(&fault).into_iter().collect()),
        };
        let from = frame.from.clone();
        let done = match self.judge(&frame, subject) {
            Ok(()) => self.hear(frame),
            Err(why) => Ok(Err(why)),
        };
        done.map(|done| {
            done.unwrap_or_else(|why| self.dropped.say(from.as_str(), &why).into_iter().collect())
        })
    }

    /// Whether it is from one of our agents, under its own subject and with its own key, and for this very process.
    fn judge(&self, frame: &Frame, subject: Option<&Name>) -> Result<(), String> {
        let Some(agent) = self.agents.get(&frame.from) else {
            return Err("it is no agent of this run".into());
        };
        if Some(&frame.from) != subject {
            return Err("it was published under another agent's subject".into());
        }
        if frame.to != *self.me.name() || frame.to_nonce != self.me.nonce() {
            return Err("it is for another coordinator".into());
        }
        match &agent.key {
            Some(key) if *key != frame.key => {
                Err(format!("it is signed with {}, which is not this agent's key", frame.key))
            }
            _ => Ok(()),
        }
    }

    /// The outer error ends the program, the inner one only drops the frame.
    fn hear(&mut self, frame: Frame) -> Result<Result<Vec<Action>, String>, String> {
        let Some(agent) = self.agents.get_mut(&frame.from) else { return Ok(Ok(Vec::new())) };
        match (&mut agent.state, frame.kind) {
            (State::Gone, _) => Ok(Ok(Vec::new())),
            (State::Sought { .. }, Kind::Welcome) => self.find(&frame).map(Ok),
            (State::Sought { is_busy, .. }, Kind::Busy) => {
                *is_busy = true;
                Ok(Ok(Vec::new()))
            }
            (State::Sought { .. }, _) => Ok(Err("it belongs to no session".into())),
            (State::Found(session), _) if !session.is_of(&frame) => {
                Ok(Err("it is from another process with this name".into()))
            }
            // The answer to a greeting that was repeated.
            (State::Found(_), Kind::Welcome) => Ok(Ok(Vec::new())),
            (State::Found(_), Kind::Busy) => Ok(Ok(self.lose(&frame.from, BUSY))),
            (State::Found(session), _) => {
                let name = frame.from.clone();
                let said = match session.receive(frame) {
                    Ok(said) => said,
                    Err(why) => return Ok(Err(why)),
                };
                Ok(Ok(match said {
                    Said::Alive => Vec::new(),
                    Said::Line(line) => vec![print(&name, Some(&line))],
                    Said::Blinked(ms) => vec![blinked(&name, ms)],
                    Said::Bye => self.lose(&name, "it has ended"),
                }))
            }
        }
    }

    fn find(&mut self, welcome: &Frame) -> Result<Vec<Action>, String> {
        let name = &welcome.from;
        let Some(agent) = self.agents.get_mut(name) else { return Ok(Vec::new()) };
        let State::Sought { waiting, .. } = &mut agent.state else { return Ok(Vec::new()) };
        agent.key = Some(welcome.key.clone());
        let mut link = Link::new(name.clone(), welcome.key.clone(), welcome.from_nonce);
        // This opens the session, also if no line waits.
        let mut frames = vec![link.send(&self.me, Kind::Alive, &[])?];
        for line in waiting.take() {
            frames.extend(link.send_line(&self.me, &line, self.piece)?);
        }
        agent.state = State::Found(Box::new(link));
        Ok(frames.into_iter().map(|frame| Action::Send(name.clone(), frame)).collect())
    }

    /// Says that an agent cannot be reached, or not any more. It is not looked for again.
    fn lose(&mut self, name: &Name, why: &str) -> Vec<Action> {
        let Some(agent) = self.agents.get_mut(name) else { return Vec::new() };
        agent.state = State::Gone;
        vec![Action::Tell(format!("{name}: {why}")), print(name, None)]
    }

    fn line(&mut self, line: &[u8]) -> Result<Vec<Action>, String> {
        let space = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let (to, text) = line.split_at(space);
        let to = String::from_utf8_lossy(to);
        let name = Name::parse(&to).ok();
        let Some((name, agent)) = name.and_then(|name| self.agents.get_key_value(&name)) else {
            let to = shortened(&to);
            return Ok(vec![Action::Tell(format!("a line for `{to}` was dropped: no such agent"))]);
        };
        let (name, text) = (name.clone(), text.get(1..).unwrap_or_default());
        if text.is_empty() || matches!(agent.state, State::Gone) {
            return Ok(Vec::new());
        }
        let Some(agent) = self.agents.get_mut(&name) else { return Ok(Vec::new()) };
        match &mut agent.state {
            State::Gone => Ok(Vec::new()),
            State::Sought { waiting, .. } => {
                let gone = waiting.push(text.to_vec());
                let tell =
                    || Action::Tell(format!("{gone} lines were dropped: {name} was not found yet"));
                Ok((0 < gone).then(tell).into_iter().collect())
            }
            State::Found(session) => {
                let frames = session.send_line(&self.me, text, self.piece)?;
                Ok(frames.into_iter().map(|frame| Action::Send(name.clone(), frame)).collect())
            }
        }
    }

    fn tick(&mut self) -> Result<Vec<Action>, String> {
        self.ticks = self.ticks.saturating_add(1);
        let is_late = self.wait <= self.ticks;
        let mut lost = Vec::new();
        let mut actions = Vec::new();
        for (name, agent) in &mut self.agents {
            match &mut agent.state {
                State::Gone => {}
                State::Sought { is_busy: true, .. } if is_late => {
                    lost.push((name.clone(), BUSY.to_string()));
                }
                State::Sought { is_absent: true, .. } if is_late => {
                    lost.push((name.clone(), "no such agent is at the broker".into()));
                }
                State::Sought { .. } if is_late => {
                    let why = "it did not answer: its key or the one it trusts may be another";
                    lost.push((name.clone(), why.into()));
                }
                // The next greeting finds out anew.
                State::Sought { is_absent, .. } => *is_absent = false,
                State::Found(session) => {
                    if let Some(why) = session.tick() {
                        lost.push((name.clone(), format!("it {why}")));
                    } else if session.is_quiet() {
                        let alive = session.send(&self.me, Kind::Alive, &[])?;
                        actions.push(Action::Send(name.clone(), alive));
                    }
                }
            }
        }
        for (name, why) in lost {
            actions.extend(self.lose(&name, &why));
        }
        actions.extend(self.greet()?);
        Ok(actions)
    }

    /// All agents that were found.
    fn found(&mut self) -> impl Iterator<Item = (&Name, &mut Link)> {
        self.agents.iter_mut().filter_map(|(name, agent)| match &mut agent.state {
            State::Found(session) => Some((name, &mut **session)),
            _ => None,
        })
    }

    /// The end: those that are at work hear of it.
    fn end(&mut self) -> Result<Vec<Action>, String> {
        let mut actions = Vec::new();
        for (name, agent) in &mut self.agents {
            if let State::Found(session) = &mut agent.state {
                let bye = session.send(&self.me, Kind::Bye, &[])?;
                actions.push(Action::Send(name.clone(), bye));
            }
        }
        actions.extend(self.dropped.rest());
        actions.push(Action::End(Ok(())));
        Ok(actions)
    }

    fn absent(&mut self, name: &Name) {
        match self.agents.get_mut(name).map(|agent| &mut agent.state) {
            Some(State::Found(session)) => session.is_absent = true,
            Some(State::Sought { is_absent, .. }) => *is_absent = true,
            Some(State::Gone) | None => {}
        }
    }
}

impl Machine for Coordinator {
    fn on(&mut self, event: Event) -> Vec<Action> {
        let done = match event {
            Event::Bytes { bytes, subject } => self.accept(&bytes, subject.as_ref()),
            Event::Line(line) => self.line(&line),
            Event::Tick => self.tick(),
            Event::Blinked(ms) => Ok(self.found().map(|(name, _)| blinked(name, ms)).collect()),
            Event::Absent(name) => {
                self.absent(&name);
                Ok(Vec::new())
            }
            Event::LinesEnded => self.end(),
            Event::Forbidden(name) => Ok(self.lose(
                &name,
                "the broker forbids to publish for it: `dyno agents nats` writes the permissions",
            )),
            Event::MaxPayload(most) => piece_of(most).map(|piece| {
                self.piece = piece;
                Vec::new()
            }),
        };
        done.unwrap_or_else(|why| vec![Action::End(Err(why))])
    }

    fn is_in_session(&self) -> bool {
        true
    }
}

/// `NAME LINE`, or `NAME` alone.
fn print(name: &Name, line: Option<&[u8]>) -> Action {
    let mut printed = name.as_str().as_bytes().to_vec();
    if let Some(line) = line {
        printed.push(b' ');
        printed.extend_from_slice(line);
    }
    Action::Print(printed)
}

fn blinked(name: &Name, ms: u32) -> Action {
    print(name, Some(format!("!blinked {ms}").as_bytes()))
}
