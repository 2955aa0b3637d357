//! The slow cases, which take minutes and run once, after all rounds.

use super::sighting::Sighting;
use super::{ALIVE, Progress, Run};
use crate::case::{Case, Scheduling};
use crate::exchange::exchange_until;
use crate::pulse::Pulse;
use crate::script::Step;

impl Run<'_> {
    /// Runs the slow cases: those that only wait run beside each other if the server can bear it, the others alone.
    pub(super) fn slow_cases(&mut self, on_progress: &mut dyn FnMut(Progress)) {
        let slow = self.asked.iter().copied().filter(|case| case.scheduling == Scheduling::Slow);
        let (crowds, waiting): (Vec<_>, Vec<_>) =
            slow.partition(|case| matches!(case.steps, [Step::Crowd(_)]));
        let Some(mut seen) = self.rounds.first_mut().map(std::mem::take) else { return };
        let mut alone = crowds;
        match self.together > waiting.len() && self.is_over().is_none() {
            true => {
                for (case, sighting) in self.beside_each_other(&waiting) {
                    seen.insert(case.id, self.unless_halted(sighting));
                    self.report_progress(case, on_progress);
                }
            }
            false => alone.splice(..0, waiting).for_each(drop),
        }
        for case in alone {
            let sighting = self.alone(case);
            seen.insert(case.id, self.unless_halted(sighting));
            self.report_progress(case, on_progress);
        }
        self.rounds[0] = seen;
    }

    /// An exchange that was broken off says nothing.
    fn unless_halted(&mut self, sighting: Sighting) -> Sighting {
        match self.help.is_halted() {
            true => Sighting::untestable(self.is_over().unwrap_or_default()),
            false => sighting,
        }
    }

    fn beside_each_other(&mut self, cases: &[&'static Case]) -> Vec<(&'static Case, Sighting)> {
        let (plan, help, post) = (self.plan, self.help, &self.features.post);
        let talks: Vec<_> = std::thread::scope(|scope| {
            let play = |case: &'static Case| {
                let is_halted = || help.is_halted();
                exchange_until(case, &plan.target, post, &plan.patience, &is_halted)
            };
            let threads: Vec<_> =
                cases.iter().map(|case| (*case, scope.spawn(move || play(case)))).collect();
            threads.into_iter().map(|(case, thread)| (case, thread.join())).collect()
        });
        let pulse = self.pulse.unwrap_or(Pulse::Page);
        let is_there = pulse.beats(&plan.target, ALIVE) || pulse.beats(&plan.target, ALIVE);
        let judged = talks.into_iter().map(|(case, talk)| match talk {
            Ok(seen) if is_there => (case, Sighting::of(case, &seen)),
            // Running each alone shows which one was at fault.
            _ => (case, self.alone(case)),
        });
        judged.collect()
    }
}
