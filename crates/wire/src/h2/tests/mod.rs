mod answers;
mod connection;
mod properties;
mod sending;

use std::num::NonZeroU16;
use std::sync::LazyLock;

use super::*;
use crate::{
    Ask, BodyRule, Expect, Limits, Progress, Request, Session, StatusRule, Template, Values,
};

const SOME: Values = Values { seq: 7, random: 11 };

// Types and flags of frames, typed here once more.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
/// END_STREAM, END_HEADERS, PADDED; and both of the first.
const ES: u8 = 1;
const EH: u8 = 4;
const PAD: u8 = 8;
const WHOLE: u8 = ES | EH;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let mut payload = Vec::new();
    for (name, value) in settings {
        payload.extend(name.to_be_bytes());
        payload.extend(value.to_be_bytes());
    }
    frame(SETTINGS, 0, 0, &payload)
}

fn window(stream: u32, increment: u32) -> Vec<u8> {
    frame(WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}

fn rst(stream: u32, code: u32) -> Vec<u8> {
    frame(RST_STREAM, 0, stream, &code.to_be_bytes())
}

fn goaway(last: u32, code: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), code.to_be_bytes()].concat())
}

/// `name: value` lines as a block of literals.
fn block(fields: &str) -> Vec<u8> {
    let mut block = Vec::new();
    for line in fields.lines() {
        let (name, value) = line[1..].split_once(':').unwrap();
        let (name, value) = (&line[..=name.len()], value.strip_prefix(' ').unwrap_or(value));
        block.extend([0, name.len() as u8]);
        block.extend(name.bytes());
        block.push(value.len() as u8);
        block.extend(value.bytes());
    }
    block
}

fn head(stream: u32, flags: u8, fields: &str) -> Vec<u8> {
    frame(HEADERS, flags, stream, &block(fields))
}

fn data(stream: u32, flags: u8, body: &str) -> Vec<u8> {
    frame(DATA, flags, stream, body.as_bytes())
}

/// A whole answer without a body.
fn ok(stream: u32) -> Vec<u8> {
    frame(HEADERS, WHOLE, stream, &[0x88])
}

fn order(streams: u16) -> H2Order {
    H2Order {
        streams: NonZeroU16::new(streams).unwrap(),
        windows: Windows::default(),
        indexed: true,
        limits: Limits::default(),
    }
}

fn request(method: &str, body: &str, expect: Expect) -> Ask {
    let request =
        Request { method: method.into(), body: body.into(), ..Request::get("localhost", "/") };
    Ask::new(&Request { http2: Some(Scheme::Http), ..request }, expect).unwrap()
}

fn get() -> &'static Ask {
    static GET: LazyLock<Ask> = LazyLock::new(|| {
        request("GET", "", Expect { status: StatusRule::Any, ..Expect::default() })
    });
    &GET
}

fn post(length: usize) -> Ask {
    request("POST", &"x".repeat(length), Expect::default())
}

fn id(number: u32) -> ExchangeId {
    ExchangeId { place: number, generation: 0 }
}

fn number(exchange: ExchangeId) -> u32 {
    exchange.place
}

/// A connection, and all that it has reported and sent since the last look.
struct Talk<'a> {
    h2: H2<'a>,
    news: Vec<H2News>,
    output: Vec<u8>,
}

impl<'a> Talk<'a> {
    /// Opened, and the server has not said anything.
    fn open(order: H2Order) -> Talk<'a> {
        let h2 = H2::new(Box::leak(Box::new(order)), Ledger::default());
        let mut talk = Talk { h2, news: Vec::new(), output: Vec::new() };
        talk.h2.open(&mut talk.news, &mut talk.output);
        talk
    }

    /// The server has sent these SETTINGS; what was said until then is not looked at.
    fn ready(order: H2Order, announced: &[(u16, u32)]) -> Talk<'a> {
        let mut talk = Talk::open(order);
        talk.hear(&settings(announced)).unwrap();
        talk.look();
        talk
    }

    /// Ready, and these requests are under way on streams 1, 3, 5 …; the exchanges are 1, 2, 3 …
    fn asked(order: H2Order, asks: impl IntoIterator<Item = &'a Ask>) -> Talk<'a> {
        let mut talk = Talk::ready(order, &[]);
        for (place, ask) in (1..).zip(asks) {
            talk.ask(place, ask);
        }
        talk.look();
        talk
    }

    fn ask(&mut self, exchange: u32, ask: &'a Ask) {
        self.h2.submit(id(exchange), ask, SOME, &mut self.news, &mut self.output);
    }

    fn hear(&mut self, bytes: &[u8]) -> Result<(), H2Fault> {
        self.h2.receive(bytes, &mut self.news, &mut self.output)
    }

    /// How far the answer to this exchange has come.
    fn progress(&self, exchange: u32) -> Progress {
        let mut found = Vec::new();
        self.h2.under_way(&mut found);
        found.iter().find(|(it, _)| *it == id(exchange)).map_or(Progress::Idle, |(_, far)| *far)
    }

    /// Sends more of bodies, as the lane does after it has received.
    fn go_on(&mut self) {
        while self.h2.has_more() {
            self.h2.send_more(&mut self.news, &mut self.output);
        }
    }

    /// What was reported, and then what was sent.
    fn look(&mut self) -> String {
        let mut said: Vec<String> = self.news.drain(..).filter_map(note).collect();
        said.extend(
            sent(&std::mem::take(&mut self.output)).into_iter().map(|it| format!("> {it}")),
        );
        said.join(", ")
    }

    /// What comes of these frames.
    fn after(&mut self, frames: &[Vec<u8>]) -> String {
        let end = self.hear(&frames.concat());
        let said = self.look();
        match end {
            Ok(()) => said,
            Err(fault) => {
                let parts = [said, format!("fault {}", fault.name())];
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

fn note(news: H2News) -> Option<String> {
    Some(match news {
        // What it says depends on how the bytes were cut.
        H2News::Part { .. } => return None,
        H2News::Introduced => "introduced".into(),
        H2News::Ready => "ready".into(),
        H2News::Room => "room".into(),
        H2News::Starved => "starved".into(),
        H2News::Fed => "fed".into(),
        H2News::FirstByte(exchange) => format!("{} begins", number(exchange)),
        H2News::Interim(exchange) => format!("{} interim", number(exchange)),
        H2News::Answered { exchange, status, mismatch, reusable, .. } => {
            let wrong = mismatch.map_or(String::new(), |wrong| format!(" wrong {wrong:?}"));
            let last = if reusable { "" } else { " last" };
            format!("{}: {status}{wrong}{last}", number(exchange))
        }
        H2News::Refused(exchange) => format!("{} refused", number(exchange)),
        H2News::Failed(exchange, fault) => format!("{} failed {}", number(exchange), fault.name()),
        H2News::Stalled(exchange) => format!("{} stalls", number(exchange)),
        H2News::Flowing(exchange) => format!("{} flows", number(exchange)),
        H2News::Draining => "draining".into(),
    })
}

/// The payloads of frames, one after the other.
fn payloads(mut frames: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while !frames.is_empty() {
        let length = usize::from(frames[2]) + 256 * usize::from(frames[1]);
        all.extend(&frames[9..9 + length]);
        frames = &frames[9 + length..];
    }
    all
}

/// Frames in words.
fn sent(mut bytes: &[u8]) -> Vec<String> {
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes[..4].try_into().unwrap());
    let mut frames = Vec::new();
    if let Some(after) = bytes.strip_prefix(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") {
        frames.push("PREFACE".into());
        bytes = after;
    }
    while !bytes.is_empty() {
        let length = number(&[0, bytes[0], bytes[1], bytes[2]]) as usize;
        let (kind, flags, stream) = (bytes[3], bytes[4], number(&bytes[5..]));
        let payload = &bytes[9..9 + length];
        let ends = if flags & ES != 0 { " end" } else { "" };
        frames.push(match kind {
            DATA => format!("DATA {stream} {length}{ends}"),
            HEADERS => format!("HEADERS {stream}{ends}{}", if flags & EH != 0 { "" } else { " …" }),
            RST_STREAM => format!("RST {stream} {}", number(payload)),
            SETTINGS if flags & 1 != 0 => "SETTINGS ACK".into(),
            SETTINGS => {
                let pair = |pair: &[u8]| format!(" {}={}", pair[1], number(&pair[2..]));
                format!("SETTINGS{}", payload.chunks(6).map(pair).collect::<String>())
            }
            PING => format!("PING {flags} {}", payload[7]),
            GOAWAY => format!("GOAWAY {} {}", number(payload), number(&payload[4..])),
            WINDOW_UPDATE => format!("WINDOW {stream} +{}", number(payload)),
            CONTINUATION => {
                format!("CONTINUATION {stream}{}", if flags & EH != 0 { "" } else { " …" })
            }
            other => panic!("a frame of type {other}"),
        });
        bytes = &bytes[9 + length..];
    }
    frames
}
