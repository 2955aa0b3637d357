//! What gave way first, in words.

use analysis::{Cause, FirstFailure};
use lab::figure::Unit;
use units::count;

use super::lines::number;

/// `4,000: 17 lost, recv.reset (+2)`.
pub(crate) fn gave_way(found: &FirstFailure) -> String {
    let main = found.causes.first().map_or(String::new(), cause);
    let more = match found.causes.len() {
        0 | 1 => String::new(),
        many => format!(" (+{})", many - 1),
    };
    format!("{}: {main}{more}", count(found.connections as u64))
}

/// A cause in a few words.
pub(crate) fn cause(cause: &Cause) -> String {
    let own = if cause.is_own() { "dyno: " } else { "" };
    let says = match cause {
        Cause::Ended(kind) => kind.meaning().to_string(),
        Cause::Failed(loss, times) => format!("{} failed, {loss}", count(*times)),
        Cause::Lost(loss, times) => format!("{} lost, {loss}", count(*times)),
        Cause::Waiting(times) => format!("{} not opened", count(*times)),
        Cause::Silent(times) => format!("{} silent", count(*times)),
        Cause::Late { p99_ms, .. } => {
            format!("late p99 {}", number(Unit::Milliseconds, *p99_ms))
        }
    };
    format!("{own}{says}")
}
