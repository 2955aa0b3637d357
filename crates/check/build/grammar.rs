//! Reads steps and rules, and writes them as Rust.

use super::notation::{Place, Symbol, Token};
use super::vocabulary::{ACTS, Entry, OPCODES, PIECES, RULES, SIGNS, STEPS, THEN, Takes};
use crate::http2_frame::{CODES, FLAGS, KINDS, SETTINGS_NAMES};

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
            Takes::Number => self.number()?.to_string(),
            Takes::Numbers => self.numbers()?,
            Takes::Time => self.time()?,
            Takes::AnyTime if !matches!(self.peek(), Some(Symbol::Number(_))) => {
                "Duration::ZERO".into()
            }
            Takes::AnyTime => self.time()?,
            Takes::Octet => self.octet()?.to_string(),
            Takes::Octets => self.octets()?,
            Takes::Literal => literal(&self.literal()?),
            Takes::Text => {
                let octets = self.literal()?;
                let text = String::from_utf8(octets);
                format!("{:?}", text.map_err(|_| self.place.fault("octets that are no text"))?)
            }
            Takes::Word => format!("{:?}", self.word("a word")?),
            Takes::Filler(filler) => {
                let word = self.word(&format!("`{filler}`"))?;
                let wrong = || self.place.fault(&format!("`{word}` where `{filler}` is expected"));
                return if word == filler { Ok(None) } else { Err(wrong()) };
            }
            Takes::Rule => self.rule()?,
            Takes::Rules => self.bracketed(Reader::rules)?,
            Takes::Sign => self.entry(SIGNS, "sign")?,
            Takes::Then => self.entry(THEN, "action")?,
            Takes::Acts => self.bracketed(Reader::acts)?,
            Takes::Higher if self.peek_word() == Some("higher") => {
                let _ = self.word("higher")?;
                self.number()?.to_string()
            }
            Takes::Higher => "0".into(),
            Takes::Frame => self.frame_head()?,
            Takes::Pieces => self.pieces()?,
            Takes::Settings => self.settings()?,
            Takes::Codes => self.codes()?,
            Takes::Opcode => self.opcode()?.0.to_string(),
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
