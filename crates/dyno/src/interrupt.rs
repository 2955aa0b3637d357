//! Signals. Ctrl-C: the first one asks to stop, the second one is obeyed at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use rustix::process::Signal;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::commands::Answer;
use crate::terminal;

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
            std::process::exit(Answer::Interrupted as i32);
        }
    })?;
    Ok(())
}

/// A file that would exceed `ulimit -f` is an error of the write, which is told, and not the end of dyno without a word.
/// What dyno starts does not inherit this.
pub(crate) fn survive_file_limits() {
    // Where it cannot be done, all stays as the system has it.
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false)));
}
