//! Held connections on one or more addresses, spread over processes and merged. A holding process gets its part on its
//! standard input, and reports what it sees on its standard output.

mod messages;

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use load::{Halt, HoldWindow, Holding, WindowMerger};
use machine::process::Exit;
use rustix::time::{ClockId, clock_gettime};

pub use messages::{HoldSpec, Kind, SentText};
use messages::{HolderMessage, Part};

const SECOND_NS: u64 = 1_000_000_000;
/// Between the start of the processes and the beginning of their clock.
const LEAD_NS: u64 = 300_000_000;
/// And this much for each of them.
const LEAD_EACH_NS: u64 = 30_000_000;
/// How often an interrupt is looked for.
const LOOK: Duration = Duration::from_millis(50);
/// An early end is this far ahead: all processes hear of it before it is due.
const STOP_LEAD_NS: u64 = 150_000_000;
/// After the end, a process may take this long to close its connections and report what it saw.
const GRACE_NS: u64 = 5 * SECOND_NS;
/// A process whose output has ended is about to end; on a busy machine, not at once.
const ENDING: Duration = Duration::from_secs(5);

/// Where no rate is given, no fewer connections than this are begun each second. It is low because every server can
/// accept so many; a run kept without a rate was made with it.
const USUAL_PER_SECOND_LEAST: f64 = 100.0;

/// How many connections are begun each second where no rate is given: a step within a third of its time.
#[must_use]
pub fn usual_per_second(step: usize, every: Duration) -> u32 {
    (3.0 * step as f64 / every.as_secs_f64()).ceil().max(USUAL_PER_SECOND_LEAST) as u32
}

/// What was held, and what is missing from it.
pub struct HeldByProcesses {
    /// None if no process finished.
    pub holding: Option<Holding>,
    pub lost: Vec<LostProcess>,
}

/// A holding process that did not finish: what it saw is in no step, and after this in no second.
#[derive(Clone, Debug)]
pub struct LostProcess {
    /// Counted from 1.
    pub number: usize,
    pub of: usize,
    /// Since the ramp began.
    pub at_ns: u64,
    /// In the last second that it reported.
    pub open: u64,
    pub how: String,
}

/// What happens while connections are held.
#[derive(Clone, Copy, Debug)]
pub enum HoldEvent<'e> {
    /// A second that all processes have reported.
    Second(&'e HoldWindow),
    Lost(&'e LostProcess),
}

/// How connections are spread over processes.
pub struct Spread<'s> {
    /// The program whose command `holder` is a holding process.
    pub program: &'s Path,
    /// How many processes.
    pub processes: u64,
    /// Over which they are spread.
    pub addresses: &'s [SocketAddr],
    /// Local addresses, in turn; if empty, the kernel chooses.
    pub sources: &'s [IpAddr],
    /// CPUs of the processes, in turn.
    pub cpus: &'s [usize],
}

/// Holds, in several processes; `watch` is called for every second that all have reported.
pub fn hold(
    spec: &HoldSpec,
    spread: &Spread<'_>,
    halt: &Halt,
    watch: &mut dyn FnMut(HoldEvent<'_>),
) -> Result<HeldByProcesses, String> {
    let parts = spread.processes as usize;
    let origin_ns = now_ns()? + LEAD_NS + LEAD_EACH_NS * spread.processes;
    let (sender, events) = channel();
    let mut processes = Vec::new();
    for number in 0..parts {
        let part = Part {
            spec: spec.clone(),
            address: spread.addresses[number % spread.addresses.len()],
            sources: spread.sources.to_vec(),
            cpus: spread.cpus.get(number % spread.cpus.len().max(1)).copied().into_iter().collect(),
            first: number,
            lanes: 1,
            of: parts,
            origin_ns,
        };
        processes.push(Process::start(spread.program, &part, number, sender.clone())?);
    }
    drop(sender);
    Holders {
        merger: WindowMerger::new(SECOND_NS, parts),
        processes,
        origin_ns,
        ends_ns: origin_ns.saturating_add(spec.ramp().end()),
        whole: None,
        lost: Vec::new(),
    }
    .listen(&events, halt, watch)
}

/// All holding processes, and what they have reported so far.
struct Holders {
    processes: Vec<Process>,
    origin_ns: u64,
    /// When all connections are closed.
    ends_ns: u64,
    merger: WindowMerger,
    whole: Option<Holding>,
    lost: Vec<LostProcess>,
}

/// What a process reports, or that it reports nothing more.
enum HolderEvent {
    Message(HolderMessage),
    Unread(String),
    Ended,
}

impl Holders {
    fn listen(
        mut self,
        events: &Receiver<(usize, HolderEvent)>,
        halt: &Halt,
        watch: &mut dyn FnMut(HoldEvent<'_>),
    ) -> Result<HeldByProcesses, String> {
        let mut was_halted = false;
        while self.processes.iter().any(|process| process.is_wanted) {
            let now_ns = now_ns()?;
            if halt.is_asked() && !was_halted {
                was_halted = true;
                self.ends_ns = self.ends_ns.min(now_ns + STOP_LEAD_NS);
                let at = self.ends_ns;
                self.processes.iter_mut().for_each(|process| process.order_end(at));
            }
            match events.recv_timeout(LOOK) {
                Ok((number, event)) if self.processes[number].is_wanted => {
                    self.handle(number, event, watch)?;
                }
                Ok(_) => {}
                // Every process sends a last message when it ends.
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    if self.ends_ns.saturating_add(GRACE_NS) < now_ns {
                        self.give_up_the_rest(watch);
                    }
                }
            }
        }
        let Holders { merger, whole, lost, .. } = self;
        let holding = whole.map(|whole| Holding { windows: merger.into_windows(), ..whole });
        Ok(HeldByProcesses { holding, lost })
    }

    fn handle(
        &mut self,
        number: usize,
        event: HolderEvent,
        watch: &mut dyn FnMut(HoldEvent<'_>),
    ) -> Result<(), String> {
        match event {
            HolderEvent::Message(HolderMessage::Window(window)) => {
                self.merger.add(number, &window, &mut |second| watch(HoldEvent::Second(second)));
            }
            HolderEvent::Message(HolderMessage::Failed(says)) => {
                return Err(format!("holding process {}: {says}", number + 1));
            }
            HolderEvent::Message(HolderMessage::Holding(holding)) => {
                self.processes[number].is_wanted = false;
                match &mut self.whole {
                    Some(whole) => whole.merge(&holding),
                    None => self.whole = Some(*holding),
                }
            }
            HolderEvent::Unread(says) => {
                self.lose(number, format!("it wrote what cannot be read: {says}"), watch);
            }
            HolderEvent::Ended => {
                let how = self.processes[number].ends();
                self.lose(number, how, watch);
            }
        }
        Ok(())
    }

    fn give_up_the_rest(&mut self, watch: &mut dyn FnMut(HoldEvent<'_>)) {
        for number in 0..self.processes.len() {
            if self.processes[number].is_wanted {
                let waited = GRACE_NS / SECOND_NS;
                let how = format!("it said nothing for {waited} s after the end, and was killed");
                self.lose(number, how, watch);
            }
        }
    }

    fn lose(&mut self, number: usize, how: String, watch: &mut dyn FnMut(HoldEvent<'_>)) {
        self.processes[number].kill();
        let lost = LostProcess {
            number: number + 1,
            of: self.processes.len(),
            at_ns: now_ns().unwrap_or(self.ends_ns).saturating_sub(self.origin_ns),
            open: self.merger.open(number),
            how,
        };
        watch(HoldEvent::Lost(&lost));
        self.lost.push(lost);
        self.merger.lost(number, &mut |second| watch(HoldEvent::Second(second)));
    }
}

/// A holding process. It ends when it is dropped.
struct Process {
    child: Child,
    /// When this is closed, the process stops.
    orders: Option<ChildStdin>,
    /// It has not reported everything yet.
    is_wanted: bool,
}

impl Process {
    fn start(
        program: &Path,
        part: &Part,
        number: usize,
        sender: Sender<(usize, HolderEvent)>,
    ) -> Result<Process, String> {
        let refused =
            |error: &dyn fmt::Display| format!("a holding process cannot be started: {error}");
        let mut child = Command::new(program)
            .arg("holder")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| refused(&error))?;
        let (orders, output) = (child.stdin.take(), child.stdout.take());
        let mut process = Process { child, orders, is_wanted: true };
        let line = serde_json::to_string(part).map_err(|error| refused(&error))?;
        if let Some(orders) = &mut process.orders {
            writeln!(orders, "{line}").map_err(|error| refused(&error))?;
        }
        let listen = move || {
            for line in output.into_iter().flat_map(|output| BufReader::new(output).lines()) {
                let message = line.map_err(|error| error.to_string()).and_then(|line| {
                    serde_json::from_str(&line).map_err(|error| error.to_string())
                });
                if sender
                    .send((number, message.map_or_else(HolderEvent::Unread, HolderEvent::Message)))
                    .is_err()
                {
                    return;
                }
            }
            let _ = sender.send((number, HolderEvent::Ended));
        };
        let thread = std::thread::Builder::new().name(format!("hears {number}"));
        thread.spawn(listen).map_err(|error| refused(&error))?;
        Ok(process)
    }

    /// Asks it to end at this instant. A process that does not listen any more is noticed when its report is due.
    fn order_end(&mut self, at_ns: u64) {
        if let Some(orders) = &mut self.orders {
            let _ = writeln!(orders, "{at_ns}").and_then(|()| orders.flush());
        }
    }

    /// How it ended; it has ended already, or is about to.
    fn ends(&mut self) -> String {
        use std::os::unix::process::ExitStatusExt;
        let until = Instant::now() + ENDING;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    let signal = status.signal().map(Exit::Signal);
                    let how = signal.or(status.code().map(Exit::Status)).unwrap_or(Exit::Unseen);
                    return format!("it ended: {how}");
                }
                Ok(None) if Instant::now() < until => std::thread::sleep(LOOK / 10),
                Ok(None) | Err(_) => return "it closed its output".into(),
            }
        }
    }

    fn kill(&mut self) {
        (self.orders, self.is_wanted) = (None, false);
        // It has reported everything, or is not wanted any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A holding process holds its part until that is done, until a time to end is written to its standard input, or until
/// that is closed. Returns whether it could.
#[must_use]
pub fn holder() -> bool {
    let mut lines = BufReader::new(std::io::stdin()).lines();
    let line = lines.next().and_then(Result::ok).unwrap_or_default();
    let halt = Arc::new(Halt::default());
    let asked = Arc::clone(&halt);
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if let Ok(at_ns) = line.trim().parse() {
                asked.ask_at(at_ns);
            }
        }
        asked.ask();
    });
    let held = serde_json::from_str::<Part>(&line)
        .map_err(|error| error.to_string())
        .and_then(|part| part.order())
        .and_then(|order| {
            let all = order.ramp.connections.div_ceil(order.share.of) * order.lanes;
            let files = machine::limits::Machine::read().files;
            if let Some(files) = files.raised_for(all as u64 + 32)? {
                machine::limits::raise_files(files).map_err(|error| error.to_string())?;
            }
            let watch = &mut |window: &HoldWindow| {
                send(&HolderMessage::Window(Box::new(window.clone())));
            };
            load::hold(&order, &halt, watch).map_err(|error| error.to_string())
        });
    let could = held.is_ok();
    send(&match held {
        Ok(holding) => HolderMessage::Holding(Box::new(holding)),
        Err(says) => HolderMessage::Failed(says),
    });
    could
}

/// Writes a line. Errors are ignored: if the reader has gone, our standard input is closed, too.
fn send(message: &HolderMessage) {
    if let Ok(line) = serde_json::to_string(message) {
        let mut out = std::io::stdout().lock();
        let _ = writeln!(out, "{line}").and_then(|()| out.flush());
    }
}

/// On the machine's monotonic clock.
fn now_ns() -> Result<u64, String> {
    let now = clock_gettime(ClockId::Monotonic);
    let before_its_begin = |_| "the machine's monotonic clock is before its begin".to_string();
    let seconds = u64::try_from(now.tv_sec).map_err(before_its_begin)?;
    Ok(seconds * SECOND_NS + u64::try_from(now.tv_nsec).map_err(before_its_begin)?)
}
