//! The flags of TLS: which certificates are accepted, and what is offered.

use std::path::{Path, PathBuf};

use clap::Args;
use lab::manner::{GROUP, SUITE};
use load::Protocol;
use requests::url::{Endpoint, Url};
use requests::{Base, file};
use serde::{Deserialize, Serialize};
use tls::{Client, HTTP_1_1, HTTP_2, Offer, Resume, TlsOrder, Trust, Version, authorities};

use crate::shell::Refusal;

/// Which certificates are accepted.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TrustFlags {
    /// With https://, accept certificates that an authority in this PEM file has signed [those that this system knows]
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub(crate) ca: Option<PathBuf>,
    /// With https://, accept every certificate, even one that has expired or is for another name
    #[arg(short = 'k', long)]
    pub(crate) insecure: bool,
}

/// Which certificates are accepted, and what is offered.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TlsFlags {
    #[command(flatten)]
    pub(crate) trust: TrustFlags,
    /// With https://, speak only this version of TLS: 1.2 or 1.3 [the newest that the server supports]
    #[arg(long, value_name = "VERSION", value_parser = Version::parse)]
    pub(crate) tls: Option<Version>,
    /// With https://, the share of the connections that resume an earlier session: never, always or 80%
    #[arg(long, value_name = "SHARE", value_parser = Resume::parse, default_value = "never")]
    pub(crate) tls_resume: Resume,
    /// With https://, offer only these suites, the best first, by their IANA names
    #[arg(long, value_name = "LIST", value_parser = suite, value_delimiter = ',')]
    pub(crate) ciphers: Vec<String>,
    /// With https://, offer only these groups for the key exchange, the best first: x25519, secp256r1, secp384r1
    #[arg(long, value_name = "LIST", value_parser = group, value_delimiter = ',')]
    pub(crate) groups: Vec<String>,
}

fn suite(text: &str) -> Result<String, String> {
    tls::suite(text).map(String::from)
}

fn group(text: &str) -> Result<String, String> {
    tls::group(text).map(String::from)
}

impl TrustFlags {
    /// Which certificates are accepted; `SSL_CERT_FILE` is another way to say --ca, as it is for curl and OpenSSL.
    fn trust(&self) -> Result<Trust, Refusal> {
        let by_variable = || std::env::var_os("SSL_CERT_FILE").filter(|path| !path.is_empty());
        match (&self.ca, self.insecure) {
            (_, true) => Ok(Trust::All),
            (Some(path), false) => given("--ca", path),
            (None, false) => match by_variable() {
                Some(path) => given("SSL_CERT_FILE", Path::new(&path)),
                None => Ok(Trust::System),
            },
        }
    }

    /// The TLS of a URL; none if it is plain.
    pub(crate) fn client(&self, url: &Url) -> Result<Option<Client>, Refusal> {
        TlsFlags { trust: self.clone(), ..TlsFlags::default() }.client(url)
    }

    /// Refuses flags that would have no effect, because none of these URLs has TLS.
    pub(crate) fn refuse_without(&self, urls: &[&Url]) -> Result<(), Refusal> {
        TlsFlags { trust: self.clone(), ..TlsFlags::default() }.refuse_without(urls)
    }
}

impl TlsFlags {
    /// The TLS of a URL; none if it is plain.
    pub(crate) fn client(&self, url: &Url) -> Result<Option<Client>, Refusal> {
        self.offering(url, HTTP_1_1)
    }

    /// The TLS of a load, which curl's -k loosens, too. What is offered is what will be spoken, and nothing else.
    pub(super) fn of_load(
        &self,
        base: &Base<'_>,
        protocol: &Protocol,
    ) -> Result<Option<Client>, Refusal> {
        let alpn = match protocol {
            Protocol::Http1 => HTTP_1_1,
            Protocol::Http2(_) => HTTP_2,
        };
        self.refuse_without(&[&base.given.url])?;
        let mut flags = self.clone();
        flags.trust.insecure |= base.given.insecure;
        flags.offering(&base.given.url, alpn)
    }

    /// The TLS of a URL, over which this name alone is offered by ALPN; none if it is plain.
    pub(crate) fn offering(&self, url: &Url, alpn: &str) -> Result<Option<Client>, Refusal> {
        host(url).map(|host| build(&self.order(host, alpn)?)).transpose()
    }

    fn order(&self, host: &str, alpn: &str) -> Result<TlsOrder, Refusal> {
        let offer = Offer {
            version: self.tls,
            suites: self.ciphers.clone(),
            groups: self.groups.clone(),
            resume: self.tls_resume,
            alpn: alpn.into(),
        };
        Ok(TlsOrder { host: host.into(), trust: self.trust.trust()?, offer })
    }

    /// Of the flags about what is offered and accepted, the first that was given.
    fn given(&self) -> Option<&'static str> {
        let given = [
            ("--ca", self.trust.ca.is_some()),
            ("--tls", self.tls.is_some()),
            ("--ciphers", !self.ciphers.is_empty()),
            ("--groups", !self.groups.is_empty()),
            ("-k", self.trust.insecure),
            ("--tls-resume", self.tls_resume != Resume::NEVER),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    /// Refuses flags that would have no effect, because dyno starts all servers and decides what TLS is like.
    pub(crate) fn refuse_for_started(&self) -> Result<(), Refusal> {
        match self.given().filter(|flag| *flag != "--tls-resume") {
            None => Ok(()),
            Some(flag) => Err(Refusal::new(format!(
                "{flag} is for https:// addresses: dyno makes the certificate of the servers that it starts, and pins \
                 TLS 1.3, {SUITE} and {GROUP}; leave {flag} out"
            ))),
        }
    }

    /// Refuses flags that would have no effect, because none of these URLs has TLS.
    pub(crate) fn refuse_without(&self, urls: &[&Url]) -> Result<(), Refusal> {
        match self.given() {
            Some(flag) if !urls.iter().any(|url| url.is_secure) => {
                let way_out = match urls {
                    [] => "say what is spoken within it (--protocol http/1.1+tls or h2)",
                    _ => "write https:// or wss:// in the URL",
                };
                Err(Refusal::new(format!(
                    "{flag} is for TLS, which is not used here; {way_out}, or leave {flag} out"
                )))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn given(flag: &str, path: &Path) -> Result<Trust, Refusal> {
    let refused = |says: String| Refusal::new(format!("{flag} {}: {says}", path.display()));
    let octets = file::bytes(flag, path)?;
    let text = String::from_utf8_lossy(&octets).into_owned();
    authorities(&text).map_err(refused)?;
    Ok(Trust::Given(text))
}

fn build(order: &TlsOrder) -> Result<Client, Refusal> {
    Client::new(order).map_err(|says| match order.offer.suites.is_empty() {
        true => Refusal::new(says),
        false => Refusal::new(format!("--ciphers: {says}")),
    })
}

/// The name that the certificate must be for: the URL's, wherever the connection goes.
fn host(url: &Url) -> Option<&str> {
    match &url.endpoint {
        Endpoint::Host(host, _) if url.is_secure => Some(host),
        Endpoint::Host(..) | Endpoint::Unix(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use requests::url::parse;

    fn flags(change: impl FnOnce(&mut TlsFlags)) -> TlsFlags {
        let mut flags = TlsFlags::default();
        flags.trust.insecure = true;
        change(&mut flags);
        flags
    }

    #[test]
    fn the_name_is_that_of_the_url_and_plain_urls_have_none() {
        let order = |text: &str| {
            let client = flags(|_| {}).client(&parse(text).unwrap()).unwrap();
            client.map(|client| client.order().clone())
        };
        assert_eq!(order("http://h/"), None);
        let of = |host: &str| Some(TlsOrder { trust: Trust::All, ..TlsOrder::to(host) });
        assert_eq!(order("https://h/"), of("h"));
        assert_eq!(order("https://[::1]:8443/"), of("::1"));
    }

    #[test]
    fn flags_without_tls_are_refused() {
        let plain = parse("http://h/").unwrap();
        let says = |flags: TlsFlags| flags.refuse_without(&[&plain]).unwrap_err().to_string();
        assert!(says(flags(|it| it.tls = Some(Version::V1_2))).starts_with("--tls is for TLS"));
        assert!(says(flags(|it| it.groups = vec!["x25519".into()])).contains("leave --groups out"));
        assert!(says(flags(|it| it.trust.ca = Some("x".into()))).contains("write https://"));
        assert!(says(flags(|_| {})).starts_with("-k is for TLS"));
        assert!(flags(|_| {}).refuse_without(&[&plain, &parse("https://h/").unwrap()]).is_ok());
        assert!(TlsFlags::default().refuse_without(&[&plain]).is_ok());
        let started = flags(|_| {}).refuse_without(&[]).unwrap_err().to_string();
        assert!(started.contains("(--protocol http/1.1+tls or h2)"), "{started}");
    }

    #[test]
    fn suites_of_another_version_are_refused() {
        let odd = flags(|it| {
            it.tls = Some(Version::V1_2);
            it.ciphers = vec!["TLS_AES_128_GCM_SHA256".into()];
        });
        let says = odd.client(&parse("https://h/").unwrap()).unwrap_err().to_string();
        assert_eq!(says, "--ciphers: none of the suites that are to be offered belongs to TLS 1.2");
    }
}
