//! One request of HTTP/1.1, and its answer, judged by a connection of its own.

use std::io::Read;

use flate2::Compression;
use flate2::read::GzEncoder;

use crate::ask::Ask;
use crate::expect::Mismatch;
use crate::forms::Forms;
use crate::h1::{H1, Limits};
use crate::template::Values;
use crate::{ExchangeId, News, Session};

/// The octets of a request: those that are kept ready for it, if there are any.
pub(crate) fn encoded(ask: &Ask, values: Values) -> Vec<u8> {
    let mut bytes = Vec::new();
    ask.encode(values, &mut bytes);
    assert!(ask.ready(values).is_none_or(|ready| ready == bytes));
    bytes
}

/// An answer with this body and its length.
pub(crate) fn whole(status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// The mismatch of an answer that comes in pieces of this length.
pub(crate) fn judged(
    ask: &Ask,
    values: Values,
    answer: &[u8],
    forms: Option<&Forms>,
    piece: usize,
) -> Option<Mismatch> {
    let limits = Limits::default();
    let (mut session, mut news) = (H1::new(&limits).learning(forms.cloned()), Vec::new());
    let _ = session.submit(ExchangeId::default(), ask, values, &mut news, &mut Vec::new());
    for piece in answer.chunks(piece) {
        session.receive(piece, &mut news, &mut Vec::new()).unwrap();
    }
    let verdict = news.iter().find_map(|news| match news {
        News::Answered { mismatch, .. } => Some(*mismatch),
        _ => None,
    });
    verdict.expect("the answer is whole")
}

pub(crate) fn gzip(text: &[u8], level: u32) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(text, Compression::new(level)).read_to_end(&mut packed).unwrap();
    packed
}
