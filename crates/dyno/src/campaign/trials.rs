//! Runs the trials of a plan that are needed and not kept yet, one after the other, and keeps each.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use analysis::Rounds;
use lab::record::{OutcomeKind, RunRecord, TrialKey};
use lab::trial::{self, Candidate, Setup};
use load::Halt;
use store::{Kept, RunId, Store, StoreError, Want};

use super::others::Others;
use super::progress::Progress;
use super::{Campaign, Entrant, Grounds};
use crate::shell::Refusal;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Done,
    Interrupted,
}

/// A trial never takes more room than this in the store.
const ROOM: u64 = 32 << 20;

/// Runs the trials that are not kept, as long as they are needed: this is decided between rounds.
pub(crate) fn run_trials(
    campaign: &Campaign,
    grounds: &Grounds,
    entrants: &[Entrant],
    record: &RunRecord,
    store: &mut Store,
    run: RunId,
    halt: &Halt,
) -> Result<Ended, Refusal> {
    let stored = |error: StoreError| Refusal::new(error.to_string());
    let kept = store.kept(run).map_err(stored)?;
    let mut left: VecDeque<&TrialKey> =
        record.plan.iter().filter(|key| !kept.contains(&key.number)).collect();
    let mut rounds = rounds_so_far(campaign, store, run).map_err(stored)?;
    let warden = [campaign.yard.dyno.clone().into_os_string(), OsString::from("warden")];
    let mut progress = Progress::open(&campaign.experiment, kept.len());
    let (mut round, mut is_first) = (None, true);
    loop {
        if left.front().map(|key| key.repeat) != round {
            left.retain(|key| rounds.needs(key));
            round = left.front().map(|key| key.repeat);
            progress.expect(&campaign.experiment, left.make_contiguous());
        }
        let Some(key) = left.pop_front() else { return Ok(Ended::Done) };
        if !std::mem::take(&mut is_first) {
            rest(campaign.experiment.pause, halt);
        }
        if halt.is_asked() {
            return Ok(Ended::Interrupted);
        }
        store.reserve(ROOM).map_err(stored)?;
        let entrant = entrants.iter().find(|entrant| entrant.subject.name == key.subject);
        let entrant = entrant.ok_or_else(|| {
            let name = &key.subject;
            Refusal::new(format!("`{name}` could take part when this run began, and cannot now"))
        })?;
        let setup = Setup {
            experiment: &campaign.experiment,
            yard: &campaign.yard,
            warden: &warden,
            split: &grounds.split,
            sources: &grounds.sources,
            files: grounds.files,
            workloads: &campaign.spoken,
        };
        let candidate = Candidate {
            subject: &entrant.subject,
            built: &entrant.built,
            probe: entrant.probe.as_ref().map(|(probe, built)| (probe, built)),
        };
        let workload = campaign.workload(&key.workload);
        progress.begin(key);
        let mut others = Others::default();
        others.look();
        let mut tried =
            trial::run(setup, candidate, workload, key, now_unix_ms(), halt, &mut |event| {
                progress.hear(&event);
            });
        if tried.outcome.kind == OutcomeKind::Interrupted {
            progress.abandon();
            return Ok(Ended::Interrupted);
        }
        others.look();
        tried.conditions.extend(others.fact());
        store.keep(run, &tried).map_err(stored)?;
        rounds.add(&tried);
        progress.end(&tried);
    }
}

/// What the kept trials imply for the remaining ones; they are read only where that matters.
fn rounds_so_far(campaign: &Campaign, store: &Store, run: RunId) -> Result<Rounds, StoreError> {
    let mut rounds = Rounds::of(&campaign.experiment);
    if campaign.experiment.until.is_some() {
        for kept in store.trials(run, Want::Summary)? {
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
pub(crate) fn now_unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
