//! Servers that answered wrongly, or failed more than is tolerated: their rows are marked with their conduct, and say why
//! they are not ranked.

use lab::record::TrialRecord;
use load::{Evidence, Failure, Tally};
use units::count;

use crate::board::Row;
use crate::conduct::{Conduct, Faults, Tolerated, Ways};

/// How many failures of each class are kept with their bytes, over all rounds together.
const EVIDENCE_KEPT: usize = 3;

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
                true => Faults { failed: 0, ways: Ways::default(), ..row.faults },
                false => row.faults,
            };
            row.conduct = Conduct::of(faults, tolerated);
        }
        if rows.iter().any(|row| matches!(row.conduct, Conduct::Wrong(_))) {
            let all = Faults::sum(rows.iter().map(|row| row.faults));
            rows.iter_mut().for_each(|row| row.conduct = Conduct::Wrong(all));
        }
        for row in rows {
            row.unmet_by(tolerated);
        }
    }
}

impl Row {
    /// Why its conduct keeps it out of the ranking.
    fn unmet_by(&mut self, tolerated: Tolerated) {
        let Tolerated { wrong_percent, failed_percent } = tolerated;
        match self.conduct {
            Conduct::Sound | Conduct::Tolerated(_) => {}
            Conduct::Wrong(faults) => self.lack(format!(
                "{} of {} {} were answered with the wrong content, at most {wrong_percent} % may be",
                count(faults.wrong),
                count(faults.of),
                faults.unit()
            )),
            Conduct::Failing(faults) => self.lack(format!(
                "{} of {} {} failed, at most {failed_percent} % may",
                count(faults.failed),
                count(faults.of),
                faults.unit()
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
    use crate::fixture::{at, fail, recording, run};
    use lab::experiment::Point;

    /// Two rounds of two servers; `b` answers so many of its 20,000 requests wrongly in the second.
    fn board(wrong: u64, failure: Failure, require: &str) -> Board {
        let mut run = run(&[("a", "mature"), ("b", "mature")]);
        let text = format!(
            "{require}\nquestion = \"?\"\nsubjects = [\"a\", \"b\"]\nworkload = \"hello\"\n\
             load = {{ open = {{ rate = 2000 }}, duration = \"10s\" }}\n"
        );
        run.experiment = crate::fixture::experiment(&text);
        let trials = [("a", 0), ("b", 0), ("a", 1), ("b", 1)].map(|(subject, repeat)| {
            let mut trial = at(subject, Point::Requests(2_000.0), repeat);
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
            recording(&mut trial).total.evidence = vec![evidence; 2];
            trial
        });
        Board::of(&run, &trials)
    }

    fn unmet(board: &Board) -> Vec<Option<&str>> {
        board.tables[0].rows.iter().map(|row| row.unmet.as_deref()).collect()
    }

    fn of_name(name: &str) -> Failure {
        Failure::named(name).unwrap()
    }

    #[test]
    fn one_wrong_body_in_forty_thousand_takes_the_server_out_of_the_ranking() {
        let board = board(1, of_name("content.mismatch"), "");
        let says = "1 of 40,000 requests were answered with the wrong content, at most 0 % may be";
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
            Faults { failed: 400, ways: Ways::one(status, 400), of: 40_000, ..Faults::default() };
        assert_eq!(conduct(&allowed), Conduct::Tolerated(faults));
        let failing = board(401, status, "");
        assert_eq!(unmet(&failing)[1], Some("401 of 40,000 requests failed, at most 1 % may"));
        assert_eq!(
            conduct(&failing),
            Conduct::Failing(Faults { failed: 401, ways: Ways::one(status, 401), ..faults })
        );
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
