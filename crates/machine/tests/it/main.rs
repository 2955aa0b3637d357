//! The machine's parts against the real kernel. This program is also what its tests start: the warden of a subject
//! (`warden`), a dyno that is killed (`caller`), the next one (`sweep`), a subject whose use of resources is known (`worker`).
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod conditions;
mod folder;
mod monitor;
mod process;
mod runner;
mod sockets;
mod worker;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let status = match arguments.first().map(String::as_str) {
        Some("warden") => machine::process::warden_main(std::io::stdin(), std::io::stdout()),
        Some("caller") => process::caller(&arguments[1..]),
        Some("sweep") => {
            let _ = machine::process::sweep();
            0
        }
        Some("worker") => worker::work(&arguments[1..]),
        Some(_) | None => {
            let tests = [process::TESTS, conditions::TESTS, sockets::TESTS, monitor::TESTS];
            runner::run(&tests, &arguments)
        }
    };
    std::process::exit(status);
}
