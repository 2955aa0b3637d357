//! The machine, as far as it shapes a measurement.

use crate::record::Fact;

/// All that is known of it.
#[must_use]
pub fn read() -> Vec<Fact> {
    Vec::new()
}
