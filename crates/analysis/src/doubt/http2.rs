//! Whether the servers' and our own limits of HTTP/2 shaped a load: streams, windows, connections that ended.

use lab::record::TrialRecord;
use load::{Http2, Recording};
use units::{count, counted, nanos, percent};

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::Count;
use crate::verdict::Gravity::{Note, Suspect};

/// If a larger share of the requests was sent again, the load was not the one that was ordered.
const SENT_AGAIN: f64 = 0.01;
/// Fewer connections than so many for each CPU may leave workers without one, because chance distributes them.
const CONNECTIONS_FOR_A_CPU: u64 = 4;

pub(super) const ALL: &[Definition] =
    &[STREAMS_CAPPED, FEW_CONNECTIONS, OWN_WINDOW, PEER_WINDOW, CHURN, CALM];

/// The server allowed fewer requests at once on a connection than were ordered.
pub(crate) const STREAMS_CAPPED: Definition = Definition::new("streams_capped", Note)
    .when("over HTTP/2, a server's SETTINGS allow fewer requests at once on a connection than `--streams` ordered")
    .because("fewer requests were in flight than were ordered: only loads with equally many can be compared; a row \
        of an \
        experiment is not ranked where another server of its table has more")
    .way_out("compare only loads with equally many requests at once, or give more `connections` and fewer `streams`")
    .by_flags("compare only loads with equally many requests at once, or give more connections (-c) and fewer \
        --streams");

/// All requests travelled on few connections, of which a server may serve each with one worker.
pub(crate) const FEW_CONNECTIONS: Definition = Definition::new("few_connections", Note)
    .when("over HTTP/2 with more than one stream, to a server on this machine: fewer connections than {} for each CPU \
        that the server has")
    .thresholds(&[Count(CONNECTIONS_FOR_A_CPU)])
    .because("many servers serve a connection with one worker (nginx, h2o, haproxy, Netty), and chance distributes \
        them")
    .way_out("load with more `connections`, too")
    .by_flags("load with more connections (-c), too");

/// The server had to wait for windows of ours.
pub(crate) const OWN_WINDOW: Definition = Definition::new("own_window", Suspect)
    .when("over HTTP/2, the server sent all that a window of dyno's allowed, and had more to send")
    .because("it waited for dyno: from that read until more DATA came, a connection's time is counted")
    .way_out("its windows are the largest that there are, so this is a bug in dyno: please report it")
    .by_flags("leave out --h2-windows, unless small windows are what you measure: then the server never waits");

/// Bodies of requests waited for windows of the server's.
pub(crate) const PEER_WINDOW: Definition = Definition::new("peer_window", Note)
    .when("over HTTP/2, the body of a request waited for a window of the server's")
    .because("the server caused the wait, and the service times contain it; a request that is given up meanwhile \
        fails as \
        `send.window`")
    .way_out("the server's INITIAL_WINDOW_SIZE sets how much it takes at once");

/// The server announced the end of connections under load, or refused requests unread.
pub(crate) const CHURN: Definition = Definition::new("churn", Note)
    .graver_above(SENT_AGAIN, "of the requests, counting those that were sent again", Suspect)
    .when("over HTTP/2, the server sent GOAWAY under load, or refused requests without processing them \
        (REFUSED_STREAM, or beyond GOAWAY's last stream)")
    .because("each such connection is replaced, and each such request is sent again, timed from when it was first due; \
        a server that does so more often than another has another load")
    .way_out("let the server keep its connections for longer (nginx: keepalive_requests), or compare with servers that \
        are set alike");

/// The server asked for calm on connections on which we had ended streams.
pub(crate) const CALM: Definition = Definition::new("calm", Suspect)
    .when("over HTTP/2, the server sent ENHANCE_YOUR_CALM on a connection on which dyno had ended streams, because \
        requests were given up")
    .because("servers guard against clients that end many streams: dyno may have caused the failures there")
    .way_out("give `load.timeout` more time or offer less, so that no request is given up")
    .by_flags("allow more time (--timeout) or offer less, so that no request is given up");

/// Where connections took others' places.
fn at_a_time(connections: u64, begun: u64) -> String {
    if connections < begun { format!(", {} at a time", count(connections)) } else { String::new() }
}

fn churn_says(goaways: u64, refused: u64, attempted: u64) -> String {
    let ended = counted(goaways, "connection", "connections");
    let ended = format!("under load the server announced the end of {ended} (GOAWAY)");
    let again = format!(
        "returned requests unprocessed {}, of {} in all: they were sent again, and their response times contain the \
         wait",
        times(refused),
        counted(attempted, "request", "requests")
    );
    match (goaways, refused) {
        (_, 0) => ended,
        (0, _) => format!("the server {again}"),
        _ => format!("{ended}, and {again}"),
    }
}

fn times(times: u64) -> String {
    if times == 1 { "once".into() } else { format!("{} times", count(times)) }
}

/// What can be seen in any load.
pub(super) fn of_recording(recording: &Recording) -> Vec<Doubt> {
    let Some(seen) = &recording.total.http2 else { return Vec::new() };
    let all = [
        streams_capped(seen),
        few_connections(seen, recording.total.connections.begun),
        own_window(seen, recording),
        peer_window(seen),
        churn(seen, recording.total.attempted),
        calm(seen),
    ];
    all.into_iter().flatten().collect()
}

fn streams_capped(seen: &Http2) -> Option<Doubt> {
    let (ordered, allowed) = fewer_streams(seen)?;
    let allowed = if allowed == 0 { "none for a while".into() } else { count(allowed) };
    Some(STREAMS_CAPPED.found(format!(
        "{} were ordered on each connection at once, and the server allowed {}",
        counted(ordered, "request", "requests"),
        allowed
    )))
}

/// How many streams were ordered in a trial, and how many the server allowed, if these were fewer.
pub(crate) fn capped(trial: &TrialRecord) -> Option<(u64, u64)> {
    fewer_streams(trial.loaded.as_ref()?.recording.total.http2.as_ref()?)
}

fn fewer_streams(seen: &Http2) -> Option<(u64, u64)> {
    let (ordered, (allowed, _)) = (seen.wanted.streams, seen.effective_streams()?);
    (allowed < ordered).then_some((ordered, allowed))
}

/// With one stream a connection, the number of connections is what was ordered to be under way.
fn few_connections(seen: &Http2, begun: u64) -> Option<Doubt> {
    let (connections, cpus) = (seen.wanted.connections, seen.wanted.server_cpus?);
    // Where no connection got as far as SETTINGS, no request travelled.
    seen.effective_streams()?;
    let is_few = 1 < seen.wanted.streams && connections < CONNECTIONS_FOR_A_CPU * cpus;
    (is_few && 1 < cpus).then(|| FEW_CONNECTIONS.found(format!(
        "all requests travelled on {}{}, and the server has {} CPUs: many servers serve a connection with one worker, \
         and leave the others idle",
        counted(begun.max(connections), "connection", "connections"),
        at_a_time(connections, begun),
        count(cpus)
    )))
}

fn own_window(seen: &Http2, recording: &Recording) -> Option<Doubt> {
    let waits = seen.traffic.own_window;
    let measured = recording.measured_until.saturating_sub(recording.measured_from);
    let time = measured as f64 * seen.wanted.connections.max(1) as f64;
    let share = if 0.0 < time { waits.sum as f64 / time } else { 0.0 };
    (0 < waits.times).then(|| OWN_WINDOW.found(format!(
        "the server had used up a window of dyno's {}, and waited {} for more ({} of the connections' time)",
        times(waits.times),
        nanos(waits.sum),
        percent(share)
    )))
}

fn peer_window(seen: &Http2) -> Option<Doubt> {
    let waits = seen.traffic.peer_window;
    (0 < waits.times).then(|| PEER_WINDOW.found(format!(
        "bodies of requests waited {} for a window of the server's, {} in all and at most {}; the service times \
         contain this wait",
        times(waits.times),
        nanos(waits.sum),
        nanos(waits.longest)
    )))
}

fn churn(seen: &Http2, attempted: u64) -> Option<Doubt> {
    let (goaways, refused) = (seen.traffic.goaways.sum(), seen.traffic.refused);
    (0 < goaways + refused).then(|| {
        CHURN.found_in(refused as f64, attempted as f64, churn_says(goaways, refused, attempted))
    })
}

fn calm(seen: &Http2) -> Option<Doubt> {
    let (asked, resets_sent) = (seen.traffic.calm_after_resets, seen.traffic.resets_sent);
    (0 < asked).then(|| CALM.found(format!(
        "{} the server asked for calm (ENHANCE_YOUR_CALM) on connections on which dyno had ended streams, {} in all: \
         dyno may have caused the failures there",
        times(asked),
        count(resets_sent)
    )))
}

#[cfg(test)]
mod tests {
    use load::{ServerSettings, Tally, Waits, WantedStreams};

    use expect_test::expect;

    use super::*;
    use crate::fixture::told;

    /// A second of a load of 10,000 requests on 16 connections with 10 streams, to a server of this machine with 2 CPUs
    /// that allows 100.
    fn found(change: impl FnOnce(&mut Http2)) -> Vec<Doubt> {
        let wanted = WantedStreams { connections: 16, streams: 10, server_cpus: Some(2) };
        let mut seen = Http2 { wanted, ..Http2::default() };
        seen.settings.push((allowing(Some(100)), 16));
        change(&mut seen);
        let mut total = Tally::new(load::SECOND);
        (total.attempted, total.http2) = (10_000, Some(Box::new(seen)));
        of_recording(&Recording::new(total, 0..load::SECOND, load::SECOND))
    }

    fn allowing(streams: Option<u32>) -> ServerSettings {
        ServerSettings { max_concurrent_streams: streams, ..ServerSettings::default() }
    }

    fn waits(sum: u64) -> Waits {
        Waits { times: 2, sum, longest: sum }
    }

    #[test]
    fn a_load_within_all_limits_raises_no_doubt() {
        assert_eq!(found(|_| {}), []);
        assert_eq!(found(|seen| seen.settings[0].0 = allowing(None)), [], "no limit");
        assert_eq!(
            found(|seen| seen.traffic.resets_sent = 3),
            [],
            "time-outs are failures of their own"
        );
        let total = Tally::new(load::SECOND);
        let plain = Recording::new(total, 0..load::SECOND, load::SECOND);
        assert_eq!(of_recording(&plain), [], "HTTP/1.1");
    }

    #[test]
    fn fewer_streams_than_ordered_are_said() {
        let capped = |streams| found(|seen| seen.settings[0].0 = allowing(Some(streams)));
        assert_eq!(capped(10), []);
        expect!["streams_capped (note): 10 requests were ordered on each connection at once, and the server allowed 9"]
            .assert_eq(&told([&capped(9)]));
        assert!(told([&capped(0)]).ends_with("the server allowed none for a while"));
        let one_of_two = found(|seen| seen.settings.push((allowing(Some(1)), 1)));
        assert_eq!(one_of_two.len(), 1, "one connection's server allows fewer");
    }

    #[test]
    fn few_connections_are_said_where_the_machine_of_the_server_is_known() {
        let few = |connections, streams, server_cpus| {
            let wanted = WantedStreams { connections, streams, server_cpus };
            found(|seen| seen.wanted = wanted).len()
        };
        assert_eq!((few(7, 10, Some(2)), few(8, 10, Some(2))), (1, 0));
        assert_eq!((few(1, 10, None), few(1, 1, Some(2)), few(1, 10, Some(1))), (0, 0, 0));
        let wanted = WantedStreams { connections: 1, streams: 10, server_cpus: Some(2) };
        let unanswered = found(|seen| (seen.wanted, seen.settings) = (wanted, Vec::new()));
        assert_eq!(unanswered, [], "no server listens there");
    }

    #[test]
    fn waiting_for_windows_is_told_apart() {
        let own = found(|seen| seen.traffic.own_window = waits(1_600_000_000));
        let peer = found(|seen| seen.traffic.peer_window = waits(5));
        expect![[r#"
            own_window (suspect): the server had used up a window of dyno's 2 times, and waited 1.60 s for more (10 % of the connections' time)
            peer_window (note): bodies of requests waited 2 times for a window of the server's, 5.00 ns in all and at most 5.00 ns; the service times contain this wait"#]]
        .assert_eq(&told([&own, &peer]));
    }

    #[test]
    fn connections_that_end_under_load_are_said_and_many_repeated_requests_are_suspect() {
        let churn = |goaways, refused| {
            let found = found(|seen| {
                seen.traffic.goaways.add("NO_ERROR", goaways);
                seen.traffic.refused = refused;
            });
            found.first().map(Doubt::gravity)
        };
        assert_eq!(churn(0, 0), None);
        assert_eq!((churn(1, 0), churn(0, 100)), (Some(Note), Some(Note)));
        assert_eq!(churn(1, 101), Some(Suspect));
    }

    #[test]
    fn a_server_that_asks_for_calm_after_our_resets_is_not_blamed_alone() {
        let calm =
            found(|seen| (seen.traffic.calm_after_resets, seen.traffic.resets_sent) = (1, 11));
        expect!["calm (suspect): once the server asked for calm (ENHANCE_YOUR_CALM) on connections on which dyno had ended streams, 11 in all: dyno may have caused the failures there"]
            .assert_eq(&told([&calm]));
    }
}
