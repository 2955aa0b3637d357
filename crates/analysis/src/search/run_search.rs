//! The searches of a run, read back from what it has kept: what each is, and what its trials have found.

use lab::experiment::Experiment;
use lab::record::{
    CAPACITY_SEARCH, Fact, OutcomeKind, RunRecord, SEARCH_TRIALS, TrialRecord, fact,
};

use machine::conditions::Cpus;

use super::{Answer, Press, Search, Step, Tried, fitness, seconds};

/// What a trial takes besides its load and the rest after it, in seconds: so that what follows depends on nothing but the
/// kept trials.
const AROUND_S: f64 = 0.3;

/// One search of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSearch {
    pub subject: String,
    /// What is requested and how: the name of a `Task`.
    pub task: String,
    pub search: Search,
    /// The number of its first trial.
    pub first: u32,
    /// How many CPUs the server has, or the load leaves to it.
    pub cpus: f64,
}

/// A search, and what the kept trials say.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    pub of: RunSearch,
    pub answer: Answer,
    /// How its trials ended that were no measurement, as far as the server or its start was the reason.
    pub endings: Vec<Ending>,
    /// The first of its trials that cannot be read, or is not the one that the search makes there. What follows is in no
    /// figure.
    pub odd: Option<OddTrial>,
}

/// Trials that ended in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    pub kind: OutcomeKind,
    pub times: usize,
    /// What the first of them says.
    pub says: String,
}

/// A trial that is not the one that belongs there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OddTrial {
    pub number: u32,
}

/// The searches of a run; none of any other.
#[must_use]
pub fn searches_of(run: &RunRecord) -> Vec<RunSearch> {
    let facts = run.facts.iter().filter(|fact| fact.name.starts_with(CAPACITY_SEARCH));
    let cpus = server_cpus(&run.facts);
    let searches = facts.enumerate().filter_map(|(place, fact)| {
        let first = u32::try_from(place).ok()? * SEARCH_TRIALS;
        let key = run.plan.iter().find(|key| key.number == first)?;
        Some(RunSearch {
            subject: key.subject.clone(),
            task: key.workload.clone(),
            search: Search::read(&fact.value)?,
            first,
            cpus,
        })
    });
    searches.collect()
}

/// How many CPUs a server has, or the load leaves to it, by the facts of its run.
#[must_use]
pub fn server_cpus(facts: &[Fact]) -> f64 {
    let cpus = fact(facts, "cpus.subject").and_then(|cpus| cpus.parse().ok());
    cpus.map_or(1.0, |cpus: Cpus| cpus.iter().count() as f64)
}

/// All searches of a run, with what their trials have found.
#[must_use]
pub fn searched(run: &RunRecord, trials: &[TrialRecord]) -> Vec<Searched> {
    let Some(experiment) = &run.experiment else { return Vec::new() };
    searches_of(run).into_iter().map(|of| answered(of, trials, experiment)).collect()
}

fn answered(of: RunSearch, trials: &[TrialRecord], experiment: &Experiment) -> Searched {
    let own = of.own(trials);
    let (tried, odd) = match of.replayed(&own, experiment) {
        Ok(tried) => (tried, None),
        Err((tried, odd)) => (tried, Some(odd)),
    };
    let answer = of.search.answer(&tried);
    Searched { answer, endings: endings(&own), odd, of }
}

/// Whose trial comes next, and which one: of the searches that are not over the one with the fewest trials, so that
/// whatever the machine does meanwhile, it does to all of them. Which of several is first rotates.
#[must_use]
pub fn next_of<'s>(
    searches: &'s [RunSearch],
    tried: &[Vec<Tried>],
) -> Option<(usize, &'s RunSearch, Press)> {
    let ordered = |place: usize| match searches[place].search.next(&tried[place]) {
        Step::Press(press) => Some(press),
        Step::Done(_) => None,
    };
    let all = 0..searches.len().min(tried.len());
    let left: Vec<(usize, Press)> =
        all.filter_map(|place| Some((place, ordered(place)?))).collect();
    let fewest = left.iter().map(|(place, _)| tried[*place].len()).min()?;
    let turn = |place: usize| (place + searches.len() - fewest % searches.len()) % searches.len();
    let of_round = left.into_iter().filter(|(place, _)| tried[*place].len() == fewest);
    let (place, press) = of_round.min_by_key(|(place, _)| turn(*place))?;
    Some((place, &searches[place], press))
}

impl RunSearch {
    /// Its trials among those of the run, in their order.
    #[must_use]
    pub fn own<'t>(&self, trials: &'t [TrialRecord]) -> Vec<&'t TrialRecord> {
        let numbers = self.first..self.first + SEARCH_TRIALS;
        let mut own: Vec<&TrialRecord> =
            trials.iter().filter(|trial| numbers.contains(&trial.key.number)).collect();
        own.sort_by_key(|trial| trial.key.number);
        own
    }

    /// What a trial has found, and how long it took.
    #[must_use]
    pub fn weighed(&self, trial: &TrialRecord, press: &Press, experiment: &Experiment) -> Tried {
        let took_s = seconds(trial.load_ended()) + AROUND_S + experiment.pause.as_secs_f64();
        fitness::tried(&self.search.aim, trial, press, took_s, self.cpus)
    }

    /// What its kept trials have found. If one of them is not the one that the search would have made, that one, and what
    /// those before it have found.
    pub fn replayed(
        &self,
        own: &[&TrialRecord],
        experiment: &Experiment,
    ) -> Result<Vec<Tried>, (Vec<Tried>, OddTrial)> {
        let mut tried = Vec::new();
        for (number, trial) in (self.first..).zip(own) {
            let is_here = trial.key.number == number
                && trial.key.subject == self.subject
                && trial.key.workload == self.task;
            match self.search.next(&tried) {
                Step::Press(press) if is_here && fitness::is_as_ordered(trial, &press) => {
                    tried.push(self.weighed(trial, &press, experiment));
                }
                Step::Press(_) | Step::Done(_) => return Err((tried, OddTrial { number })),
            }
        }
        Ok(tried)
    }
}

/// How trials ended that were no measurement, in the order of the kinds.
fn endings(trials: &[&TrialRecord]) -> Vec<Ending> {
    let ending = |kind: OutcomeKind| {
        let mut here = trials.iter().filter(|trial| trial.outcome.kind == kind);
        let says = here.next()?.outcome.says.clone();
        Some(Ending { kind, times: 1 + here.count(), says })
    };
    let all = OutcomeKind::ALL.into_iter().filter(|kind| *kind != OutcomeKind::Measured);
    all.filter_map(ending).collect()
}

#[cfg(test)]
mod tests {
    use lab::experiment::Point;
    use lab::record::{Outcome, TrialKey};
    use lab::search_goal::SearchGoal;

    use super::*;
    use crate::fixture::{MS, equal, fact, healthy, recording, run};
    use crate::search::tests::aim;
    use crate::search::{Conclusion, PressKind};

    const TEXT: &str = "question = 'x'\nsubjects = 'all'\nworkload = 'u'\n\
                        load = { open = { rate = 'search' } }\nsearch = { p99 = '2ms', most = 1000 }";

    fn search(seed: u64) -> Search {
        let usual = crate::search::tests::search(aim(99.0, 2 * MS), seed);
        Search { most: 1_000.0, limit_s: 600.0, ..usual }
    }

    /// Two searches, of `a` and of `b`.
    fn two() -> RunRecord {
        let mut record = run(&[("a", "mature"), ("b", "mature")]);
        record.experiment = crate::fixture::experiment(TEXT);
        let places = ["a", "b"].into_iter().enumerate().flat_map(|(place, subject)| {
            (0..SEARCH_TRIALS).map(move |n| {
                let number = place as u32 * SEARCH_TRIALS + n;
                TrialKey::new(number, subject, "u", Point::Requests(1.0), n)
            })
        });
        record.plan = places.collect();
        record.facts.push(fact("capacity.search: a, u", &search(1).written()));
        record.facts.push(fact("capacity.search: b, u", &search(2).written()));
        record
    }

    /// The trial that a search makes next, as a server that answers in a millisecond gives it.
    fn next(of: &RunSearch, before: &[TrialRecord]) -> TrialRecord {
        let experiment = two().experiment.unwrap();
        let own = of.own(before);
        let tried = of.replayed(&own, &experiment).unwrap();
        let Step::Press(press) = of.search.next(&tried) else { panic!("it is over") };
        let mut trial = healthy();
        trial.key = TrialKey::new(
            of.first + own.len() as u32,
            &of.subject,
            &of.task,
            press.rate.map_or(Point::Connections(16), Point::Requests),
            own.len() as u32,
        );
        assert_eq!(press.kind == PressKind::First, own.is_empty());
        trial
    }

    #[test]
    fn each_search_has_its_own_trials_whatever_lies_between_them() {
        let record = two();
        let searches = searches_of(&record);
        assert_eq!(searches.len(), 2);
        assert_eq!((searches[1].subject.as_str(), searches[1].first), ("b", 1_000));
        assert_eq!(searches[1].search.seed, 2);
        let mut trials = Vec::new();
        for turn in [0, 1, 1, 0, 0, 1, 0] {
            trials.push(next(&searches[turn], &trials));
        }
        let mixed = searched(&record, &trials);
        assert_eq!((mixed[0].answer.trials, mixed[1].answer.trials), (4, 3));
        assert!(mixed.iter().all(|found| found.odd.is_none()));
        // In any order, and beside any others, they say the same.
        trials.reverse();
        assert_eq!(searched(&record, &trials), mixed);
        trials.retain(|trial| trial.key.number < SEARCH_TRIALS);
        assert_eq!(searched(&record, &trials)[0], mixed[0]);
        assert_eq!(searched(&record, &trials)[1].answer.trials, 0);
    }

    /// What comes next depends on the kept trials alone: however often a run is broken off, it goes on as if it were not.
    #[test]
    fn trials_of_all_searches_alternate_and_a_run_that_is_broken_off_goes_on_alike() {
        let record = two();
        let searches = searches_of(&record);
        let experiment = record.experiment.clone().unwrap();
        let replayed = |trials: &[TrialRecord]| -> Vec<Vec<Tried>> {
            let replayed = |it: &RunSearch| it.replayed(&it.own(trials), &experiment).unwrap();
            searches.iter().map(replayed).collect()
        };
        // `a` answers in a millisecond, `b` never within the limit: its search is over sooner.
        let slow = |trial: &mut TrialRecord| {
            let total = &mut recording(trial).total;
            (total.response, total.on_time) = (equal(9 * MS, 20_000), 0);
        };
        let (mut trials, mut order) = (Vec::new(), Vec::new());
        while let Some((place, of, press)) = next_of(&searches, &replayed(&trials)) {
            let mut trial = next(of, &trials);
            assert!(fitness::is_as_ordered(&trial, &press));
            if place == 1 {
                slow(&mut trial);
            }
            order.push(place);
            trials.push(trial);
            assert!(trials.len() < 60, "{order:?}");
        }
        assert_eq!(order[..8], [0, 1, 1, 0, 0, 1, 1, 0], "the first of a round rotates");
        let found = searched(&record, &trials);
        assert_eq!(found[0].answer.conclusion, Conclusion::AtLeast);
        assert_eq!(found[1].answer.conclusion, Conclusion::NotMet);
        let lengths = found.iter().map(|found| found.answer.trials);
        assert_eq!(lengths.sum::<usize>(), order.len());
        for upto in 0..trials.len() {
            let (place, ..) = next_of(&searches, &replayed(&trials[..upto])).unwrap();
            assert_eq!(place, order[upto], "after {upto}");
        }
    }

    #[test]
    fn a_trial_that_is_missing_ends_what_is_believed() {
        let record = two();
        let of = &searches_of(&record)[1];
        let mut trials = Vec::new();
        for _ in 0..4 {
            trials.push(next(of, &trials));
        }
        trials.remove(2);
        let found = &searched(&record, &trials)[1];
        assert_eq!((found.answer.trials, found.odd), (2, Some(OddTrial { number: 1_002 })));
        trials.truncate(2);
        trials[1].key.subject = "a".into();
        let found = &searched(&record, &trials)[1];
        assert_eq!((found.answer.trials, found.odd), (1, Some(OddTrial { number: 1_001 })));
    }

    #[test]
    fn how_trials_ended_is_counted() {
        let record = two();
        let of = &searches_of(&record)[0];
        let mut trials = vec![next(of, &[])];
        assert!(searched(&record, &trials)[0].endings.is_empty());
        trials[0].outcome = Outcome { kind: OutcomeKind::Died, says: "signal 9".into() };
        let died = Ending { kind: OutcomeKind::Died, times: 1, says: "signal 9".into() };
        assert_eq!(searched(&record, &trials)[0].endings, [died]);
    }

    #[test]
    fn a_run_of_anything_else_has_no_search() {
        assert_eq!(searches_of(&run(&[("a", "mature")])), []);
        assert_eq!(searched(&run(&[("a", "mature")]), &[healthy()]), []);
    }

    #[test]
    fn a_lowest_rate_near_the_ceiling_is_refused() {
        let mut record = two();
        record.is_quick = false;
        let sought = record.experiment.clone().unwrap().sought.unwrap();
        let most = |ceiling| Search::of(&sought, ceiling, true, 1).map(|search| search.top(None));
        assert_eq!(most(None), Ok(1_000.0));
        assert_eq!(most(Some(575.0)), Ok(575.0 / 1.15));
        let is_capped = |ceiling| {
            Search::of(&sought, Some(ceiling), true, 1)
                .map(|search| search.answer(&[]).is_capped_by(ceiling))
        };
        // The search's own 1,000/s are lower than what the second reference allows.
        assert_eq!([575.0, 1_200.0].map(is_capped), [Ok(true), Ok(false)]);
        assert!(most(Some(11.0)).unwrap_err().contains("gives here, which is 11 answers/s"));
        let between = SearchGoal { least: 1_499.0, most: Some(1_500.0), ..sought.clone() };
        let says = Search::of(&between, None, true, 1).unwrap_err();
        assert!(says.starts_with("from 1499 to 1500 requests/s there is no rate to try"), "{says}");
        let open = SearchGoal { most: None, ..sought };
        let search = Search::of(&open, Some(2_000.0), true, 1).unwrap();
        assert_eq!(search.top(None), 2_000.0 / 1.15);
        // The reference is never below the server itself, and no reference if it seems to be far below.
        assert_eq!(search.top(Some(2_200.0)), 2_200.0 / 1.15);
        assert_eq!(search.top(Some(2_400.0)), 1e6);
    }
}
