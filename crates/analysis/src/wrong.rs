//! Requests that were answered with the wrong content: a server that gives wrong answers is not ranked, however fast it
//! is.

use lab::experiment::{Experiment, Required};
use lab::record::TrialRecord;
use load::{Evidence, Failure};

use crate::board::Row;

/// How many failures of each class are kept with their bytes, over all rounds together.
const EVIDENCE_KEPT: usize = 3;

/// How many of the measured requests were answered with the wrong content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrong {
    /// How many were.
    pub answers: u64,
    /// How many requests were made.
    pub of: u64,
}

impl Wrong {
    pub(crate) fn of(measured: &[&TrialRecord]) -> Wrong {
        let totals = measured.iter().filter_map(|trial| trial.loaded.as_ref());
        let one = |wrong: Wrong, loaded: &lab::record::LoadRecord| {
            let total = &loaded.recording.total;
            let wrongs = Failure::ALL.into_iter().filter(|failure| failure.is_wrong_content());
            let answers: u64 = wrongs.map(|failure| total.failures(failure)).sum();
            wrong.and(Wrong { answers, of: total.attempted })
        };
        totals.fold(Wrong::default(), one)
    }

    fn and(self, other: Wrong) -> Wrong {
        Wrong { answers: self.answers + other.answers, of: self.of + other.of }
    }

    /// The percentage; nothing if there were no requests.
    #[must_use]
    pub fn percent(self) -> Option<f64> {
        (0 < self.of).then(|| self.answers as f64 / self.of as f64 * 100.0)
    }
}

/// The percentage that an experiment allows: zero, if it does not say otherwise.
pub(crate) fn allowed_percent(experiment: Option<&Experiment>) -> f64 {
    let require: Option<Required> = experiment.and_then(|experiment| experiment.require);
    require.and_then(|require| require.wrong_percent).unwrap_or(0.0)
}

/// A subject that answered too many requests wrongly at any place is not ranked at any place. A reference is never
/// ranked.
pub(crate) fn mark(rows: &mut [Row], allowed_percent: f64) {
    for rows in rows.chunk_by_mut(|one, other| one.subject == other.subject) {
        let is_over =
            |row: &Row| row.wrong.percent().is_some_and(|percent| allowed_percent < percent);
        if rows.iter().any(|row| row.is_reference) || !rows.iter().any(is_over) {
            continue;
        }
        let all = rows.iter().map(|row| row.wrong).fold(Wrong::default(), Wrong::and);
        let says = format!(
            "{} of {} requests were answered with the wrong content, at most {allowed_percent} % may be",
            all.answers, all.of
        );
        rows.iter_mut().for_each(|row| row.lack(says.clone()));
    }
}

/// The first few failures of each class, in the order of the rounds.
pub(crate) fn evidence(measured: &[&TrialRecord]) -> Vec<Evidence> {
    let all = || {
        let loaded = measured.iter().filter_map(|trial| trial.loaded.as_ref());
        loaded.flat_map(|loaded| &loaded.recording.total.evidence)
    };
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
        assert_eq!(board.tables[0].rows[1].wrong, Wrong { answers: 1, of: 40_000 });
    }

    #[test]
    fn an_experiment_may_allow_some() {
        let body = of_name("content.mismatch");
        let board = |wrong| board(wrong, body, "require = { wrong = \"1%\" }");
        let allowed = |wrong| unmet(&board(wrong))[1].is_none();
        assert!(allowed(400) && !allowed(401));
    }

    #[test]
    fn a_server_that_says_that_it_failed_has_told_the_truth() {
        let status = of_name("content.status");
        assert_eq!(unmet(&board(200, status, "")), [None, None]);
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
