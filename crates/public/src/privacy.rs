//! The privacy pass: what names a person, a machine or a place, and credentials, are replaced in every text of a content.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use lab::record::{RunRecord, TrialRecord};
use serde_json::{Value, json};
use store::plain;

use crate::content::Content;

/// What the exporter's machine says of itself; an empty text is nothing.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// The user's home folder.
    pub home: String,
    /// The folder in which the runs took place.
    pub project: String,
    pub user: String,
    pub host: String,
}

/// Names of users and machines that many have: they say nothing of anybody, and stand in many texts.
const COMMON: [&str; 14] = [
    "root",
    "user",
    "admin",
    "ubuntu",
    "debian",
    "runner",
    "docker",
    "builder",
    "localhost",
    "test",
    "guest",
    "nobody",
    "server",
    "host",
];
/// Header fields whose values are secrets, with or without words before them, as in `set-cookie` and `x-auth-token`.
const FIELDS: [&str; 7] = [
    "authorization",
    "cookie",
    "api-key",
    "auth-token",
    "access-token",
    "csrf-token",
    "security-token",
];

/// Replaces it all; `note` is called for each kind of what was replaced.
pub(crate) fn pass(content: &mut Content, words: &Words, note: &mut impl FnMut(&str)) {
    content.texts(|_, _, value| {
        if let Value::String(text) = value {
            return clean_in_place(text, words, note);
        }
        let hex = value.get("hex").and_then(Value::as_str).and_then(plain::bytes);
        let Some(bytes) = hex else { return };
        if let Some(clean) = clean_bytes(&bytes, words, note) {
            let hex: String = clean.iter().map(|byte| format!("{byte:02x}")).collect();
            *value = json!({ "hex": hex });
        }
    });
}

/// The same in the bytes of failures and in profiles, which the tables hold in encoded form.
pub(crate) fn pass_packed(
    run: &mut RunRecord,
    trials: &mut [TrialRecord],
    words: &Words,
    note: &mut impl FnMut(&str),
) {
    for profile in &mut run.profiles {
        let texts: Vec<&mut String> = match &mut profile.found {
            Err(says) => vec![says],
            Ok(profile) => {
                let lines = profile.lines.iter_mut().map(|line| &mut line.name);
                lines.chain(&mut profile.functions).chain(profile.calls.as_mut().err()).collect()
            }
        };
        texts.into_iter().for_each(|text| clean_in_place(text, words, note));
    }
    let loaded = trials.iter_mut().filter_map(|trial| trial.loaded.as_mut());
    for evidence in loaded.flat_map(|loaded| &mut loaded.recording.total.evidence) {
        for bytes in [&mut evidence.request, &mut evidence.received] {
            if let Some(clean) = clean_bytes(bytes, words, note) {
                *bytes = clean;
            }
        }
    }
}

fn clean_in_place(text: &mut String, words: &Words, note: &mut impl FnMut(&str)) {
    if let Some(clean) = clean(text, words, note) {
        *text = clean;
    }
}

fn clean_bytes(bytes: &[u8], words: &Words, note: &mut impl FnMut(&str)) -> Option<Vec<u8>> {
    // Each byte is a character of its own here, so that any bytes come back.
    let text: String = bytes.iter().copied().map(char::from).collect();
    clean(&text, words, note).map(|clean| clean.chars().map(|it| it as u32 as u8).collect())
}

/// The text without what is private; none if there is nothing.
fn clean(text: &str, words: &Words, note: &mut impl FnMut(&str)) -> Option<String> {
    let names = [
        (&words.user, "the name of a user", "{user}"),
        (&words.host, "the name of a machine", "{host}"),
    ];
    let folders = [
        (&words.project, "the folder of the project", "{project}"),
        (&words.home, "a home folder", "{home}"),
    ];
    let mut new = None;
    replace(&mut new, text, "credentials in a URL", credentials, note);
    replace(&mut new, text, "an e-mail address", mails, note);
    replace(&mut new, text, "the value of a header field", fields, note);
    for (folder, kind, shown) in folders.into_iter().filter(|(folder, ..)| 1 < folder.len()) {
        replace(&mut new, text, kind, |text| whole(text, folder, shown, ["_-./", "_-."]), note);
    }
    replace(&mut new, text, "a home folder", homes, note);
    for (word, kind, shown) in names.into_iter().filter(|(word, ..)| is_telling(word)) {
        replace(&mut new, text, kind, |text| whole(text, word, shown, [""; 2]), note);
    }
    replace(&mut new, text, "an address", addresses, note);
    new
}

/// Whether a name tells who or which machine it is.
fn is_telling(name: &str) -> bool {
    3 <= name.len() && !COMMON.contains(&name.to_lowercase().as_str())
}

/// Takes over what a replacement makes of what is there so far, if that is anything.
fn replace(
    new: &mut Option<String>,
    text: &str,
    kind: &'static str,
    replaced: impl Fn(&str) -> Option<String>,
    note: &mut impl FnMut(&str),
) {
    if let Some(replaced) = replaced(new.as_deref().unwrap_or(text)) {
        note(kind);
        *new = Some(replaced);
    }
}

/// Replaces stretches of a text: each is found from a place on, as where it begins, where it ends and what it becomes.
fn each(
    text: &str,
    mut find: impl FnMut(usize) -> Option<(usize, usize, &'static str)>,
) -> Option<String> {
    let (mut out, mut at) = (String::new(), 0);
    while let Some((from, until, shown)) = find(at) {
        out.push_str(&text[at..from]);
        out.push_str(shown);
        at = until;
    }
    out.push_str(&text[at..]);
    (out != text).then_some(out)
}

fn credentials(text: &str) -> Option<String> {
    let mut from = 0;
    each(text, |at| {
        from = from.max(at);
        while let Some(found) = text[from..].find("://") {
            let begin = from + found + 3;
            let is_end = |c: char| c.is_whitespace() || "/?#\"'`\\<>(){}|,;".contains(c);
            let end = text[begin..].find(is_end).map_or(text.len(), |it| begin + it);
            from = begin;
            if let Some(last) = text[begin..end].rfind('@') {
                from = begin + last;
                return Some((begin, begin + last, "credentials"));
            }
        }
        None
    })
}

fn fields(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    each(text, |at| {
        let found = FIELDS.iter().filter_map(|field| {
            let mut from = at;
            loop {
                let begin = from + lower.get(from..)?.find(field)?;
                from = begin + field.len();
                let is_start = !before(&lower, begin).is_some_and(char::is_alphanumeric);
                let value = if is_start { value(text, begin, from) } else { None };
                if value.is_some() {
                    return value;
                }
            }
        });
        found.min()
    })
}

/// The value of the field whose name stands there, and what it becomes. It is behind a colon, as in a head, or in quotes of
/// its own: `name = "value"`, `"name": "value"` or `["name", "value"]`.
fn value(text: &str, begin: usize, end: usize) -> Option<(usize, usize, &'static str)> {
    let (before, behind) = (&text[..begin], &text[end..]);
    let line = before.rfind(['\r', '\n']).map_or(0, |end| end + 1);
    let (value, until, shown) = match behind.strip_prefix(':') {
        Some(rest) => (rest, end_of_value(rest, opening(&before[line..])), " {secret}"),
        None => {
            let sign = behind.trim_start_matches(['\\', '"', '\'', ' ']);
            let rest = sign.strip_prefix([':', '=', ','])?.trim_start_matches(' ');
            let quote = rest.trim_start_matches('\\');
            let (letter, backslashes) = (quote.chars().next()?, rest.len() - quote.len());
            let value = quote.strip_prefix(['"', '\''])?;
            let until = end_of_value(value, Some((letter, backslashes)));
            let after = value[until..].get(backslashes + 1..);
            let is_alone = after.is_some_and(|after| after.starts_with(']'));
            // Other lists are of names, a program has constants for them, and what has no letter is a package's version.
            let text = &value[..until];
            let is_name = text.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
                && FIELDS.iter().any(|field| text.to_ascii_lowercase().ends_with(field));
            let is_secret = text.contains(char::is_alphabetic) && !is_name;
            if !is_secret || (sign.starts_with(',') && !is_alone) {
                return None;
            }
            (value, until, "{secret}")
        }
    };
    let from = text.len() - value.len();
    let is_done = ["", "{secret}"].contains(&value[..until].trim());
    (!is_done).then_some((from, from + until, shown))
}

/// Where the value of a field ends: with its line, or with the quotes in which it or its field stands. Within these, other
/// quotes are part of it.
fn end_of_value(rest: &str, opening: Option<(char, usize)>) -> usize {
    let mut backslashes = 0;
    for (at, letter) in rest.char_indices() {
        match letter {
            '\\' => {
                backslashes += 1;
                continue;
            }
            '\r' | '\n' => return at,
            'r' | 'n' if 0 < backslashes => return at - backslashes,
            _ if Some((letter, backslashes)) == opening => return at - backslashes,
            _ => backslashes = 0,
        }
    }
    rest.len()
}

/// The quote at which the text begins that this line ends within, and how many backslashes are before it.
fn opening(line: &str) -> Option<(char, usize)> {
    let (mut open, mut last, mut backslashes) = (None, None, 0);
    for letter in line.chars() {
        last = ['"', '\'', '`'].contains(&letter).then_some((letter, backslashes));
        if last.is_some() && open.is_none() {
            open = last;
        } else if last.is_some() && last == open {
            open = None;
        }
        backslashes = if letter == '\\' { backslashes + 1 } else { 0 };
    }
    last.or(open)
}

/// The character before a place, unless that is the end of a line in JSON, which is a letter there.
fn before(text: &str, at: usize) -> Option<char> {
    let text = &text[..at];
    let is_escape = ["\\n", "\\r", "\\t"].iter().any(|escape| text.ends_with(escape));
    text.chars().next_back().filter(|_| !is_escape)
}

/// Replaces a text where it stands as a whole: no letter or digit is beside it, and none of these.
fn whole(text: &str, what: &str, shown: &'static str, beside: [&str; 2]) -> Option<String> {
    let is_inside =
        |c: Option<char>, more: &str| c.is_some_and(|c| c.is_alphanumeric() || more.contains(c));
    each(text, |at| {
        let mut from = at;
        while let Some(found) = text[from..].find(what) {
            let (begin, end) = (from + found, from + found + what.len());
            let is_first = !is_inside(before(text, begin), beside[0]);
            if is_first && !is_inside(text[end..].chars().next(), beside[1]) {
                return Some((begin, end, shown));
            }
            from = end;
        }
        None
    })
}

/// Home folders of any user.
fn homes(text: &str) -> Option<String> {
    each(text, |at| {
        let found = ["/home/", "/Users/"].into_iter().filter_map(|folder| {
            let mut from = at;
            loop {
                let begin = from + text[from..].find(folder)?;
                let name = begin + folder.len();
                let is_name = |c: char| c.is_alphanumeric() || "_-.".contains(c);
                let rest = &text[name..];
                let end = name + rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                let before = before(text, begin);
                if name < end && !before.is_some_and(is_name) {
                    return Some((begin, end));
                }
                from = name;
            }
        });
        found.min().map(|(begin, end)| (begin, end, "{home}"))
    })
}

/// `name@example.org`, and no version as in `package@1.2.3`.
fn mails(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._%+-".contains(c);
    each(text, |at| {
        text[at..].match_indices('@').find_map(|(sign, _)| {
            let sign = at + sign;
            let begin = at + text[at..sign].trim_end_matches(is_part).len();
            // Behind a backslash it is the end of a line in JSON.
            let begin = begin + usize::from(text[..begin].ends_with('\\'));
            let rest = &text[sign + 1..];
            let domain = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
            let domain = domain.trim_end_matches('.');
            let (_, top) = domain.rsplit_once('.')?;
            let is_top = 2 <= top.len() && top.chars().all(|c| c.is_ascii_alphabetic());
            let end = sign + 1 + domain.len();
            let is_url = text[..begin].ends_with("://");
            (begin < sign && is_top && !is_url).then_some((begin, end, "{mail}"))
        })
    })
}

/// Addresses that are neither of this machine alone nor of nothing. What stands in a longer word, as a version does, is
/// none.
fn addresses(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == '.' || c == ':';
    each(text, |at| {
        let mut from = at;
        loop {
            let begin = from + text[from..].find(is_part)?;
            let rest = &text[begin..];
            let end = begin + rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let before = before(text, begin);
            let after = text[end..].chars().next();
            let in_word =
                |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_~^-".contains(c));
            // A setting may be an address: `host=10.0.0.1`, and no version behind `==`, `>=` and the like.
            let is_compared = ["==", ">=", "<=", "!="].iter().any(|it| text[..begin].ends_with(it));
            // `RFC 9110, 5.6.1.2`
            let cited = text[..begin].strip_suffix(", ").and_then(|it| it.rsplit_once(' '));
            if !in_word(before)
                && !is_compared
                && !cited.is_some_and(|(by, _)| by.ends_with("RFC"))
                && !in_word(after)
                && let Some(length) = address(&text[begin..end])
            {
                return Some((begin, begin + length, "{address}"));
            }
            from = end;
        }
    })
}

/// How much of this is an address that names a machine.
fn address(text: &str) -> Option<usize> {
    let alone = text.trim_end_matches(['.', ':']);
    let with_port = alone.rsplit_once(':').map(|(address, _)| address);
    let parsed = |text: &str| text.parse::<IpAddr>().ok().map(|address| (address, text.len()));
    let (address, length) = parsed(alone)
        .or_else(|| with_port.and_then(parsed).filter(|(address, _)| address.is_ipv4()))?;
    let names = match address {
        IpAddr::V4(it) => !it.is_loopback() && !it.is_unspecified() && it != Ipv4Addr::BROADCAST,
        IpAddr::V6(it) => {
            // `a1::b` is the name of something in a program.
            let is_plain = 3 <= text.matches(':').count() || 4 <= text.find(':').unwrap_or(0);
            let has_digit = text.contains(|c: char| c.is_ascii_digit());
            is_plain && has_digit && !it.is_loopback() && it != Ipv6Addr::UNSPECIFIED
        }
    };
    names.then_some(length)
}

#[cfg(test)]
mod tests {
    use super::{addresses, fields, mails};

    #[test]
    fn a_secret_value_ends_with_its_line_or_with_the_quotes_around_its_field() {
        for (text, clean) in [
            ("Cookie: a=\"b\"; c\r\nHost: x", "Cookie: {secret}\r\nHost: x"),
            ("Set-Cookie: a=mycookie", "Set-Cookie: {secret}"),
            (r#"-H 'Cookie: a="b"' -c 2"#, r#"-H 'Cookie: {secret}' -c 2"#),
            (r#"x = "Cookie: a=\"b\"", y"#, r#"x = "Cookie: {secret}", y"#),
            (r#""GET /\r\nCookie: a='b'\r\nHost: x""#, r#""GET /\r\nCookie: {secret}\r\nHost: x""#),
            (r#"{"h":["{\"a\":\"Cookie: b\"}",1]}"#, r#"{"h":["{\"a\":\"Cookie: {secret}\"}",1]}"#),
            (
                r#"a = ["Authorization: Basic YQ==", "b"]"#,
                r#"a = ["Authorization: {secret}", "b"]"#,
            ),
            (
                r#"send_header = { authorization = "Bearer x", X-Auth-Token = 'y' }"#,
                r#"send_header = { authorization = "{secret}", X-Auth-Token = '{secret}' }"#,
            ),
            (r#""Cookie": "a=\"b\"","#, r#""Cookie": "{secret}","#),
            (r#"[["Authorization","Basic x"],"#, r#"[["Authorization","{secret}"],"#),
            (r#"[[\"Api-Key\",\"x\"],"#, r#"[[\"Api-Key\",\"{secret}\"],"#),
        ] {
            assert_eq!(fields(text).as_deref(), Some(clean));
            assert_eq!(fields(clean), None);
        }
        for plain in [
            r#""cookie": "^0.7.1","#,
            r#"COOKIE = "Set-Cookie";"#,
            r#"allow(["Authorization", "Accept", "Range"])"#,
            "cookies = \"a\"",
            "cookie = a",
        ] {
            assert_eq!(fields(plain), None);
        }
    }

    #[test]
    fn addresses_are_told_from_versions_and_from_names_in_programs() {
        for text in ["--host=10.1.2.3:80", "[fe80::1%eth0]", "http://[2001:db8::5]:80/", "fd00::17"]
        {
            assert!(addresses(text).is_some_and(|it| it.contains("{address}")), "{text}");
        }
        for text in [
            "pip==1.2.3.4",
            "pip>=1.2.3.4",
            "pkg-1.2.3.4",
            "RFC 9110, 5.6.1.2",
            "a1::b",
            "::1",
            "127.0.0.1",
            "00:15:30",
        ] {
            assert_eq!(addresses(text), None, "{text}");
        }
        assert_eq!(mails("<a.b@example.org>, me@x.de.").as_deref(), Some("<{mail}>, {mail}."));
        for text in ["@scope/pkg", "npm@10.2.3", "action@v4", "@app.route", r"\n@app.route"] {
            assert_eq!(mails(text), None, "{text}");
        }
    }
}
