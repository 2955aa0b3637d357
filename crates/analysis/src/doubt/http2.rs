//! Whether the servers' and our own limits of HTTP/2 shaped a load: streams, windows, connections that ended.

use load::{Http2, Recording, Waits};

use super::Doubt;
use crate::verdict::Gravity;

/// What may be wrong with a load over HTTP/2, or must be known to read its figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Http2Doubt {
    /// The server allowed fewer requests at once on a connection than were ordered.
    StreamsCapped { ordered: u64, allowed: u64 },
    /// All requests travelled on few connections, of which a server may serve each with one worker.
    FewConnections {
        /// At a time.
        connections: u64,
        /// In all, as the server ends some.
        begun: u64,
        /// Of the server: those that dyno gives it, or else those of its machine.
        cpus: u64,
    },
    /// The server had to wait for windows of ours.
    OwnWindow {
        waits: Waits,
        /// The waits as a share of the connections' time.
        share: f64,
    },
    /// Bodies of requests waited for windows of the server's.
    PeerWindow { waits: Waits },
    /// The server announced the end of connections under load, or refused requests unread.
    Churn {
        goaways: u64,
        /// Requests that were sent again.
        refused: u64,
        attempted: u64,
    },
    /// The server asked for calm on connections on which we had ended streams.
    Calm { times: u64, resets_sent: u64 },
}

/// If a larger share of the requests was sent again, the load was not the one that was ordered.
const SENT_AGAIN: f64 = 0.01;
/// Fewer connections than so many for each CPU may leave workers without one, because chance distributes them.
const CONNECTIONS_FOR_A_CPU: u64 = 4;

impl Http2Doubt {
    pub(super) fn gravity(&self) -> Gravity {
        match *self {
            Http2Doubt::StreamsCapped { .. }
            | Http2Doubt::FewConnections { .. }
            | Http2Doubt::PeerWindow { .. } => Gravity::Note,
            Http2Doubt::Churn { refused, attempted, .. } => {
                let is_small = refused as f64 <= SENT_AGAIN * attempted as f64;
                if is_small { Gravity::Note } else { Gravity::Suspect }
            }
            Http2Doubt::OwnWindow { .. } | Http2Doubt::Calm { .. } => Gravity::Suspect,
        }
    }
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
    all.into_iter().flatten().map(Doubt::Http2).collect()
}

fn streams_capped(seen: &Http2) -> Option<Http2Doubt> {
    let (ordered, (allowed, _)) = (seen.wanted.streams, seen.effective_streams()?);
    (allowed < ordered).then_some(Http2Doubt::StreamsCapped { ordered, allowed })
}

/// With one stream a connection, the number of connections is what was ordered to be under way.
fn few_connections(seen: &Http2, begun: u64) -> Option<Http2Doubt> {
    let (connections, cpus) = (seen.wanted.connections, seen.wanted.server_cpus?);
    // Where no connection got as far as SETTINGS, no request travelled.
    seen.effective_streams()?;
    let is_few = 1 < seen.wanted.streams && connections < CONNECTIONS_FOR_A_CPU * cpus;
    (is_few && 1 < cpus).then_some(Http2Doubt::FewConnections { connections, begun, cpus })
}

fn own_window(seen: &Http2, recording: &Recording) -> Option<Http2Doubt> {
    let waits = seen.own_window;
    let measured = recording.measured_until.saturating_sub(recording.measured_from);
    let time = measured as f64 * seen.wanted.connections.max(1) as f64;
    let share = if 0.0 < time { waits.sum as f64 / time } else { 0.0 };
    (0 < waits.times).then_some(Http2Doubt::OwnWindow { waits, share })
}

fn peer_window(seen: &Http2) -> Option<Http2Doubt> {
    let waits = seen.peer_window;
    (0 < waits.times).then_some(Http2Doubt::PeerWindow { waits })
}

fn churn(seen: &Http2, attempted: u64) -> Option<Http2Doubt> {
    let (goaways, refused) = (seen.goaways.sum(), seen.refused);
    (0 < goaways + refused).then_some(Http2Doubt::Churn { goaways, refused, attempted })
}

fn calm(seen: &Http2) -> Option<Http2Doubt> {
    let (times, resets_sent) = (seen.calm_after_resets, seen.resets_sent);
    (0 < times).then_some(Http2Doubt::Calm { times, resets_sent })
}

#[cfg(test)]
mod tests {
    use load::{ServerSettings, Tally, WantedStreams};

    use super::*;

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
        ServerSettings {
            header_table_size: 4_096,
            max_concurrent_streams: streams,
            initial_window_size: 65_535,
            max_frame_size: 16_384,
            max_header_list_size: None,
        }
    }

    fn waits(sum: u64) -> Waits {
        Waits { times: 2, sum, longest: sum }
    }

    #[test]
    fn a_load_within_all_limits_raises_no_doubt() {
        assert_eq!(found(|_| {}), []);
        assert_eq!(found(|seen| seen.settings[0].0 = allowing(None)), [], "no limit");
        assert_eq!(found(|seen| seen.resets_sent = 3), [], "time-outs are failures of their own");
        let total = Tally::new(load::SECOND);
        let plain = Recording::new(total, 0..load::SECOND, load::SECOND);
        assert_eq!(of_recording(&plain), [], "HTTP/1.1");
    }

    #[test]
    fn fewer_streams_than_ordered_are_said() {
        let capped = |streams| found(|seen| seen.settings[0].0 = allowing(Some(streams)));
        let doubt = Http2Doubt::StreamsCapped { ordered: 10, allowed: 9 };
        assert_eq!((capped(10), capped(9)), (vec![], vec![Doubt::Http2(doubt)]));
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
        let own = found(|seen| seen.own_window = waits(1_600_000_000));
        let [Doubt::Http2(Http2Doubt::OwnWindow { share, .. })] = own[..] else {
            panic!("{own:?}")
        };
        assert!((share - 0.1).abs() < 1e-12, "of 16 connections' seconds: {share}");
        assert_eq!(own[0].gravity(), Gravity::Suspect);
        let peer = found(|seen| seen.peer_window = waits(5));
        assert_eq!(peer, [Doubt::Http2(Http2Doubt::PeerWindow { waits: waits(5) })]);
        assert_eq!(peer[0].gravity(), Gravity::Note);
    }

    #[test]
    fn connections_that_end_under_load_are_said_and_many_repeated_requests_are_suspect() {
        let churn = |goaways, refused| {
            let found = found(|seen| {
                seen.goaways.add("NO_ERROR", goaways);
                seen.refused = refused;
            });
            found.first().map(Doubt::gravity)
        };
        assert_eq!(churn(0, 0), None);
        assert_eq!((churn(1, 0), churn(0, 100)), (Some(Gravity::Note), Some(Gravity::Note)));
        assert_eq!(churn(1, 101), Some(Gravity::Suspect));
    }

    #[test]
    fn a_server_that_asks_for_calm_after_our_resets_is_not_blamed_alone() {
        let calm = found(|seen| (seen.calm_after_resets, seen.resets_sent) = (1, 11));
        assert_eq!(calm, [Doubt::Http2(Http2Doubt::Calm { times: 1, resets_sent: 11 })]);
        assert_eq!(calm[0].gravity(), Gravity::Suspect);
    }
}
