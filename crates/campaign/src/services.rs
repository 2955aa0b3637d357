//! What workloads need beside a server: services, read and made before the run, and refused where dyno cannot start them.

use lab::Refusal;
use lab::build::{BuildCache, Fitness};
use lab::experiment::Experiment;
use lab::record::Fact;
use lab::service::{Manifest, ReadyService, Service};
use lab::subject::{Serving, Subject};
use lab::workload::Workload;
use load::Halt;
use wire::Meaning;

use crate::event::{Event, Watch};
use crate::project::{Project, unknown};
use crate::roster::{Member, has_apt, lacking, unbuilt};
use crate::{Campaign, Entrant};

/// The facts of a run that name its services begin so.
pub(crate) const SERVICE: &str = "service.";

/// The services that these workloads name, each once.
pub fn of_workloads(
    project: &Project,
    cache: &BuildCache,
    workloads: &[Workload],
) -> Result<Vec<Service>, Refusal> {
    let mut services: Vec<Service> = Vec::new();
    for workload in workloads {
        let Some(name) = &workload.service else { continue };
        let known = project.services();
        if !known.contains(name) {
            let says = unknown("service", name, &known, "a folder in `services/` describes one");
            return Err(workload.source.wrong_name(name, says.to_string()).into());
        }
        if !services.iter().any(|service| service.name == *name) {
            services.push(Service::read(&project.root, name, &cache.variables)?);
        }
    }
    Ok(services)
}

/// Refuses what no service can be started for, and what cannot be given the data that answers are made of.
pub(crate) fn refuse(
    experiment: &Experiment,
    workloads: &[Workload],
    members: &[Member],
) -> Result<(), Refusal> {
    let file = &experiment.source.name;
    if let Some((workload, service)) = named(workloads).filter(|_| experiment.slices.is_some()) {
        return Err(Refusal::new(format!(
            "{file}: in slices all servers live at once, and so would the service `{service}` of each, which workload \
             `{workload}` needs; leave `slices` out"
        )));
    }
    let runs_already =
        |subject: &&Subject| matches!(subject.serving, Serving::ByUrl(_) | Serving::Found(_));
    for (workload, need) in workloads.iter().filter_map(|it| Some((&it.name, need(it)?))) {
        let mut subjects = members.iter().filter_map(|member| member.subject.as_ref().ok());
        if let Some(subject) = subjects.find(|it| runs_already(it) && it.answers(workload)) {
            return Err(Refusal::new(format!(
                "{file}: `{}` runs already, and cannot be given {need} that workload `{workload}` needs; leave it out, or \
                 load it with a workload that needs none",
                subject.name
            )));
        }
    }
    Ok(())
}

/// What a server can be given only when it is started.
fn need(workload: &Workload) -> Option<String> {
    let service = workload.service.as_ref().map(|service| format!("the service `{service}`"));
    service.or_else(|| workload.needs_data().then(|| "the data".into()))
}

/// The first workload that needs a service, and that.
fn named(workloads: &[Workload]) -> Option<(&str, &str)> {
    workloads.iter().find_map(|it| Some((it.name.as_str(), it.service.as_deref()?)))
}

/// Refuses workloads that need a service, where none is started; `here` says where, as in `a race`.
pub fn refuse_all(workloads: &[Workload], here: &str) -> Result<(), Refusal> {
    match named(workloads) {
        None => Ok(()),
        Some((workload, service)) => Err(Refusal::new(format!(
            "workload `{workload}` needs the service `{service}` beside the server, and {here} starts none; measure it by \
             an experiment on this machine: dyno run EXPERIMENT"
        ))),
    }
}

/// Refuses workloads whose answers are judged by when they came, where other machines load the server.
pub fn refuse_other_clocks(workloads: &[Workload]) -> Result<(), Refusal> {
    let is_judged_so =
        |it: &&Workload| it.service.is_some() && it.meanings().any(Meaning::needs_times);
    match workloads.iter().find(is_judged_so) {
        None => Ok(()),
        Some(workload) => Err(Refusal::new(format!(
            "answers of workload `{}` are compared with what is in the database at that time, by this machine's clock; \
             load it from this machine: leave --load-on out",
            workload.name
        ))),
    }
}

/// Why a service cannot be used here, and what to do about it.
pub fn lack(service: &Service, cache: &BuildCache) -> Option<String> {
    let needs = match cache.fitness(service.into()) {
        Ok(Fitness::Built(_) | Fitness::Buildable) => return None,
        Ok(Fitness::Missing(needs)) => needs,
        Err(error) => return Some(error.to_string()),
    };
    let Service { name, manifest: Manifest { debian, home, advice, .. }, .. } = service;
    Some(lacking(&needs, (name, debian, home, advice.as_deref()), has_apt(cache)))
}

/// Makes a service's template, if that has not been done; or says why it cannot be.
pub fn made(
    service: &Service,
    cache: &BuildCache,
    halt: &Halt,
    watch: Watch<'_>,
) -> Result<ReadyService, String> {
    let name = &service.name;
    if let Some(lack) = lack(service, cache) {
        return Err(format!("its service `{name}` {lack}"));
    }
    let made = cache.service(service, &|| halt.is_asked(), &mut |command| {
        watch(&Event::Building { name, command });
    });
    made.map_err(|error| unbuilt(name, &error, &format!("its service `{name}`"), watch))
}

impl Campaign {
    /// The services of the workloads that a subject answers.
    pub(crate) fn services_of(
        &self,
        subject: &Subject,
        halt: &Halt,
        watch: Watch<'_>,
    ) -> Result<Vec<ReadyService>, String> {
        let needs = |service: &&Service| {
            let names_it = |it: &&Workload| it.service.as_ref() == Some(&service.name);
            self.workloads.iter().filter(names_it).any(|workload| subject.answers(&workload.name))
        };
        self.services
            .iter()
            .filter(needs)
            .map(|service| made(service, &self.cache, halt, watch))
            .collect()
    }
}

/// What is said of its services in a run: version, template and settings.
pub(crate) fn facts(entrants: &[Entrant]) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for ready in entrants.iter().flat_map(|entrant| &entrant.services) {
        let name = format!("{SERVICE}{}", ready.service.name);
        if facts.iter().any(|fact| fact.name == name) {
            continue;
        }
        let version =
            if ready.version.is_empty() { &ready.service.manifest.title } else { &ready.version };
        let value = format!("{version}; template {}", ready.built.hash);
        facts.push(Fact { name: name.clone(), value });
        let more = [
            ("settings", ready.settings.join(", ")),
            ("notes", ready.service.manifest.notes.clone()),
        ];
        let more = more.into_iter().filter(|(_, value)| !value.is_empty());
        facts.extend(more.map(|(what, value)| Fact { name: format!("{name}.{what}"), value }));
    }
    facts
}
