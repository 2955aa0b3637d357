//! How a server behaved under load: which requests it answered wrongly, which it failed, and whether these are more than
//! is tolerated. Every command judges it here: a server that gives wrong answers, or fails too often, is neither compared
//! nor ranked, however fast it is.

use lab::experiment::{Experiment, Promised};
use lab::record::TrialRecord;
use load::{Cut, Evidence, Failure, Sessions, Tally};
use units::{count, counted};

use crate::board::Row;

/// How many failures of each class are kept with their bytes, over all rounds together.
const EVIDENCE_KEPT: usize = 3;

/// Requests that went wrong through the server's doing, out of all that were made; of a load of sessions, the sessions
/// that were not completed. Those that failed through dyno's own are in neither count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The answer had the right status and the wrong content.
    pub wrong: u64,
    /// The request failed in another way.
    pub failed: u64,
    /// The way in which most of these failed.
    pub mostly: Option<Failure>,
    /// How many requests, or sessions, were made.
    pub of: u64,
    /// Sessions are counted, not requests.
    pub of_sessions: bool,
    /// The sessions that failed because the server ended their connection between two calls.
    pub cut: Cut,
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
    /// It failed more requests than is tolerated: likewise.
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
}

impl Faults {
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

/// Judges the rows of a table, and takes out of the ranking what is not tolerated. A subject that answered too many
/// requests wrongly at any place is ranked at none. A reference is never ranked. What a server fails at a rate that it
/// does not hold limits its capacity, and is named there: in a search, and over several rates but for the lowest.
pub(crate) fn mark(rows: &mut [Row], tolerated: Tolerated, is_search: bool) {
    for rows in rows.chunk_by_mut(|one, other| one.subject == other.subject) {
        if rows.iter().any(|row| row.is_reference) {
            continue;
        }
        let is_sweep = 1 < rows.len() && rows[0].is_offered();
        for (place, row) in rows.iter_mut().enumerate() {
            let faults = match is_search || is_sweep && 0 < place {
                true => Faults { failed: 0, mostly: None, ..row.faults },
                false => row.faults,
            };
            row.conduct = Conduct::of(faults, tolerated);
        }
        if rows.iter().any(|row| matches!(row.conduct, Conduct::Wrong(_))) {
            let all = rows.iter().map(|row| row.faults).fold(Faults::default(), Faults::and);
            rows.iter_mut().for_each(|row| row.conduct = Conduct::Wrong(all));
        }
        for row in rows {
            row.unmet_by(tolerated);
        }
    }
}

impl Row {
    /// Failures in all measured rounds, by class.
    #[must_use]
    pub fn failures(&self) -> Vec<(Failure, u64)> {
        let mut sums = [0; Failure::COUNT];
        for trial in self.trials.iter().filter(|trial| trial.is_measured()) {
            for (failure, times) in &trial.figures.failures {
                sums[failure.index()] += times;
            }
        }
        Failure::ALL.into_iter().zip(sums).filter(|(_, times)| 0 < *times).collect()
    }

    /// Why its conduct keeps it out of the ranking.
    fn unmet_by(&mut self, tolerated: Tolerated) {
        let Tolerated { wrong_percent, failed_percent } = tolerated;
        match self.conduct {
            Conduct::Sound | Conduct::Tolerated(_) => {}
            Conduct::Wrong(Faults { wrong, of, .. }) => self.lack(format!(
                "{wrong} of {of} requests were answered with the wrong content, at most {wrong_percent} % may be"
            )),
            Conduct::Failing(Faults { failed, of, .. }) => self.lack(format!(
                "{failed} of {of} requests failed, at most {failed_percent} % may"
            )),
        }
    }
}

/// What was counted in each of these rounds.
pub(crate) fn tallies<'t>(measured: &[&'t TrialRecord]) -> impl Iterator<Item = &'t Tally> {
    measured.iter().filter_map(|trial| Some(&trial.loaded.as_ref()?.recording.total))
}

/// The first few failures of each class, in the order of the rounds.
pub(crate) fn evidence(measured: &[&TrialRecord]) -> Vec<Evidence> {
    let all = || tallies(measured).flat_map(|total| &total.evidence);
    let of_class = |failure: Failure| {
        all().filter(move |kept| kept.failure == failure).take(EVIDENCE_KEPT).cloned()
    };
    Failure::ALL.into_iter().flat_map(of_class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::fixture::{fail, healthy, key, run};
    use lab::record::RunRecord;
    use lab::source_file::SourceFile;

    /// Two rounds of two servers; `b` answers so many of its 20,000 requests wrongly in the second.
    fn board(wrong: u64, failure: Failure, require: &str) -> Board {
        let mut run: RunRecord = run(&[("a", "mature"), ("b", "mature")]);
        let text = format!(
            "{require}\nquestion = \"?\"\nsubjects = [\"a\", \"b\"]\nworkload = \"hello\"\n\
             load = {{ open = {{ rate = 2000 }}, duration = \"10s\" }}\n"
        );
        let page = SourceFile { name: "experiments/x.toml".into(), text };
        Experiment::parse("x", page.clone()).unwrap();
        run.files.push((page.name, page.text));
        let mut trials = Vec::new();
        for (subject, repeat) in [("a", 0), ("b", 0), ("a", 1), ("b", 1)] {
            let mut trial = healthy();
            trial.key = key(subject, 2_000.0, repeat);
            if (subject, repeat) == ("b", 1) {
                fail(&mut trial, failure, wrong);
            }
            let evidence = Evidence {
                failure,
                at: 0,
                seq: u64::from(repeat),
                request: Vec::new(),
                expected: String::new(),
                received: Vec::new(),
                lacks_beginning: false,
                is_cut: false,
                stream: None,
                reason: None,
            };
            trial.loaded.as_mut().unwrap().recording.total.evidence = vec![evidence; 2];
            trials.push(trial);
        }
        Board::of(&run, &trials)
    }

    fn unmet(board: &Board) -> Vec<Option<&str>> {
        board.tables[0].rows.iter().map(|row| row.unmet.as_deref()).collect()
    }

    fn of_name(name: &str) -> Failure {
        Failure::from_name(name).unwrap()
    }

    #[test]
    fn one_wrong_body_in_forty_thousand_takes_the_server_out_of_the_ranking() {
        let board = board(1, of_name("content.mismatch"), "");
        let says = "1 of 40000 requests were answered with the wrong content, at most 0 % may be";
        assert_eq!(unmet(&board), [None, Some(says)]);
        assert_eq!(board.tables[0].rows[1].faults.wrong, 1);
    }

    #[test]
    fn an_experiment_may_allow_some() {
        let body = of_name("content.mismatch");
        let board = |wrong| board(wrong, body, "require = { wrong = \"1%\" }");
        let allowed = |wrong| unmet(&board(wrong))[1].is_none();
        assert!(allowed(400) && !allowed(401));
    }

    #[test]
    fn a_server_that_says_that_it_failed_has_told_the_truth_and_may_fail_one_request_in_a_hundred()
    {
        let status = of_name("content.status");
        let conduct = |board: &Board| board.tables[0].rows[1].conduct;
        let allowed = board(400, status, "");
        assert_eq!(unmet(&allowed), [None, None]);
        let faults =
            Faults { wrong: 0, failed: 400, mostly: Some(status), of: 40_000, ..Faults::default() };
        assert_eq!(conduct(&allowed), Conduct::Tolerated(faults));
        let failing = board(401, status, "");
        assert_eq!(unmet(&failing)[1], Some("401 of 40000 requests failed, at most 1 % may"));
        assert_eq!(conduct(&failing), Conduct::Failing(Faults { failed: 401, ..faults }));
        assert_eq!(conduct(&board(0, status, "")), Conduct::Sound);
        assert_eq!(conduct(&board(5_000, of_name("own.still"), "")), Conduct::Sound, "dyno's own");
        let header = of_name("content.header");
        assert!(unmet(&board(200, header, ""))[1].is_some());
    }

    #[test]
    fn evidence_is_kept_of_the_first_rounds() {
        let board = board(5, of_name("content.mismatch"), "");
        let seqs: Vec<u64> = board.tables[0].rows[1].evidence.iter().map(|kept| kept.seq).collect();
        assert_eq!(seqs, [0, 0, 1]);
    }
}
