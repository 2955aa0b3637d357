//! The monitors' readings over the measured time.

use load::Nanos;

use crate::record::{Series, TrialRecord};

/// The measured time on the trial's clock. For held connections, the whole time in which they were held.
#[must_use]
pub fn measured(trial: &TrialRecord) -> Option<(Nanos, Nanos)> {
    let (from, until) = match (&trial.loaded, &trial.held) {
        (Some(loaded), _) => {
            let recording = &loaded.recording;
            (loaded.began + recording.measured_from, loaded.began + recording.measured_until)
        }
        (None, Some(held)) => (held.began, held.began + held.holding.closed_at),
        (None, None) => return None,
    };
    (from < until).then_some((from, until))
}

/// When the load began, on the trial's clock.
fn began(trial: &TrialRecord) -> Option<Nanos> {
    let loaded = trial.loaded.as_ref().map(|loaded| loaded.began);
    loaded.or(trial.held.as_ref().map(|held| held.began))
}

#[must_use]
pub fn series<'t>(trial: &'t TrialRecord, name: &str) -> Option<&'t Series> {
    trial.series.iter().find(|series| series.name == name && !series.points.is_empty())
}

/// The rate at which a growing counter grew over the measured time, in nanoseconds a second. None if the readings cover
/// less than half of it.
#[must_use]
pub fn growth_ns_per_s(trial: &TrialRecord, name: &str) -> Option<f64> {
    growth_ns_per_s_in(trial, name, measured(trial)?)
}

fn growth_ns_per_s_in(trial: &TrialRecord, name: &str, span: (Nanos, Nanos)) -> Option<f64> {
    let unit_ns = match series(trial, name)?.unit.as_str() {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    growth_per_s_in(trial, name, span).map(|grown| grown * unit_ns)
}

/// The rate at which it grew between two instants, in its own unit a second. None if the readings cover less than half
/// of the time.
#[must_use]
pub fn growth_per_s_in(
    trial: &TrialRecord,
    name: &str,
    (from, until): (Nanos, Nanos),
) -> Option<f64> {
    let series = series(trial, name)?;
    let (first, last) = (series.points.first()?.0, series.points.last()?.0);
    let (begin, end) = (from.max(first), until.min(last));
    if end <= begin || (end - begin) * 2 < until - from {
        return None;
    }
    let grown = at(&series.points, end)? - at(&series.points, begin)?;
    let seconds = (end - begin) as f64 / load::SECOND as f64;
    (0.0 <= grown).then_some(grown / seconds)
}

/// CPU time of the subject's processes, user and system: nanoseconds a second.
#[must_use]
pub fn cpu_ns_per_s(trial: &TrialRecord) -> Option<f64> {
    cpu_ns_per_s_in(trial, measured(trial)?)
}

/// CPU time of the subject's processes between two instants: nanoseconds a second.
#[must_use]
pub fn cpu_ns_per_s_in(trial: &TrialRecord, span: (Nanos, Nanos)) -> Option<f64> {
    // By the cgroup where there is one: it is exact, and includes processes that have ended.
    growth_ns_per_s_in(trial, "subject.cpu.total", span).or_else(|| {
        let user = growth_ns_per_s_in(trial, "subject.cpu.user", span)?;
        let system = growth_ns_per_s_in(trial, "subject.cpu.system", span)?;
        Some(user + system)
    })
}

/// The longest time under load in which no monitor read anything, minus the usual time between two readings.
#[must_use]
pub fn longest_gap(trial: &TrialRecord) -> Option<Nanos> {
    let (_, until) = measured(trial)?;
    let began = began(trial)?;
    // All monitors read at the same times: the one with the most readings is used.
    let series = trial.series.iter().max_by_key(|series| series.points.len())?;
    let looks: Vec<Nanos> =
        series.points.iter().map(|(at, _)| *at).filter(|at| (began..=until).contains(at)).collect();
    let mut gaps: Vec<Nanos> =
        looks.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    gaps.sort_unstable();
    let (usual, longest) = (*gaps.get(gaps.len() / 2)?, *gaps.last()?);
    Some(longest.saturating_sub(usual))
}

/// The largest reading up to the end of the measured time.
#[must_use]
pub fn peak(trial: &TrialRecord, name: &str) -> Option<f64> {
    let (_, until) = measured(trial)?;
    let points = &series(trial, name)?.points;
    let upto = points.iter().filter(|(at, _)| *at <= until).map(|(_, value)| *value);
    upto.filter(|value| value.is_finite()).max_by(f64::total_cmp)
}

/// How much a growing counter grew from the start of the load, its opening and warm-up included, to its end.
#[must_use]
pub fn counted(trial: &TrialRecord, name: &str) -> Option<u64> {
    let (_, until) = measured(trial)?;
    let began = began(trial)?;
    let points = &series(trial, name)?.points;
    // Nothing is known between two readings: so the last one before, and the first one after.
    let first = points.iter().rev().find(|(at, _)| *at <= began).or(points.first())?;
    let last = points.iter().find(|(at, _)| until <= *at).or(points.last())?;
    Some((last.1 - first.1).max(0.0) as u64)
}

/// The readings from the start of the load to its end.
#[must_use]
pub fn under_load<'t>(
    trial: &'t TrialRecord,
    name: &str,
) -> Option<impl Iterator<Item = f64> + 't> {
    let (_, until) = measured(trial)?;
    let began = began(trial)?;
    let inside = series(trial, name)?.points.iter();
    let inside = inside.filter(move |(at, _)| began <= *at && *at <= until);
    Some(inside.map(|(_, value)| *value).filter(|value| value.is_finite()))
}

/// The readings from one instant until before another; none if there are none.
#[must_use]
pub fn inside(trial: &TrialRecord, name: &str, (from, until): (Nanos, Nanos)) -> Option<Vec<f64>> {
    let points = series(trial, name)?.points.iter();
    let inside = points.filter(|(at, value)| from <= *at && *at < until && value.is_finite());
    let inside: Vec<f64> = inside.map(|(_, value)| *value).collect();
    (!inside.is_empty()).then_some(inside)
}

/// The last reading minus the first, over the whole trial.
#[must_use]
pub fn change(trial: &TrialRecord, name: &str) -> Option<f64> {
    let points = &series(trial, name)?.points;
    let change = points.last()?.1 - points.first()?.1;
    change.is_finite().then_some(change)
}

/// The value at an instant, interpolated linearly between the readings on both sides.
#[must_use]
pub fn at(points: &[(Nanos, f64)], when: Nanos) -> Option<f64> {
    let after = points.partition_point(|(at, _)| *at < when);
    let next = points.get(after)?;
    match after.checked_sub(1).and_then(|before| points.get(before)) {
        Some(last) if when < next.0 => {
            let share = (when - last.0) as f64 / (next.0 - last.0) as f64;
            Some(last.1 + (next.1 - last.1) * share)
        }
        Some(_) | None => Some(next.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::{Recording, SECOND, Tally};

    use crate::experiment::Point;
    use crate::record::{LoadRecord, TrialKey};

    /// A trial with a series of readings. It is loaded from second 1 on, and measured from second 2 to second 12.
    fn trial(name: &str, unit: &str, points: &[(Nanos, f64)]) -> TrialRecord {
        let (subject, workload) = ("a".into(), "hello".into());
        let key = TrialKey { number: 0, subject, workload, point: Point::Requests(1.0), repeat: 0 };
        let recording = Recording::new(Tally::new(SECOND), SECOND..11 * SECOND, SECOND);
        let loaded = LoadRecord { began: SECOND, in_turns: None, agents: Vec::new(), recording };
        let series = vec![made(name, unit, points)];
        TrialRecord { loaded: Some(loaded), series, ..TrialRecord::new(key, 0) }
    }

    fn made(name: &str, unit: &str, points: &[(Nanos, f64)]) -> Series {
        Series { name: name.into(), unit: unit.into(), points: points.to_vec() }
    }

    #[test]
    fn a_value_between_two_readings_lies_on_the_line_between_them() {
        let points = [(10, 100.0), (20, 200.0), (40, 200.0)];
        let values = [10, 15, 20, 30, 40].map(|when| at(&points, when));
        assert_eq!(values, [100.0, 150.0, 200.0, 200.0, 200.0].map(Some));
        assert_eq!(at(&points, 41), None);
    }

    #[test]
    fn growth_is_that_of_the_measured_time_alone() {
        // Two CPU seconds were used before it, five within.
        let points = [(0, 0.0), (2 * SECOND, 2e9), (12 * SECOND, 7e9), (13 * SECOND, 9e9)];
        assert_eq!(cpu_ns_per_s(&trial("subject.cpu.total", "ns", &points)), Some(5e8));
        let short = trial("subject.cpu.total", "ns", &points[..2]);
        assert_eq!(cpu_ns_per_s(&short), None, "it covers nothing of it");
    }

    #[test]
    fn user_and_system_add_up_and_units_are_heeded() {
        let points = [(0, 0.0), (20 * SECOND, 20.0)];
        let mut trial = trial("subject.cpu.user", "s", &points);
        trial.series.push(made("subject.cpu.system", "s", &points));
        assert_eq!(cpu_ns_per_s(&trial), Some(2e9));
        trial.series[0].unit = "apples".into();
        assert_eq!(cpu_ns_per_s(&trial), None);
    }

    #[test]
    fn a_count_is_that_of_the_whole_load_and_no_more() {
        let points =
            [(0, 3.0), (SECOND, 4.0), (2 * SECOND, 9.0), (13 * SECOND, 10.0), (14 * SECOND, 50.0)];
        let trial = trial("kernel.tcp.listen_overflows", "count", &points);
        assert_eq!(counted(&trial, "kernel.tcp.listen_overflows"), Some(6));
        assert_eq!(counted(&trial, "kernel.tcp.syn_retransmitted"), None);
    }

    #[test]
    fn what_is_read_under_load_is_neither_from_before_nor_from_after() {
        let points = [(0, 1.0), (3 * SECOND, 5.0), (5 * SECOND, 4.0), (13 * SECOND, 9.0)];
        let trial = trial("subject.memory.rss", "bytes", &points);
        let read: Vec<f64> = under_load(&trial, "subject.memory.rss").unwrap().collect();
        assert_eq!(read, [5.0, 4.0]);
        assert_eq!(peak(&trial, "subject.memory.rss"), Some(5.0));
        assert_eq!(peak(&trial, "subject.memory.pss"), None);
    }
}
