//! Rounds that are pairs.

use serde::Deserialize;
use toml::Spanned;

use super::{Reader, saturating};
use crate::experiment::Pairs;
use crate::figure::Figure;
use crate::source_file::ConfigError;

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairKeys {
    detect: f64,
    level: f64,
    missed: f64,
    figures: Vec<Spanned<String>>,
    most: u64,
    builds: Option<u64>,
    limit: Option<Spanned<String>>,
}

impl Reader<'_> {
    pub(super) fn pairs(&self, keys: &Spanned<PairKeys>) -> Result<Pairs, ConfigError> {
        let PairKeys { detect, level, missed, figures, most, builds, limit } = keys.get_ref();
        let named = |name: &Spanned<String>| {
            Figure::named(name.get_ref()).map_err(|says| self.wrong(name, says))
        };
        Ok(Pairs {
            detect: *detect,
            level: *level,
            missed: *missed,
            figures: figures.iter().map(named).collect::<Result<_, _>>()?,
            most: saturating(*most),
            builds: builds.map(saturating),
            limit: limit.as_ref().map(|text| self.time(text)).transpose()?,
        })
    }
}
