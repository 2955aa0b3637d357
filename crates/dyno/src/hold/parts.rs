//! Holding processes: each told its part on its standard input, each telling what it sees on its standard output.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use load::{Halt, HoldWindow, Holding};
use rustix::time::{ClockId, clock_gettime};

use super::Means;
use super::told::{HoldingTold, Part, Told, WindowTold, Wish};
use crate::commands::{Answer, Refusal};
use crate::interrupt::on_interrupt;
use crate::machine;

/// Between the start of the processes and the beginning of their clock.
const LEAD_NS: u64 = 300_000_000;
/// And as much for each of them.
const LEAD_EACH_NS: u64 = 30_000_000;
/// Halting is looked for so often.
const LOOK: Duration = Duration::from_millis(50);

/// Holds, in as many processes as the means say; `watch` is shown every second that all have told of.
pub(crate) fn hold(
    wish: &Wish,
    means: &Means,
    addresses: &[SocketAddr],
    cpus: &[usize],
    halt: &Halt,
    watch: &mut dyn FnMut(&HoldWindow),
) -> Result<Holding, Refusal> {
    let parts = means.parts as usize;
    let origin_ns = now_ns() + LEAD_NS + LEAD_EACH_NS * means.parts;
    let (tell, told) = channel();
    let mut processes = Vec::new();
    for number in 0..parts {
        let part = Part {
            wish: wish.clone(),
            address: addresses[number % addresses.len()],
            sources: means.sources.clone(),
            cpus: cpus.get(number % cpus.len().max(1)).copied().into_iter().collect(),
            first: number,
            lanes: 1,
            of: parts,
            origin_ns,
        };
        processes.push(Process::start(&part, number, tell.clone())?);
    }
    drop(tell);
    listen(&told, &mut processes, halt, watch)
}

fn listen(
    told: &Receiver<(usize, Result<Told, String>)>,
    processes: &mut [Process],
    halt: &Halt,
    watch: &mut dyn FnMut(&HoldWindow),
) -> Result<Holding, Refusal> {
    let mut seconds = Seconds { merged: Vec::new(), told: vec![0; processes.len()], shown: 0 };
    let mut all: Option<Holding> = None;
    let mut left = processes.len();
    while 0 < left {
        if halt.is_asked() {
            processes.iter_mut().for_each(|process| process.orders = None);
        }
        let (number, said) = match told.recv_timeout(LOOK) {
            Ok(said) => said,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let failed = |says: String| Refusal::new(format!("holding process {number}: {says}"));
        match said.map_err(failed)? {
            Told::Window(window) => seconds.hear(number, &window.read().map_err(failed)?, watch),
            Told::Failed(says) => return Err(failed(says)),
            Told::Holding(holding) => {
                let holding = holding.read().map_err(failed)?;
                match &mut all {
                    Some(merged) => merged.merge(&holding),
                    None => all = Some(holding),
                }
                left -= 1;
            }
        }
    }
    all.filter(|_| left == 0).ok_or_else(|| Refusal::new("a holding process ended without a word"))
}

/// Seconds of all processes.
struct Seconds {
    merged: Vec<HoldWindow>,
    told: Vec<usize>,
    shown: usize,
}

impl Seconds {
    fn hear(&mut self, number: usize, window: &HoldWindow, watch: &mut dyn FnMut(&HoldWindow)) {
        match self.merged.get_mut(self.told[number]) {
            Some(merged) => merged.merge(window),
            None => self.merged.push(window.clone()),
        }
        self.told[number] += 1;
        let whole = self.told.iter().copied().min().unwrap_or(0);
        self.merged[self.shown..whole].iter().for_each(watch);
        self.shown = whole;
    }
}

/// A holding process. Dropped, it ends.
struct Process {
    child: Child,
    /// Closed, it stops.
    orders: Option<ChildStdin>,
}

impl Process {
    fn start(
        part: &Part,
        number: usize,
        tell: Sender<(usize, Result<Told, String>)>,
    ) -> Result<Process, Refusal> {
        let refused = |error: &dyn std::fmt::Display| {
            Refusal::new(format!("a holding process cannot be started: {error}"))
        };
        let program = std::env::current_exe().map_err(|error| refused(&error))?;
        let mut child = Command::new(program)
            .arg("holder")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| refused(&error))?;
        let mut orders = child.stdin.take();
        let line = serde_json::to_string(part).map_err(|error| refused(&error))?;
        if let Some(orders) = &mut orders {
            writeln!(orders, "{line}").map_err(|error| refused(&error))?;
        }
        let words = child.stdout.take();
        std::thread::spawn(move || {
            for line in words.into_iter().flat_map(|words| BufReader::new(words).lines()) {
                let said = line.map_err(|error| error.to_string());
                let said = said.and_then(|line| {
                    serde_json::from_str(&line).map_err(|error| error.to_string())
                });
                if tell.send((number, said)).is_err() {
                    return;
                }
            }
        });
        Ok(Process { child, orders })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.orders = None;
        // It has told all that it had, or is not wanted any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a holding process does: its part, until that is done or its standard input is closed.
pub(crate) fn holder() -> Answer {
    let mut lines = BufReader::new(std::io::stdin());
    let mut line = String::new();
    let _ = lines.read_line(&mut line);
    let halt = Arc::new(Halt::default());
    let asked = Arc::clone(&halt);
    std::thread::spawn(move || {
        let _ = lines.read_to_end(&mut Vec::new());
        asked.ask();
    });
    // A terminal's Ctrl-C reaches us, too; whoever started us says what is to be done.
    let _ = on_interrupt(|| {});
    let held = serde_json::from_str::<Part>(&line)
        .map_err(|error| error.to_string())
        .and_then(|part| part.order().map_err(|error| error.to_string()))
        .and_then(|order| {
            let all = order.ramp.connections.div_ceil(order.share.of) * order.lanes;
            let files = machine::Machine::read().files;
            if let Some(files) =
                files.raised_for(all as u64 + 32).map_err(|refusal| refusal.to_string())?
            {
                machine::raise_files(files).map_err(|error| error.to_string())?;
            }
            let watch = &mut |glance: &load::HoldGlance<'_>| {
                tell(&Told::Window(WindowTold::of(glance.window)));
            };
            load::hold(&order, &halt, watch).map_err(|error| error.to_string())
        });
    match held {
        Ok(holding) => {
            tell(&Told::Holding(HoldingTold::of(&holding)));
            Answer::Yes
        }
        Err(says) => {
            tell(&Told::Failed(says));
            Answer::CouldNotTell
        }
    }
}

/// A line, or nothing: if nobody listens any more, our standard input is closed, too.
fn tell(told: &Told) {
    if let Ok(line) = serde_json::to_string(told) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}
