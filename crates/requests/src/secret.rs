//! `--header-command`: a header field whose value a command prints. The value is sent, and never shown or kept.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use lab::Refusal;
use load::{Evidence, Failure};
use wire::Mismatch;

use crate::notation::{Notation, ReadAs};

/// The command has this long to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// Servers refuse larger heads anyway.
const LONGEST: u64 = 32 << 10;
/// A word of a secret this long is concealed wherever it is.
const WORD: usize = 6;
/// What stands in its place.
const CONCEALED: &[u8] = b"(not shown)";

/// A text that is sent, and neither shown nor kept: so it has no `Debug` and no `Display`.
#[derive(Clone)]
pub struct Secret(String);

/// The values that the commands print, each with the name of its field.
pub fn values(commands: &[(String, String)]) -> Result<Vec<(String, Secret)>, Refusal> {
    let value = |(name, command): &(String, String)| {
        let value = first_line(command)
            .map_err(|why| Refusal::new(format!("--header-command '{name}: …': {why}")))?;
        Ok((name.clone(), Secret(value)))
    };
    commands.iter().map(value).collect()
}

fn first_line(command: &str) -> Result<String, String> {
    let parsed = lab::command::Command::parse(command)?;
    let [program, arguments @ ..] = parsed.words() else { return Err("an empty command".into()) };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{}` cannot be run ({error})", program.escape_debug()))?;
    let line = printed(&mut child);
    if line.is_err() {
        // It may have ended by itself meanwhile.
        let _ = child.kill();
        let _ = child.wait();
    }
    let line = line?;
    match line.bytes().all(|byte| (b' '..=b'~').contains(&byte) || byte == b'\t') {
        _ if line.is_empty() => Err("its first line is empty; it must print the value".into()),
        false => Err("its first line has characters that no header field may have".into()),
        true if line.contains('{') => {
            Err("its first line has a brace, which would be a placeholder".into())
        }
        true => Ok(line),
    }
}

/// The first line of what it prints, once it has ended well.
fn printed(child: &mut Child) -> Result<String, String> {
    let output = child.stdout.take().ok_or("its output cannot be read")?;
    let (line, lines) = channel();
    // If the line is not awaited any more, it is dropped.
    let started = thread::Builder::new().name("header".into()).spawn(move || {
        let mut bytes = Vec::new();
        let mut output = BufReader::new(output).take(LONGEST);
        let read = output.read_until(b'\n', &mut bytes);
        let _ = line.send(read.map(|_| bytes));
        // A command that prints more must not be ended by a closed pipe.
        let _ = std::io::copy(&mut output.into_inner(), &mut std::io::sink());
    });
    started.map_err(|error| error.to_string())?;
    let until = Instant::now() + PATIENCE;
    let too_long = || format!("it took longer than {} s, and was ended", PATIENCE.as_secs());
    let bytes = lines.recv_timeout(PATIENCE).map_err(|_| too_long())?;
    let bytes = bytes.map_err(|error| format!("its output cannot be read ({error})"))?;
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if until <= Instant::now() => return Err(too_long()),
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    if !status.success() {
        return Err(format!("it failed ({status}); run it by hand to see why"));
    }
    if LONGEST <= bytes.len() as u64 {
        return Err(format!("its first line is longer than {LONGEST} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "its first line is not text".to_string())?;
    Ok(text.trim().into())
}

impl Secret {
    /// For the request alone.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// What a server may repeat of it: the value; those of its words that may stand alone, as the token of
    /// `Bearer token`; the name and password that `Basic` encodes; and all of these in base64.
    fn texts(&self) -> Vec<Vec<u8>> {
        let words = self.0.split_whitespace().filter(|word| WORD <= word.len());
        let mut texts: Vec<Vec<u8>> = words.map(|word| word.as_bytes().to_vec()).collect();
        let credentials =
            self.0.strip_prefix("Basic ").and_then(|word| STANDARD.decode(word.trim()).ok());
        if let Some(credentials) = credentials {
            let password = credentials.splitn(2, |byte| *byte == b':').nth(1);
            texts.extend(password.filter(|password| WORD <= password.len()).map(<[u8]>::to_vec));
            texts.push(credentials);
        }
        texts.push(self.0.clone().into_bytes());
        let encoded: Vec<_> = texts.iter().flat_map(|text| in_base64(text)).collect();
        texts.extend(encoded);
        texts
    }
}

/// How a text looks within a longer one that is encoded in base64: three bytes become four letters, so there are three
/// ways, without the letters at its ends that the neighbouring bytes shape as well.
fn in_base64(text: &[u8]) -> Vec<Vec<u8>> {
    let way = |before: usize| {
        let encoded = STANDARD_NO_PAD.encode([&[0; 2][..before], text].concat());
        let bits = 8 * (before + text.len());
        encoded.as_bytes()[(8 * before).div_ceil(6)..bits / 6].to_vec()
    };
    let ways: Vec<Vec<u8>> = (0..3).map(way).filter(|letters| WORD <= letters.len()).collect();
    let letter_of_urls = |letter: &u8| match letter {
        b'+' => b'-',
        b'/' => b'_',
        letter => *letter,
    };
    let of_urls = |letters: &Vec<u8>| letters.iter().map(letter_of_urls).collect();
    let others: Vec<Vec<u8>> = ways.iter().map(of_urls).collect();
    [ways, others].concat()
}

/// Takes the values out of what was kept of failures: the requests, and the answers that repeat them.
pub fn conceal(secrets: &[Secret], kept: &mut [Evidence]) {
    for evidence in kept {
        let request = Piece {
            is_cut_before: false,
            is_cut_after: Evidence::BYTES_MAX <= evidence.request.len(),
        };
        let received =
            Piece { is_cut_before: evidence.lacks_beginning, is_cut_after: evidence.is_cut };
        evidence.request = without(secrets, &evidence.request, request);
        evidence.received = without(secrets, &evidence.received, received);
        if let Some(reason) = &mut evidence.reason {
            // What is shown around the place where two bodies differ may begin or end within a secret.
            if !secrets.is_empty() && evidence.failure == Failure::Content(Mismatch::Body) {
                reason.truncate(reason.find(':').unwrap_or(reason.len()));
            }
            let kept = without(secrets, reason.as_bytes(), Piece::default());
            *reason = String::from_utf8_lossy(&kept).into_owned();
        }
    }
}

/// At which ends bytes are missing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece {
    pub(super) is_cut_before: bool,
    pub(super) is_cut_after: bool,
}

/// The bytes without the values and their words, and without a part of one at their beginning or end. All are sought in
/// the bytes as they were, because one may be within another, and as they are when the usual ways of writing characters
/// in URLs, JSON and HTML are undone.
fn without(secrets: &[Secret], bytes: &[u8], piece: Piece) -> Vec<u8> {
    let mut is_secret = vec![false; bytes.len()];
    if !secrets.is_empty() {
        let texts: Vec<Vec<u8>> = secrets.iter().flat_map(Secret::texts).collect();
        for notation in Notation::ALL {
            let read = ReadAs::new(bytes, notation);
            texts.iter().for_each(|text| read.mark(text, piece, &mut is_secret));
        }
    }
    let mut kept = Vec::with_capacity(bytes.len());
    let mut was_secret = false;
    for (byte, is_secret) in bytes.iter().zip(is_secret) {
        match (was_secret, is_secret) {
            (_, false) => kept.push(*byte),
            (false, true) => kept.extend_from_slice(CONCEALED),
            (true, true) => {}
        }
        was_secret = is_secret;
    }
    kept
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::*;

    #[test]
    fn a_value_is_the_first_line_that_a_command_prints() {
        assert_eq!(first_line("printf 'Bearer abc\\nmore\\n'").as_deref(), Ok("Bearer abc"));
        assert_eq!(first_line("echo '$HOME'").as_deref(), Ok("$HOME"), "there is no shell");
        assert_eq!(first_line("sh -c 'echo x; seq 100000'").as_deref(), Ok("x"));
    }

    #[test]
    fn a_command_that_gives_no_value_is_refused_without_what_it_printed() {
        let why = |command: &str| {
            let why = first_line(command).unwrap_err();
            assert!(!why.contains("hush"), "{why}");
            why
        };
        assert!(why("no-such-program-here").contains("cannot be run"));
        assert!(why("sh -c 'echo hush; exit 3'").contains("it failed (exit status: 3)"));
        assert!(why("true").contains("empty"));
        assert!(why("printf 'hush\\001\\n'").contains("characters"));
        assert!(why("echo 'hush{seq}'").contains("brace"));
        assert!(why("").contains("empty command"));
        assert!(why("head -c 40000 /dev/zero").contains("longer than"));
    }

    #[test]
    fn a_secret_in_base64_is_taken_out_wherever_it_stands_in_it() {
        for (before, after) in [("", ""), ("a", ""), ("ab", "c"), ("user:", "x"), ("", "yz")] {
            let text = format!("{before}s3cret?key>~~{after}");
            for encoded in [STANDARD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
                let left = without_any(&["Bearer s3cret?key>~~"], &format!("<{encoded}>"));
                assert!(left.contains("(not shown)"), "{text}: {left}");
                let rest = left.len() - "<(not shown)>".len();
                assert!(rest <= 12, "{text}: {left}");
            }
        }
        let basic = format!("Basic {}", STANDARD.encode("me:open sesame"));
        for said in ["me:open sesame", "wrong password open sesame for me"] {
            let left = without_any(&[&basic], said);
            assert!(!left.contains("sesame"), "what Basic encodes is plain in the answer: {left}");
        }
    }

    #[test]
    fn a_secret_is_taken_out_whole_in_part_and_encoded() {
        const PLAIN: &[&str] = &["Bearer s3cret"];
        const ODD: &[&str] = &["Bearer s3cr\"e&t/+k"];
        const LONG: &[&str] = &["Bearer eyJhbGciOi.abc of me"];
        for (secrets, text, left) in [
            (
                PLAIN,
                "A: Bearer s3cret\r\nB: Bearer s3cret\r\n\r\n",
                "A: (not shown)\r\nB: (not shown)\r\n\r\n",
            ),
            (PLAIN, "A: Bearer s3c", "A: (not shown)"),
            (PLAIN, "s3cret\r\n", "(not shown)\r\n"),
            (PLAIN, "nothing here", "nothing here"),
            (&["x"], "GET /x", "GET /(not shown)"),
            (&[], "GET /x", "GET /x"),
            // A word of a secret; short words stay.
            (LONG, "no user eyJhbGciOi.abc here", "no user (not shown) here"),
            (LONG, "{\"token\":\"eyJhbGciOi.abc\"}", "{\"token\":\"(not shown)\"}"),
            (LONG, "a list of them for me", "a list of them for me"),
            // Its end, or its beginning, was not kept.
            (LONG, "token eyJhbGc", "token (not shown)"),
            (LONG, "Oi.abc is wrong", "(not shown) is wrong"),
            // A secret within another, and secrets that overlap.
            (&["hush-1", "hush-1-more"], "A: hush-1-more\r\n", "A: (not shown)\r\n"),
            (&["hush-1-more", "hush-1"], "A: hush-1-more\r\n", "A: (not shown)\r\n"),
            (&["abcdefgh", "efghijkl"], "<abcdefghijkl>", "<(not shown)>"),
            (&["efghijkl", "abcdefgh"], "<abcdefghijkl>", "<(not shown)>"),
            (&["shown", "s3cret"], "s3cret", "(not shown)"),
            // In JSON, in HTML, in a URL and in a form.
            (ODD, "{\"token\": \"s3cr\\\"e&t/+k\"}", "{\"token\": \"(not shown)\"}"),
            (ODD, "\"s3cr\\u0022e\\u0026t\\/+k\"", "\"(not shown)\""),
            (ODD, "<a>s3cr&quot;e&amp;t/+k</a>", "<a>(not shown)</a>"),
            (ODD, "<a>s3cr&#34;e&#x26;t/+k</a>", "<a>(not shown)</a>"),
            (ODD, "?t=s3cr%22e%26t%2F%2Bk&x", "?t=(not shown)&x"),
            (ODD, "?t=s3cr%22e%26t%2f%2bk&x", "?t=(not shown)&x"),
            (ODD, "?t=%733%63r%22e%26t/%2bk&x", "?t=(not shown)&x"),
            (ODD, "a Bearer+s3cr%22e%26t%2F%2Bk b", "a (not shown) b"),
            (ODD, "100 % of a+b, \\u00 \\x &amp; &none;", "100 % of a+b, \\u00 \\x &amp; &none;"),
        ] {
            assert_eq!(without_any(secrets, text), left, "{text}");
        }
    }

    #[test]
    fn where_bytes_were_cut_off_the_shortest_piece_is_taken_out() {
        let secrets = [Secret("Bearer s3cret".into())];
        let whole = Piece::default();
        let after = Piece { is_cut_after: true, ..whole };
        let before = Piece { is_cut_before: true, ..whole };
        for (text, piece, left) in [
            ("of token s3", whole, "of token s3"),
            ("of token s3", after, "of token (not shown)"),
            ("of token s", after, "of token (not shown)"),
            ("et is wrong", whole, "et is wrong"),
            ("et is wrong", before, "(not shown) is wrong"),
            ("nothing", after, "nothing"),
        ] {
            let found = without(&secrets, text.as_bytes(), piece);
            assert_eq!(String::from_utf8_lossy(&found), left, "{text} {piece:?}");
        }
    }

    fn without_any(secrets: &[&str], text: &str) -> String {
        let secrets: Vec<Secret> = secrets.iter().map(|text| Secret((*text).into())).collect();
        String::from_utf8(without(&secrets, text.as_bytes(), Piece::default())).unwrap()
    }
}
