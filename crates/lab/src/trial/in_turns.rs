//! Trials of one round that live at once: each is a trial like any other, whose clock stands still while another has
//! its turn under load.

use std::cell::{OnceCell, RefCell};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use load::{
    CpuReader, Glance, Halt, LoadError, Nanos, Order, Place, Recording, Turn, Turns, press_in_turns,
};
use machine::Series;
use machine::monitor::reading_grows;

use crate::figure::readings;
use crate::record::{InTurns, TrialRecord};

/// A round in which all subjects live at once. Only one of them at a time is started, checked or stopped, and only one
/// at a time is under load.
#[derive(Debug)]
pub struct Round {
    turns: Turns,
    length: Duration,
    /// Two sides are one and the same server, such as two of its paths.
    has_one_server_twice: bool,
    quiet: Mutex<()>,
}

impl Round {
    /// So many sides, of which `first` has the first turn; a turn lasts so long.
    #[must_use]
    pub fn new(sides: usize, first: usize, length: Duration) -> Round {
        Round {
            turns: Turns::new(sides, first, length),
            length,
            has_one_server_twice: false,
            quiet: Mutex::new(()),
        }
    }

    /// Says that two sides may be one and the same server: it works in the turns of both.
    #[must_use]
    pub fn with_one_server_twice(self, has_one_server_twice: bool) -> Round {
        Round { has_one_server_twice, ..self }
    }

    /// The place of one side, which is to be taken once.
    #[must_use]
    pub fn place(&self, side: usize) -> Place<'_> {
        self.turns.place(side)
    }
}

/// A trial's part in a round: its place among the sides. A place that is dropped is given up, so that the others do not
/// wait for it.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub round: &'a Round,
    pub place: &'a Place<'a>,
}

impl<'a> Part<'a> {
    /// The trial's thread takes its part in the round. Until the load, and after it, no other trial of the round does
    /// anything.
    pub(super) fn attend(self) -> Attendance<'a> {
        let Part { round, place } = self;
        let attendance =
            Attendance { round, place, quiet: RefCell::default(), own_time: OnceCell::new() };
        attendance.be_alone();
        attendance
    }
}

#[derive(Debug)]
pub(super) struct Attendance<'a> {
    round: &'a Round,
    place: &'a Place<'a>,
    quiet: RefCell<Option<MutexGuard<'a, ()>>>,
    own_time: OnceCell<OwnTime>,
}

impl Attendance<'_> {
    fn be_alone(&self) {
        let quiet = self.round.quiet.lock().unwrap_or_else(PoisonError::into_inner);
        *self.quiet.borrow_mut() = Some(quiet);
    }

    pub(super) fn read_cpu(&self, cpu: CpuReader) {
        self.place.read_cpu(cpu);
    }

    /// Applies the load in turns with the other sides; `began` is the trial's zero. Returns when all sides are done.
    pub(super) fn press(
        &self,
        order: &Order,
        began: Instant,
        halt: &Halt,
        watch: &mut dyn FnMut(&Glance<'_>),
    ) -> Result<Recording, LoadError> {
        self.quiet.borrow_mut().take();
        let recording = press_in_turns(order, self.place, halt, watch);
        self.place.wait_for_the_others();
        self.be_alone();
        let others = self.place.turns_of_the_others();
        let own_time = OwnTime::new(&self.place.turns(), &others, monotonic_ns(began));
        let works_for_others = self.round.has_one_server_twice;
        let own_time = OwnTime { works_for_others, ..own_time };
        let _ = self.own_time.set(own_time);
        recording
    }

    /// The time in which this side had its turns, once it had them.
    pub(super) fn own_time(&self) -> Option<&OwnTime> {
        self.own_time.get()
    }

    /// When the first turn began, and what the turns were; none if there was none.
    pub(super) fn in_turns(&self) -> Option<(Nanos, InTurns)> {
        self.own_time()?.summary(self.round.length)
    }
}

/// This instant on the machine's monotonic clock, which `Instant` has, too.
fn monotonic_ns(instant: Instant) -> u64 {
    load::monotonic_ns().saturating_sub(instant.elapsed().as_nanos() as u64)
}

/// A side's turns on the trial's clock.
#[derive(Debug)]
pub(super) struct OwnTime {
    turns: Vec<Turn>,
    /// The CPU time that the server of each other side had used when its turns began and ended.
    others: Vec<Vec<(Nanos, f64)>>,
    /// The server of this side is that of another, too.
    works_for_others: bool,
}

impl OwnTime {
    fn new(turns: &[Turn], others: &[Vec<Turn>], zero: u64) -> OwnTime {
        let since = |at: u64| at.saturating_sub(zero);
        let turn = |turn: &Turn| Turn { from: since(turn.from), until: since(turn.until), ..*turn };
        let used = |turn: &Turn| {
            let (begin, end) = turn.cpu?;
            Some([(since(turn.from), begin as f64), (since(turn.until), end as f64)])
        };
        let other = |turns: &Vec<Turn>| turns.iter().filter_map(used).flatten().collect();
        OwnTime {
            turns: turns.iter().map(turn).collect(),
            others: others.iter().map(other).collect(),
            works_for_others: false,
        }
    }

    /// The times between two turns.
    fn gaps(&self) -> impl Iterator<Item = (&Turn, &Turn)> {
        self.turns.windows(2).map(|pair| (&pair[0], &pair[1]))
    }

    fn summary(&self, length: Duration) -> Option<(Nanos, InTurns)> {
        let first = self.turns.first()?;
        let own = self.turns.iter().map(|turn| Some(turn.cpu?.1.saturating_sub(turn.cpu?.0)));
        let others = self.gaps().map(|(one, next)| Some(next.cpu?.0.saturating_sub(one.cpu?.1)));
        let in_turns = InTurns {
            length: length.as_nanos() as Nanos,
            waited: self.turns.iter().map(|turn| turn.waited).sum(),
            looked_away: None,
            turns: self.turns.len() as u64,
            own: self.turns.iter().map(|turn| turn.until.saturating_sub(turn.from)).sum(),
            others: self.gaps().map(|(one, next)| next.from.saturating_sub(one.until)).sum(),
            cpu_own: own.sum(),
            cpu_others: others.sum::<Option<Nanos>>().filter(|_| !self.works_for_others),
        };
        Some((first.from, in_turns))
    }

    /// What this instant is on a clock that stands still between two turns; none between two turns.
    fn at(&self, instant: Nanos) -> Option<Nanos> {
        let mut stood_still = 0;
        for (one, next) in self.gaps() {
            if instant <= one.until {
                break;
            }
            if instant < next.from {
                return None;
            }
            stood_still += next.from - one.until;
        }
        Some(instant - stood_still)
    }

    /// Leaves of a trial's readings what belongs to the side's own turns, on its own clock.
    pub(super) fn settle(&self, record: &mut TrialRecord) {
        if let Some(in_turns) = record.loaded.as_mut().and_then(|loaded| loaded.in_turns.as_mut()) {
            in_turns.looked_away = self.looked_away(&record.series);
        }
        self.keep_alone(&mut record.series);
    }

    /// How much of its turns, at most, lay between two readings beyond the usual time between two. All monitors read
    /// at the same times.
    fn looked_away(&self, series: &[Series]) -> Option<Nanos> {
        let (first, last) = (self.turns.first()?, self.turns.last()?);
        let points = &series.iter().max_by_key(|series| series.points.len())?.points;
        let looks: Vec<Nanos> = points.iter().map(|(at, _)| *at).collect();
        let gaps = looks.windows(2).map(|pair| (pair[0], pair[1]));
        let gaps: Vec<(Nanos, Nanos)> =
            gaps.filter(|(from, until)| first.from < *until && *from < last.until).collect();
        let mut lengths: Vec<Nanos> = gaps.iter().map(|(from, until)| until - from).collect();
        lengths.sort_unstable();
        let usual = *lengths.get(lengths.len() / 2)?;
        let beyond = |&(from, until): &(Nanos, Nanos)| {
            let own = |turn: &Turn| turn.until.min(until).saturating_sub(turn.from.max(from));
            let own: Nanos = self.turns.iter().map(own).sum();
            own.min((until - from).saturating_sub(usual))
        };
        gaps.iter().map(beyond).max()
    }

    /// What a total of the machine's grew by in the turns of the others is taken off. A total of the subject's is its
    /// own, whenever it grew; where it can be, its CPU time is that which was read when the turns began and ended.
    fn keep_alone(&self, series: &mut [Series]) {
        for series in series {
            if series.name == "machine.cpu.other" && !self.works_for_others {
                self.leave_out_the_others(&mut series.points);
            }
            let exact = (series.name == "subject.cpu.total").then(|| self.cpu_points()).flatten();
            let is_own = series.name.starts_with("subject.") && !self.works_for_others;
            let is_shared = !is_own && reading_grows(&series.name);
            let grown = |at: Nanos| match is_shared {
                true => self.grown_in_gaps(&series.points, at),
                false => 0.0,
            };
            let own = |&(at, value): &(Nanos, f64)| Some((self.at(at)?, value - grown(at)));
            let points: Vec<(Nanos, f64)> = match &exact {
                None => series.points.iter().filter_map(own).collect(),
                Some(exact) => exact.clone(),
            };
            series.points = points;
        }
    }

    /// The servers of the other sides are no programs that disturb the race.
    fn leave_out_the_others(&self, points: &mut [(Nanos, f64)]) {
        for (at, value) in points {
            *value -= self.others.iter().filter_map(|used| value_at(used, *at)).sum::<f64>();
        }
    }

    /// The CPU time that the side's own turns used, as it was read when they began and ended.
    fn cpu_points(&self) -> Option<Vec<(Nanos, f64)>> {
        let mut used = self.turns.first()?.cpu?.0 as f64;
        let mut points = Vec::new();
        for turn in &self.turns {
            let (from, until) = turn.cpu?;
            points.push((self.at(turn.from)?, used));
            used += until.saturating_sub(from) as f64;
            points.push((self.at(turn.until)?, used));
        }
        Some(points)
    }

    /// How much a total grew in the turns of the others, up to this instant.
    fn grown_in_gaps(&self, points: &[(Nanos, f64)], at: Nanos) -> f64 {
        let before = self.gaps().take_while(|(one, _)| one.until < at);
        let grown = before.map(|(one, next)| {
            let until = next.from.min(at);
            Some(value_at(points, until)? - value_at(points, one.until)?)
        });
        grown.flatten().sum()
    }
}

/// The value at an instant, on the line between the readings on both sides; at the ends, the outermost reading.
fn value_at(points: &[(Nanos, f64)], when: Nanos) -> Option<f64> {
    readings::at(points, when).or(points.last().map(|(_, value)| *value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns from 100 to 200 and from 500 to 600 of the trial's clock, which began at 1,000.
    fn own_time() -> OwnTime {
        let turn = |from, until, cpu| Turn { from, until, waited: 5, cpu: Some(cpu) };
        let own = [turn(1_100, 1_200, (10, 40)), turn(1_500, 1_600, (45, 95))];
        OwnTime::new(&own, &[vec![turn(1_200, 1_500, (0, 300))]], 1_000)
    }

    #[test]
    fn a_clock_of_its_own_stands_still_between_two_turns() {
        let own = own_time();
        let read = [0, 100, 200, 201, 499, 500, 600, 700].map(|at| own.at(at));
        let some = [Some(0), Some(100), Some(200), None, None, Some(200), Some(300), Some(400)];
        assert_eq!(read, some);
    }

    #[test]
    fn the_turns_are_summed_up() {
        let (began, sum) = own_time().summary(Duration::from_nanos(90)).unwrap();
        let expected = InTurns {
            length: 90,
            waited: 10,
            looked_away: None,
            turns: 2,
            own: 200,
            others: 300,
            cpu_own: Some(80),
            cpu_others: Some(5),
        };
        assert_eq!((began, sum), (100, expected));
        let mut own = own_time();
        own.turns[1].cpu = None;
        let (_, sum) = own.summary(Duration::ZERO).unwrap();
        assert_eq!((sum.cpu_own, sum.cpu_others), (None, None), "a part is not the whole");
        assert!(OwnTime::new(&[], &[], 0).summary(Duration::ZERO).is_none());
    }

    fn alone(name: &str, points: &[(Nanos, f64)]) -> Vec<(Nanos, f64)> {
        let unit = String::new();
        let mut series = [Series { name: name.into(), unit, points: points.to_vec() }];
        own_time().keep_alone(&mut series);
        series[0].points.clone()
    }

    #[test]
    fn what_was_read_in_the_turns_of_the_others_is_left_out_and_taken_off() {
        for (name, read, expected) in [
            (
                "subject.memory.rss",
                &[(50, 1.0), (150, 2.0), (300, 9.0), (550, 3.0), (700, 4.0)][..],
                [(50, 1.0), (150, 2.0), (250, 3.0), (400, 4.0)],
            ),
            // It grows by one for each nanosecond, in all turns alike: 300 of them are not its own.
            (
                "machine.cpu.busy",
                &[(0, 0.0), (150, 150.0), (300, 300.0), (550, 550.0), (700, 700.0)],
                [(0, 0.0), (150, 150.0), (250, 250.0), (400, 400.0)],
            ),
            // It grows in the side's own turns alone, so nothing of it is another's.
            (
                "subject.switches.voluntary",
                &[(0, 0.0), (150, 50.0), (450, 100.0), (550, 150.0), (650, 200.0)],
                [(0, 0.0), (150, 50.0), (250, 150.0), (350, 200.0)],
            ),
            // It was read at the borders of the turns.
            (
                "subject.cpu.total",
                &[(0, 0.0), (700, 1_000.0)],
                [(100, 10.0), (200, 40.0), (200, 40.0), (300, 90.0)],
            ),
        ] {
            assert_eq!(alone(name, read), expected, "{name}");
        }
        // Other programs used 100 ns while the other side's server used 300: the reading counts both.
        let read = [(0, 0.0), (200, 0.0), (400, 300.0), (500, 400.0), (600, 400.0)];
        let other = alone("machine.cpu.other", &read);
        assert!((other.last().unwrap().1 - other[0].1).abs() < 1e-9, "{other:?}");
    }

    /// The monitor reads every 60 ns; the turns are from 100 to 200 and from 500 to 600.
    #[test]
    fn only_a_gap_between_readings_within_its_own_turns_counts() {
        let away = |looks: &[Nanos]| {
            let points = looks.iter().map(|&at| (at, 0.0)).collect();
            own_time().looked_away(&[Series { name: "x".into(), unit: String::new(), points }])
        };
        let all: Vec<Nanos> = (0..12).map(|n| n * 60).collect();
        let without = |left_out: &[Nanos]| {
            let kept = all.iter().copied().filter(|at| !left_out.contains(at));
            away(&kept.collect::<Vec<_>>())
        };
        assert_eq!(away(&all), Some(0));
        assert_eq!(without(&[300, 360]), Some(0), "the others had their turns");
        assert_eq!(without(&[120]), Some(60), "from 60 to 180, of which 80 were its own");
        assert_eq!(without(&[180, 240, 300, 360, 420, 480]), Some(120), "120 to 540: 80 and 40");
        assert_eq!(away(&[]), None);
    }
}
