//! Orders, as far as the agent's owner allows them and its machine can carry them out.

use std::net::SocketAddr;
use std::time::Duration;

use load::{HoldOrder, Load, Order, Sends, Target};
use machine::limits::{self, Machine};
use post::{Ready, Task, decode_task};

use super::{Limits, way};
use crate::allow::Allow;

/// No agent has more threads.
const LANES_MAX: usize = 1_024;

/// What an order asks of one agent.
#[derive(Clone, Debug, PartialEq)]
struct Demand {
    target: SocketAddr,
    lanes: usize,
    cpus: Vec<usize>,
    connections: u64,
    /// Requests, sessions or texts, each second.
    rate: Option<f64>,
    /// None: until a number is reached.
    lasts: Option<Duration>,
}

/// The order, and what the agent has for it; or why it does not take it.
pub(super) fn check(bytes: &[u8], limits: &Limits) -> Result<(Task, Ready), String> {
    let task = decode_task(bytes).map_err(|error| format!("the order is none: {error}"))?;
    let demand = match &task {
        Task::Load(order) => of_load(order)?,
        Task::Hold(order) => of_hold(order)?,
    };
    demand.judge(limits, &Machine::read())?;
    let files = raise_files(demand.connections)?;
    // A process of the coordinator's own machine has no way of its own.
    let way = (!limits.is_local).then(|| way::look(demand.target));
    Ok((task, Ready { files, way }))
}

/// The order, if what it loads is allowed.
pub(crate) fn aimed(bytes: &[u8], allow: &Allow) -> Result<Task, String> {
    let task = decode_task(bytes).map_err(|error| format!("the order is none: {error}"))?;
    let target = match &task {
        Task::Load(order) => address(&order.target)?,
        Task::Hold(order) => address(&order.target)?,
    };
    match allow.has(target) {
        true => Ok(task),
        false => Err(format!("{target} is not to be loaded")),
    }
}

/// This agent's part of a number that all lanes share.
fn part(all: u64, lanes: usize, of: usize) -> u64 {
    all.div_ceil(of.max(1) as u64).saturating_mul(lanes as u64).min(all)
}

fn address(target: &Target) -> Result<SocketAddr, String> {
    match target {
        Target::Tcp(address) => Ok(*address),
        Target::Unix(_) => Err("an agent loads addresses, and no Unix socket".into()),
    }
}

fn of_load(order: &Order) -> Result<Demand, String> {
    let of = order.share.as_ref().map_or(order.lanes, |share| share.of);
    let rate = order.load.arrivals().map(|arrivals| arrivals.peak().as_f64());
    let share = order.lanes as f64 / of.max(1) as f64;
    Ok(Demand {
        target: address(&order.target)?,
        lanes: order.lanes,
        cpus: order.cpus.clone(),
        connections: part(order.load.connections_max() as u64, order.lanes, of),
        rate: match order.load {
            Load::Closed { .. } => None,
            Load::Open { .. } | Load::Sessions { .. } => rate.map(|rate| rate * share),
        },
        lasts: order.stop.duration.map(|length| length + order.warmup),
    })
}

fn of_hold(order: &HoldOrder) -> Result<Demand, String> {
    let share = order.lanes as f64 / order.share.of.max(1) as f64;
    Ok(Demand {
        target: address(&order.target)?,
        lanes: order.lanes,
        cpus: order.cpus.clone(),
        connections: part(order.ramp.connections as u64, order.lanes, order.share.of),
        rate: match &order.sends {
            Some(Sends::Echo { per_second, .. }) => Some(per_second * share),
            Some(Sends::Broadcast { every }) => Some(1.0 / every.as_secs_f64().max(1e-9)),
            None => None,
        },
        lasts: Some(Duration::from_nanos(order.ramp.end())),
    })
}

impl Demand {
    fn judge(&self, limits: &Limits, machine: &Machine) -> Result<(), String> {
        if !limits.allow.has(self.target) {
            return Err(format!(
                "its owner does not allow it to load {}; that takes `--allow {0}` where it is started, or this address in its --allow-file",
                self.target
            ));
        }
        if self.lanes == 0 || LANES_MAX < self.lanes {
            return Err(format!("an agent has 1 to {LANES_MAX} lanes, not {}", self.lanes));
        }
        if let Some(cpu) = self.cpus.iter().find(|cpu| !machine.cpus.contains(cpu)) {
            return Err(format!("it may use no CPU {cpu}, only {:?}", machine.cpus));
        }
        let caps = &limits.caps;
        if let Some(most) = caps.connections.filter(|most| *most < self.connections) {
            return Err(over("connections", self.connections, most, "--max-connections"));
        }
        let rate = self.rate.map(|rate| rate.ceil() as u64);
        if let Some((rate, most)) = rate.zip(caps.rate).filter(|(rate, most)| most < rate) {
            return Err(over("a second", rate, most, "--max-rate"));
        }
        if let Some(most) = caps.seconds {
            match self.lasts {
                Some(lasts) if lasts <= Duration::from_secs(most) => {}
                Some(lasts) => {
                    return Err(over(
                        "seconds",
                        lasts.as_secs().max(most + 1),
                        most,
                        "--max-duration",
                    ));
                }
                None => {
                    return Err(format!(
                        "its owner allows it {most} seconds (--max-duration), and the order names no duration: give -d, too"
                    ));
                }
            }
        }
        Ok(())
    }
}

fn over(what: &str, asked: u64, most: u64, flag: &str) -> String {
    format!("its part is {asked} {what}, and its owner allows it {most} ({flag})")
}

/// Has as many files as the connections take; returns how many there are.
pub(crate) fn raise_files(connections: u64) -> Result<u64, String> {
    let files = Machine::read().files;
    match files.raised_for(connections)? {
        None => Ok(files.soft),
        Some(raised) => {
            limits::raise_files(raised).map_err(|error| {
                format!("its limit of open files cannot be raised to {raised}: {error}")
            })?;
            Ok(raised)
        }
    }
}

#[cfg(test)]
mod tests {
    use machine::limits::{FileLimit, PortFacts};
    use post::Caps;

    use super::*;

    fn demand() -> Demand {
        Demand {
            target: "127.0.0.1:80".parse().unwrap(),
            lanes: 2,
            cpus: vec![0],
            connections: 50,
            rate: Some(99.5),
            lasts: Some(Duration::from_secs(10)),
        }
    }

    fn judged(demand: &Demand, caps: Caps) -> Result<(), String> {
        let machine = Machine {
            cpus: vec![0, 1],
            files: FileLimit { soft: 1_024, hard: 1_024 },
            ports: PortFacts::parse("", ""),
        };
        demand.judge(&Limits { allow: Allow::loopback(), caps, is_local: false }, &machine)
    }

    #[test]
    fn an_order_beyond_what_the_owner_allows_is_refused_with_the_flag() {
        let none = Caps::default();
        assert_eq!(judged(&demand(), none), Ok(()));
        let exact = Caps { rate: Some(100), connections: Some(50), seconds: Some(10) };
        assert_eq!(judged(&demand(), exact), Ok(()));
        let refused = |demand: Demand, caps: Caps, says: &str| {
            let error = judged(&demand, caps).unwrap_err();
            assert!(error.contains(says), "{error}");
        };
        refused(
            demand(),
            Caps { rate: Some(99), ..none },
            "100 a second, and its owner allows it 99",
        );
        refused(demand(), Caps { connections: Some(49), ..none }, "--max-connections");
        refused(
            demand(),
            Caps { seconds: Some(9), ..none },
            "10 seconds, and its owner allows it 9",
        );
        let endless = Demand { lasts: None, ..demand() };
        assert_eq!(judged(&endless, none), Ok(()));
        refused(endless, Caps { seconds: Some(9), ..none }, "give -d");
        let elsewhere = Demand { target: "10.0.0.1:80".parse().unwrap(), ..demand() };
        refused(
            elsewhere,
            none,
            "does not allow it to load 10.0.0.1:80; that takes `--allow 10.0.0.1:80`",
        );
        refused(Demand { lanes: 0, ..demand() }, none, "1 to 1024 lanes");
        refused(Demand { lanes: 5_000, ..demand() }, none, "1 to 1024 lanes");
        refused(Demand { cpus: vec![9], ..demand() }, none, "no CPU 9");
    }

    #[test]
    fn an_agents_part_is_no_less_than_what_its_lanes_get() {
        assert_eq!([part(10, 1, 4), part(10, 4, 4), part(3, 2, 4), part(0, 1, 1)], [3, 10, 2, 0]);
    }
}
