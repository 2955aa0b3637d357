//! `dyno agents key`: the line of ~/.ssh/authorized_keys by which the owner of a key may do nothing but have an agent.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use lab::command::in_shell;
use requests::file;

use super::bounds::{BOUNDS, BoundFlags};
use crate::shell::{ExitStatus, Refusal, print};

/// Print the line for ~/.ssh/authorized_keys that allows a key to start an agent within these bounds, and nothing else
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct KeyFlags {
    /// The file with the public key, of one line [standard input]
    #[arg(value_name = "PUBLIC_KEY_FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    bounds: BoundFlags,
    /// It may have servers run here, whose files this machine's owner has trusted, and nothing else
    #[arg(long, conflicts_with_all = BOUNDS)]
    servers: bool,
    /// Dyno on this machine, as sshd is to start it [this program]
    #[arg(long, value_name = "PATH", value_parser = path)]
    dyno: Option<String>,
}

const AFTER_HELP: &str = "\
Run it on the machine that is to load, or to run the servers. The flags hold, whatever the coordinator asks for; a \
command that it asks for is not \
run. The dyno here must be the same program as the one there: nothing can be copied with such a key.

Examples:
  dyno agents key --allow 10.0.0.0/24:8080 --max-rate 50k ann.pub >> ~/.ssh/authorized_keys
  ssh desk1 cat .ssh/id_ed25519.pub | dyno agents key --allow 10.0.0.7:80-90

Exit codes:
  0    printed
  2    a flag does not fit, or that is not a public key";

/// No key is longer.
const LONGEST: u64 = 16 << 10;
/// Of keys that OpenSSH takes.
const KINDS: [&str; 7] = [
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
];

pub(super) fn run(flags: &KeyFlags) -> Result<ExitStatus, Refusal> {
    let (name, text) = read(flags.file.as_deref())?;
    let key = public(&text).map_err(|why| Refusal::new(format!("{name}: {why}")))?;
    let dyno = match &flags.dyno {
        Some(dyno) => dyno.clone(),
        None => {
            let own = crate::load_agents::own_program()?;
            path(&own.to_string_lossy()).map_err(|why| Refusal::new(format!("--dyno: {why}")))?
        }
    };
    if let Some(file) = &flags.bounds.allow_file {
        whole_path(&file.to_string_lossy())
            .map_err(|why| Refusal::new(format!("--allow-file {}: {why}", file.display())))?;
    }
    if flags.bounds.is_this_machine_alone() && !flags.servers {
        terminal::notice(
            "dyno: without --allow, the agent may load servers of its own machine alone",
        );
    }
    print(&format!("{}\n", line(&words(&dyno, flags), &key)))
}

/// What sshd is to start.
fn words(dyno: &str, flags: &KeyFlags) -> Vec<String> {
    let mut words = [dyno, "agents", "run", "--stdio"].map(String::from).to_vec();
    words.extend(flags.bounds.words());
    words.extend(flags.servers.then(|| "--servers".into()));
    words
}

/// sshd takes all between the quotation marks for the command, and `\"` in it for a quotation mark. The command is for the
/// shell of a login, of whatever kind: what it might take for more than a letter is quoted.
fn line(words: &[String], key: &str) -> String {
    let command = in_shell(words, b"-_./:");
    format!("command=\"{}\",restrict {key}", command.replace('"', "\\\""))
}

fn read(file: Option<&Path>) -> Result<(String, String), Refusal> {
    let name = file.map_or("standard input".into(), |path| path.display().to_string());
    if file.is_none() && io::stdin().is_terminal() {
        return Err(Refusal::new(
            "name the file with the public key, or write it to standard input",
        ));
    }
    let refused = |why: String| Refusal::new(format!("{name}: {why}"));
    let read = file::read(file.unwrap_or(Path::new("-")), LONGEST);
    let octets = read.map_err(|error| refused(error.to_string()))?;
    let octets = octets.ok_or_else(|| refused("it is too long for a key".into()))?;
    let text = String::from_utf8(octets).map_err(|error| refused(error.to_string()))?;
    Ok((name, text))
}

/// The one key in it, as authorized_keys has it: its kind, its octets in base64, and a remark.
fn public(text: &str) -> Result<String, String> {
    if text.contains("PRIVATE KEY") {
        return Err("this is a private key, which stays where it is; the file beside it that ends in .pub is meant".into());
    }
    let mut lines = text.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'));
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return Err("it is not a public key: that is one line".into());
    };
    if line.chars().any(char::is_control) {
        return Err("there is a control character in it".into());
    }
    let mut parts = line.split_whitespace();
    let (kind, octets) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    if !KINDS.contains(&kind) {
        return Err("it is not a public key as ssh-keygen writes one: `ssh-ed25519 AAAA…`, without options before \
            it".into());
    }
    match named_in(octets) {
        Some(named) if named == kind.as_bytes() => Ok(line.into()),
        _ => Err(format!("what follows `{kind}` is not a key of that kind")),
    }
}

/// The kind that a key's octets name themselves: their first string. None if they are not base64, or no key.
fn named_in(base64: &str) -> Option<Vec<u8>> {
    let octets = STANDARD.decode(base64).ok()?;
    let length = u32::from_be_bytes(octets.get(..4)?.try_into().ok()?) as usize;
    // A name alone is no key.
    let (named, rest) = octets.get(4..)?.split_at_checked(length)?;
    (32 <= rest.len()).then(|| named.to_vec())
}

/// A path that means the same wherever sshd starts the command.
fn path(text: &str) -> Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err("there is a control character in the path".into());
    }
    match text.is_empty() || text.starts_with('-') {
        true => Err("that is not a path".into()),
        false => Ok(text.into()),
    }
}

fn whole_path(text: &str) -> Result<String, String> {
    match text.starts_with('/') {
        true => path(text),
        false => Err("write the whole path, from / on: sshd starts in the home directory".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    const KEY: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGKmZpxoUZ0TyPMHkA7NGCtXcAH3Rd5O0xYYsSgFXYHd";

    #[test]
    fn a_key_is_one_line_of_its_kind() {
        assert_eq!(public(&format!("# mine\n\n{KEY} ann@desk1\n")), Ok(format!("{KEY} ann@desk1")));
        assert_eq!(public(KEY), Ok(KEY.into()));
        for (bad, says) in [
            (String::new(), "one line"),
            (format!("{KEY}\n{KEY}\n"), "one line"),
            (format!("restrict {KEY}"), "without options"),
            (format!("command=\"sh\" {KEY}"), "without options"),
            (KEY.replace("ed25519 ", "rsa "), "not a key of that kind"),
            (KEY.replace("AAAAC3", "AAAAC4"), "not a key of that kind"),
            (KEY[..40].into(), "not a key of that kind"),
            (format!("{KEY}="), "not a key of that kind"),
            (KEY.replace("IGKm", "I\"Km"), "not a key of that kind"),
            ("ssh-ed25519".into(), "not a key of that kind"),
            (format!("{KEY} a\x1b[2J"), "control character"),
            ("-----BEGIN OPENSSH PRIVATE KEY-----\n".into(), "private key"),
        ] {
            let said = public(&bad).unwrap_err();
            assert!(said.contains(says), "{bad}: {said}");
        }
    }

    /// As OpenSSH reads options: up to the quotation mark that no backslash stands before.
    fn read_by_sshd(line: &str) -> (String, &str) {
        let mut rest = line.strip_prefix("command=\"").unwrap();
        let mut command = String::new();
        loop {
            if let Some(after) = rest.strip_prefix("\\\"") {
                command.push('"');
                rest = after;
            } else if let Some(after) = rest.strip_prefix('"') {
                return (command, after);
            } else {
                let letter = rest.chars().next().unwrap();
                command.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }

    #[test]
    fn what_sshd_starts_is_what_was_meant() {
        for dyno in ["/usr/bin/dyno", "/opt/my \"own\" it's\\", "/a\\\"b", "/$(x)`y`", "/é"] {
            let words: Vec<String> =
                [dyno, "agents", "run", "--stdio", "--allow", "[fd00::]/8:1-2"]
                    .map(String::from)
                    .into();
            let line = line(&words, KEY);
            let (command, rest) = read_by_sshd(&line);
            assert_eq!(rest, format!(",restrict {KEY}"), "{line}");
            let mut shell = std::process::Command::new("sh");
            let script = format!("for word in {command}; do printf '%s\\n' \"$word\"; done");
            let said = shell.args(["-c", &script]).output().unwrap();
            let said = String::from_utf8(said.stdout).unwrap();
            assert_eq!(said.lines().collect::<Vec<_>>(), words, "{line}");
        }
    }

    #[test]
    fn what_is_printed_is_understood_by_the_agent() {
        #[derive(Parser)]
        struct Key {
            #[command(flatten)]
            flags: KeyFlags,
        }
        #[derive(Parser)]
        struct Agent {
            #[command(flatten)]
            _flags: super::super::AgentsFlags,
        }
        let given = |flags: &[&str]| Key::try_parse_from([&["key"], flags].concat());
        let bounds = "--allow 10.0.0.0/24:80-90 --allow 10.1.0.1:8080 --allow-file /etc/dyno.allow --max-rate 50k \
                      --max-connections 1000 --max-duration 90s";
        let bounds: Vec<&str> = bounds.split_whitespace().collect();
        for flags in [&bounds[..], &bounds[..2], &["--servers"], &[]] {
            let words = words("dyno", &given(flags).ok().unwrap().flags);
            assert!(Agent::try_parse_from(&words[1..]).is_ok(), "{words:?}");
        }
        assert!(given(&["--servers", "--max-rate", "1"]).is_err(), "the agent would refuse it");
    }

    #[test]
    fn paths_that_mean_something_else_elsewhere_are_refused() {
        assert!(path("dyno").is_ok() && path("-x").is_err() && path("").is_err());
        assert!(path("a\nb").is_err() && whole_path("rules").is_err() && whole_path("/x").is_ok());
    }
}
