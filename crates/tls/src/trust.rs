//! Which certificates are accepted: those that the system's authorities have signed, or those of a file, or all.

use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::fault::is_authority;
use crate::order::Trust;

/// Where Linux distributions keep all authorities in one file: Debian, Fedora, openSUSE, Alpine, and older Fedoras.
const SYSTEM: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
];

/// The authorities in a PEM text, or what is wrong with it.
pub fn authorities(text: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let found = found.map_err(|error| format!("it is no PEM file that can be read: {error}"))?;
    if found.is_empty() {
        return Err("it has no certificate in PEM form (-----BEGIN CERTIFICATE-----); \
                    `openssl x509 -inform der -in FILE` writes one from DER"
            .into());
    }
    for (place, one) in found.iter().enumerate() {
        if let Err(error) = RootCertStore::empty().add(one.clone()) {
            return Err(format!("certificate {} in it cannot be used: {error}", place + 1));
        }
    }
    Ok(found)
}

/// A system's file may have some that cannot be used.
fn of_the_system() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for path in SYSTEM.map(Path::new) {
        if let Ok(found) = CertificateDer::pem_file_iter(path) {
            roots.add_parsable_certificates(found.flatten());
        }
        if !roots.is_empty() {
            return Ok(roots);
        }
    }
    Err(format!(
        "this system has no file of certificate authorities ({} and others); install \
         ca-certificates, or give --ca FILE, or -k",
        SYSTEM[0]
    ))
}

/// Judges certificates as `trust` says.
pub(crate) fn verifier(
    trust: &Trust,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, String> {
    let provider = Arc::clone(provider);
    let (roots, given) = match trust {
        Trust::All => return Ok(Arc::new(Verifier { provider, chains: None, given: Vec::new() })),
        Trust::System => (of_the_system()?, Vec::new()),
        Trust::Given(text) => {
            let given = authorities(text)?;
            let mut roots = RootCertStore::empty();
            given.iter().try_for_each(|one| roots.add(one.clone())).map_err(|it| it.to_string())?;
            (roots, given)
        }
    };
    let builder = WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::clone(&provider));
    let chains = Some(builder.build().map_err(|error| error.to_string())?);
    Ok(Arc::new(Verifier { provider, chains, given }))
}

/// Verifies the chain up to an authority. A server may also present one of the given certificates itself, as one that
/// `openssl req -x509` made does.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// None believes every certificate; that the server has its key is verified all the same, as curl -k does.
    chains: Option<Arc<WebPkiServerVerifier>>,
    given: Vec<CertificateDer<'static>>,
}

impl Verifier {
    fn is_given_itself(&self, certificate: &CertificateDer<'_>, error: &Error) -> bool {
        let is_authority = matches!(error, Error::InvalidCertificate(error) if is_authority(error));
        is_authority && self.given.iter().any(|given| given == certificate)
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chains) = &self.chains else { return Ok(ServerCertVerified::assertion()) };
        match chains.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(error) if self.is_given_itself(certificate, &error) => {
                rustls::client::verify_server_name(&ParsedCertificate::try_from(certificate)?, name)
                    .map(|()| ServerCertVerified::assertion())
            }
            judged => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
