//! Rounds that are pairs, as `dyno gate` writes them.

use serde::Deserialize;
use toml::Spanned;

use super::{OneOrMany, Reader};
use crate::experiment::Pairs;
use crate::figure::{Figure, Fold};
use crate::source_file::ConfigError;

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairKeys {
    detect: Spanned<f64>,
    level: Spanned<f64>,
    missed: Spanned<f64>,
    figures: Vec<Spanned<String>>,
    most: Spanned<u64>,
    builds: Option<Spanned<u64>>,
    limit: Option<Spanned<String>>,
}

/// More pairs than this no rule looks at.
const MOST: u64 = 100;

impl Reader<'_> {
    pub(super) fn pairs(
        &self,
        keys: &Spanned<PairKeys>,
        subjects: &Spanned<OneOrMany>,
    ) -> Result<Pairs, ConfigError> {
        let are_sides =
            matches!(subjects.get_ref(), OneOrMany::Many(names) if matches!(names.len(), 2 | 3));
        if !are_sides {
            let says = "with `pairs` they are a base, a head and perhaps the base once more";
            return Err(self.wrong(subjects, says));
        }
        let keys = keys.get_ref();
        let share = |number: &Spanned<f64>| match *number.get_ref() {
            share if 0.0 < share && share < 1.0 => Ok(share),
            _ => Err(self.wrong(number, "it is a share above 0 and below 1")),
        };
        Ok(Pairs {
            detect: share(&keys.detect)?,
            level: share(&keys.level)?,
            missed: share(&keys.missed)?,
            figures: keys.figures.iter().map(|name| self.paired(name)).collect::<Result<_, _>>()?,
            most: self.upto(&keys.most, MOST)? as u32,
            builds: match &keys.builds {
                None => None,
                Some(builds) => Some(self.upto(builds, MOST)? as u32),
            },
            limit: keys.limit.as_ref().map(|text| self.time(text)).transpose()?,
        })
    }

    /// A figure that has a ratio.
    fn paired(&self, name: &Spanned<String>) -> Result<Figure, ConfigError> {
        let figure = Figure::named(name.get_ref()).map_err(|says| self.wrong(name, says))?;
        match figure.fold() {
            Fold::Factors => Ok(figure),
            _ => Err(self.wrong(name, "its values have no ratio; name a rate, a time or a memory")),
        }
    }
}
