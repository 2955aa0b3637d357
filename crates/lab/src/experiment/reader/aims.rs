//! How narrow the figures are to be, which promise is made, and what a subject must meet to be ranked.

use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::pairs::PairKeys;
use super::{LoadKeys, REPEATS_MAX, Reader};
use crate::amounts;
use crate::experiment::{Promised, Required, Shape, Until};
use crate::source_file::ConfigError;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrialKeys {
    pub(super) repeat: Option<Spanned<u64>>,
    pub(super) seed: Option<u64>,
    pub(super) ceiling: Option<bool>,
    check: Option<Spanned<bool>>,
    pause: Option<Spanned<String>>,
    pub(super) until: Option<Spanned<String>>,
    pub(super) repeat_max: Option<Spanned<u64>>,
    pub(super) limit: Option<Spanned<String>>,
    pub(super) slices: Option<Spanned<String>>,
    pub(super) pairs: Option<Spanned<PairKeys>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PromiseKeys {
    pub(super) p99: Option<Spanned<String>>,
    pub(super) failures: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequireKeys {
    must_broken: Option<u32>,
    should_broken: Option<u32>,
    security: Option<u32>,
    wrong: Option<Spanned<String>>,
}

impl TrialKeys {
    /// Subjects are checked unless the file says otherwise.
    pub(super) fn has_check(&self) -> bool {
        self.check.as_ref().is_none_or(|check| *check.get_ref())
    }

    /// So many rounds, and no rule by which there would be more.
    pub(super) fn fix_rounds(&mut self, repeat: Spanned<u64>) {
        self.repeat = Some(repeat);
        (self.until, self.repeat_max, self.limit) = (None, None, None);
        self.pairs = None;
    }
}

/// Rounds, by default: with three, Student's t gives intervals that reach beyond every value that was measured.
const REPEAT: u32 = 5;
/// Rounds at least, by default, where their number is to be found: with fewer the intervals hold less often than they
/// claim.
const REPEAT_UNTIL: u32 = 6;
/// Rounds at most, by default.
const REPEAT_UNTIL_MAX: u32 = 20;
/// With two rounds, an interval says nothing.
const REPEAT_UNTIL_LEAST: u64 = 3;
/// How narrow an interval can be required to be, in percent to either side.
const WITHIN_PERCENT: std::ops::RangeInclusive<f64> = 0.1..=50.0;

/// A shorter slice would mostly be waiting, or fall between two readings of the monitors; a longer one is a trial.
const SLICE: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(50)..=Duration::from_secs(10);

/// How many rounds, and the rest between two trials.
pub(super) struct Rounds {
    pub(super) repeat: u32,
    pub(super) until: Option<Until>,
    pub(super) pause: Duration,
}

impl Reader<'_> {
    pub(super) fn rounds(&self, keys: &TrialKeys) -> Result<Rounds, ConfigError> {
        let upto = |number| Ok(self.upto(number, REPEATS_MAX)? as u32);
        let until = keys.until.as_ref().map(|text| self.until(text, keys)).transpose()?;
        let usual = if until.is_some() { REPEAT_UNTIL } else { REPEAT };
        if until.is_none() {
            let idle = keys.repeat_max.as_ref().map(Spanned::span);
            if let Some(at) = idle.or(keys.limit.as_ref().map(Spanned::span)) {
                let says = "it bounds `until`, which is not said; write until = \"±3%\", or leave this out";
                return Err(self.source.wrong(Some(at), says));
            }
        }
        let pause = match &keys.pause {
            None => Duration::from_millis(500),
            Some(text) => self.time_or_none(text)?,
        };
        Ok(Rounds { repeat: keys.repeat.as_ref().map_or(Ok(usual), upto)?, until, pause })
    }

    /// How long the load stays with one of the subjects that live at once; none where trials follow one another.
    pub(super) fn slices(
        &self,
        keys: &TrialKeys,
        shape: &Shape,
        load: &LoadKeys,
    ) -> Result<Option<Duration>, ConfigError> {
        let Some(text) = &keys.slices else { return Ok(None) };
        let length = self.time(text)?;
        if !SLICE.contains(&length) {
            return Err(self.wrong(text, "a slice lasts from 50 ms to 10 s"));
        }
        if load.course().is_some() {
            return Err(self.wrong(text, "a ramp and steps have no slices; leave this out"));
        }
        match (shape, load.total.is_some()) {
            (Shape::Closed | Shape::Open { .. }, false) => Ok(Some(length)),
            (Shape::Closed | Shape::Open { .. }, true) => {
                Err(self.wrong(text, "a load in slices ends by its `duration`; leave `total` out"))
            }
            (Shape::Sessions { .. } | Shape::Held(_), _) => {
                Err(self
                    .wrong(text, "sessions and held connections have no slices; leave this out"))
            }
        }
    }

    fn until(&self, text: &Spanned<String>, keys: &TrialKeys) -> Result<Until, ConfigError> {
        let written = text.get_ref();
        let bare = written.strip_prefix('±').or(written.strip_prefix("+-")).unwrap_or(written);
        let percent = bare.strip_suffix('%').and_then(|digits| digits.trim().parse::<f64>().ok());
        let Some(percent) = percent.filter(|percent| WITHIN_PERCENT.contains(percent)) else {
            let says = format!(
                "`{}` is no interval; write it like \"±3%\", from ±0.1% to ±50%",
                written.escape_debug()
            );
            return Err(self.wrong(text, says));
        };
        let least = match &keys.repeat {
            Some(repeat) if *repeat.get_ref() < REPEAT_UNTIL_LEAST => {
                let says =
                    "with `until` it is the least number of rounds, and three have an interval";
                return Err(self.wrong(repeat, says));
            }
            Some(repeat) => self.upto(repeat, REPEATS_MAX)? as u32,
            None => REPEAT_UNTIL,
        };
        let repeat_max = match &keys.repeat_max {
            None => least.max(REPEAT_UNTIL_MAX),
            Some(most) => match self.upto(most, REPEATS_MAX)? as u32 {
                found if found < least => {
                    let says = format!("fewer than the least, which are {least} (`repeat`)");
                    return Err(self.wrong(most, says));
                }
                found => found,
            },
        };
        let limit = keys.limit.as_ref().map(|text| self.time(text)).transpose()?;
        Ok(Until { within: percent / 100.0, repeat_max, limit })
    }

    /// A requirement that no check measures cannot be made.
    pub(super) fn require(
        &self,
        keys: Option<&Spanned<RequireKeys>>,
        trials: &TrialKeys,
    ) -> Result<Option<Required>, ConfigError> {
        let Some(spanned) = keys else { return Ok(None) };
        let keys = spanned.get_ref();
        let most = |most: Option<u32>| most.map(|most| most as usize);
        let required = Required {
            must_broken: most(keys.must_broken),
            should_broken: most(keys.should_broken),
            security: most(keys.security),
            wrong_percent: keys.wrong.as_ref().map(|text| self.percent(text)).transpose()?,
        };
        if required == Required::default() {
            let says = "nothing is required; write it like { must_broken = 0, security = 0 }, or leave it out";
            return Err(self.wrong(spanned, says));
        }
        match &trials.check {
            Some(check) if !check.get_ref() && required.needs_check() => {
                let says = "`require` asks for what the check finds; leave `check = false` out, or `require`";
                Err(self.wrong(check, says))
            }
            Some(_) | None => Ok(Some(required)),
        }
    }

    pub(super) fn promise(&self, keys: &PromiseKeys) -> Result<Promised, ConfigError> {
        let usual = Promised::default();
        Ok(Promised {
            p99: keys.p99.as_ref().map_or(Ok(usual.p99), |text| self.time(text))?,
            failed_percent: keys
                .failures
                .as_ref()
                .map_or(Ok(usual.failed_percent), |text| self.percent(text))?,
            is_stated: keys.p99.is_some(),
        })
    }

    fn percent(&self, text: &Spanned<String>) -> Result<f64, ConfigError> {
        amounts::percent(text.get_ref()).map_err(|says| self.wrong(text, says))
    }
}
