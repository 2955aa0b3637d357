//! What connections agreed on with TLS, in words and as JSON.

use std::collections::BTreeMap;

use load::{Counts, Security};
use tls::{TlsOrder, Trust};

use crate::document::{Entry, Fact, Tone};
use crate::json::{DistributionJson, json_type};
use units::{bytes, count, counted};

/// The line of a report that says what was agreed on.
pub(crate) fn fact(security: &Security, is_unverified: bool) -> Fact {
    let agreed = [&security.versions, &security.suites, &security.groups, &security.alpn];
    let names = ["", "", "", "ALPN "];
    let agreed: Vec<String> = agreed
        .iter()
        .zip(names)
        .filter_map(|(counts, name)| Some(format!("{name}{}", listed(counts)?)))
        .collect();
    let mut fact = match security.handshakes() {
        0 => Fact::new("TLS", "no handshake was done"),
        _ => Fact::new("TLS", agreed.join(", ")).and(handshakes(security)),
    };
    if let Some(keys) = listed(&security.certificates) {
        fact = fact.and(format!("certificate: {keys}{}", chain(security)));
    }
    if is_unverified { fact.and("certificates were not verified (-k)") } else { fact }
}

/// What was agreed on, without numbers of connections: servers for which it is the same paid for the same. None where no
/// handshake was done.
pub(crate) fn agreed(security: &Security) -> Option<String> {
    if security.handshakes() == 0 {
        return None;
    }
    let all = [&security.versions, &security.suites, &security.groups, &security.certificates];
    let names = |counts: &Counts| {
        let names: Vec<&str> = counts.sorted().iter().map(|(name, _)| *name).collect();
        names.join(" and ")
    };
    let mut parts: Vec<String> =
        all.into_iter().map(names).filter(|names| !names.is_empty()).collect();
    parts
        .extend(security.chain_bytes.map(|_| chain(security).trim_start_matches(", ").to_string()));
    if security.alpn.of("") == security.alpn.sum() {
        parts.push("no answer to ALPN".into());
    }
    // How many there are for each handshake depends on how many of these resumed a session, and on the last of them.
    parts.push(if security.tickets == 0 { "no tickets" } else { "tickets" }.into());
    Some(parts.join(", "))
}

/// One name stands alone; of several, each has its count.
pub(crate) fn listed(counts: &Counts) -> Option<String> {
    let shown = |name: &str| if name.is_empty() { "none".to_string() } else { name.into() };
    match counts.sorted().as_slice() {
        [] => None,
        [(name, _)] => Some(shown(name)),
        many => {
            let all =
                many.iter().map(|(name, times)| format!("{} ({})", shown(name), count(*times)));
            Some(all.collect::<Vec<_>>().join(" and "))
        }
    }
}

fn handshakes(security: &Security) -> String {
    let mut says = format!(
        "{}: {} full, {} resumed",
        counted(security.handshakes(), "handshake", "handshakes"),
        count(security.full),
        count(security.resumed)
    );
    if 0 < security.meant_to_resume {
        says.push_str(&format!(" ({} were to be)", count(security.meant_to_resume)));
    }
    if 0 < security.retried {
        says.push_str(&format!("; {} were asked for another group", count(security.retried)));
    }
    if 0 < security.tickets {
        says.push_str(&format!("; {} came", counted(security.tickets, "ticket", "tickets")));
    }
    says
}

fn chain(security: &Security) -> String {
    match security.chain_bytes {
        None => String::new(),
        Some((least, most)) if least == most => format!(", a chain of {}", bytes(least)),
        Some((least, most)) => format!(", chains of {} to {}", bytes(least), bytes(most)),
    }
}

/// Why TLS failed, the most frequent reason first.
pub(crate) fn reasons(security: &Security) -> Vec<Entry> {
    let reasons = security.reasons.sorted();
    let one =
        |(reason, times): (&str, u64)| Entry::new(Tone::Dim, format!("{} {reason}", count(times)));
    reasons.into_iter().map(one).collect()
}

json_type! {
    /// What connections agreed on with TLS. Those of a pool are opened before the measured time, and are counted.
    pub(crate) struct SecurityJson as "tls" of it: Security {
        /// handshakes that were done
        handshakes: u64 = it.handshakes(),
        /// those of them with a certificate
        full: u64,
        /// full handshakes with a round trip more, because the server asked for another group
        retried: u64,
        /// handshakes that resumed an earlier session
        resumed: u64,
        /// handshakes that were to do so
        meant_to_resume: u64,
        /// from the establishment of the TCP connection to the end of the handshake
        handshake: DistributionJson = (&it.handshake).into(),
        /// versions, and how many connections had each
        versions: BTreeMap<String, u64> = named(&it.versions),
        /// cipher suites by their IANA names
        suites: BTreeMap<String, u64> = named(&it.suites),
        /// groups of the key exchange, where there was one
        groups: BTreeMap<String, u64> = named(&it.groups),
        /// names that the server chose by ALPN; an empty name where it chose none
        alpn: BTreeMap<String, u64> = named(&it.alpn),
        /// kinds of keys in the certificates of full handshakes
        certificates: BTreeMap<String, u64> = named(&it.certificates),
        /// octets of the smallest chain of certificates
        chain_bytes_min: Option<u64> = it.chain_bytes.map(|(least, _)| least),
        /// octets of the largest one
        chain_bytes_max: Option<u64> = it.chain_bytes.map(|(_, most)| most),
        /// tickets for later sessions that came after handshakes (TLS 1.3)
        tickets: u64,
        /// why TLS failed, in words that begin with the class of the failure
        reasons: BTreeMap<String, u64> = named(&it.reasons),
    }
}

pub(crate) fn named(counts: &Counts) -> BTreeMap<String, u64> {
    counts.sorted().into_iter().map(|(name, times)| (name.into(), times)).collect()
}

json_type! {
    /// How connections were to be secured.
    #[derive(serde::Deserialize)]
    pub(crate) struct TlsOrderJson as "tls_order" of order: TlsOrder {
        /// the name that was sent as SNI unless it is an address, and that the certificate had to be for
        host: String = order.host.clone(),
        /// whether certificates were verified
        pub(crate) verified: bool = order.trust != Trust::All,
        /// the only version that was offered; null for 1.2 and 1.3
        pub(crate) version: Option<String> = order.version.map(|version| version.name().into()),
        /// the suites that were offered, by their IANA names; empty for all that dyno has
        pub(crate) suites: Vec<String> = order.suites.clone(),
        /// the groups that were offered; empty for all that dyno has
        pub(crate) groups: Vec<String> = order.groups.clone(),
        /// of a hundred connections, how many were to resume a session
        pub(crate) resume_percent: u8 = order.resume.percent(),
        /// the name that was offered by ALPN
        alpn: String = order.alpn.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> Security {
        let text = r#"{"handshake": null, "full": 40, "retried": 40, "resumed": 10, "meant_to_resume": 12,
            "versions": [["1.3", 50]], "suites": [["TLS_AES_128_GCM_SHA256", 49], ["TLS_AES_256_GCM_SHA384", 1]],
            "groups": [["x25519", 50]], "alpn": [["", 50]], "certificates": [["ECDSA P-256", 40]],
            "chain_bytes": [567, 567], "tickets": 1, "reasons": []}"#;
        let mut value: serde_json::Value = serde_json::from_str(text).unwrap();
        let empty = load::Distribution::new(load::SECOND);
        value["handshake"] = serde_json::to_value(empty).unwrap();
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_was_agreed_on_is_said_in_a_few_lines() {
        assert_eq!(
            fact(&seen(), true).texts,
            [
                "1.3, TLS_AES_128_GCM_SHA256 (49) and TLS_AES_256_GCM_SHA384 (1), x25519, ALPN none",
                "50 handshakes: 40 full, 10 resumed (12 were to be); 40 were asked for another group; 1 ticket came",
                "certificate: ECDSA P-256, a chain of 567 B",
                "certificates were not verified (-k)",
            ]
        );
        assert_eq!(fact(&Security::new(1), false).texts[0], "no handshake was done");
    }

    #[test]
    fn servers_that_agreed_on_the_same_have_the_same_words_however_many_tickets_came() {
        let with =
            |tickets: u64| agreed(&Security { tickets, ..seen() }).expect("handshakes were done");
        let words = |tickets: &str| {
            format!(
                "1.3, TLS_AES_128_GCM_SHA256 and TLS_AES_256_GCM_SHA384, x25519, ECDSA P-256, a chain of 567 B, \
                 no answer to ALPN, {tickets}"
            )
        };
        assert_eq!([99, 100].map(with), [words("tickets"), words("tickets")]);
        assert_eq!(with(0), words("no tickets"));
    }

    #[test]
    fn a_server_that_failed_every_handshake_agreed_on_nothing() {
        let mut refused = Security::new(load::SECOND);
        refused.reasons.add("tls.alert: handshake_failure", 9);
        assert_eq!(agreed(&refused), None);
    }
}
