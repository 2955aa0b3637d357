//! An order in words.

use std::time::Duration;

use load::{Arrivals, Load, Order, Protocol, Rate, Target};

/// The address of a target.
pub fn address(target: &Target) -> String {
    match target {
        Target::Tcp(address) => address.to_string(),
        Target::Unix(path) => format!("unix:{}", path.display()),
    }
}

/// The load, and until when.
pub fn of_load(order: &Order) -> String {
    let mut words = match &order.load {
        Load::Closed { connections } => {
            let connections = *connections as u64;
            let on_each = match order.protocol {
                Protocol::Http1 if connections == 1 => ", one request at a time".into(),
                Protocol::Http1 => ", one request at a time on each".into(),
                Protocol::Http2(_) => streams(&order.protocol),
            };
            let connections = units::counted(connections, "connection", "connections");
            format!("closed: {connections}{on_each}")
        }
        Load::Open { arrivals, connections, max_connections } => format!(
            "open: {}, on {} to {} connections{}",
            of_arrivals(arrivals, 1),
            if order.keep_alive { units::count(*connections as u64) } else { "up".into() },
            units::count(*max_connections as u64),
            streams(&order.protocol)
        ),
        // Its calls follow one another.
        Load::Sessions { arrivals, calls, .. } => format!(
            "sessions of {}{}: {}",
            units::counted(u64::from(*calls), "call", "calls"),
            match order.protocol {
                Protocol::Http1 => "",
                Protocol::Http2(_) => " over HTTP/2",
            },
            of_arrivals(arrivals, *calls)
        ),
    };
    if !order.keep_alive {
        words.push_str(", one request a connection");
    }
    if order.asks.are_varied() {
        words.push_str(", requests in varied forms");
    }
    words + &until(order)
}

/// How many requests each of some connections may carry at once; over HTTP/1.1 it is one, and nothing is said.
fn streams(protocol: &Protocol) -> String {
    match protocol {
        Protocol::Http1 => String::new(),
        Protocol::Http2(_) => on_each(protocol.streams() as u64),
    }
}

/// So many streams on each of some connections.
pub(crate) fn on_each(streams: u64) -> String {
    format!(" × {} over HTTP/2", units::counted(streams, "stream", "streams"))
}

/// How long is measured: of a schedule that is over sooner than was ordered, no longer than that.
fn until(order: &Order) -> String {
    let mut words = String::new();
    if order.stop.duration.is_some() {
        let measured = order.measured();
        let length = Duration::from_nanos(measured.end - measured.start);
        words.push_str(&format!(", for {}", units::duration(length)));
    }
    if let Some(total) = order.stop.total {
        let what = match order.load {
            Load::Sessions { .. } => "sessions",
            Load::Closed { .. } | Load::Open { .. } => "requests",
        };
        words.push_str(&format!(", {} {what} at most", units::count(total)));
    }
    words
}

/// The requests that arrive: so many with each arrival.
pub(crate) fn of_arrivals(arrivals: &Arrivals, each: u32) -> String {
    let per_s = |rate: Rate| units::rate(rate.as_f64() * f64::from(each));
    match arrivals {
        Arrivals::Constant(rate) => format!("{} requests/s, evenly spaced", per_s(*rate)),
        Arrivals::Poisson(rate) => format!("{} requests/s, Poisson", per_s(*rate)),
        Arrivals::Ramp { from, to, over } => format!(
            "from {} to {} requests/s within {}",
            per_s(*from),
            per_s(*to),
            units::duration(*over)
        ),
        Arrivals::Steps(steps) => {
            let step = |(rate, length): &(Rate, _)| {
                format!("{}/s for {}", per_s(*rate), units::duration(*length))
            };
            format!("requests at {}", steps.iter().map(step).collect::<Vec<_>>().join(", then "))
        }
        Arrivals::Listed(listed) => format!(
            "{} at listed times",
            units::counted(listed.count() * u64::from(each), "request", "requests")
        ),
    }
}

/// `0, 1 and 3`
pub fn list(numbers: &[usize]) -> String {
    let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    units::listed(&texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::fixture::closed;
    use wire::Limits;
    use wire::h2::{H2Order, Windows};

    fn over_http2(load: Load, streams: u16) -> String {
        let protocol = Protocol::Http2(H2Order {
            streams: streams.try_into().unwrap(),
            windows: Windows::default(),
            indexed: true,
            limits: Limits::default(),
        });
        of_load(&Order { load, protocol, ..closed() })
    }

    #[test]
    fn of_a_ramp_what_is_measured_begins_after_the_warm_up() {
        let over = Duration::from_secs(3);
        let [from, to] = ["10", "50"].map(|rate| rate.parse().unwrap());
        let arrivals = Arrivals::Ramp { from, to, over };
        let load = Load::Open { arrivals, connections: 4, max_connections: 9 };
        let order = Order { load, warmup: Duration::from_millis(1_050), ..closed() };
        assert_eq!(
            of_load(&order),
            "open: from 10 to 50 requests/s within 3 s, on 4 to 9 connections, for 1.95 s"
        );
    }

    #[test]
    fn a_load_over_http_2_says_how_many_streams_its_connections_have() {
        let says = |connections, streams| over_http2(Load::Closed { connections }, streams);
        assert_eq!(says(16, 10), "closed: 16 connections × 10 streams over HTTP/2, for 10 s");
        assert_eq!(says(1, 1), "closed: 1 connection × 1 stream over HTTP/2, for 10 s");
        let arrivals = Arrivals::Constant(Rate::per_s(2_000).unwrap());
        let open =
            Load::Open { arrivals: arrivals.clone(), connections: 4, max_connections: 1_000 };
        assert_eq!(
            over_http2(open, 50),
            "open: 2,000 requests/s, evenly spaced, on 4 to 1,000 connections × 50 streams over HTTP/2, for 10 s"
        );
        let sessions = Load::Sessions { arrivals, calls: 10, max_connections: 1_000 };
        assert_eq!(
            over_http2(sessions, 1),
            "sessions of 10 calls over HTTP/2: 20,000 requests/s, evenly spaced, for 10 s"
        );
    }
}
