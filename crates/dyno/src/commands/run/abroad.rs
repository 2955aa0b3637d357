//! `dyno run --subject-on`: the servers, and the whole run with them, are on another machine; the load comes from here
//! or from agents, and what is kept is kept here.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use agents::servers::{ProjectFiles, RunOrder, ServersOn, Tether, desk_facts};
use agents::{Allow, Allowed};
use campaign::abroad::{Abroad, Begun, NO_SEARCH_THERE, files_of};
use campaign::{Campaign, Ended, Meet, expected_checks};
use lab::conformance::LEFT_OUT;
use lab::experiment::Experiment;
use lab::record::{SUBJECT_ON, TrialKey};
use load::Halt;
use requests::reach;
use store::RunId;

use super::{RunFlags, again, announce, finish, job};
use crate::afar::{own_program, uninterrupted};
use crate::interrupt::halt_on_interrupt;
use crate::job::{Job, interrupted_early};
use crate::shell::{ExitStatus, Refusal, print};
use terminal::progress;

/// A host that has answered, and what is to be run there.
struct Session<'s> {
    tether: Tether,
    reached_by: Option<IpAddr>,
    files: ProjectFiles,
    flags: &'s RunFlags,
    on: &'s ServersOn,
}

impl<'s> Session<'s> {
    /// None: interrupted.
    fn open(
        flags: &'s RunFlags,
        on: &'s ServersOn,
        campaign: &Campaign,
        halt: &Arc<Halt>,
    ) -> Result<Option<Session<'s>>, Refusal> {
        let files = files_of(campaign)?;
        let met = uninterrupted(Tether::meet(on, &own_program()?, halt))?;
        Ok(met.map(|(tether, _, reached_by)| Session { tether, reached_by, files, flags, on }))
    }

    /// The order of the run, and what carries its loads out.
    fn order(&self, experiment: &Experiment) -> Result<(RunOrder, Meet), Refusal> {
        let Session { flags, on, .. } = self;
        let listen_on = flags.generators.address_on(on, self.reached_by)?;
        // The host itself has said by which address it was reached.
        reach::guard(listen_on, flags.i_may_load_this_target)?;
        let cpus = |cpus: &Option<lab::amounts::Cpus>| cpus.as_ref().map(|cpus| cpus.0.clone());
        let load_cpus = cpus(&flags.cpus.load_cpus).unwrap_or_default();
        let (load_on, meet) = flags.generators.for_servers_at(listen_on, load_cpus)?;
        let mut facts = vec![(SUBJECT_ON.to_string(), on.to_string())];
        if !flags.generators.is_given() {
            facts.extend(desk_facts());
        }
        let order = RunOrder {
            files: self.files.digest(),
            name: experiment.name.clone(),
            file: experiment.source.name.clone(),
            text: experiment.source.text.clone(),
            experiment: experiment.json(),
            is_unchecked: flags.no_check,
            subject_cpus: cpus(&flags.cpus.subject_cpus),
            listen_on,
            load_on,
            facts,
            is_shown: false,
            so_far: None,
        };
        Ok((order, meet))
    }

    fn abroad<'a>(
        &'a self,
        campaign: &Campaign,
        halt: &'a Arc<Halt>,
        (listen_on, meet): (IpAddr, Meet),
    ) -> Result<Abroad<'a>, Refusal> {
        // Servers that are yet to start have ports that nobody knows.
        let allow = Allow::These(vec![Allowed::only(SocketAddr::new(listen_on, 0))]);
        Abroad::new(&self.tether, &self.files, allow, halt, (&campaign.project, meet))
    }
}

/// A run that begins.
pub(super) fn begin(
    flags: &RunFlags,
    on: &ServersOn,
    campaign: &Campaign,
) -> Result<ExitStatus, Refusal> {
    if campaign.experiment.sought.is_some() {
        let file = &campaign.experiment.source.name;
        return Err(Refusal::new(format!("{file}: {NO_SEARCH_THERE}")));
    }
    if flags.show {
        return show(flags, on, campaign);
    }
    let job = job(flags, &campaign.project)?;
    follow(flags, on, campaign, job, None)
}

/// The rest of a run that was not finished.
pub(super) fn resume(
    flags: &RunFlags,
    on: &ServersOn,
    campaign: &Campaign,
    job: Job,
    (run, left): (RunId, &[&TrialKey]),
) -> Result<ExitStatus, Refusal> {
    follow(flags, on, campaign, job, Some((run, left)))
}

fn show(flags: &RunFlags, on: &ServersOn, campaign: &Campaign) -> Result<ExitStatus, Refusal> {
    let halt = halt_on_interrupt()?;
    let Some(session) = Session::open(flags, on, campaign, &halt)? else {
        return Ok(ExitStatus::Interrupted);
    };
    let (order, meet) = session.order(&campaign.experiment)?;
    let mut abroad = session.abroad(campaign, &halt, (order.listen_on, meet))?;
    match abroad.show(order)? {
        // It comes from another machine.
        Some(text) => print(&units::visible(&text)),
        None => Ok(ExitStatus::Interrupted),
    }
}

fn follow(
    flags: &RunFlags,
    on: &ServersOn,
    campaign: &Campaign,
    mut job: Job,
    goes_on: Option<(RunId, &[&TrialKey])>,
) -> Result<ExitStatus, Refusal> {
    let halt = Arc::clone(&job.halt);
    let Some(session) = Session::open(flags, on, campaign, &halt)? else {
        return Ok(ExitStatus::Interrupted);
    };
    let (mut order, meet) = session.order(&campaign.experiment)?;
    if let Some((run, _)) = goes_on {
        let record = job.store.run(run)?;
        order.is_unchecked |= record.facts.iter().any(|fact| fact.name == LEFT_OUT);
    }
    let mut abroad = session.abroad(campaign, &halt, (order.listen_on, meet))?;
    let is_unchecked = order.is_unchecked;
    let goes_on_as = goes_on.map(|(run, _)| run);
    let begun = abroad.begin(order, goes_on_as, &mut job.store, &mut progress::admitting)?;
    let Begun::Run(run) = begun else { return Ok(interrupted_early()) };
    if goes_on.is_none() {
        job.claim(run)?;
    }
    let record = job.store.run(run)?;
    let all: Vec<&TrialKey> = record.plan.iter().collect();
    let left = goes_on.map_or(all.as_slice(), |(_, left)| left);
    let checks = match campaign.experiment.has_check && !is_unchecked {
        true => expected_checks(campaign, &record, &job.store)?,
        false => std::time::Duration::ZERO,
    };
    announce(campaign, &record, (run, &job.path), (left, checks));
    let ended = job.follow(&mut abroad, campaign, &record, run);
    // The servers' host is free from now on.
    drop(abroad);
    drop(session);
    match ended {
        Ok(ended) => finish(&job, flags, &campaign.project, run, ended),
        Err(refusal) => {
            terminal::notice(&format!(
                "dyno: {refusal}; what was finished before is kept, and `{}` goes on",
                again(&job, &record, run)
            ));
            finish(&job, flags, &campaign.project, run, Ended::Done)?;
            Ok(ExitStatus::CouldNotTell)
        }
    }
}
