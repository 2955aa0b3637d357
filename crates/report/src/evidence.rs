//! Failures with their bytes, for readers: the server's bytes are shown, never obeyed.

use load::{Evidence, Failure};
use units::count;

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

/// What was sent, expected and received, each after its label. Bytes that cannot be printed are escaped.
pub(crate) fn lines(kept: &Evidence) -> impl Iterator<Item = String> {
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
    reason.chain(bytes).map(|(label, text)| format!("{label}: {text}"))
}

fn excerpt(bytes: &[u8], lacks_beginning: bool, is_cut: bool) -> String {
    let before = if lacks_beginning { "… " } else { "" };
    let after = if is_cut || BYTES_SHOWN < bytes.len() { " …" } else { "" };
    format!("{before}{}{after}", bytes[..bytes.len().min(BYTES_SHOWN)].escape_ascii())
}
