//! Every way in which TLS can fail: stable names, and the reason in words.

use rustls::{AlertDescription, CertificateError, Error, PeerMisbehaved};
use units::named;

use crate::order::HTTP_2;

named! {
    /// Why there is no TLS, or none any more, in the order in which reports show it; with the way out where there is one.
    /// The names are stable: they appear in results.
    pub enum TlsFault {
        Alert = "tls.alert" => "the server ended TLS with an alert",
        Certificate = "tls.certificate" => "the certificate is not trusted; --ca FILE or -k may help",
        Alpn = "tls.alpn" => "the server does not take the protocol that was offered by ALPN",
        Closed = "tls.closed" => "closed within the TLS handshake; is this an https:// port?",
        Timeout = "tls.timeout" => "no TLS handshake within the time-out",
        Protocol = "tls.protocol" => "what came is no TLS, or breaks its rules",
        Flood = "tls.flood" => "TLS messages without end, and no data",
        Cut = "tls.cut" => "closed within an answer without TLS's closing message",
    }
}

/// The class of an error.
#[must_use]
pub fn fault(error: &Error) -> TlsFault {
    match error {
        // RFC 7301, 3.2: a server that takes none of the names offered ends the handshake with this alert.
        Error::AlertReceived(AlertDescription::NoApplicationProtocol)
        | Error::NoApplicationProtocol
        | Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedApplicationProtocol) => {
            TlsFault::Alpn
        }
        Error::AlertReceived(AlertDescription::CloseNotify) => TlsFault::Closed,
        Error::AlertReceived(_) => TlsFault::Alert,
        Error::InvalidCertificate(_) | Error::NoCertificatesPresented => TlsFault::Certificate,
        _ => TlsFault::Protocol,
    }
}

/// Why the only name that was offered by ALPN does not do, and the way out; `is_silent` if the server chose none at all.
#[must_use]
pub fn alpn_reason(offered: &str, is_silent: bool) -> String {
    let cause = match is_silent {
        true => "the server chooses no name by ALPN, so it speaks HTTP/1.1".into(),
        false => {
            format!("the server does not take `{offered}`, the only name that was offered by ALPN")
        }
    };
    let way_out = match offered {
        HTTP_2 => "leave out --http2",
        _ => "a server of HTTP/2 alone is loaded with `dyno load --http2`",
    };
    format!("{cause}; {way_out}")
}

/// What went wrong, in words; `first` is what came, if nothing of TLS came before it, and `offered` the name that was
/// offered by ALPN.
#[must_use]
pub fn reason(error: &Error, first: &[u8], offered: &str) -> String {
    match error {
        error if fault(error) == TlsFault::Alpn => alpn_reason(offered, false),
        Error::AlertReceived(alert) => {
            format!("the server's alert is {}{}", alert_name(*alert), way_out(*alert))
        }
        Error::InvalidCertificate(error) => of_certificate(error),
        Error::NoCertificatesPresented => "the server sent no certificate".into(),
        Error::InvalidMessage(_) if first.starts_with(b"HTTP/") => {
            "the server answers in plain HTTP; write http:// or name its TLS port".into()
        }
        Error::InvalidMessage(error) if first.is_empty() => {
            format!("what came breaks the rules of TLS ({error:?})")
        }
        Error::InvalidMessage(error) => {
            format!("what came is no TLS record ({error:?}); is this an https:// port?")
        }
        other => other.to_string(),
    }
}

fn of_certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => {
            "the certificate is signed by an unknown authority; give --ca FILE, or -k".into()
        }
        CertificateError::BadSignature => {
            "the certificate is not signed by the authority that it names; give that one's --ca \
             FILE, or -k"
                .into()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the certificate has expired; renew it, or give -k".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the certificate is not valid yet; is this machine's clock right? -k ignores it".into()
        }
        CertificateError::NotValidForName => "the certificate is for another name".into(),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let mut names = presented.iter().map(|name| bare_name(name).escape_debug().to_string());
            let shown: Vec<String> = names.by_ref().take(5).collect();
            let more = if names.next().is_some() { ", …" } else { "" };
            format!(
                "the certificate is not for {} but for {}{more}; use that name in the URL, with \
                 --connect-to for the address, or give -k",
                expected.to_str(),
                if shown.is_empty() { "no name".into() } else { shown.join(", ") },
            )
        }
        own if is_authority(own) => {
            "the certificate is that of an authority, or self-signed; give it as --ca FILE, or give -k"
                .into()
        }
        other => format!("the certificate is not valid: {other}"),
    }
}

/// A name of a certificate without the library's word for its kind: `DnsName("h")` is `h`.
fn bare_name(text: &str) -> &str {
    let inner = ["DnsName(", "IpAddress("].iter().find_map(|kind| text.strip_prefix(kind));
    inner.and_then(|inner| inner.strip_suffix(')')).map_or(text, |name| name.trim_matches('"'))
}

/// Whether the only fault of a server's certificate is that it may sign others, as one of `openssl req -x509` may. The
/// library has no name for this error; it looks at the dates before.
pub(crate) fn is_authority(error: &CertificateError) -> bool {
    format!("{error:?}").contains("CaUsedAsEndEntity")
}

/// What may help against an alert that is about what was offered.
fn way_out(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::ProtocolVersion => {
            "; it takes no version of TLS that was offered: leave out --tls, or name another"
        }
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => {
            "; it may take nothing of what was offered: leave out --ciphers, --groups and --tls"
        }
        _ => "",
    }
}

/// The alert as RFC 8446, 6, writes it: `handshake_failure`.
fn alert_name(alert: AlertDescription) -> String {
    let known = match alert {
        AlertDescription::Unknown(number) => return format!("unknown, number {number}"),
        known => format!("{known:?}"),
    };
    let mut name = String::new();
    for letter in known.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() && !name.ends_with("c_a") {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name.replace("unknown_c_a", "unknown_ca").replace("p_s_k", "psk")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::HTTP_1_1;

    #[test]
    fn alerts_are_called_by_the_names_of_the_rfc() {
        let name = |alert| alert_name(alert);
        assert_eq!(name(AlertDescription::HandshakeFailure), "handshake_failure");
        assert_eq!(name(AlertDescription::UnknownCA), "unknown_ca");
        assert_eq!(name(AlertDescription::ProtocolVersion), "protocol_version");
        assert_eq!(name(AlertDescription::UnknownPSKIdentity), "unknown_psk_identity");
        assert_eq!(name(AlertDescription::from(199)), "unknown, number 199");
    }

    #[test]
    fn names_are_one_each() {
        let names: std::collections::BTreeSet<_> = TlsFault::ALL.map(TlsFault::name).into();
        assert_eq!(names.len(), TlsFault::ALL.len());
    }

    #[test]
    fn errors_have_their_class_and_say_the_way_out() {
        let no_protocol = Error::AlertReceived(AlertDescription::NoApplicationProtocol);
        assert_eq!(fault(&no_protocol), TlsFault::Alpn);
        let unknown = Error::InvalidCertificate(CertificateError::UnknownIssuer);
        assert_eq!(fault(&unknown), TlsFault::Certificate);
        assert!(reason(&unknown, b"", HTTP_1_1).ends_with("give --ca FILE, or -k"));
        let garbage = Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType);
        assert_eq!(fault(&garbage), TlsFault::Protocol);
        assert!(reason(&garbage, b"HTTP/1.1 400 ", HTTP_1_1).contains("write http://"));
        assert!(reason(&garbage, b"SSH-2.0", HTTP_1_1).ends_with("is this an https:// port?"));
        assert!(!reason(&garbage, b"", HTTP_1_1).contains("https://"));
        let version = Error::AlertReceived(AlertDescription::ProtocolVersion);
        assert!(reason(&version, b"", HTTP_1_1).contains("leave out --tls"));
        let suites = Error::AlertReceived(AlertDescription::HandshakeFailure);
        assert!(reason(&suites, b"", HTTP_1_1).contains("leave out --ciphers"));
        let names = ["DnsName(\"h\")", "IpAddress(127.0.0.1)", "DirectoryName"].map(bare_name);
        assert_eq!(names, ["h", "127.0.0.1", "DirectoryName"]);
        assert!(reason(&no_protocol, b"", HTTP_2).ends_with("leave out --http2"));
        assert!(reason(&no_protocol, b"", HTTP_1_1).ends_with("with `dyno load --http2`"));
    }
}
