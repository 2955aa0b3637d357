//! Builds and visits of subjects that are really started. This program is also what its tests start: a warden
//! (`warden`), a subject that answers (`serve`), and a dyno that is killed while it builds (`build`).
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod alone;
mod build;
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
        Some("build") => build::builder(&arguments[1..]),
        Some("serve") => visit::serve(&arguments[1..]),
        Some(_) | None => runner::run(&[visit::TESTS, build::TESTS, alone::TESTS], &arguments),
    };
    std::process::exit(status);
}
