//! Visits to subjects that are really started. This program is also what its tests start: the warden of a subject
//! (`warden`), and a subject that answers (`serve`).
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[allow(dead_code)]
#[path = "../../../machine/tests/it/folder.rs"]
mod folder;
#[path = "../../../machine/tests/it/runner.rs"]
mod runner;
mod visit;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let status = match arguments.first().map(String::as_str) {
        Some("warden") => machine::process::warden_main(std::io::stdin(), std::io::stdout()),
        Some("serve") => visit::serve(&arguments[1..]),
        Some(_) | None => runner::run(&[visit::TESTS], &arguments),
    };
    std::process::exit(status);
}
