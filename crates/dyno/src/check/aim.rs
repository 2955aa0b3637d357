//! The server that is meant: a subject's name, or an address; and what else a server offers according to the flags.

use check::Target;
use clap::Args;
use lab::subject::is_file_name;
use requests::reach::{find, is_this_machine};
use requests::url::{Endpoint, Url, parse_with_socket};
use tls::{Client, HTTP_2};

use crate::order::tls::TrustFlags;
use crate::shell::Refusal;

/// A server to be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// A subject that dyno starts.
    Subject(String),
    /// A server that already runs.
    Address(Address),
}

/// An address, as it was written and as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// The address as it is shown.
    pub(crate) shown: String,
    host: String,
    port: u16,
    url: Url,
    /// Whether there is nothing but a WebSocket.
    pub(crate) is_socket: bool,
}

// What else a server offers.
#[derive(Args, Default)]
pub(crate) struct Offers {
    /// For an address: the path that takes a POST and sends its body back [default: /echo and the URL's own path are tried]
    #[arg(long, value_name = "PATH", value_parser = path)]
    post: Option<String>,
    /// For an address: the path of a WebSocket, if possible of one that sends messages back
    #[arg(long, value_name = "PATH", value_parser = path)]
    socket: Option<String>,
}

impl Offers {
    pub(crate) fn are_given(&self) -> bool {
        self.post.is_some() || self.socket.is_some()
    }
}

/// The path that is tried if no page that takes a POST is known; --post gives one.
const ECHO: &str = "/echo";

impl Aim {
    /// Parses a word: a word without a dot, a colon or a slash is a subject.
    pub(crate) fn parse(word: &str) -> Result<Aim, Refusal> {
        if is_file_name(word) {
            return Ok(Aim::Subject(word.into()));
        }
        let shown = units::without_password(word);
        let refused = |why: String| Refusal::new(format!("`{}`: {why}", shown.escape_debug()));
        let (url, is_socket) = parse_with_socket(word).map_err(|why| refused(own_words(&why)))?;
        Address::of(url, is_socket).map(Aim::Address).map_err(refused)
    }
}

impl Aim {
    pub(crate) fn address(&self) -> Option<&Address> {
        match self {
            Aim::Address(address) => Some(address),
            Aim::Subject(_) => None,
        }
    }
}

/// An address's refusals are written for `dyno load`; here there are no header fields to give.
fn own_words(why: &str) -> String {
    match why.split_once("; give -H") {
        Some((why, _)) => format!("{why}; leave them out"),
        None => why.into(),
    }
}

impl Address {
    fn of(url: Url, is_socket: bool) -> Result<Address, String> {
        let shown = match is_socket {
            true => url.shown().replacen("http", "ws", 1),
            false => url.shown(),
        };
        if url.target.contains('{') {
            return Err(
                "placeholders such as {seq} are not filled here; write a path as it is".into()
            );
        }
        match url.endpoint.clone() {
            Endpoint::Unix(_) => Err("a check goes over TCP; write http://HOST:PORT/".into()),
            Endpoint::Host(host, port) => Ok(Address { shown, host, port, url, is_socket }),
        }
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// How connections are secured; none: not at all.
    pub(crate) fn tls(&self, trust: &TrustFlags, http2: bool) -> Result<Option<Client>, Refusal> {
        let client = trust.client(&self.url)?;
        Ok(if http2 { client.map(|client| client.with_alpn(HTTP_2)) } else { client })
    }

    /// The target of a check, and whether it is this machine.
    pub(crate) fn target(
        &self,
        offers: &Offers,
        trust: &TrustFlags,
        http2: bool,
    ) -> Result<(Target, bool), Refusal> {
        let address = find(&self.host, self.port, true)?;
        let tls = self.tls(trust, http2)?;
        let (path, host_field) = (&self.url.target, &self.url.host_field);
        let posts = match &offers.post {
            Some(path) => vec![path.clone()],
            None if path == ECHO => vec![ECHO.into()],
            None => vec![ECHO.into(), path.clone()],
        };
        let target = match self.is_socket {
            true => Target {
                socket: Some(path.clone()),
                authority: host_field.clone(),
                tls,
                ..Target::at(address)
            },
            false => Target {
                authority: host_field.clone(),
                get: path.clone(),
                posts,
                tls,
                socket: offers.socket.clone(),
                is_http2: http2,
                ..Target::at(address)
            },
        };
        Ok((target, is_this_machine(address.ip())))
    }
}

/// A path as `--post` and `--socket` take it.
fn path(text: &str) -> Result<String, String> {
    let is_plain = text.bytes().all(|octet| octet.is_ascii_graphic());
    match text.starts_with('/') && is_plain && !text.contains(['#', '{']) {
        true => Ok(text.into()),
        false => {
            Err("a path begins with / and has neither blanks, `#` nor placeholders in it: /echo"
                .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(word: &str, offers: &Offers) -> (Target, bool) {
        match Aim::parse(word) {
            Ok(Aim::Address(address)) => {
                address.target(offers, &TrustFlags::default(), false).unwrap()
            }
            other => panic!("{word}: {other:?}"),
        }
    }

    #[test]
    fn a_word_is_a_subject_or_an_address() {
        assert_eq!(Aim::parse("go-net-http").unwrap(), Aim::Subject("go-net-http".into()));
        let (page, is_own) = target("http://127.0.0.1:8080/hello?a=b", &Offers::default());
        assert!(is_own);
        assert_eq!((page.get.as_str(), page.authority.as_str()), ("/hello?a=b", "127.0.0.1:8080"));
        assert_eq!((page.posts, page.socket), (vec!["/echo".into(), "/hello?a=b".into()], None));
        let offers = Offers { post: Some("/user".into()), socket: Some("/ws".into()) };
        let (page, _) = target("127.0.0.1:80", &offers);
        assert_eq!((page.posts, page.socket), (vec!["/user".into()], Some("/ws".into())));
        let (socket, _) = target("WS://127.0.0.1:8080/chat", &offers);
        assert_eq!((socket.socket.as_deref(), socket.posts.len()), (Some("/chat"), 0));
    }

    #[test]
    fn only_loopback_is_this_machine() {
        for (word, is_own) in [
            ("127.9.9.9:1", true),
            ("[::1]:1", true),
            ("192.168.0.1:1", false),
            ("192.0.2.1:1", false),
        ] {
            assert_eq!(target(word, &Offers::default()).1, is_own, "{word}");
        }
    }

    #[test]
    fn a_refusal_says_how_to_write_it() {
        let why = |word: &str| Aim::parse(word).unwrap_err().to_string();
        assert!(why("ftp://h/").contains("write http://"));
        assert!(why("http://user:pw@h/").ends_with("do not belong in it; leave them out"));
        assert!(why("unix:/x:/").contains("over TCP"));
        assert!(why("h/{seq}").contains("placeholders"));
        assert!(why("a\u{1b}b/").starts_with(r"`a\u{1b}b/`: there are control characters"));
        assert!(path("/echo?x=1").is_ok());
        for bad in ["echo", "/a b", "/a\r\nX: y", "/é", "/{seq}", ""] {
            assert!(path(bad).is_err(), "{bad}");
        }
    }
}
