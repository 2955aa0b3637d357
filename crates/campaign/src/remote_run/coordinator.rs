//! A run whose servers are elsewhere, on the machine from which it was ordered: loads are carried out here, and what is
//! kept there is kept here.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agents::servers::{RemoteSession, Terms, carry_out};
use agents::{Allow, LoadEvent, Loads, LoadsError};
use lab::Refusal;
use lab::conformance::Conformance;
use lab::experiment::{Experiment, Wanted};
use lab::record::{Check, Phase, RunRecord, TrialKey, TrialRecord};
use lab::trial::{self, Vitals};
use load::Halt;
use post::{FromServers, ProjectFiles, RunOrder, ToServers};
use store::{RunId, Store};

use super::transfer::{self, TransferFolder};
use crate::Meet;
use crate::event::{Event, Watch};
use crate::project::Project;
use crate::trials::Ended;

/// A host that was asked to end its run has this long to say that it has.
const ENDING: Duration = Duration::from_millis(1_500);

/// A run whose servers are elsewhere.
pub struct RemoteRun<'a> {
    pub session: &'a RemoteSession,
    pub files: &'a ProjectFiles,
    /// What may be loaded from here.
    pub allow: Allow,
    pub halt: &'a Arc<Halt>,
    /// Meets what carries the loads out.
    meet: Meet,
    agents: Option<Box<dyn Loads + Send>>,
    folder: TransferFolder,
    /// When the end was asked for.
    halted: Option<Instant>,
    /// The trials that are still possible, and the one of them that is under way.
    left: BTreeSet<u32>,
    trial: Option<u32>,
}

impl<'a> RemoteRun<'a> {
    pub fn new(
        session: &'a RemoteSession,
        files: &'a ProjectFiles,
        allow: Allow,
        halt: &'a Arc<Halt>,
        (project, meet): (&Project, Meet),
    ) -> Result<RemoteRun<'a>, Refusal> {
        let folder = TransferFolder::new(project)?;
        let (agents, halted) = (None, None);
        let (left, trial) = (BTreeSet::new(), None);
        Ok(RemoteRun { session, files, allow, halt, meet, agents, folder, halted, left, trial })
    }

    /// Orders a run, or the rest of one; it has begun when this returns, and is kept here. None: interrupted.
    pub fn begin(
        &mut self,
        order: RunOrder,
        goes_on: Option<RunId>,
        store: &mut Store,
        watch: Watch<'_>,
    ) -> Result<Option<RunId>, Refusal> {
        let so_far = match goes_on {
            None => None,
            Some(run) => Some(self.session.send(self.folder.bytes(store, run, None)?)),
        };
        let ordered = order.clone();
        self.session.say(&ToServers::Run(Box::new(RunOrder { so_far, ..order })));
        while let Some(message) = self.next()? {
            match message {
                FromServers::Ended { .. } => break,
                FromServers::Began { store: began } => {
                    let bytes = self.session.take(&began)?;
                    let (from, theirs) = self.folder.open(&bytes)?;
                    let run = match goes_on {
                        None => {
                            self.as_ordered(&from.run(theirs)?, &ordered)?;
                            transfer::begin(store, (&from, theirs))?
                        }
                        Some(run) => {
                            store.join(&from, theirs, run)?;
                            run
                        }
                    };
                    return Ok(Some(run));
                }
                message => self.heed(message, None, watch)?,
            }
        }
        Ok(None)
    }

    /// What would be run. None: interrupted.
    pub fn show(&mut self, order: RunOrder) -> Result<Option<String>, Refusal> {
        self.session.say(&ToServers::Run(Box::new(RunOrder { is_shown: true, ..order })));
        while let Some(message) = self.next()? {
            match message {
                FromServers::Shown { text } => {
                    let is_shown = |letter: &char| *letter == '\n' || !letter.is_control();
                    return Ok(Some(text.chars().filter(is_shown).collect()));
                }
                FromServers::Ended { .. } => break,
                message => self.heed(message, None, &mut |_| {})?,
            }
        }
        Ok(None)
    }

    /// Follows the run to its end.
    pub fn go(
        &mut self,
        (record, run): (&RunRecord, RunId),
        store: &mut Store,
        watch: Watch<'_>,
    ) -> Result<Ended, Refusal> {
        while let Some(message) = self.next()? {
            match message {
                FromServers::Ended { is_interrupted: true } => break,
                FromServers::Ended { is_interrupted: false } => return Ok(Ended::Done),
                FromServers::Kept { store: part } => {
                    let (checks, trials) = self.keep(&part, run, store)?;
                    checks.iter().for_each(|found| watch(&Event::Checked(found)));
                    trials.iter().for_each(|trial| watch(&Event::Kept(trial)));
                    if !trials.is_empty() {
                        self.trial = None;
                    }
                }
                message => self.heed(message, Some(record), watch)?,
            }
        }
        Ok(Ended::Interrupted)
    }

    /// The run that has begun there is the one that was ordered.
    fn as_ordered(&self, record: &RunRecord, order: &RunOrder) -> Result<(), Refusal> {
        let is_sent = |name: &str, text: &str| {
            let file = self.files.all().iter().find(|file| file.name == name);
            file.is_some_and(|file| file.bytes == text.as_bytes())
        };
        let is_experiment =
            |(name, text): &(String, String)| (name, text) == (&order.file, &order.text);
        let mut files = record.files.iter();
        match record.name == order.name
            && is_ordered(record.experiment.as_ref(), order)
            && files.next().is_some_and(is_experiment)
            && files.all(|(name, text)| is_sent(name, text))
        {
            true => Ok(()),
            false => Err(self.session.refused("it began another run than was ordered").into()),
        }
    }

    /// The next message. None: the host was asked to end the run, and has ended, or does not say for long that it has.
    fn next(&mut self) -> Result<Option<FromServers>, Refusal> {
        loop {
            match self.session.next() {
                Ok(Some(message)) => return Ok(Some(message)),
                Err(_) if self.halt.is_asked() => return Ok(None),
                Err(error) => return Err(error.into()),
                Ok(None) => {}
            }
            if self.halt.is_asked() {
                self.halted.get_or_insert_with(Instant::now);
            }
            if self.halted.is_some_and(|since| ENDING < since.elapsed()) {
                return Ok(None);
            }
        }
    }

    fn keep(
        &self,
        part: &str,
        run: RunId,
        store: &mut Store,
    ) -> Result<(Vec<Conformance>, Vec<TrialRecord>), Refusal> {
        let bytes = self.session.take(part)?;
        let (from, theirs) = self.folder.open(&bytes)?;
        transfer::join(store, run, (&from, theirs))
    }

    /// What is neither a beginning, nor kept, nor an end.
    fn heed(
        &mut self,
        message: FromServers,
        record: Option<&RunRecord>,
        watch: Watch<'_>,
    ) -> Result<(), Refusal> {
        match message {
            FromServers::Refused { says } => Err(self.session.refused(&says).into()),
            FromServers::Need { files } if files == self.files.digest() => {
                let whole = self.session.send(self.files.encode()?);
                self.session.say(&ToServers::Sent { whole });
                Ok(())
            }
            FromServers::Notice { says } => {
                watch(&Event::Notice(&plain(&says)));
                Ok(())
            }
            FromServers::Building { name, command } => {
                watch(&Event::Building { name: &plain(&name), command: &plain(&command) });
                Ok(())
            }
            FromServers::BuildLog { name, tail } => {
                let tail: Vec<String> = tail.lines().map(plain).collect();
                watch(&Event::BuildLog { name: &plain(&name), tail: &tail.join("\n") });
                Ok(())
            }
            FromServers::Excluded { subject, why } => {
                watch(&Event::Excluded { subject: &plain(&subject), why: &plain(&why) });
                Ok(())
            }
            FromServers::Meet => self.meet_loads(),
            message => match record {
                Some(record) => self.happens(message, record, watch),
                None => {
                    Err(self.session.refused("it does not follow the protocol of a run").into())
                }
            },
        }
    }

    fn meet_loads(&mut self) -> Result<(), Refusal> {
        // Those of before end first.
        self.agents = None;
        let message = match (self.meet)(self.halt) {
            Ok(loads) => {
                let (lanes, hosts) = (loads.lanes().unwrap_or(1), loads.hosts());
                let processes = self.beside_the_servers(loads.as_ref());
                self.agents = Some(loads);
                ToServers::Met { lanes, hosts, processes }
            }
            Err(LoadsError::Interrupted) => return Ok(()),
            Err(error) => ToServers::NotMet { says: error.to_string() },
        };
        self.session.say(&message);
        Ok(())
    }

    /// What is not to be taken for another program where the servers run: what carries their loads out, if it is there.
    fn beside_the_servers(&self, loads: &dyn Loads) -> Vec<u32> {
        match self.session.is_local {
            true => loads.processes().into_iter().chain([std::process::id()]).collect(),
            false => Vec::new(),
        }
    }

    /// Carries a load out, and shows it.
    fn load(
        &mut self,
        (load, order): (u64, &str),
        record: &RunRecord,
        watch: Watch<'_>,
    ) -> Result<(), Refusal> {
        let session = self.session;
        let Some(trial) = self.trial else { return Err(not_under_way(session)) };
        let key = key_of(record, trial, session)?;
        let Some(agents) = self.agents.as_deref_mut() else {
            return Err(session.refused("it orders a load before it has asked for one").into());
        };
        let bytes = session.take(order)?;
        let under_way = session.load(load);
        let vitals = || {
            let agents::servers::Vitals { cpu, memory } = session.vitals();
            Vitals { cpu, memory }
        };
        let carried = carry_out(
            agents,
            &bytes,
            Terms { allow: &self.allow, is_beside: session.is_local },
            &under_way.halt,
            &mut |window| session.mention(&ToServers::Window { load, window }),
            &mut |event| match event {
                LoadEvent::Glance(glance) => {
                    watch(&Event::Trial(key, &trial::Event::Glance(glance, vitals())));
                }
                LoadEvent::Second(window) => {
                    watch(&Event::Trial(key, &trial::Event::Held(window, vitals())));
                }
                LoadEvent::Agents(_) | LoadEvent::Lost(_) => {}
            },
        );
        drop(under_way);
        let result = session.send(carried.encode()?);
        session.say(&ToServers::Carried { load, result });
        Ok(())
    }

    /// Shows what happens in a run that has begun.
    fn happens(
        &mut self,
        message: FromServers,
        record: &RunRecord,
        watch: Watch<'_>,
    ) -> Result<(), Refusal> {
        let session = self.session;
        let key = |number: u32| key_of(record, number, session);
        let under_way = self.trial;
        let key_under_way = |number: u32| match under_way == Some(number) {
            true => key(number),
            false => Err(not_under_way(session)),
        };
        match message {
            FromServers::Load { load, order } => return self.load((load, &order), record, watch),
            FromServers::Checks { subjects, cases } => watch(&Event::Checks { subjects, cases }),
            FromServers::Checking { subject, place, subjects, done, cases } => {
                let subject = &plain(&subject);
                watch(&Event::Checking { subject, place, subjects, done, cases });
            }
            FromServers::Left { trials } => {
                let keys: Vec<&TrialKey> =
                    trials.iter().copied().map(key).collect::<Result<_, _>>()?;
                watch(&Event::Left(&keys));
                self.left = trials.into_iter().collect();
            }
            FromServers::FirstRoundKept => watch(&Event::FirstRoundKept),
            FromServers::Begun { trial } if self.left.remove(&trial) => {
                watch(&Event::Begun(key(trial)?));
                self.trial = Some(trial);
            }
            FromServers::Launched { trial, pid, port } => {
                watch(&Event::Trial(key_under_way(trial)?, &trial::Event::Launched { pid, port }));
            }
            FromServers::Ready { trial, after } => {
                watch(&Event::Trial(key_under_way(trial)?, &trial::Event::Ready(after)));
            }
            FromServers::Answered { trial, ask, wrong } => {
                let check = answered(&ask, wrong.as_deref());
                watch(&Event::Trial(key_under_way(trial)?, &trial::Event::Checked(&check)));
            }
            FromServers::Again { trial } => {
                watch(&Event::Again(key_under_way(trial)?));
                (self.trial, _) = (None, self.left.insert(trial));
            }
            FromServers::Abandoned => watch(&Event::Abandoned),
            _ => {
                return Err(self
                    .session
                    .refused("it does not follow the protocol of a run")
                    .into());
            }
        }
        Ok(())
    }
}

fn not_under_way(session: &RemoteSession) -> Refusal {
    session.refused("it names a trial that is not in progress").into()
}

fn key_of<'r>(
    record: &'r RunRecord,
    number: u32,
    session: &RemoteSession,
) -> Result<&'r TrialKey, Refusal> {
    let found = record.plan.iter().find(|key| key.number == number);
    found.ok_or_else(|| session.refused("it names a trial that is not in the plan").into())
}

/// An answer, as far as it is told while a trial is under way.
fn answered(ask: &str, wrong: Option<&str>) -> Check {
    Check {
        phase: Phase::Before,
        ask: plain(ask),
        wrong: wrong.map(plain),
        request: Vec::new(),
        response: Vec::new(),
        head_len: 0,
        rest_len: 0,
        digest: None,
    }
}

/// Others' words without what a terminal obeys.
fn plain(text: &str) -> String {
    text.replace(units::is_obeyed, " ")
}

/// Whether this is the experiment of the order. Whose CPUs are whose is found where the servers run, and that nothing is
/// checked stands in the order beside it.
fn is_ordered(found: Option<&Experiment>, order: &RunOrder) -> bool {
    let asked = Experiment::of_json(&order.experiment).ok();
    let Some((found, asked)) = found.cloned().zip(asked) else { return false };
    let Wanted { subject_cpus, load_cpus, .. } = asked.conditions;
    let conditions = Wanted { subject_cpus, load_cpus, ..found.conditions };
    Experiment { conditions, has_check: asked.has_check, ..found }.json() == order.experiment
}
