//! Everything that was read, by name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use super::catalog;
use crate::Series;

type Nanos = u64;

/// In nanoseconds.
const SECOND: Nanos = 1_000_000_000;

/// What was read at one time.
#[derive(Debug)]
pub(super) struct Tick {
    at: Nanos,
    values: Vec<(Cow<'static, str>, f64)>,
}

impl Tick {
    pub(super) fn at(since_began: Duration) -> Tick {
        let at = u64::try_from(since_began.as_nanos()).unwrap_or(u64::MAX);
        Tick { at, values: Vec::with_capacity(80) }
    }

    /// Adds a reading; of two with the same name the last one counts.
    pub(super) fn put(&mut self, name: impl Into<Cow<'static, str>>, value: f64) {
        self.values.push((name.into(), value));
    }

    /// A reading, if there is one.
    pub(super) fn put_some(&mut self, name: &'static str, value: Option<f64>) {
        self.values.extend(value.map(|value| (name.into(), value)));
    }

    /// What was put under this name.
    pub(super) fn value(&self, name: &str) -> Option<f64> {
        self.values.iter().rev().find(|(other, _)| other == name).map(|(_, value)| *value)
    }
}

/// A series has no more points than this: eight minutes at ten a second. The points of a longer trial are merged two by
/// two, like the load's windows.
const POINTS_MAX: usize = 4_800;
/// The first width of merged points: two periods.
const FIRST_WIDTH: Nanos = SECOND / 5;

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Log {
    series: BTreeMap<Cow<'static, str>, Vec<(Nanos, f64)>>,
    /// Points closer than this are merged; none yet if 0.
    width: Nanos,
}

impl Log {
    pub(super) fn add(&mut self, tick: Tick) {
        let mut is_full = false;
        for (name, value) in tick.values {
            let points = self.series.entry(name).or_default();
            match points.last_mut() {
                Some((at, last)) if *at == tick.at => *last = value,
                Some(last) if is_in_one(self.width, last.0, tick.at) => {
                    *last = merged(*last, (tick.at, value));
                }
                Some(_) | None => points.push((tick.at, value)),
            }
            is_full |= POINTS_MAX < points.len();
        }
        if is_full {
            self.coarsen();
        }
    }

    fn coarsen(&mut self) {
        self.width = (2 * self.width).max(FIRST_WIDTH);
        for points in self.series.values_mut() {
            let mut fewer: Vec<(Nanos, f64)> = Vec::with_capacity(points.len() / 2 + 1);
            for point in points.drain(..) {
                match fewer.last_mut() {
                    Some(last) if is_in_one(self.width, last.0, point.0) => {
                        *last = merged(*last, point);
                    }
                    Some(_) | None => fewer.push(point),
                }
            }
            *points = fewer;
        }
    }

    pub(super) fn latest(&self, name: &str) -> Option<f64> {
        self.series.get(name)?.last().map(|(_, value)| *value)
    }

    /// Over the last second, or as much more as there is between two readings.
    pub(super) fn per_second(&self, name: &str) -> Option<f64> {
        let points = self.series.get(name)?;
        let (end, last) = points.last()?;
        let is_before = |(at, _): &&(Nanos, f64)| at + SECOND * 19 / 20 <= *end;
        let (begin, first) = points.iter().rev().find(is_before).or(points.first())?;
        (begin < end).then(|| (last - first) * SECOND as f64 / (end - begin) as f64)
    }

    pub(super) fn into_series(self) -> Vec<Series> {
        let series = |(name, points): (Cow<'static, str>, _)| Series {
            unit: catalog::unit(&name).to_string(),
            name: name.into_owned(),
            points,
        };
        self.series.into_iter().map(series).collect()
    }
}

fn is_in_one(width: Nanos, one: Nanos, other: Nanos) -> bool {
    width != 0 && one / width == other / width
}

/// The later time and the larger value: a counter that only grows stays exact, and a value that goes up and down keeps
/// its peaks.
fn merged(earlier: (Nanos, f64), later: (Nanos, f64)) -> (Nanos, f64) {
    (later.0, earlier.1.max(later.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(points: &[(u64, f64)]) -> Log {
        let mut log = Log::default();
        for (ms, value) in points {
            let mut tick = Tick::at(Duration::from_millis(*ms));
            tick.put("subject.cpu.total", *value);
            log.add(tick);
        }
        log
    }

    #[test]
    fn growth_is_that_of_the_last_second() {
        let log = log(&[(0, 0.0), (1_000, 1_000.0), (1_500, 1_200.0), (2_000, 1_500.0)]);
        assert_eq!(log.per_second("subject.cpu.total"), Some(500.0));
        assert_eq!(log.latest("subject.cpu.total"), Some(1_500.0));
    }

    #[test]
    fn the_series_of_a_long_trial_are_coarsened_and_keep_counts_and_peaks() {
        let mut log = Log::default();
        let hours = 3 * 3_600 * 10;
        for look in 0..=hours {
            let mut tick = Tick::at(Duration::from_millis(100 * look));
            tick.put("subject.cpu.total", look as f64);
            tick.put("subject.memory.rss", if look == 777 { 9.0 } else { 1.0 });
            log.add(tick);
        }
        let all = log.into_series();
        for series in &all {
            assert!((1_000..=4_800).contains(&series.points.len()), "{}", series.points.len());
            let gaps = series.points.windows(2).map(|pair| pair[1].0 - pair[0].0);
            assert!(gaps.max() < Some(2 * gaps_usual(series)), "they are evenly spaced");
        }
        let named = |name: &str| all.iter().find(|series| series.name == name).unwrap();
        let counted = &named("subject.cpu.total").points;
        assert_eq!(counted.last(), Some(&(hours * SECOND / 10, hours as f64)));
        assert!(counted.iter().all(|(at, count)| *count == (at / (SECOND / 10)) as f64));
        let peak = named("subject.memory.rss").points.iter().map(|(_, value)| *value);
        assert_eq!(peak.fold(0.0, f64::max), 9.0);
    }

    fn gaps_usual(series: &Series) -> Nanos {
        series.points[2].0 - series.points[1].0
    }

    #[test]
    fn growth_needs_two_readings() {
        assert_eq!(log(&[(0, 3.0)]).per_second("subject.cpu.total"), None);
        assert_eq!(log(&[]).per_second("subject.cpu.total"), None);
        assert_eq!(log(&[(0, 3.0), (200, 4.0)]).per_second("subject.cpu.total"), Some(5.0));
    }

    #[test]
    fn points_stand_in_the_order_of_time_and_know_their_unit() {
        let [series] = &log(&[(0, 3.0), (100, 4.0)]).into_series()[..] else { panic!("one") };
        assert_eq!(series.unit, "ns");
        assert_eq!(series.points, [(0, 3.0), (100_000_000, 4.0)]);
    }
}
