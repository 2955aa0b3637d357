//! `dyno view`: the reports of a store, for a browser on this machine.

use std::sync::Arc;

use archive::view::View;
use clap::Args;
use host::Host;
use store::Store;

use crate::interrupt::on_interrupt;
use crate::shell::{ExitStatus, Refusal, print};
use crate::stores::StoreFlag;

/// Show the kept runs in a browser on this machine
///
/// There is an index, the page of each run, and a comparison of two. Nothing is measured, changed or sent elsewhere: it
/// listens on 127.0.0.1 only, and opens the store to read. Ctrl-C ends it.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ViewFlags {
    /// The port; 0 for any that is free
    #[arg(long, default_value_t = 0)]
    port: u16,
    #[command(flatten)]
    store: StoreFlag,
}

const AFTER_HELP: &str = "\
Examples:
  dyno view
  dyno view --port 8081 --store runs.sqlite

Exit codes:
  0    ended by Ctrl-C
  2    there are no runs, or the port is taken";

pub(crate) fn run(flags: &ViewFlags) -> Result<ExitStatus, Refusal> {
    let (_, path) = flags.store.find()?;
    // A store that cannot be read is reported here, not to the first client.
    Store::open_to_read(&path)?;
    let host = Host::listen(flags.port).map_err(|error| {
        Refusal::new(format!("--port {}: {error}; --port 0 takes any that is free", flags.port))
    })?;
    let closer = host.closer();
    on_interrupt(move || closer.close())?;
    print(&format!("http://{}/\n", host.address()))?;
    terminal::notice(&format!(
        "the runs of {}, for this machine only; Ctrl-C ends",
        path.display()
    ));
    let view = View::new(path);
    let answering: Arc<host::Handler> = Arc::new(move |question| view.answer(question));
    host.serve(&answering);
    Ok(ExitStatus::Yes)
}
