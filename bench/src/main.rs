//! Measures dyno against its peers and against the least a client can do, and prints ratios.
//!
//! Runs alternate (A B A B …), figures are medians, requests are counted at the server. Not a test:
//! it exits with 0 even if a target is missed, and says so.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints by nature: tables on stdout, progress on stderr"
)]

mod args;
mod canned;
mod dyno_json;
mod exchange;
mod floor;
mod floor_h2;
mod floor_open;
#[path = "../../crates/dyno/tests/it/folder.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "of the tests, which use more of it")]
mod folder;
mod generators;
#[path = "../../crates/dyno/tests/it/hosts.rs"]
#[allow(dead_code, clippy::unwrap_used, reason = "of the tests, which use more of it")]
mod hosts;
mod install;
mod load;
mod machine;
mod measure;
mod poller;
mod quantiles;
mod readme;
mod report;
mod rig;
mod rounds;
mod run;
mod sections;
mod server;
mod strace;
mod table;
mod template;
mod usage;

use anyhow::Result;
use args::{Args, Part};
use clap::Parser;

fn main() -> Result<()> {
    let args = Args::parse();
    match args.part {
        Some(Part::Floor { load, fresh }) => floor::main(&load, fresh),
        Some(Part::FloorH2 { load, streams }) => floor_h2::main(&load, streams),
        Some(Part::FloorOpen { load, rate }) => floor_open::main(&load, rate),
        Some(Part::Canned { listen, work }) => canned::main(listen, work),
        Some(Part::Measure(measure)) => measure::main(&measure),
        None => report::main(&args.bench),
    }
}
