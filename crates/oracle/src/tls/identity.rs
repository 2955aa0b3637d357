//! The server's identity: a certificate made at the start, or one from files.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::TlsError;

/// An object identifier without a meaning: under it a certificate carries what makes it long.
const PADDING: &[u64] = &[2, 25, 1];
/// By how many bytes two signatures may differ in length.
const SIGNATURE_VARIES: usize = 8;

/// A chain of certificates, the server's own first, and its key.
pub(super) struct Identity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
}

/// An authority that exists as long as the server does.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: CertificateDer<'static>,
}

/// How a made certificate departs from a right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    Right,
    Expired,
    OtherName,
}

impl Authority {
    pub(super) fn make(name: &str) -> Result<Authority, TlsError> {
        let mut params = params(name, &[])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().map_err(TlsError::make)?;
        let certificate = params.self_signed(&key).map_err(TlsError::make)?.der().clone();
        Ok(Authority { issuer: Issuer::new(params, key), certificate })
    }

    pub(super) fn pem(&self) -> String {
        let text = STANDARD.encode(&self.certificate);
        let lines: Vec<&str> =
            (0..text.len()).step_by(64).map(|at| &text[at..text.len().min(at + 64)]).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    }

    /// A certificate for this machine's own names, and for the address that is listened on.
    pub(super) fn sign(&self, address: Option<IpAddr>, made: Made) -> Result<Identity, TlsError> {
        let mut names = match made {
            Made::Right | Made::Expired => {
                ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec()
            }
            Made::OtherName => vec!["elsewhere.example".to_owned()],
        };
        let address = address.filter(|ip| !ip.is_unspecified() && made != Made::OtherName);
        names.extend(address.map(|ip| ip.to_string()));
        names.sort_unstable();
        names.dedup();
        let mut params = params("dyno serve", &names)?;
        if made == Made::Expired {
            params.not_after = date_time_ymd(2021, 1, 1);
        }
        let key = KeyPair::generate().map_err(TlsError::make)?;
        let certificate = params.signed_by(&key, &self.issuer).map_err(TlsError::make)?;
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(TlsError::make)?;
        Ok(Identity { chain: vec![certificate.der().clone()], key })
    }
}

fn params(name: &str, names: &[String]) -> Result<CertificateParams, TlsError> {
    let mut params = CertificateParams::new(names).map_err(TlsError::make)?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2120, 1, 1);
    Ok(params)
}

impl Identity {
    /// Reads a chain and a key as PEM.
    pub(super) fn read(chain: &[u8], key: &[u8]) -> Result<Identity, TlsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let chain = chain.map_err(|error| TlsError::Certificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(TlsError::Certificate("it has no certificate in PEM form".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| {
            TlsError::Key(match error {
                pem::Error::NoItemsFound => "it has no private key in PEM form".to_owned(),
                error => error.to_string(),
            })
        })?;
        Ok(Identity { chain, key })
    }

    /// Adds a certificate that is of no use, so that the chain has about this many bytes.
    pub(super) fn lengthen(&mut self, bytes: usize) -> Result<(), TlsError> {
        let so_far: usize = self.chain.iter().map(|certificate| certificate.len()).sum();
        if so_far < bytes {
            let bare = padding(0)?.len();
            self.chain.push(padding((bytes + SIGNATURE_VARIES).saturating_sub(so_far + bare))?);
        }
        Ok(())
    }
}

/// A certificate that is of no use, with so many octets of nothing.
fn padding(octets: usize) -> Result<CertificateDer<'static>, TlsError> {
    let mut params = params("dyno serve: padding", &[])?;
    params.custom_extensions = vec![CustomExtension::from_oid_content(PADDING, vec![0; octets])];
    let key = KeyPair::generate().map_err(TlsError::make)?;
    Ok(params.self_signed(&key).map_err(TlsError::make)?.der().clone())
}
