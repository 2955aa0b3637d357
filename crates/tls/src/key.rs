//! The kind of key that a certificate carries, in words.

use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;

const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const P384: &[u8] = &[0x2b, 0x81, 0x04, 0x00, 0x22];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
/// DER's tags (X.690, 8).
const SEQUENCE: u8 = 0x30;
const OBJECT: u8 = 0x06;
const BITS: u8 = 0x03;
const INTEGER: u8 = 0x02;

/// `ECDSA P-256`, `RSA 2048`, `Ed25519`.
pub(crate) fn key_name(certificate: &CertificateDer<'_>) -> String {
    let parsed = ParsedCertificate::try_from(certificate);
    let info = parsed.map(|parsed| parsed.subject_public_key_info().to_vec()).unwrap_or_default();
    named(&info).unwrap_or_else(|| "another kind of key".into())
}

/// RFC 5280, 4.1: SubjectPublicKeyInfo is an algorithm and a string of bits.
fn named(info: &[u8]) -> Option<String> {
    let (info, _) = value(info, SEQUENCE)?;
    let (algorithm, key) = value(info, SEQUENCE)?;
    let (oid, parameters) = value(algorithm, OBJECT)?;
    match oid {
        ED25519 => Some("Ed25519".into()),
        EC => match value(parameters, OBJECT)?.0 {
            P256 => Some("ECDSA P-256".into()),
            P384 => Some("ECDSA P-384".into()),
            _ => Some("ECDSA".into()),
        },
        RSA => {
            let (bits, _) = value(key, BITS)?;
            // The first octet says how many bits at the end are unused.
            let (numbers, _) = value(bits.get(1..)?, SEQUENCE)?;
            let (modulus, _) = value(numbers, INTEGER)?;
            let octets = modulus.iter().skip_while(|octet| **octet == 0).count();
            Some(format!("RSA {}", octets * 8))
        }
        _ => None,
    }
}

/// The content of the element with this tag, and what follows it.
fn value(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    if found != tag {
        return None;
    }
    let more = usize::from(first & 0x7f);
    let (length, rest) = match first {
        ..0x80 => (usize::from(first), rest),
        _ if 2 < more => return None,
        _ => {
            let (length, rest) = rest.split_at_checked(more)?;
            (length.iter().fold(0, |sum, octet| sum << 8 | usize::from(*octet)), rest)
        }
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart() {
        let key_of = |algorithm: &'static rcgen::SignatureAlgorithm| {
            let key = rcgen::KeyPair::generate_for(algorithm).unwrap();
            let made = rcgen::CertificateParams::new(vec!["h".into()]).unwrap();
            key_name(made.self_signed(&key).unwrap().der())
        };
        assert_eq!(key_of(&rcgen::PKCS_ECDSA_P256_SHA256), "ECDSA P-256");
        assert_eq!(key_of(&rcgen::PKCS_ECDSA_P384_SHA384), "ECDSA P-384");
        assert_eq!(key_of(&rcgen::PKCS_ED25519), "Ed25519");
        assert_eq!(key_name(&CertificateDer::from(vec![1, 2, 3])), "another kind of key");
    }

    #[test]
    fn the_length_of_an_rsa_key_is_that_of_its_modulus() {
        let modulus = [&[0x02, 0x82, 0x01, 0x01, 0x00][..], &[0xa5; 256]].concat();
        let numbers = [&[0x30, 0x82, 0x01, 0x0a][..], &modulus, &[0x02, 0x03, 1, 0, 1]].concat();
        let bits = [&[0x03, 0x82, 0x01, 0x0f, 0x00][..], &numbers].concat();
        let algorithm = [&[0x30, 0x0d, 0x06, 0x09][..], RSA, &[0x05, 0x00]].concat();
        let info = [&[0x30, 0x82, 0x01, 0x22][..], &algorithm, &bits].concat();
        assert_eq!(named(&info).as_deref(), Some("RSA 2048"));
        for cut in 0..info.len() {
            assert_eq!(named(&info[..cut]), None, "{cut}");
        }
    }
}
