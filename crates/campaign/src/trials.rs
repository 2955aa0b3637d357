//! Runs the trials of a plan that are needed and not kept yet, one after the other, and keeps each.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use analysis::Rounds;
use lab::record::{OutcomeKind, RunRecord, TrialKey, TrialRecord};
use lab::trial::{self, Candidate, Setup};
use load::Halt;
use store::{Extent, Kept, RunId, Store, StoreError};

use crate::event::{Event, Watch};
use crate::others::Others;
use crate::refusal::Refusal;
use crate::{Campaign, Entrant, RunResources};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Done,
    Interrupted,
}

/// A trial never takes more room than this in the store.
const ROOM: u64 = 32 << 20;

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
        let mut unchecked = Some(self.unchecked(watch)?);
        let has_rounds = self.record.plan.iter().any(|key| key.repeat != 0);
        let kept = self.store.kept(self.id)?;
        let mut left: VecDeque<&TrialKey> =
            self.record.plan.iter().filter(|key| !kept.contains(&key.number)).collect();
        let mut rounds = rounds_so_far(self.campaign, self.store, self.id)?;
        let (mut round, mut is_first) = (None, true);
        loop {
            if left.front().map(|key| key.repeat) != round {
                left.retain(|key| rounds.needs(key));
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
            self.store.reserve(ROOM)?;
            watch(&Event::Begun(key));
            let tried = self.try_one(key, watch)?;
            if tried.outcome.kind == OutcomeKind::Interrupted {
                watch(&Event::Abandoned);
                return Ok(Ended::Interrupted);
            }
            self.store.keep(self.id, &tried)?;
            rounds.add(&tried);
            watch(&Event::Kept(&tried));
        }
    }

    fn try_one(&self, key: &TrialKey, watch: Watch<'_>) -> Result<TrialRecord, Refusal> {
        let campaign = self.campaign;
        let entrant = self.entrants.iter().find(|entrant| entrant.subject.name == key.subject);
        let entrant = entrant.ok_or_else(|| {
            let name = &key.subject;
            Refusal::new(format!("`{name}` could take part when this run began, and cannot now"))
        })?;
        let warden = campaign.warden();
        let setup = Setup {
            experiment: &campaign.experiment,
            cache: &campaign.cache,
            warden: &warden,
            split: &self.resources.split,
            sources: &self.resources.sources,
            files: self.resources.files,
            workloads: &campaign.spoken,
        };
        let candidate = Candidate {
            subject: &entrant.subject,
            built: &entrant.built,
            probe: entrant.probe.as_ref().map(|(probe, built)| (probe, built)),
        };
        let workload = campaign.workload(&key.workload);
        let mut others = Others::default();
        others.look();
        let mut tell = |event: trial::Event<'_>| watch(&Event::Trial(&event));
        let mut tried =
            trial::run(setup, candidate, workload, key, now_unix_ms(), self.halt, &mut tell);
        others.look();
        tried.conditions.extend(others.fact());
        Ok(tried)
    }
}

/// What the kept trials imply for the remaining ones; they are read only where that matters.
fn rounds_so_far(campaign: &Campaign, store: &Store, run: RunId) -> Result<Rounds, StoreError> {
    let mut rounds = Rounds::of(&campaign.experiment);
    if campaign.experiment.until.is_some() {
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
fn rest(pause: Duration, halt: &Halt) {
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
