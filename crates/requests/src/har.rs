//! A HAR file, which a browser or a proxy has recorded, as a file of requests to one origin.

use std::collections::BTreeMap;
use std::path::Path;

use lab::Refusal;
use lab::plain_words;
use lab::source_file::SourceFile;
use serde::Deserialize;
use units::counted;
use wire::{Expect, Request};

use crate::line::{Expected, Fields, Line, Status};
use crate::url;
use crate::{Wanted, file};

/// What was taken from a HAR file.
pub struct Taken {
    /// A file of requests: a line each.
    pub text: String,
    /// To which they went.
    pub origin: String,
    /// What was taken, what was left out, and what to take care of.
    pub notes: Vec<String>,
}

#[derive(Deserialize)]
struct Har {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    request: Recorded,
    #[serde(default)]
    response: Answered,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recorded {
    method: String,
    url: String,
    #[serde(default)]
    headers: Vec<Pair>,
    post_data: Option<Posted>,
}

#[derive(Deserialize)]
struct Posted {
    text: Option<String>,
    encoding: Option<String>,
}

#[derive(Deserialize)]
struct Pair {
    name: String,
    value: String,
}

#[derive(Default, Deserialize)]
struct Answered {
    /// 0 where no answer came.
    #[serde(default)]
    status: i64,
}

/// Fields that belong to the connection or are made anew for each request.
const LEFT_OUT: [&str; 12] = [
    "host",
    "content-length",
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "http2-settings",
];

/// With a request that has one of these fields, a server takes its sender for the user who was recorded.
const SECRETS: [&str; 2] = ["cookie", "authorization"];

/// The origin that a user names: `https://shop.example`.
pub fn origin(text: &str) -> Result<String, String> {
    match split(text) {
        Some((origin, "" | "/")) => Ok(origin),
        _ => Err(format!(
            "`{}` is not an origin; write it like https://shop.example:8443, without a path",
            text.escape_debug()
        )),
    }
}

/// The requests of the file that `--har` names, `-` for standard input.
pub fn read(path: &Path, origin: Option<&str>) -> Result<Taken, Refusal> {
    take(&file::text("--har", path)?, origin)
}

/// The requests that went to one origin: the given one, or that of the first request.
fn take(source: &SourceFile, origin: Option<&str>) -> Result<Taken, Refusal> {
    let refused = |says: String| Refusal::new(format!("{}: {says}", source.name));
    let text = source.text.trim_start_matches('\u{feff}');
    let har: Har = serde_json::from_str(text).map_err(|error| {
        let (name, line) = (&source.name, error.line());
        let says = plain_words::of_json(&error);
        Refusal::new(format!(
            "{name}:{line}: this is no HAR file: {says}; save one in the browser's network panel"
        ))
    })?;
    let entries = &har.log.entries;
    let origin = match origin {
        Some(origin) => origin.to_string(),
        None => entries
            .iter()
            .find_map(|entry| split(&entry.request.url))
            .map(|(origin, _)| origin)
            .ok_or_else(|| refused("there is no request to http:// or https:// in it".into()))?,
    };
    let mut sorted = Sorted::default();
    entries.iter().for_each(|entry| sorted.add(entry, &origin));
    if sorted.lines.is_empty() {
        let others = match sorted.others.is_empty() {
            true => String::new(),
            false => format!("; others are {}", sorted.named_others()),
        };
        return Err(refused(format!("no request to {origin} in it can be sent{others}")));
    }
    let mut text = String::new();
    for line in &sorted.lines {
        let json = serde_json::to_string(line).map_err(|error| refused(error.to_string()))?;
        text.push_str(&json);
        text.push('\n');
    }
    Ok(Taken { text, notes: sorted.notes(&origin), origin })
}

/// The requests of a recording.
#[derive(Default)]
struct Sorted {
    lines: Vec<Line>,
    /// How many went to each other origin.
    others: BTreeMap<String, u64>,
    /// How many cannot be sent again, and why.
    left_out: BTreeMap<&'static str, u64>,
}

impl Sorted {
    fn add(&mut self, entry: &Entry, origin: &str) {
        match split(&entry.request.url) {
            None => *self.left_out.entry("not to http:// or https://").or_default() += 1,
            Some((other, _)) if other != origin => *self.others.entry(other).or_default() += 1,
            Some((_, target)) => match line(entry, target) {
                Ok(line) => self.lines.push(line),
                Err(why) => *self.left_out.entry(why).or_default() += 1,
            },
        }
    }

    fn notes(&self, origin: &str) -> Vec<String> {
        let mut notes = vec![format!("{} to {origin}", requests(self.lines.len() as u64))];
        if !self.others.is_empty() {
            notes.push(format!(
                "left out: {} to {} (--origin takes another): {}",
                requests(self.others.values().sum()),
                counted(self.others.len() as u64, "other origin", "other origins"),
                self.named_others()
            ));
        }
        let left_out = self.left_out.iter();
        notes.extend(left_out.map(|(why, times)| format!("left out: {}: {why}", requests(*times))));
        let secrets = self.lines.iter().filter(|line| line.headers.0.iter().any(is_secret)).count();
        if 0 < secrets {
            notes.push(format!(
                "note: {} with a Cookie or Authorization field: with the file, others can log in as you",
                requests(secrets as u64)
            ));
        }
        notes
    }

    /// The first of them.
    fn named_others(&self) -> String {
        const NAMED_MAX: usize = 5;
        let named: Vec<&str> = self.others.keys().take(NAMED_MAX).map(String::as_str).collect();
        named.join(", ") + if NAMED_MAX < self.others.len() { ", …" } else { "" }
    }
}

fn requests(number: u64) -> String {
    counted(number, "request", "requests")
}

fn is_secret((name, _): &(String, String)) -> bool {
    SECRETS.iter().any(|secret| name.eq_ignore_ascii_case(secret))
}

/// The origin of an address, `http://host:port` without a usual port, and the rest of it.
fn split(address: &str) -> Option<(String, &str)> {
    let (scheme, rest) = address.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let usual = match scheme.as_str() {
        "http" => ":80",
        "https" => ":443",
        _ => return None,
    };
    let (authority, target) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let authority = authority.rsplit('@').next()?.to_ascii_lowercase();
    let host = authority.strip_suffix(usual).unwrap_or(&authority);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._:[]%".contains(letter);
    (!host.is_empty() && host.chars().all(is_plain)).then(|| (format!("{scheme}://{host}"), target))
}

/// The line of a request, or why it cannot be sent again.
fn line(entry: &Entry, target: &str) -> Result<Line, &'static str> {
    let recorded = &entry.request;
    let path = target.split('#').next().unwrap_or_default();
    let path = if path.starts_with('/') { path.to_string() } else { format!("/{path}") };
    let kept = |pair: &&Pair| {
        let is_pseudo = pair.name.starts_with(':');
        !is_pseudo && !LEFT_OUT.iter().any(|name| pair.name.eq_ignore_ascii_case(name))
    };
    let headers = recorded.headers.iter().filter(kept);
    // What was recorded is sent as it was, whatever braces are in it.
    let quoted =
        |text: &str| String::from_utf8_lossy(&wire::quoted(text.as_bytes(), false)).into_owned();
    let headers = headers.map(|pair| (pair.name.clone(), quoted(&pair.value))).collect();
    let body = match &recorded.post_data {
        None => None,
        Some(Posted { encoding: Some(_), .. }) => return Err("the body is binary"),
        Some(Posted { text: None, .. }) => return Err("the body was not recorded"),
        Some(Posted { text: Some(text), .. }) => Some(quoted(text)).filter(|text| !text.is_empty()),
    };
    let status = match entry.response.status {
        101 => return Err("a WebSocket or another upgrade"),
        status @ 200..=599 => Some(Status::Number(status as u16)),
        _ => None,
    };
    let line = Line {
        method: Some(recorded.method.clone()),
        path: Some(url::target(&quoted(&path)).map_err(|_| "it cannot be written in HTTP/1.1")?),
        headers: Fields(headers),
        body,
        expect: status.map(|status| Expected { status: Some(status), ..Expected::default() }),
        ..Line::default()
    };
    let wanted = Wanted { method: None, expect: Expect::default() };
    match line.ask(&Request::get("localhost", "/"), &wanted) {
        Ok(_) if recorded.method != "CONNECT" => Ok(line),
        _ => Err("it cannot be written in HTTP/1.1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{MOST, read};
    use expect_test::{Expect as Snapshot, expect};

    fn taken(text: &str, origin: Option<&str>) -> Result<Taken, String> {
        let source = SourceFile { name: "a.har".into(), text: text.into() };
        take(&source, origin).map_err(|refusal| refusal.to_string())
    }

    fn taken_of(entries: &str, origin: Option<&str>) -> Result<Taken, String> {
        let text = format!("{{\"log\": {{\"version\": \"1.2\", \"entries\": [{entries}]}}}}");
        taken(&text, origin)
    }

    fn check(entries: &str, origin: Option<&str>, expected: &Snapshot) {
        let taken = taken_of(entries, origin).unwrap();
        expected.assert_eq(&format!("{}{}\n", taken.text, taken.notes.join("\n")));
    }

    const RECORDED: &str = r#"
        {"request": {"method": "GET", "url": "https://Shop.example:443/a b?x=1#part", "httpVersion": "h2", "headers": [
            {"name": ":path", "value": "/"}, {"name": "Host", "value": "shop.example"},
            {"name": "accept", "value": "text/html"}, {"name": "cookie", "value": "a=1"},
            {"name": "cookie", "value": "b=2"}]},
         "response": {"status": 304, "content": {}}, "time": 3.5},
        {"request": {"method": "POST", "url": "https://shop.example/cart", "headers": [],
            "postData": {"mimeType": "application/json", "text": "{\"id\":1}"}}, "response": {"status": 201}},
        {"request": {"method": "GET", "url": "https://shop.example", "headers": []}, "response": {"status": 0}},
        {"request": {"method": "GET", "url": "https://cdn.example/x.js", "headers": []}, "response": {"status": 200}},
        {"request": {"method": "GET", "url": "http://shop.example/", "headers": []}, "response": {"status": 301}},
        {"request": {"method": "GET", "url": "data:text/plain,x", "headers": []}, "response": {"status": 200}},
        {"request": {"method": "GET", "url": "https://shop.example/ws", "headers": []}, "response": {"status": 101}},
        {"request": {"method": "GET", "url": "https://shop.example/?{seq}", "headers": []}},
        {"request": {"method": "POST", "url": "https://shop.example/q", "headers": [],
            "postData": {"text": "{\"query\":\"{me}\",\"n\":\"{{seq}}\"}"}}},
        {"request": {"method": "POST", "url": "https://shop.example/u", "headers": [], "postData": {"params": []}}},
        {"request": {"method": "G T", "url": "https://shop.example/", "headers": []}},
        {"request": {"method": "GET", "url": "https://shop.example/", "headers": [{"name": "a", "value": "b\nc"}]}}"#;

    #[test]
    fn the_requests_to_one_origin_become_lines_and_the_rest_is_counted() {
        check(
            RECORDED,
            None,
            &expect![[r#"
            {"method":"GET","path":"/a%20b?x=1","headers":{"accept":"text/html","cookie":["a=1","b=2"]},"expect":{"status":304}}
            {"method":"POST","path":"/cart","body":"{\"id\":1}","expect":{"status":201}}
            {"method":"GET","path":"/"}
            {"method":"GET","path":"/?%7Bseq%7D"}
            {"method":"POST","path":"/q","body":"{\"query\":\"{{me}\",\"n\":\"{{{seq}}\"}"}
            5 requests to https://shop.example
            left out: 2 requests to 2 other origins (--origin takes another): http://shop.example, https://cdn.example
            left out: 1 request: a WebSocket or another upgrade
            left out: 2 requests: it cannot be written in HTTP/1.1
            left out: 1 request: not to http:// or https://
            left out: 1 request: the body was not recorded
            note: 1 request with a Cookie or Authorization field: with the file, others can log in as you
        "#]],
        );
        check(
            RECORDED,
            Some("https://cdn.example"),
            &expect![[r#"
            {"method":"GET","path":"/x.js","expect":{"status":200}}
            1 request to https://cdn.example
            left out: 10 requests to 2 other origins (--origin takes another): http://shop.example, https://shop.example
            left out: 1 request: not to http:// or https://
        "#]],
        );
    }

    #[test]
    fn nothing_to_send_is_refused() {
        let other = "a.har: no request to http://other in it can be sent; others are http://shop.example, \
                     https://cdn.example, https://shop.example";
        assert_eq!(taken_of(RECORDED, Some("http://other")).err().as_deref(), Some(other));
        let none = "a.har: there is no request to http:// or https:// in it";
        assert_eq!(taken_of("", None).err().as_deref(), Some(none));
    }

    #[test]
    fn an_origin_has_no_path_and_a_usual_port_is_left_out() {
        assert_eq!(origin("HTTPS://A.example:443/").unwrap(), "https://a.example");
        assert_eq!(origin("http://[::1]:8080").unwrap(), "http://[::1]:8080");
        for text in
            ["", "a.example", "ftp://a", "http://", "http://a/b", "http://a\nb", "https://ü"]
        {
            assert!(origin(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_har_is_refused_whatever_it_is() {
        for text in
            ["", "{}", "[]", "{\"log\": 1}", "{\"log\": {\"entries\": 1}}", "GET / HTTP/1.1"]
        {
            let says = taken(text, None).err().unwrap();
            assert!(says.starts_with("a.har:1: this is no HAR file: column "), "{says}");
            assert!(!says.contains("struct"), "{says}");
        }
        let deep = "[".repeat(100_000);
        assert!(taken(&deep, None).is_err());
        // Bytes that were changed at random are refused or taken; what is taken can be read as a file of requests.
        let whole = format!("{{\"log\": {{\"entries\": [{RECORDED}]}}}}");
        let mut chance = wire::Chance::new(1);
        let mut both = [0; 2];
        for _ in 0..2_000 {
            let mut bytes = whole.clone().into_bytes();
            for _ in 0..=chance.below(3) {
                let (at, byte) = (chance.below(bytes.len()), chance.below(128) as u8);
                bytes[at] = byte;
            }
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let taken = taken(&text, None);
            both[usize::from(taken.is_ok())] += 1;
            if let Ok(taken) = taken {
                let source = SourceFile { name: "x".into(), text: taken.text };
                let wanted = Wanted { method: None, expect: Expect::default() };
                let read = read(&source, &Request::get("h", "/"), &wanted, &MOST);
                assert!(read.is_ok(), "{}", source.text);
            }
        }
        assert!(both.iter().all(|&times| 100 < times), "{both:?}");
    }
}
