//! A subject that is started for a check, not for a measurement: it has its own port and no conditions, gets
//! requests until it answers, and is started again when a check has ended it.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use check::{Help, Target};
use load::Halt;
use tls::Client;
use wire::{BodyRule, Values};

use crate::arrival::{Setback, first_answer, last_words, on_another_port, refuse_strangers};
use crate::ask::{Asked, ask};
use crate::build::Built;
use crate::manner::{Manner, Protocol};
use crate::record::{Check, Fact, Outcome, OutcomeKind, Phase};
use crate::service::ReadyService;
use crate::subject::Subject;
use crate::trial::environment::{Environment, EnvironmentSetup};
use crate::trial::{Candidate, HERE, Launcher, outcome, unable};
use crate::workload::{HOST, Interaction, Question, Workload};
use machine::monitor::resident_bytes;
use machine::process::{Running, Stopped};

#[derive(Clone, Copy, Debug)]
pub struct VisitSetup<'a> {
    pub launcher: Launcher<'a>,
    /// Every workload of the project: those that a subject speaks say which paths it has.
    pub workloads: &'a [Workload],
    /// What is spoken with the subject.
    pub protocol: Protocol,
    /// What the subject may need beside it.
    pub service: Option<&'a ReadyService>,
    /// Ends a visit early when it is set.
    pub halt: &'a Halt,
}

/// A subject that runs and answers. Its memory can be read, and it can be started again. Dropping it ends it.
#[derive(Debug)]
pub struct Visit<'a> {
    setup: VisitSetup<'a>,
    candidate: Candidate<'a>,
    environment: Environment<'a>,
    tls: Option<Client>,
    /// What it gets first, if it answers anything.
    question: Option<Question>,
    first: Option<Check>,
    /// None while it is gone.
    running: Mutex<Option<Running>>,
}

impl<'a> Visit<'a> {
    /// Starts a subject and waits for its first correct answer.
    pub fn begin(
        setup: VisitSetup<'a>,
        subject: &'a Subject,
        built: &'a Built,
    ) -> Result<Visit<'a>, Outcome> {
        let needs_service = spoken(subject, setup.workloads).any(|it| it.service.is_some());
        let service = setup.service.filter(|_| needs_service);
        let candidate = Candidate { subject, built, probe: None, service };
        let tls = setup.launcher.tls(Manner::of(setup.protocol)).map_err(unable)?;
        let question = first_question(setup, subject).map_err(unable)?;
        on_another_port(|| Visit::attempt(setup, candidate, tls.as_ref(), question.as_ref()))
    }

    /// Starts it on one port.
    fn attempt(
        setup: VisitSetup<'a>,
        candidate: Candidate<'a>,
        tls: Option<&Client>,
        question: Option<&Question>,
    ) -> Result<Visit<'a>, Setback> {
        let facts = &mut Vec::new();
        let environment_setup = environment_setup(setup, candidate.subject);
        let environment = Environment::set(environment_setup, candidate, setup.protocol, facts);
        let mut environment = environment.map_err(unable)?;
        environment.start_service(setup.halt, facts)?;
        let (tls, question) = (tls.cloned(), question.cloned());
        let running = Mutex::new(None);
        let mut visit =
            Visit { setup, candidate, environment, tls, question, first: None, running };
        let (running, first) = visit.start()?;
        *visit.running() = Some(running);
        visit.first = first;
        Ok(visit)
    }

    /// The address on which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.environment.address()
    }

    /// Its first correct answer.
    #[must_use]
    pub fn first_answer(&self) -> Option<&Check> {
        self.first.as_ref()
    }

    /// Its answer to the first request, sent again; none if it got no request.
    #[must_use]
    pub fn ask_again(&self, limit: Duration) -> Option<Check> {
        let server = Asked { address: self.address(), tls: self.tls.as_ref() };
        let values = Values { seq: 0, random: 0 };
        self.question.as_ref().map(|question| ask(server, question, values, Phase::Before, limit))
    }

    /// That it took another port than the one that it was given, if it did.
    #[must_use]
    pub fn moved(&self) -> Option<Fact> {
        self.environment.moved()
    }

    /// Its processes, the first one first; none while it is gone.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        self.running().as_ref().map_or(Vec::new(), Running::tree)
    }

    /// The paths at which it answers.
    #[must_use]
    pub fn target(&self) -> Target {
        let target = target(self.address(), self.candidate.subject, self.setup.workloads);
        Target { tls: self.tls.clone(), is_http2: self.setup.protocol.is_http2(), ..target }
    }

    /// Ends it; nothing if it was gone already.
    pub fn end(self) -> Option<Stopped> {
        let running = self.running().take();
        running.map(Running::stop)
    }

    fn running(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The process, and its first correct answer if a request was sent.
    fn start(&self) -> Result<(Running, Option<Check>), Setback> {
        let began = Instant::now();
        let mut running = self.environment.launch().map_err(|error| {
            let says = format!("`{}` cannot be started: {error}", self.environment.shown());
            outcome(OutcomeKind::NotReady, says)
        })?;
        let ready = self.candidate.subject.ready;
        let is_halted = || self.setup.halt.is_asked();
        let arrived = match &self.question {
            None => Ok(None),
            Some(question) => {
                let values = Values { seq: 0, random: 0 };
                let server = || Asked { address: self.address(), tls: self.tls.as_ref() };
                let ask = |limit| ask(server(), question, values, Phase::Before, limit);
                let seek = |running: &Running| self.environment.seek(running);
                first_answer(&mut running, began + ready, &is_halted, &seek, &ask).map(Some)
            }
        };
        let port = self.environment.port();
        match arrived {
            Ok(first) => refuse_strangers(port, &running).map(|()| (running, first)),
            Err(absence) => Err(absence.setback(&mut running, port, ready, last_words).0),
        }
    }
}

/// The first request that a subject gets; one with an endless answer only if it has no other.
fn first_question(setup: VisitSetup<'_>, subject: &Subject) -> Result<Option<Question>, String> {
    let mut spoken: Vec<&Workload> = spoken(subject, setup.workloads).collect();
    spoken.sort_by_key(|workload| workload.is_held());
    let Some(first) = spoken.first() else { return Ok(None) };
    let workload = first.over(setup.protocol.http2_scheme())?;
    Ok(workload.questions.into_iter().next())
}

/// A server that already runs: dyno neither restarts it nor reads its memory. A halt ends its check.
#[derive(Debug)]
pub struct RunningServer<'a>(pub &'a Halt);

impl Help for RunningServer<'_> {
    fn is_halted(&self) -> bool {
        self.0.is_asked()
    }
}

impl Help for Visit<'_> {
    fn memory(&self) -> Option<u64> {
        let tree = self.running().as_ref()?.tree();
        (!tree.is_empty()).then(|| resident_bytes(&tree))
    }

    fn revive(&self) -> bool {
        let gone = self.running().take();
        drop(gone.map(Running::stop));
        match self.start() {
            Ok((running, _)) => {
                *self.running() = Some(running);
                true
            }
            Err(_) => false,
        }
    }

    fn is_halted(&self) -> bool {
        self.setup.halt.is_asked()
    }
}

fn environment_setup<'a>(setup: VisitSetup<'a>, subject: &Subject) -> EnvironmentSetup<'a> {
    let has_files = spoken(subject, setup.workloads).any(Workload::has_files);
    let launcher = setup.launcher;
    let sampling = None;
    EnvironmentSetup { launcher, address: HERE, limits: None, dataset: 0, has_files, sampling }
}

/// The workloads that a subject speaks; those that need a service only where it speaks no others.
pub fn spoken<'a>(
    subject: &'a Subject,
    workloads: &'a [Workload],
) -> impl Iterator<Item = &'a Workload> {
    let all = || workloads.iter().filter(|workload| subject.answers(&workload.name));
    let has_others = all().any(|workload| workload.service.is_none());
    all().filter(move |workload| workload.service.is_none() || !has_others)
}

/// The paths at which a subject answers, by the workloads that it speaks.
#[must_use]
pub fn target(address: SocketAddr, subject: &Subject, workloads: &[Workload]) -> Target {
    let questions = || spoken(subject, workloads).flat_map(|workload| &workload.questions);
    let ended = || {
        questions()
            .filter(|it| matches!(it.interaction, Interaction::Answer) && !it.path.contains('{'))
    };
    let pages = ended().filter(|question| question.method == "GET");
    let posted = ended().filter(|question| question.method == "POST");
    let get = pages.min_by_key(|page| lacks(page)).map_or("/".into(), |page| page.path.clone());
    // A page may take a body without returning it; it also shows whether a length or a coding is read rightly.
    let mut posts: Vec<String> =
        posted.map(|question| question.path.clone()).chain([get.clone()]).collect();
    let mut known = BTreeSet::new();
    posts.retain(|path| known.insert(path.clone()));
    Target {
        authority: format!("{HOST}:{}", address.port()),
        posts,
        get,
        socket: socket(subject, workloads).map(|question| question.path.clone()),
        ..Target::at(address)
    }
}

/// The best page is one that is whole by itself, without fields that it needs or a wait, one without a query of its own,
/// and one with content.
fn lacks(page: &Question) -> (bool, bool, bool) {
    let is_empty = match &page.ask.expect.body {
        BodyRule::Any | BodyRule::Sha256(_) | BodyRule::Meaning(_) | BodyRule::File(_) => false,
        BodyRule::Length(length) => *length == 0,
        BodyRule::Exactly(body) => body.constant().is_some_and(<[u8]>::is_empty),
    };
    (page.has_demands(), page.path.contains('?'), is_empty)
}

/// A WebSocket; preferably one that echoes its messages.
fn socket<'a>(subject: &'a Subject, workloads: &'a [Workload]) -> Option<&'a Question> {
    let questions = spoken(subject, workloads).flat_map(|workload| &workload.questions);
    let sockets = questions.filter(|question| question.interaction.is_socket());
    sockets.min_by_key(|question| !matches!(question.interaction, Interaction::Echo(_)))
}
