//! How narrow the figures are to be, which promise is made, and what a subject must meet to be ranked.

use serde::Deserialize;

use super::FileFlaw;
use super::written::{Percent, Time, TimeOrNone, Within};
use crate::experiment::{Pairs, Promised, Required, Until};

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrialKeys {
    pub(super) repeat: Option<u64>,
    pub(super) seed: Option<u64>,
    pub(super) ceiling: Option<bool>,
    /// Subjects are checked unless the file says otherwise.
    pub(super) check: Option<bool>,
    /// The rest between two trials.
    pub(super) pause: Option<TimeOrNone>,
    until: Option<Within>,
    repeat_max: Option<u64>,
    limit: Option<Time>,
    pub(super) slices: Option<Time>,
    pub(super) pairs: Option<Pairs>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PromiseKeys {
    p99: Option<Time>,
    failures: Option<Percent>,
}

impl TrialKeys {
    /// How narrow the intervals are to be. What bounds a number of rounds that is stated is refused.
    pub(super) fn until(&self) -> Result<Option<Until>, FileFlaw> {
        let Some(Within(within)) = self.until else {
            if self.repeat_max.is_none() && self.limit.is_none() {
                return Ok(None);
            }
            let paths = vec!["trials.repeat_max", "trials.limit"];
            let says =
                "it bounds `until`, which is not said; write until = \"±3%\", or leave this out";
            return Err(FileFlaw { paths, says: says.into() });
        };
        let limit = self.limit.map(|time| time.0);
        Ok(Some(Until::with(within, self.repeat, self.repeat_max, limit)))
    }
}

/// A requirement that no check measures cannot be made.
pub(super) fn required(
    required: Option<Required>,
    trials: &TrialKeys,
) -> Result<Option<Required>, FileFlaw> {
    if required == Some(Required::default()) {
        let says =
            "nothing is required; write it like { must_broken = 0, security = 0 }, or leave it out";
        return Err(FileFlaw::at("require", says));
    }
    if trials.check == Some(false) && required.is_some_and(|required| required.needs_check()) {
        let says =
            "`require` asks for what the check finds; leave `check = false` out, or `require`";
        return Err(FileFlaw::at("trials.check", says));
    }
    Ok(required)
}

impl PromiseKeys {
    pub(super) fn promised(&self) -> Promised {
        Promised::of(self.p99.map(|time| time.0), self.failures.map(|percent| percent.0))
    }
}
