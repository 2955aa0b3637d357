//! Samples the servers of a run after its last round: each of its loads again, for a few seconds, on a freshly started
//! server. None of it is in a figure, a table or a verdict.

use std::sync::Mutex;
use std::time::Duration;

use lab::Refusal;
use lab::experiment::{Experiment, Profiling};
use lab::probe::Probe;
use lab::record::{OutcomeKind, ProfileRecord, TrialKey};
use lab::trial::{SAMPLED_LOAD, Sampling};
use store::{Extent, Kept};

use crate::event::{Event, Watch};
use crate::project::Project;
use crate::trials::{Run, rest};

impl Run<'_> {
    /// Takes the profiles that the experiment asks for and that are not kept. An interrupt ends them, and changes nothing
    /// of what was measured.
    pub(crate) fn sample(&mut self, watch: Watch<'_>) -> Result<(), Refusal> {
        let Some(profiling) = self.campaign.experiment.why else { return Ok(()) };
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
        let found = sampling.found.into_inner().ok().flatten();
        let found = match (trial.outcome.kind, found) {
            (OutcomeKind::Measured, Some(found)) => found,
            (_, Some(Err(says))) => Err(says),
            (_, Some(Ok(_)) | None) => Err(trial.outcome.says),
        };
        let found = found.and_then(|profile| match profile.answers {
            0 => Err("no right answer came while it was sampled".into()),
            _ => Ok(profile),
        });
        Ok(Some(ProfileRecord { key: key.clone(), found }))
    }
}

/// A runtime compiles what it runs often: it has at least so long for it.
const LEAST_WARMUP: Duration = Duration::from_secs(1);

/// The probes of a project that say something of a runtime's functions; where it has none, those that dyno carries.
fn probes(project: &Project) -> Result<Vec<Probe>, Refusal> {
    let (mut root, mut names) = (project.root.clone(), project.probes());
    if names.is_empty() {
        let carried = Project::embedded()?;
        (root, names) = (carried.root.clone(), carried.probes());
    }
    let read: Result<Vec<Probe>, Refusal> =
        names.iter().map(|name| Ok(Probe::read(&root, name)?)).collect();
    Ok(read?.into_iter().filter(|probe| probe.why.is_some()).collect())
}
