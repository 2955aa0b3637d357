//! What all measurements of a gate have in common, and how one of them runs.

use std::path::PathBuf;
use std::time::Duration;

use ::report::history::Commit;
use analysis::gate::Course;
use archive::kept::{Loaded, findings, kept};
use archive::page;
use campaign::project::Project;
use campaign::race::label::Label;
use campaign::race::slices::Slices;
use campaign::race::texts::{self, Course as Text};
use campaign::roster::State;
use campaign::{Campaign, Ended, Entrant, Event, RunResources, now_unix_ms};
use lab::build::Built;
use lab::experiment::{Pairs, Wanted};
use lab::record::{Fact, RACE, RunRecord, TrialRecord};
use lab::subject::Subject;
use lab::workload::Workload;
use load::{Arrivals, Load, Rate};
use store::RunId;
use terminal::progress;

use super::GateFlags;
use super::prepared::{Prepared, Terms, prepared};
use crate::job::{Job, weighed};
use crate::shell::{Refusal, command_line};

pub(super) const BASE: &str = "base";
pub(super) const HEAD: &str = "head";
/// The base, once more.
const AGAIN: &str = "base-again";

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
    /// The same, as a history may have them.
    pub(super) written: [String; 2],
    pub(super) commits: [Option<Commit>; 2],
    /// The experiment, and what base and head are builds of.
    about: Vec<String>,
    /// The build of the base, once there is one.
    built: Option<Built>,
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
    pub(super) campaign: Campaign,
    pub(super) run: RunRecord,
    pub(super) trials: Vec<TrialRecord>,
    pub(super) course: Course,
}

impl<'f> Stage<'f> {
    /// Reads all that the flags name.
    pub(super) fn of(flags: &'f GateFlags) -> Result<Stage<'f>, Refusal> {
        let Prepared { home, workload, terms, sides: [base, head], about } = prepared(flags)?;
        let path = flags.store.clone().unwrap_or_else(|| home.store_path());
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| Refusal::new(format!("{}: {error}", folder.display())))?;
        }
        let pages: PathBuf = home.reports(&path);
        let job = Job::open(&home, &path, pages)?;
        let titles = [base.title, head.title];
        let written = [base.written, head.written];
        let commits = [base.commit, head.commit];
        let (base, head, built) = (base.subject, head.subject, None);
        Ok(Stage {
            flags,
            job,
            home,
            workload,
            terms,
            base,
            head,
            titles,
            written,
            commits,
            about,
            built,
        })
    }

    /// What is gated and how it is loaded, as texts; which commits they are is no part of it.
    pub(super) fn plan(&self, campaign: &Campaign) -> Vec<String> {
        let conditions = &campaign.experiment.conditions;
        let how = format!("{:?} {:?} {conditions:?}", self.terms, self.turns());
        let mut texts = vec![how, self.workload.source.text.clone()];
        texts.extend(self.about.clone());
        texts
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

    /// What a load takes that follows such pairs, as far as it is known before; none: interrupted.
    pub(super) fn intended(
        &self,
        pairs: Pairs,
    ) -> Result<Option<(Campaign, RunResources)>, Refusal> {
        let sides = vec![self.base.clone(), self.head.clone()];
        let campaign = self.campaign(Loading::Closed, pairs, sides)?;
        let resources = RunResources::weigh(&campaign.experiment)?;
        let given = self.flags.generators.given_to(&campaign, resources, &self.job.halt)?;
        Ok(given.map(|resources| (campaign, resources)))
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
        Ok(Some(Measured { id, campaign, run, trials, course }))
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
