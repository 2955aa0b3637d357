//! The cheapest cases of the RFCs, played before and after a trial's load: a subject may conform when it is idle and not
//! under load. Whatever it does with them is a finding, never an outcome.

use std::net::SocketAddr;
use std::time::Duration;

use check::{CHEAP, Case, CaseVerdict, CheckPlan, Patience, Target, case};

use super::Trial;
use crate::conformance::Spot;
use crate::record::{Phase, TrialRecord};
use crate::visit::{RunningServer, target};

/// The limit for all of them together.
const LIMIT: Duration = Duration::from_secs(5);
/// How long dyno waits after an answer to see whether another follows.
const SETTLE: Duration = Duration::from_millis(40);

impl Trial<'_, '_> {
    /// Plays them once. A case that passed before the load and fails after it is played again: a server may still be busy
    /// with requests that were given up.
    pub(super) fn spot(&self, phase: Phase, address: SocketAddr, record: &mut TrialRecord) {
        // The cheapest cases are of HTTP/1.1.
        if !self.setup.experiment.has_spots() || self.manner.protocol.is_http2() {
            return;
        }
        let target = self.target(address);
        let mut spots = self.ask(phase, &target, &CHEAP);
        let turned: Vec<&str> = match phase {
            Phase::Before => Vec::new(),
            Phase::After => turned(&record.spots, &spots),
        };
        if !turned.is_empty() {
            let again = self.ask(phase, &target, &turned);
            for spot in again {
                spots.iter_mut().filter(|it| it.id == spot.id).for_each(|it| *it = spot.clone());
            }
        }
        // Cases that were interrupted count as not played.
        if !self.halt.is_asked() {
            record.spots.extend(spots);
        }
    }

    /// The target, without a WebSocket: none of the cases needs one.
    fn target(&self, address: SocketAddr) -> Target {
        let target = target(address, self.candidate.subject, self.setup.workloads);
        Target { socket: None, tls: self.tls.cloned(), ..target }
    }

    fn ask(&self, phase: Phase, target: &Target, ids: &[&str]) -> Vec<Spot> {
        let cases: Vec<&'static Case> = ids.iter().filter_map(|id| case(id)).collect();
        // One after the other: here no case runs beside the half-sent requests of others.
        let patience = Patience { settle: SETTLE, ..Patience::default() };
        let usual = CheckPlan::new(target.clone(), cases);
        let plan = CheckPlan { rounds: 1, together: 1, limit: LIMIT, patience, ..usual };
        let report = check::check(&plan, &RunningServer(self.halt), &mut |_| {});
        let findings = report.findings.into_iter();
        findings.map(|it| Spot { phase, id: it.id, verdict: it.verdict, why: it.why }).collect()
    }
}

/// The cases that passed before and fail now.
fn turned(before: &[Spot], now: &[Spot]) -> Vec<&'static str> {
    let verdict =
        |spots: &[Spot], id: &str| spots.iter().find(|spot| spot.id == id).map(|spot| spot.verdict);
    let is_turned = |id: &&str| {
        verdict(before, id) == Some(CaseVerdict::Pass)
            && verdict(now, id) != Some(CaseVerdict::Pass)
    };
    CHEAP.iter().copied().filter(is_turned).collect()
}
