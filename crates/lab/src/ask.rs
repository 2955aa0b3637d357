//! Asks one question on a connection of its own, and says what came back, with the evidence.

mod peer;
mod socket;

use std::io::{ErrorKind, Read};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use wire::{H1, Limits, Mismatch, News, Session, Values};

use crate::answer::Answer;
use crate::record::{Check, Phase};
use crate::workload::{Question, Stream};
use peer::{connected, send};

/// So much of an answer is kept as evidence.
const KEPT: usize = 64 << 10;

/// Asks once. Whatever the server does, it ends at the deadline.
#[must_use]
pub fn ask(
    address: SocketAddr,
    question: &Question,
    values: Values,
    phase: Phase,
    limit: Duration,
) -> Check {
    let (mut request, mut heard) = (Vec::new(), Vec::new());
    let limit = match question.stream() {
        Some(stream) => limit + stream.every * stream.chunks,
        None => limit,
    };
    let topic = socket::Topic::of(question, values);
    let verdict = match &topic {
        Some(topic) => {
            let call = socket::Call { address, question, values, limit };
            call.talk(topic, &mut request, &mut heard)
        }
        None => {
            question.ask.encode(values, &mut request);
            converse(address, question, values, &request, limit, &mut heard)
        }
    };
    let answer = Answer::of(&heard);
    let wrong = verdict.err().map(|fault| explain(&fault, question, values, &answer));
    Check {
        phase,
        ask: question.name.clone(),
        head_len: answer.head_len as u64,
        rest_len: (heard.len() - answer.head_len) as u64,
        // What a WebSocket says at its own time is not compared.
        digest: (wrong.is_none() && topic.is_none()).then(|| answer.digest()),
        wrong,
        request,
        response: heard,
    }
}

/// Why an answer is not right.
enum Fault {
    /// In words.
    Said(String),
    /// Whole, but not what was expected.
    Mismatch(Mismatch),
}

fn said(text: impl Into<String>) -> Fault {
    Fault::Said(text.into())
}

fn converse(
    address: SocketAddr,
    question: &Question,
    values: Values,
    request: &[u8],
    limit: Duration,
    heard: &mut Vec<u8>,
) -> Result<(), Fault> {
    let until = Instant::now() + limit;
    let mut socket =
        connected(address, limit).map_err(|error| said(format!("no connection: {error}")))?;
    let sent = Instant::now();
    send(&mut socket, request, until)
        .map_err(|error| said(format!("the request could not be sent: {error}")))?;
    let limits = Limits::default();
    let mut session = H1::new(&limits);
    let _ = session.submit(0, &question.ask, values, &mut Vec::new());
    let mut listener = Listener { session, question, values, sent, beats: Vec::new() };
    let mut buffer = [0; 16 << 10];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(said(listener.too_late(limit)));
        }
        let _ = socket.set_read_timeout(Some(left));
        match socket.read(&mut buffer) {
            Ok(0) => return listener.ended(),
            Ok(count) => {
                let room = KEPT.saturating_sub(heard.len());
                heard.extend_from_slice(&buffer[..count.min(room)]);
                if let Some(verdict) = listener.hear(&buffer[..count], heard) {
                    return verdict;
                }
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                _ => return Err(said(format!("the connection broke: {error}"))),
            },
        }
    }
}

/// Hears an answer out.
struct Listener<'a> {
    session: H1<'a>,
    question: &'a Question,
    values: Values,
    /// When the request left.
    sent: Instant,
    /// When each chunk of an endless answer was there.
    beats: Vec<Instant>,
}

impl Listener<'_> {
    /// What is to be said after these bytes, if it is time.
    fn hear(&mut self, bytes: &[u8], heard: &[u8]) -> Option<Result<(), Fault>> {
        let mut news = Vec::new();
        if let Err(fault) = self.session.receive(bytes, &mut news) {
            return Some(Err(said(format!("malformed: {}", fault.name()))));
        }
        match (whole(&news), self.question.stream()) {
            (Some(verdict), None) => Some(verdict),
            (Some(Err(fault)), Some(_)) => Some(Err(fault)),
            (Some(Ok(())), Some(_)) => {
                Some(Err(said("the answer ended; it should go on for ever")))
            }
            (None, None) => None,
            (None, Some(stream)) => self.beat(stream, heard),
        }
    }

    fn beat(&mut self, stream: Stream, heard: &[u8]) -> Option<Result<(), Fault>> {
        let chunks = Answer::of(heard).chunks();
        self.beats.resize(chunks.max(self.beats.len()), Instant::now());
        let enough = stream.chunks as usize <= chunks;
        enough.then(|| {
            self.judge_head(heard)?;
            judge_beat(self.sent, &self.beats, stream, "chunks")
        })
    }

    /// An endless answer is never whole, so its head is judged as if the content ended at once.
    fn judge_head(&self, heard: &[u8]) -> Result<(), Fault> {
        let limits = Limits::default();
        let (mut session, mut news) = (H1::new(&limits), Vec::new());
        let _ = session.submit(0, &self.question.ask, self.values, &mut Vec::new());
        let mut cut = heard[..Answer::of(heard).head_len].to_vec();
        cut.extend_from_slice(b"0\r\n\r\n");
        let _ = session.receive(&cut, &mut news);
        whole(&news).unwrap_or_else(|| Err(said("its head is malformed")))
    }

    fn ended(&mut self) -> Result<(), Fault> {
        let mut news = Vec::new();
        match self.session.ended(&mut news) {
            Err(fault) => Err(said(format!("the connection was closed early: {}", fault.name()))),
            Ok(()) if self.question.stream().is_some() => {
                Err(said("the answer ended; it should go on for ever"))
            }
            Ok(()) => whole(&news).unwrap_or_else(|| Err(said("closed without an answer"))),
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

/// Whether messages come as far apart as was asked, over all of them: the first and the last may be late by a part of a beat.
/// We may have read each of them late, and two at once. So the last one has come too early only if it is early after the
/// request, and too late only if it is late after the first.
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
    Err(said(format!("{what} are {gap:.3} s apart on average; {asked} s were asked for")))
}

/// The verdict, if the answer is whole.
fn whole(news: &[News]) -> Option<Result<(), Fault>> {
    news.iter().find_map(|news| match news {
        News::Answered { mismatch: None, .. } => Some(Ok(())),
        News::Answered { mismatch: Some(mismatch), .. } => Some(Err(Fault::Mismatch(*mismatch))),
        News::FirstByte(_) => None,
    })
}

/// What was expected and what came, in a sentence.
fn explain(fault: &Fault, question: &Question, values: Values, answer: &Answer<'_>) -> String {
    let mismatch = match fault {
        Fault::Said(text) => return text.clone(),
        Fault::Mismatch(mismatch) => mismatch,
    };
    let expect = &question.ask.expect;
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
            let expected = match &expect.body {
                wire::BodyRule::Exactly(template) => excerpt(&filled(template, values)),
                wire::BodyRule::Length(length) => format!("{length} bytes"),
                wire::BodyRule::Sha256(_) | wire::BodyRule::Any => "another".into(),
            };
            format!("the body is {}; {expected} was expected", excerpt(&answer.content()))
        }
    }
}

fn filled(template: &wire::Template, values: Values) -> Vec<u8> {
    let mut bytes = Vec::new();
    template.fill(values, &mut bytes);
    bytes
}

/// The beginning of some bytes, safe to show.
fn excerpt(bytes: &[u8]) -> String {
    const SHOWN: usize = 100;
    let text = bytes[..bytes.len().min(SHOWN)].escape_ascii().to_string();
    match bytes.len() {
        0 => "empty".into(),
        len if len <= SHOWN => format!("`{text}`"),
        len => format!("`{text}…` ({len} bytes)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::misread::Page;
    use crate::workload::Workload;
    use oracle::{Config, Oracle};

    /// What is said of the oracle's answer to an ask.
    fn check(fault: Option<&str>, keys: &str) -> Option<String> {
        let config = Config { fault: fault.map(|name| name.parse().unwrap()), ..Config::default() };
        let oracle = Oracle::start(config).unwrap();
        let oracle::Listen::Tcp(address) = *oracle.address() else { panic!("not TCP") };
        let text = format!("title = 'x'\n[[ask]]\n{keys}");
        let workload = Workload::parse("x", Page { name: "x".into(), text }).unwrap();
        let values = Values { seq: 0, random: 7 };
        let limit = Duration::from_millis(500);
        let check = ask(address, &workload.questions[0], values, Phase::Before, limit);
        let is_socket = keys.contains("websocket") || keys.contains("echo =");
        let is_compared = check.wrong.is_none() && !is_socket;
        assert_eq!(is_compared, check.digest.is_some());
        assert!(!check.request.is_empty());
        let _ = oracle.stop();
        check.wrong
    }

    const ECHO: &str = "request = 'GET /?value={random:4} HTTP/1.1'\n\
                        body = '<http_test><value>{random:4}</value></http_test>'";

    #[test]
    fn a_server_that_never_reads_a_large_request_does_not_outlast_the_deadline() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // More than any socket's buffers hold.
        let body = "x".repeat(64 << 20);
        let text = format!("title = 'x'\n[[ask]]\nrequest = 'POST / HTTP/1.1'\nsend = '{body}'");
        let workload = Workload::parse("x", Page { name: "x".into(), text }).unwrap();
        let (told, hears) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let (values, limit) = (Values { seq: 0, random: 7 }, Duration::from_millis(300));
            let question = &workload.questions[0];
            let _ = told.send(ask(address, question, values, Phase::Before, limit).wrong);
        });
        let (_peer, _) = listener.accept().unwrap();
        let wrong = hears.recv_timeout(Duration::from_secs(60)).expect("it ends");
        assert_eq!(wrong.as_deref(), Some("the request could not be sent: timed out"));
    }

    #[test]
    fn a_right_answer_is_right() {
        assert_eq!(check(None, ECHO), None);
    }

    #[test]
    fn a_wrong_answer_is_said_with_what_came_and_what_was_expected() {
        let says = |keys| check(None, keys).unwrap();
        assert_eq!(says("request = 'GET /nowhere HTTP/1.1'"), "status 404; 2xx was expected");
        assert_eq!(
            says("request = 'GET /hello HTTP/1.1'\nbody = 'Hello'"),
            "the body is `Hello, world!`; `Hello` was expected"
        );
        assert_eq!(
            says("request = 'GET /hello HTTP/1.1'\nheader = { content-type = 'text/xml' }"),
            "content-type: `text/plain` came, `text/xml` was expected"
        );
    }

    #[test]
    fn a_stream_is_heard_until_it_has_beaten_often_enough() {
        let poll = |path: &str, status| {
            format!(
                "request = 'GET {path} HTTP/1.1'\nstatus = {status}\n\
                 stream = {{ chunks = 3, every = '50ms' }}"
            )
        };
        assert_eq!(check(None, &poll("/poll/0.05", 200)), None);
        assert_eq!(check(None, &poll("/poll/0.05?late=uniform:0,15ms", 200)), None);
        assert!(check(None, &poll("/poll/0.1", 200)).unwrap().contains("s apart"));
        assert!(check(None, &poll("/poll/0.01", 200)).unwrap().contains("s apart"));
        assert!(check(None, &poll("/poll/0.05", 201)).unwrap().starts_with("status 200;"));
        assert!(check(None, &poll("/hello", 200)).unwrap().contains("go on for ever"));
        assert!(check(None, &poll("/poll/9", 200)).unwrap().starts_with("1 of 3 chunks"));
    }

    #[test]
    fn a_beat_is_judged_over_all_messages_and_not_by_when_each_was_read() {
        let every = Duration::from_secs(1);
        let stream = Stream { chunks: 3, every, over: Default::default() };
        let sent = Instant::now();
        let judge = |ms: &[u64]| {
            let beats: Vec<Instant> =
                ms.iter().map(|ms| sent + Duration::from_millis(*ms)).collect();
            judge_beat(sent, &beats, stream, "chunks").is_ok()
        };
        assert!(judge(&[5, 1_005, 2_005]));
        assert!(judge(&[305, 1_000, 2_290]) && judge(&[300, 1_200, 2_000]), "30 % late");
        assert!(judge(&[1_005, 1_005, 2_005]) && judge(&[5, 2_005, 2_005]), "two in one read");
        assert!(judge(&[2_300, 2_300, 2_300]), "all of them lay unread");
        assert!(!judge(&[5, 2_005, 4_005]), "twice the beat");
        assert!(!judge(&[5, 505, 1_005]), "half of it");
        assert!(!judge(&[5, 5, 5]), "all at once");
        assert!(judge(&[5]) && judge(&[]));
    }

    #[test]
    fn a_websocket_is_heard_until_it_has_said_enough() {
        let poll = |path: &str| {
            format!(
                "request = 'GET {path} HTTP/1.1'\n\
                 stream = {{ chunks = 3, every = '50ms', over = 'websocket' }}"
            )
        };
        assert_eq!(check(None, &poll("/wspoll/0.05")), None);
        assert!(check(None, &poll("/wspoll/0.1")).unwrap().contains("texts are 0.1"));
        assert!(check(None, &poll("/wspoll/9")).unwrap().starts_with("1 of 3 texts"));
        let ends = check(None, &poll("/wspoll/0.05?beats=2")).unwrap();
        assert!(ends.contains("goodbye"), "{ends}");
        let no = check(None, &poll("/hello")).unwrap();
        assert_eq!(no, "no WebSocket as it should be: ws.not_switched");
    }

    #[test]
    fn what_is_said_on_a_websocket_must_come_back() {
        let echo =
            |target: &str| format!("request = 'GET {target} HTTP/1.1'\necho = 'dyno-{{random:8}}'");
        assert_eq!(check(None, &echo("/wsecho")), None);
        let beats = check(None, &echo("/wspoll/0.05")).unwrap();
        // Its first text comes before or after we have spoken.
        let is_told = ["a message came that is no echo", "was said, and text `beat="];
        assert!(is_told.iter().any(|words| beats.contains(words)), "{beats}");
        let silent = check(Some("ws-silent"), &echo("/wsecho")).unwrap();
        assert_eq!(silent, "0 of 2 messages came back within 0.5 s");
        let ends = check(None, &echo("/wspoll/1?beats=0")).unwrap();
        assert!(ends.contains("goodbye"), "{ends}");
        let no = check(None, &echo("/hello")).unwrap();
        assert_eq!(no, "no WebSocket as it should be: ws.not_switched");
    }

    #[test]
    fn every_fault_of_the_oracles_ends_before_the_deadline_with_a_word() {
        for fault in oracle::Fault::all() {
            let began = Instant::now();
            let _ = check(Some(fault.name), ECHO);
            assert!(began.elapsed() < Duration::from_secs(3), "{}", fault.name);
        }
    }
}
