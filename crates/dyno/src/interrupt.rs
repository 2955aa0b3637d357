//! Signals. Ctrl-C: the first one asks dyno to stop, the second one ends it at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use rustix::process::Signal;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::shell::ExitStatus;

/// Calls `ask` at the first SIGINT, SIGTERM or SIGHUP; leaves at the second.
pub(crate) fn on_interrupt(ask: impl Fn() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        let mut forever = signals.forever();
        if forever.next().is_some() {
            ask();
        }
        if forever.next().is_some() {
            terminal::leave();
            std::process::exit(ExitStatus::Interrupted as i32);
        }
    })?;
    Ok(())
}

/// Makes exceeding `ulimit -f` an error of the write, which is reported, instead of ending dyno silently. Programs that
/// dyno starts do not inherit this.
pub(crate) fn survive_file_limits() {
    // If this fails, the system's default stays.
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false)));
}
