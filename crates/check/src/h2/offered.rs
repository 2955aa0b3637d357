//! Whether a server speaks HTTP/2 at all, and the exchanges by which it is known to be there.

use super::act::{Act, OPEN, Piece, get, post};
use super::frame::{DATA, END_STREAM};
use super::sign::Sign;
use crate::case::Case;
use crate::exchange::{Patience, exchange};
use crate::observation::End;
use crate::script::{Rule::Http2, Step};
use crate::target::Target;

/// A plain GET: a server that answers it is there.
pub(crate) const PAGE: Case =
    Case { steps: &[Step::Http2(&[OPEN, get(1)])], pass: &[Http2(Sign::Ok(1))], ..Case::BLANK };

/// A POST: whether the path takes content, and sends it back.
pub(crate) const POST: Case = Case {
    steps: &[Step::Http2(&[
        OPEN,
        post(1),
        Act::Frame(DATA, END_STREAM, 1, &[Piece::Octets(b"dyno asks")]),
    ])],
    pass: &[Http2(Sign::Answered(1))],
    ..Case::BLANK
};

/// A request that is left without its end: what the client sends at once.
pub(crate) const HALF: [Act; 2] = [OPEN, post(1)];

/// Why there is nothing to check: what the server does in place of speaking HTTP/2. None if it speaks it, or is not
/// there.
pub(crate) fn not_offered(target: &Target, patience: &Patience) -> Option<String> {
    if let Err(error) = target.connect(patience.connect) {
        let client = target.tls.as_ref()?.with_alpn(tls::HTTP_1_1);
        let other = Target { tls: Some(client), ..target.clone() };
        return match other.connect(patience.connect) {
            Ok(_) => Some(format!("HTTP/2 is not offered: {error}")),
            Err(_) => None,
        };
    }
    let seen = exchange(&PAGE, target, "/", patience);
    match &seen.heard {
        Some(heard) if heard.is_greeted() => None,
        Some(_) if seen.received.is_empty() && seen.end == End::Open => {
            Some("HTTP/2 is not offered: the server does not answer its preface".into())
        }
        Some(_) if seen.received.is_empty() => {
            Some("HTTP/2 is not offered: the server ends the connection after its preface".into())
        }
        Some(_) => {
            const SHOWN: usize = 60;
            let first = seen.received.split(|octet| matches!(octet, b'\r' | b'\n')).next();
            let first = first.unwrap_or_default();
            let shown = first[..first.len().min(SHOWN)].escape_ascii();
            Some(format!("HTTP/2 is not offered: the server answers its preface with `{shown}`"))
        }
        None => None,
    }
}
