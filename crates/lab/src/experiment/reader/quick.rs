//! What `--quick` shrinks a run to.

use serde::Deserialize;

use super::written::{Connections, Count, SearchTime, SearchWidth, Time, TimeOrNone};
use super::{FileFlaw, Points};
use crate::experiment::check::REPEATS_MAX;
use crate::experiment::{Quick, Shape};

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuickKeys {
    points: Option<Points>,
    repeat: Option<Count<{ REPEATS_MAX as u64 }>>,
    total: Option<Count<{ u64::MAX }>>,
    duration: Option<Time>,
    warmup: Option<TimeOrNone>,
    step: Option<Connections>,
    every: Option<Time>,
    width: Option<SearchWidth>,
    limit: Option<SearchTime>,
}

impl QuickKeys {
    pub(super) fn read(&self, shape: &Shape) -> Result<Quick, FileFlaw> {
        let points = self.points.as_ref().map(|points| points.on_axis(shape)).transpose();
        Ok(Quick {
            points: points.map_err(|flaw| FileFlaw::at("quick.points", flaw.says))?,
            repeat: self.repeat.map(|rounds| rounds.0 as u32),
            total: self.total.map(|total| total.0),
            duration: self.duration.map(|time| time.0),
            warmup: self.warmup.map(|time| time.0),
            step: self.step.map(|step| step.0 as usize),
            every: self.every.map(|time| time.0),
            // As a share of 1.
            width: self.width.map(|percent| percent.0 / 100.0),
            limit: self.limit.map(|time| time.0),
        })
    }
}
