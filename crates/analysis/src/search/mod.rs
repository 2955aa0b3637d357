//! The search for a capacity: the greatest rate at which a server keeps an aim, between two rates that lie a given width
//! apart. What comes next depends on the trials so far, so a search that was interrupted goes on as if it had not been.
//!
//! A trial's *loss* is the share of the requests due that were answered too late, or failed, or were not answered. It is a
//! count divided by a count, so trials of one rate add up: a percentile would not. The 99th percentile is within a limit
//! exactly if at most 1 % of the requests are lost.

mod aim;
mod answer;
mod course;
mod ends;
mod fitness;
mod grid;
mod judge;
mod noise;
mod order;
mod run_search;
mod text_form;

use lab::named;
use lab::search_goal::SearchGoal;
use load::Nanos;

pub use aim::{Aim, Criterion, Evidence, evidence, lost_so_far};
pub use answer::{Answer, Conclusion, End, Place, Stalls};
pub use grid::Grid;
pub use judge::{Judged, Pooled, Word};
pub use lab::search_goal::Limit;
pub use noise::{Noise, noise_in};
pub use order::{Bracket, ranks};
pub use run_search::{
    Ending, OddTrial, RunSearch, Searched, next_of, searched, searches_of, server_cpus,
};

use course::Course;

/// What is searched for, and how thoroughly.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    pub aim: Aim,
    /// How far the two ends may lie apart: 0.05 is 5 %.
    pub width: f64,
    /// The lowest rate that is tried, each second.
    pub least: f64,
    /// The highest.
    pub most: f64,
    /// What the reference achieves, each second: near it the load itself would be measured.
    pub ceiling: Option<f64>,
    /// No trial begins that would end after this, in seconds of trials.
    pub limit_s: f64,
    /// Each trial has a fresh process.
    pub is_fresh: bool,
    /// Which of two rates that are due comes first.
    pub seed: u64,
}

/// One load that is to be made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Press {
    pub kind: PressKind,
    /// Requests each second; none of a closed loop.
    pub rate: Option<f64>,
    pub seconds: f64,
}

named! {
    /// What a load is for.
    pub enum PressKind {
        /// A closed loop, which shows where to begin.
        First = "first",
        /// A short trial, which narrows the range and decides nothing.
        Short = "short",
        /// A full trial, at one end of the bracket.
        Full = "full",
        /// A short trial above the bracket: does the server hold more where it held less?
        Beyond = "beyond",
    }
}

/// A trial that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    pub found: Found,
    /// From its start to the next one's, in seconds.
    pub took_s: f64,
}

/// What a trial has found.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// The throughput of a closed loop.
    Closed {
        per_s: f64,
    },
    Open(Evidence),
    /// It says nothing of the server, for this reason; it is made again.
    Unfit(String),
    /// It says nothing of the server, because dyno itself or the machine was disturbed. This may pass.
    Disturbed {
        noise: Noise,
        /// The trial did not keep the aim, for whatever reason.
        is_broken: bool,
    },
}

/// What comes next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Press(Press),
    Done(Box<Answer>),
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// The highest rate that holds so far, and the lowest that does not, by short trials where there are no others.
    pub holds: Option<f64>,
    pub breaks: Option<f64>,
    /// Trials and seconds that are still to come, if all goes well.
    pub trials: usize,
    pub seconds: f64,
    /// Seconds that the limit leaves, which may be fewer.
    pub left_s: f64,
}

/// A rate that is nearer than this to what the reference achieves would be that of the load itself.
pub const BELOW_CEILING: f64 = 1.15;
/// Where it is not known what that is.
const MOST: f64 = 1e6;

impl Search {
    /// The search for this, where the reference achieves so many answers a second. Refused, in a sentence, if even the
    /// lowest rate is too near to that.
    pub fn of(
        sought: &SearchGoal,
        ceiling: Option<f64>,
        is_fresh: bool,
        seed: u64,
    ) -> Result<Search, String> {
        let (least, most) = (sought.least, sought.most.unwrap_or(MOST));
        let aim = Aim { limits: sought.limits.clone(), failures: sought.failures };
        let (width, limit_s) = (sought.width, sought.limit.as_secs_f64());
        let search = Search { aim, width, least, most, ceiling, limit_s, is_fresh, seed };
        let most = search.top(None);
        if most < least {
            return Err(format!(
                "the lowest rate, {least} requests/s, is too near to what dyno's own server gives here, which is {:.0} \
                 answers/s: the load itself would be measured; lower it",
                ceiling.unwrap_or_default()
            ));
        }
        if !Grid::new(sought.width, least, most).has_any_up_to(most) {
            return Err(format!(
                "from {least} to {most:.0} requests/s there is no rate to try: rates are a quarter of the width apart; lower \
                 the lowest, or raise the highest"
            ));
        }
        Ok(search)
    }

    /// The highest rate that is tried, where the server itself has achieved so much in a closed loop.
    fn top(&self, closed: Option<f64>) -> f64 {
        let own = self.ceiling_beside(closed).map_or(f64::INFINITY, |per_s| per_s / BELOW_CEILING);
        self.most.min(own)
    }

    /// The reference reaches at least what the server does. If it seems to reach far less, something has disturbed it: then
    /// it says nothing.
    fn ceiling_beside(&self, closed: Option<f64>) -> Option<f64> {
        let (ceiling, closed) = (self.ceiling?, closed.unwrap_or(0.0));
        (closed < BELOW_CEILING * ceiling).then_some(ceiling.max(closed))
    }

    /// What comes after these trials.
    #[must_use]
    pub fn next(&self, trials: &[Tried]) -> Step {
        self.course(trials).step()
    }

    /// What these trials have found, also where the search is not over.
    #[must_use]
    pub fn answer(&self, trials: &[Tried]) -> Answer {
        let course = self.course(trials);
        match course.step() {
            Step::Done(answer) => *answer,
            Step::Press(_) => {
                let needed_s = course.progress().seconds;
                Answer::of(&course, Conclusion::Unfinished { needed_s })
            }
        }
    }

    /// How far the search has come with these trials.
    #[must_use]
    pub fn progress(&self, trials: &[Tried]) -> Progress {
        self.course(trials).progress()
    }

    fn course(&self, trials: &[Tried]) -> Course<'_> {
        let mut course = Course::new(self);
        for tried in trials {
            let Step::Press(press) = course.step() else { break };
            course.add(&press, tried);
        }
        course
    }
}

/// A time in nanoseconds, as seconds.
fn seconds(time: Nanos) -> f64 {
    time as f64 / load::SECOND as f64
}

#[cfg(test)]
mod tests;
