//! Everything that was read, by name.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use load::{Nanos, SECOND};

use super::catalog;
use crate::record::Series;

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

    /// A reading; of two with the same name the last one counts.
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

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Board {
    series: BTreeMap<Cow<'static, str>, Vec<(Nanos, f64)>>,
}

impl Board {
    pub(super) fn add(&mut self, tick: Tick) {
        for (name, value) in tick.values {
            let points = self.series.entry(name).or_default();
            match points.last_mut() {
                Some((at, last)) if *at == tick.at => *last = value,
                Some(_) | None => points.push((tick.at, value)),
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn board(points: &[(u64, f64)]) -> Board {
        let mut board = Board::default();
        for (ms, value) in points {
            let mut tick = Tick::at(Duration::from_millis(*ms));
            tick.put("subject.cpu.total", *value);
            board.add(tick);
        }
        board
    }

    #[test]
    fn growth_is_that_of_the_last_second() {
        let board = board(&[(0, 0.0), (1_000, 1_000.0), (1_500, 1_200.0), (2_000, 1_500.0)]);
        assert_eq!(board.per_second("subject.cpu.total"), Some(500.0));
        assert_eq!(board.latest("subject.cpu.total"), Some(1_500.0));
    }

    #[test]
    fn growth_needs_two_readings() {
        assert_eq!(board(&[(0, 3.0)]).per_second("subject.cpu.total"), None);
        assert_eq!(board(&[]).per_second("subject.cpu.total"), None);
        assert_eq!(board(&[(0, 3.0), (200, 4.0)]).per_second("subject.cpu.total"), Some(5.0));
    }

    #[test]
    fn points_stand_in_the_order_of_time_and_know_their_unit() {
        let [series] = &board(&[(0, 3.0), (100, 4.0)]).into_series()[..] else { panic!("one") };
        assert_eq!(series.unit, "ns");
        assert_eq!(series.points, [(0, 3.0), (100_000_000, 4.0)]);
    }
}
