//! TLS around a connection: rustls does what is right, and what is wrong is done around it.

mod forge;
mod identity;
mod session;

use std::fmt;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::{Ticketer, default_provider, kx_group};
use rustls::server::NoServerSessionStorage;
use rustls::{ServerConfig, SupportedProtocolVersion, version};

use crate::delays::Delay;
use crate::faults::Fault;
use crate::faults::twist::{Setup, Twist};
use crate::{Config, HttpVersions, Listen};
use forge::{Forgery, forging};
use identity::{Authority, Identity, Made};

pub(crate) use session::{Shaken, Tls};

/// How an oracle speaks TLS.
#[derive(Clone, Debug)]
pub struct TlsConfig {
    /// A chain of certificates and its key, as PEM; without it, both are made at the start.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
    pub versions: TlsVersions,
    /// How many tickets a client gets for its next connection; with none, no session is resumed.
    pub tickets: usize,
    /// The least that the chain of certificates has, in bytes; it is filled up with one that is of no use.
    pub chain_bytes: usize,
    /// The law of the time between the client's first message and the server's.
    pub delay: Option<Delay>,
}

impl Default for TlsConfig {
    fn default() -> TlsConfig {
        TlsConfig {
            identity: None,
            versions: TlsVersions::Both,
            tickets: 2,
            chain_bytes: 0,
            delay: None,
        }
    }
}

/// Which versions of TLS are spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersions {
    #[default]
    Both,
    Tls12,
    Tls13,
}

impl TlsVersions {
    fn of_rustls(self) -> Vec<&'static SupportedProtocolVersion> {
        match self {
            TlsVersions::Both => vec![&version::TLS13, &version::TLS12],
            TlsVersions::Tls12 => vec![&version::TLS12],
            TlsVersions::Tls13 => vec![&version::TLS13],
        }
    }
}

/// Why there is no TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TlsError {
    /// The chain of certificates cannot be read.
    Certificate(String),
    /// The key cannot be read.
    Key(String),
    /// Both can be read, and are refused: they do not belong together, or are of no use here.
    Pair,
    /// No certificate could be made.
    Made(String),
}

impl TlsError {
    fn make(error: impl fmt::Display) -> TlsError {
        TlsError::Made(error.to_string())
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::Certificate(why) => write!(f, "the certificate cannot be read: {why}"),
            TlsError::Key(why) => write!(f, "the key cannot be read: {why}"),
            TlsError::Pair => {
                write!(
                    f,
                    "this certificate and this key do not go together, or are of a kind that is not supported"
                )
            }
            TlsError::Made(why) => write!(f, "no certificate could be made: {why}"),
        }
    }
}

impl std::error::Error for TlsError {}

/// What all connections share.
pub(crate) struct Secured {
    right: Arc<ServerConfig>,
    /// For connections that a fault strikes.
    twisted: Option<(Arc<ServerConfig>, &'static Twist)>,
    pub(crate) fault: Option<Fault>,
    pub(crate) delay: Option<Delay>,
    /// The authority to trust, if it was made here.
    pub(crate) authority_pem: Option<String>,
}

impl fmt::Debug for Secured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secured").field("fault", &self.fault).finish_non_exhaustive()
    }
}

impl Secured {
    pub(crate) fn new(tls: &TlsConfig, config: &Config) -> Result<Secured, TlsError> {
        let authority = Authority::make("dyno serve: an authority of its own")?;
        let address = match &config.listen {
            Listen::Tcp(address) => Some(address.ip()),
            Listen::Unix(_) => None,
        };
        let set_up = |setup| {
            let mut identity = identity(tls, &authority, address, setup)?;
            identity.lengthen(tls.chain_bytes)?;
            server(tls, config.http, identity, setup).map(Arc::new)
        };
        let fault = config.fault.filter(|fault| fault.twist().is_some());
        let twist = fault.and_then(|fault| fault.twist());
        let twisted = twist.map(|twist| Ok((set_up(twist.setup)?, twist))).transpose()?;
        let authority_pem = tls.identity.is_none().then(|| authority.pem());
        Ok(Secured {
            right: set_up(Setup::Right)?,
            twisted,
            fault,
            delay: tls.delay,
            authority_pem,
        })
    }

    /// A new connection's half of TLS.
    pub(crate) fn begin(&self, is_struck: bool) -> Option<Box<Tls>> {
        let struck = self.twisted.as_ref().filter(|_| is_struck);
        let (server, twist) = match struck {
            Some((server, twist)) => (server, Some(*twist)),
            None => (&self.right, None),
        };
        Tls::begin(Arc::clone(server), twist).map(Box::new)
    }
}

fn identity(
    tls: &TlsConfig,
    authority: &Authority,
    address: Option<std::net::IpAddr>,
    setup: Setup,
) -> Result<Identity, TlsError> {
    let mut identity = match (setup, &tls.identity) {
        (Setup::ExpiredCertificate, _) => authority.sign(address, Made::Expired)?,
        (Setup::OtherName, _) => authority.sign(address, Made::OtherName)?,
        (Setup::OtherAuthority, _) => {
            Authority::make("dyno serve: another authority")?.sign(address, Made::Right)?
        }
        (_, Some((chain, key))) => Identity::read(chain, key)?,
        (_, None) => authority.sign(address, Made::Right)?,
    };
    if let Setup::LongChain(bytes) = setup {
        identity.lengthen(bytes)?;
    }
    Ok(identity)
}

fn server(
    tls: &TlsConfig,
    http: HttpVersions,
    identity: Identity,
    setup: Setup,
) -> Result<ServerConfig, TlsError> {
    let provider = match setup {
        Setup::ForgedProtocol => forging(Forgery::Protocol),
        Setup::ForgedAlert => forging(Forgery::Alert),
        Setup::Forging | Setup::OnlyTls12 => forging(Forgery::None),
        Setup::HelloRetry => {
            Arc::new(CryptoProvider { kx_groups: vec![kx_group::SECP384R1], ..default_provider() })
        }
        _ => Arc::new(default_provider()),
    };
    let versions = match setup {
        Setup::OnlyTls12 => TlsVersions::Tls12,
        // Only there are these messages encrypted, and so only there can they be forged.
        Setup::ForgedProtocol | Setup::ForgedAlert | Setup::HelloRetry => TlsVersions::Tls13,
        _ => tls.versions,
    };
    let builder = ServerConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&versions.of_rustls()).map_err(TlsError::make)?;
    let builder = builder.with_no_client_auth().with_single_cert(identity.chain, identity.key);
    let mut server = builder.map_err(|_| TlsError::Pair)?;
    server.alpn_protocols = match (setup, http) {
        (Setup::NoProtocol, _) => vec![],
        (Setup::OtherProtocol, _) => vec![b"dyno/0".to_vec()],
        (_, HttpVersions::Http1) => vec![b"http/1.1".to_vec()],
        (_, HttpVersions::Http2) => vec![b"h2".to_vec()],
        (_, HttpVersions::Both) => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
    };
    server.send_tls13_tickets = tls.tickets;
    // Tickets hold the whole session, so that any number of clients can resume theirs.
    server.session_storage = Arc::new(NoServerSessionStorage {});
    if tls.tickets > 0 {
        server.ticketer = Ticketer::new().map_err(TlsError::make)?;
    }
    server.max_fragment_size = (setup == Setup::SmallRecords).then_some(32);
    Ok(server)
}
