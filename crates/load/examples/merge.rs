//! What it costs to merge the load of many agents: `cargo run --release -p dyno-load --example merge -- 300`.
//!
//! One agent's share is loaded for real, for ten seconds. Its live windows and its result are then read and merged as if
//! so many agents had sent them, each with its own share, and the CPU time of that is printed.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // a program for its author

use std::time::Duration;

use load::{
    Halt, LiveGatherer, LiveMerger, LiveWindow, Load, Order, Part, Parts, SECOND, Share, Stop,
    Target, press_part,
};
use oracle::{Address, Config, Oracle};
use rustix::thread::ClockId;
use serde_json::Value;
use wire::{Ask, Asks, Expect, Request};

const LASTS: u64 = 10;
/// Requests of each agent, each second.
const RATE: usize = 1_000;

fn cpu_s() -> f64 {
    let spent = rustix::time::clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

fn main() {
    let agents: usize = std::env::args().nth(1).map_or(300, |text| text.parse().unwrap());
    let (order, windows, part) = recorded(agents);

    let before = cpu_s();
    let mut merger = LiveMerger::new(agents);
    let mut shown = 0;
    for window in &windows {
        for agent in 0..agents {
            let window: LiveWindow = serde_json::from_str(window).unwrap();
            merger.add(agent, window, &mut |glance| shown = glance.total.attempted).unwrap();
        }
    }
    let live = cpu_s() - before;

    let written: Vec<String> = (0..agents).map(|agent| with_share(&part, agent)).collect();
    let before = cpu_s();
    let mut parts = Parts::new(&order);
    for part in &written {
        parts.add(serde_json::from_str::<Part>(part).unwrap()).unwrap();
    }
    let recording = parts.into_recording().unwrap();
    let result = cpu_s() - before;

    let seconds = LASTS as f64;
    println!(
        "{agents} agents, {} windows of {:.1} kB and a result of {:.1} kB each; {} requests in all, {shown} seen live",
        windows.len(),
        windows.iter().map(String::len).sum::<usize>() as f64 / windows.len() as f64 / 1e3,
        part.len() as f64 / 1e3,
        recording.total.attempted,
    );
    println!(
        "live windows: {:.1} % of a CPU while the load lasts; the results: {result:.2} s of CPU at the end; together {:.1} %",
        live / seconds * 100.0,
        (live + result) / seconds * 100.0,
    );
}

/// The order for all agents; the live windows of one, and its result, as they are sent.
fn recorded(agents: usize) -> (Order, Vec<String>, String) {
    let oracle = Oracle::start(Config { threads: 1, ..Config::default() }).unwrap();
    let Address::Tcp(address) = oracle.address() else { panic!("it listens on TCP") };
    let asks = Asks::one(Ask::new(&Request::get("oracle", "/hello"), Expect::default()).unwrap());
    let rate = (agents * RATE).to_string().parse().unwrap();
    let load = Load::Open {
        arrivals: load::Arrivals::Poisson(rate),
        connections: agents * 16,
        max_connections: agents * 16,
    };
    let order = Order {
        stop: Stop { total: None, duration: Some(Duration::from_secs(LASTS)) },
        lanes: agents,
        ..Order::new(Target::Tcp(*address), asks, load)
    };
    let own = Order { lanes: 1, share: Some(Share { first: 0, of: agents }), ..order.clone() };
    let mut windows = Vec::new();
    let mut keep = |window: LiveWindow| windows.push(serde_json::to_string(&window).unwrap());
    let mut gatherer = LiveGatherer::new(SECOND / 2);
    let part = press_part(&own, &Halt::default(), &mut |glance| gatherer.add(glance, &mut keep));
    let part = part.unwrap();
    gatherer.finish(&part).into_iter().for_each(keep);
    (order, windows, serde_json::to_string(&part).unwrap())
}

/// The part as if another agent had sent it.
fn with_share(part: &str, agent: usize) -> String {
    let mut part: Value = serde_json::from_str(part).unwrap();
    part["share"]["first"] = agent.into();
    part.to_string()
}
