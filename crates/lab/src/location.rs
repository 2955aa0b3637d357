//! Where a server runs already, as its manifest says: `http://host:port`, whose paths are the workload's.

use serde::Deserialize;

/// Host and port, before the name is looked up.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Location {
    pub host: String,
    pub port: u16,
    /// What `Host` says.
    pub authority: String,
}

impl Location {
    /// Reads `http://host:port`.
    pub fn parse(text: &str) -> Result<Location, String> {
        let refused = |why: &str| Err(format!("`{}`: {why}", text.escape_debug()));
        let Some(rest) = text.strip_prefix("http://") else {
            return match text.starts_with("https://") {
                true => refused(
                    "a server that runs already is loaded without TLS; write http://, or race it: `dyno race` takes https://",
                ),
                false => refused("write http://host:port"),
            };
        };
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if !path.is_empty() {
            return refused("the workload says which paths are requested; leave the path out");
        }
        let is_plain = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b':' | b'[' | b']')
        };
        if !authority.bytes().all(is_plain) {
            return refused(
                "an address has neither a user nor other signs; write http://host:port",
            );
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port),
            Some(_) | None => (authority, "80"),
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_odd = match bare {
            Some(address) => address.parse::<std::net::Ipv6Addr>().is_err(),
            None => host.contains([':', '[', ']']),
        };
        match port.parse::<u16>() {
            Ok(port) if port != 0 && !host.is_empty() && !is_odd => Ok(Location {
                host: bare.unwrap_or(host).into(),
                port,
                authority: authority.into(),
            }),
            Ok(_) | Err(_) => refused("write http://host:port, with a port from 1 to 65535"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_host_and_a_port_and_nothing_else() {
        let read = |text: &str| Location::parse(text).map(|it| (it.host, it.port, it.authority));
        let parts = |host: &str, port, authority: &str| Ok((host.into(), port, authority.into()));
        assert_eq!(read("http://localhost:8080"), parts("localhost", 8080, "localhost:8080"));
        assert_eq!(read("http://10.0.0.1:81/"), parts("10.0.0.1", 81, "10.0.0.1:81"));
        assert_eq!(read("http://web"), parts("web", 80, "web"));
        assert_eq!(read("http://[::1]:8"), parts("::1", 8, "[::1]:8"));
        assert_eq!(read("http://[::1]"), parts("::1", 80, "[::1]"));
        for (text, says) in [
            ("https://h:1", "without TLS; write http://"),
            ("h:1", "write http://host:port"),
            ("http://h:1/x", "leave the path out"),
            ("http://u:p@h", "neither a user"),
            ("http://h\r\nX: y", "neither a user"),
            ("http://h:0", "a port from 1"),
            ("http://h:70000", "a port from 1"),
            ("http://", "a port from 1"),
            ("http://::1", "a port from 1"),
            ("http://[h]:1", "a port from 1"),
        ] {
            let found = read(text).unwrap_err();
            assert!(found.contains(says), "{text}: {found}");
        }
    }
}
