//! Reads answers out of what a server sent, and lists what is wrong with them. It reads on where a polite client would
//! stop, since the rest is evidence, too.

use crate::flaw::Flaw;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceivedAnswer {
    pub status: u16,
    /// Whether its version is HTTP/1.0.
    pub is_old: bool,
    /// Its fields, in their order, names in lower case.
    pub fields: Vec<(String, Vec<u8>)>,
    /// Its content, decoded from chunks; empty as long as it is not complete.
    pub content: Vec<u8>,
    /// Whether its content is complete.
    pub is_whole: bool,
    /// What is wrong with its form.
    pub flaws: Vec<Flaw>,
}

impl ReceivedAnswer {
    /// The first field of this name.
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        self.fields.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_slice())
    }

    /// All fields of this name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.fields.iter().filter(move |(it, _)| it == name).map(|(_, value)| value.as_slice())
    }

    /// Whether a list field has this token.
    pub(crate) fn has_token(&self, name: &str, token: &str) -> bool {
        let mut members = self.all(name).flat_map(|value| value.split(|octet| *octet == b','));
        members.any(|member| member.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
    }

    fn note(&mut self, flaw: Flaw) {
        if !self.flaws.contains(&flaw) {
            self.flaws.push(flaw);
        }
    }

    /// Whether it says that the connection ends after it.
    pub(crate) fn says_close(&self) -> bool {
        // RFC 9112, 9.3: HTTP/1.0 ends the connection unless it says otherwise.
        let is_kept = !self.is_old || self.has_token("connection", "keep-alive");
        self.has_token("connection", "close") || !is_kept
    }

    /// 2xx.
    pub(crate) fn is_success(&self) -> bool {
        self.status / 100 == 2
    }
}

/// Everything that arrived over one connection, parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedStream {
    /// 1xx answers, without a 101 that switched protocols.
    pub interim: Vec<ReceivedAnswer>,
    /// Final answers, in their order; the last one may be incomplete.
    pub finals: Vec<ReceivedAnswer>,
    /// Where the bytes begin that are no answer: after a 101, or after something that cannot be parsed.
    pub rest: usize,
}

impl ParsedStream {
    /// Whether there may be more answers than were read.
    pub(crate) fn is_flood(&self) -> bool {
        let fields = self.interim.iter().chain(&self.finals).map(|answer| answer.fields.len());
        ANSWERS <= self.interim.len() + self.finals.len() || FIELDS <= fields.sum()
    }
}

/// At most this many answers are read; everything after them stays in the rest, so that a flood costs little.
const ANSWERS: usize = 4096;
/// At most this many fields are read, each of which takes far more memory than its octets may.
const FIELDS: usize = 16_384;

/// Parses what arrived. `ended`: nothing more will arrive. `is_head` says whether the request with this number was
/// HEAD.
pub(crate) fn read(received: &[u8], ended: bool, is_head: &dyn Fn(usize) -> bool) -> ParsedStream {
    let (mut reading, mut fields) = (ParsedStream::default(), 0);
    while reading.rest < received.len()
        && reading.interim.len() + reading.finals.len() < ANSWERS
        && fields < FIELDS
    {
        let left = &received[reading.rest..];
        let skipped = left.iter().take_while(|octet| matches!(octet, b'\r' | b'\n')).count();
        let Some((mut answer, head)) = head(left, ended, FIELDS - fields) else { break };
        reading.rest += head;
        fields += answer.fields.len();
        if answer.status / 100 == 1 && answer.status != 101 {
            forbid_content(&mut answer);
            answer.is_whole = true;
            reading.interim.push(answer);
            continue;
        }
        if skipped > 0 && !reading.finals.is_empty() {
            answer.note(Flaw::Stray);
        }
        let switched = answer.status == 101;
        let is_readable = !answer.flaws.contains(&Flaw::StatusLine);
        let bodiless = is_head(reading.finals.len());
        let taken = content(&mut answer, &received[reading.rest..], ended, bodiless);
        reading.rest += taken;
        let is_whole = answer.is_whole;
        reading.finals.push(answer);
        if switched || !is_whole || !is_readable {
            break;
        }
    }
    reading
}

/// The head with so many of its fields, and its length; none if the head is not complete yet.
fn head(bytes: &[u8], ended: bool, fields: usize) -> Option<(ReceivedAnswer, usize)> {
    let begin = bytes.iter().take_while(|octet| matches!(octet, b'\r' | b'\n')).count();
    if !b"HTTP/".starts_with(&bytes[begin..bytes.len().min(begin + 5)]) && begin < bytes.len() {
        return Some((unreadable(), bytes.len()));
    }
    let Some(len) = head_len(&bytes[begin..]) else {
        let is_hopeless = ended && begin < bytes.len();
        return is_hopeless.then(|| (unreadable(), bytes.len()));
    };
    let mut answer = ReceivedAnswer::default();
    let head = &bytes[begin..begin + len];
    flaws_of_octets(head, &mut answer.flaws);
    let mut lines = head.split(|octet| *octet == b'\n').map(without_cr);
    status_line(lines.next().unwrap_or_default(), &mut answer);
    for line in lines.filter(|line| !line.is_empty()) {
        field_line(line, &mut answer);
        if answer.fields.len() == fields {
            break;
        }
    }
    Some((answer, begin + len))
}

/// Bytes that are no answer at all.
fn unreadable() -> ReceivedAnswer {
    ReceivedAnswer { flaws: vec![Flaw::StatusLine], ..ReceivedAnswer::default() }
}

/// The end of a head: an empty line, however its lines end.
fn head_len(bytes: &[u8]) -> Option<usize> {
    let mut line_began = 0;
    for (index, octet) in bytes.iter().enumerate() {
        if *octet == b'\n' {
            if without_cr(&bytes[line_began..index]).is_empty() && line_began > 0 {
                return Some(index + 1);
            }
            line_began = index + 1;
        }
    }
    None
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn flaws_of_octets(head: &[u8], flaws: &mut Vec<Flaw>) {
    let mut before = 0;
    let mut bare = |flaw| {
        if !flaws.contains(&flaw) {
            flaws.push(flaw);
        }
    };
    for (index, octet) in head.iter().enumerate() {
        match octet {
            b'\n' if before != b'\r' => bare(Flaw::BareLf),
            b'\r' if head.get(index + 1) != Some(&b'\n') => bare(Flaw::BareCr),
            0 => bare(Flaw::Nul),
            _ => {}
        }
        before = *octet;
    }
}

fn status_line(line: &[u8], answer: &mut ReceivedAnswer) {
    let is_version = line.len() >= 12
        && line.starts_with(b"HTTP/1.")
        && line[7].is_ascii_digit()
        && line[8] == b' ';
    let code = line.get(9..12).filter(|code| code.iter().all(u8::is_ascii_digit));
    let Some(code) = code.filter(|_| is_version) else {
        answer.note(Flaw::StatusLine);
        return;
    };
    answer.status = code.iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    answer.is_old = line[7] == b'0';
    match line.get(12) {
        Some(b' ') => {}
        // RFC 9112, 4: the space stays even if no reason phrase follows it.
        None => answer.note(Flaw::NoBlankAfterCode),
        Some(_) => answer.note(Flaw::StatusLine),
    }
}

fn field_line(line: &[u8], answer: &mut ReceivedAnswer) {
    if matches!(line[0], b' ' | b'\t') {
        answer.note(Flaw::Folded);
        if let Some((_, value)) = answer.fields.last_mut() {
            value.push(b' ');
            value.extend_from_slice(line.trim_ascii());
        }
        return;
    }
    let Some(colon) = line.iter().position(|octet| *octet == b':') else {
        answer.note(Flaw::NoColon);
        return;
    };
    let name = &line[..colon];
    if name.last().is_some_and(u8::is_ascii_whitespace) {
        answer.note(Flaw::BlankBeforeColon);
    } else if name.is_empty() || !name.iter().all(|octet| is_token(*octet)) {
        answer.note(Flaw::FieldName);
    }
    let name = String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase();
    answer.fields.push((name, line[colon + 1..].trim_ascii().to_vec()));
}

/// RFC 9110, 5.6.2.
fn is_token(octet: u8) -> bool {
    octet.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&octet)
}

/// RFC 9110, 8.6 and RFC 9112, 6.1: neither field is in a 1xx or a 204.
fn forbid_content(answer: &mut ReceivedAnswer) {
    if answer.field("content-length").is_some() {
        answer.note(Flaw::LengthForbidden);
    }
    if answer.field("transfer-encoding").is_some() {
        answer.note(Flaw::CodingForbidden);
    }
}

/// Reads an answer's content, and returns its length on the wire.
fn content(answer: &mut ReceivedAnswer, bytes: &[u8], ended: bool, is_head: bool) -> usize {
    if answer.flaws.contains(&Flaw::StatusLine) {
        answer.is_whole = ended;
        return 0;
    }
    let length = length(answer);
    let has_coding = answer.field("transfer-encoding").is_some();
    if has_coding && answer.field("content-length").is_some() {
        answer.note(Flaw::BothLengths);
    }
    if matches!(answer.status, 101 | 204) {
        forbid_content(answer);
    }
    if is_head || matches!(answer.status, 101 | 204 | 304) {
        answer.is_whole = true;
        return 0;
    }
    if has_coding && ends_chunked(answer) {
        let taken = chunks(answer, bytes);
        if !answer.is_whole {
            answer.content = Vec::new();
        }
        return taken;
    }
    match length.filter(|_| !has_coding) {
        Some(length) => {
            let taken = usize::try_from(length).unwrap_or(usize::MAX).min(bytes.len());
            answer.is_whole = taken as u64 == length;
            answer.content = if answer.is_whole { bytes[..taken].to_vec() } else { Vec::new() };
            taken
        }
        None => {
            answer.is_whole = ended;
            answer.content = if ended { bytes.to_vec() } else { Vec::new() };
            bytes.len()
        }
    }
}

fn ends_chunked(answer: &ReceivedAnswer) -> bool {
    let last = answer.all("transfer-encoding").last().unwrap_or_default();
    let member = last.rsplit(|octet| *octet == b',').next().unwrap_or_default();
    member.trim_ascii().eq_ignore_ascii_case(b"chunked")
}

/// What Content-Length says. Several equal ones count as one.
fn length(answer: &mut ReceivedAnswer) -> Option<u64> {
    let members = answer.all("content-length").flat_map(|value| value.split(|it| *it == b','));
    let mut lengths = members.map(|member| {
        let member = member.trim_ascii();
        let is_number = !member.is_empty() && member.iter().all(u8::is_ascii_digit);
        let text = std::str::from_utf8(member).ok().filter(|_| is_number);
        text.and_then(|text| text.parse().ok())
    });
    let first: Option<u64> = lengths.next()?;
    let is_one = first.is_some() && lengths.all(|it| it == first);
    drop(lengths);
    if !is_one {
        answer.note(Flaw::Length);
    }
    first.filter(|_| is_one)
}

/// Decodes chunks; returns how many octets they took.
fn chunks(answer: &mut ReceivedAnswer, bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let Some((line, after)) = line_at(bytes, at) else { return bytes.len() };
        let size = line.split(|octet| *octet == b';').next().unwrap_or_default().trim_ascii();
        let text = std::str::from_utf8(size).unwrap_or_default();
        let is_hex = !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_hexdigit());
        let Some(size) = usize::from_str_radix(text, 16).ok().filter(|_| is_hex) else {
            answer.note(Flaw::Chunks);
            return bytes.len();
        };
        at = after;
        if size == 0 {
            break;
        }
        let end = at.saturating_add(size);
        answer.content.extend_from_slice(&bytes[at..end.min(bytes.len())]);
        match bytes.get(end..end.saturating_add(2)) {
            Some(b"\r\n") => at = end + 2,
            Some(_) => {
                answer.note(Flaw::Chunks);
                return bytes.len();
            }
            None => return bytes.len(),
        }
    }
    // The trailer section, to its empty line.
    while let Some((line, after)) = line_at(bytes, at) {
        at = after;
        if line.is_empty() {
            answer.is_whole = true;
            return at;
        }
    }
    bytes.len()
}

fn line_at(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let len = bytes.get(at..)?.iter().position(|octet| *octet == b'\n')?;
    Some((without_cr(&bytes[at..at + len]), at + len + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::{any, proptest};

    fn check(received: &[u8], ended: bool, expected: &Expect) {
        let reading = read(received, ended, &|number| number == 9);
        let mut seen = String::new();
        for (kind, answer) in (reading.interim.iter().map(|it| ("interim", it)))
            .chain(reading.finals.iter().map(|it| ("final", it)))
        {
            let content = answer.content.escape_ascii();
            let whole = if answer.is_whole { "whole" } else { "cut" };
            seen += &format!("{kind} {} {whole} `{content}` {:?}\n", answer.status, answer.flaws);
        }
        seen += &format!("rest {}", received.len() - reading.rest);
        expected.assert_eq(&seen);
    }

    #[test]
    fn answers_are_distinguished_by_their_framing() {
        check(
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n\
              Transfer-Encoding: chunked\r\n\r\n2;x\r\nho\r\n0\r\nT: 1\r\n\r\nHTTP/1.0 404 No\r\n\r\nuntil the end",
            true,
            &expect![[r#"
                interim 100 whole `` []
                final 200 whole `hi` []
                final 200 whole `ho` []
                final 404 whole `until the end` []
                rest 0"#]],
        );
        check(
            b"HTTP/1.1 101 Now\r\nUpgrade: x\r\n\r\n\x81\x00",
            false,
            &expect![[r#"
                final 101 whole `` []
                rest 2"#]],
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        check(
            b"HTTP/1.1 204\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\nA b: 1\r\nC : \x00\r\n d\r\nno\r\n\r\nxyz",
            true,
            &expect![[r#"
                final 204 whole `` [BareLf, Nul, NoBlankAfterCode, FieldName, BlankBeforeColon, Folded, NoColon, BothLengths, LengthForbidden, CodingForbidden]
                final 0 whole `` [StatusLine]
                rest 0"#]],
        );
        check(
            b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello",
            false,
            &expect![[r#"
                final 200 cut `` [Length]
                rest 0"#]],
        );
        check(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello",
            false,
            &expect![[r#"
                final 200 cut `` [Chunks]
                rest 0"#]],
        );
        check(
            b"<html>oops",
            true,
            &expect![[r#"
                final 0 whole `` [StatusLine]
                rest 0"#]],
        );
    }

    #[test]
    fn a_flood_of_answers_is_not_read_to_its_end() {
        let flood = b"HTTP/1.1 103 More\r\n\r\n".repeat(2 * ANSWERS);
        let reading = read(&flood, false, &|_| false);
        assert_eq!((reading.interim.len(), reading.rest), (ANSWERS, flood.len() / 2));
    }

    #[test]
    fn what_is_kept_of_a_head_does_not_grow_with_its_lines() {
        let flood = |line: &str| format!("HTTP/1.1 200 OK\r\n{}\r\n", line.repeat(100_000));
        let read = |line: &str| read(flood(line).as_bytes(), false, &|_| false);
        assert_eq!(read("a:\r\n").finals[0].fields.len(), FIELDS);
        assert_eq!(read("a\n").finals[0].flaws, [Flaw::BareLf, Flaw::NoColon]);
    }

    proptest! {
        #[test]
        fn any_octets_are_read_without_harm(received: Vec<u8>, ended in any::<bool>()) {
            let reading = read(&received, ended, &|_| false);
            assert!(reading.rest <= received.len());
        }
    }
}
