//! Any bytes from a peer, in any cut: no panic, no hang, and the cut never changes the meaning.
//!
//! The input's first byte chooses the request and the limits, the second how the rest is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::{
    Ask, BodyRule, ExchangeId, Expect, H1, Limits, News, Progress, Request, Session, Template,
    Values, WireFault,
};

type HeldEvent = (Vec<News<WireFault>>, Result<(), WireFault>, Progress);

fuzz_target!(|input: &[u8]| {
    let [how, cut, bytes @ ..] = input else { return };
    let limits = Limits {
        lenient: how & 1 != 0,
        head: if how & 2 != 0 { 64 } else { 64 << 10 },
        body: if how & 4 != 0 { 100 } else { 1 << 30 },
        ..Limits::default()
    };
    let method = if how & 8 != 0 { "HEAD" } else { "GET" };
    let body = match how >> 4 & 3 {
        0 => BodyRule::Any,
        1 => BodyRule::Exactly(Template::parse(b"<v>{random:8}</v>").expect("a template")),
        2 => BodyRule::Length(13),
        _ => BodyRule::Sha256([0; 32]),
    };
    let request = Request { method: method.into(), ..Request::get("h", "/?v={random:8}") };
    let expect = Expect { body, ..Expect::default() };
    let ask = Ask::new(&request, expect).expect("a sound request");

    let ends = how & 128 != 0;
    let whole = hear(&ask, &limits, std::iter::once(bytes), ends);
    let size = usize::from(*cut).max(1);
    let pieces = hear(&ask, &limits, bytes.chunks(size), ends);
    assert_eq!(whole, pieces, "cut into pieces of {size}");
});

fn hear<'b>(
    ask: &Ask,
    limits: &Limits,
    mut pieces: impl Iterator<Item = &'b [u8]>,
    ends: bool,
) -> HeldEvent {
    let mut session = H1::new(limits);
    let mut news = Vec::new();
    let id = ExchangeId::default();
    session.submit(id, ask, Values { seq: 1, random: 2 }, &mut Vec::new(), &mut Vec::new());
    let mut result =
        pieces.try_for_each(|piece| session.receive(piece, &mut news, &mut Vec::new()));
    if ends && result.is_ok() {
        let _ = session.ended(&mut news);
        let progress = session.progress();
        result = if progress == Progress::Idle { Ok(()) } else { Err(progress.cut()) };
    }
    // After a fault the connection is closed, however far it had come.
    let progress = if result.is_ok() { session.progress() } else { Progress::Idle };
    (news, result, progress)
}
