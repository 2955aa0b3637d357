//! Cases side by side.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use super::sighting::Sighting;
use super::{ALIVE, Progress, Round, Run};
use crate::case::Case;
use crate::exchange::exchange;
use crate::finding::CaseVerdict;

impl Run<'_> {
    /// Runs cases side by side, until one of them leaves the server silent; then those that were under way are
    /// returned, since any of them may have done it. Cases that were not begun stay in `left`.
    pub(super) fn run_concurrently(
        &mut self,
        left: &mut VecDeque<&'static Case>,
        workers: usize,
        seen: &mut Round,
        on_progress: &mut dyn FnMut(Progress),
    ) -> Vec<(&'static Case, Sighting)> {
        if let Some(why) = self.is_over() {
            seen.extend(left.drain(..).map(|case| (case.id, Sighting::untestable(&why))));
            return Vec::new();
        }
        let (queue, is_troubled) = (Mutex::new(std::mem::take(left)), AtomicBool::new(false));
        let mut suspects = Vec::new();
        std::thread::scope(|scope| {
            let (sender, results) = mpsc::channel();
            for _ in 0..workers {
                let (queue, is_troubled, sender) = (&queue, &is_troubled, sender.clone());
                let (plan, post) = (self.plan, self.features.post.clone());
                let pulse = self.pulse;
                scope.spawn(move || {
                    while !is_troubled.load(Ordering::Relaxed) {
                        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                        let Some(case) = next else { return };
                        let talk = exchange(case, &plan.target, &post, &plan.patience);
                        let is_there = pulse.is_none_or(|pulse| pulse.beats(&plan.target, ALIVE));
                        let sighting = Sighting::of(case, &talk);
                        let is_suspect = !is_there || sighting.is_unconnected;
                        is_troubled.fetch_or(is_suspect, Ordering::Relaxed);
                        if sender.send((case, sighting, is_suspect)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            while let Ok((case, sighting, is_suspect)) = results.recv() {
                self.report_progress(case, on_progress);
                if is_suspect {
                    suspects.push((case, sighting));
                } else {
                    seen.insert(case.id, sighting);
                }
                if let Some(why) = self.is_over() {
                    let rest =
                        std::mem::take(&mut *queue.lock().unwrap_or_else(PoisonError::into_inner));
                    seen.extend(rest.iter().map(|case| (case.id, Sighting::untestable(&why))));
                }
            }
        });
        *left = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !suspects.is_empty() {
            // Connections that hang are given time to end.
            std::thread::sleep(Duration::from_millis(300));
        }
        suspects
    }

    /// Runs every case again, alone, that was under way when the server fell silent. If the server does not come back,
    /// a single case is to blame; of several, it is not known which.
    pub(super) fn clear(&mut self, suspects: Vec<(&'static Case, Sighting)>, seen: &mut Round) {
        let ids: Vec<&str> = suspects.iter().map(|(case, _)| case.id).collect();
        self.under_way = suspects.iter().map(|(case, _)| case.id).collect();
        for (case, before) in suspects {
            let mut sighting = self.alone(case);
            if self.is_gone && !sighting.is_asked && ids.len() == 1 {
                let why = format!("{}; afterwards {}", before.why, self.cut_short);
                sighting = Sighting { verdict: CaseVerdict::Crash, why, ..before };
            }
            seen.insert(case.id, sighting);
        }
        if self.is_gone && ids.len() > 1 {
            self.cut_short += &format!("; under way were {}", ids.join(", "));
        }
    }
}
