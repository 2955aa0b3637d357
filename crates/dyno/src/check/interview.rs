//! One check from start to end: find or start the server, run the cases, and show the progress.

use std::net::TcpStream;
use std::time::Duration;

use check::{Case, CheckPlan, Help, Report, Target, check};
use lab::build::{BuildCache, Built};
use lab::manner::Protocol;
use lab::service::ReadyService;
use lab::subject::Subject;
use lab::trial::Launcher;
use lab::visit::{RunningServer, Visit, VisitSetup, spoken};
use lab::workload::Workload;
use load::Halt;

use super::aim::{Address, Offers};
use crate::order::tls::TrustFlags;
use crate::shell::Refusal;
use campaign::new_identity;
use campaign::project::Project;
use campaign::roster::{Availability, Member};
use campaign::services;
use report::check::{CheckResult, CheckedServer};
use terminal::checking::Progress;

/// What is the same for all servers.
pub(crate) struct Interview<'a> {
    pub(crate) cases: Vec<&'static Case>,
    pub(crate) rounds: usize,
    /// The owner of an address that is not this machine has agreed.
    pub(crate) may_probe: bool,
    pub(crate) offers: &'a Offers,
    pub(crate) trust: &'a TrustFlags,
    /// Whether HTTP/2 is checked, and not HTTP/1.1 and WebSocket.
    pub(crate) http2: bool,
    pub(crate) halt: &'a Halt,
}

/// Where subjects are found and started.
pub(crate) struct SubjectSetup {
    pub(crate) project: Project,
    cache: BuildCache,
    workloads: Vec<Workload>,
}

impl SubjectSetup {
    /// The project around the current folder, with all its workloads: from them a subject's paths are known.
    pub(crate) fn find() -> Result<SubjectSetup, Refusal> {
        let project = Project::find()?;
        let cache = project.cache()?;
        let workload = |name: &String| Workload::read(&project.root, name).map_err(Refusal::from);
        let workloads = project.workloads().iter().map(workload).collect::<Result<_, _>>()?;
        Ok(SubjectSetup { project, cache, workloads })
    }

    /// A subject and how far it is.
    pub(crate) fn member(&self, name: &str) -> Member {
        Member::read(&self.project, &self.cache, name)
    }
}

impl Interview<'_> {
    /// Checks a server that already runs.
    pub(crate) fn of_address(&self, address: &Address) -> CheckedServer {
        let result = self.came_of(address).map_err(|refusal| refusal.to_string());
        let name = address.shown.clone();
        CheckedServer { name, title: String::new(), result }
    }

    fn came_of(&self, address: &Address) -> Result<CheckResult, Refusal> {
        let (target, is_own) = address.target(self.offers, self.trust, self.http2)?;
        const PATIENCE: Duration = Duration::from_secs(5);
        if let Err(error) = TcpStream::connect_timeout(&target.address, PATIENCE) {
            return Err(Refusal::new(format!(
                "no server answers at {} ({error}); start the server first, or name another address",
                target.address
            )));
        }
        // A server that does not agree on HTTP/2 is no failure: the check says so.
        let spoken = Target { tls: address.tls(self.trust, false)?, ..target.clone() };
        if let (Err(error), Err(_)) = (target.connect(PATIENCE), spoken.connect(PATIENCE)) {
            let address = target.address;
            return Err(Refusal::new(format!(
                "no TLS connection to the server at {address}: {error}"
            )));
        }
        if let Some(why) = target.other_protocol() {
            return Err(Refusal::new(format!("{}: {why}", target.address)));
        }
        let (may_be_rude, help) = (is_own || self.may_probe, RunningServer(self.halt));
        let mut cases = self.cases.clone();
        if address.is_socket {
            cases.retain(|case| case.protocol() == check::Protocol::Socket);
        }
        if cases.is_empty() {
            return Err(Refusal::new(
                "--case and --area leave no case for a WebSocket; `--area websocket` has them all",
            ));
        }
        let result = self.ask(&address.shown, target, cases, may_be_rude, &help);
        Ok(CheckResult { is_socket: address.is_socket, ..result })
    }

    /// Builds a subject if necessary, starts it, checks it, and ends it.
    pub(crate) fn of_subject(&self, setup: &SubjectSetup, member: &Member) -> CheckedServer {
        let title = member.subject.as_ref().map_or(String::new(), |it| it.title.clone());
        CheckedServer { name: member.name.clone(), title, result: self.visited(setup, member) }
    }

    fn visited(&self, setup: &SubjectSetup, member: &Member) -> Result<CheckResult, String> {
        if let Some(lack) = member.lack() {
            return Err(lack);
        }
        let subject = member.subject.as_ref().map_err(Clone::clone)?;
        let built = self.built(setup, member, subject)?;
        let version = setup.cache.version(subject, &built).unwrap_or_default();
        let protocol = self.protocol(subject)?;
        let service = self.service(setup, subject)?;
        let identity = protocol.is_secured().then(|| new_identity(&setup.cache)).transpose();
        let identity = identity.map_err(|refusal| refusal.to_string())?;
        let setup = VisitSetup {
            launcher: Launcher { cache: &setup.cache, identity: identity.as_ref() },
            workloads: &setup.workloads,
            protocol,
            service: service.as_ref(),
            halt: self.halt,
        };
        let visit = Visit::begin(setup, subject, &built)
            .map_err(|outcome| format!("it cannot be checked: {}", outcome.says))?;
        let result = self.ask(&member.name, visit.target(), self.cases.clone(), true, &visit);
        let _ = visit.end();
        Ok(CheckResult { version, ..result })
    }

    /// What the subject needs beside it, if none of its workloads can do without.
    fn service(
        &self,
        setup: &SubjectSetup,
        subject: &Subject,
    ) -> Result<Option<ReadyService>, String> {
        let spoken: Vec<Workload> = spoken(subject, &setup.workloads).cloned().collect();
        let services = services::of_workloads(&setup.project, &setup.cache, &spoken);
        let services = services.map_err(|refusal| refusal.to_string())?;
        let made = |service| services::made(service, &setup.cache, self.halt, &mut |_| {});
        services.first().map(made).transpose()
    }

    /// What is spoken with a subject; HTTP/2 within TLS if it can be, as TLS has cases of its own.
    fn protocol(&self, subject: &Subject) -> Result<Protocol, String> {
        let all: &[Protocol] = match self.http2 {
            true => &[Protocol::H2, Protocol::H2c],
            false => &[Protocol::Http1, Protocol::Http1Tls],
        };
        let spoken = all.iter().copied().find(|it| subject.answers_over(*it));
        spoken.ok_or_else(|| {
            let names: Vec<&str> = subject.protocols.iter().map(|it| it.name()).collect();
            let asked = if self.http2 { "HTTP/2" } else { "HTTP/1.1" };
            format!("it does not speak {asked}; it speaks {}", names.join(", "))
        })
    }

    fn built(
        &self,
        setup: &SubjectSetup,
        member: &Member,
        subject: &Subject,
    ) -> Result<Built, String> {
        if let Availability::Built { built, .. } = &member.state {
            return Ok(built.clone());
        }
        let announce =
            &mut |command: &str| terminal::notice(&format!("building {}: {command}", member.name));
        let built = setup.cache.build(subject.into(), &|| self.halt.is_asked(), announce);
        built.map_err(|error| format!("it cannot be built: {error}"))
    }

    fn ask(
        &self,
        name: &str,
        target: Target,
        cases: Vec<&'static Case>,
        may_be_rude: bool,
        help: &dyn Help,
    ) -> CheckResult {
        let plan =
            CheckPlan { rounds: self.rounds, may_be_rude, ..CheckPlan::new(target.clone(), cases) };
        let mut progress = Progress::begin(name, plan.cases.len(), plan.rounds);
        let report: Report = check(&plan, help, &mut |now| progress.update(now));
        progress.end(&report);
        let version = String::new();
        CheckResult { target, version, report, was_rude: may_be_rude, is_socket: false }
    }
}
