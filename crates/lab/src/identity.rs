//! The certificate that the servers of one run present, and the authority that signed it. They exist as long as the run.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, date_time_ymd,
};

use machine::owned::WorkFolder;

use crate::workload::HOST;

/// Where a server finds its certificate and key, and the authority that dyno trusts. Dropping it removes the files.
#[derive(Debug)]
pub struct Identity {
    folder: WorkFolder,
    /// The authority's certificate in PEM form.
    pub authority: String,
}

impl Identity {
    /// Makes an authority, a key and a certificate (ECDSA P-256), and writes what servers need into this folder.
    pub fn make(folder: WorkFolder) -> io::Result<Identity> {
        let (authority, certificate, key) = signed().map_err(io::Error::other)?;
        let identity = Identity { folder, authority };
        // Servers that are started by root may read their files as another user. The key is worth nothing: only this
        // run's load trusts it.
        fs::set_permissions(identity.folder.path(), fs::Permissions::from_mode(0o755))?;
        for (path, text) in [(identity.certificate(), &certificate), (identity.key(), &key)] {
            fs::write(&path, text)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
        }
        Ok(identity)
    }

    /// The file with the server's certificate.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("certificate.pem")
    }

    /// The file with its key.
    #[must_use]
    pub fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }
}

/// The authority's certificate, the server's, and the server's key.
fn signed() -> Result<(String, String, String), rcgen::Error> {
    let mut params = params("dyno: the authority of one run", &[])?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let authority = params.self_signed(&key)?.pem();
    let issuer = Issuer::new(params, key);
    let names = [HOST, "127.0.0.1", "::1"].map(String::from);
    let mut params = self::params("dyno: a server under test", &names)?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let certificate = params.signed_by(&key, &issuer)?.pem();
    Ok((authority, certificate, key.serialize_pem()))
}

fn params(name: &str, names: &[String]) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2120, 1, 1);
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::process::Marker;

    #[test]
    fn what_servers_read_is_there_until_the_run_ends() {
        let parent = std::env::temp_dir().join(format!("dyno-identity-{}", std::process::id()));
        let folder = || WorkFolder::create(&parent, &Marker::unique()).unwrap();
        let identity = Identity::make(folder()).unwrap();
        let text = |path: PathBuf| fs::read_to_string(path).unwrap();
        assert_eq!(text(identity.certificate()).matches("BEGIN CERTIFICATE").count(), 1);
        assert!(text(identity.key()).contains("BEGIN PRIVATE KEY"));
        assert_eq!(tls::authorities(&identity.authority).unwrap().len(), 1);
        let another = Identity::make(folder()).unwrap();
        assert_ne!(identity.authority, another.authority);
        drop((identity, another));
        fs::remove_dir(&parent).unwrap();
    }
}
