//! A search for a capacity: trial after trial, each ordered by what the ones before have found. All of them are kept, so
//! a search that was interrupted goes on.

use analysis::search::{
    Answer, Press, Progress, Search, Step, Tried, is_as_ordered, lasted_s, lost_so_far, tried,
};
use lab::Refusal;
use lab::experiment::{Experiment, Point, Shape};
use lab::record::{OutcomeKind, RunRecord, TrialKey, TrialRecord};
use lab::trial::{AGENT_LOST, Enough};
use load::{Glance, Halt};
use store::{Extent, Kept, RunId, Store};

use crate::trials::{Means, now_unix_ms, rest};
use crate::{Campaign, Ended, Entrant, RunResources};

/// A search never has more trials.
pub const TRIALS_MOST: u32 = 1_000;
/// A closed loop that only shows where to begin does not need many connections.
const FIRST_CONNECTIONS: u32 = 16;
/// One that shows how much is achieved does.
const CEILING_CONNECTIONS: u32 = 50;
/// What a trial takes besides its load and the rest after it, in seconds: so that what follows depends on nothing but the
/// kept trials.
const AROUND_S: f64 = 0.3;
/// A trial never takes more room than this in the store.
const ROOM: u64 = 32 << 20;

/// A search under way.
pub struct Hunt<'a> {
    pub campaign: &'a Campaign,
    pub resources: &'a RunResources,
    pub entrants: &'a [Entrant],
    pub search: &'a Search,
    pub store: &'a mut Store,
    pub id: RunId,
    pub halt: &'a Halt,
}

/// What happens in a search.
pub enum HuntEvent<'a> {
    /// A trial begins.
    Begun { number: usize, press: Press, progress: Progress },
    /// It was kept.
    Kept { press: Press, trial: &'a TrialRecord, tried: &'a Tried, progress: Progress },
}

impl Hunt<'_> {
    /// Goes on until the answer is known. None: interrupted.
    pub fn go(
        &mut self,
        watch: &mut dyn FnMut(&HuntEvent<'_>),
    ) -> Result<Option<Box<Answer>>, Refusal> {
        let mut trials =
            so_far(self.search, &kept(self.store, self.id)?, &self.campaign.experiment)?;
        loop {
            let press = match self.search.next(&trials) {
                Step::Done(answer) => return Ok(Some(answer)),
                Step::Press(_) if TRIALS_MOST as usize <= trials.len() => {
                    return Err(Refusal::new("the search did not end within 1,000 trials"));
                }
                Step::Press(press) => press,
            };
            if !trials.is_empty() {
                rest(self.campaign.experiment.pause, self.halt);
            }
            if self.halt.is_asked() {
                return Ok(None);
            }
            self.store.reserve(ROOM)?;
            let progress = self.search.progress(&trials);
            watch(&HuntEvent::Begun { number: trials.len(), press, progress });
            let trial = self.try_one(trials.len() as u32, &press)?;
            if trial.outcome.kind == OutcomeKind::Interrupted {
                return Ok(None);
            }
            self.store.keep(self.id, &trial)?;
            let found = weighed(self.search, &trial, &press, &self.campaign.experiment);
            trials.push(found.clone());
            let progress = self.search.progress(&trials);
            watch(&HuntEvent::Kept { press, trial: &trial, tried: &found, progress });
            if trial.conditions.iter().any(|fact| fact.name == AGENT_LOST)
                && let Some(generators) = &self.resources.elsewhere
            {
                generators.meet_again(self.halt).map_err(|error| {
                    Refusal::new(format!(
                        "{}; and the agents cannot be met again: {error}",
                        trial.outcome.says
                    ))
                })?;
            }
        }
    }

    fn try_one(&self, number: u32, press: &Press) -> Result<TrialRecord, Refusal> {
        let experiment = ordered(&self.campaign.experiment, press);
        let mut entrants = self.entrants.iter();
        let subject = entrants.next().map(|it| it.subject.name.clone()).unwrap_or_default();
        let key = TrialKey {
            number,
            subject,
            workload: self
                .campaign
                .experiment
                .tasks()
                .next()
                .map_or(String::new(), |it| it.to_string()),
            point: experiment.points[0],
            repeat: number,
        };
        let aim = &self.search.aim;
        let due = press.rate.map(|rate| (rate * press.seconds) as u64);
        let is_hopeless = |glance: &Glance<'_>| {
            let lost = || lost_so_far(aim, glance.total);
            due.is_some_and(|due| !glance.is_warmup && aim.is_hopeless(&lost(), due))
        };
        let means = Means {
            campaign: self.campaign,
            resources: self.resources,
            entrants: self.entrants,
            halt: self.halt,
            build: 0,
        };
        means.try_as(&experiment, &key, Some(Enough(&is_hopeless)), &mut |_| {})
    }
}

/// The experiment with the load of one trial.
fn ordered(experiment: &Experiment, press: &Press) -> Experiment {
    let (shape, point) = match press.rate {
        Some(rate) => (experiment.shape, Point::Requests(rate)),
        None => (Shape::Closed, Point::Connections(first_connections(experiment))),
    };
    let mut ordered = experiment.clone();
    ordered.shape = shape;
    ordered.points = vec![point];
    ordered.duration = Some(std::time::Duration::from_secs_f64(press.seconds));
    ordered
}

/// No more than the pool may have.
fn first_connections(experiment: &Experiment) -> u32 {
    match experiment.shape {
        Shape::Open { max_connections, .. } => FIRST_CONNECTIONS.min(max_connections as u32),
        Shape::Closed | Shape::Sessions { .. } | Shape::Held(_) => FIRST_CONNECTIONS,
    }
}

/// One trial of the reference, which shows how much the load and the machine achieve: answers each second, if it could be
/// measured.
pub fn ceiling(
    campaign: &Campaign,
    resources: &RunResources,
    entrants: &[Entrant],
    reference: &str,
    halt: &Halt,
) -> Result<Option<f64>, Refusal> {
    let press = Press { kind: analysis::search::PressKind::First, rate: None, seconds: 2.0 };
    let mut experiment = ordered(&campaign.experiment, &press);
    experiment.points = vec![Point::Connections(CEILING_CONNECTIONS)];
    let key = TrialKey {
        number: TRIALS_MOST,
        subject: reference.into(),
        workload: campaign.experiment.tasks().next().map_or(String::new(), |it| it.to_string()),
        point: experiment.points[0],
        repeat: 0,
    };
    let trial = Means { campaign, resources, entrants, halt, build: 0 }.try_as(
        &experiment,
        &key,
        None,
        &mut |_| {},
    )?;
    let recording = trial.loaded.as_ref().map(|loaded| &loaded.recording);
    let is_measured = trial.outcome.kind == OutcomeKind::Measured;
    Ok(recording.filter(|_| is_measured).and_then(analysis::throughput_per_s))
}

/// What a trial has found, and how long it took.
fn weighed(search: &Search, trial: &TrialRecord, press: &Press, experiment: &Experiment) -> Tried {
    let took_s = lasted_s(trial) + AROUND_S + experiment.pause.as_secs_f64();
    tried(&search.aim, trial, press, took_s)
}

/// The kept trials of a run, whole.
pub fn kept(store: &Store, run: RunId) -> Result<Vec<TrialRecord>, Refusal> {
    let mut trials = Vec::new();
    for kept in store.trials(run, Extent::Whole)? {
        match kept {
            Kept::Whole(trial) => trials.push(*trial),
            Kept::Damaged(damage) => {
                return Err(Refusal::new(format!(
                    "trial {} of run {run} is damaged, and what followed depends on it: {}",
                    damage.number, damage.says
                )));
            }
        }
    }
    trials.sort_by_key(|trial| trial.key.number);
    Ok(trials)
}

/// What the kept trials of a search have found; refused if they are not those that it would have made.
pub fn so_far(
    search: &Search,
    kept: &[TrialRecord],
    experiment: &Experiment,
) -> Result<Vec<Tried>, Refusal> {
    let mut trials = Vec::new();
    for trial in kept {
        match search.next(&trials) {
            Step::Press(press) if is_as_ordered(trial, &press) => {
                trials.push(weighed(search, trial, &press, experiment));
            }
            Step::Press(_) | Step::Done(_) => {
                return Err(Refusal::new(format!(
                    "trial {} is not the one that this search makes there: it is of another dyno; begin anew",
                    trial.key.number
                )));
            }
        }
    }
    Ok(trials)
}

/// A search of a kept run, and its experiment.
pub fn search_of(record: &RunRecord) -> Option<(Search, Experiment)> {
    let fact = record.facts.iter().find(|fact| fact.name == lab::record::CAPACITY_SEARCH)?;
    Some((Search::read(&fact.value)?, Experiment::of_run(record).ok()?))
}

/// The places in the store for the trials of a search, whose rates are not known before.
#[must_use]
pub fn places(subject: &str, workload: &str) -> Vec<TrialKey> {
    let place = |number: u32| TrialKey {
        number,
        subject: subject.into(),
        workload: workload.into(),
        point: Point::Requests(1.0),
        repeat: number,
    };
    (0..TRIALS_MOST).map(place).collect()
}

/// Ends the row of a search in the store.
pub fn end(store: &mut Store, run: RunId, ended: Ended) -> Result<(), Refusal> {
    let how = match ended {
        Ended::Done => store::RunEnd::Done,
        Ended::Interrupted => store::RunEnd::Interrupted,
    };
    Ok(store.end(run, now_unix_ms(), how)?)
}
