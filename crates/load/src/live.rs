//! What a load does meanwhile, as values that can be sent; and those of several processes, shown as one.

use std::collections::VecDeque;

use crate::Nanos;
use crate::bounds::INSTANT_MAX;
use crate::collector::{Glance, Meanwhile};
use crate::failure::Failure;
use crate::order::{Order, nanos};
use crate::part::{Bounds, Outlook, Part, check_tally};
use crate::tally::Tally;

/// A glance as a value, without the exchanges that are kept whole: these come with the part at the end.
pub type LiveWindow = Meanwhile<Box<Tally>>;

impl LiveWindow {
    /// Adds a window of the same process that comes next.
    fn append(&mut self, next: &LiveWindow) {
        self.now = next.now;
        self.window.merge(&next.window);
        self.total.clone_from(&next.total);
    }
}

/// Puts windows together before they are sent, so that few are. Each ends with a stretch of this length, counted from the
/// run's beginning: so those of several processes fit together.
///
/// A tally is a megabyte of histograms: it is folded before it is sent.
#[derive(Debug)]
pub struct LiveGatherer {
    length: Nanos,
    gathered: Option<Gathered>,
}

/// Windows that have not been sent.
#[derive(Debug)]
struct Gathered {
    now: Nanos,
    from: Nanos,
    /// Lean: a second has few values, and what is folded is put together without being unfolded.
    window: Tally,
    /// What was measured before the warm-up's end, which may come at any time; none in the measured time.
    total_of_warmup: Option<Tally>,
}

impl Gathered {
    fn send(self, total: &Tally) -> LiveWindow {
        let Gathered { now, from, window, total_of_warmup } = self;
        let is_warmup = total_of_warmup.is_some();
        let total = total_of_warmup.unwrap_or_else(|| total.lean());
        LiveWindow { now, from, is_warmup, window: Box::new(window), total: Box::new(total) }
    }
}

impl LiveGatherer {
    #[must_use]
    pub fn new(length: Nanos) -> LiveGatherer {
        LiveGatherer { length: length.max(1), gathered: None }
    }

    /// Adds a glance. Windows that are complete are sent.
    pub fn add(&mut self, glance: &Glance<'_>, send: &mut dyn FnMut(LiveWindow)) {
        let Glance { now, from, is_warmup, window, total } = *glance;
        let is_of_warmup = |gathered: &mut Gathered| gathered.total_of_warmup.is_some();
        if !is_warmup && let Some(warmup) = self.gathered.take_if(is_of_warmup) {
            send(warmup.send(total));
        }
        let total_of_warmup = is_warmup.then(|| total.lean());
        match &mut self.gathered {
            Some(gathered) => {
                gathered.now = now;
                gathered.window.add_lean(window);
                gathered.total_of_warmup = total_of_warmup;
            }
            none => *none = Some(Gathered { now, from, window: window.lean(), total_of_warmup }),
        }
        let is_whole = |it: &mut Gathered| it.from / self.length < it.now / self.length;
        if let Some(whole) = self.gathered.take_if(is_whole) {
            send(whole.send(total));
        }
    }

    /// What has been gathered and not sent, when this is what the load has measured.
    #[must_use]
    pub fn finish(self, part: &Part) -> Option<LiveWindow> {
        self.finish_with(&part.total)
    }

    fn finish_with(self, total: &Tally) -> Option<LiveWindow> {
        self.gathered.map(|gathered| gathered.send(total))
    }
}

/// Merges the live windows of several processes by their time, whichever is ahead.
#[derive(Debug)]
pub struct LiveMerger {
    agents: Vec<Agent>,
    outlook: Outlook,
}

/// What one process has sent.
#[derive(Debug, Default)]
struct Agent {
    /// What has not been shown.
    waiting: VecDeque<LiveWindow>,
    /// All windows that end by then are known.
    until: Nanos,
    /// Whether its measured time has begun.
    has_begun: bool,
    /// The measured time of this process, as far as it has been shown.
    total: Option<Box<Tally>>,
}

/// If a process is so many windows ahead, they are put together: memory is bounded.
const AHEAD_MAX: usize = 64;

impl LiveMerger {
    /// For so many processes.
    #[must_use]
    pub fn new(agents: usize) -> LiveMerger {
        let agents = (0..agents).map(|_| Agent::default()).collect();
        LiveMerger { agents, outlook: Outlook::default() }
    }

    /// A window of this process has come. What all processes have had is shown. What comes from elsewhere is not
    /// believed: what is refused changes nothing.
    pub fn add(
        &mut self,
        agent: usize,
        window: LiveWindow,
        show: &mut dyn FnMut(&Glance<'_>),
    ) -> Result<(), String> {
        let times = (u64::MAX >> 1) / self.agents.len().max(1) as u64;
        let Some(place) = self.agents.get_mut(agent) else {
            return Err(format!("there is no process {agent}"));
        };
        let is_next = place.until <= window.from
            && window.from < window.now
            && !(place.has_begun && window.is_warmup);
        if !is_next || INSTANT_MAX < window.now {
            return Err("a live window lies where none may be".into());
        }
        let bounds = Bounds { longest: None, times };
        check_tally(&window.window, bounds)?;
        check_tally(&window.total, bounds)?;
        (place.until, place.has_begun) = (window.now, !window.is_warmup);
        let is_far_ahead = AHEAD_MAX <= place.waiting.len();
        match place.waiting.back_mut() {
            Some(last) if is_far_ahead && last.is_warmup == window.is_warmup => {
                last.append(&window);
            }
            _ => place.waiting.push_back(window),
        }
        self.show(show);
        Ok(())
    }

    /// No more windows of this process will come, because it is done or lost: the others are not kept waiting.
    pub fn lost(&mut self, agent: usize, show: &mut dyn FnMut(&Glance<'_>)) {
        if let Some(agent) = self.agents.get_mut(agent) {
            agent.until = Nanos::MAX;
        }
        self.show(show);
    }

    /// Whether no more windows of this process are wanted.
    #[must_use]
    pub fn has_ended(&self, agent: usize) -> bool {
        self.agents.get(agent).is_some_and(|agent| agent.until == Nanos::MAX)
    }

    /// Why all processes should be stopped, if nothing has worked from the start and for long enough.
    #[must_use]
    pub fn reason_to_give_up(&self, order: &Order) -> Option<Failure> {
        self.outlook.reason_to_give_up(nanos(order.timeout), order.stop.duration.is_some())
    }

    /// Shows what all processes have had: once for the time of each window of the one that is behind.
    fn show(&mut self, show: &mut dyn FnMut(&Glance<'_>)) {
        let known = self.agents.iter().map(|agent| agent.until).min().unwrap_or(0);
        for is_warmup in [true, false] {
            let mut shown: Option<LiveWindow> = None;
            for agent in &mut self.agents {
                let fits =
                    |window: &LiveWindow| window.now <= known && window.is_warmup == is_warmup;
                while agent.waiting.front().is_some_and(fits)
                    && let Some(window) = agent.waiting.pop_front()
                {
                    agent.total = Some(window.total.clone());
                    match &mut shown {
                        None => shown = Some(window),
                        Some(shown) => shown.beside(&window),
                    }
                }
            }
            let Some(shown) = shown else { continue };
            let LiveWindow { now, from, is_warmup, window, total: _ } = &shown;
            let mut totals = self.agents.iter().filter_map(|agent| agent.total.as_deref());
            let Some(mut total) = totals.next().cloned() else { continue };
            totals.for_each(|other| total.merge(other));
            self.outlook.see(*now, window.answered, &window.failed);
            let (now, from, is_warmup) = (*now, *from, *is_warmup);
            show(&Glance { now, from, is_warmup, window, total: &total });
        }
    }
}

impl LiveWindow {
    /// Adds what another process had at the same time.
    fn beside(&mut self, other: &LiveWindow) {
        self.from = self.from.min(other.from);
        self.now = self.now.max(other.now);
        self.window.merge(&other.window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SECOND;

    const WIDTH: Nanos = SECOND / 10;

    /// A process that answers so many in each window, in a warm-up of a second and after it.
    struct Process {
        total: Tally,
        each: u64,
        next: Nanos,
    }

    impl Process {
        fn new(each: u64) -> Process {
            Process { total: Tally::new(SECOND), each, next: 0 }
        }

        fn live(&mut self, gatherer: &mut LiveGatherer) -> Vec<LiveWindow> {
            let mut window = Tally::new(SECOND);
            let (from, now) = (self.next, self.next + WIDTH);
            let is_warmup = from < SECOND;
            (0..self.each).for_each(|_| window.response.record(from / 1_000 + self.each));
            (window.answered, window.attempted, window.correct) = (self.each, self.each, self.each);
            if !is_warmup {
                self.total.merge(&window);
            }
            self.next = now;
            let mut sent = Vec::new();
            let glance = Glance { now, from, is_warmup, window: &window, total: &self.total };
            gatherer.add(&glance, &mut |window| sent.push(window));
            let text = serde_json::to_string(&sent).unwrap();
            let received: Vec<LiveWindow> = serde_json::from_str(&text).unwrap();
            assert_eq!(received, sent);
            received
        }
    }

    /// The time, whether it is the warm-up, what came in the window, and in all.
    type Shown = (Nanos, Nanos, bool, u64, u64);

    fn shown(glance: &Glance<'_>) -> Shown {
        assert_eq!(glance.window.response.count(), glance.window.answered);
        let (window, total) = (glance.window.answered, glance.total.answered);
        (glance.from / WIDTH, glance.now / WIDTH, glance.is_warmup, window, total)
    }

    #[test]
    fn windows_of_several_processes_are_shown_as_one_when_all_have_them() {
        let mut processes = [Process::new(3), Process::new(5)];
        let mut gatherers = [LiveGatherer::new(SECOND), LiveGatherer::new(SECOND)];
        let mut merger = LiveMerger::new(2);
        let mut seen = Vec::new();
        // The first one is two and a half seconds ahead.
        for (agent, windows) in [(0, 25), (1, 40), (0, 15)] {
            for _ in 0..windows {
                for window in processes[agent].live(&mut gatherers[agent]) {
                    merger.add(agent, window, &mut |glance| seen.push(shown(glance))).unwrap();
                }
            }
        }
        let expected = [
            (0, 10, true, 80, 0),
            (10, 20, false, 80, 80),
            (20, 30, false, 80, 160),
            (30, 40, false, 80, 240),
        ];
        assert_eq!(seen, expected);
        // One is lost: what it did stays in the total, and the other one is not kept waiting.
        seen.clear();
        merger.lost(0, &mut |glance| seen.push(shown(glance)));
        for window in (0..10).flat_map(|_| processes[1].live(&mut gatherers[1])) {
            merger.add(1, window, &mut |glance| seen.push(shown(glance))).unwrap();
        }
        assert_eq!(seen, [(40, 50, false, 50, 290)]);
    }

    #[test]
    fn a_window_of_the_warm_up_is_not_mixed_with_the_measured_time() {
        let mut process = Process::new(1);
        let mut gatherer = LiveGatherer::new(3 * SECOND);
        let mut sent: Vec<LiveWindow> = (0..25).flat_map(|_| process.live(&mut gatherer)).collect();
        sent.extend(gatherer.finish_with(&process.total));
        let times: Vec<_> =
            sent.iter().map(|it| (it.from / WIDTH, it.now / WIDTH, it.is_warmup)).collect();
        assert_eq!(times, [(0, 10, true), (10, 25, false)]);
        let answered = |it: &LiveWindow| (it.window.answered, it.total.answered);
        assert_eq!(sent.iter().map(answered).collect::<Vec<_>>(), [(10, 0), (15, 15)]);
    }

    #[test]
    fn a_process_far_ahead_takes_no_more_memory_and_loses_nothing() {
        let mut fast = Process::new(2);
        let mut gatherer = LiveGatherer::new(WIDTH);
        let mut merger = LiveMerger::new(2);
        for window in (0..1_000).flat_map(|_| fast.live(&mut gatherer)) {
            merger.add(0, window, &mut |_| panic!("the other one has sent nothing")).unwrap();
        }
        assert!(merger.agents[0].waiting.len() <= 2 * AHEAD_MAX);
        let mut answered = (0, 0);
        merger.lost(1, &mut |glance| {
            answered = (answered.0 + glance.window.answered, glance.total.answered);
        });
        assert_eq!(answered, (2_000, 2 * 990));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let mut process = Process::new(1);
        let mut gatherer = LiveGatherer::new(WIDTH);
        let mut merger = LiveMerger::new(2);
        let window = process.live(&mut gatherer).remove(0);
        let mut refused = |change: &dyn Fn(&mut LiveWindow)| {
            let mut bad = window.clone();
            change(&mut bad);
            merger.add(0, bad, &mut |_| ()).unwrap_err();
        };
        refused(&|window| window.now = window.from);
        refused(&|window| window.now = u64::MAX);
        refused(&|window| window.window.attempted = u64::MAX);
        refused(&|window| window.total.bytes_sent = u64::MAX);
        refused(&|window| window.total.cpu = u64::MAX / 2);
        merger.add(0, window.clone(), &mut |_| ()).unwrap();
        merger.add(0, window.clone(), &mut |_| ()).unwrap_err();
        merger.add(2, window, &mut |_| ()).unwrap_err();
    }
}
