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
    /// The way in which most of these failed.
    #[serde(skip)]
    pub mostly: Option<Failure>,
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
    serializer.serialize_str(if *of_sessions { "sessions" } else { "requests" })
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
        let (mut times, mut of, mut sessions) = ([0_u64; Failure::COUNT], 0, Sessions::default());
        for tally in tallies {
            of += tally.attempted;
            sessions.add(tally.sessions);
            for failure in Failure::ALL {
                times[failure.index()] += tally.failures(failure);
            }
        }
        let own = |failure: &Failure| !failure.is_own();
        let (wrong, failed): (Vec<Failure>, Vec<Failure>) =
            Failure::ALL.into_iter().filter(own).partition(|failure| failure.is_wrong_content());
        let sum = |all: &[Failure]| all.iter().map(|failure| times[failure.index()]).sum();
        let most = failed.iter().copied().max_by_key(|failure| times[failure.index()]);
        let mostly = most.filter(|failure| 0 < times[failure.index()]);
        let (wrong, failed) = (sum(&wrong), sum(&failed));
        match sessions.attempted {
            0 => Faults { wrong, failed, mostly, of, ..Faults::default() },
            // A session ends with its first call that fails: each of these calls is a session.
            of => {
                let (cut, failed) = (sessions.cut, failed + sessions.cut.sessions);
                Faults { wrong, failed, mostly, of, of_sessions: true, cut }
            }
        }
    }

    /// Why so many failed: the class of most of them, and the sessions that the server ended.
    #[must_use]
    pub fn why(self) -> String {
        let cut = self.cut;
        let mostly = self.mostly.map_or(String::new(), |failure| format!(", mostly {failure}"));
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

    pub(crate) fn and(self, other: Faults) -> Faults {
        let mut cut = self.cut;
        cut.add(other.cut);
        Faults {
            wrong: self.wrong + other.wrong,
            failed: self.failed + other.failed,
            mostly: self.mostly.or(other.mostly),
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
