//! What all measurements of a gate have in common, and how one of them runs.

use std::path::PathBuf;
use std::time::Duration;

use analysis::gate::Course;
use archive::kept::{Loaded, findings, kept};
use archive::page;
use campaign::project::Project;
use campaign::race::label::Label;
use campaign::race::slices::Slices;
use campaign::race::texts::{self, Course as Text};
use campaign::roster::State;
use campaign::{Campaign, Ended, Entrant, Event, now_unix_ms};
use lab::build::Built;
use lab::experiment::{Experiment, Pairs, Point, Shape, Wanted};
use lab::manner::Manner;
use lab::record::{Fact, RACE, RunRecord, TrialRecord};
use lab::subject::Subject;
use lab::workload::Workload;
use load::{Arrivals, Load, Rate};
use store::RunId;
use terminal::progress;

use super::{GateFlags, sides};
use crate::job::{Job, weighed};
use crate::order::stated;
use crate::shell::{Refusal, command_line};

pub(super) const BASE: &str = "base";
pub(super) const HEAD: &str = "head";
/// The base, once more.
const AGAIN: &str = "base-again";

const USUAL_CONNECTIONS: usize = 50;
const USUAL_WARMUP: Duration = Duration::from_secs(1);

pub(super) struct Stage<'f> {
    flags: &'f GateFlags,
    pub(super) job: Job,
    home: Project,
    workload: Workload,
    terms: Terms,
    base: Subject,
    head: Subject,
    /// Base and head, as a reader knows them.
    pub(super) titles: [String; 2],
    /// The build of the base, once there is one.
    built: Option<Built>,
}

/// How both sides are loaded.
struct Terms {
    connections: usize,
    duration: Duration,
    warmup: Duration,
    timeout: Duration,
    keep_alive: bool,
    manner: Manner,
    conditions: Wanted,
}

/// What a load is.
#[derive(Clone, Copy)]
pub(super) enum Loading {
    Closed,
    /// So many requests each second.
    Open(u64),
    /// A closed loop on the base against itself.
    Equal,
}

/// A load that is over.
pub(super) struct Measured {
    pub(super) id: RunId,
    pub(super) run: RunRecord,
    pub(super) trials: Vec<TrialRecord>,
    pub(super) course: Course,
}

impl<'f> Stage<'f> {
    /// Reads all that the flags name.
    pub(super) fn of(flags: &'f GateFlags) -> Result<Stage<'f>, Refusal> {
        let (home, workload, terms, [base, head]) = match &flags.experiment {
            Some(name) => of_experiment(flags, name)?,
            None => of_commands(flags)?,
        };
        let path = flags.store.clone().unwrap_or_else(|| home.store_path());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| Refusal::new(format!("{}: {error}", folder.display())))?;
        }
        let pages: PathBuf = home.reports(&path);
        let job = Job::open(&home, &path, pages)?;
        let titles = [base.title, head.title];
        let (base, head) = (base.subject, head.subject);
        Ok(Stage { flags, job, home, workload, terms, base, head, titles, built: None })
    }

    /// About how long a pair takes: both are loaded for so long, warmed up, started and ended.
    pub(super) fn pair_time(&self) -> Duration {
        2 * (self.terms.duration + self.terms.warmup) + Duration::from_secs(1)
    }

    /// How many loads a pair is measured with.
    pub(super) fn loads(&self) -> u32 {
        1 + u32::from(self.flags.gate.iter().any(|wanted| wanted.is_at_a_rate()))
    }

    /// Builds base and head as these pairs need them; none: interrupted.
    pub(super) fn built(
        &mut self,
        pairs: Pairs,
    ) -> Result<Option<(Campaign, Vec<Entrant>)>, Refusal> {
        let sides = vec![self.base.clone(), self.head.clone()];
        let campaign = self.campaign(Loading::Closed, pairs, sides)?;
        let entrants = self.admitted(&campaign)?;
        if self.job.halt.is_asked() {
            return Ok(None);
        }
        let single = entrants.first().filter(|entrant| entrant.builds() == 1);
        self.built = single.map(|entrant| entrant.built.clone());
        Ok(Some((campaign, entrants)))
    }

    /// Runs the pairs of one load; none: interrupted.
    pub(super) fn measure(
        &mut self,
        loading: Loading,
        pairs: Pairs,
    ) -> Result<Option<Measured>, Refusal> {
        let again = || self.base.clone().racing(AGAIN, "base again", &self.workload.name);
        let sides = match loading {
            Loading::Equal => vec![self.base.clone(), again()],
            Loading::Closed | Loading::Open(_) if self.flags.control => {
                vec![self.base.clone(), self.head.clone(), again()]
            }
            Loading::Closed | Loading::Open(_) => vec![self.base.clone(), self.head.clone()],
        };
        let mut campaign = self.campaign(loading, pairs, sides)?;
        // Only a control is built a second time, or what has several builds.
        let twin = campaign.members.iter_mut().find(|member| member.name == AGAIN);
        if let (Some(twin), Some(built), Loading::Equal) = (twin, &self.built, loading) {
            twin.state = State::Built { built: built.clone(), version: None };
        }
        let resources = weighed(&campaign)?;
        let given = self.flags.generators.given_to(&campaign, resources, &self.job.halt)?;
        let Some(resources) = given else { return Ok(None) };
        resources.take()?;
        let entrants = self.admitted(&campaign)?;
        if self.job.halt.is_asked() {
            return Ok(None);
        }
        let (_, entries) = campaign.admit(&self.job.halt, &mut |_| {});
        let mut record = campaign.record(&resources, &entrants, entries, now_unix_ms());
        record.facts.push(Fact { name: RACE.into(), value: command_line() });
        let id = self.job.store.begin(&record)?;
        self.job.claim(id)?;
        let ended = self.job.go_on(&campaign, &resources, &entrants, &record, id)?;
        if ended == Ended::Interrupted {
            return Ok(None);
        }
        let loaded = kept(&self.job.store, id)?;
        self.leave_page(id, &loaded);
        let (run, trials, _) = loaded;
        let course = Course::of(&campaign.experiment);
        let mut course = course.ok_or_else(|| Refusal::new("a gate without pairs"))?;
        trials.iter().for_each(|trial| course.add(trial));
        Ok(Some(Measured { id, run, trials, course }))
    }

    /// The page of a load. That there is none changes no answer.
    fn leave_page(&self, id: RunId, loaded: &Loaded) {
        let found = findings(&self.job.store, id, loaded, Some(&self.home.root));
        match page::leave(&found, &self.job.pages) {
            Ok(path) => terminal::notice(&format!("page: {}", page::near(&path))),
            Err(error) => {
                terminal::notice(&format!("dyno: no page: {}: {error}", self.job.pages.display()));
            }
        }
    }

    /// Both sides, built; the log of a build that failed is shown.
    fn admitted(&self, campaign: &Campaign) -> Result<Vec<Entrant>, Refusal> {
        let (entrants, _) = campaign.admit(&self.job.halt, &mut |event: &Event<'_>| match event {
            Event::BuildFailed { name, log } => show_log(name, log),
            event => progress::admitting(event),
        });
        match entrants.len() == campaign.members.len() || self.job.halt.is_asked() {
            true => Ok(entrants),
            false => Err(Refusal::new("a side cannot take part, for the reason above")),
        }
    }

    /// Agents do not take turns within a pair: whole trials follow one another.
    fn turns(&self) -> Option<Slices> {
        self.flags.generators.is_given().then_some(Slices::Off)
    }

    fn campaign(
        &self,
        loading: Loading,
        pairs: Pairs,
        sides: Vec<Subject>,
    ) -> Result<Campaign, Refusal> {
        let terms = &self.terms;
        let connections = terms.connections;
        let load = match loading {
            Loading::Closed | Loading::Equal => Load::Closed { connections },
            Loading::Open(per_s) => {
                let rate = Rate::per_s(per_s).map_err(|error| Refusal::new(error.to_string()))?;
                Load::Open {
                    arrivals: Arrivals::Constant(rate),
                    connections,
                    max_connections: connections,
                }
            }
        };
        let wants_check = self.flags.gate.contains(&super::Wanted::Conformance);
        let labels: Vec<Label> = sides
            .iter()
            .map(|side| Label { title: side.title.clone(), name: side.name.clone() })
            .collect();
        let text = Text {
            name: texts::GATE,
            question: question(&self.titles),
            duration: Some(terms.duration),
            total: None,
            warmup: terms.warmup,
            timeout: terms.timeout,
            keep_alive: terms.keep_alive,
            manner: terms.manner,
            rounds: None,
            until_percent: None,
            pairs: Some(pairs),
            limit: None,
            isolate: self.flags.isolate || terms.conditions.isolate,
            check: wants_check && matches!(loading, Loading::Closed),
            seed: self.flags.asking.seed,
            slices: Slices::of(self.turns(), &load, None),
            promise: None,
        };
        let mut experiment = texts::experiment(&labels, &self.workload.name, &load, &text)?;
        experiment.conditions = Wanted { isolate: text.isolate, ..terms.conditions.clone() };
        let experiment = self.flags.cpus.given_to(experiment);
        Campaign::made(self.home.clone(), experiment, self.workload.clone(), sides)
    }
}

/// The run's question, in which nothing is left that a line cannot show.
fn question([base, head]: &[String; 2]) -> String {
    let text = format!("Is {head} worse than {base}?");
    text.chars().filter(|letter| !letter.is_control()).take(300).collect()
}

/// The end of what a build wrote.
fn show_log(name: &str, log: &std::path::Path) {
    const LINES: usize = 40;
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    terminal::notice(&format!("the end of what the build of {name} wrote ({}):", log.display()));
    for line in &lines[lines.len().saturating_sub(LINES)..] {
        let line: String = line.chars().filter(|letter| !letter.is_control()).take(500).collect();
        terminal::notice(&format!("  {line}"));
    }
}

type Prepared = (Project, Workload, Terms, [sides::Named; 2]);

/// Two commands, and the request of the flags.
fn of_commands(flags: &GateFlags) -> Result<Prepared, Refusal> {
    let (Some(base), Some(head)) = (&flags.base_cmd, &flags.head_cmd) else {
        return Err(Refusal::new(
            "name an experiment with --base and --head, or two commands with --base-cmd and --head-cmd",
        ));
    };
    if flags.builds.is_some() {
        return Err(Refusal::new(
            "--builds: --base-cmd and --head-cmd are run as they are, and nothing is built; name an experiment with --base \
             and --head, or leave --builds out",
        ));
    }
    let manner = manner(flags)?;
    let path = flags.path.as_deref().unwrap_or_default();
    let path = if path.starts_with('/') { path.into() } else { format!("/{path}") };
    let workload =
        texts::workload(texts::GATE, &stated::request(&flags.asking, path, texts::GATE)?)?;
    let of = ([BASE, HEAD], workload.name.as_str(), manner.protocol);
    let named = sides::of_commands(flags, [base, head], of)?;
    let terms = Terms {
        connections: flags.connections.unwrap_or(USUAL_CONNECTIONS),
        duration: flags.duration.unwrap_or(texts::USUAL),
        warmup: flags.warmup.unwrap_or(USUAL_WARMUP),
        timeout: flags.asking.timeout,
        keep_alive: !flags.asking.no_keepalive,
        manner,
        conditions: Wanted::default(),
    };
    Ok((Project::of_user()?, workload, terms, named))
}

/// An experiment's workload and load, and two trees.
fn of_experiment(flags: &GateFlags, name: &str) -> Result<Prepared, Refusal> {
    let (project, experiment) = Project::of_experiment(name)?;
    let file = &experiment.source.name;
    let (Some(base), Some(head)) = (&flags.base, &flags.head) else {
        return Err(Refusal::new(
            "name both sides: --base and --head, as git:REVISION, dir:FOLDER or subject:NAME",
        ));
    };
    if !flags.asking.is_usual() || flags.path.is_some() {
        return Err(Refusal::new(format!(
            "the workload of {file} says what is requested; leave the flags of the request out"
        )));
    }
    let [workload] = experiment.workloads.as_slice() else {
        return Err(Refusal::new(format!(
            "{file} has {} workloads, and a gate has one; write an experiment of one of them",
            experiment.workloads.len()
        )));
    };
    let manner = match experiment.manners.as_slice() {
        _ if flags.protocol.is_given() => manner(flags)?,
        [manner] => resuming(flags, *manner)?,
        _ => {
            return Err(Refusal::new(format!(
                "{file} has several protocols, and a gate has one; name it with --protocol"
            )));
        }
    };
    if matches!(experiment.shape, Shape::Held(_)) {
        return Err(Refusal::new(format!(
            "{file} holds connections, which are no load for a gate"
        )));
    }
    let workload =
        Workload::read(&project.root, workload).map_err(|error| Refusal::new(error.to_string()))?;
    let places = (&project, &experiment);
    let side = |text: &str, name: &str| sides::of_tree(flags, places, (text, name, &workload.name));
    let named = [side(base, BASE)?, side(head, HEAD)?];
    refuse_running(&named)?;
    let terms = Terms {
        connections: flags.connections.unwrap_or_else(|| connections(&experiment)),
        duration: flags.duration.or(experiment.duration).unwrap_or(texts::USUAL),
        warmup: flags.warmup.unwrap_or(experiment.warmup),
        timeout: experiment.timeout,
        keep_alive: experiment.keep_alive,
        manner,
        conditions: experiment.conditions.clone(),
    };
    Ok((project, workload, terms, named))
}

/// Each pair needs fresh processes.
fn refuse_running(sides: &[sides::Named; 2]) -> Result<(), Refusal> {
    let runs = |side: &&sides::Named| side.subject.serving.command().is_none();
    match sides.iter().find(runs) {
        None => Ok(()),
        Some(side) => Err(Refusal::new(format!(
            "--{}: it runs already, at the URL of its subject.toml, and a gate starts both sides anew for each pair; name \
             a subject that dyno starts, or race the two servers: `dyno race URL URL --detect 5%`",
            side.subject.name
        ))),
    }
}

/// What the flags say is spoken, with both sides.
fn manner(flags: &GateFlags) -> Result<Manner, Refusal> {
    let manner = flags.protocol.manner(&[], 2, flags.tls.tls_resume.percent())?;
    refuse_tls(flags, manner)?;
    Ok(manner)
}

/// The same of an experiment's, whose connections resume as often as the flag says.
fn resuming(flags: &GateFlags, manner: Manner) -> Result<Manner, Refusal> {
    refuse_tls(flags, manner)?;
    let resumed = match flags.tls.tls_resume.percent() {
        0 => manner.resumed,
        percent => percent,
    };
    Ok(Manner { resumed, ..manner })
}

/// dyno starts both sides, and decides what TLS is like.
fn refuse_tls(flags: &GateFlags, manner: Manner) -> Result<(), Refusal> {
    match manner.protocol.is_secured() {
        true => flags.tls.refuse_for_started(),
        false => flags.tls.refuse_without(&[]),
    }
}

/// Of several places of a closed loop the highest; of a schedule its connections.
fn connections(experiment: &Experiment) -> usize {
    let of_point = |point: &Point| match point {
        Point::Connections(connections) => Some(*connections as usize),
        Point::Requests(_) | Point::Sessions(_) | Point::Held(_) => None,
    };
    let closed = experiment.points.iter().filter_map(of_point).max();
    closed.unwrap_or(match experiment.shape {
        Shape::Open { connections, .. } => connections,
        Shape::Closed | Shape::Sessions { .. } | Shape::Held(_) => USUAL_CONNECTIONS,
    })
}
