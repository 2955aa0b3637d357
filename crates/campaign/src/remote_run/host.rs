//! A run on the host of its servers, as an agent has it that a coordinator elsewhere has started: files, builds, trials
//! and checks are of this machine, loads come over the lines.

use std::net::{IpAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agents::Loads;
use agents::servers::{HostSession, Relayed};
use lab::Refusal;
use lab::amounts;
use lab::experiment::Experiment;
use lab::record::{Fact, RunRecord};
use lab::source_file::SourceFile;
use load::Halt;
use post::{FromServers, ProjectFiles, RunOrder, ToServers};
use store::{Portion, RunId, Store};

use super::events::tell;
use super::files::{files_below, sent_before, unpack};
use super::transfer::TransferFolder;
use super::trust::Trusted;
use crate::event::Event;
use crate::project::Project;
use crate::trials::{Ended, Run};
use crate::{
    Admitted, Campaign, Generators, Lock, Meet, RunResources, admitted_again, as_it_was, sweep,
};

/// How often an end is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// Names of folders that a sentence lists, at most.
const LISTED: usize = 4;

/// On which terms a host has servers for others.
pub struct HostTerms<'t> {
    /// The coordinator could run anything here anyway.
    pub trusts_all: bool,
    /// The coordinator is a process of this machine.
    pub is_local: bool,
    /// As the host calls itself.
    pub host: String,
    /// What would be run, as a text.
    pub show: &'t (dyn Fn(&Campaign, &RunResources) -> String + Sync),
}

/// Has a run for the coordinator at the other end of the lines. What is refused is said there.
pub fn serve(session: &Arc<HostSession>, terms: &HostTerms<'_>) -> Result<(), Refusal> {
    let served = serve_one(session, terms);
    if let Err(refusal) = &served {
        session.say(FromServers::Refused { says: refusal.to_string() });
    }
    session.close();
    match session.wrong() {
        Some(says) => Err(Refusal::new(says)),
        None => served,
    }
}

fn serve_one(session: &Arc<HostSession>, terms: &HostTerms<'_>) -> Result<(), Refusal> {
    let Some(_met) = session.meet(terms.is_local).map_err(Refusal::new)? else { return Ok(()) };
    let order = loop {
        match session.next(LOOK) {
            Some(ToServers::Run(order)) => break order,
            Some(_) => {}
            None if session.is_gone() => return Ok(()),
            None => {}
        }
    };
    let Some(root) = root(session, &order, terms)? else { return Ok(()) };
    let project = Project::sent(root)?;
    let folder = TransferFolder::new(&project)?;
    let path = folder.path("run.sqlite");
    let done = Hosting { session, order: &order, terms, folder: &folder, path: &path }.run(project);
    // The store has another name where it is kept.
    let option = Project::store_option(&path);
    done.map_err(|refusal| Refusal::new(refusal.to_string().replace(&option, "")))
}

/// The folder with the files of a run, which are asked for if they are not here; refused if their owner does not trust
/// them. None: the coordinator is gone.
fn root(
    session: &HostSession,
    order: &RunOrder,
    terms: &HostTerms<'_>,
) -> Result<Option<PathBuf>, Refusal> {
    let (folder, digest) = (Project::sent_folder()?, &order.files);
    if let Some((root, files)) = sent_before(&folder, digest) {
        return trusted(&files, terms).map(|()| Some(root));
    }
    session.say(FromServers::Need { files: digest.clone() });
    let bytes = loop {
        match session.next(LOOK) {
            Some(ToServers::Sent { whole }) => break session.take(&whole).map_err(Refusal::new)?,
            Some(_) => {}
            None if session.halt().is_asked() => {
                session.say(FromServers::Ended { is_interrupted: true });
                return Ok(None);
            }
            None => {}
        }
    };
    let files = ProjectFiles::decode(&bytes).map_err(|says| {
        Refusal::new(format!("the files that were received cannot be read: {says}"))
    })?;
    if files.digest() != *digest {
        return Err(Refusal::new("the files that came are not those that were named"));
    }
    trusted(&files, terms)?;
    unpack(&folder, &files).map(Some)
}

fn trusted(files: &ProjectFiles, terms: &HostTerms<'_>) -> Result<(), Refusal> {
    if terms.trusts_all || terms.is_local {
        return Ok(());
    }
    let lacks = Trusted::read()?.lacks(files);
    let named = |folder: &post::TrustedFolder| {
        format!("{} (SHA-256 {}…)", folder.name, folder.digest.get(..12).unwrap_or_default())
    };
    match lacks.as_slice() {
        [] => Ok(()),
        lacks => {
            let names: Vec<String> = lacks.iter().take(LISTED).map(named).collect();
            let more = match lacks.len().checked_sub(LISTED) {
                None | Some(0) => String::new(),
                Some(more) => format!(" and of {more} more"),
            };
            Err(Refusal::new(format!(
                "the files of {}{more} are not trusted on {}: its owner runs `dyno agents trust DIR` there, with the \
                 folder of the project or of the server",
                names.join(", "),
                terms.host
            )))
        }
    }
}

/// A run that is had here.
struct Hosting<'h> {
    session: &'h Arc<HostSession>,
    order: &'h RunOrder,
    terms: &'h HostTerms<'h>,
    folder: &'h TransferFolder,
    path: &'h PathBuf,
}

impl Hosting<'_> {
    fn halt(&self) -> &Halt {
        self.session.halt()
    }

    fn run(&self, project: Project) -> Result<(), Refusal> {
        let so_far = self.so_far()?;
        let campaign = self.campaign(project, so_far.as_ref())?;
        refuse_what_stays_here(&campaign)?;
        let mut resources = RunResources::weigh(&campaign)?;
        if self.order.is_shown {
            resources.address = self.order.listen_on;
            let text = (self.terms.show)(&campaign, &resources);
            self.session.say(FromServers::Shown { text });
            return Ok(());
        }
        let _lock = Lock::take(&campaign.project)?;
        if let Some(says) = sweep(&campaign.project) {
            self.session.say(FromServers::Notice { says });
        }
        let Some(generators) = self.generators()? else { return self.interrupted() };
        resources = resources.with(generators);
        let watch = &mut |event: &Event<'_>| tell(self.session, event);
        let admitted = match &so_far {
            Some((_, run, record)) => {
                let kept = (record, *run, self.path.as_path());
                admitted_again(&campaign, resources, kept, self.halt(), watch)?
            }
            None => Admitted::of(&campaign, resources, self.halt(), watch)?,
        };
        let Some(admitted) = admitted else { return self.interrupted() };
        let (mut store, run, record) = match so_far {
            Some(so_far) => so_far,
            None => self.begun(admitted.record(&campaign))?,
        };
        let began = self.folder.bytes(&store, run, Some(&Portion::default()))?;
        let began = self.session.send(began);
        self.session.say(FromServers::Began { store: began });
        let ended = self.go((&campaign, &admitted), (&record, run), &mut store)?;
        let is_interrupted = ended == Ended::Interrupted;
        self.session.say(FromServers::Ended { is_interrupted });
        Ok(())
    }

    /// A store in which this run begins.
    fn begun(&self, record: RunRecord) -> Result<(Store, RunId, RunRecord), Refusal> {
        if record.plan.is_empty() {
            return Err(Refusal::new("no server could be built or started there (see above)"));
        }
        let mut store = Store::open(self.path)?;
        let run = store.begin(&record)?;
        Ok((store, run, record))
    }

    fn interrupted(&self) -> Result<(), Refusal> {
        self.session.say(FromServers::Ended { is_interrupted: true });
        Ok(())
    }

    /// The run as far as it was kept, if it goes on: what came is its store from now on.
    fn so_far(&self) -> Result<Option<(Store, RunId, RunRecord)>, Refusal> {
        let Some(digest) = &self.order.so_far else { return Ok(None) };
        let bytes = self.session.take(digest).map_err(Refusal::new)?;
        let (came, run) = self.folder.open(&bytes)?;
        // A copy of it, verified by its seals: what came is only read.
        came.export(run, self.path, None)?;
        let store = Store::open(self.path)?;
        let record = store.run(run)?;
        Ok(Some((store, run, record)))
    }

    fn campaign(
        &self,
        project: Project,
        so_far: Option<&(Store, RunId, RunRecord)>,
    ) -> Result<Campaign, Refusal> {
        let order = self.order;
        let mut campaign = match so_far {
            Some((_, _, record)) => {
                only_sent(&project, record)?;
                as_it_was(project, record, self.path)?
            }
            None => {
                let mut experiment =
                    Experiment::of_json(&order.experiment).map_err(Refusal::new)?;
                let source = SourceFile { name: order.file.clone(), text: order.text.clone() };
                (experiment.name, experiment.source) = (order.name.clone(), source);
                Campaign::read(project, experiment)?
            }
        };
        let conditions = &mut campaign.experiment.conditions;
        let given = order.subject_cpus.clone().map(amounts::Cpus);
        conditions.subject_cpus = given.or(conditions.subject_cpus.take());
        // Those of the load are of another machine.
        conditions.load_cpus = None;
        Ok(if order.is_unchecked { campaign.without_check() } else { campaign })
    }

    /// What carries the loads out, from where the order came. None: interrupted.
    fn generators(&self) -> Result<Option<Generators>, Refusal> {
        let address = self.address()?;
        let session = Arc::clone(self.session);
        let meet: Meet = Box::new(move |halt| {
            Ok(Box::new(Relayed::meet(&session, halt)?) as Box<dyn Loads + Send>)
        });
        let facts = self.order.facts.iter().cloned().map(|(name, value)| Fact { name, value });
        let met = Generators::meet(self.order.load_on.clone(), address, meet, self.halt())?;
        Ok(met.map(|met| met.with_facts(facts.collect())))
    }

    fn address(&self) -> Result<IpAddr, Refusal> {
        let address = self.order.listen_on;
        match TcpListener::bind((address, 0)) {
            Ok(_) => Ok(address),
            Err(error) => Err(Refusal::new(format!(
                "no server can listen on {address} there: {error}; name an address of that machine with --listen-on \
                 ADDRESS"
            ))),
        }
    }

    /// Runs what is left; all that is kept is sent as it comes.
    fn go(
        &self,
        (campaign, admitted): (&Campaign, &Admitted),
        (record, run): (&RunRecord, RunId),
        store: &mut Store,
    ) -> Result<Ended, Refusal> {
        let mut failed = None;
        let halt = self.halt();
        let mut whole = Run { campaign, admitted, record, store, id: run, halt };
        let ended = whole.go(&mut |event| {
            if let Err(refusal) = self.report(run, event) {
                failed = Some(refusal);
                halt.ask();
            }
        })?;
        failed.map_or(Ok(ended), Err)
    }

    /// Sends what has been kept, and tells of all else.
    fn report(&self, run: RunId, event: &Event<'_>) -> Result<(), Refusal> {
        match event {
            Event::Kept(trial) => {
                self.send(run, &Portion { trials: &[trial.key.number], checks: &[] })
            }
            Event::Checked(found) => {
                self.send(run, &Portion { trials: &[], checks: &[&found.subject] })
            }
            event => {
                tell(self.session, event);
                Ok(())
            }
        }
    }

    fn send(&self, run: RunId, portion: &Portion<'_>) -> Result<(), Refusal> {
        let kept = Store::open_to_read(self.path)?;
        let part = self.session.send(self.folder.bytes(&kept, run, Some(portion))?);
        self.session.say(FromServers::Kept { store: part });
        Ok(())
    }
}

/// The texts of a run are compared with files that were sent, and with no others.
fn only_sent(project: &Project, record: &RunRecord) -> Result<(), Refusal> {
    let sent = files_below(&project.root)?;
    let is_sent = |name: &String| sent.all().iter().any(|file| file.name == *name);
    match record.files.iter().skip(1).find(|(name, _)| !is_sent(name)) {
        None => Ok(()),
        Some((name, _)) => Err(Refusal::new(format!(
            "{} took part when the run began, and does not now",
            name.escape_debug()
        ))),
    }
}

/// Why servers on another machine are not searched for their capacities.
pub const NO_SEARCH_THERE: &str = "a search decides trial by trial what comes next, and has its servers on this machine: leave \
                                   --server-on out, and name other machines for the load with --load-on";

/// Refuses what makes no sense for servers that are loaded from elsewhere.
fn refuse_what_stays_here(campaign: &Campaign) -> Result<(), Refusal> {
    let experiment = &campaign.experiment;
    let file = &experiment.source.name;
    let refused = |says: &str| Err(Refusal::new(format!("{file}: {says}")));
    if experiment.conditions.isolate {
        return refused(
            "a server in a network of its own is reached by no load from elsewhere: leave `isolate` out, or \
             --server-on",
        );
    }
    if experiment.sought.is_some() {
        return refused(NO_SEARCH_THERE);
    }
    if experiment.slices.is_some() {
        return refused(
            "servers on another machine take no turns: leave `slices` out, or --server-on",
        );
    }
    let subjects = campaign.members.iter().filter_map(|member| member.subject.as_ref().ok());
    match subjects.into_iter().find(|subject| subject.serving.command().is_none()) {
        None => Ok(()),
        Some(subject) => refused(&format!(
            "`{}` runs already, and --server-on starts servers: leave it out",
            subject.name
        )),
    }
}
