//! What was seen of HTTP/2, in words and as JSON.

use load::{H2Order, HeadCounts, Http2, ServerSettings, Traffic};
use units::{bytes, count, counted, nanos};

use crate::document::Fact;
use crate::json::{DistributionJson, json_type};
use crate::security::listed;

/// The line of a report that says what was seen.
pub(crate) fn fact(seen: &Http2) -> Fact {
    let mut fact = Fact::new("HTTP/2", streams(seen));
    for (settings, connections) in &seen.settings {
        let on = match seen.settings.len() {
            1 => String::new(),
            _ => format!(" ({})", counted(*connections, "connection", "connections")),
        };
        fact = fact.and(format!("the server's SETTINGS{on}: {}", in_words(settings)));
    }
    if 0 < seen.traffic.reads_with_answers {
        let each = seen.traffic.answers as f64 / seen.traffic.reads_with_answers as f64;
        fact = fact.and(format!(
            "a read that ended an answer ended {each:.1} of them on average{}",
            heads(seen.traffic.heads)
        ));
    }
    if let Some(codes) = listed(&seen.traffic.goaways) {
        let on = counted(seen.traffic.goaways.sum(), "connection", "connections");
        fact = fact.and(format!("the server announced the end of {on} (GOAWAY): {codes}"));
    }
    if 0 < seen.traffic.refused {
        let refused = counted(seen.traffic.refused, "request", "requests");
        fact = fact.and(format!("{refused} came back untouched by the server, to be sent again"));
    }
    if let Some(codes) = listed(&seen.traffic.resets_received) {
        let sum = counted(seen.traffic.resets_received.sum(), "stream was", "streams were");
        fact = fact.and(format!("{sum} ended by the server (RST_STREAM): {codes}"));
    }
    if 0 < seen.traffic.resets_sent {
        let sum = counted(seen.traffic.resets_sent, "stream was", "streams were");
        fact = fact.and(format!("{sum} ended by dyno (RST_STREAM)"));
    }
    let waited = [
        (seen.traffic.peer_window, "bodies of requests waited for the server's windows"),
        (seen.traffic.own_window, "the server waited for dyno's windows"),
    ];
    waited.into_iter().filter(|(waits, _)| 0 < waits.times).fold(fact, |fact, (waits, what)| {
        fact.and(format!("{what} {}, for {} in all", times(waits.times), nanos(waits.sum)))
    })
}

fn streams(seen: &Http2) -> String {
    let wanted = counted(seen.wanted.streams, "request", "requests");
    match seen.effective_streams() {
        None => format!("no SETTINGS came; up to {wanted} at once on each connection were ordered"),
        Some((least, most)) if (least, most) == (seen.wanted.streams, seen.wanted.streams) => {
            format!("up to {wanted} at once on each connection")
        }
        Some((least, most)) if least == most => {
            format!("up to {} at once on each connection; {wanted} were ordered", count(least))
        }
        Some((least, most)) => format!(
            "up to {} to {} requests at once on each connection; {wanted} were ordered",
            count(least),
            count(most)
        ),
    }
}

/// SETTINGS, by the names of RFC 9113.
pub(crate) fn in_words(settings: &ServerSettings) -> String {
    let limit = |limit: Option<u32>| limit.map_or("none".into(), |limit| count(limit.into()));
    format!(
        "MAX_CONCURRENT_STREAMS {}, INITIAL_WINDOW_SIZE {}, MAX_FRAME_SIZE {}, HEADER_TABLE_SIZE {}, \
         MAX_HEADER_LIST_SIZE {}",
        limit(settings.max_concurrent_streams),
        count(settings.initial_window_size.into()),
        count(settings.max_frame_size.into()),
        count(settings.header_table_size.into()),
        limit(settings.max_header_list_size)
    )
}

fn heads(heads: HeadCounts) -> String {
    if heads.blocks == 0 {
        return String::new();
    }
    let each = |octets: u64| bytes((octets as f64 / heads.blocks as f64).round() as u64);
    format!(
        "; an answer's header fields took {}, and count as {} uncompressed (RFC 9113, 6.5.2, adds 32 for each field)",
        each(heads.octets),
        each(heads.list_octets)
    )
}

fn times(times: u64) -> String {
    if times == 1 { "once".into() } else { format!("{} times", count(times)) }
}

json_type! {
    /// What was seen of HTTP/2. Counts are those of the measured time; SETTINGS and `ready` include the connections
    /// that were opened before it.
    pub(crate) struct Http2Json as "http2" of it: Http2 {
        /// requests at once on each connection that were ordered
        streams_ordered: u64 = it.wanted.streams,
        /// the least that the order and a server's SETTINGS allowed; null if no SETTINGS came
        streams_min: Option<u64> = it.effective_streams().map(|(least, _)| least),
        /// the most that they allowed
        streams_max: Option<u64> = it.effective_streams().map(|(_, most)| most),
        /// what servers announced, and on how many connections
        settings: Vec<SettingsJson> = it.settings.iter().map(SettingsJson::from).collect(),
        /// from the establishment of a connection, TLS included, until the server's SETTINGS; null if none came
        ready: Option<DistributionJson> = it.ready.as_ref().map(DistributionJson::from),
        #[serde(flatten)]
        traffic: Traffic = it.traffic.clone(),
    }
}

json_type! {
    /// SETTINGS of a server, with the values of RFC 9113, 6.5.2 for those that it did not announce.
    pub(crate) struct SettingsJson as "server_settings" of it: (ServerSettings, u64) {
        /// connections on which they came
        connections: u64 = it.1,
        #[serde(flatten)]
        settings: ServerSettings = it.0,
    }
}

json_type! {
    /// How HTTP/2 was to be spoken.
    #[derive(serde::Deserialize)]
    pub(crate) struct Http2OrderJson as "http2_order" of order: H2Order {
        /// requests at once on each connection
        pub(crate) streams: u16 = order.streams.get(),
        /// how many octets the server may send on a stream before it must wait
        pub(crate) window_stream: u32 = order.windows.stream(),
        /// the same on all streams of a connection together
        pub(crate) window_connection: u32 = order.windows.connection(),
        /// how header fields are compressed: indexed or static
        pub(crate) hpack: String = if order.indexed { "indexed" } else { "static" }.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::{Waits, WantedStreams};

    fn seen() -> Http2 {
        let wanted = WantedStreams { connections: 16, streams: 100, server_cpus: None };
        let heads = HeadCounts { blocks: 1_000, octets: 34_000, list_octets: 200_000, known: 0 };
        let (answers, reads_with_answers) = (1_000, 32);
        let traffic = Traffic { answers, reads_with_answers, heads, ..Traffic::default() };
        let mut seen = Http2 { wanted, traffic, ..Http2::default() };
        let settings =
            ServerSettings { max_concurrent_streams: Some(128), ..ServerSettings::default() };
        seen.settings = vec![(settings, 16)];
        seen
    }

    #[test]
    fn what_was_seen_is_said_in_a_few_lines() {
        assert_eq!(
            fact(&seen()).texts,
            [
                "up to 100 requests at once on each connection",
                "the server's SETTINGS: MAX_CONCURRENT_STREAMS 128, INITIAL_WINDOW_SIZE 65,535, MAX_FRAME_SIZE 16,384, \
                 HEADER_TABLE_SIZE 4,096, MAX_HEADER_LIST_SIZE none",
                "a read that ended an answer ended 31.2 of them on average; an answer's header fields took 34 B, and \
                 count as 200 B uncompressed (RFC 9113, 6.5.2, adds 32 for each field)",
            ]
        );
        let none = Http2::default();
        assert_eq!(fact(&none).texts.len(), 1);
    }

    #[test]
    fn what_seldom_happens_is_said_only_then() {
        let mut seen = Http2 { settings: Vec::new(), traffic: Traffic::default(), ..seen() };
        seen.traffic.goaways.add("NO_ERROR", 1);
        (seen.traffic.refused, seen.traffic.resets_sent) = (7, 1);
        seen.traffic.resets_received.add("CANCEL", 2);
        seen.traffic.resets_received.add("INTERNAL_ERROR", 1);
        seen.traffic.peer_window = Waits { times: 2, sum: 3_000_000, longest: 2_000_000 };
        assert_eq!(
            fact(&seen).texts[1..],
            [
                "the server announced the end of 1 connection (GOAWAY): NO_ERROR",
                "7 requests came back untouched by the server, to be sent again",
                "3 streams were ended by the server (RST_STREAM): CANCEL (2) and INTERNAL_ERROR (1)",
                "1 stream was ended by dyno (RST_STREAM)",
                "bodies of requests waited for the server's windows 2 times, for 3.00 ms in all",
            ]
        );
    }
}
