//! `dyno run --server-on`: the servers, and the whole run with them, are on another machine; the load comes from here
//! or from agents, and what is kept is kept here.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use agents::servers::{ProjectFiles, RemoteSession, RunOrder, ServersOn, load_host_facts};
use agents::{Allow, Allowed};
use campaign::remote_run::{NO_SEARCH_THERE, RemoteRun, files_of};
use campaign::{Campaign, Ended, Meet};
use lab::conformance::LEFT_OUT;
use lab::experiment::Experiment;
use lab::record::{SUBJECT_ON, TrialKey};
use load::Halt;
use requests::reach;
use store::RunId;

use super::{RunFlags, announce, finish, session};
use crate::interrupt::halt_on_interrupt;
use crate::load_agents::{own_program, uninterrupted};
use crate::session::{Session, interrupted_early};
use crate::shell::{ExitStatus, Refusal, print};
use crate::unfinished::again;
use terminal::progress;

/// A host that has answered, and what is to be run there.
struct MetHost<'s> {
    session: RemoteSession,
    reached_by: Option<IpAddr>,
    files: ProjectFiles,
    flags: &'s RunFlags,
    on: &'s ServersOn,
}

impl<'s> MetHost<'s> {
    /// None: interrupted.
    fn open(
        flags: &'s RunFlags,
        on: &'s ServersOn,
        campaign: &Campaign,
        halt: &Arc<Halt>,
    ) -> Result<Option<MetHost<'s>>, Refusal> {
        if campaign.experiment.why.is_some() {
            return Err(Refusal::new(
                "servers are sampled only on this machine: leave --why (or `[why]`) out, or --server-on",
            ));
        }
        let files = files_of(campaign)?;
        let met = uninterrupted(RemoteSession::meet(on, &own_program()?, halt))?;
        Ok(met.map(|(session, _, reached_by)| MetHost { session, reached_by, files, flags, on }))
    }

    /// The order of the run, and what carries its loads out.
    fn order(&self, experiment: &Experiment) -> Result<(RunOrder, Meet), Refusal> {
        let MetHost { flags, on, .. } = self;
        let listen_on = flags.generators.address_on(on, self.reached_by)?;
        // The host itself has said by which address it was reached.
        reach::guard(listen_on, flags.owner.i_may_load_this_target)?;
        let cpus = |cpus: &Option<lab::amounts::Cpus>| cpus.as_ref().map(|cpus| cpus.0.clone());
        let load_cpus = cpus(&flags.cpus.load_cpus).unwrap_or_default();
        let (load_on, meet) = flags.generators.for_servers_at(listen_on, load_cpus)?;
        let mut facts = vec![(SUBJECT_ON.to_string(), on.to_string())];
        if !flags.generators.is_given() {
            facts.extend(load_host_facts());
        }
        let order = RunOrder {
            files: self.files.digest(),
            name: experiment.name.clone(),
            file: experiment.source.name.clone(),
            text: experiment.source.text.clone(),
            experiment: experiment.json(),
            is_unchecked: flags.no_check,
            subject_cpus: cpus(&flags.cpus.server_cpus),
            listen_on,
            load_on,
            facts,
            is_shown: false,
            so_far: None,
        };
        Ok((order, meet))
    }

    fn remote<'a>(
        &'a self,
        campaign: &Campaign,
        halt: &'a Arc<Halt>,
        (listen_on, meet): (IpAddr, Meet),
    ) -> Result<RemoteRun<'a>, Refusal> {
        // Servers that are yet to start have ports that nobody knows.
        let allow = Allow::These(vec![Allowed::only(SocketAddr::new(listen_on, 0))]);
        RemoteRun::new(&self.session, &self.files, allow, halt, (&campaign.project, meet))
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
    if flags.dry_run {
        return show(flags, on, campaign);
    }
    follow(flags, on, campaign, session(flags, &campaign.project)?, None)
}

fn show(flags: &RunFlags, on: &ServersOn, campaign: &Campaign) -> Result<ExitStatus, Refusal> {
    let halt = halt_on_interrupt()?;
    let Some(host) = MetHost::open(flags, on, campaign, &halt)? else {
        return Ok(ExitStatus::Interrupted);
    };
    let (order, meet) = host.order(&campaign.experiment)?;
    let mut remote = host.remote(campaign, &halt, (order.listen_on, meet))?;
    match remote.show(order)? {
        // It comes from another machine.
        Some(text) => print(&units::visible(&text)),
        None => Ok(ExitStatus::Interrupted),
    }
}

/// Follows a run that begins, or the rest of one that was not finished.
pub(super) fn follow(
    flags: &RunFlags,
    on: &ServersOn,
    campaign: &Campaign,
    mut session: Session,
    goes_on: Option<(RunId, &[&TrialKey])>,
) -> Result<ExitStatus, Refusal> {
    let halt = Arc::clone(&session.halt);
    let Some(host) = MetHost::open(flags, on, campaign, &halt)? else {
        return Ok(ExitStatus::Interrupted);
    };
    let (mut order, meet) = host.order(&campaign.experiment)?;
    if let Some((run, _)) = goes_on {
        let record = session.store().run(run)?;
        order.is_unchecked |= record.facts.iter().any(|fact| fact.name == LEFT_OUT);
    }
    let mut remote = host.remote(campaign, &halt, (order.listen_on, meet))?;
    let goes_on_as = goes_on.map(|(run, _)| run);
    let store = &mut session.keeping.store;
    let begun = remote.begin(order, goes_on_as, store, &mut progress::admitting)?;
    let Some(run) = begun else { return Ok(interrupted_early()) };
    if goes_on.is_none() {
        session.keeping.claim(run)?;
    }
    let record = session.store().run(run)?;
    announce(&session, campaign, (&record, run), goes_on.map(|(_, left)| left))?;
    let ended = session.follow(&mut remote, campaign, &record, run);
    // The servers' host is free from now on.
    drop(remote);
    drop(host);
    match ended {
        Ok(ended) => finish(&session, flags, run, Ok(ended)),
        Err(refusal) => {
            terminal::notice(&format!(
                "dyno: {refusal}; what was finished before is kept, and `{}` continues it",
                again(&record, (run, session.store().path()))
            ));
            finish(&session, flags, run, Ok(Ended::Done))?;
            Ok(ExitStatus::CouldNotTell)
        }
    }
}
