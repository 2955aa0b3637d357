//! A campaign that was admitted: what it is measured with, and who takes part.

use lab::Refusal;
use lab::plan::{Runner, plan};
use lab::record::{Entry, RunRecord};
use load::Halt;

use crate::event::Watch;
use crate::{Campaign, Entrant, RunResources, now_unix_ms, services};

pub struct Admitted {
    pub resources: RunResources,
    pub entrants: Vec<Entrant>,
    pub entries: Vec<Entry>,
}

impl Admitted {
    /// Takes what a campaign needs, as it was weighed, and builds those that take part. None: interrupted.
    pub fn of(
        campaign: &Campaign,
        resources: RunResources,
        halt: &Halt,
        watch: Watch<'_>,
    ) -> Result<Option<Admitted>, Refusal> {
        resources.take()?;
        let (entrants, entries) = campaign.admit(halt, watch);
        Ok((!halt.is_asked()).then_some(Admitted { resources, entrants, entries }))
    }

    /// The row of the run that would begin now: what it does, where, and with what.
    #[must_use]
    pub fn record(&self, campaign: &Campaign) -> RunRecord {
        let experiment = &campaign.experiment;
        let runner = |entrant: &Entrant| campaign.runner(&entrant.subject);
        let runners: Vec<Runner> = self.entrants.iter().map(runner).collect();
        RunRecord {
            name: experiment.name.clone(),
            experiment: Some(campaign.as_asked()),
            files: campaign.files(),
            is_quick: experiment.is_quick,
            seed: experiment.seed,
            began_unix_ms: now_unix_ms(),
            dyno: crate::version(),
            facts: (self.resources.facts().into_iter())
                .chain(campaign.left_out.clone())
                .chain(services::facts(&self.entrants))
                .collect(),
            entries: self.entries.clone(),
            plan: plan(experiment, &runners),
            ..RunRecord::default()
        }
    }
}
