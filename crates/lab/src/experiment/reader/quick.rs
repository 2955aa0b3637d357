//! What `--quick` shrinks a run to.

use serde::Deserialize;
use toml::Spanned;

use super::{CONNECTIONS_MAX, Points, Reader};
use crate::experiment::check::REPEATS_MAX;
use crate::experiment::{Quick, Shape};
use crate::source_file::ConfigError;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuickKeys {
    pub(super) points: Option<Spanned<Points>>,
    pub(super) repeat: Option<Spanned<u64>>,
    pub(super) total: Option<Spanned<u64>>,
    pub(super) duration: Option<Spanned<String>>,
    warmup: Option<Spanned<String>>,
    pub(super) step: Option<Spanned<u64>>,
    pub(super) every: Option<Spanned<String>>,
    pub(super) width: Option<Spanned<String>>,
    pub(super) limit: Option<Spanned<String>>,
}

impl Reader<'_> {
    pub(super) fn quick(&self, keys: &QuickKeys, shape: &Shape) -> Result<Quick, ConfigError> {
        let (width, limit) = self.quick_search(keys)?;
        Ok(Quick {
            points: keys.points.as_ref().map(|points| self.points(points, shape)).transpose()?,
            repeat: match &keys.repeat {
                None => None,
                Some(repeat) => Some(self.upto(repeat, u64::from(REPEATS_MAX))? as u32),
            },
            total: keys.total.as_ref().map(|total| self.positive(total)).transpose()?,
            duration: keys.duration.as_ref().map(|text| self.time(text)).transpose()?,
            warmup: keys.warmup.as_ref().map(|text| self.time_or_none(text)).transpose()?,
            step: match &keys.step {
                None => None,
                Some(step) => Some(self.upto(step, CONNECTIONS_MAX)? as usize),
            },
            every: keys.every.as_ref().map(|text| self.time(text)).transpose()?,
            width,
            limit,
        })
    }
}
