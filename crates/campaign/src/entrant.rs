//! A subject that takes part: built, or built several times where pairs are of several builds.

use lab::build::{Built, Recipe, salt};
use lab::probe::Probe;
use lab::service::ReadyService;
use lab::subject::{Serving, Subject};
use lab::workload::Workload;
use load::Halt;

use crate::Campaign;
use crate::event::{Event, Watch};
use crate::roster::{self, Availability, Member, unbuilt};

/// A subject that takes part: built, with its version.
pub struct Entrant {
    pub subject: Subject,
    pub built: Built,
    /// Where it has several builds: the others, which follow the first.
    others: Vec<(Subject, Built)>,
    pub probe: Option<(Probe, Built)>,
    pub version: String,
    /// What the workloads that it answers need beside it.
    pub services: Vec<ReadyService>,
}

impl Entrant {
    /// One of its builds, with the subject as it is run there; of one build always that.
    #[must_use]
    pub fn build(&self, number: usize) -> (&Subject, &Built) {
        match number.checked_sub(1).and_then(|other| self.others.get(other)) {
            Some((subject, built)) => (subject, built),
            None => (&self.subject, &self.built),
        }
    }

    /// What this workload needs beside it.
    #[must_use]
    pub fn service(&self, workload: &Workload) -> Option<&ReadyService> {
        let name = workload.service.as_ref()?;
        self.services.iter().find(|ready| ready.service.name == *name)
    }

    /// How many builds it has.
    #[must_use]
    pub fn builds(&self) -> usize {
        1 + self.others.len()
    }

    /// What one of its builds is called: `base`, or `base (build 2 of 5)`.
    #[must_use]
    pub fn title(&self, number: usize) -> String {
        let title = &self.subject.title;
        match self.builds() {
            1 => title.clone(),
            builds => format!("{title} (build {} of {builds})", number + 1),
        }
    }
}

impl Campaign {
    pub(super) fn entrant(
        &self,
        member: &Member,
        subject: &Subject,
        halt: &Halt,
        watch: Watch<'_>,
    ) -> Result<Entrant, String> {
        let asked = &self.experiment.workloads;
        if !asked.iter().any(|name| subject.answers(name)) {
            return Err(format!("it does not answer {}", asked.join(" or ")));
        }
        if let Some(lack) = self.lack(member) {
            return Err(lack);
        }
        let mut builds = Vec::new();
        for subject in self.to_build(subject) {
            let built = match &member.state {
                Availability::Built { built, .. } if subject.plan.salt.is_none() => built.clone(),
                Availability::Built { .. }
                | Availability::Buildable
                | Availability::Missing(_)
                | Availability::Broken(_) => {
                    self.build((&subject).into(), (&member.name, "it"), halt, watch)?
                }
            };
            builds.push((subject, built));
        }
        let probe = match roster::probe(&self.project.root, subject)? {
            None => None,
            Some(probe) => {
                let called = (probe.title.as_str(), "its probe");
                let built = self.build((&probe).into(), called, halt, watch)?;
                Some((probe, built))
            }
        };
        let others = builds.split_off(1);
        let (subject, built) = builds.remove(0);
        let version = self.cache.version(&subject, &built).unwrap_or_default();
        let services = self.services_of(&subject, halt, watch)?;
        Ok(Entrant { subject, built, others, probe, version, services })
    }

    /// The subject as it is built: once, or where pairs are of several builds once for each, with a salt of its own.
    fn to_build(&self, subject: &Subject) -> Vec<Subject> {
        let pairs = self.experiment.pairs.as_ref();
        match (pairs.and_then(|pairs| pairs.builds), &subject.serving) {
            (Some(builds), Serving::Built(_)) => (0..builds as usize)
                .map(|number| salt(&subject.name, self.experiment.seed, number))
                .map(|salt| subject.clone().salted(salt))
                .collect(),
            _ => vec![subject.clone()],
        }
    }

    fn build(
        &self,
        recipe: Recipe<'_>,
        (name, what): (&str, &str),
        halt: &Halt,
        watch: Watch<'_>,
    ) -> Result<Built, String> {
        self.cache
            .build(recipe, &|| halt.is_asked(), &mut |command| {
                watch(&Event::Building { name, command });
            })
            .map_err(|error| unbuilt(name, &error, what, watch))
    }
}
