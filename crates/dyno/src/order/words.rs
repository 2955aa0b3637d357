//! An order in words.

use load::{Arrivals, Load, Order, Rate, Stop, Target};
use wire::AskError;

use machine::ports::Ports;
use report::units;

/// The address of a target.
pub(crate) fn address(target: &Target) -> String {
    match target {
        Target::Tcp(address) => address.to_string(),
        Target::Unix(path) => format!("unix:{}", path.display()),
    }
}

/// The load, and until when.
pub(crate) fn of_load(order: &Order) -> String {
    let mut words = match &order.load {
        Load::Closed { connections: 1 } => "closed: 1 connection, one request at a time".into(),
        Load::Closed { connections } => format!(
            "closed: {} connections, one request at a time on each",
            units::count(*connections as u64)
        ),
        Load::Open { arrivals, connections, max_connections } => format!(
            "open: {}, on {} to {} connections",
            of_arrivals(arrivals, "requests"),
            units::count(*connections as u64),
            units::count(*max_connections as u64)
        ),
        Load::Sessions { arrivals, calls, .. } => format!(
            "sessions: {}, {} calls each",
            of_arrivals(arrivals, "sessions"),
            units::count(u64::from(*calls))
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

fn of_arrivals(arrivals: &Arrivals, what: &str) -> String {
    let per_s = |rate: Rate| units::rate(rate.as_f64());
    match arrivals {
        Arrivals::Constant(rate) => format!("{} {what}/s, evenly spaced", per_s(*rate)),
        Arrivals::Poisson(rate) => format!("{} {what}/s, Poisson", per_s(*rate)),
        Arrivals::Ramp { from, to, over } => format!(
            "from {} to {} {what}/s within {}",
            per_s(*from),
            per_s(*to),
            units::duration(*over)
        ),
        Arrivals::Steps(steps) => {
            let step = |(rate, length): &(Rate, _)| {
                format!("{}/s for {}", per_s(*rate), units::duration(*length))
            };
            format!("{what} at {}", steps.iter().map(step).collect::<Vec<_>>().join(", then "))
        }
    }
}

/// A sentence about ports, if one is needed.
pub(crate) fn of_ports(ports: &Ports) -> Option<String> {
    match ports {
        Ports::Enough => None,
        Ports::Spread(sources) => Some(format!(
            "note: closed connections hold their ports for a while; connecting from {} loopback \
             addresses in turn, 127.0.0.1 to {}",
            sources.len(),
            sources.last()?
        )),
        Ports::Short { needed, there, held_s } => Some(format!(
            "warning: this may need {} local ports at once (a closed connection holds its port for \
             {held_s} s), and there are {}; give more addresses with --source, or a lower rate",
            units::count(*needed),
            units::count(*there)
        )),
    }
}

/// Which flag made a request impossible.
pub(crate) fn of_ask(error: &AskError) -> String {
    let flag = match error {
        AskError::Method(_) => "--method",
        AskError::Target(_) => "URL",
        AskError::Header(_) => "--header",
        AskError::Template(_) => "URL, --header or --body",
    };
    format!("{flag}: {error}")
}

/// `0, 1 and 3`
pub(crate) fn list(numbers: &[usize]) -> String {
    let texts: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match texts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => texts.concat(),
    }
}
