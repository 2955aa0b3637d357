//! Samples the servers of a run after its last round: each of its loads again, for a few seconds, on a freshly started
//! server. None of it is in a figure, a table or a verdict.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use lab::Refusal;
use lab::experiment::{Experiment, Profiling};
use lab::probe::Probe;
use lab::record::{OutcomeKind, ProfileRecord, TrialKey};
use lab::trial::{Beside, LEAST_WARMUP, SAMPLED_LOAD, Sampling, is_permitted};
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
            let Run { campaign, admitted, record, id, .. } = *self;
            let store = &mut *self.store;
            let mut run = Run { campaign, admitted, record, store, id, halt: &cut };
            let taken = run.take_profiles(profiling, watch);
            cut.ask();
            taken
        })
    }

    fn take_profiles(&mut self, profiling: Profiling, watch: Watch<'_>) -> Result<(), Refusal> {
        let probes = probes(&self.campaign.project)?;
        let kept = self.store.run(self.id)?.profiles;
        let is_kept = |key: &TrialKey| kept.iter().any(|it| it.key.number == key.number);
        let mut tried: Vec<(TrialKey, bool)> =
            kept.iter().map(|it| (it.key.clone(), it.found.is_ok())).collect();
        let keys = self.sampled_keys(profiling)?;
        for (at, key) in keys.iter().enumerate().filter(|(_, key)| !is_kept(key)) {
            if cannot_be_sampled(key, &tried) {
                continue;
            }
            watch(&Event::Sampling { key, place: at + 1, of: keys.len() });
            rest(self.campaign.experiment.pause, self.halt);
            let Some(record) = self.sampled(key, profiling, &probes, watch)? else { break };
            let is_sampled = record.found.is_ok();
            self.store.keep_profile(self.id, &record)?;
            tried.push((record.key, is_sampled));
            if !is_sampled && !is_permitted() {
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
        let beside = Beside { sampling: Some(&sampling), ..Beside::default() };
        let trial = self.means().tried(&experiment, key, beside, watch)?;
        if trial.outcome.kind == OutcomeKind::Interrupted {
            return Ok(None);
        }
        let failed = (trial.outcome.kind != OutcomeKind::Measured).then_some(trial.outcome.says);
        let found = sampling.into_found(failed);
        Ok(Some(ProfileRecord { key: key.clone(), found }))
    }
}

/// Whether this server was tried with this load, and never with success.
fn cannot_be_sampled(key: &TrialKey, tried: &[(TrialKey, bool)]) -> bool {
    let is_its = |other: &TrialKey| {
        *other == TrialKey { number: other.number, repeat: other.repeat, ..key.clone() }
    };
    let own: Vec<bool> = tried.iter().filter(|(other, _)| is_its(other)).map(|it| it.1).collect();
    !own.is_empty() && !own.contains(&true)
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

#[cfg(test)]
mod tests {
    use lab::experiment::Point;

    use super::*;

    fn key(number: u32, subject: &str) -> TrialKey {
        TrialKey {
            number,
            subject: subject.into(),
            workload: "hello".into(),
            point: Point::Connections(2),
            repeat: number / 3,
        }
    }

    #[test]
    fn only_a_server_that_was_never_sampled_with_success_is_left_out() {
        let tried = [(key(0, "never"), false), (key(1, "once"), true), (key(4, "once"), false)];
        let left_out = ["never", "once", "new"].map(|it| cannot_be_sampled(&key(6, it), &tried));
        assert_eq!(left_out, [true, false, false]);
    }
}
