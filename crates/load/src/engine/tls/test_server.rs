//! A server that speaks TLS on a simulated network, and certificates for it.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::sync::{Arc, OnceLock};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use tls::rustls::crypto::CryptoProvider;
use tls::rustls::crypto::ring::default_provider;
use tls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tls::rustls::{ServerConfig, ServerConnection};
use tls::{Client, TlsOrder, Trust};

use crate::Nanos;
use crate::engine::{Act, Conn, Peer};

/// A certificate, and its key.
pub(crate) type Signed = (CertificateDer<'static>, Vec<u8>);

/// An authority and what it has signed for the host `h`.
pub(crate) struct Made {
    /// PEM.
    pub(crate) authority: String,
    pub(crate) good: Signed,
    expired: Signed,
}

/// Made once for all tests.
pub(crate) fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&key).unwrap();
        let issuer = Issuer::new(params, key);
        let mut expired = CertificateParams::new(vec!["h".into()]).unwrap();
        expired.not_before = date_time_ymd(2001, 1, 1);
        expired.not_after = date_time_ymd(2002, 1, 1);
        let good = CertificateParams::new(vec!["h".into()]).unwrap();
        Made {
            authority: authority.pem(),
            good: signed(&good, &issuer),
            expired: signed(&expired, &issuer),
        }
    })
}

fn signed(params: &CertificateParams, issuer: &Issuer<'_, KeyPair>) -> Signed {
    let key = KeyPair::generate().unwrap();
    let signed = params.signed_by(&key, issuer).unwrap();
    (signed.der().clone(), key.serialize_der())
}

/// A client of the host `h` that believes the authority.
pub(crate) fn order() -> TlsOrder {
    TlsOrder { trust: Trust::Given(made().authority.clone()), ..TlsOrder::to("h") }
}

pub(crate) fn client(change: impl FnOnce(&mut TlsOrder)) -> Client {
    let mut order = order();
    change(&mut order);
    Client::new(&order).unwrap()
}

/// A server with a certificate that is good, or that has expired.
pub(crate) fn config(is_expired: bool) -> ServerConfig {
    let made = made();
    let signed = if is_expired { &made.expired } else { &made.good };
    let mut config = presenting(default_provider(), signed);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

/// A server that presents this, and knows no names of protocols.
pub(crate) fn presenting(provider: CryptoProvider, (certificate, key): &Signed) -> ServerConfig {
    ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], PrivateKeyDer::Pkcs8(key.clone().into()))
        .unwrap()
}

/// What a server sends at once; it has sent `nth` such flights before on this connection.
pub(crate) struct Flight {
    pub(crate) at: Nanos,
    pub(crate) conn: Conn,
    pub(crate) nth: u32,
    pub(crate) bytes: Vec<u8>,
}

/// Sends it whole after this delay.
pub(crate) fn after(delay: Nanos) -> impl FnMut(Flight) -> Vec<(Nanos, Act)> {
    move |flight| vec![(flight.at + delay, Act::Send(flight.bytes))]
}

/// A server that answers each request with `answer`; `send` may change what leaves.
pub(crate) fn peer(
    config: ServerConfig,
    answer: &'static [u8],
    mut send: impl FnMut(Flight) -> Vec<(Nanos, Act)> + 'static,
) -> Peer {
    let config = Arc::new(config);
    let mut all: HashMap<(Conn, u32), (ServerConnection, Vec<u8>, u32)> = HashMap::new();
    Box::new(move |at, conn, era, bytes| {
        let new = || {
            let mut server = ServerConnection::new(Arc::clone(&config)).unwrap();
            server.set_buffer_limit(None);
            (server, Vec::new(), 0)
        };
        let (server, request, nth) = all.entry((conn, era)).or_insert_with(new);
        let mut rest = bytes;
        while !rest.is_empty() && 0 < server.read_tls(&mut rest).unwrap() {
            // If it fails, its alert is to be sent.
            if server.process_new_packets().is_err() {
                break;
            }
            let _ = server.reader().read_to_end(request);
        }
        while let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") {
            request.drain(..end + 4);
            server.writer().write_all(answer).unwrap();
        }
        let mut out = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut out).unwrap();
        }
        if out.is_empty() {
            return Vec::new();
        }
        *nth += 1;
        send(Flight { at, conn, nth: *nth - 1, bytes: out })
    })
}
