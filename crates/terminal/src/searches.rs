//! How far the searches of a run are: what each trial has found, and what is still to come.

use std::time::Duration;

use analysis::search::{Press, Progress, RunSearch, Tried};
use report::capacity;
use units::{counted, duration};

/// All searches of a run.
#[derive(Default)]
pub(crate) struct Searches {
    all: Vec<(RunSearch, Progress)>,
}

impl Searches {
    pub(crate) fn of(begin: &[(&RunSearch, Progress)]) -> Searches {
        Searches { all: begin.iter().map(|(of, progress)| ((*of).clone(), *progress)).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A search has had a trial: what that has found, in a line.
    pub(crate) fn add(
        &mut self,
        of: &RunSearch,
        (press, tried): (&Press, &Tried),
        progress: &Progress,
    ) -> String {
        let known = self.all.iter_mut().find(|(other, _)| other.first == of.first);
        if let Some((_, known)) = known {
            *known = *progress;
        }
        let says = capacity::trial(press, tried, &of.search.aim);
        format!("{}{says} | {}", self.name(of), capacity::progress(progress))
    }

    /// `hyper: `, where there are several, with the task where there are several of these.
    fn name(&self, of: &RunSearch) -> String {
        let has_tasks = self.all.iter().any(|(other, _)| other.task != of.task);
        match (self.all.len(), has_tasks) {
            (0 | 1, _) => String::new(),
            (_, false) => format!("{}: ", of.subject),
            (_, true) => format!("{}, {}: ", of.subject, of.task),
        }
    }

    /// `about 30 trials left, 6min`: of all searches, if all goes well.
    pub(crate) fn left(&self) -> String {
        let trials: usize = self.all.iter().map(|(_, progress)| progress.trials).sum();
        let seconds: f64 = self.all.iter().map(|(_, progress)| progress.seconds).sum();
        let time = duration(Duration::from_secs(seconds.ceil() as u64));
        format!("about {} left, {time}", counted(trials as u64, "trial", "trials"))
    }
}
