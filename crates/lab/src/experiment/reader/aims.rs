//! How narrow the figures are to be, which promise is made, and what a subject must meet to be ranked.

use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::{Reader, saturating};
use crate::amounts;
use crate::experiment::{Pairs, Promised, Required, Until};
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
    pub(super) pairs: Option<Spanned<Pairs>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PromiseKeys {
    pub(super) p99: Option<Spanned<String>>,
    pub(super) failures: Option<Spanned<String>>,
}

impl TrialKeys {
    /// Subjects are checked unless the file says otherwise.
    pub(super) fn has_check(&self) -> bool {
        self.check.as_ref().is_none_or(|check| *check.get_ref())
    }
}

impl Reader<'_> {
    /// The rest between two trials.
    pub(super) fn pause(&self, keys: &TrialKeys) -> Result<Duration, ConfigError> {
        keys.pause.as_ref().map_or(Ok(Duration::from_millis(500)), |text| self.time_or_none(text))
    }

    /// Refuses what bounds a number of rounds that is stated.
    pub(super) fn refuse_idle_bounds(&self, keys: &TrialKeys) -> Result<(), ConfigError> {
        let idle = keys.repeat_max.as_ref().map(Spanned::span);
        match idle.or(keys.limit.as_ref().map(Spanned::span)).filter(|_| keys.until.is_none()) {
            None => Ok(()),
            Some(at) => {
                let says = "it bounds `until`, which is not said; write until = \"±3%\", or leave this out";
                Err(self.source.wrong(Some(at), says))
            }
        }
    }

    pub(super) fn until(
        &self,
        text: &Spanned<String>,
        keys: &TrialKeys,
    ) -> Result<Until, ConfigError> {
        let written = text.get_ref();
        let bare = written.strip_prefix('±').or(written.strip_prefix("+-")).unwrap_or(written);
        let percent = bare.strip_suffix('%').and_then(|digits| digits.trim().parse::<f64>().ok());
        let Some(percent) = percent else {
            let says = format!(
                "`{}` is not an interval; write it like \"±3%\", from ±0.1% to ±50%",
                written.escape_debug()
            );
            return Err(self.wrong(text, says));
        };
        let rounds = |key: &Option<Spanned<u64>>| key.as_ref().map(|it| saturating(*it.get_ref()));
        let limit = keys.limit.as_ref().map(|text| self.time(text)).transpose()?;
        Ok(Until::with(percent / 100.0, rounds(&keys.repeat), rounds(&keys.repeat_max), limit))
    }

    /// A requirement that no check measures cannot be made.
    pub(super) fn require(
        &self,
        required: Option<&Spanned<Required>>,
        trials: &TrialKeys,
    ) -> Result<Option<Required>, ConfigError> {
        let Some(spanned) = required else { return Ok(None) };
        let required = *spanned.get_ref();
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
