//! A question over HTTP/2, alone on its connection. Its answer is kept in the form of HTTP/1.1, so that answers to one
//! question can be compared whichever protocol carried them.

use std::num::NonZeroU16;
use std::time::{Duration, Instant};

use wire::h2::{H2Fault, H2Order, Ledger, Windows};
use wire::{ExchangeId, Limits, News, Session, Values};

use super::peer::{connected, read, send};
use super::{Asked, Fault, KEPT, failure};
use crate::workload::Question;
use tls::Stream;

const EXCHANGE: ExchangeId = ExchangeId { place: 0, generation: 0 };

/// Sends the request and reads its answer to the end, or to the limit.
pub(super) fn converse(
    server: Asked<'_>,
    question: &Question,
    values: Values,
    limit: Duration,
    received: &mut Vec<u8>,
) -> Result<(), Fault> {
    let until = Instant::now() + limit;
    let mut socket = connected(server, limit)?;
    let order = H2Order {
        streams: NonZeroU16::MIN,
        windows: Windows::default(),
        indexed: false,
        limits: Limits::default(),
    };
    let mut conversation = Conversation {
        session: wire::h2::H2::watched(&order, Ledger::default()),
        news: Vec::new(),
        output: Vec::new(),
        body: Vec::new(),
        status: None,
    };
    let verdict = conversation.carry_out(&mut socket, question, values, (limit, until));
    conversation.keep(received);
    let mut last = Vec::new();
    conversation.session.close(&mut last);
    let _ = send(&mut socket, &last, until);
    verdict
}

struct Conversation<'a> {
    session: wire::h2::H2<'a>,
    news: Vec<News<H2Fault>>,
    output: Vec<u8>,
    body: Vec<u8>,
    status: Option<u16>,
}

impl<'a> Conversation<'a> {
    fn carry_out(
        &mut self,
        socket: &mut Stream,
        question: &'a Question,
        values: Values,
        (limit, until): (Duration, Instant),
    ) -> Result<(), Fault> {
        self.session.open(&mut self.news, &mut self.output);
        let constant =
            self.session.submit(EXCHANGE, &question.ask, values, &mut self.news, &mut self.output);
        self.output.extend_from_slice(constant.unwrap_or_default());
        let mut buffer = [0; 16 << 10];
        loop {
            while self.session.has_more() && self.output.len() < KEPT {
                let before = self.output.len();
                self.session.send_more(&mut self.news, &mut self.output);
                if self.output.len() == before {
                    break;
                }
            }
            let output = std::mem::take(&mut self.output);
            // A server may answer, and end the connection, before it has read all of the request.
            let sent = send(socket, &output, until);
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let limit = limit.as_secs_f64();
                return Err(failure(format!("no whole answer within {limit} s")));
            }
            match read(socket, &mut buffer, left)? {
                None => {}
                Some(0) => {
                    let broken = self.session.ended(&mut self.news).err();
                    let says =
                        sent.err().map(|error| format!("the request could not be sent: {error}"));
                    return self.verdict(&[], broken).unwrap_or_else(|| {
                        Err(failure(
                            says.unwrap_or("the connection was closed without an answer".into()),
                        ))
                    });
                }
                Some(count) => {
                    let bytes = &buffer[..count];
                    let broken =
                        self.session.receive(bytes, &mut self.news, &mut self.output).err();
                    if let Some(verdict) = self.verdict(bytes, broken) {
                        return verdict;
                    }
                }
            }
        }
    }

    /// What the news say of the answer, if it is over.
    fn verdict(&mut self, bytes: &[u8], broken: Option<H2Fault>) -> Option<Result<(), Fault>> {
        let mut verdict = None;
        for news in std::mem::take(&mut self.news) {
            match news {
                News::Part { at, len, .. } => {
                    let room = KEPT.saturating_sub(self.body.len());
                    let part = bytes.get(at as usize..).unwrap_or_default();
                    self.body.extend_from_slice(&part[..part.len().min(len as usize).min(room)]);
                }
                News::Answered { status, mismatch, .. } => {
                    self.status = Some(status);
                    verdict = Some(mismatch.map_or(Ok(()), |it| Err(Fault::Mismatch(it))));
                }
                News::Failed(_, fault) => verdict = Some(Err(self.broken(fault))),
                News::Refused(_) => {
                    verdict = Some(Err(failure(
                        "the server refused the request unread (REFUSED_STREAM or GOAWAY)",
                    )));
                }
                News::Introduced
                | News::Ready
                | News::Room
                | News::FirstByte(_)
                | News::Interim(_)
                | News::Stalled(_)
                | News::Flowing(_)
                | News::Starved
                | News::Fed
                | News::Draining => {}
            }
        }
        verdict.or_else(|| broken.map(|fault| Err(self.broken(fault))))
    }

    fn broken(&self, fault: H2Fault) -> Fault {
        let account = self.session.account(EXCHANGE).unwrap_or_default();
        let reason = account.reason.map_or(String::new(), |reason| format!(": {reason}"));
        let instead = match account.instead.as_slice() {
            [] => String::new(),
            bytes => format!("; it began with {}", super::excerpt(bytes)),
        };
        failure(format!("malformed: {}{reason}{instead}", fault.name()))
    }

    /// Keeps what came of the answer.
    fn keep(&self, received: &mut Vec<u8>) {
        let account = self.session.account(EXCHANGE).unwrap_or_default();
        received.extend_from_slice(&account.instead);
        let Some(head) = account.head else { return };
        let status = |line: &[u8]| line.strip_prefix(b":status: ").map(<[u8]>::to_vec);
        let lines = || head.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let status = lines().filter_map(status).next_back();
        let status = status.or(self.status.map(|status| status.to_string().into_bytes()));
        received.extend_from_slice(b"HTTP/2 ");
        received.extend_from_slice(&status.unwrap_or_default());
        received.extend_from_slice(b"\r\n");
        for line in lines().filter(|line| !line.starts_with(b":")) {
            received.extend_from_slice(line);
            received.extend_from_slice(b"\r\n");
        }
        received.extend_from_slice(b"\r\n");
        let room = KEPT.saturating_sub(received.len());
        received.extend_from_slice(&self.body[..self.body.len().min(room)]);
    }
}
