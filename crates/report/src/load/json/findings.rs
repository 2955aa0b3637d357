//! The part of the JSON about schedules, steps and queues.

use analysis::{OnTime, silent_share};
use load::Recording;
use units::seconds;

use crate::json::json_type;

json_type! {
    /// Whether the server kept up.
    pub(super) struct OnTimeJson as "on_time" of found: OnTime {
        /// `on_time` divided by `due`; null if nothing was due
        share: Option<f64> = found.share(),
        /// requests that were answered correctly within `within_s` of when they were due
        on_time: u64,
        /// requests that were due
        due: u64,
        /// the limit
        within_s: f64 = seconds(found.within),
    }
}

json_type! {
    /// Times without a right answer, over all connections, although requests were wanted: longer than 100 ms, than ten
    /// times the mean time between correct answers, than twice the median of service, and than the p99 of service
    /// outside them.
    pub(super) struct SilenceJson as "silence" of recording: Recording;
        let silence = recording.silence;
    {
        /// their sum divided by `measured_s`
        share: f64 = silent_share(recording).unwrap_or(0.0),
        /// how many there were
        times: u64 = silence.times,
        /// the longest one; 0 if there was none
        longest_s: f64 = seconds(silence.longest),
        /// when that began
        longest_from_s: f64 = seconds(silence.from),
    }
}
