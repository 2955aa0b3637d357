//! Samples the servers of a run after its last round: each of its loads again, for a few seconds, on a freshly started
//! server. None of it is in a figure, a table or a verdict.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use lab::Refusal;
use lab::experiment::{Experiment, Profiling};
use lab::probe::Probe;
use lab::record::{OutcomeKind, ProfileRecord, TrialKey};
use lab::trial::{LEAST_WARMUP, SAMPLED_LOAD, Sampling};
use load::Halt;
use store::{Extent, Kept};

use crate::event::{Event, Watch};
use crate::project::Project;
use crate::trials::{Run, rest};

impl Run<'_> {
    /// Takes the profiles that the experiment asks for and that are not kept. An interrupt ends them, and changes nothing
    /// of what was measured.
    pub(crate) fn sample(&mut self, watch: Watch<'_>) -> Result<(), Refusal> {
        match self.campaign.experiment.why {
            Some(profiling) => self.take_profiles(profiling, watch),
            None => Ok(()),
        }
    }

    /// Takes profiles of a run that is over, for so long at most. The end of that time cuts what is under way, as an
    /// interrupt does.
    pub fn sample_for(
        &mut self,
        most: Duration,
        profiling: Profiling,
        watch: Watch<'_>,
    ) -> Result<(), Refusal> {
        let (asked, cut, until) = (self.halt, Halt::default(), Instant::now() + most);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !cut.is_asked() && !asked.is_asked() && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(20));
                }
                cut.ask();
            });
            let Run { campaign, resources, entrants, record, id, .. } = *self;
            let store = &mut *self.store;
            let mut run = Run { campaign, resources, entrants, record, store, id, halt: &cut };
            let taken = run.take_profiles(profiling, watch);
            cut.ask();
            taken
        })
    }

    fn take_profiles(&mut self, profiling: Profiling, watch: Watch<'_>) -> Result<(), Refusal> {
        let probes = probes(&self.campaign.project)?;
        let kept = self.store.run(self.id)?.profiles;
        let is_left = |key: &TrialKey| !kept.iter().any(|it| it.key.number == key.number);
        let keys: Vec<TrialKey> =
            self.sampled_keys(profiling)?.into_iter().filter(is_left).collect();
        for (at, key) in keys.iter().enumerate() {
            watch(&Event::Sampling { key, place: at + 1, of: keys.len() });
            rest(self.campaign.experiment.pause, self.halt);
            let Some(record) = self.sampled(key, profiling, &probes, watch)? else { break };
            let is_refused = record.found.is_err();
            self.store.keep_profile(self.id, &record)?;
            // What is not permitted once is not permitted the next time.
            if is_refused && at == 0 {
                break;
            }
        }
        watch(&Event::SamplingEnded);
        Ok(())
    }

    /// Each server with each of its loads, round by round; those of which nothing was measured are left out.
    fn sampled_keys(&self, profiling: Profiling) -> Result<Vec<TrialKey>, Refusal> {
        let mut measured = Vec::new();
        for kept in self.store.trials(self.id, Extent::Summary)? {
            let Kept::Whole(trial) = kept else { continue };
            let is_meant = trial.outcome.kind == OutcomeKind::Measured
                && !self.campaign.is_extra(&trial.key.subject);
            let key = TrialKey { number: 0, repeat: 0, ..trial.key };
            if is_meant && !measured.contains(&key) {
                measured.push(key);
            }
        }
        let rounds = (0..profiling.trials)
            .flat_map(|repeat| measured.iter().map(move |key| TrialKey { repeat, ..key.clone() }));
        let numbered = (0..).zip(rounds);
        Ok(numbered.map(|(number, key)| TrialKey { number, ..key }).collect())
    }

    /// One sampled trial; none if it was interrupted.
    fn sampled(
        &self,
        key: &TrialKey,
        profiling: Profiling,
        probes: &[Probe],
        watch: Watch<'_>,
    ) -> Result<Option<ProfileRecord>, Refusal> {
        let experiment = Experiment {
            duration: Some(SAMPLED_LOAD),
            total: None,
            slices: None,
            warmup: self.campaign.experiment.warmup.max(LEAST_WARMUP),
            ..self.campaign.experiment.clone()
        };
        let sampling = Sampling { probes, hz: profiling.hz, found: Mutex::new(None) };
        let trial = self.means().try_sampled(&experiment, key, &sampling, watch)?;
        if trial.outcome.kind == OutcomeKind::Interrupted {
            return Ok(None);
        }
        let failed = (trial.outcome.kind != OutcomeKind::Measured).then_some(trial.outcome.says);
        let found = sampling.into_found(failed);
        Ok(Some(ProfileRecord { key: key.clone(), found }))
    }
}

/// The probes of a project that say something of a runtime's functions; where it has none, those that dyno carries.
pub fn probes(project: &Project) -> Result<Vec<Probe>, Refusal> {
    let (mut root, mut names) = (project.root.clone(), project.probes());
    if names.is_empty() {
        let carried = Project::embedded()?;
        (root, names) = (carried.root.clone(), carried.probes());
    }
    let read: Result<Vec<Probe>, Refusal> =
        names.iter().map(|name| Ok(Probe::read(&root, name)?)).collect();
    Ok(read?.into_iter().filter(|probe| probe.why.is_some()).collect())
}
