//! An agent's end: it waits for one coordinator that it trusts, and serves that one for its whole life. Pure.

use crate::frame::{Frame, Kind};
use crate::link::{Identity, Link, Said};
use crate::machine::{Action, Dropped, Event, Machine, Waiting, piece_of};
use crate::name::Name;

/// Greetings that are answered in a tick, at most.
const MOST_ANSWERS: u32 = 16;

/// Which coordinators are obeyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    Any,
    Key(String),
}

pub(crate) struct Agent {
    me: Identity,
    trust: Trust,
    piece: usize,
    session: Option<Link>,
    waiting: Waiting,
    dropped: Dropped,
    answers: u32,
}

impl Agent {
    pub(crate) fn new(me: Identity, trust: Trust, max_payload: usize) -> Result<Agent, String> {
        Ok(Agent {
            me,
            trust,
            piece: piece_of(max_payload)?,
            session: None,
            waiting: Waiting::default(),
            dropped: Dropped::default(),
            answers: 0,
        })
    }

    fn accept(&mut self, bytes: &[u8]) -> Result<Vec<Action>, String> {
        let frame = match Frame::decode(bytes, self.me.lab()) {
            Ok(frame) => frame,
            Err(fault) => return Ok(self.dropped.fault(&fault).into_iter().collect()),
        };
        if let Err(why) = self.judge(&frame) {
            return Ok(self.dropped.say("a coordinator", &why).into_iter().collect());
        }
        let is_of_another = self.session.as_ref().is_some_and(|it| !it.is_of(&frame));
        match frame.kind {
            Kind::Hello if !is_of_another => self.answer(Kind::Welcome, &frame),
            _ if is_of_another => self.answer(Kind::Busy, &frame),
            _ => self.obey(frame),
        }
    }

    /// Whether it is from a coordinator that is trusted, and for this very process.
    fn judge(&self, frame: &Frame) -> Result<(), String> {
        if frame.from != Name::coordinator() || frame.to != *self.me.name() {
            return Err(format!("it is from {} for {}", frame.from, frame.to));
        }
        if matches!(&self.trust, Trust::Key(key) if *key != frame.key) {
            return Err(format!("it is signed with {}, which is not trusted here", frame.key));
        }
        match frame.kind {
            Kind::Hello => Ok(()),
            kind if !kind.is_in_session() => Err("it is an agent's".into()),
            _ if frame.to_nonce != self.me.nonce() => {
                Err(format!("it is for another process that was called {}", frame.to))
            }
            _ => Ok(()),
        }
    }

    /// Answers a coordinator. A greeting opens nothing, since it may be an old one: only who knows this process's nonce
    /// can go on.
    fn answer(&mut self, kind: Kind, asked: &Frame) -> Result<Vec<Action>, String> {
        if MOST_ANSWERS <= self.answers {
            return Ok(Vec::new());
        }
        self.answers += 1;
        let answer = self.me.greeting(kind, &asked.from, asked.from_nonce)?;
        Ok(vec![Action::Send(asked.from.clone(), answer)])
    }

    fn obey(&mut self, frame: Frame) -> Result<Vec<Action>, String> {
        let mut actions = Vec::new();
        if self.session.is_none() {
            actions = self.open(&frame)?;
        }
        let Some(session) = &mut self.session else { return Ok(actions) };
        match session.receive(frame) {
            Err(why) => actions.extend(self.dropped.say("the coordinator", &why)),
            Ok(Said::Line(line)) => actions.push(Action::Print(line)),
            Ok(Said::Alive | Said::Blinked(_)) => {}
            Ok(Said::Bye) => {
                actions.extend(self.dropped.rest());
                actions.push(Action::End(Ok(())));
            }
        }
        Ok(actions)
    }

    fn open(&mut self, frame: &Frame) -> Result<Vec<Action>, String> {
        let mut link = Link::new(frame.from.clone(), frame.key.clone(), frame.from_nonce);
        let mut actions = Vec::new();
        for line in self.waiting.take() {
            let frames = link.send_line(&self.me, &line, self.piece)?;
            actions.extend(frames.into_iter().map(|it| Action::Send(frame.from.clone(), it)));
        }
        self.session = Some(link);
        Ok(actions)
    }

    fn send(&mut self, kind: Kind, payload: &[u8]) -> Result<Vec<Action>, String> {
        let Some(session) = &mut self.session else { return Ok(Vec::new()) };
        let frame = session.send(&self.me, kind, payload)?;
        Ok(vec![Action::Send(Name::coordinator(), frame)])
    }

    fn line(&mut self, line: Vec<u8>) -> Result<Vec<Action>, String> {
        let Some(session) = &mut self.session else {
            let gone = self.waiting.push(line);
            let tell =
                || Action::Tell(format!("{gone} lines were dropped: no coordinator is here"));
            return Ok((0 < gone).then(tell).into_iter().collect());
        };
        let frames = session.send_line(&self.me, &line, self.piece)?;
        Ok(frames.into_iter().map(|frame| Action::Send(Name::coordinator(), frame)).collect())
    }

    fn tick(&mut self) -> Result<Vec<Action>, String> {
        self.answers = 0;
        let Some(session) = &mut self.session else { return Ok(Vec::new()) };
        if let Some(why) = session.tick() {
            return Err(format!("the coordinator {why}"));
        }
        if session.is_quiet() { self.send(Kind::Alive, &[]) } else { Ok(Vec::new()) }
    }
}

impl Machine for Agent {
    fn on(&mut self, event: Event) -> Vec<Action> {
        let done = match event {
            Event::Bytes { bytes, .. } => self.accept(&bytes),
            Event::Line(line) => self.line(line),
            Event::Tick => self.tick(),
            Event::Blinked(ms) => self.send(Kind::Blinked, &ms.to_be_bytes()),
            Event::Absent(_) => {
                if let Some(session) = &mut self.session {
                    session.is_absent = true;
                }
                Ok(Vec::new())
            }
            Event::LinesEnded => self.send(Kind::Bye, &[]).map(|mut actions| {
                actions.extend(self.dropped.rest());
                actions.push(Action::End(Ok(())));
                actions
            }),
            Event::Forbidden(peer) => Err(format!(
                "the broker forbids this agent to publish for {peer}: `dyno agents nats` writes the permissions"
            )),
            Event::MaxPayload(most) => piece_of(most).map(|piece| {
                self.piece = piece;
                Vec::new()
            }),
        };
        done.unwrap_or_else(|why| vec![Action::End(Err(why))])
    }

    fn is_in_session(&self) -> bool {
        self.session.is_some()
    }
}
