//! What only some cases of HTTP/2 ask of an exchange.

use super::frame::{COMPRESSION_ERROR, HEADER_TABLE_SIZE};
use super::hello::Greeting;
use super::received::Reply;
use super::{Breach, Received};
use crate::condition::{Condition, when};
use crate::observation::{End, Observation};

/// What the catalogue asks by name.
pub(crate) const CONDITIONS: &[Condition] = &[
    when("no_content", "no content", |seen| is_reply(seen, |it| it.length == 0)),
    when("answer_has_date", "a date", |seen| is_reply(seen, |it| it.field("date").is_some())),
    when("frame_size_limited", "a MAX_FRAME_SIZE below 2^24-1", |seen| {
        is_heard(seen, |it| it.frame_max() < (1 << 24) - 1)
    }),
    when("refused_in_http1", "a refusal in HTTP/1.1", |seen| seen.received.starts_with(b"HTTP/1.")),
    when("table_below_16_mib", "a table of less than 16 MiB", |seen| {
        is_heard(seen, |it| it.setting(HEADER_TABLE_SIZE).is_none_or(|size| size < 1 << 24))
    }),
    when("compression_error", "COMPRESSION_ERROR", |seen| {
        is_heard(seen, |it| it.gone().any(|code| code == COMPRESSION_ERROR))
    }),
    when(
        "last_stream_not_below_answered",
        "the last stream not below those that were answered",
        |seen| is_heard(seen, |it| it.last() >= Some(3)),
    ),
    when("streams_limited", "a limit of at most 1,000 streams", |seen| {
        is_heard(seen, |it| it.streams_max() <= 1000)
    }),
    when("waits_for_window", "an answer that waits for its window", |seen| {
        is_reply(seen, |it| it.status > 0 && (!it.is_whole || it.length > 0))
    }),
    when(
        "window_of_3_filled",
        "a page of more than 4 octets, of which 3 come when the window has 3",
        |seen| is_reply(seen, |it| it.length >= 3 && (!it.is_whole || it.length > 4)),
    ),
    when("window_exceeded", "more content than the window allowed", |seen| {
        is_heard(seen, |it| it.breaches.contains(&Breach::Window))
    }),
    when("at_most_4_octets", "no more than 4 octets of content", |seen| {
        is_reply(seen, |it| it.length <= 4)
    }),
    when("unanswered_before_end", "a request that is not answered before its end", |seen| {
        !is_reply(seen, |it| it.is_whole)
    }),
    when("content_is_read", "an answer that does not come before the content", |seen| {
        !is_reply(seen, has_dropped_content)
    }),
    when("all_processed", "all of it processed", |seen| {
        is_heard(seen, Received::has_answered_probe)
    }),
    when("frame_dropped", "the frame dropped", |seen| {
        is_heard(seen, |it| it.has_answered_probe() && it.answers(1) <= 1)
    }),
    when("open_after_two_minutes", "still open after two minutes", |seen| {
        seen.end == End::Open && seen.slow.acted.is_none()
    }),
    when("tls_refused", "an alert, or the end of the connection", |seen| {
        is_greeting(seen, |it| it.version.is_none())
            && (seen.is_closed() || is_greeting(seen, |it| it.alert.is_some()))
    }),
    when("without_http2", "a handshake without HTTP/2", |seen| {
        is_greeting(seen, |it| it.version.is_some() && !it.is_http2())
    }),
    when("speaks_tls_1_2", "TLS 1.2", |seen| is_greeting(seen, speaks_tls_1_2)),
    when("tls_1_2_and_http2", "TLS 1.2 with one of these suites, and HTTP/2", |seen| {
        is_greeting(seen, |it| {
            it.version == Some(TLS_1_2) && REQUIRED.contains(&it.suite) && it.is_http2()
        })
    }),
    when("no_application_protocol", "the alert no_application_protocol", |seen| {
        is_greeting(seen, |it| it.alert == Some(120))
    }),
    when("server_hello", "a ServerHello of TLS 1.2", |seen| {
        is_greeting(seen, |it| it.version.is_some())
    }),
    when("renegotiation_tied", "ServerHello with renegotiation_info", |seen| {
        is_greeting(seen, |it| it.is_tied)
    }),
    when("not_compressed", "ServerHello without compression", |seen| {
        is_greeting(seen, |it| it.version.is_some() && it.compression == 0)
    }),
    when("close_notify", "close_notify", |seen| seen.is_closed_by_notice == Some(true)),
    when("no_end_or_reset", "no end, or a reset", |seen| {
        matches!(seen.end, End::Open | End::Reset)
    }),
];

const TLS_1_2: u16 = 0x0303;
/// TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, and the same for a certificate with ECDSA: `REQUIRED` of `tls.toml`.
const REQUIRED: [u16; 2] = [0xc02f, 0xc02b];

fn is_heard(seen: &Observation, question: fn(&Received) -> bool) -> bool {
    seen.heard.as_ref().is_some_and(question)
}

/// Whether this is so of the reply on stream 1; it is not if there is none.
fn is_reply(seen: &Observation, question: fn(&Reply) -> bool) -> bool {
    seen.heard.as_ref().and_then(|heard| heard.reply(1)).is_some_and(question)
}

fn is_greeting(seen: &Observation, question: fn(&Greeting) -> bool) -> bool {
    seen.greeting.as_ref().is_some_and(question)
}

/// A server that answers before the content has come, and drops it, does not learn how long it is.
fn has_dropped_content(reply: &Reply) -> bool {
    reply.status / 100 == 2 && reply.reset.is_some() && reply.refusal().is_none()
}

/// A server that has TLS 1.3 alone need not say anything about 1.2.
fn speaks_tls_1_2(greeting: &Greeting) -> bool {
    greeting.version == Some(TLS_1_2) || !matches!(greeting.alert, Some(70) | None)
}
