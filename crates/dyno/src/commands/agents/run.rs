//! `dyno agents run`: carries out what a coordinator, dyno on another machine, orders; within what its owner allows.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use agents::servers::{HostSession, machine_name};
use agents::{Allow, Limits, serve, serve_via};
use campaign::remote_run::{self, HostTerms};
use clap::Args;
use report::dry_run;

use super::bounds::{BOUNDS, BoundFlags};
use crate::commands::run::dry;
use crate::interrupt::halt_on_interrupt;
use crate::kernel;
use crate::load_agents::own_program;
use crate::shell::{ExitStatus, Refusal};

/// Generate load or run servers for a dyno on another machine, as far as this machine's owner allows
///
/// That other dyno is the coordinator: its `--load-on ssh:HOST` or `--server-on ssh:HOST` starts an agent by itself. An
/// agent ends when its coordinator does, and leaves no load and no server running.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RunFlags {
    /// Speak with the coordinator by standard input and output
    #[arg(long, required_unless_present = "via", conflicts_with = "via")]
    stdio: bool,
    /// Wait for the coordinator at this NATS broker, by `dyno-nats`: nats://HOST[:PORT] or tls://HOST[:PORT]
    #[arg(long, value_name = "URL", requires_all = ["lab", "name", "trust"])]
    via: Option<String>,
    /// With --via: the name of the lab
    #[arg(long, value_name = "LAB", requires = "via")]
    lab: Option<String>,
    /// With --via: this agent's name
    #[arg(long, value_name = "NAME", requires = "via")]
    name: Option<String>,
    /// With --via: the public key of the coordinator that is obeyed
    #[arg(long, value_name = "KEY", requires = "via")]
    trust: Option<String>,
    /// With --via: this agent's key
    #[arg(long, value_name = "FILE", requires = "via")]
    key_file: Option<PathBuf>,
    /// With --via: the authority that must have signed the broker's certificate
    #[arg(long, value_name = "FILE", requires = "via")]
    ca: Option<PathBuf>,
    /// With --via: how long to wait for the coordinator, seconds
    #[arg(long, value_name = "SECONDS", requires = "via")]
    wait: Option<u32>,
    #[command(flatten)]
    bounds: BoundFlags,
    /// Run the servers of a coordinator that is elsewhere (`dyno run --server-on`), instead of loading: those whose files
    /// are trusted (`dyno agents trust`)
    #[arg(long, requires = "stdio", conflicts_with = "via", conflicts_with_all = BOUNDS)]
    servers: bool,
    /// With --servers: trust all files that come; for a login that may start any command anyway
    #[arg(long, requires = "servers")]
    trust_all: bool,
    /// The coordinator is this process' parent
    #[arg(long, hide = true, conflicts_with_all = ["via", "allow", "allow_file"])]
    local: bool,
}

const AFTER_HELP: &str = "\
Where ssh may start any command, no flags are needed here: dyno gives them. For a key that may do nothing but \
load, `dyno agents key` prints the line for ~/.ssh/authorized_keys; then its flags hold, whatever the coordinator says.
With --servers, such a key may do nothing but run servers whose files are trusted.

Examples:
  # whatever listens on port 8080 of this network, and no more than 50,000 requests/s
  dyno agents run --stdio --allow 10.0.0.0/24:8080 --max-rate 50k
  # the same for the owner of a key, and nothing else
  dyno agents key --allow 10.0.0.0/24:8080 --max-rate 50k ann.pub >> ~/.ssh/authorized_keys

Exit codes:
  0    the coordinator has ended
  2    it could not start, or what it was sent is of no coordinator";

pub(super) fn run(flags: &RunFlags) -> Result<ExitStatus, Refusal> {
    if flags.servers {
        return run_servers(flags.trust_all, flags.local);
    }
    let limits = Limits {
        allow: if flags.local { Allow::All } else { flags.bounds.allow()? },
        caps: flags.bounds.caps(),
        is_local: flags.local,
    };
    // A terminal's Ctrl-C reaches this process, too; but if it has a coordinator, that one decides when it ends.
    let end = halt_on_interrupt()?;
    let served = match carrier(flags) {
        None => serve(io::stdin(), io::stdout(), limits, &end),
        Some(arguments) => serve_via(&arguments, &own_program()?, limits, &end),
    };
    // Lanes that still run end with the process, which is now.
    served.map_err(Refusal::new)?;
    Ok(ExitStatus::Yes)
}

/// Has the servers of one run, for the coordinator at the other end of standard input and output.
fn run_servers(trusts_all: bool, is_local: bool) -> Result<ExitStatus, Refusal> {
    kernel::check()?;
    let halt = halt_on_interrupt()?;
    let session = HostSession::open(io::stdin(), io::stdout(), halt).map_err(Refusal::new)?;
    let terms = HostTerms {
        trusts_all,
        is_local,
        host: machine_name(),
        show: &|campaign, resources| dry_run::text(&dry(campaign, resources)),
    };
    remote_run::serve(&session, &terms)?;
    Ok(ExitStatus::Yes)
}

/// What `dyno-nats` is started with, if that is to carry what is said.
fn carrier(flags: &RunFlags) -> Option<Vec<OsString>> {
    let url = flags.via.as_ref()?;
    let texts =
        [("--url", Some(url)), ("--lab", flags.lab.as_ref()), ("--name", flags.name.as_ref())];
    let texts = texts.into_iter().chain([("--trust", flags.trust.as_ref())]);
    let texts = texts.filter_map(|(flag, text)| Some((flag, OsString::from(text?))));
    let paths = [("--key-file", &flags.key_file), ("--ca", &flags.ca)];
    let paths = paths.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?.into())));
    let wait = flags.wait.map(|seconds| ("--wait", seconds.to_string().into()));
    let given = texts.chain(paths).chain(wait).flat_map(|(flag, value)| [flag.into(), value]);
    Some(std::iter::once("agent".into()).chain(given).collect())
}
