//! From an experiment's file to runs of trials: which subjects take part, under which limits, in which order. What
//! happens is reported as events; nothing is printed.

mod admitted;
pub mod capacity;
mod certificate;
mod checks;
mod elsewhere;
pub mod embedded;
mod entrant;
mod event;
#[cfg(test)]
mod fixture;
pub mod holding;
mod lock;
mod others;
pub mod places;
mod planned;
mod ports;
mod profiling;
pub mod project;
pub mod race;
mod remains;
pub mod remote_run;
mod resources;
mod resume;
pub mod roster;
pub mod separate_trees;
pub mod services;
pub mod trees;
mod trials;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lab::Refusal;
use lab::build::BuildCache;
use lab::conformance::LEFT_OUT;
use lab::experiment::{Experiment, Shape, Subjects};
use lab::history::PublishedFigures;
use lab::identity::Identity;
use lab::manner::{Protocol, Task};
use lab::plan::Runner;
use lab::probe::Probe;
use lab::record::{Entry, Fact};
use lab::service::Service;
use lab::source_file::SourceFile;
use lab::subject::{Subject, Tier};
use lab::trial::Launcher;
use lab::visit::VisitSetup;
use lab::workload::Workload;
use load::Halt;

use certificate::identity;
use project::{Project, unknown};
use roster::Member;

pub use admitted::Admitted;
pub use certificate::new_identity;
pub use checks::{EACH, expected_checks};
pub use elsewhere::{Generators, Meet};
pub use entrant::Entrant;
pub use event::{Event, Watch};
pub use lock::{Claim, Lock};
pub use others::other_dynos;
pub use ports::ports_for;
pub use profiling::probes;
pub use remains::{part_in, sweep};
pub use resources::RunResources;
pub use resume::{admitted_again, as_it_was};
pub use trials::{Ended, Run, now_unix_ms};

/// An experiment with everything that it names, read and checked. Copies of it share their certificate, whose files are
/// removed with the last of them.
#[derive(Clone)]
pub struct Campaign {
    pub project: Project,
    pub cache: BuildCache,
    pub experiment: Experiment,
    pub workloads: Vec<Workload>,
    /// Every workload of the project.
    pub spoken: Vec<Workload>,
    pub members: Vec<Member>,
    /// What its workloads need beside the subjects.
    pub services: Vec<Service>,
    /// Members that were not requested: they show the ceiling of these workloads.
    extras: BTreeMap<String, Vec<String>>,
    /// The article's figures, as they were published.
    history: Option<SourceFile>,
    /// Records that no subject is checked, though the experiment asks for checks.
    left_out: Option<Fact>,
    /// What the subjects present within TLS; none where nothing is secured.
    identity: Option<Arc<Identity>>,
}

impl Campaign {
    /// Reads everything that an experiment names. Runs nothing.
    pub fn read(project: Project, experiment: Experiment) -> Result<Campaign, Refusal> {
        let cache = project.cache()?;
        let workloads = workloads(&project, &experiment)?;
        let history = history(&project, &experiment)?;
        let mut members = members(&project, &cache, &experiment)?;
        let extras = extras(&project, &cache, &experiment, &mut members);
        let services = services::of_workloads(&project, &cache, &workloads)?;
        services::refuse(&experiment, &workloads, &members)?;
        let spoken = checks::spoken(&project);
        let identity = identity(&cache, &experiment)?;
        Ok(Campaign {
            project,
            cache,
            experiment,
            workloads,
            spoken,
            members,
            services,
            extras,
            history,
            left_out: None,
            identity,
        })
    }

    /// A campaign whose texts were made for it.
    pub fn made(
        project: Project,
        experiment: Experiment,
        workload: Workload,
        subjects: Vec<Subject>,
    ) -> Result<Campaign, Refusal> {
        services::refuse_all(std::slice::from_ref(&workload), "a race, a gate or a search")?;
        let cache = project.cache()?;
        let members = subjects.into_iter().map(|subject| Member::of(subject, &cache)).collect();
        let identity = identity(&cache, &experiment)?;
        Ok(Campaign {
            project,
            cache,
            experiment,
            workloads: vec![workload.clone()],
            spoken: vec![workload],
            members,
            services: Vec::new(),
            extras: BTreeMap::new(),
            history: None,
            left_out: None,
            identity,
        })
    }

    /// Takes the body that the only request is answered with: another one is a failure, or is only counted.
    pub fn with_body(mut self, body: &[u8], is_usual: bool) -> Result<Campaign, Refusal> {
        let workload = self.workloads[0].with_body(body, is_usual).map_err(Refusal::new)?;
        self.spoken = vec![workload.clone()];
        self.workloads = vec![workload];
        Ok(self)
    }

    /// Adds a reference that no user has named, to show the ceiling.
    pub fn with_reference(mut self, reference: Subject) -> Campaign {
        self.extras.insert(reference.name.clone(), self.experiment.workloads.clone());
        self.members.push(Member::of(reference, &self.cache));
        self
    }

    /// Leaves out the checks: the run's row says so.
    pub fn without_check(mut self) -> Campaign {
        self.experiment.has_check = false;
        self.left_out =
            Some(Fact { name: LEFT_OUT.into(), value: "left out by --no-check".into() });
        self
    }

    /// How a subject takes part.
    pub fn runner(&self, subject: &Subject) -> Runner {
        let extra = self.extras.get(&subject.name);
        Runner {
            subject: subject.name.clone(),
            asked: extra.unwrap_or(&subject.speaks).clone(),
            protocols: subject.protocols.clone(),
            is_extra: extra.is_some(),
        }
    }

    /// The part that a subject has in the run.
    pub fn is_extra(&self, subject: &str) -> bool {
        self.extras.contains_key(subject)
    }

    /// Builds the subjects that can be built, and says which take part, and why others do not.
    pub fn admit(&self, halt: &Halt, watch: Watch<'_>) -> (Vec<Entrant>, Vec<Entry>) {
        let (mut entrants, mut entries) = (Vec::new(), Vec::new());
        for member in &self.members {
            let Ok(subject) = &member.subject else { continue };
            if halt.is_asked() {
                break;
            }
            let mut entry = entry_of(subject);
            match self.entrant(member, subject, halt, watch) {
                Ok(entrant) => {
                    entry.version.clone_from(&entrant.version);
                    entry.build.clone_from(&entrant.built.hash);
                    entrants.push(entrant);
                }
                Err(says) => {
                    watch(&Event::Excluded { subject: &member.name, why: &says });
                    entry.skipped = Some(says);
                }
            }
            entries.push(entry);
        }
        (entrants, entries)
    }

    /// Why a member cannot take part, as far as that is known before it is built.
    pub fn lack(&self, member: &Member) -> Option<String> {
        let subject = member.subject.as_ref().ok();
        let of_protocol = subject
            .filter(|subject| !self.is_extra(&subject.name))
            .and_then(|subject| self.experiment.lacks_protocol(subject));
        of_protocol.or_else(|| member.lack())
    }

    /// The text of every file that shapes the run.
    fn files(&self) -> Vec<(String, String)> {
        let has_file = |page: &&SourceFile| !page.text.is_empty();
        let experiment = std::iter::once(&self.experiment.source).filter(has_file);
        let workloads = self.workloads.iter().map(|workload| &workload.source);
        let subjects = || self.members.iter().filter_map(|member| member.subject.as_ref().ok());
        let manifests = subjects().map(|subject| &subject.source);
        let probes: BTreeSet<&str> =
            subjects().filter_map(|subject| subject.probe.as_deref()).collect();
        // A probe that cannot be read is in no trial: its subject does not take part.
        let probes = probes.into_iter().map(|name| Probe::read(&self.project.root, name));
        let probes: Vec<SourceFile> = probes.filter_map(|probe| Some(probe.ok()?.source)).collect();
        let services = self.services.iter().map(|service| &service.source);
        let pages = experiment.chain(workloads).chain(manifests).chain(&probes).chain(services);
        let text = |page: &SourceFile| (page.name.clone(), page.text.clone());
        pages.chain(&self.history).map(text).collect()
    }

    /// The experiment as it was asked for: that no subject is checked is a fact of its own.
    fn as_asked(&self) -> Experiment {
        let has_check = self.experiment.has_check || self.left_out.is_some();
        Experiment { has_check, ..self.experiment.clone() }
    }

    /// What starts the subjects.
    pub(crate) fn launcher(&self) -> Launcher<'_> {
        Launcher { cache: &self.cache, identity: self.identity.as_deref() }
    }

    /// What starts a subject for a visit over this protocol, without a service.
    pub(crate) fn visits<'a>(&'a self, protocol: Protocol, halt: &'a Halt) -> VisitSetup<'a> {
        let (launcher, workloads) = (self.launcher(), &self.spoken[..]);
        VisitSetup { launcher, workloads, protocol, service: None, halt }
    }

    /// The workload of the task with this name.
    pub fn workload(&self, task: &str) -> &Workload {
        let name = Task::named(task).workload;
        let found = self.workloads.iter().find(|workload| workload.name == name);
        found.expect("the plan names only workloads that were read")
    }
}

/// dyno's version, and its commit where that was known when it was built.
pub fn version() -> String {
    match option_env!("DYNO_COMMIT") {
        Some(commit) => format!("{} ({commit})", env!("CARGO_PKG_VERSION")),
        None => env!("CARGO_PKG_VERSION").into(),
    }
}

/// For each workload without a named reference, the project's first reference that speaks it joins the members;
/// preferably one that lacks nothing, and of these one that speaks most of the protocols.
fn extras(
    project: &Project,
    cache: &BuildCache,
    experiment: &Experiment,
    members: &mut Vec<Member>,
) -> BTreeMap<String, Vec<String>> {
    let mut extras: BTreeMap<String, Vec<String>> = BTreeMap::new();
    if !experiment.has_ceiling {
        return extras;
    }
    let is_reference = |subject: &Subject| subject.tier == Tier::Reference;
    let speaks = |member: &Member, workload: &str| {
        let subject = member.subject.as_ref();
        subject.is_ok_and(|subject| is_reference(subject) && subject.answers(workload))
    };
    let named = members.len();
    let mut names = project.subjects();
    names.retain(|name| Subject::read(&project.root, name).as_ref().is_ok_and(is_reference));
    let others: Vec<Member> = names.iter().map(|name| Member::read(project, cache, name)).collect();
    for workload in &experiment.workloads {
        if members[..named].iter().any(|member| speaks(member, workload)) {
            continue;
        }
        let able = others.iter().filter(|member| speaks(member, workload));
        let rank = |member: &&Member| (member.lack().is_some(), silent_over(member, experiment));
        if let Some(first) = able.min_by_key(rank) {
            extras.entry(first.name.clone()).or_default().push(workload.clone());
        }
    }
    members.extend(others.into_iter().filter(|member| extras.contains_key(&member.name)));
    extras
}

/// The number of the experiment's protocols that a member does not answer over.
fn silent_over(member: &Member, experiment: &Experiment) -> usize {
    let subject = member.subject.as_ref();
    let answers = |protocol| subject.is_ok_and(|subject| subject.answers_over(protocol));
    experiment.protocols().iter().filter(|protocol| !answers(**protocol)).count()
}

/// The workloads that the experiment names; each can be sent over each protocol, and suits the kind of its load.
fn workloads(project: &Project, experiment: &Experiment) -> Result<Vec<Workload>, Refusal> {
    let known = project.workloads();
    let mut workloads = Vec::new();
    for name in &experiment.workloads {
        refuse_unknown("workload", name, &known, experiment)?;
        let workload = Workload::read(&project.root, name)?;
        for scheme in experiment.protocols().into_iter().filter_map(Protocol::http2_scheme) {
            workload.over(Some(scheme)).map_err(|says| {
                Refusal::new(format!("{}, over HTTP/2: {says}", workload.source.name))
            })?;
        }
        workloads.push(workload);
    }
    let file = &experiment.source.name;
    if let Some(Workload { name, .. }) = workloads.iter().find(|workload| workload.is_echo()) {
        return Err(Refusal::new(format!(
            "{file}: workload `{name}` is a conversation for checks, and no load; name another workload (to hold \
             WebSockets: `wspoll`), or hold its connections by hand: dyno hold ws://ADDRESS/PATH --echo RATE"
        )));
    }
    let holds = matches!(experiment.shape, Shape::Held(_));
    match workloads.iter().find(|workload| workload.is_held() != holds) {
        None => Ok(workloads),
        Some(Workload { name, .. }) if holds => Err(Refusal::new(format!(
            "{file}: the answers of workload `{name}` end, and this load holds connections whose answers do not; name \
             `poll` or `wspoll`, or load `{name}` with `closed`, `open` or `sessions`"
        ))),
        Some(Workload { name, .. }) => Err(Refusal::new(format!(
            "{file}: the answers of workload `{name}` never end, and this load waits for their end; hold them: \
             load = {{ held = {{ connections = 1000, every = \"10s\" }} }}"
        ))),
    }
}

/// The subjects that the experiment names, or all that answer one of its workloads.
fn members(
    project: &Project,
    cache: &BuildCache,
    experiment: &Experiment,
) -> Result<Vec<Member>, Refusal> {
    let known = project.subjects();
    let member = |name: &String| Member::read(project, cache, name);
    let Subjects::Named(names) = &experiment.subjects else {
        let answers = |subject: &Subject| {
            experiment.workloads.iter().any(|workload| subject.answers(workload))
        };
        let takes_part = |member: &Member| member.subject.as_ref().is_ok_and(answers);
        return Ok(known.iter().map(member).filter(takes_part).collect());
    };
    for name in names {
        refuse_unknown("server", name, &known, experiment)?;
    }
    let members: Vec<Member> = names.iter().map(member).collect();
    match members.iter().find_map(|member| member.subject.as_ref().err()) {
        None => Ok(members),
        Some(error) => Err(Refusal::new(error.clone())),
    }
}

/// Refuses a name in the experiment's file that the project does not have.
fn refuse_unknown(
    what: &str,
    name: &str,
    known: &[String],
    experiment: &Experiment,
) -> Result<(), Refusal> {
    if known.iter().any(|known| known == name) {
        return Ok(());
    }
    let says = unknown(what, name, known, "`dyno servers list` shows them");
    Err(experiment.source.wrong_name(name, says.to_string()).into())
}

/// The published figures that an experiment names, read so that errors in them are reported before anything starts.
fn history(
    project: &Project,
    experiment: &Experiment,
) -> Result<Option<SourceFile>, lab::source_file::ConfigError> {
    let Some(file) = &experiment.history else { return Ok(None) };
    let name = format!("experiments/history/{file}");
    let page = SourceFile::read(&project.root.join(&name), &name)?;
    PublishedFigures::parse(&page).map(|_| Some(page))
}

fn entry_of(subject: &Subject) -> Entry {
    Entry {
        name: subject.name.clone(),
        title: subject.title.clone(),
        language: subject.language.clone(),
        processes: subject.processes.name().into(),
        tier: subject.tier.name().into(),
        notes: subject.notes.clone(),
        settings: subject.settings.clone(),
        ..Entry::default()
    }
}
