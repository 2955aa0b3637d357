//! What the command line changes of an experiment, for one run.

use std::num::NonZeroU16;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::check::refuse_twice;
use super::{Experiment, Flaw, Holds, Key, Point, Profiling, Shape, Subjects, Until};
use crate::amounts;
use crate::hold::usual_per_second;
use crate::manner::{Manner, Protocol};
use crate::schedule::Schedule;

/// What the command line changed for one run; empty if it is run as its file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    pub flags: Vec<String>,
    /// The changes in words.
    pub says: Vec<String>,
}

/// A value that the command line changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// These subjects of those that would take part.
    Subjects(Vec<String>),
    Connections(Vec<usize>),
    Duration(Duration),
    Rounds(u64),
    /// The percentage of requests that may fail.
    Failures(f64),
    Protocols(Vec<Protocol>),
    /// Requests at once on each connection.
    Streams(Vec<NonZeroU16>),
    /// Requests in several forms.
    Varied,
    /// Servers are sampled after the rounds.
    Why,
}

impl Experiment {
    /// The experiment with a few values changed for one run. They hold with `--quick`, too.
    pub fn with(mut self, changes: &[Change]) -> Result<Experiment, Flaw> {
        for change in changes {
            match change {
                Change::Subjects(names) => self.subjects = Subjects::Named(names.clone()),
                Change::Connections(values) => self.set_connections(values)?,
                Change::Duration(time) => self.set_duration(*time)?,
                Change::Rounds(rounds) => self.set_rounds(*rounds)?,
                Change::Failures(_) if self.sought.is_some() => {
                    return Key::Failures
                        .flaw("what a search keeps stands in `[search]`; leave `[promise]` out");
                }
                Change::Failures(percent) => self.promise.failed_percent = *percent,
                Change::Protocols(protocols) => {
                    refuse_twice(Key::Protocol, protocols)?;
                    let (streams, resumed) = (self.streams(), self.resumed());
                    self.manners = manners(protocols, &streams, &resumed);
                }
                Change::Streams(streams) => self.set_streams(streams)?,
                Change::Varied if matches!(self.shape, Shape::Held(_)) => {
                    return Key::Load.flaw("a connection that is held sends one request");
                }
                Change::Varied => self.vary = true,
                Change::Why => self.why = Some(Profiling::default()),
            }
            let (flag, says) = change.words();
            self.changed.flags.push(flag);
            self.changed.says.push(says);
        }
        self.checked()
    }

    fn set_connections(&mut self, values: &[usize]) -> Result<(), Flaw> {
        let most = values.iter().copied().max().unwrap_or(1);
        match &mut self.shape {
            Shape::Open { .. } | Shape::Sessions { .. } => {
                return Key::Points
                    .flaw("this load is a schedule of rates, which connections do not change");
            }
            Shape::Held(holds) if !holds.is_rate_stated => {
                holds.per_second = usual_per_second(holds.step.min(most), holds.every);
            }
            Shape::Held(_) | Shape::Closed => {}
        }
        let points = values.iter().map(|value| Point::of(&self.shape, *value as f64));
        self.points = points.collect::<Result<_, _>>()?;
        self.quick.points = None;
        match self.shape {
            Shape::Held(holds) => holds.check(most),
            Shape::Closed | Shape::Open { .. } | Shape::Sessions { .. } => Ok(()),
        }
    }

    fn set_duration(&mut self, time: Duration) -> Result<(), Flaw> {
        let flaw = |says| Key::Duration.flaw(says);
        match (&self.shape, &self.course) {
            _ if self.sought.is_some() => {
                return flaw("a search decides how long each of its trials lasts");
            }
            (Shape::Held(_), _) => {
                return flaw(
                    "held connections end after their last step, not after a time; their steps say how long that takes",
                );
            }
            (_, Some(Schedule::Steps(_))) => {
                return flaw("steps say how long they last; leave `duration` out");
            }
            _ => {}
        }
        (self.duration, self.total, self.quick.duration) = (Some(time), None, Some(time));
        Ok(())
    }

    /// So many rounds, and no rule by which there would be more.
    fn set_rounds(&mut self, rounds: u64) -> Result<(), Flaw> {
        if self.sought.is_some() {
            return Key::Repeat.flaw("a search decides how many trials it has, and has no rounds");
        }
        self.repeat = Until::rounds(None, Some(rounds));
        self.quick.repeat = Some(self.repeat);
        (self.until, self.pairs) = (None, None);
        Ok(())
    }

    fn set_streams(&mut self, streams: &[NonZeroU16]) -> Result<(), Flaw> {
        if !self.manners.iter().any(|manner| manner.protocol.is_http2()) {
            return Key::Streams.flaw(ONLY_HTTP2);
        }
        refuse_twice(Key::Streams, streams)?;
        self.manners = manners(&self.protocols(), streams, &self.resumed());
        Ok(())
    }

    /// The numbers of requests at once on a connection of HTTP/2.
    fn streams(&self) -> Vec<NonZeroU16> {
        each_once(self.manners.iter().filter(|it| it.protocol.is_http2()).map(|it| it.streams))
    }

    /// The shares of the connections within TLS that resume a session.
    fn resumed(&self) -> Vec<u8> {
        each_once(self.manners.iter().filter(|it| it.protocol.is_secured()).map(|it| it.resumed))
    }
}

impl Holds {
    /// Refuses steps that leave no time to measure, of ramps up to so many connections.
    pub(super) fn check(&self, most: usize) -> Result<(), Flaw> {
        let step = self.step.min(most);
        let begin = Duration::from_secs_f64(step as f64 / f64::from(self.per_second));
        let boot = begin + self.settle;
        match self.every <= boot {
            true => Key::Load.flaw(format!(
                "a step of {step} takes {:.1} s to begin and to settle, which leaves no time to measure",
                boot.as_secs_f64()
            )),
            false => Ok(()),
        }
    }
}

pub(super) const ONLY_HTTP2: &str =
    "only HTTP/2 has streams; name h2c or h2 in `protocol`, or leave `streams` out";

/// Each combination that has a meaning, once.
pub(super) fn manners(
    protocols: &[Protocol],
    streams: &[NonZeroU16],
    resumed: &[u8],
) -> Vec<Manner> {
    let mut manners = Vec::new();
    for &protocol in protocols {
        let has_streams = protocol.is_http2() && !streams.is_empty();
        let has_sessions = protocol.is_secured() && !resumed.is_empty();
        for &streams in if has_streams { streams } else { &[NonZeroU16::MIN] } {
            let resumed = if has_sessions { resumed } else { &[0] };
            manners.extend(resumed.iter().map(|&resumed| Manner { protocol, streams, resumed }));
        }
    }
    manners
}

fn each_once<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}

impl Change {
    /// Its flag, and what it is in a sentence.
    fn words(&self) -> (String, String) {
        let counted = |values: &[String], noun: &str| {
            let noun = if values == ["1"] { noun.to_string() } else { format!("{noun}s") };
            format!("{} {noun}", values.join(", "))
        };
        match self {
            Change::Subjects(names) => {
                (format!("--only {}", names.join(",")), format!("only {}", names.join(", ")))
            }
            Change::Connections(values) => {
                let values: Vec<String> = values.iter().map(usize::to_string).collect();
                (format!("-c {}", values.join(",")), counted(&values, "connection"))
            }
            Change::Duration(time) => {
                let time = amounts::written(*time);
                (format!("-d {time}"), format!("{time} for each trial"))
            }
            Change::Rounds(rounds) => {
                (format!("--rounds {rounds}"), counted(&[rounds.to_string()], "round"))
            }
            Change::Failures(percent) => {
                (format!("--max-failures {percent}%"), format!("at most {percent}% failed"))
            }
            Change::Protocols(protocols) => {
                let names: Vec<&str> = protocols.iter().map(|it| it.name()).collect();
                (format!("--protocol {}", names.join(",")), format!("over {}", names.join(", ")))
            }
            Change::Streams(values) => {
                let values: Vec<String> = values.iter().map(NonZeroU16::to_string).collect();
                (format!("--streams {}", values.join(",")), counted(&values, "stream"))
            }
            Change::Varied => ("--vary".into(), "requests in varied forms".into()),
            Change::Why => ("--why".into(), "sampled after the rounds".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::tests;

    fn read(promise: &str) -> Experiment {
        let text = "question = 'x'\nsubjects = ['a']\nworkload = 'u'\n\
                    load = { open = { rate = 50 }, duration = '1s', timeout = '3s' }\n[promise]\n";
        tests::read(&format!("{text}{promise}\n")).unwrap()
    }

    #[test]
    fn a_request_is_on_time_within_the_time_out_unless_the_file_says_another_limit() {
        let within = |more: &str| read(more).on_time_within().unwrap();
        assert_eq!(within("failures = '5%'"), Duration::from_secs(3), "no limit that is not said");
        assert_eq!(within("p99 = '20ms'"), Duration::from_millis(20));
    }

    #[test]
    fn the_failures_that_are_tolerated_may_be_changed_for_one_run() {
        let changed = read("failures = '5%'").with(&[Change::Failures(2.5)]).unwrap();
        assert_eq!((changed.promise.failed_percent, changed.promise.is_stated), (2.5, false));
        assert_eq!(changed.changed.flags, ["--max-failures 2.5%"]);
        assert_eq!(changed.changed.says, ["at most 2.5% failed"]);
    }
}
