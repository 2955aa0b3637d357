//! The oracle alone: `serve [ADDRESS] [THREADS] [CPU]`, until its standard input ends.

#![allow(clippy::print_stdout)]

use std::io::Read;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let listen = oracle::Listen::Tcp(arguments.next().as_deref().unwrap_or("127.0.0.1:0").parse()?);
    let threads = arguments.next().as_deref().unwrap_or("1").parse()?;
    let cpus = arguments.next().map(|cpu| cpu.parse()).transpose()?.into_iter().collect();
    let oracle =
        oracle::Oracle::start(oracle::Config { listen, threads, cpus, ..Default::default() })?;
    println!("http://{}/hello", oracle.address());
    std::io::stdin().read_to_end(&mut Vec::new())?;
    println!("{}", oracle.stop());
    Ok(())
}
