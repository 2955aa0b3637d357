//! The accounting bench of held connections. The counts under every condition are compared with a log that is taken at
//! the boundary to the network, by definitions that are written down here a second time, the long way.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use wire::socket_ask;

use super::log::{Life, echo_answer, lives};
use super::*;
use crate::distribution::Distribution;
use crate::engine::{Log, written};
use crate::order::Share;

/// What a server does under a condition.
#[derive(Clone, Copy)]
struct Condition {
    name: &'static str,
    /// When the connection of this number, begun at that time, gets its first event, and which.
    accept: fn(u64, Nanos) -> (Nanos, Act),
    /// When bytes that would leave at an instant really leave; never, if none.
    leaves: fn(Nanos) -> Option<Nanos>,
    /// How long after the request a connection ends, and how.
    ends: Option<(Nanos, fn() -> Act)>,
    /// Echoes come back changed.
    is_wrong: bool,
}

fn accepted(_: u64, now: Nanos) -> (Nanos, Act) {
    (now + 1, Act::Accept)
}

const STEADY: Condition =
    Condition { name: "steady", accept: accepted, leaves: Some, ends: None, is_wrong: false };

fn conditions() -> Vec<Condition> {
    vec![
        STEADY,
        Condition {
            name: "stall over the step's end",
            leaves: |at| {
                Some(if (8 * SECOND..13 * SECOND).contains(&at) { 13 * SECOND + 7 } else { at })
            },
            ..STEADY
        },
        Condition {
            name: "stall over the end",
            leaves: |at| Some(if 17 * SECOND < at { at.max(24 * SECOND) } else { at }),
            ..STEADY
        },
        Condition {
            name: "hang for good",
            leaves: |at| (at < 14 * SECOND).then_some(at),
            ..STEADY
        },
        Condition {
            name: "slow accept",
            accept: |number, now| (now + (number % 4) * 1_700 * MS + 1, Act::Accept),
            ..STEADY
        },
        Condition {
            name: "refusals",
            accept: |number, now| {
                (now + 1, if number % 3 == 0 { Act::Refuse } else { Act::Accept })
            },
            ..STEADY
        },
        Condition { name: "resets", ends: Some((4_300 * MS, || Act::Reset)), ..STEADY },
        Condition { name: "ends", ends: Some((6_100 * MS, || Act::Fin)), ..STEADY },
        Condition { name: "wrong echoes", is_wrong: true, ..STEADY },
    ]
}

/// What is held, and when it is stopped.
#[derive(Clone)]
struct Case {
    order: HoldOrder,
    lanes: usize,
    stop: Nanos,
    name: &'static str,
}

fn cases() -> Vec<Case> {
    let beats = order(12, 6);
    let socket = HoldWhat::Socket { ask: socket_ask("h", "/wsecho", &[]).unwrap() };
    let echo = |per_second: f64| HoldOrder {
        what: socket.clone(),
        beat: None,
        sends: Some(Sends::Echo { text: b"hello".to_vec(), per_second }),
        ..beats.clone()
    };
    let one = HoldOrder { ramp: Ramp { connections: 1, step: 1, ..beats.ramp }, ..beats.clone() };
    let never = Nanos::MAX;
    let case =
        |name, order: &HoldOrder, lanes, stop| Case { order: order.clone(), lanes, stop, name };
    vec![
        case("beats", &beats, 1, never),
        case("beats, not begun again", &HoldOrder { reopen: false, ..beats.clone() }, 1, never),
        case(
            "a beat longer than what is measured",
            &HoldOrder { beat: Some(Duration::from_secs(30)), ..beats.clone() },
            1,
            never,
        ),
        case("beats of no known distance", &HoldOrder { beat: None, ..beats.clone() }, 1, never),
        case("one connection", &one, 1, never),
        case("two lanes, stopped at a boundary", &beats, 2, 10 * SECOND),
        case("two lanes, stopped after it", &beats, 2, 10 * SECOND + 1),
        case("two lanes, stopped between beats", &beats, 2, 15_500 * MS),
        case("two lanes, stopped at once", &beats, 2, 0),
        case("echoes", &echo(3.7), 1, never),
        case("half an echo a second", &echo(0.5), 1, never),
        case("more echoes than connections", &echo(40.0), 2, 17_300 * MS),
    ]
}

/// What must be counted in a step, by definition.
#[derive(Debug, PartialEq)]
struct Figures {
    asked: usize,
    begun: u64,
    begun_again: u64,
    opened: u64,
    failed: BTreeMap<&'static str, u64>,
    lost: BTreeMap<&'static str, u64>,
    open: u64,
    opening: u64,
    silent: u64,
    messages: u64,
    /// The messages in whole beats, and how long these last.
    whole: Option<(u64, u64)>,
    per_s: Option<f64>,
    connect: u64,
    agree: u64,
    /// The lateness of messages that carry the time at which they were due: how many, and the latest.
    late: (u64, Option<Nanos>),
    /// Due, correct, failed, blocked, under way; times known or censored.
    echoes: [u64; 6],
}

fn counted(plateau: &Plateau) -> Figures {
    let named = |counts: &[u64; Loss::COUNT]| {
        let all = Loss::ALL.into_iter().zip(counts).filter(|(_, count)| 0 < **count);
        all.map(|(loss, count)| (loss.name(), *count)).collect()
    };
    let echoes = &plateau.echoes;
    Figures {
        asked: plateau.times.connections,
        begun: plateau.begun,
        begun_again: plateau.begun_again,
        opened: plateau.opened,
        failed: named(&plateau.failed),
        lost: named(&plateau.lost),
        open: plateau.open,
        opening: plateau.opening,
        silent: plateau.silent,
        messages: plateau.messages,
        whole: plateau.whole.map(|whole| (whole.messages, whole.lasted)),
        per_s: plateau.messages_per_s(),
        connect: plateau.connect.count(),
        agree: plateau.agree.count(),
        late: (plateau.late.count(), latest(&plateau.late)),
        echoes: [
            echoes.due,
            echoes.correct,
            echoes.failed,
            echoes.blocked,
            echoes.under_way,
            echoes.response.count(),
        ],
    }
}

/// To a hundredth, which is within the resolution of histograms.
fn latest(late: &Distribution) -> Option<Nanos> {
    late.extremes().map(|(_, most)| hundredths(most))
}

fn hundredths(ns: Nanos) -> Nanos {
    (ns + 5 * MS) / (10 * MS)
}

impl Case {
    fn engine(&self, condition: Condition, log: &Log, from: u64) -> Simulated<'static> {
        let (seen, mut number) = (Rc::clone(log), from);
        let accept = move |now| {
            number += 1;
            (condition.accept)(number, now)
        };
        let is_socket = matches!(self.order.what, HoldWhat::Socket { .. });
        let answer = move |now: Nanos| {
            let written = written(&seen);
            let mut acts = if is_socket {
                echo_answer(&written, now, condition.is_wrong)
            } else {
                beats_of(now)
            };
            if let (Some((after, end)), true) = (condition.ends, written.starts_with(b"GET")) {
                acts.push((now + after, end()));
            }
            let moved = |(at, act)| Some(((condition.leaves)(at)?, act));
            acts.into_iter().filter_map(moved).collect()
        };
        Simulated::new(accept, answer).logged(log)
    }

    fn end(&self) -> Nanos {
        self.stop.min(self.order.ramp.end())
    }

    fn run(&self, condition: Condition) -> (Holding, Vec<Vec<Life>>) {
        let mut whole: Option<Holding> = None;
        let mut all = Vec::new();
        for lane in 0..self.lanes {
            let log = Log::default();
            let order =
                HoldOrder { share: Share { first: lane, of: self.lanes }, ..self.order.clone() };
            let engine = self.engine(condition, &log, lane as u64);
            let stop = (self.stop < Nanos::MAX).then_some(self.stop);
            let holding = Lane::new(engine, &order, lane, 0).hold(|| stop, &mut |_| {});
            match &mut whole {
                Some(whole) => whole.merge(&holding),
                None => whole = Some(holding),
            }
            all.push(lives(&log, self.end()));
        }
        (whole.unwrap(), all)
    }

    /// The steps that began before the end, and always the first one.
    fn truth(&self, lanes: &[Vec<Life>]) -> Vec<Figures> {
        let steps = 0..self.order.ramp.plateaus();
        let began = steps
            .filter(|number| *number == 0 || self.order.ramp.plateau(*number).from < self.end());
        began.map(|number| self.step(number, lanes)).collect()
    }

    fn step(&self, number: usize, lanes: &[Vec<Life>]) -> Figures {
        let times = self.order.ramp.plateau(number);
        let until = times.until.min(self.end());
        // What happens at the very end of a step is seen in it.
        let inside = |at: Nanos| (number == 0 || times.from < at) && at <= until;
        let is_begun = |life: &Life| times.from <= life.begun && life.begun < until;
        let measured = |at: Nanos| times.measured_from <= at && at < until;
        let all: Vec<&Life> = lanes.iter().flatten().collect();
        let count =
            |holds: &dyn Fn(&Life) -> bool| all.iter().filter(|life| holds(life)).count() as u64;
        let is_inside = |instant: Option<Nanos>| instant.is_some_and(inside);
        let (mut failed, mut lost) = (BTreeMap::new(), BTreeMap::new());
        for life in &all {
            if let Some((gone, cause)) = life.gone.filter(|(gone, _)| inside(*gone)) {
                let was_open = life.opened.is_some_and(|opened| opened <= gone);
                *if was_open { &mut lost } else { &mut failed }.entry(cause).or_insert(0) += 1;
            }
        }
        let is_there =
            |life: &Life| life.begun < until && life.gone.is_none_or(|(gone, _)| until < gone);
        let is_open =
            |life: &Life| is_there(life) && life.opened.is_some_and(|opened| opened <= until);
        let is_silent = |life: &Life| {
            let last = life.messages.iter().map(|(at, _)| *at).filter(|at| *at <= until).max();
            let since = last.or(life.connected).unwrap_or(0);
            is_open(life) && self.order.silence.as_nanos() as Nanos <= until - since
        };
        let is_echo = self.order.sends.is_some();
        let received: Vec<(Nanos, Option<Nanos>)> = all
            .iter()
            .flat_map(|life| &life.messages)
            .filter(|(at, _)| measured(*at))
            .copied()
            .collect();
        let (messages, length) = (received.len() as u64, until.saturating_sub(times.measured_from));
        let whole = self.order.beat.filter(|_| !is_echo).map(|beat| {
            let beat = beat.as_nanos() as Nanos;
            let lasted = length / beat * beat;
            let end = times.measured_from + lasted;
            (received.iter().filter(|(at, _)| *at < end).count() as u64, lasted)
        });
        let (of, over) = whole.unwrap_or((messages, length));
        let late = received.iter().filter_map(|(at, due)| Some(at - (*due)?));
        Figures {
            asked: times.connections,
            begun: count(&|life| is_begun(life)),
            begun_again: count(&|life| life.is_again && is_begun(life)),
            opened: count(&|life| is_inside(life.opened)),
            failed,
            lost,
            open: count(&is_open),
            opening: count(&|life| is_there(life) && !is_open(life)),
            silent: if is_echo { 0 } else { count(&is_silent) },
            messages,
            whole,
            per_s: (0 < over).then(|| of as f64 * SECOND as f64 / over as f64),
            connect: count(&|life| is_inside(life.connected)),
            agree: count(&|life| is_inside(life.opened)),
            late: (late.clone().count() as u64, late.max().map(hundredths)),
            echoes: self.echoes(lanes, times.measured_from, until),
        }
    }

    fn echoes(&self, lanes: &[Vec<Life>], from: Nanos, until: Nanos) -> [u64; 6] {
        let Some(Sends::Echo { per_second, .. }) = self.order.sends else { return [0; 6] };
        let [mut due, mut correct, mut failed, mut blocked, mut under_way, mut known] = [0; 6];
        for (lane, lives) in lanes.iter().enumerate() {
            let schedule = (lane as u64..).step_by(lanes.len());
            let schedule = schedule.map(|n| (n as f64 / per_second * SECOND as f64) as Nanos);
            for instant in schedule.take_while(|at| *at < until).filter(|at| from <= *at) {
                due += 1;
                let said =
                    lives.iter().flat_map(|life| life.said.iter().map(move |said| (life, said)));
                let Some((life, said)) = said.into_iter().find(|(_, said)| said.at == instant)
                else {
                    blocked += 1;
                    continue;
                };
                let back = said.back.filter(|(at, _)| *at <= until);
                let gone = life.gone.filter(|(gone, _)| *gone <= until);
                let is_given_up = gone.is_some_and(|(_, cause)| cause == "echo.timeout");
                match (back, gone) {
                    (Some((_, true)), _) => correct += 1,
                    (Some((_, false)), _) | (None, Some(_)) => failed += 1,
                    (None, None) => under_way += 1,
                }
                known += u64::from(back.is_some() || gone.is_none() || is_given_up);
            }
        }
        [due, correct, failed, blocked, under_way, known]
    }
}

/// The oracle's endless answer: beats that carry the time at which they were due.
fn beats_of(now: Nanos) -> Vec<(Nanos, Act)> {
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let beat = |number: u64| {
        let due = now + 2 * MS + number * SECOND;
        let text = format!("beat={number} due_ns={due}\n");
        (due, Act::Send(format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()))
    };
    std::iter::once((now + MS, Act::Send(head))).chain((0..40).map(beat)).collect()
}

#[test]
fn every_count_is_what_the_definitions_say_under_every_condition() {
    let mut wrong = Vec::new();
    for case in cases() {
        for condition in conditions() {
            let (holding, lives) = case.run(condition);
            let counted: Vec<Figures> = holding.plateaus.iter().map(counted).collect();
            let truth = case.truth(&lives);
            let name = format!("{}, {}", case.name, condition.name);
            if holding.imbalance().is_some() || counted.len() != truth.len() {
                wrong.push(format!("{name}: {:?}, {} steps", holding.imbalance(), counted.len()));
            }
            for (counted, truth) in counted.iter().zip(&truth) {
                if counted != truth {
                    wrong.push(format!("{name}:\n  counted {counted:?}\n  truth   {truth:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
