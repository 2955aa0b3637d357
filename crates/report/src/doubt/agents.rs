//! Doubts about the agents of a load in words.

use analysis::AgentsDoubt;
use units::{count, nanos, percent};

pub(super) fn id(doubt: &AgentsDoubt) -> &'static str {
    match doubt {
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

pub(super) fn way_out(doubt: &AgentsDoubt) -> &'static str {
    match doubt {
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
