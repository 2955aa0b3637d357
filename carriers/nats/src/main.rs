//! Carries: lines between the agents of dyno and their coordinator over NATS. It knows frames, and nothing of dyno.

mod agent;
mod broker;
mod carrier;
mod contact;
mod coordinator;
mod flags;
mod frame;
mod keys;
mod link;
mod machine;
mod name;
mod pipes;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use flags::Wish;

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned());
    match flags::parse(arguments).and_then(grant) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            carrier::notice(&why);
            ExitCode::from(2)
        }
    }
}

fn grant(wish: Wish) -> Result<(), String> {
    match wish {
        Wish::Help => print(flags::HELP),
        Wish::Version => print(&format!("dyno-nats {}\n", env!("CARGO_PKG_VERSION"))),
        Wish::MakeKey(path) => print_key(&path, &keys::make(&path)?.public_key()),
        Wish::ShowKey(path) => print_key(&path, &keys::read(&path)?.public_key()),
        Wish::Carry(order) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
            let ended = runtime.block_on(carrier::carry(order));
            // Whatever the connection was still about to do.
            runtime.shutdown_background();
            ended
        }
    }
}

/// A line of a list of keys: the name is the file's.
fn print_key(path: &Path, key: &str) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    print(&format!("{name} {key}\n"))
}

fn print(text: &str) -> Result<(), String> {
    io::stdout().write_all(text.as_bytes()).map_err(|error| format!("standard output: {error}"))
}
