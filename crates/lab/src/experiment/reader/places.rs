//! The places on the axis, and a rate that changes within a trial: a ramp or steps, in the written form of `--rate`.

use toml::Spanned;

use super::{LoadKeys, Points, Reader};
use crate::experiment::check::POINTS_MAX;
use crate::experiment::{Point, Shape};
use crate::schedule::Schedule;
use crate::search_goal::SEARCH;
use crate::source_file::ConfigError;

impl LoadKeys {
    /// The places on the axis, as they are written.
    pub(super) fn points(&self) -> Option<&Spanned<Points>> {
        let closed = self.closed.as_ref().map(|keys| &keys.get_ref().connections);
        let open = self.open.as_ref().map(|keys| &keys.get_ref().rate);
        let sessions = self.sessions.as_ref().map(|keys| &keys.get_ref().rate);
        let held = self.held.as_ref().map(|keys| &keys.get_ref().connections);
        closed.or(open).or(sessions).or(held)
    }

    /// The ramp or the steps, as they are written.
    pub(super) fn course(&self) -> Option<(&Spanned<Points>, &str)> {
        let rate = &self.open.as_ref()?.get_ref().rate;
        match rate.get_ref() {
            Points::Course(text) if text == SEARCH => None,
            Points::Course(text) => Some((rate, text)),
            Points::One(_) | Points::Many(_) | Points::Span { .. } => None,
        }
    }
}

impl Reader<'_> {
    pub(super) fn points(
        &self,
        places: &Spanned<Points>,
        shape: &Shape,
    ) -> Result<Vec<Point>, ConfigError> {
        let values = match places.get_ref().clone() {
            Points::One(value) => vec![value],
            Points::Course(text) if matches!(shape, Shape::Open { .. }) => {
                vec![self.schedule(places, &text)?.peak().as_f64()]
            }
            Points::Course(_) => {
                return Err(self.wrong(places, "only `open.rate` may be a ramp, steps or a search"));
            }
            Points::Many(values) => values,
            Points::Span { from, to, step } if 0.0 < step && from <= to && to.is_finite() => {
                let steps = ((to - from) / step + 1e-9).floor();
                if POINTS_MAX as f64 <= steps {
                    return Err(self.wrong(places, format!("more than {POINTS_MAX} loads")));
                }
                (0..=steps as usize).map(|step_no| from + step_no as f64 * step).collect()
            }
            Points::Span { .. } => {
                return Err(self.wrong(places, "`from` must not be above `to`, and `step` above 0"));
            }
        };
        let points = values.into_iter().map(|value| Point::of(shape, value));
        points.collect::<Result<_, _>>().map_err(|flaw| self.wrong(places, flaw.says))
    }

    /// The ramp or the steps, which begin with the trial and end by themselves.
    pub(super) fn course(&self, keys: &LoadKeys) -> Result<Option<Schedule>, ConfigError> {
        keys.course().map(|(at, text)| self.schedule(at, text)).transpose()
    }

    /// Refuses a time beside steps, which have lengths of their own.
    pub(super) fn refuse_length_of_steps(
        &self,
        course: Option<&Schedule>,
        keys: &LoadKeys,
    ) -> Result<(), ConfigError> {
        match (course, &keys.duration) {
            (Some(Schedule::Steps(_)), Some(duration)) => {
                Err(self.wrong(duration, "steps say how long they last; leave `duration` out"))
            }
            _ => Ok(()),
        }
    }

    /// A ramp or steps from their written form.
    fn schedule(&self, at: &Spanned<Points>, text: &str) -> Result<Schedule, ConfigError> {
        Schedule::parse(text).map_err(|says| self.wrong(at, says))
    }
}
