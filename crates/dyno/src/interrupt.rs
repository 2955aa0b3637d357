//! Signals. Ctrl-C: the first one asks dyno to stop, a later one ends it at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use load::Halt;

use rustix::process::Signal;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::shell::{ExitStatus, Refusal};

/// `timeout` sends a signal to its program and another to the program's group: signals that come within this time of
/// the first one are the same request.
const AT_ONCE: Duration = Duration::from_millis(100);

/// Calls `stop` at the first SIGINT, SIGTERM or, without `nohup`, SIGHUP; ends dyno at a later one.
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
    let all = [SIGINT, SIGTERM, SIGHUP];
    let mut signals = Signals::new(if outlives_its_terminal() { &all[..2] } else { &all[..] })?;
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

/// Whether dyno was started with SIGHUP ignored, as `nohup` does: a handler would undo that.
fn outlives_its_terminal() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let bits = ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    bits.is_some_and(|bits| bits & (1 << (SIGHUP - 1)) != 0)
}

/// Makes exceeding `ulimit -f` an error of the write, which is reported, instead of ending dyno silently. Programs that
/// dyno starts do not inherit this.
pub(crate) fn survive_file_limits() {
    // If this fails, the system's default stays.
    let _ = signal_hook::flag::register(Signal::XFSZ.as_raw(), Arc::new(AtomicBool::new(false)));
}
