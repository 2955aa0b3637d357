//! Ctrl-C: the first one asks to stop, the second one is obeyed at once.

use std::io;
use std::thread;

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
