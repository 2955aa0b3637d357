//! `dyno agents nats`: a broker's configuration, in which every agent may do what it needs, and no more.

use std::fmt::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::keys::{self, Keys};
use super::values::{COORDINATOR, Label, lab, listen, word};
use crate::shell::{ExitStatus, Refusal, print};

/// Print the configuration of a NATS broker for one lab: TLS, a key for each agent, and what each may do
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct NatsFlags {
    /// The lab's name
    #[arg(long, value_name = "LAB", default_value = "dyno", value_parser = lab)]
    lab: Label,
    /// The public keys: a line `NAME KEY` for `coordinator` and for each agent, as `dyno-nats key` prints them
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
    /// Where the broker listens
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4222", value_parser = listen)]
    listen: SocketAddr,
    /// The broker's certificate, a path on its machine
    #[arg(long, value_name = "FILE", value_parser = word, requires = "tls_key")]
    tls_cert: Option<String>,
    /// The certificate's key, a path on its machine
    #[arg(long, value_name = "FILE", value_parser = word, requires = "tls_cert")]
    tls_key: Option<String>,
    /// Without TLS: orders and results are signed all the same, but any machine on the way can read them
    #[arg(long, conflicts_with = "tls_cert")]
    without_tls: bool,
}

const AFTER_HELP: &str = "\
Each agent may listen to what is sent to it, publish under its own name, and nothing else; the coordinator may talk to all. \
What goes through the broker is signed by the sender, so a broker can delay an order, and never give one.

Examples:
  for name in coordinator desk2 desk3; do dyno-nats key \"$name\"; done > agents.keys
  dyno agents nats --keys agents.keys --listen 0.0.0.0:4222 --tls-cert tls.crt --tls-key tls.key > nats.conf
  nats-server -c nats.conf

Exit codes:
  0    printed
  2    a flag does not fit, or the list of keys cannot be read";

pub(super) fn run(flags: &NatsFlags) -> Result<ExitStatus, Refusal> {
    let keys = keys::read(&flags.keys)?;
    let tls = flags.tls_cert.as_deref().zip(flags.tls_key.as_deref());
    if tls.is_none() && !flags.without_tls && !flags.listen.ip().is_loopback() {
        return Err(Refusal::new(format!(
            "--listen {}: other machines reach this address; give --tls-cert and --tls-key, or --without-tls",
            flags.listen
        )));
    }
    print(&config(&flags.lab, &keys, flags.listen, tls))
}

/// The configuration; `tls` has the paths of the certificate and of its key.
pub(crate) fn config(
    lab: &Label,
    keys: &Keys,
    listen: SocketAddr,
    tls: Option<(&str, &str)>,
) -> String {
    let mut text = format!(
        "# A NATS broker for the agents of the lab {lab}, by `dyno agents nats`.\n\
         #\n\
         # All users stand inside accounts: versions before 2.9.23 let strangers in where they do not.\n\
         listen: \"{listen}\"\n\
         max_payload: 1048576\n\
         max_connections: {}\n\
         # A host that was cut off is given up soon.\n\
         ping_interval: \"5s\"\n\
         ping_max: 2\n",
        keys.agents.len() + 16
    );
    if let Some((certificate, key)) = tls {
        let _ = write!(
            text,
            "\ntls {{\n  cert_file: \"{certificate}\"\n  key_file: \"{key}\"\n  timeout: 5\n}}\n"
        );
    }
    let _ = write!(text, "\naccounts {{\n  \"{lab}\": {{\n    users: [\n");
    let own = |name: &str| format!("dyno.1.{lab}.own.{name}");
    let (to, from) = (format!("dyno.1.{lab}.to"), format!("dyno.1.{lab}.from"));
    text += &user(
        COORDINATOR,
        &keys.coordinator,
        &format!("{to}.*"),
        &format!("{from}.*"),
        &own(COORDINATOR),
    );
    for (name, key) in &keys.agents {
        let name = name.as_str();
        text += &user(name, key, &format!("{from}.{name}"), &format!("{to}.{name}"), &own(name));
    }
    text += "    ]\n  }\n}\n";
    text
}

/// One user: it publishes under one subject and hears another; under its own, its messages and the broker's word that
/// a peer is absent return to it.
fn user(name: &str, key: &str, publishes: &str, hears: &str, own: &str) -> String {
    format!(
        "      # {name}\n      {{ nkey: {key}\n        permissions: {{\n          \
         publish: {{ allow: [\"{publishes}\", \"{own}.echo\"] }}\n          \
         subscribe: {{ allow: [\"{hears}\", \"{own}.>\"] }}\n        }} }}\n"
    )
}
