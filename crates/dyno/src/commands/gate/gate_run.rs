//! What all measurements of a gate have in common, and how one of them runs.

use std::time::{Duration, Instant};

use analysis::gate::GateCourse;
use archive::kept::{findings, kept};
use archive::page;
use campaign::race::label::Label;
use campaign::race::procedure::{self, USUAL};
use campaign::race::slices::Slices;
use campaign::roster::Availability;
use campaign::separate_trees::SeparateTrees;
use campaign::{Admitted, Campaign, Ended, Entrant, Event, RunResources, expected_checks};
use lab::build::Built;
use lab::conformance::Conformance;
use lab::experiment::{Experiment, Pairs, Until, Wanted};
use lab::record::{RACE, RunRecord, TrialRecord};
use lab::subject::{Serving, Subject};
use load::{Arrivals, Load, Rate};
use store::RunId;
use terminal::progress;

use super::GateFlags;
use super::preparation::{Prepared, prepared};
use super::sides::{self, Named};
use crate::commands::report::tell_page;
use crate::session::{Session, StorePlace, fact, weighed};
use crate::shell::{Refusal, command_line};

pub(super) const BASE: &str = "base";
pub(super) const HEAD: &str = "head";
/// The base, once more.
const AGAIN: &str = "base-again";

pub(super) struct GateRun<'f> {
    flags: &'f GateFlags,
    pub(super) session: Session,
    pub(super) prepared: Prepared,
    /// The build of the base, once there is one.
    built: Option<Built>,
    /// What keeps base and head apart.
    apart: [Option<SeparateTrees>; 2],
    /// The user's variables, as far as sides may have them.
    environment: Vec<(String, String)>,
    /// The base's check, where it was not kept.
    base_check: Option<Conformance>,
    /// How long that took, and so about how long the head's takes.
    pub(super) check: Duration,
    /// The pairs of the base against itself, where they were measured.
    pub(super) equal: Option<Measured>,
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
    /// What it was measured with, and who took part.
    pub(super) admitted: Admitted,
    pub(super) run: RunRecord,
    pub(super) trials: Vec<TrialRecord>,
    pub(super) course: GateCourse,
}

impl<'f> GateRun<'f> {
    /// Reads all that the flags name, and waits until no other dyno runs in the project. None: interrupted.
    pub(super) fn of(flags: &'f GateFlags) -> Result<Option<GateRun<'f>>, Refusal> {
        let prepared = prepared(flags)?;
        let Prepared { home, sides, .. } = &prepared;
        let place = StorePlace::of(home, flags.store.named());
        let Some(session) = Session::open_in_turn(home, place, flags.max_time)? else {
            return Ok(None);
        };
        let apart = sides::apart(home, sides);
        let environment = environment(home.cache()?.variables, sides, &apart);
        Ok(Some(GateRun {
            flags,
            session,
            prepared,
            built: None,
            apart,
            environment,
            base_check: None,
            check: Duration::ZERO,
            equal: None,
        }))
    }

    /// What is gated and how it is loaded, as texts; which commits they are is no part of it.
    pub(super) fn plan(&self, campaign: &Campaign) -> Vec<String> {
        let conditions = &campaign.experiment.conditions;
        let Experiment { warmup, timeout, keep_alive, manners, conditions: asked, .. } =
            &self.prepared.asked;
        // The keys of histories are hashes of this text.
        let terms = format!(
            "Terms {{ connections: {}, duration: {:?}, warmup: {warmup:?}, timeout: {timeout:?}, \
             keep_alive: {keep_alive}, manner: {:?}, conditions: {asked:?} }}",
            self.prepared.connections,
            self.duration(),
            manners[0]
        );
        let how = format!("{terms} {:?} {conditions:?}", self.turns());
        let mut texts = vec![how, self.prepared.workload.source.text.clone()];
        texts.extend(self.prepared.about.clone());
        texts
    }

    /// About how long a pair takes: both are loaded for so long, warmed up, started and ended.
    pub(super) fn pair_time(&self) -> Duration {
        2 * (self.duration() + self.prepared.asked.warmup) + Duration::from_secs(1)
    }

    /// How long each side of a pair is loaded.
    fn duration(&self) -> Duration {
        self.prepared.asked.duration.unwrap_or(USUAL)
    }

    /// How many loads a pair is measured with.
    pub(super) fn loads(&self) -> u32 {
        1 + u32::from(self.flags.gate.iter().any(|wanted| wanted.is_at_a_rate()))
    }

    /// Builds base and head as these pairs need them; none: interrupted.
    pub(super) fn built(&mut self, pairs: Pairs) -> Result<Option<(Campaign, Admitted)>, Refusal> {
        let campaign = self.campaign(Loading::Closed, pairs, self.sides())?;
        let resources = RunResources::weigh(&campaign)?;
        let admitted = Admitted::of(&campaign, resources, &self.session.halt, &mut admitting)?;
        let Some(admitted) = admitted else { return Ok(None) };
        let entrants = &admitted.entrants;
        take_part(&campaign, entrants)?;
        for (entrant, build) in builds_of(entrants) {
            let (subject, built) = entrant.build(build);
            let Some(apart) = self.apart(&subject.name, built, &campaign) else { continue };
            let found = apart.check(subject, built, &campaign.cache);
            found.map_err(|says| Refusal::new(format!("the {}: {says}", entrant.title(build))))?;
        }
        let single = entrants.first().filter(|entrant| entrant.builds() == 1);
        self.built = single.map(|entrant| entrant.built.clone());
        Ok(Some((campaign, admitted)))
    }

    /// Checks the base before the pairs, unless both checks are kept: how long it takes depends on what the server leaves
    /// unanswered. None: interrupted.
    pub(super) fn check_base(
        &mut self,
        campaign: &Campaign,
        admitted: &Admitted,
    ) -> Result<Option<()>, Refusal> {
        let record = admitted.record(campaign);
        let is_kept = expected_checks(campaign, &record, self.session.store())?.is_zero();
        if is_kept || self.flags.aa {
            return Ok(Some(()));
        }
        terminal::notice("the conformance of the base to the RFCs is checked before the pairs");
        let began = Instant::now();
        self.base_check = campaign.checked(&admitted.entrants[0], &self.session.halt);
        self.check = began.elapsed();
        Ok(self.base_check.as_ref().map(|_| ()))
    }

    /// What keeps a build of a side apart from the other side; none of a side that need not be.
    pub(super) fn apart(
        &self,
        side: &str,
        built: &Built,
        campaign: &Campaign,
    ) -> Option<SeparateTrees> {
        let of_side = &self.apart[usize::from(side == HEAD)];
        of_side.as_ref().map(|apart| apart.built(built, &campaign.cache))
    }

    /// What a load takes that follows such pairs, as far as it is known before; none: interrupted.
    pub(super) fn intended(
        &self,
        pairs: Pairs,
    ) -> Result<Option<(Campaign, RunResources)>, Refusal> {
        let campaign = self.campaign(Loading::Closed, pairs, self.sides())?;
        let resources = RunResources::weigh(&campaign)?;
        let given = self.flags.at.generators.given_to(&campaign, resources, &self.session.halt)?;
        Ok(given.map(|resources| (campaign, resources)))
    }

    /// Runs the pairs of one load; none: interrupted.
    pub(super) fn measure(
        &mut self,
        loading: Loading,
        pairs: Pairs,
    ) -> Result<Option<Measured>, Refusal> {
        let mut sides = self.sides();
        let is_equal = matches!(loading, Loading::Equal);
        sides.truncate(if is_equal { 1 } else { 2 });
        if is_equal || self.flags.control {
            let workload = &self.prepared.workload.name;
            sides.push(sides[0].clone().racing(AGAIN, "base again", workload));
        }
        let mut campaign = self.campaign(loading, pairs, sides)?;
        // Only a control is built a second time, or what has several builds.
        let twin = campaign.members.iter_mut().find(|member| member.name == AGAIN);
        if let (Some(twin), Some(built), Loading::Equal) = (twin, &self.built, loading) {
            twin.state = Availability::Built { built: built.clone(), version: None };
        }
        let by = (weighed(&campaign)?, &self.flags.at.generators);
        let Some(admitted) = self.session.admit(&campaign, by, &mut admitting)? else {
            return Ok(None);
        };
        take_part(&campaign, &admitted.entrants)?;
        let mut record = admitted.record(&campaign);
        if campaign.experiment.has_check {
            record.conformance.extend(self.base_check.clone());
        }
        record.facts.push(fact(RACE, command_line()));
        let id = self.session.keeping.begin(&record)?;
        let ended = self.session.measure(&campaign, &admitted, (&record, id))?;
        if ended == Ended::Interrupted {
            return Ok(None);
        }
        let loaded = kept(self.session.store(), id)?;
        let found = findings(self.session.store(), id, &loaded);
        tell_page(page::leave(&found, &self.session.pages), id, &self.session);
        drop(found);
        let (run, trials, _) = loaded;
        let course = GateCourse::of(&campaign.experiment);
        let mut course = course.ok_or_else(|| Refusal::new("a gate without pairs"))?;
        trials.iter().for_each(|trial| course.add(trial));
        Ok(Some(Measured { id, campaign, admitted, run, trials, course }))
    }

    /// Base and head, as a reader knows them.
    pub(super) fn titles(&self) -> [&str; 2] {
        self.prepared.sides.each_ref().map(|side| side.title.as_str())
    }

    fn sides(&self) -> Vec<Subject> {
        self.prepared.sides.iter().map(|side| side.subject.clone()).collect()
    }

    /// Agents do not take turns within a pair: whole trials follow one another.
    fn turns(&self) -> Option<Slices> {
        self.flags.at.generators.is_given().then_some(Slices::Off)
    }

    fn campaign(
        &self,
        loading: Loading,
        pairs: Pairs,
        sides: Vec<Subject>,
    ) -> Result<Campaign, Refusal> {
        let Prepared { home, workload, connections, asked, sides: [base, head], .. } =
            &self.prepared;
        let connections = *connections;
        let load = match loading {
            Loading::Closed | Loading::Equal => Load::Closed { connections },
            Loading::Open(per_s) => {
                let rate = Rate::per_s(per_s).map_err(Refusal::new)?;
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
        let conditions = asked.conditions.clone();
        let asked = Experiment {
            name: procedure::GATE.into(),
            question: question(base, head),
            vary: self.flags.at.asking.varying.vary,
            repeat: Until::rounds(None, None),
            pairs: Some(pairs),
            conditions: Wanted {
                isolate: self.flags.at.isolate || conditions.isolate,
                ..conditions
            },
            has_check: wants_check && matches!(loading, Loading::Closed),
            seed: self.flags.at.asking.seed,
            slices: Slices::of(self.turns(), &load, None),
            ..asked.clone()
        };
        let experiment = procedure::experiment(&labels, &workload.name, &load, asked)?;
        let experiment = self.flags.at.cpus.given_to(experiment);
        let mut campaign = Campaign::made(home.clone(), experiment, workload.clone(), sides)?;
        campaign.cache.variables.clone_from(&self.environment);
        Ok(campaign)
    }
}

/// Shows what is built, and the end of the log of a build that failed.
fn admitting(event: &Event<'_>) {
    match event {
        Event::BuildFailed { name, log } => show_log(name, log),
        event => progress::admitting(event),
    }
}

/// Both sides must take part.
fn take_part(campaign: &Campaign, entrants: &[Entrant]) -> Result<(), Refusal> {
    match entrants.len() == campaign.members.len() {
        true => Ok(()),
        false => Err(Refusal::new("a server could not be built or started (see above)")),
    }
}

/// Each build of each side: the first of all sides, then the second, and so on.
pub(super) fn builds_of(entrants: &[Entrant]) -> impl Iterator<Item = (&Entrant, usize)> {
    let most = entrants.iter().map(Entrant::builds).max().unwrap_or(0);
    (0..most).flat_map(move |build| {
        entrants.iter().filter(move |it| build < it.builds()).map(move |it| (it, build))
    })
}

/// The user's variables without what leads a command of the user's into another tree than its side's. What is built gets
/// only the variables that it names.
fn environment(
    mut variables: Vec<(String, String)>,
    sides: &[Named; 2],
    apart: &[Option<SeparateTrees>; 2],
) -> Vec<(String, String)> {
    let is_own = |side: &Named| matches!(side.subject.serving, Serving::Own(..));
    let commands = sides.iter().zip(apart).filter(|(side, _)| is_own(side));
    let mut left_out: Vec<String> = Vec::new();
    for (side, apart) in commands.filter_map(|(side, apart)| Some((side, apart.as_ref()?))) {
        let stated = |name: &String| side.subject.plan.passes.contains(name);
        let kept: Vec<_> = variables.iter().filter(|(name, _)| stated(name)).cloned().collect();
        left_out.extend(apart.clean(&mut variables));
        variables.retain(|(name, _)| !stated(name));
        variables.extend(kept);
    }
    left_out.retain(|name| !["PWD", "OLDPWD", "_"].contains(&name.as_str()));
    if !left_out.is_empty() {
        terminal::notice(&format!(
            "dyno: these variables lead into the working tree, and base and head do not get what leads there: {}",
            left_out.join(", ")
        ));
    }
    variables
}

/// The run's question, in which nothing is left that a line cannot show.
fn question(base: &Named, head: &Named) -> String {
    let text = format!("Is {} worse than {}?", head.title, base.title);
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
