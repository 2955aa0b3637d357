//! Searches for capacities: trial after trial, each ordered by what the ones before have found. All of them are kept, so
//! that searches which were interrupted go on.

use std::collections::BTreeMap;
use std::time::Duration;

use analysis::search::{
    BELOW_CEILING, Press, PressKind, Progress, RunSearch, Search, Tried, lost_so_far, next_of,
    noise_in, searches_of, server_cpus,
};
use lab::Refusal;
use lab::experiment::{Experiment, Point, Shape};
use lab::manner::Task;
use lab::record::{
    CAPACITY_CEILING, CAPACITY_SEARCH, Entry, Fact, OutcomeKind, RunRecord, SEARCH_TRIALS,
    TrialKey, TrialRecord,
};
use lab::subject::{Serving, Tier};
use lab::trial::{Beside, Enough};
use load::{Glance, Halt};
use store::{Extent, Kept, RunId, Store};
use wire::mix;

use crate::event::{Event, Watch};
use crate::trials::{Means, Next, Rule, Run, has_lost_agent};
use crate::{Admitted, Campaign, Ended, Entrant, RunResources};

/// A closed loop that only shows where to begin does not need many connections.
const FIRST_CONNECTIONS: u32 = 16;
/// One that shows how much is achieved does.
const CEILING_CONNECTIONS: u32 = 50;
const CEILING_S: f64 = 1.0;
/// dyno's own server is as fast after a tenth of a second as after a whole one.
const CEILING_WARMUP_MAX: Duration = Duration::from_millis(100);

/// The searches of a run, which take turns until each of them has its answer.
pub(crate) struct Searches<'a> {
    searches: Vec<RunSearch>,
    tried: Vec<Vec<Tried>>,
    /// The subjects that are still to be checked; none after the checks.
    unchecked: Option<Vec<&'a Entry>>,
}

impl<'a> Searches<'a> {
    pub(crate) fn of(run: &mut Run<'a>, watch: Watch<'_>) -> Result<Searches<'a>, Refusal> {
        let unchecked = Some(run.unchecked(watch)?);
        let searches = searches_of(run.record);
        let kept = kept(run.store, run.id)?;
        let so_far = searches.iter().map(|of| so_far(of, &kept, &run.campaign.experiment));
        let tried = so_far.collect::<Result<Vec<Vec<Tried>>, Refusal>>()?;
        Ok(Searches { searches, tried, unchecked })
    }

    fn begin(&mut self, run: &mut Run<'a>, watch: Watch<'_>) -> Result<Ended, Refusal> {
        let Some(unchecked) = self.unchecked.take() else { return Ok(Ended::Done) };
        let ended = run.check_subjects(&unchecked, watch)?;
        if ended == Ended::Done {
            let all = self.searches.iter().zip(&self.tried);
            let begin: Vec<(&RunSearch, Progress)> =
                all.map(|(of, tried)| (of, of.search.progress(tried))).collect();
            watch(&Event::Searching(&begin));
        }
        Ok(ended)
    }
}

impl<'a> Rule<'a> for Searches<'a> {
    fn next(&mut self, run: &mut Run<'a>, watch: Watch<'_>) -> Result<Next, Refusal> {
        if self.begin(run, watch)? == Ended::Interrupted {
            return Ok(Next::End(Ended::Interrupted));
        }
        let Some((place, of, press)) = next_of(&self.searches, &self.tried) else {
            return Ok(Next::End(Ended::Done));
        };
        let number = self.tried[place].len() as u32;
        if number == SEARCH_TRIALS {
            return Err(Refusal::new(format!(
                "{}: the search did not end within {SEARCH_TRIALS} trials",
                of.subject
            )));
        }
        Ok(Next::Trials(vec![TrialKey::new(
            of.first + number,
            &of.subject,
            &of.task,
            ordered(&run.campaign.experiment, &press).points[0],
            number,
        )]))
    }

    /// A trial ends early where the aim cannot be kept any more.
    fn make(
        &self,
        run: &Run<'a>,
        keys: &[TrialKey],
        watch: Watch<'_>,
    ) -> Result<Vec<TrialRecord>, Refusal> {
        let Some((_, of, press)) = next_of(&self.searches, &self.tried) else {
            return Ok(Vec::new());
        };
        let experiment = ordered(&run.campaign.experiment, &press);
        let aim = &of.search.aim;
        let due = press.rate.map(|rate| (rate * press.seconds) as u64);
        let is_hopeless = |glance: &Glance<'_>| {
            let lost = || lost_so_far(aim, glance.total);
            due.is_some_and(|due| !glance.is_warmup && aim.is_hopeless(&lost(), due))
        };
        let beside = Beside { enough: Some(Enough(&is_hopeless)), ..Beside::default() };
        Ok(vec![run.means().tried(&experiment, &keys[0], beside, watch)?])
    }

    fn heed(
        &mut self,
        run: &Run<'a>,
        trial: &TrialRecord,
        watch: Watch<'_>,
    ) -> Result<(), Refusal> {
        let Some((place, of, press)) = next_of(&self.searches, &self.tried) else {
            return Ok(());
        };
        let found = of.weighed(trial, &press, &run.campaign.experiment);
        self.tried[place].push(found);
        let tried = &self.tried[place];
        let progress = of.search.progress(tried);
        watch(&Event::Tried { of, press, tried: &tried[tried.len() - 1], progress });
        match run.admitted.resources.elsewhere.as_ref().filter(|_| has_lost_agent(trial)) {
            Some(generators) => run.meet_agents_again(generators, trial),
            None => Ok(()),
        }
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
    ordered.duration = Some(Duration::from_secs_f64(press.seconds));
    ordered
}

/// No more than the pool may have.
fn first_connections(experiment: &Experiment) -> u32 {
    match experiment.shape {
        Shape::Open { max_connections, .. } => FIRST_CONNECTIONS.min(max_connections as u32),
        Shape::Closed | Shape::Sessions { .. } | Shape::Held(_) => FIRST_CONNECTIONS,
    }
}

/// A trial of the reference is made so many times until one is not disturbed.
const CEILING_TRIALS: u32 = 3;

/// What the reference gives shows how much the load and the machine achieve: answers each second, by a trial that was not
/// disturbed, if there was one. None: interrupted.
pub fn ceiling(
    campaign: &Campaign,
    resources: &RunResources,
    entrants: &[Entrant],
    (reference, task): (&str, &str),
    halt: &Halt,
) -> Result<Option<Result<f64, String>>, Refusal> {
    let press = Press { kind: PressKind::First, rate: None, seconds: CEILING_S };
    let mut experiment = ordered(&campaign.experiment, &press);
    experiment.points = vec![Point::Connections(CEILING_CONNECTIONS)];
    experiment.warmup = experiment.warmup.min(CEILING_WARMUP_MAX);
    let means = Means { campaign, resources, entrants, halt, build: 0 };
    let cpus = server_cpus(&resources.facts());
    let mut found = Err(String::new());
    for repeat in 0..CEILING_TRIALS {
        let key = TrialKey::new(SEARCH_TRIALS, reference, task, experiment.points[0], repeat);
        let trial = means.tried(&experiment, &key, Beside::default(), &mut |_| {})?;
        if trial.outcome.kind == OutcomeKind::Interrupted {
            return Ok(None);
        }
        found = ceiling_of(&trial, cpus);
        if found.is_ok() {
            break;
        }
    }
    Ok(Some(found))
}

/// What a trial of the reference says, or why it says nothing.
fn ceiling_of(trial: &TrialRecord, cpus: f64) -> Result<f64, String> {
    if trial.outcome.kind != OutcomeKind::Measured {
        return Err(trial.outcome.says.clone());
    }
    match noise_in(trial, None, cpus) {
        Some(noise) => Err(format!("{}, in {CEILING_TRIALS} trials", noise.says())),
        None => {
            let recording = trial.loaded.as_ref().map(|loaded| &loaded.recording);
            recording.and_then(analysis::throughput_per_s).ok_or_else(|| "nothing came".into())
        }
    }
}

/// What is said of the reference's trial.
#[must_use]
pub fn ceiling_says(name: &str, found: &Result<f64, String>) -> String {
    match found {
        Ok(per_s) => format!(
            "{name} gives {per_s:.0} answers/s here; no rate above {:.0}/s, which is this divided by {BELOW_CEILING}, is \
             tried, unless the server itself reaches more",
            per_s / BELOW_CEILING
        ),
        Err(says) => {
            format!(
                "how many answers/s {name} gives here is not known, so it limits no rate: {says}"
            )
        }
    }
}

/// What the references of an experiment achieve, by task; without an entry where no reference can be measured, which is
/// notified. None: interrupted.
pub fn ceilings(
    campaign: &Campaign,
    Admitted { resources, entrants, .. }: &Admitted,
    halt: &Halt,
    watch: Watch<'_>,
) -> Result<Option<BTreeMap<String, f64>>, Refusal> {
    let mut ceilings = BTreeMap::new();
    if campaign.experiment.sought.is_none() || !campaign.experiment.has_ceiling {
        return Ok(Some(ceilings));
    }
    for task in campaign.experiment.tasks() {
        let references = entrants.iter().filter(|it| it.subject.tier == Tier::Reference);
        for reference in references.filter(|it| takes_part(campaign, it, &task)) {
            let (name, task) = (reference.subject.name.as_str(), task.to_string());
            match ceiling(campaign, resources, entrants, (name, &task), halt)? {
                None => return Ok(None),
                Some(found) => {
                    let says = ceiling_says(&format!("{name}, dyno's own server,"), &found);
                    watch(&Event::Notice(&format!("{task}: {says}")));
                    if let Ok(per_s) = found {
                        let known: &mut f64 = ceilings.entry(task).or_default();
                        *known = known.max(per_s);
                    }
                }
            }
        }
    }
    Ok(Some(ceilings))
}

fn takes_part(campaign: &Campaign, entrant: &Entrant, task: &Task) -> bool {
    let runner = campaign.runner(&entrant.subject);
    runner.asked.contains(&task.workload) && runner.protocols.contains(&task.manner.protocol)
}

/// Makes the record of an experiment's run one of searches: one for each server and task, in the order of its plan.
/// References are not searched, unless there is nothing else.
pub fn make_searches(
    campaign: &Campaign,
    entrants: &[Entrant],
    record: &mut RunRecord,
    ceilings: &BTreeMap<String, f64>,
) -> Result<(), Refusal> {
    let Some(sought) = &campaign.experiment.sought else { return Ok(()) };
    let entrant = |key: &TrialKey| entrants.iter().find(|it| it.subject.name == key.subject);
    let is_reference =
        |key: &TrialKey| entrant(key).is_some_and(|it| it.subject.tier == Tier::Reference);
    let is_extra = |key: &TrialKey| campaign.is_extra(&key.subject);
    let mut keys = std::mem::take(&mut record.plan);
    keys.retain(|key| !is_extra(key));
    if !keys.iter().all(is_reference) {
        keys.retain(|key| !is_reference(key));
    }
    let fact = |name: String, value: String| Fact { name, value };
    for (place, key) in keys.iter().enumerate() {
        let is_fresh =
            entrant(key).is_none_or(|it| !matches!(it.subject.serving, Serving::Found(_)));
        let seed = mix(record.seed ^ place as u64);
        let ceiling = ceilings.get(&key.workload).copied();
        let search = Search::of(sought, ceiling, is_fresh, seed).map_err(|says| {
            let file = &campaign.experiment.source.name;
            Refusal::new(format!("{file}: {}: {says}", key.workload))
        })?;
        let name = format!("{CAPACITY_SEARCH}: {}, {}", key.subject, key.workload);
        record.facts.push(fact(name, search.written()));
        record.plan.extend(places(place as u32, &key.subject, &key.workload));
    }
    let ceilings = ceilings.iter();
    record.facts.extend(
        ceilings
            .map(|(task, per_s)| fact(format!("{CAPACITY_CEILING}: {task}"), per_s.to_string())),
    );
    Ok(())
}

/// The kept trials of a run, whole.
pub fn kept(store: &Store, run: RunId) -> Result<Vec<TrialRecord>, Refusal> {
    let mut trials = Vec::new();
    for kept in store.trials(run, Extent::Whole)? {
        match kept.computable() {
            Kept::Whole(trial) => trials.push(*trial),
            Kept::Damaged(damage) => {
                return Err(Refusal::new(format!(
                    "trial {} of run {run} is damaged, and what followed depends on it: {}",
                    damage.number, damage.says
                )));
            }
        }
    }
    Ok(trials)
}

/// What the kept trials of a search have found; refused if they are not those that it would have made.
pub fn so_far(
    of: &RunSearch,
    kept: &[TrialRecord],
    experiment: &Experiment,
) -> Result<Vec<Tried>, Refusal> {
    of.replayed(&of.own(kept), experiment).map_err(|(_, odd)| {
        Refusal::new(format!(
            "trial {} is not the one that this search makes there: it is of another dyno; begin anew",
            odd.number
        ))
    })
}

/// The places in the store for the trials of a search, whose rates are not known before.
#[must_use]
pub fn places(search: u32, subject: &str, workload: &str) -> Vec<TrialKey> {
    let places = (0..SEARCH_TRIALS).map(|repeat| {
        TrialKey::new(
            search * SEARCH_TRIALS + repeat,
            subject,
            workload,
            Point::Requests(1.0),
            repeat,
        )
    });
    places.collect()
}

#[cfg(test)]
mod tests {
    use lab::record::{LoadRecord, Series};
    use load::{Recording, SECOND, Tally};

    use super::*;

    /// Two seconds of 1,000 answers a second, beside programs that use so much of a CPU.
    fn beside(share: f64) -> TrialRecord {
        let key = TrialKey::new(SEARCH_TRIALS, "dyno--oracle", "w", Point::Connections(50), 0);
        let mut total = Tally::new(5 * SECOND);
        for times in [&mut total.response, &mut total.service, &mut total.first_byte] {
            times.record_many(1_000_000, 2_000);
        }
        total.late.record_many(10_000, 2_000);
        (total.attempted, total.answered) = (2_000, 2_000);
        (total.correct, total.correct_inside) = (2_000, 2_000);
        (total.due, total.on_time) = (2_000, 2_000);
        let recording = Recording::new(total, 0..2 * SECOND, 5 * SECOND);
        let recording = Recording { scheduled_until: Some(2 * SECOND), ..recording };
        let points = vec![(0, 0.0), (3 * SECOND, share * 3e9)];
        let other = Series { name: "machine.cpu.other".into(), unit: "ns".into(), points };
        TrialRecord {
            loaded: Some(LoadRecord { began: 0, in_turns: None, agents: Vec::new(), recording }),
            series: vec![other],
            ..TrialRecord::new(key, 0)
        }
    }

    #[test]
    fn a_reference_that_was_disturbed_is_no_ceiling_and_what_it_gives_is_said() {
        assert_eq!(ceiling_of(&beside(0.1), 2.0), Ok(1_000.0));
        let disturbed = ceiling_of(&beside(0.8), 2.0);
        assert_eq!(disturbed, Err("other programs used 0.8 of a CPU, in 3 trials".into()));
        assert_eq!(
            ceiling_says("dyno's own server", &disturbed),
            "how many answers/s dyno's own server gives here is not known, so it limits no rate: other programs used \
             0.8 of a CPU, in 3 trials"
        );
        assert!(
            ceiling_says("it", &Ok(1_150.0))
                .starts_with("it gives 1150 answers/s here; no rate above 1000/s")
        );
    }
}
