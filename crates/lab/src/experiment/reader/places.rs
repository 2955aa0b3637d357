//! The places on the axis, and a rate that changes within a trial: a ramp or steps, in the written form of `--rate`.

use super::{Flaw, Key, LoadKeys, Points};
use crate::experiment::check::POINTS_MAX;
use crate::experiment::{Point, Shape};
use crate::schedule::Schedule;
use crate::search_goal::SEARCH;

impl LoadKeys {
    pub(super) fn is_search(&self) -> bool {
        let rate = self.open.as_ref().map(|open| &open.rate);
        matches!(rate, Some(Points::Course(text)) if text == SEARCH)
    }

    /// The ramp or the steps, which begin with the trial and end by themselves.
    pub(super) fn course(&self) -> Result<Option<Schedule>, Flaw> {
        match self.open.as_ref().map(|open| &open.rate) {
            Some(Points::Course(text)) if text != SEARCH => schedule(text).map(Some),
            _ => Ok(None),
        }
    }
}

impl Points {
    /// The places on the axis of such loads.
    pub(super) fn on_axis(&self, shape: &Shape) -> Result<Vec<Point>, Flaw> {
        let values = match self {
            Points::One(value) => vec![*value],
            Points::Course(text) if matches!(shape, Shape::Open { .. }) => {
                vec![schedule(text)?.peak().as_f64()]
            }
            Points::Course(_) => {
                return Key::Points.flaw("only `open.rate` may be a ramp, steps or a search");
            }
            Points::Many(values) => values.clone(),
            Points::Span { from, to, step } if 0.0 < *step && from <= to && to.is_finite() => {
                let steps = ((to - from) / step + 1e-9).floor();
                if POINTS_MAX as f64 <= steps {
                    return Key::Points.flaw(format!("more than {POINTS_MAX} loads"));
                }
                (0..=steps as usize).map(|step_no| from + step_no as f64 * step).collect()
            }
            Points::Span { .. } => {
                return Key::Points.flaw("`from` must not be above `to`, and `step` above 0");
            }
        };
        values.into_iter().map(|value| Point::of(shape, value)).collect()
    }
}

/// A ramp or steps from their written form.
fn schedule(text: &str) -> Result<Schedule, Flaw> {
    Schedule::parse(text).map_err(|says| Flaw { key: Key::Points, says })
}
