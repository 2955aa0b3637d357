//! Opens a WebSocket and uses it: receives its first texts, or sends something and receives the echo.

use std::time::{Duration, Instant};

use wire::{HeldEvent, HeldLimits, HeldSession, Limits, Socket, Values};

use super::peer::{self, Conversation, keep};
use super::{Asked, Fault, excerpt, failure, filled};
use crate::workload::{Interaction, Over, Question, Stream};

/// What is expected on the WebSocket.
pub(super) enum Topic {
    /// So many messages arrive, so far apart.
    Beats(Stream),
    /// This is sent, first as text and then as binary, and comes back unchanged.
    Echo(Vec<u8>),
}

impl Topic {
    /// The topic, if the question opens a WebSocket.
    pub(super) fn of(question: &Question, values: Values) -> Option<Topic> {
        match &question.interaction {
            Interaction::Stream(stream) if stream.over == Over::Websocket => {
                Some(Topic::Beats(*stream))
            }
            Interaction::Answer | Interaction::Stream(_) => None,
            Interaction::Echo(template) => Some(Topic::Echo(filled(template, values))),
        }
    }

    /// How many messages must arrive.
    fn awaited(&self) -> usize {
        match self {
            Topic::Beats(stream) => stream.chunks as usize,
            Topic::Echo(_) => KINDS.len(),
        }
    }

    /// How much of a message is kept: enough to distinguish an echo from a message that only begins like it.
    fn kept(&self) -> usize {
        match self {
            Topic::Beats(_) => 0,
            Topic::Echo(text) => text.len() + 64,
        }
    }
}

/// Whether a message is sent as text, in the order in which they are sent.
const KINDS: [bool; 2] = [true, false];

/// Opens the connection, exchanges messages, and sends a Close. What was sent and received is left as evidence.
pub(super) fn talk(
    server: Asked<'_>,
    question: &Question,
    values: Values,
    limit: Duration,
    topic: &Topic,
    evidence: (&mut Vec<u8>, &mut Vec<u8>),
) -> Result<(), Fault> {
    let limits = Limits::default();
    let mut held = HeldSession::Socket(Socket::new(&question.ask, &limits, HeldLimits::default()));
    let (request, came) = evidence;
    held.begin(values.random, request);
    let received = Received {
        topic,
        since: Instant::now(),
        messages: Vec::new(),
        partial: Vec::new(),
        is_text: true,
        sent: 0,
    };
    peer::converse(server, limit, request.clone(), &mut Talk { held, received, came })
}

struct Talk<'a> {
    held: HeldSession<'a>,
    received: Received<'a>,
    /// All bytes that came.
    came: &'a mut Vec<u8>,
}

impl Conversation for Talk<'_> {
    fn begun(&mut self, at: Instant) {
        self.received.since = at;
    }

    fn take(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Option<Result<(), Fault>> {
        keep(self.came, bytes);
        self.is_done(bytes, output).map(|is_done| is_done.then_some(())).transpose()
    }

    fn ended(&mut self) -> Result<(), Fault> {
        self.is_done(&[], &mut Vec::new()).map(drop)
    }

    fn too_late(&self, limit: Duration) -> String {
        self.received.too_late(limit)
    }
}

impl Talk<'_> {
    /// Whether everything expected has come with these bytes; none of them: the server has closed the connection.
    fn is_done(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Result<bool, Fault> {
        let Talk { held, received, .. } = self;
        let mut is_over = bytes.is_empty();
        let mut take = |news: HeldEvent<'_>| {
            is_over |= matches!(news, HeldEvent::Close(_));
            received.take(news);
        };
        let result = match bytes {
            [] => held.ended(&mut take),
            bytes => held.receive(bytes, output, &mut take),
        };
        result.map_err(|fault| failure(format!("the WebSocket handshake is wrong: {fault}")))?;
        if received.judge()? {
            held.leave(output);
            return Ok(true);
        }
        if is_over {
            return Err(failure(received.too_early()));
        }
        if held.is_open()
            && let HeldSession::Socket(socket) = held
        {
            received.send_next(socket, output);
        }
        Ok(false)
    }
}

/// What has been received on a topic.
struct Received<'a> {
    topic: &'a Topic,
    /// When the handshake was sent.
    since: Instant,
    messages: Vec<Message>,
    /// The message that is arriving, up to [`Topic::kept`].
    partial: Vec<u8>,
    /// It is text, not binary.
    is_text: bool,
    /// How many of [`KINDS`] dyno has sent.
    sent: usize,
}

struct Message {
    at: Instant,
    bytes: Vec<u8>,
    /// Text, not binary.
    is_text: bool,
}

impl Received<'_> {
    fn take(&mut self, news: HeldEvent<'_>) {
        match news {
            HeldEvent::Part { bytes, is_text } => {
                let room = self.topic.kept().saturating_sub(self.partial.len());
                self.partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
                self.is_text = is_text;
            }
            HeldEvent::Message { .. } => {
                let bytes = std::mem::take(&mut self.partial);
                self.messages.push(Message { at: Instant::now(), bytes, is_text: self.is_text });
            }
            HeldEvent::Opened | HeldEvent::Ping | HeldEvent::Pong | HeldEvent::Close(_) => {}
        }
    }

    /// Whether everything expected has arrived.
    fn judge(&self) -> Result<bool, Fault> {
        let is_all = self.topic.awaited() <= self.messages.len();
        match self.topic {
            Topic::Beats(stream) if is_all => {
                let beats: Vec<Instant> = self.messages.iter().map(|message| message.at).collect();
                super::judge_beat(self.since, &beats, *stream, "texts")?;
            }
            Topic::Beats(_) => {}
            Topic::Echo(text) => self.judge_echo(text)?,
        }
        Ok(is_all)
    }

    fn judge_echo(&self, text: &[u8]) -> Result<(), Fault> {
        if self.sent < self.messages.len() {
            return Err(failure("a message came that is not an echo"));
        }
        for (message, is_text) in self.messages.iter().zip(KINDS) {
            if message.bytes != text || message.is_text != is_text {
                let (went, came) = (kind(is_text), kind(message.is_text));
                let (text, bytes) = (excerpt(text), excerpt(&message.bytes));
                return Err(failure(format!(
                    "{went} {text} was said, and {came} {bytes} came back"
                )));
            }
        }
        Ok(())
    }

    /// Sends the next message of an echo, once the one before it has come back.
    fn send_next(&mut self, socket: &mut Socket<'_>, output: &mut Vec<u8>) {
        let Topic::Echo(text) = self.topic else { return };
        if self.sent == self.messages.len() {
            socket.reply(text, KINDS[self.sent], output);
            self.sent += 1;
        }
    }

    fn too_late(&self, limit: Duration) -> String {
        let (came, wanted, limit) =
            (self.messages.len(), self.topic.awaited(), limit.as_secs_f64());
        match self.topic {
            Topic::Beats(_) => format!("{came} of {wanted} texts came within {limit} s"),
            Topic::Echo(_) => format!("{came} of {wanted} messages came back within {limit} s"),
        }
    }

    fn too_early(&self) -> String {
        let rest = match self.topic {
            Topic::Beats(_) => "it should never end",
            Topic::Echo(_) => "it should echo what is sent first",
        };
        format!("the server closed the WebSocket; {rest}")
    }
}

fn kind(is_text: bool) -> &'static str {
    if is_text { "text" } else { "binary" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict on these messages, text or binary, that came after `hi` was sent so often.
    fn check(times: usize, messages: &[(&str, bool)]) -> Result<bool, String> {
        let topic = Topic::Echo(b"hi".into());
        let mut received = Received {
            topic: &topic,
            since: Instant::now(),
            messages: Vec::new(),
            partial: Vec::new(),
            is_text: true,
            sent: times,
        };
        for (message, is_text) in messages {
            for bytes in message.as_bytes().chunks(1) {
                received.take(HeldEvent::Part { bytes, is_text: *is_text });
            }
            received.take(HeldEvent::Message {
                shown: message.as_bytes(),
                bytes: message.len() as u64,
            });
        }
        received.judge().map_err(|fault| match fault {
            Fault::Text(text) | Fault::Beat(text) => text,
            Fault::Mismatch(_) => unreachable!("an echo is judged in words"),
        })
    }

    #[test]
    fn an_echo_is_whole_once_text_and_binary_came_back() {
        assert_eq!(check(1, &[]), Ok(false));
        assert_eq!(check(1, &[("hi", true)]), Ok(false));
        assert_eq!(check(2, &[("hi", true), ("hi", false)]), Ok(true));
    }

    #[test]
    fn an_echo_of_another_kind_or_of_other_bytes_is_none() {
        let refusal = |times, messages: &[_]| check(times, messages).unwrap_err();
        let no_echo = "a message came that is not an echo";
        assert_eq!(refusal(0, &[("hi", true)]), no_echo);
        assert_eq!(refusal(1, &[("hi", true), ("hi", false)]), no_echo);
        assert_eq!(refusal(1, &[("hi!", true)]), "text `hi` was said, and text `hi!` came back");
        assert_eq!(refusal(1, &[("ho", true)]), "text `hi` was said, and text `ho` came back");
        assert_eq!(
            refusal(2, &[("hi", true), ("hi", true)]),
            "binary `hi` was said, and text `hi` came back"
        );
    }
}
