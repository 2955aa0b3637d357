//! Tests in which time itself is measured, on machines that are busy.

use std::any::Any;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use rustix::process::setpriority_process;

/// The payload of a panic that no further attempt can mend.
struct Wrong;

/// What such a test starts has a CPU before the other tests have it, where that is permitted.
const NICE: i32 = -10;

/// Repeats such a test, after ever longer pauses. A busy machine may keep any program waiting for longer than the test
/// allows for, but not in each attempt; a bug in dyno's is there in all of them. What has no time in it belongs in
/// `in_each`.
#[track_caller]
pub(crate) fn in_one_of_five(attempt: impl Fn()) {
    // Of this thread, and of all threads and programs that it starts from here on.
    let _ = setpriority_process(None, NICE);
    repeat(attempt);
    let _ = setpriority_process(None, 0);
}

#[track_caller]
fn repeat(attempt: impl Fn()) {
    for seconds in 1..5 {
        match catch_unwind(AssertUnwindSafe(&attempt)) {
            Ok(()) => return,
            Err(panic) if panic.is::<Wrong>() => resume_unwind(panic),
            Err(panic) => note_retry(&first_line(panic.as_ref())),
        }
        std::thread::sleep(Duration::from_secs(seconds));
    }
    attempt();
}

/// What such a panic says first.
fn first_line(panic: &(dyn Any + Send)) -> String {
    let says = panic.downcast_ref::<String>().map(String::as_str);
    let says = says.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
    says.lines().next().unwrap_or_default().chars().take(120).collect()
}

/// Adds a line to the file of retries, which `make test` counts and shows: the name of the test, and why.
fn note_retry(why: &str) {
    let Some(file) = std::env::var_os("DYNO_TEST_RETRIES") else { return };
    let thread = std::thread::current();
    let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
    let opened = OpenOptions::new().create(true).append(true).open(&file);
    opened.and_then(|mut retries| retries.write_all(line.as_bytes())).expect("retries are counted");
}

/// Facts that hold however busy the machine is: if one of them is wrong in any attempt, there is no other attempt.
pub(crate) fn in_each<T>(facts: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(facts)).unwrap_or_else(|_| resume_unwind(Box::new(Wrong)))
}
