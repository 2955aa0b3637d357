//! The handshake: what a server must send before a connection is a WebSocket. RFC 6455, 4.1.

use std::mem::MaybeUninit;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

use crate::fault::WireFault;
use crate::h1::Limits;
use crate::held::{HeldError, HeldFault};

/// The nonce that a server must prove to have read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Key([u8; 16]);

impl Key {
    pub(super) fn of([one, other]: [u64; 2]) -> Key {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&one.to_le_bytes());
        bytes[8..].copy_from_slice(&other.to_le_bytes());
        Key(bytes)
    }

    pub(super) fn text(self) -> String {
        STANDARD.encode(self.0)
    }

    /// The answer to it, which only a server that speaks WebSocket gives.
    pub(super) fn accept(self) -> String {
        accept(&self.text())
    }
}

/// The answer to a key.
fn accept(key: &str) -> String {
    const RFC_6455: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    STANDARD.encode(Sha1::new().chain_update(key).chain_update(RFC_6455).finalize())
}

/// Whether a whole head agrees to the handshake.
pub(super) fn agreed(head: &[u8], key: Key, limits: &Limits) -> Result<(), HeldError> {
    let mut fields = [const { MaybeUninit::uninit() }; 128];
    let fields = &mut fields[..limits.fields.min(128)];
    let mut response = httparse::Response::new(&mut []);
    httparse::ParserConfig::default()
        .parse_response_with_uninit_headers(&mut response, head, fields)
        .map_err(crate::h1::fault)?;
    if response.version != Some(1) {
        return Err(WireFault::Version.into());
    }
    if response.code != Some(101) {
        return Err(HeldFault::NotSwitched.into());
    }
    let fields = &*response.headers;
    let has = |name, token| values(fields, name).any(|value| value.eq_ignore_ascii_case(token));
    if !has("upgrade", b"websocket") || !has("connection", b"upgrade") {
        return Err(HeldFault::NoUpgrade.into());
    }
    let answers =
        || fields.iter().filter(|field| field.name.eq_ignore_ascii_case("sec-websocket-accept"));
    let is_right =
        |field: &httparse::Header<'_>| field.value.trim_ascii() == key.accept().as_bytes();
    if answers().count() != 1 || !answers().all(is_right) {
        return Err(HeldFault::BadAccept.into());
    }
    let not_offered = ["sec-websocket-extensions", "sec-websocket-protocol"];
    if not_offered.iter().any(|name| values(fields, name).next().is_some()) {
        return Err(HeldFault::NotOffered.into());
    }
    Ok(())
}

/// The members of a list field that are not empty.
fn values<'h>(fields: &'h [httparse::Header<'h>], name: &'h str) -> impl Iterator<Item = &'h [u8]> {
    let named = fields.iter().filter(move |field| field.name.eq_ignore_ascii_case(name));
    let members = named.flat_map(|field| field.value.split(|&byte| byte == b','));
    members.map(<[u8]>::trim_ascii).filter(|member| !member.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rfc_s_own_key_has_the_rfc_s_own_answer() {
        assert_eq!(accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }
}
