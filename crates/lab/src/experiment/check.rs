//! What holds of every experiment, whoever made it: a file's reader, flags, or the JSON that a run keeps.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::{Experiment, Holds, Order, Pairs, Point, Quick, Shape, Subjects, Until, as_rate};
use crate::amounts::Cpus;
use crate::figure::{Figure, Fold};
use crate::manner::{Manner, STREAMS_MAX};
use crate::schedule::Schedule;
use crate::search_goal::{self, SaidBy};
use crate::subject::{file_name, is_file_name};

/// What is wrong with an experiment, and with which of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    pub key: Key,
    pub says: String,
}

/// A value of an experiment: a file's reader knows the line that says it, and a command its flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Subjects,
    Workload,
    Load,
    Points,
    MaxConnections,
    Total,
    Duration,
    Warmup,
    Protocol,
    Streams,
    Repeat,
    RepeatMax,
    Until,
    Slices,
    Pairs,
    Failures,
    History,
    Order,
    Quick,
    Why,
}

impl Key {
    pub(super) fn flaw<T>(self, says: impl Into<String>) -> Result<T, Flaw> {
        Err(Flaw { key: self, says: says.into() })
    }
}

/// No list of names is longer, nor one of manners: what is made of them all must end.
const NAMES_MAX: usize = 1_000;
const MANNERS_MAX: usize = 200;
const LIMITS_MAX: usize = 100;
const STEP_COUNT_MAX: usize = 10_000;
/// A curve has no more places than this.
pub(super) const POINTS_MAX: usize = 200;
pub(super) const CONNECTIONS_MAX: u64 = 1_000_000;
pub(super) const REPEATS_MAX: u32 = 1_000;
/// Rounds, by default: with three, Student's t gives intervals that reach beyond every value that was measured.
const REPEAT: u32 = 5;
/// Rounds at least, by default, where their number is to be found: with fewer the intervals hold less often than they
/// claim.
const REPEAT_UNTIL: u32 = 6;
/// Rounds at most, by default.
const REPEAT_UNTIL_MAX: u32 = 20;
/// With two rounds, an interval says nothing.
const REPEAT_UNTIL_LEAST: u32 = 3;
/// How narrow an interval can be required to be, as a share to either side.
const WITHIN: RangeInclusive<f64> = 0.1 / 100.0..=0.5;
/// A shorter slice would mostly be waiting, or fall between two readings of the monitors; a longer one is a trial.
const SLICE: RangeInclusive<Duration> = Duration::from_millis(50)..=Duration::from_secs(10);
/// No time of an experiment is longer: a day is the most that is written, and the usual silence is three beats.
const TIME_MAX: Duration = Duration::from_secs(7 * 24 * 3_600);
/// A CPU's number is below this.
const CPUS_MAX: usize = 65_536;
/// Sampled trials of one server and load.
const PROFILES_MAX: u32 = 100;
/// Samples a second: more disturb what they sample.
const HZ: RangeInclusive<u32> = 10..=4_000;
/// Steps that last longer are a slip of the pen.
const STEPS_MAX: Duration = Duration::from_secs(24 * 3_600);

impl Until {
    /// So narrow, with at least so many rounds, or the usual number.
    #[must_use]
    pub fn with(
        within: f64,
        least: Option<u64>,
        most: Option<u64>,
        limit: Option<Duration>,
    ) -> Until {
        let usual = least.map_or(REPEAT_UNTIL, saturating).max(REPEAT_UNTIL_MAX);
        Until { within, repeat_max: most.map_or(usual, saturating), limit }
    }

    /// The number of rounds, the least where it is to be found, unless another is stated.
    #[must_use]
    pub fn rounds(until: Option<&Until>, stated: Option<u64>) -> u32 {
        let usual = if until.is_some() { REPEAT_UNTIL } else { REPEAT };
        stated.map_or(usual, saturating)
    }
}

/// Of a number that is too large for anything, what is refused as such.
fn saturating(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl Experiment {
    /// The experiment, if it can be run.
    pub fn checked(self) -> Result<Experiment, Flaw> {
        if let Subjects::Named(subjects) = &self.subjects {
            names(Key::Subjects, subjects)?;
        }
        names(Key::Workload, &self.workloads)?;
        self.check_columns()?;
        self.check_history()?;
        self.check_order()?;
        self.check_times()?;
        self.check_amounts()?;
        self.check_points()?;
        self.check_course()?;
        self.check_length()?;
        self.check_rounds()?;
        self.check_slices()?;
        self.check_manners()?;
        self.check_why()?;
        match &self.pairs {
            None => {}
            Some(pairs) => check_pairs(pairs, &self.subjects)?,
        }
        Ok(self)
    }

    /// A table with a column twice has one too many, and one with thousands is none.
    fn check_columns(&self) -> Result<(), Flaw> {
        let all = &self.columns[..self.columns.len().min(Figure::COUNT + 1)];
        match repeated(all) {
            Some(column) => {
                Key::Load.flaw(format!("the column `{}` is given twice", column.name()))
            }
            None => Ok(()),
        }
    }

    /// The published figures are those of a file of their folder.
    fn check_history(&self) -> Result<(), Flaw> {
        let Some(name) = &self.history else { return Ok(()) };
        match name.strip_suffix(".csv").is_some_and(is_file_name) {
            true => Ok(()),
            false => Key::History.flaw("name a file in experiments/history/, as in \"name.csv\""),
        }
    }

    /// An answer's CPU time can take the place of a rate or a percentile, and of nothing else.
    fn check_order(&self) -> Result<(), Flaw> {
        match (self.order, self.shape, &self.sought) {
            (Some(Order::Cpu), Shape::Held(_), _) => {
                Key::Order.flaw("held connections are ordered by their memory; leave this out")
            }
            (Some(Order::Cpu), _, Some(_)) => {
                Key::Order.flaw("a search is ordered by the capacities it finds; leave this out")
            }
            _ => Ok(()),
        }
    }

    /// A file's reader and a flag bound each time where it is written; the JSON that is kept may say any.
    fn check_times(&self) -> Result<(), Flaw> {
        let Quick { duration, warmup, every, limit, .. } = self.quick;
        let held = match self.shape {
            Shape::Held(Holds { every, beat, settle, silence, drain, .. }) => {
                [Some(every), beat, Some(settle), Some(silence), Some(drain)]
            }
            Shape::Closed | Shape::Open { .. } | Shape::Sessions { .. } => [None; 5],
        };
        let least = [Some(self.timeout), self.duration, duration, every, held[0], held[1]];
        let limits = [
            self.until.and_then(|until| until.limit),
            self.pairs.as_ref().and_then(|pairs| pairs.limit),
            self.sought.as_ref().map(|sought| sought.limit),
            limit,
        ];
        let others = [Some(self.warmup), Some(self.pause), Some(self.promise.p99), warmup];
        let all = least.into_iter().chain(held).chain(limits).chain(others).flatten();
        if least.contains(&Some(Duration::ZERO)) {
            return Key::Load.flaw("it has a time of 0, where a longer one is needed");
        }
        match all.into_iter().any(|time| TIME_MAX < time) {
            true => Key::Load.flaw("it has a time that is longer than any that can be written"),
            false => Ok(()),
        }
    }

    /// The JSON that is kept may also say any share, any CPU, and any search.
    fn check_amounts(&self) -> Result<(), Flaw> {
        let conditions = &self.conditions;
        let mut cpus = [&conditions.subject_cpus, &conditions.load_cpus].into_iter().flatten();
        if cpus.any(|Cpus(cpus)| cpus.iter().any(|cpu| CPUS_MAX <= *cpu)) {
            return Key::Load.flaw("it names a CPU that no machine has");
        }
        if !(0.0..=100.0).contains(&self.promise.failed_percent) {
            return Key::Failures.flaw("it is a share, from 0 % to 100 %");
        }
        let Some(sought) = &self.sought else { return Ok(()) };
        if LIMITS_MAX < sought.limits.len() {
            return Key::Load.flaw(format!("more than {LIMITS_MAX} percentiles are to be kept"));
        }
        let limits =
            sought.limits.iter().map(|limit| (limit.percent, Duration::from_nanos(limit.within)));
        let flaw = |says| Flaw { key: Key::Load, says };
        search_goal::limits(limits.collect(), self.timeout, SaidBy::File).map_err(flaw)?;
        search_goal::check_range(sought.least, sought.most, SaidBy::File).map_err(flaw)?;
        let has_rates = as_rate(sought.least).is_some()
            && sought.most.is_none_or(|most| as_rate(most).is_some());
        let has_shares =
            (0.0..1.0).contains(&sought.failures) && (0.005..=1.0).contains(&sought.width);
        match has_rates && has_shares && matches!(self.shape, Shape::Open { .. }) {
            true => Ok(()),
            false => Key::Load.flaw("it searches among rates, or to a width, that cannot be"),
        }
    }

    fn check_points(&self) -> Result<(), Flaw> {
        let least = match self.shape {
            Shape::Open { connections, max_connections, .. } if max_connections < connections => {
                return Key::MaxConnections
                    .flaw("the pool's most is less than what it starts with");
            }
            Shape::Open { connections, .. } => connections,
            Shape::Sessions { calls, max_connections } => max_connections.min(calls as usize),
            Shape::Held(holds) => holds.step.min(holds.per_second as usize),
            Shape::Closed => 1,
        };
        if least == 0 {
            return Key::Load.flaw("connections, calls and steps are at least 1");
        }
        let most = match self.shape {
            Shape::Open { max_connections, .. } => max_connections as u64,
            Shape::Sessions { calls, max_connections } => {
                u64::from(calls).max(max_connections as u64)
            }
            Shape::Held(holds) => u64::from(holds.per_second),
            Shape::Closed => 1,
        };
        if CONNECTIONS_MAX < most {
            return Key::Load
                .flaw(format!("{most} connections or calls; at most {CONNECTIONS_MAX}"));
        }
        if self.points.is_empty() || POINTS_MAX < self.points.len() {
            return Key::Points.flaw(format!("write 1 to {POINTS_MAX} loads"));
        }
        for point in &self.points {
            if Point::of(&self.shape, point.value())? != *point {
                return Key::Points.flaw(format!("{point} are no load of this kind"));
            }
        }
        Ok(())
    }

    /// A ramp and steps begin with the trial and end by themselves.
    fn check_course(&self) -> Result<(), Flaw> {
        match &self.course {
            None => return Ok(()),
            Some(Schedule::Steps(steps)) if STEP_COUNT_MAX < steps.len() => {
                return Key::Points.flaw(format!("at most {STEP_COUNT_MAX} steps"));
            }
            Some(Schedule::Steps(steps)) if steps.iter().any(|(_, time)| TIME_MAX < *time) => {
                return Key::Points.flaw("a step is longer than a day; at most 24h");
            }
            Some(Schedule::Level(_)) => {
                return Key::Points.flaw("write one rate as a number, without quotes");
            }
            Some(steps) if steps.length().is_some_and(|length| STEPS_MAX < length) => {
                return Key::Points.flaw("the steps are longer than a day; at most 24h");
            }
            Some(Schedule::Steps(steps)) if steps.is_empty() => {
                return Key::Points.flaw("there is no step");
            }
            Some(Schedule::Ramp(..) | Schedule::Steps(_)) => {}
        }
        match self.shape {
            Shape::Open { poisson: false, .. } => {}
            Shape::Open { poisson: true, .. } => {
                return Key::Points
                    .flaw("a ramp and steps are evenly spaced; leave `arrivals` out");
            }
            Shape::Closed | Shape::Sessions { .. } | Shape::Held(_) => {
                return Key::Points.flaw("only the rate of an open loop has a ramp or steps");
            }
        }
        if self.total.is_some() {
            return Key::Total.flaw("a ramp and steps end by themselves; leave `total` out");
        }
        if !self.warmup.is_zero() && !self.is_quick {
            return Key::Warmup.flaw(
                "a ramp and steps are measured from their first request; leave `warmup` out",
            );
        }
        if self.quick.points.is_some() || self.quick.total.is_some() {
            return Key::Quick
                .flaw("a ramp and steps have no other loads and no total; leave this out");
        }
        Ok(())
    }

    fn check_length(&self) -> Result<(), Flaw> {
        let held =
            "held connections end after their last step; say `every`, not `total` or `duration`";
        if self.total == Some(0) {
            return Key::Total.flaw("it must be at least 1");
        }
        match (self.shape, self.total, self.duration) {
            (Shape::Held(_), Some(_), _) => Key::Total.flaw(held),
            (Shape::Held(_), None, Some(_)) => Key::Duration.flaw(held),
            (Shape::Held(_), None, None) => Ok(()),
            (Shape::Closed | Shape::Open { .. } | Shape::Sessions { .. }, None, None) => {
                Key::Load.flaw("a load that never ends; give it a `total` or a `duration`")
            }
            (Shape::Closed | Shape::Open { .. } | Shape::Sessions { .. }, ..) => Ok(()),
        }
    }

    fn check_rounds(&self) -> Result<(), Flaw> {
        let bounds = |key: Key, rounds: u32| match rounds {
            0 => key.flaw("it must be at least 1"),
            1..=REPEATS_MAX => Ok(()),
            _ => key.flaw(format!("at most {REPEATS_MAX}")),
        };
        bounds(Key::Repeat, self.repeat)?;
        let Some(until) = self.until else { return Ok(()) };
        if !WITHIN.contains(&until.within) {
            return Key::Until.flaw(format!(
                "`±{}%` is not an interval; write it like \"±3%\", from ±0.1% to ±50%",
                until.within * 100.0
            ));
        }
        if self.repeat < REPEAT_UNTIL_LEAST {
            return Key::Repeat
                .flaw("with `until` it is the least number of rounds, and three have an interval");
        }
        bounds(Key::RepeatMax, until.repeat_max)?;
        match until.repeat_max < self.repeat {
            true => {
                Key::RepeatMax.flaw(format!("fewer than the minimum of {} (`repeat`)", self.repeat))
            }
            false => Ok(()),
        }
    }

    /// What is sampled are the loads of a plan, at rates that a figure of CPU time is shown for.
    fn check_why(&self) -> Result<(), Flaw> {
        let Some(why) = self.why else { return Ok(()) };
        if matches!(self.shape, Shape::Held(_)) || self.sought.is_some() {
            return Key::Why.flaw("held connections and searches for a capacity are not sampled");
        }
        // A part of it would be sampled, and its shares taken for those of the whole.
        if self.course.is_some() {
            return Key::Why.flaw("a ramp and steps are not sampled; name one rate");
        }
        if !(1..=PROFILES_MAX).contains(&why.trials) {
            return Key::Why.flaw(format!("from 1 to {PROFILES_MAX} sampled trials"));
        }
        match HZ.contains(&why.hz) {
            true => Ok(()),
            false => Key::Why.flaw("from 10 to 4000 samples a second"),
        }
    }

    fn check_slices(&self) -> Result<(), Flaw> {
        let Some(length) = self.slices else { return Ok(()) };
        if !SLICE.contains(&length) {
            return Key::Slices.flaw("a slice lasts from 50 ms to 10 s");
        }
        if self.course.is_some() {
            return Key::Slices.flaw("a ramp and steps have no slices; leave this out");
        }
        match (self.shape, self.total) {
            (Shape::Closed | Shape::Open { .. }, None) => Ok(()),
            (Shape::Closed | Shape::Open { .. }, Some(_)) => {
                Key::Slices.flaw("a load in slices ends by its `duration`; leave `total` out")
            }
            (Shape::Sessions { .. } | Shape::Held(_), _) => {
                Key::Slices.flaw("sessions and held connections have no slices; leave this out")
            }
        }
    }

    fn check_manners(&self) -> Result<(), Flaw> {
        if self.manners.is_empty() {
            return Key::Protocol.flaw("an empty list; name at least one protocol");
        }
        if MANNERS_MAX < self.manners.len() {
            let many = self.manners.len();
            return Key::Protocol
                .flaw(format!("{many} manners of a request; at most {MANNERS_MAX}"));
        }
        let is_held = matches!(self.shape, Shape::Held(_));
        if is_held && self.manners.iter().any(|manner| manner.protocol.is_http2()) {
            return Key::Protocol
                .flaw("connections are held over HTTP/1.1 only: name http/1.1 or http/1.1+tls");
        }
        for Manner { protocol, streams, resumed } in &self.manners {
            if STREAMS_MAX < streams.get() || !protocol.is_http2() && 1 < streams.get() {
                return Key::Streams.flaw(format!("{streams} streams over {}", protocol.name()));
            }
            if 100 < *resumed {
                return Key::Protocol.flaw(format!("{resumed} of a hundred connections"));
            }
        }
        let is_single = matches!(self.shape, Shape::Sessions { .. }) || !self.keep_alive;
        match is_single && self.manners.iter().any(|manner| 1 < manner.streams.get()) {
            true => Key::Streams.flaw(
                "sessions, and connections that carry one request, have one stream at a time; leave `streams` out",
            ),
            false => Ok(()),
        }
    }
}

impl Point {
    /// A place of the axis of such loads.
    pub(super) fn of(shape: &Shape, value: f64) -> Result<Point, Flaw> {
        let is_count = value.fract() == 0.0 && (1.0..=CONNECTIONS_MAX as f64).contains(&value);
        let is_rate = as_rate(value).is_some();
        match shape {
            Shape::Closed if is_count => Ok(Point::Connections(value as u32)),
            Shape::Held(_) if is_count => Ok(Point::Held(value as u32)),
            Shape::Closed | Shape::Held(_) => {
                Key::Points.flaw(format!("{value} connections; a whole number from 1 to 1,000,000"))
            }
            Shape::Open { .. } if is_rate => Ok(Point::Requests(value)),
            Shape::Sessions { .. } if is_rate => Ok(Point::Sessions(value)),
            Shape::Open { .. } | Shape::Sessions { .. } => Key::Points
                .flaw(format!("{value} is not a rate; from 0.001 to 100,000,000 a second")),
        }
    }
}

/// At least one name, and none twice.
fn names(key: Key, names: &[String]) -> Result<(), Flaw> {
    if NAMES_MAX < names.len() {
        return key.flaw(format!("{} names; at most {NAMES_MAX}", names.len()));
    }
    for name in names {
        file_name(name).map_err(|says| Flaw { key, says })?;
    }
    if names.is_empty() {
        return key.flaw("an empty list; name at least one");
    }
    refuse_twice(key, names)
}

pub(super) fn refuse_twice<T: PartialEq + Display>(key: Key, list: &[T]) -> Result<(), Flaw> {
    match repeated(list) {
        Some(one) => key.flaw(format!("`{one}` is given twice")),
        None => Ok(()),
    }
}

/// The first that stands there a second time.
pub(super) fn repeated<T: PartialEq>(list: &[T]) -> Option<&T> {
    (1..list.len()).find(|&at| list[..at].contains(&list[at])).map(|at| &list[at])
}

fn check_pairs(pairs: &Pairs, subjects: &Subjects) -> Result<(), Flaw> {
    /// More pairs than this no rule looks at.
    const MOST: u32 = 100;
    if !matches!(subjects, Subjects::Named(names) if matches!(names.len(), 2 | 3)) {
        return Key::Subjects
            .flaw("with `pairs` they are a base, a head and perhaps the base once more");
    }
    let shares = [pairs.detect, pairs.level, pairs.missed];
    if shares.into_iter().any(|share| !(0.0 < share && share < 1.0)) {
        return Key::Pairs.flaw("it is a share above 0 and below 1");
    }
    if Figure::COUNT < pairs.figures.len() {
        return Key::Pairs.flaw("it names more figures than there are");
    }
    if pairs.figures.iter().any(|figure| !matches!(figure.fold(), Fold::Factors)) {
        return Key::Pairs.flaw("its values have no ratio; name a rate, a time or a memory");
    }
    if [Some(pairs.most), pairs.builds].into_iter().flatten().any(|number| MOST < number) {
        return Key::Pairs.flaw(format!("at most {MOST}"));
    }
    if [Some(pairs.most), pairs.builds].into_iter().flatten().any(|number| number == 0) {
        return Key::Pairs.flaw("it must be at least 1");
    }
    Ok(())
}
