//! The handshake: which requests ask for a WebSocket correctly, and the proof that the oracle read one. RFC 6455, 4.2.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

use crate::faults::Change;
use crate::request::{Head, Version, list, trimmed};

/// `Sec-WebSocket-Accept`: SHA-1 in base64.
pub(crate) type Accept = [u8; 28];

/// Why there is no handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disagreement {
    /// No WebSocket was requested, or not one of the supported version: 426.
    UpgradeNeeded,
    /// The request for it was wrong: 400.
    Wrong(&'static str),
}

/// The result for a GET that asks for a WebSocket.
pub(crate) fn accept(head: &Head<'_>) -> Result<Accept, Disagreement> {
    // RFC 9110, 7.8: a client that uses HTTP/1.0 has not asked for an upgrade.
    if head.version == Version::Http10 || !says(head, b"upgrade", b"websocket") {
        return Err(Disagreement::UpgradeNeeded);
    }
    if !says(head, b"connection", b"upgrade") {
        return Err(Disagreement::Wrong("Upgrade without Connection: upgrade\n"));
    }
    if !values(head, b"sec-websocket-version").eq([b"13"]) {
        return Err(Disagreement::UpgradeNeeded);
    }
    let mut keys = values(head, b"sec-websocket-key");
    match (keys.next(), keys.next()) {
        (Some(key), None) if is_key(key) => Ok(proof(key)),
        (Some(_), None) => {
            Err(Disagreement::Wrong("Sec-WebSocket-Key is not 16 bytes in base64\n"))
        }
        _ => Err(Disagreement::Wrong("Sec-WebSocket-Key must stand there once\n")),
    }
}

/// The header lines of a handshake's answer: RFC 6455, 4.2.2.
pub(crate) fn push_agreement(accept: &Accept, change: Change, out: &mut Vec<u8>) {
    if !matches!(change, Change::NoUpgrade) {
        out.extend_from_slice(b"Upgrade: websocket\r\nConnection: Upgrade\r\n");
    }
    if !matches!(change, Change::NoAccept) {
        out.extend_from_slice(b"Sec-WebSocket-Accept: ");
        out.extend_from_slice(accept);
        if matches!(change, Change::OtherAccept) {
            let last = out.len() - accept.len();
            out[last..].rotate_left(1);
        }
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
}

/// Whether a list field has this member.
fn says(head: &Head<'_>, name: &[u8], token: &[u8]) -> bool {
    values(head, name).flat_map(list).any(|member| member.eq_ignore_ascii_case(token))
}

/// The values of the fields of this name.
fn values<'a>(head: &Head<'a>, name: &[u8]) -> impl Iterator<Item = &'a [u8]> {
    let lines = head.fields.split(|byte| *byte == b'\n');
    lines.filter_map(move |line| {
        let colon = name.len();
        let is_named = line.get(colon) == Some(&b':') && line[..colon].eq_ignore_ascii_case(name);
        is_named.then(|| trimmed(line[colon + 1..].strip_suffix(b"\r").unwrap_or_default()))
    })
}

fn is_key(key: &[u8]) -> bool {
    STANDARD.decode(key).is_ok_and(|bytes| bytes.len() == 16)
}

fn proof(key: &[u8]) -> Accept {
    const RFC_6455: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    let hash = Sha1::new().chain_update(key).chain_update(RFC_6455).finalize();
    let mut accept = [0; 28];
    STANDARD.encode_slice(hash, &mut accept).expect("20 bytes are 28 in base64");
    accept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::head;

    const KEY: &str = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const VERSION: &str = "Sec-WebSocket-Version: 13\r\n";

    fn asked(version: &str, fields: &str) -> Result<String, Disagreement> {
        let text = format!("\r\nGET /wsecho {version}\r\nHost: h\r\n{fields}\r\n");
        let head = head(text.as_bytes()).unwrap().unwrap();
        accept(&head).map(|accept| String::from_utf8(accept.to_vec()).unwrap())
    }

    #[test]
    fn the_rfc_s_own_handshake_has_the_rfc_s_own_answer() {
        let accepted = Ok("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".to_owned());
        let fields = format!("Upgrade: websocket\r\nConnection: Upgrade\r\n{KEY}{VERSION}");
        assert_eq!(asked("HTTP/1.1", &fields), accepted);
        let fields = format!(
            "{VERSION}{KEY}X: y\r\nUPGRADE: other, WebSocket\r\nConnection:\r\nConnection: keep-alive ,\tupgrade\r\n\
             Sec-WebSocket-Extensions: permessage-deflate\r\n"
        );
        assert_eq!(asked("HTTP/1.1", &fields), accepted);
    }

    #[test]
    fn a_client_that_names_no_version_or_another_is_answered_with_ours() {
        let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
        let needed = Err(Disagreement::UpgradeNeeded);
        assert_eq!(asked("HTTP/1.1", ""), needed);
        assert_eq!(asked("HTTP/1.0", &format!("{upgrade}{KEY}{VERSION}")), needed);
        assert_eq!(asked("HTTP/1.1", &format!("{upgrade}{KEY}")), needed);
        for version in ["8", "13, 8", "013", ""] {
            let version = format!("Sec-WebSocket-Version: {version}\r\n");
            assert_eq!(asked("HTTP/1.1", &format!("{upgrade}{KEY}{version}")), needed);
        }
        let h2c = "Upgrade: h2c\r\nConnection: Upgrade\r\n";
        assert_eq!(asked("HTTP/1.1", &format!("{h2c}{KEY}{VERSION}")), needed);
        assert_eq!(asked("HTTP/1.1", &format!("{upgrade}{KEY}{VERSION}{VERSION}")), needed);
    }

    #[test]
    fn a_key_is_16_bytes_in_base64_and_stands_once() {
        let with = |rest: &str| {
            let fields = format!("Upgrade: websocket\r\nConnection: Upgrade\r\n{VERSION}{rest}");
            asked("HTTP/1.1", &fields)
        };
        let is_wrong = |rest: &str| matches!(with(rest), Err(Disagreement::Wrong(_)));
        assert!(is_wrong("") && is_wrong(&format!("{KEY}{KEY}")));
        for key in ["", "x", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZSE=", "====", "a, b"] {
            assert!(is_wrong(&format!("Sec-WebSocket-Key: {key}\r\n")), "{key}");
        }
        let fields = format!("Upgrade: websocket\r\n{VERSION}{KEY}");
        assert!(matches!(asked("HTTP/1.1", &fields), Err(Disagreement::Wrong(_))));
    }
}
