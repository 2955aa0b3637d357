//! The command line. Few flags, so they are read by hand.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::agent::Trust;
use crate::keys;
use crate::name::{Name, shortened};

pub(crate) const HELP: &str = "\
dyno-nats carries the lines of dyno's agents over NATS, signed end to end. dyno starts it; a person needs only `key`.

Usage:
  dyno-nats key FILE               make a key, and print its name and public half; FILE is for its owner alone
  dyno-nats key --public FILE      print the public half of a key
  dyno-nats agent --url URL --lab LAB --name NAME --trust KEY [flags]
  dyno-nats coordinator --url URL --lab LAB --agents A,B [flags]

An agent's standard input has the lines for the coordinator, its standard output those from it. A coordinator's have the
agent's name and a blank before each line. NAME alone: this agent cannot be reached, or has gone. NAME !blinked MS: the
broker was out of reach for so long, and lines may have been lost.

Flags:
  --url URL          the broker: nats://HOST[:PORT], or tls://HOST[:PORT]
  --lab LAB          the name of the lab; agents and coordinators of different labs do not meet
  --name NAME        the agent's name
  --agents A,B       the names of the agents
  --trust KEY        the public key of the coordinator that is obeyed; with `any`, every program that may publish at
                     the broker is obeyed
  --keys FILE        the agents' public keys, a line `NAME KEY` for each; without it, the first key that an agent shows is
                     taken for its own
  --key-file FILE    the key of this side, for the broker and for signatures [default: one that is made now]
  --ca FILE          the authority that must have signed the broker's certificate; makes TLS a must
  --wait SECONDS     how long the broker and the agents may let themselves be waited for [default: 10]

Exit codes:
  0    the other side has ended, or standard input has
  2    it could not go on; standard error says why
";

/// What is wanted.
#[derive(Debug, PartialEq)]
pub(crate) enum Wish {
    Help,
    Version,
    MakeKey(PathBuf),
    ShowKey(PathBuf),
    Carry(Carry),
}

/// Where to, as whom.
#[derive(Debug, PartialEq)]
pub(crate) struct Carry {
    pub(crate) url: Url,
    pub(crate) lab: Name,
    pub(crate) role: Role,
    pub(crate) key_file: Option<PathBuf>,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) wait_seconds: u32,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Role {
    Agent { name: Name, trust: Trust },
    Coordinator { agents: Vec<Name>, keys: Option<PathBuf> },
}

/// A broker's address.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Url {
    text: String,
    pub(crate) is_secured: bool,
}

impl Url {
    fn parse(text: &str) -> Result<Url, String> {
        let refused = |why: &str| format!("--url `{}`: {why}", shortened(text));
        let (scheme, rest) = text.split_once("://").unwrap_or(("nats", text));
        let is_secured = match scheme {
            "nats" => false,
            "tls" => true,
            _ => return Err(refused("it begins with nats:// or tls://")),
        };
        let place = rest.strip_suffix('/').unwrap_or(rest);
        if place.contains('@') {
            return Err(refused("give a key with --key-file, and no password"));
        }
        if place.is_empty() || place.contains(['/', '?', '#', ',', ' ']) {
            return Err(refused("it is nats://HOST[:PORT], and no more"));
        }
        let port = match place.rsplit_once(':') {
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => Some(port),
            Some(_) if !place.ends_with(']') => {
                return Err(refused("an address of IPv6 stands in brackets"));
            }
            _ => None,
        };
        match port.map(str::parse::<u16>) {
            Some(Err(_) | Ok(0)) => Err(refused("ports go from 1 to 65535")),
            Some(Ok(_)) => Ok(Url { text: format!("{scheme}://{place}"), is_secured }),
            None => Ok(Url { text: format!("{scheme}://{place}:4222"), is_secured }),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Wish, String> {
    let mut arguments = arguments.into_iter();
    let Some(command) = arguments.next() else { return Ok(Wish::Help) };
    match command.as_str() {
        "--help" | "-h" | "help" => Ok(Wish::Help),
        "--version" | "-V" => Ok(Wish::Version),
        "key" => key(arguments),
        "agent" | "coordinator" => {
            let known: &[&str] = match command.as_str() {
                "agent" => &["url", "lab", "name", "trust", "key-file", "ca", "wait"],
                _ => &["url", "lab", "agents", "keys", "key-file", "ca", "wait"],
            };
            match Given::of(arguments, known)? {
                Some(given) => given.carry(command == "agent").map(Wish::Carry),
                None => Ok(Wish::Help),
            }
        }
        other => Err(format!(
            "`{}` is no command; there are agent, coordinator and key (dyno-nats --help)",
            shortened(other)
        )),
    }
}

fn key(arguments: impl Iterator<Item = String>) -> Result<Wish, String> {
    let arguments: Vec<String> = arguments.collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--help" | "-h"] => Ok(Wish::Help),
        ["--public", file] if !file.starts_with('-') => Ok(Wish::ShowKey(file.into())),
        [file] if !file.starts_with('-') => Ok(Wish::MakeKey(file.into())),
        _ => {
            Err("key: give one file: `dyno-nats key FILE`, or `dyno-nats key --public FILE`".into())
        }
    }
}

/// The flags as they were given.
struct Given(BTreeMap<String, String>);

impl Given {
    /// None: help is wanted.
    fn of(
        mut arguments: impl Iterator<Item = String>,
        known: &[&str],
    ) -> Result<Option<Given>, String> {
        let mut given = BTreeMap::new();
        while let Some(argument) = arguments.next() {
            if argument == "--help" || argument == "-h" {
                return Ok(None);
            }
            let flag = argument.strip_prefix("--").unwrap_or_default();
            let (name, value) = match flag.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (flag, None),
            };
            if !known.contains(&name) {
                let shown = shortened(&argument);
                return Err(format!("`{shown}` is no flag here (dyno-nats --help)"));
            }
            let value = value.or_else(|| arguments.next());
            let value = value.ok_or_else(|| format!("--{name} needs a value"))?;
            if given.insert(name.to_string(), value).is_some() {
                return Err(format!("--{name} is given twice"));
            }
        }
        Ok(Some(Given(given)))
    }

    fn must(&self, flag: &str) -> Result<&str, String> {
        self.0.get(flag).map(String::as_str).ok_or_else(|| format!("--{flag} is missing"))
    }

    fn path(&self, flag: &str) -> Option<PathBuf> {
        self.0.get(flag).map(PathBuf::from)
    }

    fn carry(&self, is_agent: bool) -> Result<Carry, String> {
        let named = |flag: &'static str| move |why: String| format!("--{flag}: {why}");
        let url = Url::parse(self.must("url")?)?;
        let lab = Name::parse(self.must("lab")?).map_err(named("lab"))?;
        let role = if is_agent {
            let name = Name::of_agent(self.must("name")?).map_err(named("name"))?;
            Role::Agent { name, trust: self.trust()? }
        } else {
            Role::Coordinator { agents: self.agents()?, keys: self.path("keys") }
        };
        Ok(Carry {
            url,
            lab,
            role,
            key_file: self.path("key-file"),
            ca: self.path("ca"),
            wait_seconds: self.wait()?,
        })
    }

    fn trust(&self) -> Result<Trust, String> {
        match self.0.get("trust").map(String::as_str) {
            Some("any") => Ok(Trust::Any),
            Some(key) => keys::public(key).map(Trust::Key).map_err(|why| format!("--trust: {why}")),
            None => Err("--trust is missing: the coordinator's public key, or `any` where every program that may publish at the \
                         broker may give orders"
                .into()),
        }
    }

    fn agents(&self) -> Result<Vec<Name>, String> {
        let names = self.must("agents")?.split(',').map(|name| Name::of_agent(name.trim()));
        let mut names =
            names.collect::<Result<Vec<_>, _>>().map_err(|why| format!("--agents: {why}"))?;
        names.sort();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("--agents: {} is named twice", pair[0])),
            None => Ok(names),
        }
    }

    fn wait(&self) -> Result<u32, String> {
        let Some(text) = self.0.get("wait") else { return Ok(10) };
        let seconds = text.strip_suffix('s').unwrap_or(text).parse();
        match seconds {
            Ok(seconds) if seconds <= 86_400 => Ok(seconds),
            _ => Err(format!("--wait `{}`: give whole seconds, at most a day", shortened(text))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Wish, String> {
        parse(line.split_whitespace().map(String::from))
    }

    #[test]
    fn what_is_wanted_is_read() {
        let line =
            "coordinator --url=nats://hub --lab l --agents b,a --wait 3s --ca ca.pem --keys k";
        let Ok(Wish::Carry(carry)) = parsed(line) else { panic!("{:?}", parsed(line)) };
        assert_eq!((carry.url.as_str(), carry.wait_seconds), ("nats://hub:4222", 3));
        let Role::Coordinator { agents, keys: Some(_) } = carry.role else { panic!() };
        assert_eq!(agents.iter().map(Name::as_str).collect::<Vec<_>>(), ["a", "b"]);
        let line = "agent --url tls://[::1]:1 --lab l --name a --trust any";
        let Ok(Wish::Carry(carry)) = parsed(line) else { panic!("{:?}", parsed(line)) };
        assert!(carry.url.is_secured && carry.url.as_str() == "tls://[::1]:1");
        assert_eq!(parsed("key desk3"), Ok(Wish::MakeKey("desk3".into())));
        assert_eq!(parsed("key --public desk3"), Ok(Wish::ShowKey("desk3".into())));
        assert_eq!(parsed(""), Ok(Wish::Help));
    }

    #[test]
    fn bad_flags_are_refused_by_name() {
        let agent = "agent --url nats://h --lab l --name a --trust any";
        for (line, words) in [
            ("frobnicate", "no command"),
            ("key", "one file"),
            ("key a b", "one file"),
            ("agent", "--url is missing"),
            ("agent --url nats://h --lab l --name a", "--trust is missing"),
            ("agent --url nats://h --lab l --name a --trust U1", "--trust: `U1` is no public key"),
            ("agent --url nats://h --lab l --name coordinator --trust any", "--name: "),
            ("agent --url nats://h --lab L --name a --trust any", "--lab: `L` is no name"),
            ("agent --url", "--url needs a value"),
            ("agent --agents a", "`--agents` is no flag"),
            ("agent -x", "`-x` is no flag"),
            ("coordinator --url nats://h --lab l --agents a,a", "a is named twice"),
            ("coordinator --url nats://h --lab l --agents a,,b", "--agents: `` is no name"),
            (&format!("{agent} --lab l"), "--lab is given twice"),
            (&format!("{agent} --wait soon"), "--wait `soon`"),
            (&format!("{agent} --wait 99999999999"), "--wait"),
        ] {
            let said = parsed(line).unwrap_err();
            assert!(said.contains(words), "{line}: {said}");
        }
    }

    #[test]
    fn addresses_of_brokers_that_are_none_are_refused() {
        for (bad, words) in [
            ("http://h", "nats:// or tls://"),
            ("nats://", "and no more"),
            ("nats://a,b", "and no more"),
            ("nats://h/x", "and no more"),
            ("nats://u:p@h", "--key-file"),
            ("nats://h:0", "ports"),
            ("nats://h:70000", "ports"),
            ("nats://h:", "ports"),
            ("nats://::1", "brackets"),
        ] {
            let said = Url::parse(bad).unwrap_err();
            assert!(said.contains(words), "{bad}: {said}");
        }
        assert_eq!(Url::parse("hub").unwrap().as_str(), "nats://hub:4222");
    }
}
