//! Any bytes from a peer that speaks HTTP/2, in any cut: no panic, no hang, bounded memory, and the cut never changes
//! the meaning. A debug build also decodes each head that is known from an equal one, and compares.
//!
//! The input's first byte chooses the order, the second how the rest is cut.
#![no_main]

use std::num::NonZeroU16;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use wire::h2::{H2, H2Fault, H2Order, Ledger, Scheme, Windows};
use wire::{Ask, BodyRule, ExchangeId, Expect, Limits, News, Request, Session, Template, Values};

type H2News = News<H2Fault>;
type Heard = (Vec<H2News>, Vec<u8>, Result<(), H2Fault>);

/// SETTINGS without a setting.
const INTRODUCTION: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

static ASKS: LazyLock<[Ask; 3]> = LazyLock::new(|| {
    let ask = |method: &str, length: usize, body| {
        let request = Request {
            method: method.into(),
            body: vec![b'x'; length],
            ..Request::get("h", "/?v={random:8}")
        };
        let headers = vec![("a".into(), Template::literal("b"))];
        let expect = Expect { headers, body, ..Expect::default() };
        Ask::new(&Request { http2: Some(Scheme::Http), ..request }, expect)
            .expect("a sound request")
    };
    [
        ask("GET", 0, BodyRule::Any),
        ask("HEAD", 0, BodyRule::Any),
        ask("POST", 70_000, BodyRule::Length(5)),
    ]
});

fuzz_target!(|input: &[u8]| {
    let [how, cut, bytes @ ..] = input else { return };
    let order = H2Order {
        streams: NonZeroU16::new(6).expect("six"),
        windows: match how & 1 {
            0 => Windows::default(),
            _ => Windows::new(20, 65_535).expect("allowed"),
        },
        indexed: how & 2 != 0,
        limits: Limits {
            body: if how & 4 != 0 { 100 } else { 1 << 30 },
            head: if how & 8 != 0 { 200 } else { 64 << 10 },
            lenient: how & 16 != 0,
            ..Limits::default()
        },
    };
    // How a conversation begins, and how it goes on.
    let introduced = how & 32 == 0;
    let whole = hear(&order, introduced, std::iter::once(bytes));
    let size = usize::from(*cut).max(1);
    let pieces = hear(&order, introduced, bytes.chunks(size));
    assert_eq!(whole, pieces, "cut into pieces of {size}");
});

/// What comes of the pieces, before or after the server has introduced itself and requests were sent.
fn hear<'b>(
    order: &H2Order,
    introduced: bool,
    mut pieces: impl Iterator<Item = &'b [u8]>,
) -> Heard {
    let mut h2 = H2::new(order, Ledger::default());
    let (mut news, mut output) = (Vec::new(), Vec::new());
    h2.open(&mut news, &mut output);
    let asked: u32 = if introduced { 6 } else { 0 };
    if introduced {
        h2.receive(INTRODUCTION, &mut news, &mut output).expect("a sound beginning");
    }
    for exchange in 0..asked {
        let values = Values { seq: exchange.into(), random: 2 };
        let id = ExchangeId { place: exchange, generation: 0 };
        let ask = &ASKS[exchange as usize % ASKS.len()];
        h2.submit(id, ask, values, &mut news, &mut output);
    }
    let sent = output.len();
    let result = pieces.try_for_each(|piece| h2.receive(piece, &mut news, &mut output));
    assert!(output.len() - sent < 64 << 10, "{} bytes wait for the peer", output.len());
    let is_end = |news: &&H2News| {
        matches!(news, H2News::Answered { .. } | H2News::Refused(_) | H2News::Failed(..))
    };
    let ended = news.iter().filter(is_end).count();
    let mut under_way = Vec::new();
    h2.under_way(&mut under_way);
    assert_eq!(ended + under_way.len(), asked as usize);
    // Where the parts of a body lie depends on the cuts.
    news.retain(|news| !matches!(news, H2News::Part { .. }));
    (news, output, result)
}
