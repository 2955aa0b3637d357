//! Doubts about the agents of a load in words.

use analysis::{AgentsDoubt, BusyAgent, LateAgent};
use units::{count, nanos, percent};

use super::milliseconds;

pub(super) fn id(doubt: &AgentsDoubt) -> &'static str {
    match doubt {
        AgentsDoubt::Late(_) => "instrument_late",
        AgentsDoubt::Busy(_) => "instrument_busy",
        AgentsDoubt::Starved(_) => "instrument_starved",
        AgentsDoubt::Apart { .. } => "agents_apart",
        AgentsDoubt::StartApart { .. } => "start_apart",
        AgentsDoubt::ClockDrift { .. } => "clock_drift",
        AgentsDoubt::LinkFull { .. } => "link_full",
        AgentsDoubt::PathLoss { .. } => "path_loss",
        AgentsDoubt::Blinked { .. } => "control_blinked",
    }
}

pub(super) fn says(doubt: &AgentsDoubt) -> String {
    match doubt {
        AgentsDoubt::Late(agents) => late(agents),
        AgentsDoubt::Busy(agents) => format!(
            "{}: the rate may be the limit of that host, and not the server's",
            threads(agents, "were", |it| format!("busy {} of the time", percent(it.busy)))
        ),
        AgentsDoubt::Starved(agents) => format!(
            "{}: other programs there, or a limit on dyno's CPU time, kept it waiting",
            threads(agents, "had", |it| format!(
                "something to do {} of the time, and a CPU for {} of it",
                percent(it.busy),
                percent(it.cpu)
            ))
        ),
        AgentsDoubt::Apart { agent, p50, others } => format!(
            "half of the answers to {agent} took more than {}, and of those to the other agents more than {}: they did not \
             see the same server, or not over equal ways",
            nanos(*p50),
            nanos(*others)
        ),
        AgentsDoubt::StartApart { agent, by } => format!(
            "{agent} began {} after the instant that all agents had agreed on: at first the load was a part of what was \
             ordered",
            nanos(*by)
        ),
        AgentsDoubt::ClockDrift { agent, by } => format!(
            "the clock of {agent} {} {} against this machine's while the load went on: its windows lie beside other \
             windows, and its rates are by another second",
            if *by < 0 { "lost" } else { "gained" },
            nanos(by.unsigned_abs())
        ),
        AgentsDoubt::LinkFull { host, link, share } => format!(
            "{} of what {link} of {host} can carry passed over it: the network may have been the limit, and not the server",
            percent(*share)
        ),
        AgentsDoubt::PathLoss { host, retransmitted, segments } => format!(
            "{host} sent {} of {} segments of TCP again: they were lost on the way, or came late, and the wait for them is \
             in the response times",
            count(*retransmitted),
            count(*segments)
        ),
        AgentsDoubt::Blinked { agent, nanos: long } => format!(
            "the connection to {agent} was interrupted for {}; its load went on",
            nanos(*long)
        ),
    }
}

/// As many as a sentence has room for beside the worst.
const NAMED: usize = 3;

fn late(agents: &[LateAgent]) -> String {
    let Some((worst, others)) = agents.split_first() else { return String::new() };
    let other = |it: &LateAgent| format!("{} ({})", it.agent, milliseconds(it.p99_ms));
    let others = match listed(others, other) {
        None => String::new(),
        Some(others) => format!("; also late: {others}"),
    };
    format!(
        "agent {} sent 1 % of its requests {} or more late (bound: {}){others}; this is in the response times",
        worst.agent,
        milliseconds(worst.p99_ms),
        milliseconds(worst.bound_ms)
    )
}

fn threads(agents: &[BusyAgent], verb: &str, what: fn(&BusyAgent) -> String) -> String {
    let Some((worst, others)) = agents.split_first() else { return String::new() };
    let other = |it: &BusyAgent| format!("{} ({})", it.agent, percent(it.busy));
    let others = match listed(others, other) {
        None => String::new(),
        Some(others) => format!(", and so {verb} those of {others}"),
    };
    format!("the threads of agent {} {verb} {}{others}", worst.agent, what(worst))
}

/// The first few by name, and how many more there are; none of nothing.
fn listed<T>(agents: &[T], name: impl Fn(&T) -> String) -> Option<String> {
    let (named, more) = agents.split_at(agents.len().min(NAMED));
    let mut texts: Vec<String> = named.iter().map(name).collect();
    if !more.is_empty() {
        texts.push(format!("{} more", count(more.len() as u64)));
    }
    let last = texts.pop()?;
    Some(match texts.is_empty() {
        true => last,
        false => format!("{} and {last}", texts.join(", ")),
    })
}

pub(super) fn way_out(doubt: &AgentsDoubt) -> &'static str {
    match doubt {
        AgentsDoubt::Late(_) => {
            "free CPUs on that host for dyno (ssh:HOST:cpus=LIST names them), let the load come from more hosts, or offer less"
        }
        AgentsDoubt::Busy(_) => {
            "let the load come from more hosts, or give dyno more CPUs there (ssh:HOST:cpus=LIST names them)"
        }
        AgentsDoubt::Starved(_) => {
            "stop the other programs on that host, or name CPUs for dyno that they do not use (ssh:HOST:cpus=LIST)"
        }
        AgentsDoubt::Apart { .. } => {
            "`dyno agents check` compares the hosts' ways; leave one out whose way or CPU is another, or report it by itself"
        }
        AgentsDoubt::StartApart { .. } => "see what kept that machine busy, and run again",
        AgentsDoubt::ClockDrift { .. } => {
            "let a service such as chrony keep its clock, and not set it while a load goes on"
        }
        AgentsDoubt::LinkFull { .. } => {
            "ask for smaller answers or less load, or take a faster link"
        }
        AgentsDoubt::PathLoss { .. } => {
            "look for a full link, a shaper or a faulty cable between the two; `dyno agents check` shows their speeds"
        }
        AgentsDoubt::Blinked { .. } => {
            "look at the network to it, or at the broker, if it happens again"
        }
    }
}
