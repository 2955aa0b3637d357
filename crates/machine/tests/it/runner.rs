//! Runs tests without libtest, which would write to the standard output of a warden that this program becomes.

use std::panic::catch_unwind;
use std::time::Instant;

pub(crate) type Test = (&'static str, fn());

/// Runs those that the arguments name, or all; the exit code.
pub(crate) fn run(tests: &[&[Test]], arguments: &[String]) -> i32 {
    let words: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    let is_chosen = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(*word));
    let mut failed = 0;
    for (name, test) in tests.concat().into_iter().filter(|(name, _)| is_chosen(name)) {
        let began = Instant::now();
        let passed = catch_unwind(test).is_ok();
        let says = if passed { "ok" } else { "FAILED" };
        println!("test {name} ... {says} ({:.2} s)", began.elapsed().as_secs_f64());
        failed += i32::from(!passed);
    }
    println!("{failed} failed");
    failed.min(1)
}

/// The tests of a module, by their names.
#[macro_export]
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(crate) const TESTS: &[(&str, fn())] =
            &[$((concat!(module_path!(), "::", stringify!($name)), $name)),*];
    };
}
