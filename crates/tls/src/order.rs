//! What TLS is to be like: plain values, as flags give them and as another process may receive them.

use serde::{Deserialize, Serialize};
use units::named;

/// The ALPN name of HTTP/1.1 (RFC 7301, 6), which WebSockets use, too.
pub const HTTP_1_1: &str = "http/1.1";

/// That of HTTP/2 (RFC 9113, 3.1).
pub const HTTP_2: &str = "h2";

/// The TLS of all connections of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsOrder {
    /// The host of the URL, without brackets: it is sent as SNI unless it is an address, and the certificate must be
    /// for it.
    pub host: String,
    /// Which certificates are accepted.
    pub trust: Trust,
    #[serde(flatten)]
    pub offer: Offer,
}

/// What a client offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Offer {
    /// the only version that was offered; null for 1.2 and 1.3
    #[schemars(with = "Option<String>")]
    pub version: Option<Version>,
    /// the suites that were offered, by their IANA names; empty for all that dyno has
    pub suites: Vec<String>,
    /// the groups that were offered; empty for all that dyno has
    pub groups: Vec<String>,
    /// of a hundred connections, how many were to resume a session
    #[serde(rename = "resume_percent")]
    #[schemars(with = "u8")]
    pub resume: Resume,
    /// the name that was offered by ALPN
    pub alpn: String,
}

impl Default for Offer {
    /// All that dyno has, for HTTP/1.1; sessions are never resumed.
    fn default() -> Offer {
        Offer {
            version: None,
            suites: Vec::new(),
            groups: Vec::new(),
            resume: Resume::NEVER,
            alpn: HTTP_1_1.into(),
        }
    }
}

impl TlsOrder {
    /// TLS as a careful client would speak it to this host: verified, never resumed.
    #[must_use]
    pub fn to(host: &str) -> TlsOrder {
        TlsOrder { host: host.into(), trust: Trust::System, offer: Offer::default() }
    }
}

/// Which certificates are accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Those that an authority known to this system has signed.
    System,
    /// Those that one of the authorities in this PEM text has signed.
    Given(String),
    /// All.
    All,
}

named! {
    /// A version of TLS.
    #[derive(Serialize, Deserialize)]
    pub enum Version {
        #[serde(rename = "1.2")]
        V1_2 = "1.2",
        #[serde(rename = "1.3")]
        V1_3 = "1.3",
    }
}

impl Version {
    /// Reads `1.2` or `1.3`.
    pub fn parse(text: &str) -> Result<Version, String> {
        Version::named(text).ok_or_else(|| "the versions are 1.2 and 1.3".into())
    }
}

/// On how many of a hundred connections an earlier session is to be resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Resume(u8);

impl TryFrom<u8> for Resume {
    type Error = &'static str;

    fn try_from(percent: u8) -> Result<Resume, &'static str> {
        Resume::of(percent).ok_or("more connections resume a session than there are")
    }
}

impl From<Resume> for u8 {
    fn from(resume: Resume) -> u8 {
        resume.0
    }
}

impl Resume {
    pub const NEVER: Resume = Resume(0);

    /// On so many of a hundred.
    #[must_use]
    pub fn of(percent: u8) -> Option<Resume> {
        (percent <= 100).then_some(Resume(percent))
    }

    /// Reads `never`, `always` or a percentage.
    pub fn parse(text: &str) -> Result<Resume, String> {
        let percent = match text {
            "never" => Some(0),
            "always" => Some(100),
            _ => text.strip_suffix('%').unwrap_or(text).parse().ok(),
        };
        percent.and_then(Resume::of).ok_or_else(|| {
            "write never, always, or how many of a hundred connections resume a session: 80".into()
        })
    }

    #[must_use]
    pub fn percent(self) -> u8 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_resumed_connections_are_read() {
        let percent = |text: &str| Resume::parse(text).map(Resume::percent).ok();
        assert_eq!(
            ["never", "always", "80", "80%", "0", "100"].map(percent),
            [Some(0), Some(100), Some(80), Some(80), Some(0), Some(100)]
        );
        assert_eq!(["", "101", "-1", "often", "1.5", "%"].map(percent), [None; 6]);
        assert!(Version::parse("1.1").is_err() && Version::parse("tls1.3").is_err());
        assert!(Resume::try_from(101).is_err());
    }
}
