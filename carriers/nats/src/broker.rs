//! The connection to the broker: how it is made, and what the broker's errors mean.

use std::fs;
use std::path::Path;
use std::time::Duration;

use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions};
use nkeys::KeyPair;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use crate::flags::Url;
use crate::name::{Name, shortened};

/// Between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(100);
/// Messages that wait to be written: at 256 KiB each, what a slow link takes two seconds for.
const OUTGOING: usize = 16;
const INCOMING: usize = 4_096;

/// What the connection reports.
pub(crate) use async_nats::Event as Report;

/// Connects, and tries again while the broker may let itself be waited for.
pub(crate) async fn connect(
    url: &Url,
    keys: &KeyPair,
    ca: Option<&Path>,
    wait_seconds: u32,
) -> Result<(Client, mpsc::Receiver<Report>), String> {
    let (sender, reports) = mpsc::channel(256);
    let seed = keys.seed().map_err(|error| error.to_string())?;
    let mut options = ConnectOptions::with_nkey(seed)
        .name("dyno-nats")
        .require_tls(url.is_secured || ca.is_some())
        // What a captured broker names is no place to go.
        .ignore_discovered_servers()
        .connection_timeout(Duration::from_secs(2))
        .ping_interval(Duration::from_secs(1))
        .reconnect_delay_callback(|attempts| if attempts <= 1 { Duration::ZERO } else { PAUSE })
        .client_capacity(OUTGOING)
        .subscription_capacity(INCOMING)
        .event_callback(move |event| {
            let sender = sender.clone();
            async move {
                let _ = sender.send(event).await;
            }
        });
    if let Some(ca) = ca {
        check_authority(ca)?;
        options = options.add_root_certificates(ca.to_path_buf());
    }
    let until = Instant::now() + Duration::from_secs(wait_seconds.into());
    loop {
        let error = match options.clone().connect(url.as_str()).await {
            Ok(client) => return Ok((client, reports)),
            Err(error) => error,
        };
        if is_final(&error) || until <= Instant::now() {
            return Err(refusal(url, keys, &error));
        }
        sleep(PAUSE).await;
    }
}

fn check_authority(path: &Path) -> Result<(), String> {
    let text = fs::read(path).map_err(|error| format!("--ca {}: {error}", path.display()))?;
    let mark = b"-----BEGIN CERTIFICATE-----";
    if text.windows(mark.len()).any(|part| part == mark) {
        return Ok(());
    }
    Err(format!("--ca {}: it has no certificate in PEM", path.display()))
}

/// Whether waiting would not help.
fn is_final(error: &ConnectError) -> bool {
    use ConnectErrorKind as Kind;
    let is_refused = matches!(
        error.kind(),
        Kind::AuthorizationViolation | Kind::Authentication | Kind::ServerParse | Kind::Tls
    );
    is_refused || error.to_string().contains("certificate")
}

fn refusal(url: &Url, keys: &KeyPair, error: &ConnectError) -> String {
    let (place, key) = (url.as_str(), keys.public_key());
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation => format!(
            "the broker at {place} does not know this key: {key}; `dyno agents nats` writes its configuration"
        ),
        _ => format!("the broker at {place} cannot be reached: {}", shortened(&error.to_string())),
    }
}

/// The subjects of one side.
pub(crate) struct Subjects {
    lab: String,
    name: Name,
    is_coordinator: bool,
}

impl Subjects {
    pub(crate) fn new(lab: &Name, name: &Name, is_coordinator: bool) -> Subjects {
        Subjects { lab: format!("dyno.1.{lab}"), name: name.clone(), is_coordinator }
    }

    pub(crate) fn is_coordinator(&self) -> bool {
        self.is_coordinator
    }

    /// Where others publish for us.
    pub(crate) fn inbox(&self) -> String {
        let Subjects { lab, name, .. } = self;
        if self.is_coordinator { format!("{lab}.from.*") } else { format!("{lab}.to.{name}") }
    }

    /// Where we publish for a peer.
    pub(crate) fn outbox(&self, peer: &Name) -> String {
        let Subjects { lab, name, .. } = self;
        if self.is_coordinator { format!("{lab}.to.{peer}") } else { format!("{lab}.from.{name}") }
    }

    /// What only we and the broker publish under.
    pub(crate) fn own(&self) -> String {
        format!("{}.own.{}", self.lab, self.name)
    }

    pub(crate) fn echo(&self) -> String {
        format!("{}.echo", self.own())
    }

    /// Where the broker says that a peer is absent.
    pub(crate) fn absent(&self, peer: &Name) -> String {
        format!("{}.absent.{peer}", self.own())
    }

    /// The peer in the last part of a subject.
    pub(crate) fn peer(subject: &str) -> Option<Name> {
        subject.rsplit('.').next().and_then(|name| Name::parse(name).ok())
    }

    /// What it means that the broker forbids something: the peer that cannot be published for, or a sentence.
    pub(crate) fn forbidden(&self, words: &str) -> Result<Name, String> {
        let subject = words.split('"').nth(1).unwrap_or_default();
        let is_for_agent = subject.starts_with(&format!("{}.to.", self.lab));
        match Subjects::peer(subject) {
            Some(peer) if is_for_agent && self.is_coordinator && words.contains("Publish") => {
                Ok(peer)
            }
            _ => Err(format!(
                "the broker forbids what this program needs: {}; `dyno agents nats` writes the permissions",
                shortened(words)
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_has_subjects_of_its_own() {
        let [lab, a] = ["lab", "desk3"].map(|name| Name::parse(name).unwrap());
        let agent = Subjects::new(&lab, &a, false);
        let coordinator = Subjects::new(&lab, &Name::coordinator(), true);
        assert_eq!(agent.inbox(), coordinator.outbox(&a));
        assert_eq!(agent.outbox(&Name::coordinator()), "dyno.1.lab.from.desk3");
        assert_eq!(coordinator.inbox(), "dyno.1.lab.from.*");
        let absent = coordinator.absent(&a);
        assert!(absent.starts_with("dyno.1.lab.own.coordinator."));
        assert_eq!(Subjects::peer(&absent), Some(a));
        assert_eq!(Subjects::peer("dyno.1.lab.from.*"), None);
    }

    #[test]
    fn what_is_forbidden_is_one_agent_or_the_end() {
        let lab = Name::parse("lab").unwrap();
        let coordinator = Subjects::new(&lab, &Name::coordinator(), true);
        let to_agent = "Permissions Violation for Publish to \"dyno.1.lab.to.desk3\"";
        assert_eq!(coordinator.forbidden(to_agent), Ok(Name::parse("desk3").unwrap()));
        for other in [
            "Permissions Violation for Subscription to \"dyno.1.lab.from.*\"",
            "Permissions Violation for Publish to \"dyno.1.lab.own.coordinator.echo\"",
            "Permissions Violation for Publish to \"dyno.1.else.to.desk3\"",
            "Permissions Violation",
        ] {
            assert!(coordinator.forbidden(other).unwrap_err().contains("Permissions"), "{other}");
        }
    }
}
