//! Samples of processes whose work is known. This program is also what its tests sample (`work`).
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[allow(dead_code)]
#[path = "../../../load/tests/sockets/again.rs"]
mod again;
mod open_probes;
mod processes;
#[path = "../../../machine/tests/it/runner.rs"]
mod runner;
mod sampled;
mod worker;

fn main() {
    let arguments = std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned());
    let arguments: Vec<String> = arguments.collect();
    let status = match arguments.first().map(String::as_str) {
        Some("work") => worker::work(&arguments[1]),
        Some(_) | None => runner::run(&[sampled::TESTS, processes::TESTS], &arguments),
    };
    std::process::exit(status);
}
