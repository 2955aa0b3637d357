//! An order in words.

use load::{Arrivals, Load, Order, Rate, Stop, Target};

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
        Load::Closed { connections: 1 } => "closed: 1 connection, one request at a time".into(),
        Load::Closed { connections } => format!(
            "closed: {} connections, one request at a time on each",
            units::count(*connections as u64)
        ),
        Load::Open { arrivals, connections, max_connections } => format!(
            "open: {}, on {} to {} connections",
            of_arrivals(arrivals, 1),
            units::count(*connections as u64),
            units::count(*max_connections as u64)
        ),
        Load::Sessions { arrivals, calls, .. } => format!(
            "sessions of {}: {}",
            units::counted(u64::from(*calls), "call", "calls"),
            of_arrivals(arrivals, *calls)
        ),
    };
    if !order.keep_alive {
        words.push_str(", one request a connection");
    }
    words + &until(&order.load, order.stop)
}

fn until(load: &Load, stop: Stop) -> String {
    let mut words = String::new();
    if let Some(duration) = stop.duration {
        words.push_str(&format!(", for {}", units::duration(duration)));
    }
    if let Some(total) = stop.total {
        let what = match load {
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
    match texts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => texts.concat(),
    }
}
