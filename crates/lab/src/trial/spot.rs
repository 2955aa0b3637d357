//! The cheapest cases of the RFCs, asked before and after a trial's load: a subject may keep them idle and not under load.
//! Whatever it does with them is a finding, never an outcome.

use std::net::SocketAddr;
use std::time::Duration;

use check::{CHEAP, Case, Help, Order, Patience, Target, Verdict, case};
use load::Halt;

use super::Trial;
use crate::conformance::Spot;
use crate::record::{Phase, TrialRecord};
use crate::visit::target;

/// All of them take no longer than this.
const LIMIT: Duration = Duration::from_secs(5);
/// After an answer it is listened for so long whether another comes.
const SETTLE: Duration = Duration::from_millis(40);

/// Who asks for the end of the trial asks for theirs.
struct Bystander<'a>(&'a Halt);

impl Help for Bystander<'_> {
    fn is_halted(&self) -> bool {
        self.0.is_asked()
    }
}

impl Trial<'_> {
    /// Asks them once. What was kept before the load and is not after it is asked again: a server may still be busy with
    /// what was given up.
    pub(super) fn spot(&self, phase: Phase, address: SocketAddr, record: &mut TrialRecord) {
        if !self.setup.experiment.has_check {
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
        // Who was interrupted has not been asked.
        if !self.halt.is_asked() {
            record.spots.extend(spots);
        }
    }

    /// None of them is a WebSocket's.
    fn target(&self, address: SocketAddr) -> Target {
        let target = target(address, self.candidate.subject, self.setup.workloads);
        Target { socket: None, ..target }
    }

    fn ask(&self, phase: Phase, target: &Target, ids: &[&str]) -> Vec<Spot> {
        let cases: Vec<&'static Case> = ids.iter().filter_map(|id| case(id)).collect();
        // One after the other: nobody is asked in a crowd of half-asked questions here.
        let patience = Patience { settle: SETTLE, ..Patience::default() };
        let usual = Order::new(target.clone(), cases);
        let order = Order { rounds: 1, together: 1, limit: LIMIT, patience, ..usual };
        let report = check::check(&order, &Bystander(self.halt), &mut |_| {});
        let findings = report.findings.into_iter();
        findings.map(|it| Spot { phase, id: it.id, verdict: it.verdict, why: it.why }).collect()
    }
}

/// What passed before and does not now.
fn turned(before: &[Spot], now: &[Spot]) -> Vec<&'static str> {
    let verdict =
        |spots: &[Spot], id: &str| spots.iter().find(|spot| spot.id == id).map(|spot| spot.verdict);
    let is_turned = |id: &&str| {
        verdict(before, id) == Some(Verdict::Pass) && verdict(now, id) != Some(Verdict::Pass)
    };
    CHEAP.iter().copied().filter(is_turned).collect()
}
