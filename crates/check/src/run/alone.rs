//! Runs a case while no other case runs, and watches what happens to the server.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::sighting::Sighting;
use super::{ALIVE, Round, Run};
use crate::case::Case;
use crate::exchange::exchange_until;
use crate::finding::CaseVerdict;
use crate::observation::Observation;
use crate::pulse::Pulse;

impl Run<'_> {
    /// Runs a case while no other case runs, and watches the server's memory and whether it survives.
    pub(super) fn alone(&mut self, case: &'static Case) -> Sighting {
        if let Some(why) = self.is_over() {
            return Sighting::untestable(why);
        }
        let pulse = self.pulse.unwrap_or(Pulse::Page);
        let is_alive = || pulse.beats(&self.plan.target, ALIVE);
        if !is_alive() && !is_alive() {
            if !self.help.revive() && !self.comes_back(pulse) {
                self.is_gone = true;
                self.cut_short =
                    format!("the server had gone and did not come back: {}", pulse.says());
                return Sighting::untestable(&self.cut_short);
            }
            self.losses.push(std::mem::take(&mut self.under_way));
        }
        self.under_way = vec![case.id];
        let sighting = Sighting::of(case, &self.watched(case));
        if self.survives(pulse) {
            return sighting;
        }
        // It may have been the last straw of many. A case that does the same to a fresh server has done it.
        if self.help.revive() {
            let again = Sighting::of(case, &self.watched(case));
            if self.survives(pulse) {
                self.losses.push(vec![case.id]);
                return again;
            }
            self.help.revive();
        }
        let why = format!("{}; afterwards {}", sighting.why, pulse.says());
        Sighting { verdict: CaseVerdict::Crash, why, ..sighting }
    }

    /// Whether a server still answers, or answers again after a second.
    fn survives(&self, pulse: Pulse) -> bool {
        pulse.beats(&self.plan.target, ALIVE) || {
            std::thread::sleep(Duration::from_secs(1));
            pulse.beats(&self.plan.target, ALIVE)
        }
    }

    /// Whether a server that has gone answers again after a while.
    fn comes_back(&self, pulse: Pulse) -> bool {
        let until = Instant::now() + 4 * self.plan.patience.answer;
        while Instant::now() < until && !self.help.is_halted() {
            std::thread::sleep(Duration::from_millis(200));
            if pulse.beats(&self.plan.target, ALIVE) {
                return true;
            }
        }
        false
    }

    fn watched(&self, case: &Case) -> Observation {
        let (plan, is_halted) = (self.plan, || self.help.is_halted());
        let play =
            || exchange_until(case, &plan.target, &self.features.post, &plan.patience, &is_halted);
        let Some(before) = self.help.memory() else { return play() };
        let (is_over, most) = (AtomicBool::new(false), AtomicU64::new(before));
        let mut seen = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    most.fetch_max(self.help.memory().unwrap_or(0), Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            let seen = play();
            is_over.store(true, Ordering::Relaxed);
            seen
        });
        seen.grew = Some(most.into_inner() - before);
        seen
    }

    /// Whether the server was there throughout the round. If it dies while several cases run side by side, and of no
    /// case alone, that counts as a crash all the same.
    pub(super) fn staying(&mut self, round: &Round) -> Sighting {
        let has_crashed =
            |id: &&str| round.get(*id).is_some_and(|it| it.verdict == CaseVerdict::Crash);
        let mut losses = std::mem::take(&mut self.losses);
        losses.retain(|under_way| !under_way.iter().any(has_crashed));
        let sighting = Sighting { is_asked: true, ..Sighting::untestable("") };
        let Some(last) = losses.last() else {
            let why = format!("a plain request was answered after each of {} cases", round.len());
            return Sighting { verdict: CaseVerdict::Pass, why, ..sighting };
        };
        let last = if last.is_empty() { "none of them".into() } else { last.join(" ") };
        let why = format!(
            "plain requests were not answered for {} s, {} times in a round, though no case alone did it; under way the \
             last time: {last}",
            2 * ALIVE.as_secs(),
            losses.len(),
        );
        Sighting { verdict: CaseVerdict::Crash, why, ..sighting }
    }
}
