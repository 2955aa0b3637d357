//! Doubts about HTTP/2 in words.

use analysis::Http2Doubt;
use units::{count, counted, nanos, percent};

pub(super) fn id(doubt: &Http2Doubt) -> &'static str {
    match doubt {
        Http2Doubt::StreamsCapped { .. } => "streams_capped",
        Http2Doubt::FewConnections { .. } => "few_connections",
        Http2Doubt::OwnWindow { .. } => "own_window",
        Http2Doubt::PeerWindow { .. } => "peer_window",
        Http2Doubt::Churn { .. } => "churn",
        Http2Doubt::Calm { .. } => "calm",
    }
}

/// Where connections took others' places.
fn at_a_time(connections: u64, begun: u64) -> String {
    if connections < begun { format!(", {} at a time", count(connections)) } else { String::new() }
}

pub(super) fn says(doubt: &Http2Doubt) -> String {
    match *doubt {
        Http2Doubt::StreamsCapped { ordered, allowed } => format!(
            "{} were ordered on each connection at once, and the server allowed {}",
            counted(ordered, "request", "requests"),
            count(allowed)
        ),
        Http2Doubt::FewConnections { connections, begun, cpus } => format!(
            "all requests travelled on {}{}, and the server has {} CPUs: many servers serve a connection with one \
             worker, and leave the others idle",
            counted(begun.max(connections), "connection", "connections"),
            at_a_time(connections, begun),
            count(cpus)
        ),
        Http2Doubt::OwnWindow { waits, share } => format!(
            "the server had used up a window of dyno's {}, and waited {} for more ({} of the connections' time)",
            times(waits.times),
            nanos(waits.sum),
            percent(share)
        ),
        Http2Doubt::PeerWindow { waits } => format!(
            "bodies of requests waited {} for a window of the server's, {} in all and at most {}; this is in the service \
             times",
            times(waits.times),
            nanos(waits.sum),
            nanos(waits.longest)
        ),
        Http2Doubt::Churn { goaways, refused, attempted } => {
            let ended = counted(goaways, "connection", "connections");
            let ended = format!("under load the server announced the end of {ended} (GOAWAY)");
            let again = format!(
                "requests came back {} because it had not touched them, at {} in all, and went out again: the wait is in \
                 their response times",
                times(refused),
                counted(attempted, "request", "requests")
            );
            match (goaways, refused) {
                (_, 0) => ended,
                (0, _) => format!("the server refused requests unread: {again}"),
                _ => format!("{ended}; {again}"),
            }
        }
        Http2Doubt::Calm { times: asked, resets_sent } => format!(
            "{} the server asked for calm (ENHANCE_YOUR_CALM) on connections on which dyno had ended streams, {} in all: \
             what failed there may be dyno's doing",
            times(asked),
            count(resets_sent)
        ),
    }
}

fn times(times: u64) -> String {
    if times == 1 { "once".into() } else { format!("{} times", count(times)) }
}

pub(super) fn way_out(doubt: &Http2Doubt) -> &'static str {
    match doubt {
        Http2Doubt::StreamsCapped { .. } => {
            "compare only loads with equally many requests at once, or give more connections (-c) and fewer --streams"
        }
        Http2Doubt::FewConnections { .. } => "load with more connections (-c), too",
        Http2Doubt::OwnWindow { .. } => {
            "leave --h2-windows out if you do not want to measure small windows: then the server never waits"
        }
        Http2Doubt::PeerWindow { .. } => {
            "the server's INITIAL_WINDOW_SIZE sets how much it takes at once"
        }
        Http2Doubt::Churn { .. } => {
            "let the server keep its connections for longer (nginx: keepalive_requests), or compare with servers that are \
             set alike"
        }
        Http2Doubt::Calm { .. } => {
            "allow more time (--timeout) or offer less, so that no request is given up"
        }
    }
}
