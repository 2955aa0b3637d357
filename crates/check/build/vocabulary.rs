//! The words of steps and rules, what follows each of them, and the Rust that they become.

use super::notation::{Place, Symbol, Token};
use crate::http2_frame::{CODES, FLAGS, KINDS, SETTINGS_NAMES};

/// What follows a word.
#[derive(Clone, Copy)]
enum Takes {
    Number,
    /// Numbers up to the next word.
    Numbers,
    /// `300 ms` or `2 s`.
    Time,
    /// As long as an answer may take, if no time is given.
    AnyTime,
    Octet,
    Octets,
    /// Octets in one pair of quotes.
    Literal,
    /// Octets that are text.
    Text,
    /// A word that is text.
    Word,
    /// A word that only makes the line read well.
    Filler(&'static str),
    Rule,
    Rules,
    Sign,
    Then,
    Acts,
    /// By how much the streams of repeated acts rise; by 0 if it is not said.
    Higher,
    /// The kind of an HTTP/2 frame, its stream, and its flags up to a colon.
    Frame,
    Pieces,
    Settings,
    /// Error codes by their names.
    Codes,
    /// The first octet of a WebSocket frame.
    Opcode,
}
use Takes::*;

/// A word, what follows it, and the Rust that it becomes: `$0` is the first of what follows.
type Entry = (&'static str, &'static [Takes], &'static str);

const RULES: &[Entry] = &[
    ("ok", &[], "Rule::Ok"),
    ("status", &[Number], "Rule::Status($0)"),
    ("class", &[Number], "Rule::Class($0)"),
    ("echo", &[Octets], "Rule::Echo($0)"),
    ("silent", &[], "Rule::Silent"),
    ("waits", &[], "Rule::Waits"),
    ("successes", &[Number], "Rule::Successes($0)"),
    ("answers", &[Number], "Rule::Answers($0)"),
    ("closes", &[], "Rule::Closes"),
    ("grew-less", &[Number], "Rule::GrewLess($0)"),
    ("memory-unknown", &[], "Rule::MemoryUnknown"),
    ("acts-within", &[Time], "Rule::ActsWithin($0)"),
    ("honest-within", &[Time], "Rule::HonestWithin($0)"),
    ("opened", &[], "Rule::Opened"),
    ("pong", &[Octets], "Rule::Pong($0)"),
    ("said", &[Octets], "Rule::Said($0)"),
    ("fails", &[], "Rule::Fails"),
    ("fails-with", &[Number], "Rule::FailsWith($0)"),
    ("closes-with", &[Number], "Rule::ClosesWith($0)"),
    ("says-close", &[], "Rule::SaysClose"),
    ("all", &[Rules], "Rule::All(&[$0])"),
    ("any", &[Rules], "Rule::Any(&[$0])"),
    ("not", &[Rule], "Rule::Not(&$0)"),
];

/// What HTTP/2 has to show: rules of its own, and what its clients wait for.
const SIGNS: &[Entry] = &[
    ("ok", &[Number], "Sign::Ok($0)"),
    ("echo", &[Number, Octets], "Sign::Echo($0, $1)"),
    ("status", &[Number, Number], "Sign::Status($0, $1)"),
    ("class", &[Number, Number], "Sign::Class($0, $1)"),
    ("begun", &[Number], "Sign::Begun($0)"),
    ("answered", &[Number], "Sign::Answered($0)"),
    ("stream-error", &[Number, Codes], "Sign::StreamError($0, &[$1])"),
    ("connection-error", &[Codes], "Sign::ConnectionError(&[$0])"),
    ("malformed", &[Number], "Sign::Malformed($0)"),
    ("refused", &[Number], "Sign::Refused($0)"),
    ("reset", &[Number], "Sign::Reset($0)"),
    ("any-refused", &[Codes], "Sign::AnyRefused(&[$0])"),
    ("ends", &[], "Sign::Ends"),
    ("goaway", &[], "Sign::GoAway"),
    ("acknowledged", &[Number], "Sign::Acknowledged($0)"),
    ("pong", &[Octets], "Sign::Pong($0)"),
    ("content", &[Number, Number], "Sign::Content($0, $1)"),
];

/// Steps of HTTP/1.1 and WebSocket.
const STEPS: &[Entry] = &[
    ("send", &[Octets], "Step::Send($0)"),
    ("quote", &[Octets], "Step::Quote($0)"),
    ("drip", &[Time, Octets], "Step::Drip($1, $0)"),
    ("fill", &[Octet, Number], "Step::Fill($0, $1)"),
    ("repeat", &[Number, Octets], "Step::Repeat($1, $0)"),
    ("pause", &[Time], "Step::Pause($0)"),
    ("receive", &[AnyTime], "Step::Receive($0)"),
    ("receive-to-end", &[], "Step::ReceiveToEnd"),
    ("half-close", &[], "Step::HalfClose"),
    ("idle", &[Time], "Step::Idle($0)"),
    (
        "trickle",
        &[Octets, Filler("then"), Octet, Filler("every"), Time, Filler("for"), Time],
        "Step::Trickle(&Trickle { head: $0, filler: $1, every: $2, limit: $3 })",
    ),
    (
        "crowd",
        &[
            Number,
            Filler("times"),
            Number,
            Octets,
            Filler("then"),
            Then,
            Filler("every"),
            Time,
            Filler("for"),
            Time,
            Filler("honest-every"),
            Time,
            Filler("within"),
            Time,
        ],
        "Step::Crowd(&Crowd { size: $0, times: $1, ask: $2, then: $3, every: $4, lasting: $5, honest_every: $6, \
         honest_limit: $7 })",
    ),
    ("handshake", &[], "crate::ws::OPEN"),
    (
        "open",
        &[],
        "crate::ws::OPEN, Step::Receive(Duration::ZERO), crate::ws::GREET, Step::ReceivePong(crate::ws::HELLO)",
    ),
    ("receive-pong", &[Octets], "Step::ReceivePong($0)"),
    ("frames", &[Number, Opcode, Number], "Step::Frames($1, $2, $0)"),
    (
        "hello",
        &[Number, Filler("suites"), Numbers, Filler("alpn"), Text],
        "Step::Tls(&Hello { version: $0, suites: &[$1], alpn: $2, compression: false })",
    ),
    (
        "hello-with-compression",
        &[Number, Filler("suites"), Numbers, Filler("alpn"), Text],
        "Step::Tls(&Hello { version: $0, suites: &[$1], alpn: $2, compression: true })",
    ),
];

/// What a member of a crowd does in turn.
const THEN: &[Entry] = &[
    ("send", &[Octet], "Then::Send($0)"),
    ("sip", &[], "Then::Sip"),
    ("nothing", &[], "Then::Nothing"),
];

/// Acts of HTTP/2.
const ACTS: &[Entry] = &[
    ("open", &[], "crate::h2::OPEN"),
    ("open-held", &[], "crate::h2::HELD"),
    ("open-with", &[Settings], "Act::Open(&[$0])"),
    ("get", &[Number], "crate::h2::get($0)"),
    ("post", &[Number], "crate::h2::post($0)"),
    ("octets", &[Octets], "Act::Octets($0)"),
    ("frame", &[Frame, Pieces], "Act::Frame($0, &[$1])"),
    ("too-long", &[Frame, Pieces], "Act::TooLong($0, &[$1])"),
    ("repeat", &[Number, Higher, Acts], "Act::Repeat($0, $1, &[$2])"),
    ("beyond", &[Acts], "Act::Beyond(&[$0])"),
    ("upload", &[Number, Number], "Act::Upload($0, $1)"),
    ("listen", &[Time], "Act::Listen($0)"),
    ("until", &[Sign], "Act::Until($0)"),
    ("await", &[Sign], "Act::Await($0)"),
    ("pause", &[Time], "Act::Pause($0)"),
    ("idle", &[Time], "Act::Idle($0)"),
];

/// Parts of a frame's payload.
const PIECES: &[Entry] = &[
    ("request", &[Word], "Piece::Request($0)"),
    ("field", &[Text, Text], "Piece::Field($0, $1)"),
    ("raw", &[Literal, Literal], "Piece::Raw($0, $1)"),
    ("coded", &[Text, Text], "Piece::Coded($0, $1)"),
    ("kept", &[Text, Text], "Piece::Kept($0, $1)"),
    ("never", &[Text, Text], "Piece::Never($0, $1)"),
    ("long", &[Text, Number], "Piece::Long($0, $1)"),
    ("bomb", &[Text, Number, Number], "Piece::Bomb($0, $1, $2)"),
    ("indexed", &[Number], "Piece::Indexed($0)"),
    ("resize", &[Number], "Piece::Resize($0)"),
];

/// The kinds of WebSocket frames.
const OPCODES: &[(&str, u64)] =
    &[("continuation", 0), ("text", 1), ("binary", 2), ("close", 8), ("ping", 9), ("pong", 10)];

/// All words of the notation.
#[cfg(test)]
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    let tables = [RULES, SIGNS, STEPS, THEN, ACTS, PIECES];
    let words = tables.into_iter().flatten().map(|entry| entry.0);
    words.chain(OPCODES.iter().map(|entry| entry.0))
}

/// Reads the tokens of one field.
pub(super) struct Reader<'a> {
    tokens: &'a [Token],
    place: Place,
    is_http2: bool,
    /// The conditions that were named: each is looked for by the compiler.
    pub(super) conditions: &'a mut Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        tokens: &'a [Token],
        place: Place,
        is_http2: bool,
        conditions: &'a mut Vec<String>,
    ) -> Reader<'a> {
        Reader { tokens, place, is_http2, conditions }
    }

    /// All tokens as one thing, with nothing after it.
    pub(super) fn all<T>(
        mut self,
        read: fn(&mut Reader<'a>) -> Result<T, String>,
    ) -> Result<T, String> {
        let read = read(&mut self)?;
        match self.tokens {
            [] => Ok(read),
            _ => Err(self.unexpected("the end")),
        }
    }

    /// What a case sends, as a list of steps.
    pub(super) fn steps(&mut self) -> Result<String, String> {
        if self.is_http2 && !matches!(self.peek_word(), Some("hello" | "hello-with-compression")) {
            return Ok(format!("Step::Http2(&[{}])", self.acts()?));
        }
        let mut steps = Vec::new();
        while !self.tokens.is_empty() {
            let step = match self.peek_word() {
                Some(word) if is_opcode(word) => format!("Step::Raw({})", self.octets()?),
                _ => self.entry(STEPS, "step")?,
            };
            steps.push(step);
            self.end_of_step()?;
        }
        Ok(steps.join(", "))
    }

    /// Rules with commas between them.
    pub(super) fn rules(&mut self) -> Result<String, String> {
        let mut rules = Vec::new();
        self.skip_lines();
        while !self.tokens.is_empty() && !self.tokens[0].is(']') {
            rules.push(self.rule()?);
            self.skip_lines();
            if !self.take(',') {
                break;
            }
            self.skip_lines();
        }
        Ok(rules.join(", "))
    }

    /// `300 ms` or `2 s`.
    pub(super) fn time(&mut self) -> Result<String, String> {
        let count = self.number()?;
        match self.word("`ms` or `s`")?.as_str() {
            "ms" => Ok(format!("Duration::from_millis({count})")),
            "s" => Ok(format!("Duration::from_secs({count})")),
            other => Err(self.place.fault(&format!("`{other}` is neither `ms` nor `s`"))),
        }
    }

    fn acts(&mut self) -> Result<String, String> {
        let mut acts = Vec::new();
        while self.tokens.first().is_some_and(|token| !token.is(']')) {
            acts.push(self.entry(ACTS, "step of HTTP/2")?);
            self.end_of_step()?;
        }
        Ok(acts.join(", "))
    }

    fn end_of_step(&mut self) -> Result<(), String> {
        match self.tokens.first() {
            Some(token) if !token.is(']') && !token.is(';') => {
                Err(self.unexpected("the end of the step"))
            }
            _ => {
                self.skip_lines();
                Ok(())
            }
        }
    }

    fn rule(&mut self) -> Result<String, String> {
        let word = self.peek_word().unwrap_or_default().to_string();
        if self.is_http2 && SIGNS.iter().any(|entry| entry.0 == word) {
            return Ok(format!("Rule::Http2({})", self.entry(SIGNS, "rule")?));
        }
        if word.is_empty() || RULES.iter().any(|entry| entry.0 == word) {
            return self.entry(RULES, "rule");
        }
        let _ = self.word("a rule")?;
        let unknown = self.place.fault(&format!("unknown rule `{word}`"));
        self.conditions.push(format!("crate::condition::named({word:?}, {unknown:?})"));
        Ok(format!("CONDITION_{}", self.conditions.len() - 1))
    }

    /// A word of this table with all that follows it.
    fn entry(&mut self, table: &[Entry], what: &str) -> Result<String, String> {
        let word = self.word(&format!("a {what}"))?;
        let Some((_, takes, rust)) = table.iter().find(|entry| entry.0 == word) else {
            return Err(self.place.fault(&format!("unknown {what} `{word}`")));
        };
        let mut values = Vec::new();
        for takes in *takes {
            values.extend(self.taken(*takes)?);
        }
        let mut parts = rust.split('$');
        let mut made = parts.next().unwrap_or_default().to_string();
        for part in parts {
            let (place, rest) = part.split_at(1);
            made.push_str(&values[place.parse::<usize>().expect("the tables have digits here")]);
            made.push_str(rest);
        }
        Ok(made)
    }

    /// What follows a word; none for a word without a meaning of its own.
    fn taken(&mut self, takes: Takes) -> Result<Option<String>, String> {
        let taken = match takes {
            Number => self.number()?.to_string(),
            Numbers => self.numbers()?,
            Time => self.time()?,
            AnyTime if !matches!(self.peek(), Some(Symbol::Number(_))) => "Duration::ZERO".into(),
            AnyTime => self.time()?,
            Octet => self.octet()?.to_string(),
            Octets => self.octets()?,
            Literal => literal(&self.literal()?),
            Text => {
                let octets = self.literal()?;
                let text = String::from_utf8(octets);
                format!("{:?}", text.map_err(|_| self.place.fault("octets that are no text"))?)
            }
            Word => format!("{:?}", self.word("a word")?),
            Filler(filler) => {
                let word = self.word(&format!("`{filler}`"))?;
                let wrong = || self.place.fault(&format!("`{word}` where `{filler}` is expected"));
                return if word == filler { Ok(None) } else { Err(wrong()) };
            }
            Rule => self.rule()?,
            Rules => self.bracketed(Reader::rules)?,
            Sign => self.entry(SIGNS, "sign")?,
            Then => self.entry(THEN, "action")?,
            Acts => self.bracketed(Reader::acts)?,
            Higher if self.peek_word() == Some("higher") => {
                let _ = self.word("higher")?;
                self.number()?.to_string()
            }
            Higher => "0".into(),
            Frame => self.frame_head()?,
            Pieces => self.pieces()?,
            Settings => self.settings()?,
            Codes => self.codes()?,
            Opcode => self.opcode()?.0.to_string(),
        };
        Ok(Some(taken))
    }

    fn bracketed(
        &mut self,
        read: fn(&mut Reader<'a>) -> Result<String, String>,
    ) -> Result<String, String> {
        self.expect('[')?;
        self.skip_lines();
        let read = read(self)?;
        self.expect(']')?;
        Ok(read)
    }

    /// Octets as Rust: literals with `* 3` after what is repeated, or frames of a WebSocket.
    fn octets(&mut self) -> Result<String, String> {
        if self.peek_word().is_some_and(is_opcode) {
            return Ok(literal(&self.frames()?));
        }
        let mut octets = Vec::new();
        while octets.is_empty() || matches!(self.peek(), Some(Symbol::Octets(_))) {
            let part = self.literal()?;
            let times = if self.take('*') { self.number()? as usize } else { 1 };
            let is_all = octets.is_empty() && !matches!(self.peek(), Some(Symbol::Octets(_)));
            if let ([octet], true, 2..) = (&part[..], is_all, times) {
                return Ok(format!("&[{octet}; {times}]"));
            }
            octets.extend_from_slice(&part.repeat(times));
            if is_all {
                break;
            }
        }
        Ok(literal(&octets))
    }

    /// Frames of a WebSocket, with commas between them, as the octets that are sent.
    fn frames(&mut self) -> Result<Vec<u8>, String> {
        let mut octets = Vec::new();
        loop {
            let (first, is_close) = self.opcode()?;
            let (mut mask, mut length) = (Some(vec![0; 4]), None);
            while let Some(word) = self.peek_word().map(String::from) {
                let _ = self.word("a property")?;
                match word.as_str() {
                    "unmasked" => mask = None,
                    "mask" => match self.literal()? {
                        octets if octets.len() == 4 => mask = Some(octets),
                        _ => return Err(self.place.fault("a mask has four octets")),
                    },
                    "long" => length = Some(self.number()?),
                    _ => return Err(self.place.fault(&format!("unknown property `{word}`"))),
                }
            }
            let mut payload = Vec::new();
            if is_close && matches!(self.peek(), Some(Symbol::Number(_))) {
                payload.extend_from_slice(&(self.number()? as u16).to_be_bytes());
            }
            if matches!(self.peek(), Some(Symbol::Octets(_))) {
                payload.extend(self.literal()?);
            }
            push_frame(&mut octets, first, mask.as_deref(), length, &payload);
            if !self.take(',') {
                return Ok(octets);
            }
        }
    }

    /// The first octet of a WebSocket frame, and whether it is a Close.
    fn opcode(&mut self) -> Result<(u8, bool), String> {
        let word = self.word("the kind of a frame")?;
        let known = OPCODES.iter().find(|(name, _)| *name == word);
        let opcode = match known {
            Some((_, opcode)) => *opcode,
            None if word == "opcode" => self.number()?,
            None => return Err(self.place.fault(&format!("unknown kind of frame `{word}`"))),
        };
        let mut first = 0x80 | opcode as u8;
        while let Some(word @ ("more" | "rsv1" | "rsv2" | "rsv3")) = self.peek_word() {
            match word {
                "more" => first &= 0x7f,
                "rsv1" => first |= 0x40,
                "rsv2" => first |= 0x20,
                _ => first |= 0x10,
            }
            self.tokens = &self.tokens[1..];
        }
        Ok((first, opcode == 8))
    }

    /// `HEADERS 1 END_STREAM END_HEADERS:` as kind, flags and stream.
    fn frame_head(&mut self) -> Result<String, String> {
        let kind = self.named(KINDS.iter().zip(0..).map(|(name, kind)| (*name, kind)), "kind")?;
        let (stream, mut flags) = (self.number()?, 0);
        while matches!(self.peek(), Some(Symbol::Word(_) | Symbol::Number(_))) {
            let known = FLAGS.iter().map(|(name, flag, _)| (*name, u64::from(*flag)));
            flags |= self.named(known, "flag")?;
        }
        let _ = self.take(':');
        Ok(format!("{kind}, {flags}, {stream}"))
    }

    fn pieces(&mut self) -> Result<String, String> {
        let mut pieces = Vec::new();
        while self.tokens.first().is_some_and(|token| !token.is(';') && !token.is(']')) {
            pieces.push(self.piece()?);
            if !self.take(',') {
                break;
            }
        }
        Ok(pieces.join(", "))
    }

    fn piece(&mut self) -> Result<String, String> {
        let is_setting = self.tokens.get(1).is_some_and(|token| token.is('='));
        match self.peek() {
            _ if is_setting => self.setting().map(|setting| format!("Piece::Setting{setting}")),
            Some(Symbol::Number(_)) => Ok(format!("Piece::Number({})", self.number()?)),
            Some(Symbol::Octets(_)) => {
                let octets = self.literal()?;
                match (&octets[..], self.take('*')) {
                    ([octet], true) => Ok(format!("Piece::Fill({octet}, {})", self.number()?)),
                    (_, true) => {
                        Err(self.place.fault("only a single octet is repeated in a frame"))
                    }
                    (_, false) => Ok(format!("Piece::Octets({})", literal(&octets))),
                }
            }
            Some(Symbol::Word(word)) if CODES.contains(&word.as_str()) => {
                Ok(format!("Piece::Number({})", self.code()?))
            }
            _ => self.entry(PIECES, "part of a frame"),
        }
    }

    fn settings(&mut self) -> Result<String, String> {
        let mut settings = Vec::new();
        while self.tokens.get(1).is_some_and(|token| token.is('=')) {
            settings.push(self.setting()?);
        }
        Ok(settings.join(", "))
    }

    /// `ENABLE_PUSH=0`
    fn setting(&mut self) -> Result<String, String> {
        let known = SETTINGS_NAMES.iter().zip(1..).map(|(name, number)| (*name, number));
        let name = self.named(known, "setting")?;
        self.expect('=')?;
        Ok(format!("({name}, {})", self.number()?))
    }

    fn codes(&mut self) -> Result<String, String> {
        let mut codes = vec![self.code()?.to_string()];
        while self.peek_word().is_some_and(|word| CODES.contains(&word)) {
            codes.push(self.code()?.to_string());
        }
        Ok(codes.join(", "))
    }

    fn code(&mut self) -> Result<u64, String> {
        self.named(CODES.iter().zip(0..).map(|(name, code)| (*name, code)), "error code")
    }

    /// A number, or what one of these names stands for.
    fn named<'b>(
        &mut self,
        mut known: impl Iterator<Item = (&'b str, u64)>,
        what: &str,
    ) -> Result<u64, String> {
        if let Some(Symbol::Number(_)) = self.peek() {
            return self.number();
        }
        let word = self.word(&format!("a {what}"))?;
        let found = known.find(|(name, _)| *name == word).map(|(_, number)| number);
        found.ok_or_else(|| self.place.fault(&format!("unknown {what} `{word}`")))
    }

    fn numbers(&mut self) -> Result<String, String> {
        let mut numbers = vec![self.number()?.to_string()];
        while let Some(Symbol::Number(_)) = self.peek() {
            numbers.push(self.number()?.to_string());
        }
        Ok(numbers.join(", "))
    }

    fn octet(&mut self) -> Result<u8, String> {
        match self.literal()?[..] {
            [octet] => Ok(octet),
            _ => Err(self.place.fault("a single octet is expected")),
        }
    }

    fn literal(&mut self) -> Result<Vec<u8>, String> {
        match self.next() {
            Some(Symbol::Octets(octets)) => Ok(octets.clone()),
            found => Err(self.wrong(found, "octets in quotes")),
        }
    }

    fn number(&mut self) -> Result<u64, String> {
        match self.next() {
            Some(Symbol::Number(number)) => Ok(*number),
            found => Err(self.wrong(found, "a number")),
        }
    }

    fn word(&mut self, what: &str) -> Result<String, String> {
        match self.next() {
            Some(Symbol::Word(word)) => Ok(word.clone()),
            found => Err(self.wrong(found, what)),
        }
    }

    fn expect(&mut self, mark: char) -> Result<(), String> {
        if self.take(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    fn take(&mut self, mark: char) -> bool {
        let is_there = self.tokens.first().is_some_and(|token| token.is(mark));
        if is_there {
            let _ = self.next();
        }
        is_there
    }

    fn skip_lines(&mut self) {
        while self.take(';') {}
    }

    fn peek(&self) -> Option<&'a Symbol> {
        self.tokens.first().map(|token| &token.symbol)
    }

    fn peek_word(&self) -> Option<&'a str> {
        match self.peek() {
            Some(Symbol::Word(word)) => Some(word),
            _ => None,
        }
    }

    fn next(&mut self) -> Option<&'a Symbol> {
        let (first, rest) = self.tokens.split_first()?;
        self.place.line = first.line;
        self.tokens = rest;
        Some(&first.symbol)
    }

    fn unexpected(&mut self, wanted: &str) -> String {
        let found = self.next();
        self.wrong(found, wanted)
    }

    fn wrong(&self, found: Option<&Symbol>, wanted: &str) -> String {
        let found = match found {
            None | Some(Symbol::Mark(';')) => "the end".to_string(),
            Some(Symbol::Word(word)) => format!("`{word}`"),
            Some(Symbol::Number(number)) => format!("`{number}`"),
            Some(Symbol::Mark(mark)) => format!("`{mark}`"),
            Some(Symbol::Octets(octets)) => format!("`\"{}\"`", octets.escape_ascii()),
        };
        self.place.fault(&format!("{found} where {wanted} is expected"))
    }
}

fn is_opcode(word: &str) -> bool {
    word == "opcode" || OPCODES.iter().any(|(name, _)| *name == word)
}

fn literal(octets: &[u8]) -> String {
    format!("b\"{}\"", octets.escape_ascii())
}

/// A frame of a WebSocket (RFC 6455, 5.2); a length that is given is said in 64 bits, whatever the payload has.
fn push_frame(
    out: &mut Vec<u8>,
    first: u8,
    mask: Option<&[u8]>,
    length: Option<u64>,
    payload: &[u8],
) {
    let masked = if mask.is_some() { 0x80 } else { 0 };
    out.push(first);
    match (length, payload.len()) {
        (Some(length), _) => {
            out.push(masked | 127);
            out.extend_from_slice(&length.to_be_bytes());
        }
        (None, short @ 0..=125) => out.push(masked | short as u8),
        (None, longer) => {
            out.push(masked | 126);
            out.extend_from_slice(&(longer as u16).to_be_bytes());
        }
    }
    out.extend_from_slice(mask.unwrap_or_default());
    let mask = mask.unwrap_or(&[0]);
    out.extend(payload.iter().zip(mask.iter().cycle()).map(|(octet, mask)| octet ^ mask));
}
