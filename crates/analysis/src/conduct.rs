//! How a server behaved under load: which requests it answered wrongly, which it failed, and whether these are more than
//! is tolerated. Every command judges it here: a server that gives wrong answers, or fails too often, is neither compared
//! nor ranked, however fast it is.

use lab::experiment::{Experiment, Promised};
use load::{Cut, Failure, Sessions, Tally};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use units::{count, counted};

/// What went wrong through the server's doing: of all requests that were made; of a load of sessions, of all sessions,
/// those that were not completed. Those that failed through dyno's own are in neither count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "faults")]
pub struct Faults {
    /// whole answers with the right status and the wrong content
    pub wrong: u64,
    /// those that failed in another way
    pub failed: u64,
    /// How often they failed in which way.
    #[serde(skip)]
    pub ways: Ways,
    /// how many were made
    pub of: u64,
    /// requests or sessions
    #[serde(rename = "unit", serialize_with = "unit")]
    #[schemars(with = "String", extend("enum" = ["requests", "sessions"]))]
    pub of_sessions: bool,
    /// The sessions that failed because the server ended their connection between two calls.
    #[serde(skip)]
    pub cut: Cut,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde requires it
fn unit<S: Serializer>(of_sessions: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(unit_name(*of_sessions))
}

fn unit_name(of_sessions: bool) -> &'static str {
    if of_sessions { "sessions" } else { "requests" }
}

/// How often requests failed in which way, by the places of `Failure::ALL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways([u64; Failure::COUNT]);

impl Default for Ways {
    fn default() -> Ways {
        Ways([0; Failure::COUNT])
    }
}

impl Ways {
    /// So many, all in one way.
    #[must_use]
    pub fn one(failure: Failure, times: u64) -> Ways {
        let mut ways = Ways::default();
        ways.0[failure.index()] = times;
        ways
    }

    /// Those of a tally that `belongs` admits.
    #[must_use]
    pub fn of(total: &Tally, belongs: fn(Failure) -> bool) -> Ways {
        let mut ways = Ways::default();
        for failure in Failure::ALL.into_iter().filter(|failure| belongs(*failure)) {
            ways.0[failure.index()] = total.failures(failure);
        }
        ways
    }

    /// The most frequent way; none if nothing failed.
    #[must_use]
    pub fn most(&self) -> Option<Failure> {
        let most = Failure::ALL.into_iter().max_by_key(|failure| self.0[failure.index()])?;
        (0 < self.0[most.index()]).then_some(most)
    }

    /// `, mostly recv.reset`, to follow so many that failed: it is said of all only where it holds of all. `explained` is
    /// what stands behind the name.
    #[must_use]
    pub fn says(&self, of: u64, explained: impl Fn(Failure) -> String) -> String {
        let Some(most) = self.most() else { return String::new() };
        let times = self.0[most.index()];
        let how = match of {
            1 => "with",
            of if of <= times => "all",
            of if of < 2 * times => "mostly",
            _ => "most often",
        };
        format!(", {how} {most}{}", explained(most))
    }

    fn and(mut self, other: &Ways) -> Ways {
        for (times, other) in self.0.iter_mut().zip(other.0) {
            *times += other;
        }
        self
    }
}

/// How many faults are tolerated, each as a percentage of the requests that were made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerated {
    /// `require.wrong` of an experiment.
    pub wrong_percent: f64,
    /// `promise.failures` of an experiment, `--max-failures` of a command.
    pub failed_percent: f64,
}

/// What the faults of a server mean for its figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Conduct {
    /// It has none.
    #[default]
    Sound,
    /// No more than is tolerated: they are named, and the server is compared and ranked.
    Tolerated(Faults),
    /// It gave more wrong answers than are tolerated: it is named first, and is not compared or ranked.
    Wrong(Faults),
    /// It failed more requests than is tolerated: it is named first, and is not compared or ranked.
    Failing(Faults),
}

impl Faults {
    /// Those in all of these tallies together.
    pub fn of<'t>(tallies: impl IntoIterator<Item = &'t Tally>) -> Faults {
        let (mut wrong, mut ways) = (0, Ways::default());
        let (mut of, mut sessions) = (0, Sessions::default());
        for tally in tallies {
            of += tally.attempted;
            sessions.add(tally.sessions);
            let has_failed = |failure: Failure| !failure.is_own() && !failure.is_wrong_content();
            ways = ways.and(&Ways::of(tally, has_failed));
            let is_wrong = |failure: Failure| !failure.is_own() && failure.is_wrong_content();
            wrong += Ways::of(tally, is_wrong).0.iter().sum::<u64>();
        }
        let failed = ways.0.iter().sum();
        match sessions.attempted {
            0 => Faults { wrong, failed, ways, of, ..Faults::default() },
            // A session ends with its first call that fails: each of these calls is a session.
            of => {
                let (cut, failed) = (sessions.cut, failed + sessions.cut.sessions);
                Faults { wrong, failed, ways, of, of_sessions: true, cut }
            }
        }
    }

    /// Why so many failed: the class of most of them, and the sessions that the server ended.
    #[must_use]
    pub fn why(self) -> String {
        let cut = self.cut;
        let mostly = self.ways.says(self.failed - cut.sessions, |_| String::new());
        if cut.sessions == 0 {
            return mostly;
        }
        let (fewest, most) = (count(cut.calls_min.into()), u64::from(cut.calls_max));
        let most = counted(most, "call", "calls");
        let after =
            if cut.calls_min == cut.calls_max { most } else { format!("{fewest} to {most}") };
        let others = match self.failed - cut.sessions {
            0 => String::new(),
            _ => format!("; in the others a call failed{mostly}"),
        };
        format!(
            ": in {} the server closed the connection after {after}{others}",
            count(cut.sessions)
        )
    }

    /// What was made: `requests`, or `sessions`.
    #[must_use]
    pub fn unit(self) -> &'static str {
        unit_name(self.of_sessions)
    }

    /// How many went wrong in either way.
    #[must_use]
    pub fn all(self) -> u64 {
        self.wrong + self.failed
    }

    /// The percentage of wrong answers.
    #[must_use]
    pub fn wrong_percent(self) -> f64 {
        percent(self.wrong, self.of)
    }

    /// The percentage of requests that failed in another way.
    #[must_use]
    pub fn failed_percent(self) -> f64 {
        percent(self.failed, self.of)
    }

    /// Those of several.
    pub(crate) fn sum(all: impl Iterator<Item = Faults>) -> Faults {
        all.fold(Faults::default(), |sum, one| sum.and(&one))
    }

    fn and(self, other: &Faults) -> Faults {
        let mut cut = self.cut;
        cut.add(other.cut);
        Faults {
            wrong: self.wrong + other.wrong,
            failed: self.failed + other.failed,
            ways: self.ways.and(&other.ways),
            of: self.of + other.of,
            of_sessions: self.of_sessions || other.of_sessions,
            cut,
        }
    }
}

fn percent(times: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { times as f64 / of as f64 * 100.0 }
}

impl Default for Tolerated {
    /// No wrong answer, and as many failures as an experiment that does not say otherwise.
    fn default() -> Tolerated {
        Tolerated { wrong_percent: 0.0, failed_percent: Promised::default().failed_percent }
    }
}

impl Tolerated {
    /// What an experiment tolerates.
    #[must_use]
    pub fn by(experiment: Option<&Experiment>) -> Tolerated {
        let usual = Tolerated::default();
        experiment.map_or(usual, |experiment| Tolerated {
            wrong_percent: experiment
                .require
                .and_then(|required| required.wrong_percent)
                .unwrap_or(usual.wrong_percent),
            failed_percent: experiment.promise.failed_percent,
        })
    }
}

impl Conduct {
    /// The judgement. Wrong answers weigh more than failures: a server that says that it failed has told the truth.
    #[must_use]
    pub fn of(faults: Faults, tolerated: Tolerated) -> Conduct {
        if faults.all() == 0 {
            Conduct::Sound
        } else if tolerated.wrong_percent < faults.wrong_percent() {
            Conduct::Wrong(faults)
        } else if tolerated.failed_percent < faults.failed_percent() {
            Conduct::Failing(faults)
        } else {
            Conduct::Tolerated(faults)
        }
    }

    /// Whether the server is to be compared and ranked.
    #[must_use]
    pub fn is_tolerated(self) -> bool {
        match self {
            Conduct::Sound | Conduct::Tolerated(_) => true,
            Conduct::Wrong(_) | Conduct::Failing(_) => false,
        }
    }

    /// Its faults; none of a sound server.
    #[must_use]
    pub fn faults(self) -> Option<Faults> {
        match self {
            Conduct::Sound => None,
            Conduct::Tolerated(faults) | Conduct::Wrong(faults) | Conduct::Failing(faults) => {
                Some(faults)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use load::Distribution;

    use super::*;

    fn tally(failed: &[(&str, u64)]) -> Tally {
        let mut total = Tally { attempted: 1_000, ..Tally::new(load::SECOND) };
        for (name, times) in failed {
            total.failed[Failure::named(name).unwrap().index()] = *times;
        }
        total.response = Distribution::new(load::SECOND);
        total
    }

    #[test]
    fn what_most_failed_with_is_that_of_all_that_are_added_up() {
        let one = Faults::of([&tally(&[("connect.refused", 1)])]);
        let other = Faults::of([&tally(&[("recv.deadline", 90), ("content.status", 9)])]);
        let all = one.and(&other);
        assert_eq!((all.failed, all.why().as_str()), (100, ", mostly recv.deadline"));
        assert_eq!(all, other.and(&one));
    }

    #[test]
    fn all_and_mostly_are_said_where_they_are_so() {
        let why = |failed: &[(&str, u64)]| Faults::of([&tally(failed)]).why();
        assert_eq!(why(&[("recv.reset", 1)]), ", with recv.reset");
        assert_eq!(why(&[("recv.reset", 2)]), ", all recv.reset");
        assert_eq!(why(&[("recv.reset", 3), ("recv.deadline", 2)]), ", mostly recv.reset");
        let thirds = [("recv.reset", 2), ("recv.deadline", 3), ("connect.refused", 1)];
        assert_eq!(why(&thirds), ", most often recv.deadline");
        assert_eq!(why(&[]), "");
    }
}
