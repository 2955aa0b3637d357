//! Runs the trials of a plan that are needed and not kept yet, one after the other, and keeps each.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use analysis::Rounds;
use lab::Refusal;
use lab::experiment::Experiment;
use lab::record::{Fact, OutcomeKind, RunRecord, TrialKey, TrialRecord};
use lab::subject::Serving;
use lab::trial::{self, AGENT_LOST, Candidate, Enough, Part, Round, Setup};
use load::{Halt, Place};
use store::{Extent, Kept, RunId, Store, StoreError};

use crate::event::{Event, Watch};
use crate::others::Others;
use crate::{Campaign, Entrant, RunResources};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Done,
    Interrupted,
}

/// The condition of a trial that says which of several builds ran: its folder.
const BUILD: &str = "build";

/// A trial never takes more room than this in the store.
pub(crate) const ROOM: u64 = 32 << 20;

/// A run under way: what it does, where, and where it is kept.
pub struct Run<'a> {
    pub campaign: &'a Campaign,
    pub resources: &'a RunResources,
    pub entrants: &'a [Entrant],
    pub record: &'a RunRecord,
    pub store: &'a mut Store,
    pub id: RunId,
    pub halt: &'a Halt,
}

impl Run<'_> {
    /// Runs the trials that are not kept, as long as they are needed: this is decided between rounds. The subjects are
    /// checked after the first round, which gives a first picture sooner, or before the only one. All of it is kept as
    /// it comes.
    pub fn go(&mut self, watch: Watch<'_>) -> Result<Ended, Refusal> {
        if self.record.is_search() {
            return self.search(watch);
        }
        let mut unchecked = Some(self.unchecked(watch)?);
        let has_rounds = self.record.plan.iter().any(|key| key.repeat != 0);
        let kept = self.store.kept(self.id)?;
        let mut left: VecDeque<&TrialKey> =
            self.record.plan.iter().filter(|key| !kept.contains(&key.number)).collect();
        let mut rounds = rounds_so_far(self.campaign, self.store, self.id)?;
        let (mut round, mut is_first) = (None, true);
        let mut again = Again::default();
        loop {
            if left.front().map(|key| key.repeat) != round {
                let plan = left.make_contiguous().to_vec();
                left.retain(|key| rounds.needs(key, &plan));
                round = left.front().map(|key| key.repeat);
                watch(&Event::Left(left.make_contiguous()));
            }
            let is_early = has_rounds && left.front().is_some_and(|key| key.repeat == 0);
            if let Some(unchecked) = unchecked.take_if(|_| !is_early) {
                if !is_first {
                    watch(&Event::FirstRoundKept);
                }
                if self.check_subjects(&unchecked, watch)? == Ended::Interrupted {
                    return Ok(Ended::Interrupted);
                }
            }
            let Some(key) = left.pop_front() else { return Ok(Ended::Done) };
            if !std::mem::take(&mut is_first) {
                rest(self.campaign.experiment.pause, self.halt);
            }
            if self.halt.is_asked() {
                return Ok(Ended::Interrupted);
            }
            let mut keys = vec![key];
            if self.campaign.experiment.slices.is_some() {
                keys.extend(self.take_others_of_round(key, &mut left));
            }
            self.store.reserve(ROOM * keys.len() as u64)?;
            watch(&Event::Begun(key));
            let means = Means { build: rounds.build_of(key.repeat), ..self.means() };
            let tried = match keys.as_slice() {
                [key] => vec![means.try_one(key, None, watch)?],
                keys => means.try_together(keys, watch)?,
            };
            if tried.iter().any(|trial| trial.outcome.kind == OutcomeKind::Interrupted) {
                watch(&Event::Abandoned);
                return Ok(Ended::Interrupted);
            }
            let Some(tried) = again.heed(&mut left, key, tried, self.resources, self.halt)? else {
                watch(&Event::Again(key));
                continue;
            };
            // All or none: a side without its partners would be compared with those of another time.
            self.store.keep_together(self.id, &tried)?;
            for (at, trial) in tried.iter().enumerate() {
                if 0 < at {
                    watch(&Event::Begun(&trial.key));
                }
                rounds.add(trial);
                watch(&Event::Kept(trial));
            }
        }
    }

    /// The other trials of this one's round that live at the same time. References are tried alone.
    fn take_others_of_round<'k>(
        &self,
        key: &TrialKey,
        left: &mut VecDeque<&'k TrialKey>,
    ) -> Vec<&'k TrialKey> {
        let is_here = |other: &&TrialKey| {
            (&other.workload, other.point, other.repeat) == (&key.workload, key.point, key.repeat)
                && !self.campaign.is_extra(&other.subject)
        };
        if self.campaign.is_extra(&key.subject) {
            return Vec::new();
        }
        let (here, rest): (Vec<&TrialKey>, Vec<&TrialKey>) = left.drain(..).partition(is_here);
        left.extend(rest);
        here
    }

    /// All of the run but its store.
    pub(crate) fn means(&self) -> Means<'_> {
        Means {
            campaign: self.campaign,
            resources: self.resources,
            entrants: self.entrants,
            halt: self.halt,
            build: 0,
        }
    }
}

/// What the trials of a run need, whichever thread they are on.
#[derive(Clone, Copy)]
pub(crate) struct Means<'a> {
    pub(crate) campaign: &'a Campaign,
    pub(crate) resources: &'a RunResources,
    pub(crate) entrants: &'a [Entrant],
    pub(crate) halt: &'a Halt,
    /// Which of the subjects' builds runs, where there are several.
    pub(crate) build: usize,
}

impl Means<'_> {
    /// Runs trials that live at once, each on a thread of its own.
    fn try_together(
        self,
        keys: &[&TrialKey],
        watch: Watch<'_>,
    ) -> Result<Vec<TrialRecord>, Refusal> {
        watch(&Event::Together(keys));
        let length = self.campaign.experiment.slices.unwrap_or_default();
        let round =
            Round::new(keys.len(), 0, length).with_one_server_twice(self.meet_one_server(keys));
        let watch = Mutex::new(watch);
        std::thread::scope(|scope| {
            // Every place is there before the first trial, and is given up by whatever ends its trial: no side can
            // wait for one that will never come.
            let places: Vec<Place<'_>> = (0..keys.len()).map(|side| round.place(side)).collect();
            let mut threads = Vec::new();
            for (place, &key) in places.into_iter().zip(keys) {
                let (round, watch) = (&round, &watch);
                threads.push(scope.spawn(move || {
                    let mut tell = |event: &Event<'_>| {
                        watch.lock().unwrap_or_else(PoisonError::into_inner)(event);
                    };
                    self.try_one(key, Some(Part { round, place: &place }), &mut tell)
                }));
            }
            let join = |thread: ScopedJoinHandle<'_, _>| match thread.join() {
                Ok(tried) => tried,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            threads.into_iter().map(join).collect()
        })
    }

    /// Whether two of these servers, which run already, have one address.
    fn meet_one_server(self, keys: &[&TrialKey]) -> bool {
        let address = |key: &&TrialKey| {
            let entrant = self.entrants.iter().find(|it| it.subject.name == key.subject)?;
            match &entrant.subject.serving {
                Serving::Found(site) => Some(site.address),
                Serving::ByUrl(_) | Serving::Built(_) | Serving::Own(..) => None,
            }
        };
        let mut addresses: Vec<SocketAddr> = keys.iter().filter_map(address).collect();
        addresses.sort_unstable();
        addresses.windows(2).any(|pair| pair[0] == pair[1])
    }

    fn try_one(
        self,
        key: &TrialKey,
        part: Option<Part<'_>>,
        watch: Watch<'_>,
    ) -> Result<TrialRecord, Refusal> {
        self.tried(&self.campaign.experiment, key, (part, None), watch)
    }

    /// The same with another load than the experiment's, which may end early.
    pub(crate) fn try_as(
        self,
        experiment: &Experiment,
        key: &TrialKey,
        enough: Option<Enough<'_>>,
        watch: Watch<'_>,
    ) -> Result<TrialRecord, Refusal> {
        self.tried(experiment, key, (None, enough), watch)
    }

    fn tried(
        self,
        experiment: &Experiment,
        key: &TrialKey,
        (part, enough): (Option<Part<'_>>, Option<Enough<'_>>),
        watch: Watch<'_>,
    ) -> Result<TrialRecord, Refusal> {
        let campaign = self.campaign;
        let entrant = self.entrants.iter().find(|entrant| entrant.subject.name == key.subject);
        let entrant = entrant.ok_or_else(|| {
            let name = &key.subject;
            Refusal::new(format!("`{name}` could take part when this run began, and cannot now"))
        })?;
        let warden = campaign.warden();
        let setup = Setup {
            experiment,
            launcher: campaign.launcher(&warden),
            split: &self.resources.split,
            address: self.resources.address,
            sources: &self.resources.sources,
            elsewhere: self.resources.elsewhere.as_ref().map(|it| &it.agents),
            files: self.resources.files,
            workloads: &campaign.spoken,
            part,
            enough,
        };
        let (subject, built) = entrant.build(self.build);
        let candidate = Candidate {
            subject,
            built,
            probe: entrant.probe.as_ref().map(|(probe, built)| (probe, built)),
        };
        let workload = campaign.workload(&key.workload);
        let mut others = Others::default();
        others.look();
        let mut tell = |event: trial::Event<'_>| watch(&Event::Trial(key, &event));
        let mut tried =
            trial::run(setup, candidate, workload, key, now_unix_ms(), self.halt, &mut tell);
        others.look();
        tried.conditions.extend(others.fact());
        if 1 < entrant.builds() {
            let value = built.folder.display().to_string();
            tried.conditions.push(Fact { name: BUILD.into(), value });
        }
        Ok(tried)
    }
}

/// Trials in which an agent was lost: each is tried once more, at the end of its round, with the same agents.
#[derive(Default)]
struct Again(BTreeMap<u32, String>);

impl Again {
    /// The trials to keep; none if the trial is put off. After a second loss the run stops, and can be resumed.
    fn heed<'k>(
        &mut self,
        left: &mut VecDeque<&'k TrialKey>,
        key: &'k TrialKey,
        mut tried: Vec<TrialRecord>,
        resources: &RunResources,
        halt: &Halt,
    ) -> Result<Option<Vec<TrialRecord>>, Refusal> {
        let (Some(generators), [trial]) = (&resources.elsewhere, tried.as_mut_slice()) else {
            return Ok(Some(tried));
        };
        let is_lost = trial.conditions.iter().any(|fact| fact.name == AGENT_LOST);
        let earlier = self.0.remove(&key.number);
        if !is_lost {
            let value = |says| format!("it was tried before, and {says}");
            let fact =
                earlier.map(|says| Fact { name: "agent.first_try".into(), value: value(says) });
            trial.conditions.extend(fact);
            return Ok(Some(tried));
        }
        let says = trial.outcome.says.clone();
        if let Some(earlier) = earlier {
            return Err(Refusal::new(format!(
                "{}: its load lost an agent twice, so the run stops: {says}; before, {earlier}",
                key.subject
            )));
        }
        generators.meet_again(halt).map_err(|error| {
            Refusal::new(format!("{says}; and the agents cannot be met again: {error}"))
        })?;
        self.0.insert(key.number, says);
        let end = left.iter().position(|other| other.repeat != key.repeat).unwrap_or(left.len());
        left.insert(end, key);
        Ok(None)
    }
}

/// What the kept trials imply for the remaining ones; they are read only where that matters.
fn rounds_so_far(campaign: &Campaign, store: &Store, run: RunId) -> Result<Rounds, StoreError> {
    let mut rounds = Rounds::of(&campaign.experiment);
    if campaign.experiment.until.is_some() || campaign.experiment.pairs.is_some() {
        for kept in store.trials(run, Extent::Summary)? {
            match kept {
                Kept::Whole(trial) => rounds.add(&trial),
                Kept::Damaged(_) => {}
            }
        }
    }
    Ok(rounds)
}

/// Lets the machine come to rest between two trials, but ends early if the user interrupts.
pub(crate) fn rest(pause: Duration, halt: &Halt) {
    let began = std::time::Instant::now();
    while began.elapsed() < pause && !halt.is_asked() {
        std::thread::sleep(pause.saturating_sub(began.elapsed()).min(Duration::from_millis(50)));
    }
}

/// Wall time, for labels.
pub fn now_unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
