//! A server that runs already: it is neither started nor stopped, has no port, folder or group of dyno's, and is checked
//! and loaded where it is.

use std::net::IpAddr;
use std::time::Instant;

use tls::Client;

use super::in_turns::Attendance;
use super::{Elsewhere, Event, Trial, outcome, unable};
use crate::arrival::PATIENCE;
use crate::record::{Fact, Outcome, OutcomeKind, Phase, TrialRecord};
use crate::subject::Site;
use machine::monitor::{Watch, WatchPlan, cpu_ns_of};
use machine::process::family_of;
use machine::sockets::owners;

impl Trial<'_, '_> {
    /// The whole trial: checks, load, checks.
    pub(super) fn visit(
        &self,
        site: &Site,
        record: &mut TrialRecord,
        report: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<(), Outcome> {
        let load = &self.setup.split.load;
        load.keep_this_thread()
            .map_err(|error| unable(format!("the load's CPUs {load}: {error}")))?;
        let load_cpus =
            self.setup.split.facts().into_iter().filter(|fact| fact.name == "cpus.load");
        record.conditions.extend(load_cpus);
        let address = Fact { name: "address".into(), value: site.address.to_string() };
        record.conditions.push(address);
        let scheme = site.scheme(self.manner.protocol);
        let workload = self.workload.aimed(site, scheme).map_err(unable)?;
        let tls = site.tls.as_ref().map(Client::new).transpose().map_err(unable)?;
        if self.manner.protocol.is_secured() && tls.is_none() {
            let says = format!(
                "{} is reached in cleartext, not over {}",
                site.address, self.manner.protocol
            );
            return Err(unable(says));
        }
        let began = Instant::now();
        let port = is_here(site.address.ip()).then(|| site.address.port());
        let found = port.map_or(Vec::new(), processes);
        let sampled = port
            .filter(|_| !found.is_empty())
            .and_then(|port| self.sampled_server(Box::new(move || processes(port)), None));
        let trial =
            Trial { workload: &workload, tls: tls.as_ref(), sampled: sampled.as_ref(), ..*self };
        if let Some(attendance) = self.attendance.filter(|_| !found.is_empty()) {
            let pids = found.clone();
            attendance.read_cpu(Box::new(move || cpu_ns_of(&pids)));
        }
        let watch = Watch::start(WatchPlan {
            period: WatchPlan::PERIOD,
            began,
            root: None,
            found,
            helpers: self.setup.elsewhere.map(Elsewhere::processes).unwrap_or_default(),
            readings: None,
            port,
            probe_socket: None,
            service: None,
        })
        .map_err(|error| unable(format!("no monitor: {error}")))?;
        let ended = trial.between(site, began, &watch, record, report);
        record.series = watch.stop();
        if let Some(own_time) = self.attendance.and_then(Attendance::own_time) {
            own_time.settle(record);
        }
        ended
    }

    fn between(
        &self,
        site: &Site,
        began: Instant,
        watch: &Watch,
        record: &mut TrialRecord,
        report: &mut (dyn FnMut(Event<'_>) + Send),
    ) -> Result<(), Outcome> {
        let address = site.address;
        let first = self.question(0, Phase::Before, address, PATIENCE);
        if let Some(wrong) = first.wrong.as_ref().filter(|_| first.response.is_empty()) {
            let says = format!("{address} does not answer: {wrong}");
            return Err(outcome(OutcomeKind::NotReady, says));
        }
        self.check(Phase::Before, address, &mut || None, record, report)?;
        self.press(address, began, &mut || None, watch, record, report)?;
        self.check(Phase::After, address, &mut || None, record, report)
    }
}

/// Whether an address is certainly this machine's.
#[must_use]
pub fn is_here(address: IpAddr) -> bool {
    address.is_loopback() || address.is_unspecified()
}

/// The processes that listen on a port of this machine, and those that they started, as far as we may see them.
#[must_use]
pub fn processes(port: u16) -> Vec<u32> {
    let owners = owners(port);
    let families = owners.iter().flat_map(|pid| family_of(*pid));
    let mut all: Vec<u32> = owners.iter().copied().chain(families).collect();
    all.sort_unstable();
    all.dedup();
    all
}
