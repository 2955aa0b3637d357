//! To come.

use super::Told;

pub(super) fn of(told: &Told<'_>) -> serde_json::Result<String> {
    serde_json::to_string(&told.id)
}
