//! The lab against the real kernel. This program is also what its tests start: the warden of a subject (`warden`), a
//! dyno that is killed (`caller`), a subject whose use of resources is known (`worker`), one that answers (`serve`).
//! Hence it has its own test runner: libtest would write to the warden's standard output.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, missing_docs)]

mod conditions;
mod monitor;
mod process;
mod rig;
mod sockets;
mod visit;
mod worker;

use std::panic::catch_unwind;
use std::time::Instant;

type Test = (&'static str, fn());

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let status = match arguments.first().map(String::as_str) {
        Some("warden") => lab::process::warden_main(std::io::stdin(), std::io::stdout()),
        Some("caller") => process::caller(&arguments[1..]),
        Some("worker") => worker::work(&arguments[1..]),
        Some("serve") => visit::serve(&arguments[1..]),
        Some(_) | None => run(&arguments),
    };
    std::process::exit(status);
}

fn run(arguments: &[String]) -> i32 {
    let tests: Vec<Test> =
        [process::TESTS, conditions::TESTS, sockets::TESTS, monitor::TESTS, visit::TESTS].concat();
    let words: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    // A test that measures, and is slow, runs only when it is named.
    let is_chosen = |name: &str| match words.is_empty() {
        true => !name.contains("costs"),
        false => words.iter().any(|word| name.contains(*word)),
    };
    let mut failed = 0;
    for (name, test) in tests.into_iter().filter(|(name, _)| is_chosen(name)) {
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
