//! Tests in which time itself is measured, on machines that are busy.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The payload of a panic that no further attempt can mend.
struct Wrong;

/// Repeats such a test. A busy machine may keep any program waiting for longer than the test allows for, but not in each
/// attempt; a fault of dyno's is there in all of them. What has no time in it belongs in `in_each`.
#[track_caller]
pub(crate) fn in_one_of_five(attempt: impl Fn()) {
    for _ in 1..5 {
        match catch_unwind(AssertUnwindSafe(&attempt)) {
            Ok(()) => return,
            Err(panic) if panic.is::<Wrong>() => resume_unwind(panic),
            Err(_) => {}
        }
    }
    attempt();
}

/// Facts that hold however busy the machine is: if one of them is wrong in any attempt, there is no other attempt.
pub(crate) fn in_each<T>(facts: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(facts)).unwrap_or_else(|_| resume_unwind(Box::new(Wrong)))
}
