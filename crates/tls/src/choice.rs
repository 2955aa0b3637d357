//! The suites and groups that can be offered, by their names.

use rustls::crypto::ring::{cipher_suite as suites, kx_group as groups};
use rustls::crypto::{CryptoProvider, SupportedKxGroup};
use rustls::{NamedGroup, SupportedCipherSuite};

/// Every suite, by its IANA name, the preferred first.
pub const SUITES: [(&str, SupportedCipherSuite); 9] = [
    ("TLS_AES_256_GCM_SHA384", suites::TLS13_AES_256_GCM_SHA384),
    ("TLS_AES_128_GCM_SHA256", suites::TLS13_AES_128_GCM_SHA256),
    ("TLS_CHACHA20_POLY1305_SHA256", suites::TLS13_CHACHA20_POLY1305_SHA256),
    ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", suites::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
    ("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", suites::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    (
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        suites::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    ("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", suites::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),
    ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", suites::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
    (
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        suites::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
];

/// Every group, the preferred first.
pub const GROUPS: [(&str, &dyn SupportedKxGroup); 3] = [
    ("x25519", groups::X25519),
    ("secp256r1", groups::SECP256R1),
    ("secp384r1", groups::SECP384R1),
];

/// The name of the suite that a user wrote, in any case.
pub fn suite(text: &str) -> Result<&'static str, String> {
    named(text, "suite", &SUITES.map(|(name, _)| name))
}

/// The name of the group that a user wrote; the curves may be called by NIST's names.
pub fn group(text: &str) -> Result<&'static str, String> {
    let known_as = match text.to_ascii_uppercase().as_str() {
        "P-256" | "PRIME256V1" => "secp256r1",
        "P-384" => "secp384r1",
        _ => text,
    };
    named(known_as, "group", &GROUPS.map(|(name, _)| name))
}

fn named(text: &str, what: &str, all: &[&'static str]) -> Result<&'static str, String> {
    all.iter().copied().find(|name| name.eq_ignore_ascii_case(text)).ok_or_else(|| {
        format!("dyno knows no {what} `{}`; it has {}", text.escape_debug(), all.join(", "))
    })
}

/// The cryptography, with what was chosen of it; or which name is not known.
pub(crate) fn provider(suites: &[String], groups: &[String]) -> Result<CryptoProvider, String> {
    let suites: Vec<_> = suites.iter().map(|name| suite(name)).collect::<Result<_, _>>()?;
    let groups: Vec<_> = groups.iter().map(|name| group(name)).collect::<Result<_, _>>()?;
    if SUITES.len() < suites.len() || GROUPS.len() < groups.len() {
        return Err("a suite or a group is named twice".into());
    }
    Ok(CryptoProvider {
        cipher_suites: in_order(&SUITES, &suites),
        kx_groups: in_order(&GROUPS, &groups),
        ..rustls::crypto::ring::default_provider()
    })
}

fn in_order<T: Copy>(all: &[(&str, T)], chosen: &[&str]) -> Vec<T> {
    if chosen.is_empty() {
        return all.iter().map(|(_, value)| *value).collect();
    }
    let find = |name: &&str| all.iter().find(|(known, _)| known == name).map(|(_, it)| *it);
    chosen.iter().filter_map(find).collect()
}

/// The IANA name of a suite that was agreed on.
pub(crate) fn suite_name(suite: SupportedCipherSuite) -> &'static str {
    let known = SUITES.iter().find(|(_, known)| known.suite() == suite.suite());
    known.map_or("another suite", |(name, _)| name)
}

/// The name of a group that was agreed on.
pub(crate) fn group_name(group: NamedGroup) -> &'static str {
    GROUPS.iter().find(|(_, known)| known.name() == group).map_or("another group", |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_any_case_and_unknown_ones_are_refused_with_those_that_exist() {
        assert_eq!(suite("tls_aes_128_gcm_sha256"), Ok("TLS_AES_128_GCM_SHA256"));
        assert_eq!(group("P-256"), Ok("secp256r1"));
        assert_eq!(group("X25519"), Ok("x25519"));
        let says = suite("RC4-MD5").unwrap_err();
        assert!(says.contains("no suite `RC4-MD5`; it has TLS_AES_256_GCM_SHA384, "), "{says}");
        assert!(group("sect571r1").unwrap_err().contains("x25519, secp256r1, secp384r1"));
    }

    #[test]
    fn what_is_chosen_is_offered_in_its_order_and_nothing_else() {
        let chosen = ["TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"].map(String::from);
        let provider = provider(&chosen, &["secp384r1".into()]).unwrap();
        let names: Vec<_> = provider.cipher_suites.iter().map(|it| suite_name(*it)).collect();
        assert_eq!(names, chosen);
        assert_eq!(provider.kx_groups.len(), 1);
        assert_eq!(group_name(provider.kx_groups[0].name()), "secp384r1");
        assert!(super::provider(&["RC4-MD5".into()], &[]).is_err());
    }
}
