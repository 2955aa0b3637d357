//! A question over HTTP/2, alone on its connection. Its answer is kept in the form of HTTP/1.1, so that answers to one
//! question can be compared whichever protocol carried them.

use std::num::NonZeroU16;
use std::time::Duration;

use wire::h2::{H2Fault, H2Order, Ledger, Windows};
use wire::{ExchangeId, Limits, News, Session, Values};

use super::peer::{self, Conversation, keep};
use super::{Asked, Fault, KEPT, failure};
use crate::workload::Question;

const EXCHANGE: ExchangeId = ExchangeId { place: 0, generation: 0 };

/// Sends the request and reads its answer to the end, or to the limit.
pub(super) fn converse(
    server: Asked<'_>,
    question: &Question,
    values: Values,
    limit: Duration,
    received: &mut Vec<u8>,
) -> Result<(), Fault> {
    let order = H2Order {
        streams: NonZeroU16::MIN,
        windows: Windows::default(),
        indexed: false,
        limits: Limits::default(),
    };
    let mut answer = Answer {
        session: wire::h2::H2::watched(&order, Ledger::default()),
        news: Vec::new(),
        body: Vec::new(),
        status: None,
    };
    let mut output = Vec::new();
    answer.session.open(&mut answer.news, &mut output);
    let constant =
        answer.session.submit(EXCHANGE, &question.ask, values, &mut answer.news, &mut output);
    output.extend_from_slice(constant.unwrap_or_default());
    answer.send_more(&mut output);
    let verdict = peer::converse(server, limit, output, &mut answer);
    answer.keep(received);
    verdict
}

struct Answer<'a> {
    session: wire::h2::H2<'a>,
    news: Vec<News<H2Fault>>,
    body: Vec<u8>,
    status: Option<u16>,
}

impl Conversation for Answer<'_> {
    fn take(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Option<Result<(), Fault>> {
        let broken = self.session.receive(bytes, &mut self.news, output).err();
        self.send_more(output);
        self.verdict(bytes, broken)
    }

    fn ended(&mut self) -> Result<(), Fault> {
        let broken = self.session.ended(&mut self.news).err();
        let closed = || Err(failure("the connection was closed without an answer"));
        self.verdict(&[], broken).unwrap_or_else(closed)
    }

    fn too_late(&self, limit: Duration) -> String {
        format!("no whole answer within {} s", limit.as_secs_f64())
    }

    fn close(&mut self, output: &mut Vec<u8>) {
        self.session.close(output);
    }
}

impl Answer<'_> {
    /// As much of the request's body as the server takes.
    fn send_more(&mut self, output: &mut Vec<u8>) {
        while self.session.has_more() && output.len() < KEPT {
            let before = output.len();
            self.session.send_more(&mut self.news, output);
            if output.len() == before {
                break;
            }
        }
    }

    /// What the news say of the answer, if it is over.
    fn verdict(&mut self, bytes: &[u8], broken: Option<H2Fault>) -> Option<Result<(), Fault>> {
        let mut verdict = None;
        for news in std::mem::take(&mut self.news) {
            match news {
                News::Part { at, len, .. } => {
                    let part = bytes.get(at as usize..).unwrap_or_default();
                    keep(&mut self.body, &part[..part.len().min(len as usize)]);
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
        keep(received, &self.body);
    }
}
