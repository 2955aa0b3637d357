//! The instrument on real sockets and clocks, against the oracle.
#![allow(clippy::unwrap_used)] // a test that cannot set itself up may stop there

mod again;
mod hold;
mod press;
mod shares;
mod turns;

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use load::{Arrivals, Load, Order, Recording, Stop, Target};
use oracle::{Address, Config, Oracle};
use rustix::net::{AddressFamily, SocketType};
use wire::{Ask, Asks, BodyRule, Expect, Request, Template};

fn oracle(config: Config) -> Oracle {
    Oracle::start(Config { threads: 1, ..config }).unwrap()
}

fn target(oracle: &Oracle) -> Target {
    match oracle.address() {
        Address::Tcp(address) => Target::Tcp(*address),
        Address::Unix(path) => Target::Unix(path.clone()),
    }
}

fn asks(path: &str, body: BodyRule) -> Asks {
    let expect = Expect { body, ..Expect::default() };
    Asks::one(Ask::new(&Request::get("oracle", path), expect).unwrap())
}

/// Requests whose answers are known, to this server.
fn hello(target: Target, stop: Stop, load: Load) -> Order {
    let body = BodyRule::Exactly(Template::literal("Hello, world!"));
    Order { stop, ..Order::new(target, asks("/hello", body), load) }
}

fn total(requests: u64) -> Stop {
    Stop { total: Some(requests), duration: None }
}

fn lasting(duration: Duration) -> Stop {
    Stop { total: None, duration: Some(duration) }
}

const MINUTE: Duration = Duration::from_secs(60);

fn closed(connections: usize) -> Load {
    Load::Closed { connections }
}

fn open(rate: &str, connections: usize, max_connections: usize) -> Load {
    let arrivals = Arrivals::Constant(rate.parse().unwrap());
    Load::Open { arrivals, connections, max_connections }
}

fn sessions(rate: &str, calls: u32) -> Load {
    let arrivals = Arrivals::Constant(rate.parse().unwrap());
    Load::Sessions { arrivals, calls, max_connections: 1_000 }
}

/// The books balance.
fn checked(recording: Recording) -> Recording {
    let total = &recording.total;
    let ended = total.correct + total.failed_in_all() + total.under_way;
    assert_eq!(total.attempted, ended);
    // What was due in a warm-up may be begun after it.
    let is_warm = recording.windows.iter().any(|window| window.is_warmup);
    let windows: u64 = recording.windows.iter().map(|window| window.attempted).sum();
    assert!(is_warm || total.attempted == windows, "{windows} of {}", total.attempted);
    recording
}

/// A socket that is bound and does not listen keeps its port from everybody else.
fn without_a_server() -> (OwnedFd, Target) {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    rustix::net::bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let address = rustix::net::getsockname(&socket).unwrap().try_into().unwrap();
    (socket, Target::Tcp(address))
}
