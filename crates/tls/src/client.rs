//! From an order to connections that speak TLS.

use std::fmt;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::ServerCertVerifier;
use rustls::client::{ClientConnection, Resumption, UnbufferedClientConnection};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, SupportedProtocolVersion};
use serde::{Deserialize, Serialize};

use crate::choice::provider;
use crate::order::{Resume, TlsOrder, Version};
use crate::sessions::{Sessions, Store};
use crate::stream::Stream;
use crate::trust::verifier;

/// An order that can be carried out: its names are known and its authorities are read. It is written as its order; who
/// reads that trusts the authorities of its own system, if the order says so.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "TlsOrder", into = "TlsOrder")]
pub struct Client {
    order: Arc<TlsOrder>,
    name: ServerName<'static>,
    provider: Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("order", &self.order).finish_non_exhaustive()
    }
}

/// RFC 7301, 3.1.
const ALPN_MAX: usize = 255;

impl TryFrom<TlsOrder> for Client {
    type Error = String;

    fn try_from(order: TlsOrder) -> Result<Client, String> {
        Client::new(&order)
    }
}

impl From<Client> for TlsOrder {
    fn from(client: Client) -> TlsOrder {
        (*client.order).clone()
    }
}

impl Client {
    /// Reads the authorities, or says why there can be no TLS, and the way out.
    pub fn new(order: &TlsOrder) -> Result<Client, String> {
        let name = name(&order.host)?;
        if !(1..=ALPN_MAX).contains(&order.offer.alpn.len()) {
            return Err(format!("a name for ALPN has from 1 to {ALPN_MAX} octets"));
        }
        let provider = Arc::new(provider(&order.offer.suites, &order.offer.groups)?);
        let verifier = verifier(&order.trust, &provider)?;
        let client = Client { order: order.clone().into(), name, provider, verifier };
        client.config().map_err(|_| {
            let version = order.offer.version.map_or("1.2 or 1.3", Version::name);
            format!("none of the suites that are to be offered belongs to TLS {version}")
        })?;
        Ok(client)
    }

    #[must_use]
    pub fn order(&self) -> &TlsOrder {
        &self.order
    }

    /// A client that offers only this name by ALPN.
    #[must_use]
    pub fn with_alpn(&self, alpn: &str) -> Client {
        let mut order = (*self.order).clone();
        order.offer.alpn = alpn.into();
        Client { order: Arc::new(order), ..self.clone() }
    }

    /// Begins connections of one thread, which resume one another's sessions and no other thread's.
    #[must_use]
    pub fn connector(&self) -> Connector {
        let sessions = Sessions::default();
        let config = self.config().expect("the same order was accepted before");
        // A session belongs to the parts that all copies of a configuration share.
        let (mut full, mut resuming) = (config.clone(), config);
        if self.order.offer.resume != Resume::NEVER {
            let store =
                |gives| Resumption::store(Arc::new(Store { sessions: sessions.clone(), gives }));
            (full.resumption, resuming.resumption) = (store(false), store(true));
        }
        Connector {
            full: Arc::new(full),
            resuming: Arc::new(resuming),
            name: self.name.clone(),
            percent: self.order.offer.resume.percent(),
            owed: 0,
        }
    }

    /// TLS on a connection on which each answer is waited for. Its handshake is done, within this time.
    pub fn stream(&self, socket: TcpStream, limit: Duration) -> std::io::Result<Stream> {
        let config = self.config().map_err(std::io::Error::other)?;
        let connection = ClientConnection::new(Arc::new(config), self.name.clone());
        Stream::secured(
            connection.map_err(std::io::Error::other)?,
            socket,
            &self.order.offer.alpn,
            limit,
        )
    }

    fn config(&self) -> Result<ClientConfig, rustls::Error> {
        let versions: &[&SupportedProtocolVersion] = match self.order.offer.version {
            None => rustls::ALL_VERSIONS,
            Some(Version::V1_2) => &[&rustls::version::TLS12],
            Some(Version::V1_3) => &[&rustls::version::TLS13],
        };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&self.provider));
        let mut config = builder
            .with_protocol_versions(versions)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&self.verifier))
            .with_no_client_auth();
        config.alpn_protocols = vec![self.order.offer.alpn.clone().into_bytes()];
        config.resumption = Resumption::disabled();
        Ok(config)
    }
}

/// RFC 6066, 3: a name without its final dot; an address is verified, and not sent.
fn name(host: &str) -> Result<ServerName<'static>, String> {
    let host = host.split('%').next().unwrap_or_default();
    let bare = host.strip_suffix('.').unwrap_or(host);
    ServerName::try_from(bare.to_string()).map_err(|_| {
        format!("`{}` is not a host name that a certificate may have", host.escape_debug())
    })
}

/// Begins connections, full ones and resumed ones in the proportion that was ordered.
#[derive(Debug)]
pub struct Connector {
    full: Arc<ClientConfig>,
    resuming: Arc<ClientConfig>,
    name: ServerName<'static>,
    percent: u8,
    /// Hundredths of a resumed connection that are due.
    owed: u8,
}

impl Connector {
    /// The next connection, and whether it is meant to resume a session.
    pub fn connect(&mut self) -> Result<(UnbufferedClientConnection, bool), rustls::Error> {
        self.owed += self.percent;
        let resumes = 100 <= self.owed;
        if resumes {
            self.owed -= 100;
        }
        let config = if resumes { &self.resuming } else { &self.full };
        let connection = UnbufferedClientConnection::new(Arc::clone(config), self.name.clone())?;
        Ok((connection, resumes))
    }
}
