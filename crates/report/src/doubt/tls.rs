//! Doubts about TLS in words.

use analysis::TlsDoubt;
use units::{count, percent};

pub(super) fn id(doubt: &TlsDoubt) -> &'static str {
    match doubt {
        TlsDoubt::Mixed { .. } => "tls_mixed",
        TlsDoubt::Unlike { .. } => "tls_unlike",
        TlsDoubt::ResumptionUnlike { .. } => "resumption_unlike",
        TlsDoubt::HelloRetry { .. } => "hello_retry",
        TlsDoubt::HandshakesCost { .. } => "handshakes_cost",
    }
}

pub(super) fn says(doubt: &TlsDoubt) -> String {
    match *doubt {
        TlsDoubt::Mixed { what, ref most, ref other } => format!(
            "connections differ in what they agreed on with TLS: most have the {what} `{}`, others `{}`",
            most.escape_debug(),
            other.escape_debug()
        ),
        TlsDoubt::Unlike { what, ref mine, most: Some(ref most) } => format!(
            "the {what} that it agreed on with TLS is `{}`, and that of most others `{}`: they differ in what TLS costs them",
            mine.escape_debug(),
            most.escape_debug()
        ),
        TlsDoubt::Unlike { what, ref mine, most: None } => format!(
            "the {what} that it agreed on with TLS is `{}`, and that of others is another, without a majority for any: they \
             differ in what TLS costs them",
            mine.escape_debug()
        ),
        TlsDoubt::ResumptionUnlike { resumed, meant, of } => format!(
            "{} of {} handshakes resumed a session, and {} were to: full and resumed handshakes differ in what they cost",
            count(resumed),
            count(of),
            count(meant)
        ),
        TlsDoubt::HelloRetry { retried, of } => format!(
            "in {} of {} handshakes the server asked for another group than the first one offered, which takes a round \
             trip more",
            count(retried),
            count(of)
        ),
        TlsDoubt::HandshakesCost { handshakes, share } => format!(
            "there were {} handshakes with TLS, and dyno was busy {} of the time: a client's part of a handshake costs \
             about as much as the server's, or more, so the rate may be dyno's limit",
            count(handshakes),
            percent(share)
        ),
    }
}
