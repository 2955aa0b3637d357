//! One side of an exchange of HTTP/2 in words, a line for each frame.

use super::act::{head, shown};
use super::frame::{
    ACK, CONTINUATION, DATA, END_HEADERS, Frame, GOAWAY, HEADERS, PREFACE, RST_STREAM, SETTINGS,
    WINDOW_UPDATE, code_name, number, setting_name,
};
use super::hpack::Decoder;
use crate::finding::Finding;

impl Finding {
    /// These octets of its evidence as frames; none if they are not of HTTP/2.
    #[must_use]
    pub fn frames(&self, octets: &[u8]) -> Option<Vec<String>> {
        let rest = octets.strip_prefix(PREFACE);
        let is_frames = |octets: &[u8]| matches!(octets, [0, _, _, 0..=9, _, 0, 0, 0, 0, ..]);
        let is_http2 = self.area.protocol().is_http2() && (rest.is_some() || is_frames(octets));
        is_http2.then(|| {
            let preface = rest.map(|_| "the preface".to_string());
            preface.into_iter().chain(in_words(rest.unwrap_or(octets))).collect()
        })
    }
}

fn in_words(mut octets: &[u8]) -> Vec<String> {
    let (mut lines, mut decoder, mut block) = (Vec::new(), Decoder::default(), Vec::new());
    while let Some((frame, taken)) = Frame::read(octets) {
        let words = payload(&frame, &mut decoder, &mut block);
        let colon = if words.is_empty() { "" } else { ": " };
        lines.push(format!("{}{colon}{words}", head(frame.kind, frame.flags, frame.stream)));
        octets = &octets[taken..];
    }
    if !octets.is_empty() {
        lines.push(format!("what is no whole frame: {}", shown(octets)));
    }
    lines
}

/// What a frame carries; a header block at its end, if it can be decoded.
fn payload(frame: &Frame, decoder: &mut Decoder, block: &mut Vec<u8>) -> String {
    let octets = &frame.payload[..];
    match (frame.kind, frame.content()) {
        (HEADERS, Some(content)) => fields(frame, content, decoder, block),
        (CONTINUATION, _) => fields(frame, octets, decoder, block),
        (DATA, Some(content)) if !content.is_empty() => shown(content),
        (SETTINGS, _) if !frame.has(ACK) && octets.len().is_multiple_of(6) => {
            let setting = |setting: &[u8]| {
                let name = setting_name(u16::from_be_bytes([setting[0], setting[1]]));
                format!("{name}={}", number(&setting[2..]))
            };
            octets.chunks(6).map(setting).collect::<Vec<_>>().join(", ")
        }
        (RST_STREAM, _) if octets.len() == 4 => code_name(number(octets)),
        (WINDOW_UPDATE, _) if octets.len() == 4 => number(octets).to_string(),
        (GOAWAY, _) if octets.len() >= 8 => {
            let (last, code) = (number(octets), code_name(number(&octets[4..])));
            let words = &octets[8..];
            let words =
                if words.is_empty() { String::new() } else { format!(", {}", shown(words)) };
            format!("last stream {last}, {code}{words}")
        }
        _ if octets.is_empty() => String::new(),
        _ => shown(octets),
    }
}

fn fields(frame: &Frame, part: &[u8], decoder: &mut Decoder, block: &mut Vec<u8>) -> String {
    if frame.kind == HEADERS {
        block.clear();
    }
    block.extend_from_slice(part);
    if !frame.has(END_HEADERS) {
        return format!("a part of a header block, {} octets", part.len());
    }
    match decoder.decode(block) {
        Err(why) => format!("{} ({why})", shown(block)),
        Ok(list) => {
            let field = |(name, value): &(Vec<u8>, Vec<u8>)| {
                let value = &value[..value.len().min(60)];
                format!("{}: {}", name.escape_ascii(), value.escape_ascii())
            };
            list.iter().map(field).collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Area, Case};

    #[test]
    fn both_sides_are_written_frame_by_frame() {
        let case = Case { area: Area::Http2Control, ..Case::BLANK };
        let finding = Finding::of(&case);
        let mut sent = PREFACE.to_vec();
        sent.extend(b"\0\0\x06\x04\0\0\0\0\0\0\x04\0\0\0\x07\0\0\x03\x01\x05\0\0\0\x01\x82\x84\x86\0\0\x08\x06");
        assert_eq!(
            finding.frames(&sent).unwrap(),
            [
                "the preface",
                "SETTINGS: INITIAL_WINDOW_SIZE=7",
                "HEADERS on stream 1 (END_STREAM, END_HEADERS): :method: GET, :path: /, :scheme: http",
                "what is no whole frame: `\\x00\\x00\\x08\\x06`",
            ]
        );
        let received = b"\0\0\0\x04\x01\0\0\0\0\0\0\x04\x03\0\0\0\0\x01\0\0\0\x08\0\0\x0a\x07\0\0\0\0\0\0\0\0\x01\0\0\0\x01no";
        assert_eq!(
            finding.frames(received).unwrap(),
            [
                "SETTINGS (ACK)",
                "RST_STREAM on stream 1: CANCEL",
                "GOAWAY: last stream 1, PROTOCOL_ERROR, `no`"
            ]
        );
        assert_eq!(finding.frames(b"HTTP/1.1 400 Bad Request\r\n"), None);
        let other = Finding::of(&Case::BLANK);
        assert_eq!(other.frames(received), None);
    }
}
