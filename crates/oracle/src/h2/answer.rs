//! Answers as HEADERS and DATA: at once, or when their stream's turn comes.

use super::act::Script;
use super::frames::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, FRAME_HEAD, HEADERS, PADDED, push_frame, push_head,
};
use super::hpack::Fields;
use super::request::{Kept, is_of_a_connection};
use super::stream::{Body, Source, Stream};
use super::{Counts, Leaving, Multiplex};
use crate::answer::{Answer, Content};
use crate::beats::{Beats, Wrap};
use crate::faults::acts::{Style, USUAL};
use crate::instructions::{Arrived, Befalls, instructions};
use crate::octets::push_number;
use crate::request::{Head, Method, Refusal, Status};
use crate::resource::Resource;
use crate::state::{BUFFER, ThreadState, now_ns};

/// A request that is to be answered, beside what it asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) id: u32,
    /// What may be sent on its stream.
    pub(super) window: i64,
    pub(super) ended_ns: u64,
    pub(super) style: Style,
    pub(super) counts: Counts,
}

/// What of an answer could not leave at once.
pub(super) struct Rest {
    body: Body,
    beats: Option<Beats>,
}

impl Rest {
    pub(super) fn into_stream(self, stream: &mut Stream) {
        stream.body = self.body;
        stream.beats = self.beats;
    }
}

impl Asked {
    pub(super) fn usual(id: u32, window: i64, ended_ns: u64) -> Asked {
        Asked { id, window, ended_ns, style: USUAL, counts: Counts::Served }
    }
}

impl Multiplex {
    /// A whole request: it is answered at once, or its stream waits.
    pub(super) fn request(
        &mut self,
        asked: &Asked,
        head: &Head<'_>,
        fields: &Fields,
        content: &[u8],
        state: &mut ThreadState,
    ) {
        let reply = state.config().reply.clone();
        let answer = Answer::chosen(reply.as_deref(), head, content, state.config());
        if head.method == Method::Unknown {
            let why = "no such method here";
            let refusal = Refusal { status: Status::NotImplemented, why };
            return self.refuse(asked.id, refusal, Some(asked.ended_ns), state);
        }
        if state.shared.is_limited(asked.ended_ns) {
            return self.decline(asked, head, state);
        }
        let befalls = Befalls::Stream;
        let arrived = Arrived { ns: asked.ended_ns, head: &fields.octets, is_split: false };
        let instructions = match instructions(head, arrived, &answer, befalls, state) {
            Ok(instructions) => instructions,
            Err(refusal) => return self.refuse(asked.id, refusal, Some(asked.ended_ns), state),
        };
        state.count(answer.resource);
        let due_ns = instructions.due_ns;
        let due_ns = state.shared.thaw_ns(due_ns).unwrap_or(due_ns);
        if instructions.fault.is_none() && due_ns == asked.ended_ns {
            state.burn();
            let rest = self.answer(asked, head, &answer, asked.ended_ns, state);
            if let Some(rest) = rest {
                let stream = Stream::new(Kept::default(), asked.window, 0);
                self.keep(asked.id, Stream { ended_ns: asked.ended_ns, ..stream }, Some(rest));
            }
            return;
        }
        let kept = Kept { fields: fields.clone(), content: content.to_vec() };
        let stream = Stream::new(kept, asked.window, 0);
        let script = instructions.fault.map(|fault| {
            state.books.faults += 1;
            Script::of(fault.acts())
        });
        let stream = Stream { ended_ns: asked.ended_ns, script, ..stream };
        self.wait(asked.id, stream, due_ns);
    }

    /// Beyond the limit of the rate: the answer comes at once, without content, and its time is none that the books keep.
    fn decline(&mut self, asked: &Asked, head: &Head<'_>, state: &mut ThreadState) {
        let answer = Answer::limited();
        state.count(answer.resource);
        state.books.limited += 1;
        let asked = Asked { counts: Counts::Faulty, ..*asked };
        let rest = self.answer(&asked, head, &answer, asked.ended_ns, state);
        debug_assert!(rest.is_none(), "there is no content that could wait for a window");
    }

    /// The stream's turn is at this instant.
    pub(super) fn wait(&mut self, id: u32, stream: Stream, due_ns: u64) {
        self.streams.insert(id, Stream { due_ns, ..stream });
        self.waiting.push(std::cmp::Reverse((due_ns, id)));
    }

    /// The stream has more to send, now or at its next beat.
    pub(super) fn keep(&mut self, id: u32, mut stream: Stream, rest: Option<Rest>) {
        if let Some(rest) = rest {
            rest.into_stream(&mut stream);
        }
        if stream.beats.is_some() {
            return self.wait(id, stream, now_ns());
        }
        stream.is_sending = true;
        self.sending.push_back(id);
        self.streams.insert(id, stream);
    }

    /// A stream's turn has come.
    pub(super) fn wake(&mut self, id: u32, due_ns: u64, state: &mut ThreadState, now_ns: u64) {
        let Some(mut stream) = self.streams.remove(&id) else { return };
        if stream.due_ns != due_ns {
            self.streams.insert(id, stream);
            return;
        }
        stream.due_ns = 0;
        if stream.beats.is_some() && !stream.body.is_last {
            self.beat(id, stream, state, now_ns);
        } else if let Some(script) = stream.script.take() {
            self.play_for_stream(id, stream, script, state, now_ns);
        } else {
            let asked = Asked::usual(id, stream.window, stream.ended_ns);
            if let Some(rest) = self.answer_kept(&asked, &mut stream, state, now_ns) {
                self.keep(id, stream, Some(rest));
            }
        }
    }

    /// Answers a request that was kept.
    pub(super) fn answer_kept(
        &mut self,
        asked: &Asked,
        stream: &mut Stream,
        state: &mut ThreadState,
        now_ns: u64,
    ) -> Option<Rest> {
        let head = stream.request.head();
        let reply = state.config().reply.clone();
        let content = &stream.request.content;
        let mut answer = Answer::chosen(reply.as_deref(), &head, content, state.config());
        if let Some(spoil) = asked.style.spoil {
            answer = answer.spoilt(spoil, &head, content, state.config());
        }
        state.burn();
        self.answer(asked, &head, &answer, now_ns, state)
    }

    /// Writes an answer as far as the windows allow.
    fn answer(
        &mut self,
        asked: &Asked,
        head: &Head<'_>,
        answer: &Answer<'_>,
        now_ns: u64,
        state: &mut ThreadState,
    ) -> Option<Rest> {
        let date = state.date(now_ns);
        let delay_ns =
            state.config().tell_delay.then(|| self::now_ns().saturating_sub(asked.ended_ns));
        let is_bodiless = head.method == Method::Head;
        let (octets, rhythm) = match &answer.content {
            Content::Octets(octets) => (&octets[..], None),
            Content::Beats(rhythm) => (&b""[..], Some(*rhythm)),
            Content::Socket(..) => (&b""[..], None),
        };
        let ends =
            is_bodiless || rhythm.is_none() && octets.is_empty() && asked.style.trailers.is_empty();
        let begun = self.begin_block(&asked.style, &mut state.out);
        let mut push = |name: &[u8], value: &[u8]| {
            self.encoder.push(name, value, asked.style.manner, &mut state.out);
        };
        push(b":status", &answer.status_line.as_bytes()[9..12]);
        push(b"date", &date);
        if !answer.content_type.is_empty() {
            push(b"content-type", answer.content_type.as_bytes());
        }
        for (name, value) in answer.lines.split("\r\n").filter_map(|line| line.split_once(':')) {
            let name = name.to_ascii_lowercase();
            if !is_of_a_connection(name.as_bytes()) {
                push(name.as_bytes(), value.trim().as_bytes());
            }
        }
        let mut digits = Vec::with_capacity(20);
        if let Some(delay_ns) = delay_ns {
            push_number(&mut digits, delay_ns);
            push(b"x-oracle-delay-ns", &digits);
            digits.clear();
        }
        if rhythm.is_none() && answer.resource != Resource::NotModified {
            push_number(&mut digits, octets.len() as u64);
            push(b"content-length", &digits);
        }
        self.end_block(
            asked.id,
            if ends { END_STREAM } else { 0 },
            &asked.style,
            begun,
            &mut state.out,
        );
        if ends || rhythm.is_some() {
            self.leaves(asked, ends, &state.out);
        }
        if ends {
            return None;
        }
        if let Some(rhythm) = rhythm {
            let beats = Beats::begin(rhythm, Wrap::Bare, state, now_ns);
            return Some(Rest { body: Body::default(), beats: Some(beats) });
        }
        if self.fits(asked, octets.len(), &state.out) {
            push_frame(&mut state.out, DATA, END_STREAM, asked.id, octets);
            self.window -= octets.len() as i64;
            self.leaves(asked, true, &state.out);
            return None;
        }
        let source = Source::Octets(octets.to_vec());
        Some(Rest { body: Body { source, at: 0, is_last: true }, beats: None })
    }

    /// Whether the content leaves in one frame, at once, in the usual style.
    fn fits(&self, asked: &Asked, length: usize, out: &[u8]) -> bool {
        let Style { data_max, padding, trailers, .. } = &asked.style;
        let is_usual = padding.is_none() && trailers.is_empty();
        let most = self.window.min(asked.window);
        is_usual
            && length <= self.peer_frame_max.min(*data_max)
            && length as i64 <= most
            && self.sending.is_empty()
            && out.len() < BUFFER
    }

    /// The answer has its end in the buffer, or its head if it may have no end.
    pub(super) fn leaves(&mut self, asked: &Asked, is_end: bool, out: &[u8]) {
        self.leaving.push_back(Leaving {
            offset: self.written + out.len() as u64,
            stream: asked.id,
            request_ended_ns: Some(asked.ended_ns),
            counts: asked.counts,
            is_end,
        });
    }

    /// Leaves room for a frame's head, and says where; the block comes behind it.
    pub(super) fn begin_block(&mut self, style: &Style, out: &mut Vec<u8>) -> usize {
        let begun = out.len();
        out.extend_from_slice(&[0; FRAME_HEAD]);
        self.encoder.begin(style.manner, out);
        begun
    }

    /// Writes the head of the block that has been written since, or cuts it as the style demands.
    pub(super) fn end_block(
        &self,
        id: u32,
        flags: u8,
        style: &Style,
        begun: usize,
        out: &mut Vec<u8>,
    ) {
        let length = out.len() - begun - FRAME_HEAD;
        let most = style.block_max.min(self.peer_frame_max);
        if length <= most && style.padding.is_none() {
            let mut head = Vec::with_capacity(FRAME_HEAD);
            push_head(&mut head, length, HEADERS, flags | END_HEADERS, id);
            out[begun..begun + FRAME_HEAD].copy_from_slice(&head);
            return;
        }
        let block = out.split_off(begun + FRAME_HEAD);
        out.truncate(begun);
        let mut kind = (HEADERS, flags);
        let mut pieces = block.chunks(most.min(block.len().max(1))).peekable();
        while let Some(piece) = pieces.next() {
            let end = if pieces.peek().is_none() { END_HEADERS } else { 0 };
            match style.padding.filter(|_| kind.0 == HEADERS) {
                Some(padding) => push_padded(out, HEADERS, kind.1 | end, id, piece, padding),
                None => push_frame(out, kind.0, kind.1 | end, id, piece),
            }
            kind = (CONTINUATION, 0);
        }
    }

    /// An interim answer without fields.
    pub(super) fn push_interim(&mut self, id: u32, status: &str, out: &mut Vec<u8>) {
        self.push_fields(id, &[(":status", status)], 0, &USUAL, out);
    }

    /// A HEADERS frame of these fields.
    pub(super) fn push_fields(
        &mut self,
        id: u32,
        fields: &[(&str, &str)],
        flags: u8,
        style: &Style,
        out: &mut Vec<u8>,
    ) {
        let begun = self.begin_block(style, out);
        for (name, value) in fields {
            self.encoder.push(name.as_bytes(), value.as_bytes(), style.manner, out);
        }
        self.end_block(id, flags, style, begun, out);
    }

    /// The answer to a refused request; the connection goes on. Without a window for it the reason is left out.
    pub(super) fn refuse(
        &mut self,
        id: u32,
        refusal: Refusal,
        request_ended_ns: Option<u64>,
        state: &mut ThreadState,
    ) {
        state.count(Resource::Refused);
        let line = refusal.status.name();
        let text = format!("{}\n", refusal.why);
        let length = text.len().to_string();
        let fields = [
            (":status", &line[9..12]),
            ("content-type", "text/plain"),
            ("content-length", &length),
        ];
        let of_stream = self.streams.get(&id).map(|stream| stream.window);
        let window = self.window.min(of_stream.unwrap_or(i64::from(self.peer_window)));
        if text.len() as i64 <= window {
            self.push_fields(id, &fields, 0, &USUAL, &mut state.out);
            push_frame(&mut state.out, DATA, END_STREAM, id, text.as_bytes());
            self.window -= text.len() as i64;
        } else {
            self.push_fields(id, &fields[..1], END_STREAM, &USUAL, &mut state.out);
        }
        let offset = self.written + state.out.len() as u64;
        let counts = Counts::Faulty;
        self.leaving.push_back(Leaving {
            offset,
            stream: id,
            request_ended_ns,
            counts,
            is_end: true,
        });
    }
}

/// A frame with this many octets of padding.
pub(super) fn push_padded(
    out: &mut Vec<u8>,
    kind: u8,
    flags: u8,
    id: u32,
    octets: &[u8],
    padding: u8,
) {
    push_head(out, 1 + octets.len() + usize::from(padding), kind, flags | PADDED, id);
    out.push(padding);
    out.extend_from_slice(octets);
    out.resize(out.len() + usize::from(padding), 0);
}
