//! What a server of HTTP/2 can show: what cases wait for and are judged by.

use super::frame::{INTERNAL_ERROR, PROTOCOL_ERROR, code_name};
use super::received::{Received, Reply};
use crate::observation::{End, Observation};

/// Something that has come, or has happened to the connection.
#[derive(Clone, Copy, Debug)]
pub enum Sign {
    /// A whole answer on this stream: 2xx.
    Ok(u32),
    /// A whole answer on this stream with this content: 2xx.
    Echo(u32, &'static [u8]),
    /// A whole answer with this status.
    Status(u32, u16),
    /// A whole answer whose status has this first digit.
    Class(u32, u16),
    /// The head of an answer, whatever its status.
    Begun(u32),
    /// A whole answer, whatever its status.
    Answered(u32),
    /// RST_STREAM with one of these codes, or a connection error with one of them (RFC 9113, 5.4.1: a stream error may
    /// always be treated as one).
    StreamError(u32, &'static [u32]),
    /// GOAWAY with one of these codes. RFC 9113, 5.4: PROTOCOL_ERROR and INTERNAL_ERROR stand for any.
    ConnectionError(&'static [u32]),
    /// A stream error, or an answer that blames the client, other than that nothing is there.
    Malformed(u32),
    /// RST_STREAM that refuses the request, or the connection's end.
    Refused(u32),
    /// RST_STREAM that refuses the request.
    Reset(u32),
    /// RST_STREAM on any stream or GOAWAY, with one of these codes.
    AnyRefused(&'static [u32]),
    /// The connection ended, or a GOAWAY said that it will.
    Ends,
    /// A GOAWAY, whatever its code.
    GoAway,
    /// This many SETTINGS were acknowledged.
    Acknowledged(usize),
    /// A PING with this payload was answered.
    Pong(&'static [u8; 8]),
    /// This much content, at least, has come on this stream.
    Content(u32, u64),
}

/// Whether a code stands for one of these.
fn is_among(code: u32, codes: &[u32]) -> bool {
    codes.contains(&code) || matches!(code, PROTOCOL_ERROR | INTERNAL_ERROR)
}

impl Sign {
    pub(crate) fn holds(&self, seen: &Observation) -> bool {
        seen.heard.as_ref().is_some_and(|heard| self.is_in(heard, seen.end))
    }

    pub(super) fn is_in(&self, heard: &Received, end: End) -> bool {
        let is_ended = matches!(end, End::Closed | End::Reset);
        let whole = |stream: &u32| heard.reply(*stream).filter(|reply| reply.is_whole);
        let reset = |stream: &u32| heard.reply(*stream).and_then(Reply::refusal);
        let has_gone = |codes: &[u32]| heard.gone().any(|code| is_among(code, codes));
        match self {
            Sign::Ok(stream) => whole(stream).is_some_and(|reply| reply.status / 100 == 2),
            Sign::Echo(stream, content) => whole(stream)
                .is_some_and(|reply| reply.status / 100 == 2 && reply.content == *content),
            Sign::Status(stream, status) => {
                whole(stream).is_some_and(|reply| reply.status == *status)
            }
            Sign::Class(stream, class) => {
                whole(stream).is_some_and(|reply| reply.status / 100 == *class)
            }
            Sign::Begun(stream) => heard.reply(*stream).is_some_and(|reply| reply.status > 0),
            Sign::Answered(stream) => whole(stream).is_some(),
            Sign::StreamError(stream, codes) => {
                let resets = heard.reply(*stream).map(|reply| &reply.resets[..]);
                resets.unwrap_or_default().iter().any(|code| is_among(*code, codes))
                    || has_gone(codes)
            }
            Sign::ConnectionError(codes) => has_gone(codes),
            Sign::Malformed(stream) => {
                let is_blamed = |status: u16| status / 100 == 4 && status != 404;
                Sign::StreamError(*stream, &[PROTOCOL_ERROR]).is_in(heard, end)
                    || whole(stream).is_some_and(|reply| is_blamed(reply.status))
            }
            Sign::Refused(stream) => reset(stream).is_some() || Sign::Ends.is_in(heard, end),
            Sign::Reset(stream) => reset(stream).is_some(),
            Sign::AnyRefused(codes) => heard.has_refused_any(codes),
            Sign::Ends => heard.speaks() && is_ended || Sign::GoAway.is_in(heard, end),
            Sign::GoAway => heard.gone().next().is_some(),
            Sign::Acknowledged(count) => *count <= heard.acknowledged,
            Sign::Pong(payload) => heard.pongs.iter().any(|pong| pong == *payload),
            Sign::Content(stream, length) => {
                heard.reply(*stream).is_some_and(|reply| *length <= reply.length)
            }
        }
    }

    /// Whether the server did what was requested; everything else refuses it.
    #[cfg(test)]
    pub(crate) fn is_success(&self) -> bool {
        match self {
            Sign::Ok(_)
            | Sign::Echo(..)
            | Sign::Begun(_)
            | Sign::Acknowledged(_)
            | Sign::Pong(_)
            | Sign::Content(..) => true,
            Sign::Status(_, status) => status / 100 <= 2,
            Sign::Class(_, class) => *class <= 2,
            Sign::Answered(_)
            | Sign::StreamError(..)
            | Sign::ConnectionError(_)
            | Sign::Malformed(_)
            | Sign::Refused(_)
            | Sign::Reset(_)
            | Sign::AnyRefused(_)
            | Sign::Ends
            | Sign::GoAway => false,
        }
    }

    pub(crate) fn says(&self) -> String {
        let named = |codes: &[u32]| {
            let names: Vec<String> = codes.iter().map(|code| code_name(*code)).collect();
            names.join(" or ")
        };
        match self {
            Sign::Ok(stream) => format!("2xx on stream {stream}"),
            Sign::Echo(stream, content) => {
                format!("2xx on stream {stream} with the content {}", super::act::shown(content))
            }
            Sign::Status(stream, status) => format!("{status} on stream {stream}"),
            Sign::Class(stream, class) => format!("{class}xx on stream {stream}"),
            Sign::Begun(stream) => format!("the head of an answer on stream {stream}"),
            Sign::Answered(stream) => format!("an answer on stream {stream}"),
            Sign::StreamError(stream, codes) => {
                format!("a stream error on stream {stream} or a connection error: {}", named(codes))
            }
            Sign::ConnectionError(codes) => format!("a connection error: {}", named(codes)),
            Sign::Malformed(stream) => {
                format!(
                    "a stream error on stream {stream}, a connection error, or 4xx other than 404"
                )
            }
            Sign::Refused(stream) => {
                format!("RST_STREAM on stream {stream} or the end of the connection")
            }
            Sign::Reset(stream) => format!("RST_STREAM on stream {stream}"),
            Sign::AnyRefused(codes) => {
                format!("a stream error or a connection error: {}", named(codes))
            }
            Sign::Ends => "GOAWAY, or the end of the connection".into(),
            Sign::GoAway => "GOAWAY".into(),
            Sign::Acknowledged(1) => "the acknowledgement of SETTINGS".into(),
            Sign::Acknowledged(count) => format!("{count} acknowledgements of SETTINGS"),
            Sign::Pong(payload) => format!("the answer to PING {}", super::act::shown(*payload)),
            Sign::Content(stream, length) => {
                format!("{length} octets of content on stream {stream}")
            }
        }
    }
}
