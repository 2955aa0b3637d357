//! Measures a run: trial after trial, or those that live at once, as a rule says; keeps each as it comes.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lab::Refusal;
use lab::experiment::Experiment;
use lab::record::{Fact, OutcomeKind, RunRecord, TrialKey, TrialRecord};
use lab::subject::Serving;
use lab::trial::{self, AGENT_LOST, Beside, Candidate, Part, Round, Setup};
use load::{Halt, Place};
use store::{RunId, Store};

use crate::capacity::Searches;
use crate::event::{Event, Watch};
use crate::others::Others;
use crate::planned::PlannedTrials;
use crate::{Admitted, Campaign, Entrant, Generators, RunResources};

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
    pub admitted: &'a Admitted,
    pub record: &'a RunRecord,
    pub store: &'a mut Store,
    pub id: RunId,
    pub halt: &'a Halt,
}

/// Decides, between two trials, what comes next.
pub(crate) trait Rule<'a> {
    fn next(&mut self, run: &mut Run<'a>, watch: Watch<'_>) -> Result<Next, Refusal>;

    /// Makes the trials that are next.
    fn make(
        &self,
        run: &Run<'a>,
        keys: &[TrialKey],
        watch: Watch<'_>,
    ) -> Result<Vec<TrialRecord>, Refusal>;

    /// The trials as they are to be kept; none if they are made again, later.
    fn to_keep(
        &mut self,
        _: &Run<'a>,
        tried: Vec<TrialRecord>,
    ) -> Result<Option<Vec<TrialRecord>>, Refusal> {
        Ok(Some(tried))
    }

    /// Takes note of a trial that was kept.
    fn heed(&mut self, run: &Run<'a>, trial: &TrialRecord, watch: Watch<'_>)
    -> Result<(), Refusal>;
}

/// What comes next in a run.
pub(crate) enum Next {
    /// One trial, or those that live at once.
    Trials(Vec<TrialKey>),
    End(Ended),
}

impl<'a> Run<'a> {
    /// Measures what is not kept, as long as it is needed, and keeps all of it as it comes.
    pub fn go(&mut self, watch: Watch<'_>) -> Result<Ended, Refusal> {
        if self.record.is_search() {
            let rule = Searches::of(self, watch)?;
            return self.measure(rule, watch);
        }
        let rule = PlannedTrials::of(self, watch)?;
        let ended = self.measure(rule, watch)?;
        if ended == Ended::Done {
            self.sample(watch)?;
        }
        Ok(ended)
    }

    fn measure(&mut self, mut rule: impl Rule<'a>, watch: Watch<'_>) -> Result<Ended, Refusal> {
        let mut is_first = true;
        loop {
            let keys = match rule.next(self, watch)? {
                Next::Trials(keys) => keys,
                Next::End(ended) => return Ok(ended),
            };
            if !std::mem::take(&mut is_first) {
                rest(self.campaign.experiment.pause, self.halt);
            }
            if self.halt.is_asked() {
                return Ok(Ended::Interrupted);
            }
            self.store.reserve(ROOM * keys.len() as u64)?;
            watch(&Event::Begun(&keys[0]));
            let tried = rule.make(self, &keys, watch)?;
            if tried.iter().any(|trial| trial.outcome.kind == OutcomeKind::Interrupted) {
                watch(&Event::Abandoned);
                return Ok(Ended::Interrupted);
            }
            let Some(tried) = rule.to_keep(self, tried)? else {
                watch(&Event::Again(&keys[0]));
                continue;
            };
            // All or none: a side without its partners would be compared with those of another time.
            self.store.keep_together(self.id, &tried)?;
            for (at, trial) in tried.iter().enumerate() {
                if 0 < at {
                    watch(&Event::Begun(&trial.key));
                }
                watch(&Event::Kept(trial));
                rule.heed(self, trial, watch)?;
            }
        }
    }

    /// All of the run but its store.
    pub(crate) fn means(&self) -> Means<'_> {
        Means {
            campaign: self.campaign,
            resources: &self.admitted.resources,
            entrants: &self.admitted.entrants,
            halt: self.halt,
            build: 0,
        }
    }

    /// Meets the agents again of which a trial has lost one.
    pub(crate) fn meet_agents_again(
        &self,
        generators: &Generators,
        trial: &TrialRecord,
    ) -> Result<(), Refusal> {
        generators.meet_again(self.halt).map_err(|error| {
            let says = &trial.outcome.says;
            Refusal::new(format!("{says}; and the agents cannot be met again: {error}"))
        })
    }
}

pub(crate) fn has_lost_agent(trial: &TrialRecord) -> bool {
    trial.conditions.iter().any(|fact| fact.name == AGENT_LOST)
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
    pub(crate) fn try_together(
        self,
        keys: &[TrialKey],
        watch: Watch<'_>,
    ) -> Result<Vec<TrialRecord>, Refusal> {
        watch(&Event::Together(&keys.iter().collect::<Vec<_>>()));
        let length = self.campaign.experiment.slices.unwrap_or_default();
        let round =
            Round::new(keys.len(), 0, length).with_one_server_twice(self.meet_one_server(keys));
        let watch = Mutex::new(watch);
        std::thread::scope(|scope| {
            // Every place is there before the first trial, and is given up by whatever ends its trial: no side can
            // wait for one that will never come.
            let places: Vec<Place<'_>> = (0..keys.len()).map(|side| round.place(side)).collect();
            let mut threads = Vec::new();
            for (place, key) in places.into_iter().zip(keys) {
                let (round, watch) = (&round, &watch);
                threads.push(scope.spawn(move || {
                    let mut tell = |event: &Event<'_>| {
                        watch.lock().unwrap_or_else(PoisonError::into_inner)(event);
                    };
                    let part = Some(Part { round, place: &place });
                    let beside = Beside { part, ..Beside::default() };
                    self.tried(&self.campaign.experiment, key, beside, &mut tell)
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
    fn meet_one_server(self, keys: &[TrialKey]) -> bool {
        let mut addresses: Vec<SocketAddr> =
            keys.iter().filter_map(|key| self.found_at(key)).collect();
        addresses.sort_unstable();
        addresses.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// The address of a server that runs already.
    fn found_at(self, key: &TrialKey) -> Option<SocketAddr> {
        let is_meant = |entrant: &&Entrant| entrant.subject.name == key.subject;
        match &self.entrants.iter().find(is_meant)?.subject.serving {
            Serving::Found(site) => Some(site.address),
            Serving::ByUrl(_) | Serving::Built(_) | Serving::Own(..) => None,
        }
    }

    fn setup<'s>(&'s self, experiment: &'s Experiment) -> Setup<'s> {
        Setup {
            experiment,
            launcher: self.campaign.launcher(),
            split: &self.resources.split,
            address: self.resources.address,
            sources: &self.resources.sources,
            elsewhere: self.resources.elsewhere.as_ref().map(|it| &it.agents),
            files: self.resources.files,
            workloads: &self.campaign.spoken,
            beside: Beside::default(),
        }
    }

    /// What the service of this trial's workload answers with no server before it, if that can be measured here.
    pub(crate) fn service_alone(self, key: &TrialKey) -> Option<Fact> {
        let workload = self.campaign.workload(&key.workload);
        let ready = self.entrants.iter().find_map(|entrant| entrant.service(workload))?;
        trial::service_alone(self.setup(&self.campaign.experiment), ready, key, self.halt)
    }

    /// One trial with the load of an experiment.
    pub(crate) fn tried(
        self,
        experiment: &Experiment,
        key: &TrialKey,
        beside: Beside<'_>,
        watch: Watch<'_>,
    ) -> Result<TrialRecord, Refusal> {
        let campaign = self.campaign;
        let entrant = self.entrants.iter().find(|entrant| entrant.subject.name == key.subject);
        let entrant = entrant.ok_or_else(|| {
            let name = &key.subject;
            Refusal::new(format!("`{name}` could take part when this run began, and cannot now"))
        })?;
        let setup = Setup { beside, ..self.setup(experiment) };
        let (subject, built) = entrant.build(self.build);
        let workload = campaign.workload(&key.workload);
        let candidate = Candidate {
            subject,
            built,
            probe: entrant.probe.as_ref().map(|(probe, built)| (probe, built)),
            service: entrant.service(workload),
        };
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
