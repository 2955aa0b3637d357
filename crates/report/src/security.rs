//! What connections agreed on with TLS, in words and as JSON.

use load::{Agreed, Counts, Security};
use tls::{Offer, TlsOrder, Trust};

use crate::document::{Entry, Fact, Tone};
use crate::json::{DistributionJson, json_type};
use units::{bytes, count, counted};

/// The line of a report that says what was agreed on.
pub(crate) fn fact(security: &Security, is_unverified: bool) -> Fact {
    let seen = &security.agreed;
    let counted = [&seen.versions, &seen.suites, &seen.groups, &seen.alpn];
    let names = ["", "", "", "ALPN "];
    let agreed: Vec<String> = counted
        .iter()
        .zip(names)
        .filter_map(|(counts, name)| Some(format!("{name}{}", listed(counts)?)))
        .collect();
    let mut fact = match seen.handshakes() {
        0 => Fact::new("TLS", "no handshake was done"),
        _ => Fact::new("TLS", agreed.join(", ")).and(handshakes(seen)),
    };
    if let Some(keys) = listed(&seen.certificates) {
        fact = fact.and(format!("certificate: {keys}{}", chain(seen)));
    }
    if is_unverified { fact.and("certificates were not verified (-k)") } else { fact }
}

/// What was agreed on, without numbers of connections: servers for which it is the same paid for the same. None where no
/// handshake was done.
pub(crate) fn agreed(security: &Security) -> Option<String> {
    let seen = &security.agreed;
    if seen.handshakes() == 0 {
        return None;
    }
    let all = [&seen.versions, &seen.suites, &seen.groups, &seen.certificates];
    let names = |counts: &Counts| {
        let names: Vec<&str> = counts.sorted().iter().map(|(name, _)| *name).collect();
        names.join(" and ")
    };
    let mut parts: Vec<String> =
        all.into_iter().map(names).filter(|names| !names.is_empty()).collect();
    if seen.chain_bytes_min.is_some() {
        parts.push(chain(seen).trim_start_matches(", ").into());
    }
    if seen.alpn.of("") == seen.alpn.sum() {
        parts.push("no answer to ALPN".into());
    }
    // How many there are for each handshake depends on how many of these resumed a session, and on the last of them.
    parts.push(if seen.tickets == 0 { "no tickets" } else { "tickets" }.into());
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

fn handshakes(agreed: &Agreed) -> String {
    let mut says = format!(
        "{}: {} full, {} resumed",
        counted(agreed.handshakes(), "handshake", "handshakes"),
        count(agreed.full),
        count(agreed.resumed)
    );
    if 0 < agreed.meant_to_resume {
        says.push_str(&format!(" ({} should have been)", count(agreed.meant_to_resume)));
    }
    if 0 < agreed.retried {
        says.push_str(&format!("; {} were asked for another group", count(agreed.retried)));
    }
    if 0 < agreed.tickets {
        says.push_str(&format!("; {} came", counted(agreed.tickets, "ticket", "tickets")));
    }
    says
}

fn chain(agreed: &Agreed) -> String {
    match agreed.chain_bytes_min.zip(agreed.chain_bytes_max) {
        None => String::new(),
        Some((least, most)) if least == most => format!(", a chain of {}", bytes(least)),
        Some((least, most)) => format!(", chains of {} to {}", bytes(least), bytes(most)),
    }
}

/// Why TLS failed, the most frequent reason first.
pub(crate) fn reasons(security: &Security) -> Vec<Entry> {
    let reasons = security.agreed.reasons.sorted();
    let entries = reasons
        .into_iter()
        .map(|(reason, times)| Entry::new(Tone::Dim, format!("{} {reason}", count(times))));
    entries.collect()
}

json_type! {
    /// What connections agreed on with TLS. Those of a pool are opened before the measured time, and are counted.
    pub(crate) struct SecurityJson as "tls" of it: Security {
        /// handshakes that were done
        handshakes: u64 = it.agreed.handshakes(),
        /// from the establishment of the TCP connection to the end of the handshake
        handshake: DistributionJson = (&it.handshake).into(),
        #[serde(flatten)]
        agreed: Agreed = it.agreed.clone(),
    }
}

// `TlsOrder` has the authorities' certificates, of which a reader wants to know whether there was any check.
json_type! {
    /// How connections were to be secured.
    #[derive(serde::Deserialize)]
    pub(crate) struct TlsOrderJson as "tls_order" of order: TlsOrder {
        /// the name that was sent as SNI unless it is an address, and that the certificate had to be for
        host: String = order.host.clone(),
        /// whether certificates were verified
        pub(crate) verified: bool = order.trust != Trust::All,
        #[serde(flatten)]
        pub(crate) offer: Offer = order.offer.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> Security {
        let text = r#"{"handshake": null, "full": 40, "retried": 40, "resumed": 10, "meant_to_resume": 12,
            "versions": {"1.3": 50}, "suites": {"TLS_AES_128_GCM_SHA256": 49, "TLS_AES_256_GCM_SHA384": 1},
            "groups": {"x25519": 50}, "alpn": {"": 50}, "certificates": {"ECDSA P-256": 40},
            "chain_bytes_min": 567, "chain_bytes_max": 567, "tickets": 1, "reasons": {}}"#;
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
                "50 handshakes: 40 full, 10 resumed (12 should have been); 40 were asked for another group; 1 ticket came",
                "certificate: ECDSA P-256, a chain of 567 B",
                "certificates were not verified (-k)",
            ]
        );
        assert_eq!(fact(&Security::new(1), false).texts[0], "no handshake was done");
    }

    #[test]
    fn servers_that_agreed_on_the_same_have_the_same_words_however_many_tickets_came() {
        let with = |tickets: u64| {
            let mut security = seen();
            security.agreed.tickets = tickets;
            agreed(&security).expect("handshakes were done")
        };
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
        refused.agreed.reasons.add("tls.alert: handshake_failure", 9);
        assert_eq!(agreed(&refused), None);
    }
}
