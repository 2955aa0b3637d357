//! One check from start to end: find or start the server, run the cases, and show the progress.

use std::ffi::OsString;
use std::net::TcpStream;
use std::time::Duration;

use check::{Case, Help, Order, Protocol, Report, Target, check};
use lab::build::{Built, Yard};
use lab::subject::Subject;
use lab::visit::{Door, Visit};
use lab::workload::Workload;
use load::Halt;

use super::aim::{Address, Offers};
use super::progress::Progress;
use super::{Came, Checked};
use crate::shell::Refusal;
use crate::terminal;
use campaign::project::Project;
use campaign::roster::{Member, State};

/// What is the same for all servers.
pub(crate) struct Interview<'a> {
    pub(crate) cases: Vec<&'static Case>,
    pub(crate) rounds: usize,
    /// The owner of an address that is not this machine has agreed.
    pub(crate) may_probe: bool,
    pub(crate) offers: Offers,
    pub(crate) halt: &'a Halt,
}

/// Where subjects are found and started.
pub(crate) struct Place {
    pub(crate) project: Project,
    yard: Yard,
    warden: [OsString; 2],
    workloads: Vec<Workload>,
}

impl Place {
    /// The project around the current folder, with all its workloads: from them a subject's paths are known.
    pub(crate) fn find() -> Result<Place, Refusal> {
        let project = Project::find()?;
        let yard = project.yard()?;
        let warden = [yard.dyno.clone().into_os_string(), OsString::from("warden")];
        let workload = |name: &String| {
            Workload::read(&project.root, name).map_err(|error| Refusal::new(error.to_string()))
        };
        let workloads = project.workloads().iter().map(workload).collect::<Result<_, _>>()?;
        Ok(Place { project, yard, warden, workloads })
    }

    /// A subject and how far it is.
    pub(crate) fn member(&self, name: &str) -> Member {
        Member::read(&self.project, &self.yard, name)
    }
}

/// A server that already runs: dyno neither restarts it nor reads its memory.
struct Stranger<'a>(&'a Halt);

impl Help for Stranger<'_> {
    fn is_halted(&self) -> bool {
        self.0.is_asked()
    }
}

impl Interview<'_> {
    /// Checks a server that already runs.
    pub(crate) fn of_address(&self, address: &Address) -> Checked {
        let came = self.came_of(address).map_err(|refusal| refusal.to_string());
        let name = address.shown.clone();
        Checked { name, title: String::new(), version: String::new(), came }
    }

    fn came_of(&self, address: &Address) -> Result<Came, Refusal> {
        let (target, is_own) = address.target(&self.offers)?;
        if let Err(error) = TcpStream::connect_timeout(&target.address, Duration::from_secs(5)) {
            return Err(Refusal::new(format!(
                "no server answers at {} ({error}); start the server first, or name another address",
                target.address
            )));
        }
        let (may_be_rude, help) = (is_own || self.may_probe, Stranger(self.halt));
        let mut cases = self.cases.clone();
        if address.is_socket {
            cases.retain(|case| case.protocol() == Protocol::Socket);
        }
        if cases.is_empty() {
            return Err(Refusal::new(
                "--only and --area leave no case for a WebSocket; `--area websocket` has them all",
            ));
        }
        let came = self.ask(&address.shown, target, cases, may_be_rude, &help);
        Ok(Came { is_socket: address.is_socket, ..came })
    }

    /// Builds a subject if necessary, starts it, checks it, and ends it.
    pub(crate) fn of_subject(&self, place: &Place, member: &Member) -> Checked {
        let title = member.subject.as_ref().map_or(String::new(), |it| it.title.clone());
        let (version, came) = match self.visited(place, member) {
            Ok((version, came)) => (version, Ok(came)),
            Err(why) => (String::new(), Err(why)),
        };
        Checked { name: member.name.clone(), title, version, came }
    }

    fn visited(&self, place: &Place, member: &Member) -> Result<(String, Came), String> {
        if let Some(lack) = member.lack() {
            return Err(lack);
        }
        let subject = member.subject.as_ref().map_err(Clone::clone)?;
        let built = self.built(place, member, subject)?;
        let version = place.yard.version(subject, &built).unwrap_or_default();
        let door = Door {
            yard: &place.yard,
            warden: &place.warden,
            workloads: &place.workloads,
            halt: self.halt,
        };
        let visit = Visit::begin(door, subject, &built)
            .map_err(|outcome| format!("it cannot be asked: {}", outcome.says))?;
        let came = self.ask(&member.name, visit.target(), self.cases.clone(), true, &visit);
        let _ = visit.end();
        Ok((version, came))
    }

    fn built(&self, place: &Place, member: &Member, subject: &Subject) -> Result<Built, String> {
        if let State::Built { built, .. } = &member.state {
            return Ok(built.clone());
        }
        let tell =
            &mut |command: &str| terminal::say(&format!("building {}: {command}", member.name));
        let built = place.yard.build(subject.into(), &|| self.halt.is_asked(), tell);
        built.map_err(|error| format!("it cannot be built: {error}"))
    }

    fn ask(
        &self,
        name: &str,
        target: Target,
        cases: Vec<&'static Case>,
        may_be_rude: bool,
        help: &dyn Help,
    ) -> Came {
        let order = Order { rounds: self.rounds, may_be_rude, ..Order::new(target.clone(), cases) };
        let mut progress = Progress::begin(name, order.cases.len(), order.rounds);
        let report: Report = check(&order, help, &mut |now| progress.hear(now));
        progress.end(&report);
        Came { target, report, was_rude: may_be_rude, is_socket: false }
    }
}
