//! Orders, as far as the agent's owner allows them and its machine can carry them out.

use std::net::SocketAddr;
use std::time::Duration;

use load::{HoldOrder, Load, Order, Sends, Target};
use machine::limits::{self, Machine};
use post::{Ready, Task, decode_whole};

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
    /// Connections that are begun within a second, beside those that are begun for a request.
    opens: f64,
    /// Requests or texts that are due each second, those of all calls of a session included. None: as many as the server
    /// answers.
    rate: Option<f64>,
    /// From the beginning to the end of the last time-out. None: until a number is reached.
    lasts: Option<Duration>,
}

/// The order, and what the agent has for it; or why it does not take it.
pub(super) fn check(bytes: &[u8], limits: &Limits) -> Result<(Task, Ready), String> {
    let task: Task =
        decode_whole(bytes).map_err(|error| format!("the order cannot be read: {error}"))?;
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
    let task: Task =
        decode_whole(bytes).map_err(|error| format!("the order cannot be read: {error}"))?;
    let target = match &task {
        Task::Load(order) => address(&order.target)?,
        Task::Hold(order) => address(&order.target)?,
    };
    match allow.has(target) {
        true => Ok(task),
        false => Err(format!("{target} must not be loaded")),
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
    let peak = order.load.arrivals().map_or(0.0, |arrivals| arrivals.peak().as_f64());
    let rate = peak * order.lanes as f64 / of.max(1) as f64;
    let opened = |all: usize| part(all as u64, order.lanes, of) as f64;
    let (opens, rate) = match order.load {
        Load::Closed { connections } => (opened(connections), None),
        Load::Open { connections, .. } if order.has_pool() => (opened(connections), Some(rate)),
        Load::Open { .. } => (0.0, Some(rate)),
        Load::Sessions { calls, .. } => (0.0, Some(rate * f64::from(calls))),
    };
    let duration = order.stop.duration;
    Ok(Demand {
        target: address(&order.target)?,
        lanes: order.lanes,
        cpus: order.cpus.clone(),
        connections: part(order.load.connections_max() as u64, order.lanes, of),
        opens,
        rate,
        lasts: duration.map(|length| length + order.warmup + order.timeout),
    })
}

fn of_hold(order: &HoldOrder) -> Result<Demand, String> {
    let share = order.lanes as f64 / order.share.of.max(1) as f64;
    Ok(Demand {
        target: address(&order.target)?,
        lanes: order.lanes,
        cpus: order.cpus.clone(),
        connections: part(order.ramp.connections as u64, order.lanes, order.share.of),
        opens: order.ramp.per_second * share,
        rate: Some(match &order.sends {
            Some(Sends::Echo { per_second, .. }) => per_second * share,
            Some(Sends::Broadcast { every }) => 1.0 / every.as_secs_f64().max(1e-9),
            None => 0.0,
        }),
        lasts: Some(Duration::from_nanos(order.ramp.end()) + order.timeout),
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
            return Err(format!("an agent has 1 to {LANES_MAX} threads, not {}", self.lanes));
        }
        if let Some(cpu) = self.cpus.iter().find(|cpu| !machine.cpus.contains(cpu)) {
            return Err(format!("it may use no CPU {cpu}, only {:?}", machine.cpus));
        }
        let caps = &limits.caps;
        if let Some(most) = caps.connections.filter(|most| *most < self.connections) {
            return Err(over("connections", self.connections, most, "--max-connections"));
        }
        caps.rate.map_or(Ok(()), |most| self.judge_rate(most))?;
        caps.seconds.map_or(Ok(()), |most| self.judge_time(most))
    }

    fn judge_rate(&self, most: u64) -> Result<(), String> {
        // What paces a closed loop would be measured in place of the server.
        let Some(rate) = self.rate else {
            return Err(format!(
                "its owner allows it {most} a second (--max-rate), and a closed loop has no rate: give -r, too"
            ));
        };
        for (what, rate) in [("a second", rate), ("new connections a second", self.opens)] {
            if most < rate.ceil() as u64 {
                return Err(over(what, rate.ceil() as u64, most, "--max-rate"));
            }
        }
        Ok(())
    }

    fn judge_time(&self, most: u64) -> Result<(), String> {
        match self.lasts {
            Some(lasts) if lasts <= Duration::from_secs(most) => Ok(()),
            Some(lasts) => {
                let seconds = lasts.as_secs().max(most + 1);
                let what = "seconds, its time-out included";
                Err(over(what, seconds, most, "--max-duration"))
            }
            None => Err(format!(
                "its owner allows it {most} seconds (--max-duration), and the order names no duration: give -d, too"
            )),
        }
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
    use load::{Arrivals, HoldWhat, Ramp, Rate, Share, Stop};
    use machine::limits::{FileLimit, PortFacts};
    use post::{Caps, encode_task};
    use proptest::prelude::{any, prop_assert, prop_compose, proptest};
    use wire::{Ask, Asks, Expect, Request};

    use super::*;

    fn demand() -> Demand {
        Demand {
            target: "127.0.0.1:80".parse().unwrap(),
            lanes: 2,
            cpus: vec![0],
            connections: 50,
            opens: 50.0,
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
        let endless = Demand { lasts: None, ..demand() };
        assert_eq!(judged(&endless, none), Ok(()));
        let (rate, seconds) = (Caps { rate: Some(99), ..none }, Caps { seconds: Some(9), ..none });
        let target = "10.0.0.1:80".parse().unwrap();
        for (demand, caps, says) in [
            (demand(), rate, "100 a second, and its owner allows it 99"),
            (demand(), Caps { connections: Some(49), ..none }, "--max-connections"),
            (demand(), seconds, "10 seconds, its time-out included, and its owner allows it 9"),
            (Demand { opens: 99.1, rate: Some(1.0), ..demand() }, rate, "100 new connections a"),
            (Demand { rate: None, ..demand() }, rate, "a closed loop has no rate: give -r"),
            (endless, seconds, "give -d"),
            (
                Demand { target, ..demand() },
                none,
                "load 10.0.0.1:80; that takes `--allow 10.0.0.1:80`",
            ),
            (Demand { lanes: 0, ..demand() }, none, "1 to 1024 threads"),
            (Demand { lanes: 5_000, ..demand() }, none, "1 to 1024 threads"),
            (Demand { cpus: vec![9], ..demand() }, none, "no CPU 9"),
        ] {
            let error = judged(&demand, caps).unwrap_err();
            assert!(error.contains(says), "{says}: {error}");
        }
    }

    /// What an order makes its agent begin at most: requests and connections within any second, and when the last ends.
    struct Most {
        requests: f64,
        connections: f64,
        seconds: f64,
    }

    /// Counted from the order alone, lane by lane.
    fn most(order: &Order) -> Most {
        let of = order.lanes_in_all();
        let due = |arrivals: &Arrivals| arrivals.peak().as_f64() / of as f64 * order.lanes as f64;
        let (requests, begun) = match &order.load {
            Load::Closed { .. } => (f64::INFINITY, f64::INFINITY),
            Load::Open { arrivals, connections, .. } => {
                let pool = if order.keep_alive { *connections } else { 0 };
                (due(arrivals), pool as f64 / of as f64 * order.lanes as f64)
            }
            Load::Sessions { arrivals, calls, .. } => (due(arrivals) * f64::from(*calls), 0.0),
        };
        let ends = order.stop.duration.map(|it| it + order.warmup + order.timeout);
        let seconds = ends.map_or(f64::INFINITY, |it| it.as_secs_f64());
        Most { requests, connections: begun, seconds }
    }

    prop_compose! {
        fn orders()(
            kind in 0..3,
            rate in 1..400_u64,
            calls in 1..50_u32,
            (connections, more) in (1..300_usize, 0..50_usize),
            (lanes, others) in (1..5_usize, 0..5_usize),
            (warmup, duration, timeout) in (0..4_000_u64, 1..9_000_u64, 1..9_000_u64),
            (is_endless, keep_alive, number) in (any::<bool>(), any::<bool>(), 0..2_u64),
        ) -> Order {
            let arrivals = Arrivals::Constant(Rate::per_s(rate).unwrap());
            let max_connections = connections + more;
            let load = match kind {
                0 => Load::Closed { connections },
                1 => Load::Open { arrivals, connections, max_connections },
                _ => Load::Sessions { arrivals, calls, max_connections },
            };
            let ask = Ask::new(&Request::get("server", "/"), Expect::default()).unwrap();
            let target = Target::Tcp("127.0.0.1:9".parse().unwrap());
            let millis = Duration::from_millis;
            let total = (number > 0).then_some(number * 1_000);
            Order {
                warmup: millis(warmup),
                timeout: millis(timeout),
                stop: Stop { total, duration: (!is_endless).then_some(millis(duration)) },
                keep_alive,
                lanes,
                share: Some(Share { first: others, of: lanes + others }),
                ..Order::new(target, Asks::one(ask), load)
            }
        }
    }

    proptest! {
        #[test]
        fn no_order_that_is_taken_can_exceed_what_the_owner_allows(
            order in orders(),
            rate in 1..400_u64,
            connections in 1..300_u64,
            seconds in 1..20_u64,
        ) {
            let caps = Caps { rate: Some(rate), connections: Some(connections), seconds: Some(seconds) };
            let limits = Limits { allow: Allow::loopback(), caps, is_local: true };
            let sent = encode_task(&Task::Load(Box::new(order.clone()))).unwrap();
            if check(&sent, &limits).is_ok() {
                let Most { requests, connections: begun, seconds: lasts } = most(&order);
                prop_assert!(requests <= rate as f64 && begun <= rate as f64 && lasts <= seconds as f64);
                let held = order.load.connections_max() as f64 / order.lanes_in_all() as f64;
                prop_assert!((held.floor() as u64) * order.lanes as u64 <= connections);
            }
        }
    }

    prop_compose! {
        fn holds()(
            (connections, step, per_second) in (1..300_usize, 1..300_usize, 1..400_u32),
            (every, settle, timeout) in (1..9_000_u64, 0..500_u64, 1..9_000_u64),
            (lanes, others) in (1..5_usize, 0..5_usize),
            (kind, texts, pause) in (0..3, 1..400_u32, 1..2_000_u64),
        ) -> HoldOrder {
            let millis = Duration::from_millis;
            let ramp = Ramp {
                connections,
                step,
                every: millis(every),
                per_second: f64::from(per_second),
                settle: millis(settle),
            };
            let sends = match kind {
                0 => None,
                1 => Some(Sends::Echo { text: b"x".to_vec(), per_second: f64::from(texts) }),
                _ => Some(Sends::Broadcast { every: millis(pause) }),
            };
            let target = Target::Tcp("127.0.0.1:9".parse().unwrap());
            let ask = wire::socket_ask("server", "/", &[]).unwrap();
            HoldOrder {
                timeout: millis(timeout),
                sends,
                lanes,
                share: Share { first: others, of: lanes + others },
                ..HoldOrder::new(target, HoldWhat::Socket { ask }, ramp)
            }
        }
    }

    /// The most of these instants that lie within one second.
    fn in_a_second(mut at: Vec<u64>) -> usize {
        at.sort_unstable();
        (0..at.len())
            .map(|from| at.partition_point(|it| *it < at[from] + 1_000_000_000) - from)
            .max()
            .unwrap_or(0)
    }

    proptest! {
        #[test]
        fn no_hold_that_is_taken_can_exceed_what_the_owner_allows(
            order in holds(),
            rate in 1..400_u64,
            connections in 1..300_u64,
            seconds in 1..40_u64,
        ) {
            let caps = Caps { rate: Some(rate), connections: Some(connections), seconds: Some(seconds) };
            let limits = Limits { allow: Allow::loopback(), caps, is_local: true };
            let sent = encode_task(&Task::Hold(Box::new(order.clone()))).unwrap();
            if check(&sent, &limits).is_ok() {
                let Share { first, of } = order.share;
                let is_own = |n: &usize| (first..first + order.lanes).contains(&(n % of));
                let begun: Vec<u64> =
                    (0..order.ramp.connections).filter(is_own).map(|n| order.ramp.due(n)).collect();
                prop_assert!(begun.len() as u64 <= connections);
                // One more is begun in a second than the rate says, where lanes share it unevenly.
                prop_assert!(in_a_second(begun) as u64 <= rate + order.lanes as u64);
                let texts = match order.sends {
                    None => 0.0,
                    Some(Sends::Echo { per_second, .. }) => per_second * order.lanes as f64 / of as f64,
                    Some(Sends::Broadcast { every }) => 1.0 / every.as_secs_f64(),
                };
                prop_assert!(texts <= rate as f64);
                let ends = Duration::from_nanos(order.ramp.end()) + order.timeout;
                prop_assert!(ends <= Duration::from_secs(seconds));
            }
        }
    }

    #[test]
    fn an_agents_part_is_no_less_than_what_its_lanes_get() {
        assert_eq!([part(10, 1, 4), part(10, 4, 4), part(3, 2, 4), part(0, 1, 1)], [3, 10, 2, 0]);
    }
}
