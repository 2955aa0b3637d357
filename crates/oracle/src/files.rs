//! Files to serve below `/static/`: whole, compressed where that helps, in part, or not at all to a client that has them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::answer::{Answer, Content};
use crate::faults::Spoil;
use crate::request::{Wanted, list};
use crate::resource::Resource;

/// Files by their names, as they are and compressed.
#[derive(Debug, Default)]
pub struct Files(HashMap<Vec<u8>, File>);

#[derive(Debug)]
struct File {
    content: Vec<u8>,
    /// None where it would hardly be shorter.
    gzip: Option<Vec<u8>>,
    /// Brotli, stored as it is; for the same files.
    br: Option<Vec<u8>>,
    tag: String,
    content_type: &'static str,
}

impl Files {
    /// These files, by their names.
    #[must_use]
    pub fn of(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Files {
        let file = |(name, content): (String, Vec<u8>)| {
            let content_type = content_type(&name);
            (name.into_bytes(), File::of(content, content_type))
        };
        Files(files.into_iter().map(file).collect())
    }

    /// The right answer; none if there is no such file.
    pub(crate) fn answer<'a>(&self, name: &[u8], wanted: Wanted<'_>) -> Option<Answer<'a>> {
        let file = self.0.get(name)?;
        if wanted.known.is_some_and(|known| file.is_among(known)) {
            return Some(file.not_modified(&file.tag));
        }
        if let Some(range) = wanted.range(file.content.len()) {
            return Some(file.part(range, range.0));
        }
        let codings = [("br", &file.br), ("gzip", &file.gzip)];
        let mut encoded =
            codings.iter().filter_map(|(name, packed)| Some((name, (*packed).as_ref()?)));
        let encoded = encoded.find(|(name, _)| wanted.accepts(name.as_bytes()));
        Some(match encoded {
            Some((coding, packed)) => file.encoded(Some(coding), packed),
            None => file.whole(None),
        })
    }

    /// A wrong answer in place of the right one, which was of this resource.
    pub(crate) fn spoilt<'a>(
        &self,
        name: &[u8],
        wanted: Wanted<'_>,
        spoil: Spoil,
        right: &Answer<'_>,
    ) -> Option<Answer<'a>> {
        let file = self.0.get(name)?;
        let (coding, packed) = match &file.br {
            Some(br) if wanted.accepts(b"br") => ("br", br),
            _ => ("gzip", file.gzip.as_ref().unwrap_or(&file.content)),
        };
        let range = wanted.range(file.content.len()).unwrap_or_default();
        debug_assert!(spoil.alters(right.resource));
        match spoil {
            Spoil::FalseLabel => Some(file.encoded(Some(coding), &file.content)),
            Spoil::NoLabel => Some(file.encoded(None, packed)),
            Spoil::UnofferedCoding => Some(file.whole(Some("zstd"))),
            Spoil::OtherRange => Some(file.part(range, file.elsewhere(range))),
            Spoil::WrongContentRange => Some(file.part((range.0 + 1, range.1 + 1), range.0)),
            Spoil::OtherVersion => Some(file.not_modified("\"another\"")),
            Spoil::Unasked304 => Some(file.not_modified(&file.tag)),
            Spoil::Unasked206 => Some(file.part((0, file.content.len() / 2), 0)),
            Spoil::OtherBody
            | Spoil::Early
            | Spoil::WrongTotal
            | Spoil::ShortBody
            | Spoil::OtherOctet
            | Spoil::UnreadBody
            | Spoil::OtherField => None,
        }
    }
}

impl File {
    fn of(content: Vec<u8>, content_type: &'static str) -> File {
        let gzip = gzip(&content).filter(|packed| packed.len() < content.len() / 10 * 9);
        let br = gzip.as_ref().map(|_| stored_brotli(&content));
        let tag = format!("\"{:x}-{:x}\"", content.len(), fnv(&content));
        File { content, gzip, br, tag, content_type }
    }

    /// RFC 9110, 13.1.2: a list of tags, compared weakly, or any.
    fn is_among(&self, known: &[u8]) -> bool {
        let is_mine = |tag: &[u8]| {
            tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == self.tag.as_bytes()
        };
        list(known).any(is_mine)
    }

    fn answer<'a>(
        &self,
        resource: Resource,
        status_line: &'static str,
        fields: &str,
        octets: Vec<u8>,
    ) -> Answer<'a> {
        let content_type = if octets.is_empty() { "" } else { self.content_type };
        let lines =
            Cow::Owned(format!("Accept-Ranges: bytes\r\nVary: Accept-Encoding\r\n{fields}"));
        let content = Content::Octets(Cow::Owned(octets));
        Answer { resource, status_line, content_type, lines, content, wait_ns: 0 }
    }

    fn whole<'a>(&self, coding: Option<&str>) -> Answer<'a> {
        let fields = self.fields(coding);
        self.answer(Resource::File, "HTTP/1.1 200 OK", &fields, self.content.clone())
    }

    fn encoded<'a>(&self, coding: Option<&str>, octets: &[u8]) -> Answer<'a> {
        let fields = self.fields(coding);
        self.answer(Resource::EncodedFile, "HTTP/1.1 200 OK", &fields, octets.to_vec())
    }

    fn fields(&self, coding: Option<&str>) -> String {
        let coding = coding.map_or(String::new(), |it| format!("Content-Encoding: {it}\r\n"));
        format!("ETag: {}\r\n{coding}", self.tag)
    }

    /// As many octets as the range has, from `at` on.
    fn part<'a>(&self, (first, last): (usize, usize), at: usize) -> Answer<'a> {
        let (tag, length) = (&self.tag, self.content.len());
        let fields = format!("ETag: {tag}\r\nContent-Range: bytes {first}-{last}/{length}\r\n");
        let octets = self.content[at..at + last + 1 - first].to_vec();
        self.answer(Resource::FilePart, "HTTP/1.1 206 Partial Content", &fields, octets)
    }

    /// Where other octets than those of the range begin; there are some in all but the shortest files.
    fn elsewhere(&self, (first, last): (usize, usize)) -> usize {
        let length = last + 1 - first;
        let part = &self.content[first..=last];
        let mut others = self.content.windows(length).enumerate().cycle().skip(first).take(1 << 16);
        others.find(|(_, other)| *other != part).map_or(first, |(at, _)| at)
    }

    fn not_modified<'a>(&self, tag: &str) -> Answer<'a> {
        let fields = format!("ETag: {tag}\r\n");
        self.answer(Resource::NotModified, "HTTP/1.1 304 Not Modified", &fields, Vec::new())
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "css" => "text/css",
        "js" => "text/javascript",
        "html" => "text/html",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "webp" => "image/webp",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

fn gzip(content: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).ok()?;
    encoder.finish().ok()
}

/// RFC 7932, 9.1 and 9.2: a window of 16 bits, blocks that are not compressed, and an empty last one. What is asked of
/// this server is a body that must be decoded, not a short one.
fn stored_brotli(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + content.len() / 1_000 + 8);
    for (number, block) in content.chunks(1 << 16).enumerate() {
        // In order of bits: the window in the first block, not the last one, 4 nibbles of length − 1, not compressed.
        let length = block.len() as u32 - 1;
        let bits = (length << 3) | (1 << 19);
        let bits = if number == 0 { bits << 1 } else { bits };
        out.extend_from_slice(&bits.to_le_bytes()[..3]);
        out.extend_from_slice(block);
    }
    out.push(0b11);
    out
}

/// FNV-1a.
fn fnv(content: &[u8]) -> u64 {
    let step = |hash: u64, octet: &u8| (hash ^ u64::from(*octet)).wrapping_mul(0x100_0000_01b3);
    content.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Files {
        let text = "Rust and ".repeat(20_000).into_bytes();
        let packed = (0..5_000_u32).flat_map(|n| n.wrapping_mul(0x9e37_79b9).to_le_bytes());
        Files::of([("a.css".into(), text), ("b.webp".into(), packed.collect())])
    }

    fn check(name: &str, wanted: [&str; 3], resource: Resource, lines: &[&str], length: usize) {
        let field = |text: &'static str| Some(text.as_bytes()).filter(|text| !text.is_empty());
        let [codings, range, known] = wanted.map(|text| field(text.to_owned().leak()));
        let answer = files().answer(name.as_bytes(), Wanted { codings, range, known }).unwrap();
        let Content::Octets(octets) = &answer.content else { panic!("it is no stream") };
        assert_eq!((answer.resource, octets.len()), (resource, length), "{wanted:?}");
        lines.iter().for_each(|line| assert!(answer.lines.contains(line), "{}", answer.lines));
    }

    #[test]
    fn a_file_comes_as_it_is_wanted() {
        let gzip = files().0[&b"a.css"[..]].gzip.as_ref().unwrap().len();
        check("a.css", ["", "", ""], Resource::File, &["ETag: \"2bf20-"], 180_000);
        let label = ["Content-Encoding: gzip\r\n"];
        check("a.css", ["x, gzip;q=0.5", "", ""], Resource::EncodedFile, &label, gzip);
        check("a.css", ["gzip;q=0", "", ""], Resource::File, &[], 180_000);
        let label = ["Content-Encoding: br\r\n"];
        check("a.css", ["gzip, br", "", ""], Resource::EncodedFile, &label, 180_000 + 10);
        check("b.webp", ["gzip, br", "", ""], Resource::File, &[], 20_000);
        let part = ["Content-Range: bytes 5-9/180000\r\n"];
        check("a.css", ["", "bytes=5-9", ""], Resource::FilePart, &part, 5);
        check("a.css", ["", "bytes=5-9,11-12", ""], Resource::File, &[], 180_000);
        check("a.css", ["", "bytes=-10", ""], Resource::FilePart, &[], 10);
        check("a.css", ["", "bytes=180000-", ""], Resource::File, &[], 180_000);
        let tag = files().0[&b"a.css"[..]].tag.clone().leak();
        check("a.css", ["gzip", "", tag], Resource::NotModified, &[tag], 0);
        check("a.css", ["", "", "\"x\""], Resource::File, &[], 180_000);
        assert!(files().answer(b"c", Wanted::default()).is_none());
    }

    #[test]
    fn other_octets_are_others() {
        let files = Files::of([("a".into(), b"aaaaabaaaa".to_vec())]);
        let file = &files.0[&b"a"[..]];
        let part = |at: usize| file.content[at..at + 2].to_vec();
        assert_ne!(part(file.elsewhere((0, 1))), b"aa");
        assert_ne!(part(file.elsewhere((8, 9))), b"aa");
    }
}
