//! Text that others wrote, as a terminal may be given it.

/// Whether it is a control character, or one that changes the order of the characters behind it: a terminal obeys these
/// instead of showing them.
#[must_use]
pub fn is_obeyed(character: char) -> bool {
    let turns = ['\u{200e}', '\u{200f}', '\u{61c}'].contains(&character)
        || ('\u{202a}'..='\u{202e}').contains(&character)
        || ('\u{2066}'..='\u{2069}').contains(&character);
    character.is_control() || turns
}

/// A text whose control characters, and those that change the direction of text, are written out as `\u{1b}`. Line ends and
/// tabs stay as they are.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match is_obeyed(character) && !['\n', '\t'].contains(&character) {
            true => shown.extend(character.escape_unicode()),
            false => shown.push(character),
        }
    }
    shown
}

/// An address without the name and password that it may have: `http://…@host`. Without a scheme, `name:password@host` has
/// one; `ssh:name@host` is no address of a server.
#[must_use]
pub fn without_password(address: &str) -> String {
    let after_scheme = address.find("://").map(|at| at + 3);
    let (before, rest) = address.split_at(after_scheme.unwrap_or(0));
    let user = match after_scheme {
        Some(_) => user_of(rest),
        None => user_of(rest).filter(|user| user.contains(':') && !user.starts_with("ssh:")),
    };
    user.map_or_else(|| address.into(), |user| format!("{before}…{}", &rest[user.len()..]))
}

/// A text without the names and passwords of the URLs in it, whoever wrote them.
#[must_use]
pub fn without_passwords(text: &str) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("://") {
        let (before, url) = rest.split_at(at + 3);
        shown.push_str(before);
        let end = url.find(|letter: char| letter.is_whitespace() || letter == '"');
        let user = user_of(&url[..end.unwrap_or(url.len())]).unwrap_or_default();
        shown.push_str(if user.is_empty() { "" } else { "…" });
        rest = &url[user.len()..];
    }
    shown + rest
}

/// What stands before the host: all up to the last `@`, as a password may have any sign in it that should be encoded. None
/// if what comes first can be a host and a port.
fn user_of(rest: &str) -> Option<&str> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let after_host = authority.rsplit(']').next().unwrap_or_default();
    let port = after_host.rsplit_once(':').map_or("", |(_, port)| port);
    let is_port = port.starts_with('{') || port.bytes().all(|byte| byte.is_ascii_digit());
    match !authority.contains('@') && is_port {
        true => None,
        false => rest.rfind('@').map(|at| &rest[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (address, shown) in [
            ("http://ann:secret@h/x", "http://…@h/x"),
            ("nats://token@h", "nats://…@h"),
            ("http://ann:se/cr@et?#@h:80", "http://…@h:80"),
            ("ann:secret@h:80", "…@h:80"),
            ("http://h:80/@scope", "http://h:80/@scope"),
            ("http://[::1]:{port}/@scope", "http://[::1]:{port}/@scope"),
            ("ssh:ann@h", "ssh:ann@h"),
            ("ann@h", "ann@h"),
            ("", ""),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }

    #[test]
    fn a_text_is_shown_without_the_passwords_in_it() {
        let text =
            "`http://ann:secret@h/` and 'ws://b:se/cret@h:1/', not http://h/ or ann@h: a://b@c";
        let shown = "`http://…@h/` and 'ws://…@h:1/', not http://h/ or ann@h: a://…@c";
        assert_eq!(without_passwords(text), shown);
        let lines = "{\"url\":\"http://h:80\",\"from\":\"ann@h\"}";
        assert_eq!(without_passwords(lines), lines);
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(visible("a\x1b[2J\0\nb\u{202e}c\té…"), "a\\u{1b}[2J\\u{0}\nb\\u{202e}c\té…");
    }
}
