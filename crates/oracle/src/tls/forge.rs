//! Encryption that can lie: a record that begins with a mark leaves as a record of another type, and messages of the
//! handshake are changed before they are encrypted.

use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::crypto::cipher::{
    AeadKey, Iv, KeyBlockShape, MessageDecrypter, MessageEncrypter, OutboundChunks,
    OutboundOpaqueMessage, OutboundPlainMessage, Tls12AeadAlgorithm, Tls13AeadAlgorithm,
    UnsupportedOperationError,
};
use rustls::{
    CipherSuiteCommon, ConnectionTrafficSecrets, ContentType, Error, SupportedCipherSuite,
    Tls12CipherSuite, Tls13CipherSuite,
};

/// What begins a record that leaves as one of another type; the type follows.
const MARK: &[u8] = b"\0forged by the oracle\0";
/// Fatal, internal_error.
const ALERT: &[u8] = &[2, 80];

/// How messages of the handshake are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forgery {
    None,
    /// The protocol that the server selects.
    Protocol,
    /// The first encrypted message is an alert.
    Alert,
}

/// A record of this type, as it is to be written.
pub(super) fn marked(kind: u8, payload: &[u8]) -> Vec<u8> {
    [MARK, &[kind], payload].concat()
}

/// These algorithms, with a forger before each. The suites live as long as the program, as rustls demands.
pub(super) fn provider(right: CryptoProvider, forgery: Forgery) -> CryptoProvider {
    let suites = right.cipher_suites.iter().map(|suite| forged(*suite, forgery)).collect();
    CryptoProvider { cipher_suites: suites, ..right }
}

fn forged(suite: SupportedCipherSuite, forgery: Forgery) -> SupportedCipherSuite {
    let common = |of: &CipherSuiteCommon| CipherSuiteCommon {
        suite: of.suite,
        hash_provider: of.hash_provider,
        confidentiality_limit: of.confidentiality_limit,
    };
    match suite {
        SupportedCipherSuite::Tls13(suite) => {
            let aead_alg: &'static dyn Tls13AeadAlgorithm =
                Box::leak(Box::new(Forger13 { right: suite.aead_alg, forgery }));
            SupportedCipherSuite::Tls13(Box::leak(Box::new(Tls13CipherSuite {
                common: common(&suite.common),
                hkdf_provider: suite.hkdf_provider,
                aead_alg,
                quic: None,
            })))
        }
        SupportedCipherSuite::Tls12(suite) => {
            let aead_alg: &'static dyn Tls12AeadAlgorithm =
                Box::leak(Box::new(Forger12 { right: suite.aead_alg, forgery }));
            SupportedCipherSuite::Tls12(Box::leak(Box::new(Tls12CipherSuite {
                common: common(&suite.common),
                prf_provider: suite.prf_provider,
                kx: suite.kx,
                sign: suite.sign,
                aead_alg,
            })))
        }
    }
}

struct Forger13 {
    right: &'static dyn Tls13AeadAlgorithm,
    forgery: Forgery,
}

impl Tls13AeadAlgorithm for Forger13 {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        Box::new(Forger { right: self.right.encrypter(key, iv), forgery: self.forgery })
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        self.right.decrypter(key, iv)
    }

    fn key_len(&self) -> usize {
        self.right.key_len()
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: Iv,
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        self.right.extract_keys(key, iv)
    }
}

struct Forger12 {
    right: &'static dyn Tls12AeadAlgorithm,
    forgery: Forgery,
}

impl Tls12AeadAlgorithm for Forger12 {
    fn encrypter(&self, key: AeadKey, iv: &[u8], extra: &[u8]) -> Box<dyn MessageEncrypter> {
        Box::new(Forger { right: self.right.encrypter(key, iv, extra), forgery: self.forgery })
    }

    fn decrypter(&self, key: AeadKey, iv: &[u8]) -> Box<dyn MessageDecrypter> {
        self.right.decrypter(key, iv)
    }

    fn key_block_shape(&self) -> KeyBlockShape {
        self.right.key_block_shape()
    }

    fn extract_keys(
        &self,
        key: AeadKey,
        iv: &[u8],
        explicit: &[u8],
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        self.right.extract_keys(key, iv, explicit)
    }
}

struct Forger {
    right: Box<dyn MessageEncrypter>,
    forgery: Forgery,
}

impl MessageEncrypter for Forger {
    fn encrypt(
        &mut self,
        said: OutboundPlainMessage<'_>,
        number: u64,
    ) -> Result<OutboundOpaqueMessage, Error> {
        let octets = said.payload.to_vec();
        let (kind, octets) = match (said.typ, self.forgery) {
            (ContentType::ApplicationData, _) => match octets.strip_prefix(MARK) {
                Some([kind, payload @ ..]) => (ContentType::from(*kind), payload.to_vec()),
                _ => (said.typ, octets),
            },
            (ContentType::Handshake, Forgery::Protocol) => (said.typ, other_protocol(octets)),
            (ContentType::Handshake, Forgery::Alert) => (ContentType::Alert, ALERT.to_vec()),
            (kind, _) => (kind, octets),
        };
        let payload = OutboundChunks::Single(&octets);
        self.right
            .encrypt(OutboundPlainMessage { typ: kind, version: said.version, payload }, number)
    }

    fn encrypted_payload_len(&self, length: usize) -> usize {
        self.right.encrypted_payload_len(length)
    }
}

/// Replaces the protocol that the message selects by one that no client offers.
fn other_protocol(mut octets: Vec<u8>) -> Vec<u8> {
    for (right, other) in [(&b"\x02h2"[..], &b"\x02h9"[..]), (b"\x08http/1.1", b"\x08http/9.9")] {
        if let Some(at) = memchr::memmem::find(&octets, right) {
            octets[at..at + other.len()].copy_from_slice(other);
        }
    }
    octets
}

/// For the setups that forge nothing in the handshake, and for those that do.
pub(super) fn forging(forgery: Forgery) -> Arc<CryptoProvider> {
    Arc::new(provider(rustls::crypto::ring::default_provider(), forgery))
}
