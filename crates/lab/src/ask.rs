//! Asks one question on a connection of its own, and returns the answer, with the evidence.

mod http2;
mod peer;
mod socket;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tls::Client;
use wire::{
    AnswerParts, ExchangeId, H1, Limits, Mismatch, News, Progress, Session, Values, WireFault,
    first_difference,
};

use crate::record::{Check, Phase};
use crate::workload::{Question, Stream};
use peer::{Conversation, keep};

/// How much of an answer is kept as evidence.
const KEPT: usize = 64 << 10;

impl Check {
    /// Whether all of the answer was kept.
    #[must_use]
    pub fn is_kept_whole(&self) -> bool {
        self.response.len() < KEPT
    }
}

/// How often a beat is measured before it is reported as wrong: on a busy machine the server, or dyno, may have been
/// kept waiting once or twice.
const LISTENED: usize = 3;

/// A server that is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub address: SocketAddr,
    /// How the connection is secured; none: not at all.
    pub tls: Option<&'a Client>,
}

impl From<SocketAddr> for Asked<'_> {
    fn from(address: SocketAddr) -> Self {
        Asked { address, tls: None }
    }
}

/// Asks once; if the beat is wrong, a few times. Whatever the server does, each attempt ends at the deadline.
#[must_use]
pub fn ask(
    server: Asked<'_>,
    question: &Question,
    values: Values,
    phase: Phase,
    limit: Duration,
) -> Check {
    let mut times = 1;
    loop {
        let (check, is_beat_wrong) = once(server, question, values, phase, limit);
        if !is_beat_wrong || times == LISTENED {
            return check;
        }
        times += 1;
    }
}

/// Asks once; also returns whether only the beat of the answer is wrong.
fn once(
    server: Asked<'_>,
    question: &Question,
    values: Values,
    phase: Phase,
    limit: Duration,
) -> (Check, bool) {
    let (mut request, mut received_bytes) = (Vec::new(), Vec::new());
    let limit = match question.stream() {
        Some(stream) => limit + stream.every * stream.chunks,
        None => limit,
    };
    let topic = socket::Topic::of(question, values);
    let began = Instant::now();
    let verdict = match &topic {
        Some(topic) => {
            let evidence = (&mut request, &mut received_bytes);
            socket::talk(server, question, values, limit, topic, evidence)
        }
        None => {
            question.ask.show(values, &mut request);
            converse(server, question, values, &request, limit, &mut received_bytes)
        }
    };
    let verdict = verdict.or_else(|fault| match fault {
        Fault::Mismatch(it) if question.ask.expect.failing(Some(it)).is_none() => Ok(()),
        fault => Err(fault),
    });
    let verdict = verdict.and_then(|()| judge_wait(question, began.elapsed()));
    let answer = AnswerParts::of(&received_bytes);
    let is_beat_wrong = matches!(verdict, Err(Fault::Beat(_)));
    let is_of_any_form =
        matches!(question.ask.expect.body, wire::BodyRule::Meaning(_) | wire::BodyRule::File(_));
    let wrong = verdict.err().map(|fault| explain(&fault, question, values, &answer));
    let check = Check {
        phase,
        ask: question.name.clone(),
        head_len: answer.head_len as u64,
        rest_len: (received_bytes.len() - answer.head_len) as u64,
        // What a WebSocket sends on its own schedule is not compared, nor are two forms of the same body.
        digest: (wrong.is_none() && topic.is_none() && !is_of_any_form).then(|| answer.digest()),
        wrong,
        request,
        response: received_bytes,
    };
    (check, is_beat_wrong)
}

/// Why an answer is not right.
enum Fault {
    /// The fault, in words.
    Text(String),
    /// Right except for the times at which its messages arrived, in words.
    Beat(String),
    /// Whole, but not what was expected.
    Mismatch(Mismatch),
}

fn failure(text: impl Into<String>) -> Fault {
    Fault::Text(text.into())
}

fn converse(
    server: Asked<'_>,
    question: &Question,
    values: Values,
    request: &[u8],
    limit: Duration,
    received: &mut Vec<u8>,
) -> Result<(), Fault> {
    if question.ask.is_over_http2() {
        return http2::converse(server, question, values, limit, received);
    }
    let limits = Limits::default();
    let mut listener = Listener {
        session: answered_by(&limits, question, values),
        question,
        values,
        received,
        sent: Instant::now(),
        beats: Vec::new(),
    };
    peer::converse(server, limit, request.to_vec(), &mut listener)
}

/// A session that has sent the request, and reads its answer.
fn answered_by<'a>(limits: &'a Limits, question: &'a Question, values: Values) -> H1<'a> {
    let (mut session, exchange) = (H1::new(limits), ExchangeId::default());
    let _ = session.submit(exchange, &question.ask, values, &mut Vec::new(), &mut Vec::new());
    session
}

/// Reads an answer to its end.
struct Listener<'a> {
    session: H1<'a>,
    question: &'a Question,
    values: Values,
    received: &'a mut Vec<u8>,
    /// When the request was sent.
    sent: Instant,
    /// When each chunk of an endless answer had arrived.
    beats: Vec<Instant>,
}

impl Conversation for Listener<'_> {
    fn begun(&mut self, at: Instant) {
        self.sent = at;
    }

    fn take(&mut self, bytes: &[u8], _: &mut Vec<u8>) -> Option<Result<(), Fault>> {
        keep(self.received, bytes);
        let mut news = Vec::new();
        if let Err(fault) = self.session.receive(bytes, &mut news, &mut Vec::new()) {
            return Some(Err(failure(format!("malformed: {}", fault.name()))));
        }
        match (whole(&news), self.question.stream()) {
            (Some(verdict), None) => Some(verdict),
            (Some(Err(fault)), Some(_)) => Some(Err(fault)),
            (Some(Ok(())), Some(_)) => Some(Err(failure("the answer ended; it should never end"))),
            (None, None) => None,
            (None, Some(stream)) => self.beat(stream),
        }
    }

    fn ended(&mut self) -> Result<(), Fault> {
        let mut news = Vec::new();
        let _ = self.session.ended(&mut news);
        match self.session.progress() {
            Progress::Idle if self.question.stream().is_some() => {
                Err(failure("the answer ended; it should never end"))
            }
            Progress::Idle => {
                whole(&news).unwrap_or_else(|| Err(failure("closed without an answer")))
            }
            progress => {
                let fault = progress.cut().name();
                Err(failure(format!("the connection was closed early: {fault}")))
            }
        }
    }

    fn too_late(&self, limit: Duration) -> String {
        let limit = limit.as_secs_f64();
        match self.question.stream() {
            Some(stream) => {
                format!("{} of {} chunks came within {limit} s", self.beats.len(), stream.chunks)
            }
            None => format!("no whole answer within {limit} s"),
        }
    }
}

impl Listener<'_> {
    fn beat(&mut self, stream: Stream) -> Option<Result<(), Fault>> {
        let chunks = AnswerParts::of(self.received).chunks();
        self.beats.resize(chunks.max(self.beats.len()), Instant::now());
        let enough = stream.chunks as usize <= chunks;
        enough.then(|| {
            self.judge_head()?;
            judge_beat(self.sent, &self.beats, stream, "chunks")
        })
    }

    /// An endless answer is never whole, so its head is judged as if the content ended at once.
    fn judge_head(&self) -> Result<(), Fault> {
        let limits = Limits::default();
        let mut session = answered_by(&limits, self.question, self.values);
        let mut cut = self.received[..AnswerParts::of(self.received).head_len].to_vec();
        cut.extend_from_slice(b"0\r\n\r\n");
        let mut news = Vec::new();
        let _ = session.receive(&cut, &mut news, &mut Vec::new());
        whole(&news).unwrap_or_else(|| Err(failure("its head is malformed")))
    }
}

/// Whether the messages are as far apart as requested, over all of them: the first and the last may be late by a part
/// of a beat. dyno may have read each of them late, and two at once. So the last one is too early only if it is early
/// counted from the request, and too late only if it is late counted from the first.
fn judge_beat(sent: Instant, beats: &[Instant], stream: Stream, what: &str) -> Result<(), Fault> {
    let (Some(first), Some(last)) = (beats.first(), beats.last()) else { return Ok(()) };
    let gaps = u32::try_from(beats.len() - 1).unwrap_or(u32::MAX);
    let (asked, may_be_late) = (stream.every * gaps, stream.every * 2 / 5);
    let (after_request, after_first) = (*last - sent, *last - *first);
    let took = if after_request + may_be_late < asked {
        after_request
    } else if asked + may_be_late < after_first {
        after_first
    } else {
        return Ok(());
    };
    let (gap, asked) = (took.as_secs_f64() / f64::from(gaps.max(1)), stream.every.as_secs_f64());
    Err(Fault::Beat(format!("{what} are {gap:.3} s apart on average; {asked} s are expected")))
}

/// An answer that has come before its wait was over is wrong; so long ago its connection was begun.
fn judge_wait(question: &Question, took: Duration) -> Result<(), Fault> {
    let expect = &question.ask.expect;
    if !expect.is_early(took.as_nanos() as u64) {
        return Ok(());
    }
    let (took, wait) = (took.as_secs_f64() * 1e3, expect.wait_ns.unwrap_or(0) as f64 / 1e6);
    Err(failure(format!("it came {took:.3} ms after it was asked; it is to come after {wait} ms")))
}

/// The verdict, if the answer is whole.
fn whole(news: &[News<WireFault>]) -> Option<Result<(), Fault>> {
    news.iter().find_map(|news| match news {
        News::Answered { mismatch: None, .. } => Some(Ok(())),
        News::Answered { mismatch: Some(mismatch), .. } => Some(Err(Fault::Mismatch(*mismatch))),
        _ => None,
    })
}

/// What was expected and what arrived, in a sentence.
fn explain(fault: &Fault, question: &Question, values: Values, answer: &AnswerParts<'_>) -> String {
    let mismatch = match fault {
        Fault::Text(text) | Fault::Beat(text) => return text.clone(),
        Fault::Mismatch(mismatch) => mismatch,
    };
    let expect = &question.ask.expect;
    if let wire::BodyRule::File(rule) = &expect.body {
        return unlike_file(rule, *mismatch, values, answer);
    }
    match mismatch {
        Mismatch::Status => {
            let expected = match expect.status {
                wire::StatusRule::Exactly(status) => status.to_string(),
                wire::StatusRule::Success | wire::StatusRule::Any => "2xx".into(),
            };
            format!("status {}; {expected} was expected", answer.status().unwrap_or("?"))
        }
        Mismatch::Header => {
            let wanted: Vec<String> = expect
                .headers
                .iter()
                .map(|(name, value)| {
                    let value = filled(value, values);
                    let came = answer.field(name).map_or("nothing".into(), excerpt);
                    format!("{name}: {came} came, {} was expected", excerpt(&value))
                })
                .collect();
            wanted.join("; ")
        }
        Mismatch::Body => {
            let content = answer.content();
            let expected = match &expect.body {
                wire::BodyRule::Exactly(template) => {
                    let body = filled(template, values);
                    return differing(&body, &content, KEPT <= answer.byte_count());
                }
                wire::BodyRule::Meaning(rule) => {
                    let fault = rule.judge(&content, values).err();
                    let fault = fault.unwrap_or("it is too long".into());
                    return format!("the body is {}: {fault}", excerpt(&content));
                }
                wire::BodyRule::Length(length) => format!("{length} bytes"),
                wire::BodyRule::Sha256(_) | wire::BodyRule::Any | wire::BodyRule::File(_) => {
                    "another".into()
                }
            };
            format!("the body is {}; {expected} was expected", excerpt(&content))
        }
    }
}

/// What came in place of a file.
fn unlike_file(
    rule: &wire::FileRule,
    mismatch: Mismatch,
    values: Values,
    answer: &AnswerParts<'_>,
) -> String {
    let field = |name: &str| Some(format!("{name}: {}", excerpt(answer.field(name)?)));
    let came = match mismatch {
        Mismatch::Status => format!("status {}", answer.status().unwrap_or("?")),
        Mismatch::Header => {
            let told = ["content-encoding", "content-range", "etag", "last-modified"];
            let told: Vec<String> = told.into_iter().filter_map(field).collect();
            format!("status {} with {}", answer.status().unwrap_or("?"), told.join("; "))
        }
        Mismatch::Body => {
            let (content, is_cut) = (answer.content(), KEPT <= answer.byte_count());
            let fault = rule.body_fault(values, &content, is_cut);
            let coding = field("content-encoding").map_or(String::new(), |it| format!(" ({it})"));
            let fault = fault.filter(|_| coding.is_empty());
            let fault = fault.map_or(String::new(), |fault| format!(": {fault}"));
            format!("another body{coding}{fault}")
        }
    };
    format!("{came}; expected was {}", rule.described(values))
}

fn filled(template: &wire::Template, values: Values) -> Vec<u8> {
    let mut bytes = Vec::new();
    template.fill(values, &mut bytes);
    bytes
}

/// Two bodies of which both are short are shown whole; of others the beginning is mostly the same.
fn differing(expected: &[u8], came: &[u8], is_cut: bool) -> String {
    let place =
        (SHOWN < expected.len().max(came.len())).then(|| first_difference(expected, came, is_cut));
    let place = place.flatten().map_or(String::new(), |place| format!("; {place}"));
    format!("the body is {}; {} was expected{place}", excerpt(came), excerpt(expected))
}

/// So many bytes of a body are shown.
const SHOWN: usize = 100;

/// The beginning of some bytes, safe to show.
fn excerpt(bytes: &[u8]) -> String {
    let text = bytes[..bytes.len().min(SHOWN)].escape_ascii().to_string();
    match bytes.len() {
        0 => "empty".into(),
        len if len <= SHOWN => format!("`{text}`"),
        len => format!("`{text}…` ({len} bytes)"),
    }
}

#[cfg(test)]
mod tests;
