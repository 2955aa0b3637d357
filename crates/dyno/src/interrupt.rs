//! Signals. Ctrl-C: the first one asks dyno to stop, a later one ends it at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use load::Halt;

use rustix::process::Signal;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::shell::{ExitStatus, Refusal};

/// `timeout` sends a signal to its program and another to the program's group: signals that come within this time of
/// the first one are the same request.
const AT_ONCE: Duration = Duration::from_millis(100);

/// Calls `stop` at the first SIGINT, SIGTERM or SIGHUP; ends dyno at a later one.
pub(crate) fn on_interrupt(stop: impl Fn() + Send + 'static) -> Result<(), Refusal> {
    listen(stop).map_err(|error| Refusal::new(format!("Ctrl-C cannot be listened for: {error}")))
}

/// What ends a load, a run or a check early, at the first signal.
pub(crate) fn halt_on_interrupt() -> Result<Arc<Halt>, Refusal> {
    let halt = Arc::new(Halt::default());
    let asked = Arc::clone(&halt);
    on_interrupt(move || asked.ask())?;
    Ok(halt)
}

fn listen(ask: impl Fn() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        let mut forever = signals.forever();
        if forever.next().is_none() {
            return;
        }
        ask();
        let asked = Instant::now();
        if forever.any(|_| AT_ONCE < asked.elapsed()) {
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
