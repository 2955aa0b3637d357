//! `--header-command`: a header field whose value a command prints. The value is sent, and never shown or kept.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use lab::Refusal;
use load::Evidence;

/// The command has this long to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// Servers refuse larger heads anyway.
const LONGEST: u64 = 32 << 10;
/// At an edge of what was kept, a part of a secret this long is concealed.
const PART: usize = 4;
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
    let parsed = lab::command::Command::parse(command).map_err(|error| error.to_string())?;
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
    let read = move || {
        let mut bytes = Vec::new();
        let mut output = BufReader::new(output).take(LONGEST);
        let read = output.read_until(b'\n', &mut bytes);
        let _ = line.send(read.map(|_| bytes));
        // A command that prints more must not be ended by a closed pipe.
        let _ = std::io::copy(&mut output.into_inner(), &mut std::io::sink());
    };
    thread::Builder::new().name("header".into()).spawn(read).map_err(|error| error.to_string())?;
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
    let text = String::from_utf8(bytes).map_err(|_| "its first line is no text".to_string())?;
    Ok(text.trim().into())
}

impl Secret {
    /// For the request alone.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// The value, and those of its words that a server may repeat alone, as it does with the token of `Bearer token`.
    fn texts(&self) -> impl Iterator<Item = &str> {
        let words = self.0.split_whitespace().filter(|word| WORD <= word.len());
        std::iter::once(self.0.as_str()).chain(words)
    }
}

/// Takes the values out of what was kept of failures: the requests, and the answers that repeat them.
pub fn conceal(secrets: &[Secret], kept: &mut [Evidence]) {
    for evidence in kept {
        evidence.request = without(secrets, &evidence.request);
        evidence.received = without(secrets, &evidence.received);
    }
}

/// The bytes without the values and their words, and without a part of one at their beginning or end. All are sought in
/// the bytes as they were, because one may be within another.
fn without(secrets: &[Secret], bytes: &[u8]) -> Vec<u8> {
    let mut is_secret = vec![false; bytes.len()];
    for text in secrets.iter().flat_map(Secret::texts) {
        mark(text.as_bytes(), bytes, &mut is_secret);
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

/// Marks where this text is, and where what was kept begins or ends in the middle of it.
fn mark(text: &[u8], bytes: &[u8], is_secret: &mut [bool]) {
    let windows = bytes.windows(text.len()).enumerate();
    for (at, _) in windows.filter(|(_, window)| *window == text) {
        is_secret[at..at + text.len()].fill(true);
    }
    let parts = || (PART..text.len()).rev();
    if let Some(length) = parts().find(|&length| bytes.starts_with(&text[text.len() - length..])) {
        is_secret[..length].fill(true);
    }
    if let Some(length) = parts().find(|&length| bytes.ends_with(&text[..length])) {
        is_secret[bytes.len() - length..].fill(true);
    }
}

#[cfg(test)]
mod tests {
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
    fn a_secret_is_taken_out_whole_and_in_part() {
        let without = |text: &str| without_any(&["Bearer s3cret"], text);
        assert_eq!(
            without("A: Bearer s3cret\r\nB: Bearer s3cret\r\n\r\n"),
            "A: (not shown)\r\nB: (not shown)\r\n\r\n"
        );
        assert_eq!(without("A: Bearer s3c"), "A: (not shown)");
        assert_eq!(without("s3cret\r\n"), "(not shown)\r\n");
        assert_eq!(without("nothing here"), "nothing here");
        assert_eq!(without("Bearer s3cret"), "(not shown)");
        assert_eq!(without_any(&["x"], "GET /x"), "GET /(not shown)");
        assert_eq!(without_any(&[], "GET /x"), "GET /x");
    }

    #[test]
    fn a_word_of_a_secret_is_taken_out_where_it_is_alone() {
        let without = |text: &str| without_any(&["Bearer eyJhbGciOi.abc of me"], text);
        assert_eq!(without("no user eyJhbGciOi.abc here"), "no user (not shown) here");
        assert_eq!(without("{\"token\":\"eyJhbGciOi.abc\"}"), "{\"token\":\"(not shown)\"}");
        assert_eq!(without("token eyJhbGc"), "token (not shown)", "its end was not kept");
        assert_eq!(without("Oi.abc is wrong"), "(not shown) is wrong", "nor its beginning");
        assert_eq!(without("a list of them for me"), "a list of them for me", "short words stay");
    }

    #[test]
    fn a_secret_within_another_leaves_none_of_it() {
        for secrets in [["hush-1", "hush-1-more"], ["hush-1-more", "hush-1"]] {
            assert_eq!(without_any(&secrets, "A: hush-1-more\r\n"), "A: (not shown)\r\n");
        }
        for secrets in [["abcdefgh", "efghijkl"], ["efghijkl", "abcdefgh"]] {
            assert_eq!(without_any(&secrets, "<abcdefghijkl>"), "<(not shown)>", "they overlap");
        }
        assert_eq!(without_any(&["shown", "s3cret"], "s3cret"), "(not shown)");
    }

    fn without_any(secrets: &[&str], text: &str) -> String {
        let secrets: Vec<Secret> = secrets.iter().map(|text| Secret((*text).into())).collect();
        String::from_utf8(without(&secrets, text.as_bytes())).unwrap()
    }
}
