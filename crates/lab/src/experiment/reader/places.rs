//! The places on the axis, and a rate that changes within a trial: a ramp or steps, in the written form of `--rate`.

use std::time::Duration;

use toml::Spanned;

use super::{CONNECTIONS_MAX, Gaps, LoadKeys, POINTS_MAX, Points, QuickKeys, Reader};
use crate::experiment::{Point, Shape, as_rate};
use crate::schedule::Schedule;
use crate::sought::SEARCH;
use crate::source_file::ConfigError;

/// Steps that last longer are a slip of the pen.
const STEPS_MAX: Duration = Duration::from_secs(24 * 3_600);

impl LoadKeys {
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
                    return Err(self.wrong(places, format!("more than {POINTS_MAX} points")));
                }
                (0..=steps as usize).map(|step_no| from + step_no as f64 * step).collect()
            }
            Points::Span { .. } => {
                return Err(self.wrong(places, "`from` must not be above `to`, and `step` above 0"));
            }
        };
        if values.is_empty() || POINTS_MAX < values.len() {
            return Err(
                self.wrong(places, format!("between 1 and {POINTS_MAX} points can be pressed"))
            );
        }
        values.into_iter().map(|value| self.point(places, shape, value)).collect()
    }

    fn point(&self, at: &Spanned<Points>, shape: &Shape, value: f64) -> Result<Point, ConfigError> {
        let is_rate = as_rate(value).is_some();
        match shape {
            Shape::Closed | Shape::Held(_)
                if value.fract() == 0.0 && (1.0..=CONNECTIONS_MAX as f64).contains(&value) =>
            {
                Ok(match shape {
                    Shape::Held(_) => Point::Held(value as u32),
                    _ => Point::Connections(value as u32),
                })
            }
            Shape::Closed | Shape::Held(_) => {
                Err(self
                    .wrong(at, format!("{value} connections; a whole number from 1 to 1,000,000")))
            }
            Shape::Open { .. } if is_rate => Ok(Point::Requests(value)),
            Shape::Sessions { .. } if is_rate => Ok(Point::Sessions(value)),
            Shape::Open { .. } | Shape::Sessions { .. } => {
                Err(self
                    .wrong(at, format!("{value} is no rate; from 0.001 to 100,000,000 a second")))
            }
        }
    }

    /// The ramp or the steps, which begin with the trial and end by themselves.
    pub(super) fn course(
        &self,
        keys: &LoadKeys,
        quick: &QuickKeys,
    ) -> Result<Option<Schedule>, ConfigError> {
        let Some((at, text)) = keys.course() else { return Ok(None) };
        let schedule = self.schedule(at, text)?;
        if keys.open.as_ref().is_some_and(|open| open.get_ref().arrivals == Some(Gaps::Poisson)) {
            return Err(self.wrong(at, "a ramp and steps are evenly spaced; leave `arrivals` out"));
        }
        if let Some(total) = &keys.total {
            return Err(self.wrong(total, "a ramp and steps end by themselves; leave `total` out"));
        }
        let warmup = keys.warmup.as_ref().map(|text| self.time_or_none(text)).transpose()?;
        if let (Some(at), Some(1..)) = (&keys.warmup, warmup.map(|time| time.as_nanos())) {
            let says = "a ramp and steps are measured from their first request; leave `warmup` out";
            return Err(self.wrong(at, says));
        }
        if let (Schedule::Steps(_), Some(duration)) = (&schedule, &keys.duration) {
            return Err(self.wrong(duration, "steps say how long they last; leave `duration` out"));
        }
        let idle = quick.points.as_ref().map(Spanned::span);
        let idle = idle.or(quick.total.as_ref().map(Spanned::span));
        if let Some(at) = idle {
            let says = "a ramp and steps have no points and no total; leave this out";
            return Err(self.source.wrong(Some(at), says));
        }
        Ok(Some(schedule))
    }

    /// A ramp or steps from their written form.
    fn schedule(&self, at: &Spanned<Points>, text: &str) -> Result<Schedule, ConfigError> {
        let schedule = Schedule::parse(text).map_err(|says| self.wrong(at, says))?;
        match &schedule {
            Schedule::Level(_) => Err(self.wrong(at, "write one rate as a number, without quotes")),
            Schedule::Steps(_) if schedule.length().is_some_and(|length| STEPS_MAX < length) => {
                Err(self.wrong(at, "the steps are longer than a day; 24h is the most"))
            }
            Schedule::Ramp(..) | Schedule::Steps(_) => Ok(schedule),
        }
    }
}
