//! Failures with their bytes, for readers and for programs: the server's bytes are shown, never obeyed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use load::{Evidence, Failure};
use units::{count, seconds};

use crate::json::json_type;

/// At most this many classes of failure are shown with their bytes.
const CLASSES_SHOWN: usize = 3;
/// At most this many bytes of a request or an answer are shown.
const BYTES_SHOWN: usize = 300;

/// The first failure of each class, among those with an answer or a reason of their own.
pub(crate) fn first_of_each(all: &[Evidence]) -> impl Iterator<Item = &Evidence> {
    let first = |failure: Failure| all.iter().find(|kept| kept.failure == failure);
    let says_more = |kept: &&Evidence| !kept.received.is_empty() || kept.reason.is_some();
    Failure::ALL.into_iter().filter_map(first).filter(says_more).take(CLASSES_SHOWN)
}

pub(crate) fn title(kept: &Evidence) -> String {
    let stream = kept.stream.map_or(String::new(), |stream| format!(" on stream {stream}"));
    format!("the first {}, request {}{stream}:", kept.failure.name(), count(kept.seq))
}

/// What was sent, expected and received, each with its label. Bytes that cannot be printed are escaped.
pub(crate) fn parts(kept: &Evidence) -> Vec<(&'static str, String)> {
    let expected: Vec<&str> = kept.expected.lines().collect();
    let sent = match kept.request.as_slice() {
        [] => "no request yet".into(),
        request => excerpt(request, false, false),
    };
    let received = match kept.received.as_slice() {
        [] => "nothing of an answer".into(),
        received => excerpt(received, kept.lacks_beginning, kept.is_cut),
    };
    let reason = kept.reason.iter().map(|reason| ("because", reason.clone()));
    let bytes = [("sent", sent), ("expected", expected.join("; ")), ("received", received)];
    reason.chain(bytes).collect()
}

fn excerpt(bytes: &[u8], lacks_beginning: bool, is_cut: bool) -> String {
    let before = if lacks_beginning { "… " } else { "" };
    let after = if is_cut || BYTES_SHOWN < bytes.len() { " …" } else { "" };
    format!("{before}{}{after}", bytes[..bytes.len().min(BYTES_SHOWN)].escape_ascii())
}

json_type! {
    /// One failure with its bytes.
    pub(crate) struct EvidenceJson as "evidence" of kept: Evidence {
        /// the class of the failure
        class: &'static str = kept.failure.name(),
        /// when it was known, from the start of the load
        at_s: f64 = seconds(kept.at),
        /// which request it was
        seq: u64,
        /// the stream of HTTP/2; then request and answer are fields, one a line, an empty line, and the body
        stream: Option<u32>,
        /// what was wrong, in words, where the class says less
        reason: Option<String> = kept.reason.clone(),
        /// the request, in base64
        request: String = STANDARD.encode(&kept.request),
        /// what was expected, in words
        expected: String = kept.expected.clone(),
        /// the beginning of the answer, in base64: up to 4 KiB, or 2 KiB if it came in several reads
        received: String = STANDARD.encode(&kept.received),
        /// it came in several reads, and its beginning was not kept: each lane keeps those of 4,096 answers at once
        lacks_beginning: bool,
        /// more came than was kept
        is_cut: bool,
    }
}
