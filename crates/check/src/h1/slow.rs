//! Idle connections: whether they last as long as the server says.

use std::time::Duration;

use crate::answer::ReceivedAnswer;
use crate::condition::{Condition, when};
use crate::observation::Observation;

/// What the catalogue asks by name.
pub(crate) const CONDITIONS: &[Condition] = &[
    when("connection_kept", "a connection that is kept", |seen| {
        seen.first().is_some_and(|answer| answer.is_success() && !answer.says_close())
    }),
    when("keep_alive_kept", "open for as long as Keep-Alive says", is_truthful),
];

/// Whether the connection lasted about as long as Keep-Alive announced; a server that announces nothing is not checked.
fn is_truthful(seen: &Observation) -> bool {
    let Some(said) = seen.first().and_then(timeout_s) else { return true };
    let latest = Duration::from_secs(said.saturating_mul(2).saturating_add(5));
    match seen.slow.acted {
        Some(after) => (Duration::from_secs(said.saturating_sub(1))..=latest).contains(&after),
        None => seen.slow.waited < latest,
    }
}

/// `Keep-Alive: timeout=5, max=100`
fn timeout_s(answer: &ReceivedAnswer) -> Option<u64> {
    let text = std::str::from_utf8(answer.field("keep-alive")?).ok()?.to_ascii_lowercase();
    let stated = text.split(',').find_map(|part| part.trim().strip_prefix("timeout="));
    stated?.trim_matches('"').parse().ok()
}

#[cfg(test)]
mod tests;
