//! Addresses as people write them: `https://host:port/path`, `localhost:8080`, `unix:/path:/hello`.

use std::net::IpAddr;
use std::path::PathBuf;

/// The place and the target of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    pub endpoint: Endpoint,
    /// Whether it is reached with TLS.
    pub is_secure: bool,
    /// The `Host` field.
    pub host_field: String,
    /// Path and query; placeholders in it stay as they were written.
    pub target: String,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A name or an address, and a port.
    Host(String, u16),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl Url {
    /// `https://`.
    pub fn scheme(&self) -> &'static str {
        if self.is_secure { "https://" } else { "http://" }
    }

    /// As it is shown: in full.
    pub fn shown(&self) -> String {
        match &self.endpoint {
            Endpoint::Host(..) => format!("{}{}{}", self.scheme(), self.host_field, self.target),
            Endpoint::Unix(path) => format!("unix:{}:{}", path.display(), self.target),
        }
    }
}

/// RFC 9110, 4.2: the ports of URLs that name none.
const HTTP: u16 = 80;
const HTTPS: u16 = 443;

/// What else is wrong with such an address is not said: that would show parts of a password.
const NO_PASSWORD: &str = "a name and password do not belong in it; give -H 'Authorization: Basic …' (base64 of \
                           name:password)";

/// Reads an address, or says what is wrong with it and how to write it.
pub fn parse(text: &str) -> Result<Url, String> {
    if text.chars().any(char::is_control) {
        return Err("there are control characters in it; write them as %0A and so on".into());
    }
    if let Some(rest) = text.strip_prefix("unix:") {
        return unix(rest);
    }
    let (rest, is_secure) = without_scheme(text)?;
    let rest = rest.split('#').next().unwrap_or_default();
    let (authority, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    if authority.contains('@') || has_password(text) {
        return Err(NO_PASSWORD.into());
    }
    let usual = if is_secure { HTTPS } else { HTTP };
    let (host, port) = host_and_port(authority, usual)?;
    Ok(Url {
        is_secure,
        host_field: host_field(&host, port, usual),
        endpoint: Endpoint::Host(host, port),
        target: encoded(target),
    })
}

/// Reads an address, also that of a WebSocket, `ws://…` or `wss://…`; says whether it is one.
pub fn parse_with_socket(text: &str) -> Result<(Url, bool), String> {
    match text.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("ws") => {
            Ok((parse(&format!("http://{rest}"))?, true))
        }
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("wss") => {
            Ok((parse(&format!("https://{rest}"))?, true))
        }
        _ => Ok((parse(text)?, false)),
    }
}

/// Path and query of a request to a server that is named elsewhere.
pub fn target(text: &str) -> Result<String, String> {
    if !text.starts_with('/') {
        return Err(format!(
            "`{}` is not a path: it begins with / and the server is named in the URL of the command",
            text.escape_debug()
        ));
    }
    if text.chars().any(char::is_control) {
        return Err("there are control characters in the path; write them as %0A and so on".into());
    }
    Ok(encoded(text.split('#').next().unwrap_or_default()))
}

fn unix(rest: &str) -> Result<Url, String> {
    let (path, target) = match rest.rsplit_once(":/") {
        Some((path, target)) => (path, format!("/{target}")),
        None => (rest, "/".into()),
    };
    if path.trim_start_matches('/').is_empty() {
        return Err("it names no socket; write unix:/path/to.sock:/hello".into());
    }
    Ok(Url {
        endpoint: Endpoint::Unix(path.into()),
        is_secure: false,
        host_field: "localhost".into(),
        target: encoded(&target),
    })
}

/// The rest, and whether the scheme is one with TLS.
fn without_scheme(text: &str) -> Result<(&str, bool), String> {
    let Some((scheme, rest)) = text.split_once("://") else {
        return Ok((text, false));
    };
    if scheme.contains(['/', '?', '#', '[']) {
        return Ok((text, false));
    }
    match scheme.to_ascii_lowercase().as_str() {
        "http" => Ok((rest, false)),
        "https" => Ok((rest, true)),
        "ws" | "wss" => Err("a WebSocket is no load; `dyno hold` and `dyno check` take one".into()),
        _ => Err(format!(
            "`{scheme}` is not supported here; write http://host:port/path or https://host:port/path"
        )),
    }
}

fn has_password(text: &str) -> bool {
    units::without_password(text) != text
}

/// A host and a port, as `10.0.0.7:8080`, `[::1]:80` or `localhost:8080`.
pub fn place(text: &str) -> Result<(String, u16), String> {
    if has_password(text) {
        return Err(NO_PASSWORD.into());
    }
    if let Some((_, rest)) = text.split_once("://") {
        let place = rest.split('/').next().unwrap_or_default().escape_debug();
        return Err(format!("only the place belongs here, without http:// and path: {place}"));
    }
    // curl's form is HOST1:PORT1:HOST2:PORT2.
    if !text.starts_with('[') && text.parse::<IpAddr>().is_err() && 2 < text.matches(':').count() {
        return Err("write only the place to connect to, like 127.0.0.1:8080 or [::1]:8080; there is one URL, so its \
                    own host and port are not repeated here as for curl"
            .into());
    }
    let has_port = text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    match host_and_port(text, HTTP) {
        Ok(_) if !has_port => Err("it names no port; write it like localhost:8080".into()),
        found => found,
    }
}

fn host_and_port(authority: &str, usual: u16) -> Result<(String, u16), String> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or("the bracket `[` is not closed")?;
            if !host.contains(':') {
                return Err(format!("`{host}` is no IPv6 address; brackets are for those only"));
            }
            let port = after.strip_prefix(':').or(after.is_empty().then_some(""));
            (host, port.ok_or(format!("`{after}` after the bracket is not a port"))?)
        }
        None => authority.split_once(':').unwrap_or((authority, "")),
    };
    if port.contains(':') {
        return Err("an IPv6 address is written in brackets: http://[::1]:8080/".into());
    }
    if host.is_empty() {
        return Err(
            "it names no host; write http://localhost:8080/ or https://localhost:8443/".into()
        );
    }
    if !host.is_ascii() {
        return Err("a name beyond ASCII is written in Punycode: xn--…".into());
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:%".contains(&byte);
    if !host.bytes().all(is_plain) {
        return Err(format!("`{host}` is not a host name"));
    }
    Ok((host.into(), port_number(port, usual)?))
}

fn port_number(text: &str, usual: u16) -> Result<u16, String> {
    if text.is_empty() {
        return Ok(usual);
    }
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(port) if is_decimal && 0 < port => Ok(port),
        _ => Err(format!("`{text}` is not a port; ports go from 1 to 65535")),
    }
}

/// RFC 9110, 7.2: as in the URI, without a zone; the port only if it is not the default.
fn host_field(host: &str, port: u16, usual: u16) -> String {
    let host = match host.split('%').next() {
        Some(address) if address.contains(':') => format!("[{address}]"),
        _ => host.to_string(),
    };
    match port == usual {
        true => host,
        false => format!("{host}:{port}"),
    }
}

/// Path and query, with every character percent-encoded that is not allowed there; placeholders stay.
fn encoded(target: &str) -> String {
    let mut encoded = String::from(if target.starts_with('/') { "" } else { "/" });
    let mut rest = target;
    while let Some(first) = rest.chars().next() {
        // An unknown placeholder is left for the code that fills placeholders to refuse.
        let placeholder = wire::placeholder_len(rest.as_bytes());
        let escaped =
            rest.strip_prefix('{').and_then(|rest| wire::placeholder_len(rest.as_bytes()));
        match (placeholder, escaped) {
            (Some(len), _) => encoded.push_str(&rest[..len]),
            (None, Some(len)) => {
                rest[1..=len].chars().for_each(|character| push_encoded(character, &mut encoded));
            }
            (None, None) if rest.starts_with("{random:") => encoded.push(first),
            (None, None) => push_encoded(first, &mut encoded),
        }
        let len = placeholder.or(escaped.map(|len| len + 1));
        rest = &rest[len.unwrap_or(first.len_utf8())..];
    }
    encoded
}

fn push_encoded(character: char, to: &mut String) {
    if character.is_ascii_graphic() && !"\"<>\\^`{|}".contains(character) {
        to.push(character);
        return;
    }
    for byte in character.encode_utf8(&mut [0; 4]).bytes() {
        to.push_str(&format!("%{byte:02X}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, host: &str, port: u16, host_field: &str, target: &str) {
        let url = parse(text).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(url.endpoint, Endpoint::Host(host.into(), port), "{text}");
        assert_eq!((url.host_field.as_str(), url.target.as_str()), (host_field, target), "{text}");
    }

    #[test]
    fn addresses_are_read_as_people_write_them() {
        check("http://localhost:8080/hello", "localhost", 8080, "localhost:8080", "/hello");
        check("localhost:8080/x?y=z", "localhost", 8080, "localhost:8080", "/x?y=z");
        check("localhost", "localhost", 80, "localhost", "/");
        check("HTTP://Example.com", "Example.com", 80, "Example.com", "/");
        check("http://h:80/", "h", 80, "h", "/");
        check("https://h", "h", 443, "h", "/");
        check("HTTPS://h:443/x", "h", 443, "h", "/x");
        check("https://[::1]:80/", "::1", 80, "[::1]:80", "/");
        check("http://h:443/", "h", 443, "h:443", "/");
        assert!(parse("https://h").unwrap().is_secure && !parse("h:443").unwrap().is_secure);
        assert_eq!(parse("https://h:444/x").unwrap().shown(), "https://h:444/x");
        check("http://h:/", "h", 80, "h", "/");
        check("http://h?q=1#part", "h", 80, "h", "/?q=1");
        check("[::1]:8080/a", "::1", 8080, "[::1]:8080", "/a");
        check("http://[fe80::1%eth0]/", "fe80::1%eth0", 80, "[fe80::1]", "/");
        check("h/?to=http://x/", "h", 80, "h", "/?to=http://x/");
    }

    #[test]
    fn what_must_not_stand_in_a_request_line_is_encoded_and_placeholders_stay() {
        check("h/a b/é\"", "h", 80, "h", "/a%20b/%C3%A9%22");
        let shown = |text: &str| parse(text).unwrap().target;
        let filled = "/%20?v={random:8}&n={seq}&%7Bx%7D%7B";
        assert_eq!(shown("h/%20?v={random:8}&n={seq}&{{x}{"), filled);
        assert_eq!(shown("h/{random:"), "/{random:");
    }

    #[test]
    fn a_socket_in_the_file_system_has_a_form_of_its_own() {
        let url = parse("unix:/run/app.sock:/hello?a=b").unwrap();
        assert_eq!(url.endpoint, Endpoint::Unix("/run/app.sock".into()));
        assert_eq!((url.host_field.as_str(), url.target.as_str()), ("localhost", "/hello?a=b"));
        assert_eq!(parse("unix:a.sock").unwrap().target, "/");
        assert!(parse("unix:").is_err());
    }

    #[test]
    fn a_place_is_a_host_and_a_port() {
        assert_eq!(place("localhost:8080"), Ok(("localhost".into(), 8080)));
        assert_eq!(place("[::1]:80"), Ok(("::1".into(), 80)));
        for text in
            ["localhost", "", ":80", "[::1]", "h:", "h:0", "a:1:b:2", "http://h:1/", "h:1/x"]
        {
            assert!(place(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_refusal_says_how_to_write_it() {
        for (text, says) in [
            ("wss://h/", "`dyno hold` and `dyno check` take one"),
            ("ftp://h/", "`ftp` is not supported"),
            ("http://user:pw@h/", "-H 'Authorization"),
            ("::1", "in brackets"),
            ("http://[::1/", "not closed"),
            ("http://[::1]x/", "is not a port"),
            ("http://[h]/", "IPv6 address"),
            ("h/\r\nX: y", "control"),
        ] {
            let why = parse(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
        for text in ["", "/", "http://", ":80", "h:0", "h:65536", "h:8o", "h:+8", "ü.de", "a b/"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
