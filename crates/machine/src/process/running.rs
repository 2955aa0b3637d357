//! dyno's side of a warden: a running process, watched and ended.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, PipeReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::marker::VARIABLE;
use super::protocol::{Command as WardenCommand, Event, Lines, write_line};
use super::sweep::{Traces, kill_all};
use super::{Exit, Marker, Spec, family_of};
use crate::conditions::kills_for_memory;

/// How long a warden has to report that its subject's process runs.
const START: Duration = Duration::from_secs(10);

/// How much time a warden has beyond its grace.
const OVERTIME: Duration = Duration::from_secs(10);

/// A process of a subject, and its warden. Dropping it ends both.
#[derive(Debug)]
pub struct Running {
    warden: Child,
    orders: Option<ChildStdin>,
    events: PipeReader,
    lines: Lines,
    spec: Spec,
    pid: u32,
    exit: Option<Exit>,
    tail: Option<Vec<u8>>,
    stopped: Option<(u32, Vec<u8>)>,
    is_over: bool,
}

/// What a process left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    pub exit: Exit,
    /// How many of its family had to be killed.
    pub killed: u32,
    /// The last of its output.
    pub tail: Vec<u8>,
}

/// Starts a process under a warden: `warden` is the program, and the arguments, that end up in
/// `warden_main`. Returns as soon as the process runs; whether it answers is another question.
pub fn launch(warden: &[OsString], spec: &Spec) -> io::Result<Running> {
    start(warden, spec, Stdio::null())
}

/// Starts a process under a warden, which has this file open: a lock on it is not free before the last process has
/// ended, even if this process ends first.
pub fn launch_with_lock(warden: &[OsString], spec: &Spec, lock: &File) -> io::Result<Running> {
    // A warden prints nothing, and what it starts gets an output of its own.
    start(warden, spec, lock.try_clone()?.into())
}

fn start(warden: &[OsString], spec: &Spec, held: Stdio) -> io::Result<Running> {
    let (program, arguments) =
        warden.split_first().ok_or_else(|| io::Error::other("no program for the warden"))?;
    let (events, events_end) = io::pipe()?;
    let mut warden = Command::new(program)
        .args(arguments)
        .env_clear()
        .env(VARIABLE, &spec.marker)
        .stdin(Stdio::piped())
        .stdout(events_end)
        .stderr(held)
        .spawn()?;
    let mut orders = warden.stdin.take().ok_or_else(|| io::Error::other("no pipe"))?;
    // A warden that is already gone shows when the other pipe ends.
    let _ = write_line(&mut orders, &WardenCommand::Start(Box::new(spec.clone())));
    let mut running = Running {
        warden,
        orders: Some(orders),
        events,
        lines: Lines::default(),
        spec: spec.clone(),
        pid: 0,
        exit: None,
        tail: None,
        stopped: None,
        is_over: false,
    };
    running.hear_until(START, |running| running.pid != 0)?;
    Ok(running)
}

impl Running {
    /// The subject's first process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The warden: the root of the tree that monitors watch.
    #[must_use]
    pub fn warden_pid(&self) -> u32 {
        self.warden.id()
    }

    /// All living processes of the subject, parents first; the warden is not one of them.
    #[must_use]
    pub fn tree(&self) -> Vec<u32> {
        family_of(self.warden.id())
    }

    /// How its first process ended, if it has.
    pub fn ended(&mut self) -> Option<Exit> {
        let _ = self.hear_until(Duration::ZERO, |running| running.exit.is_some());
        self.exit()
    }

    /// The last of its output.
    pub fn tail(&mut self) -> Vec<u8> {
        self.tail = None;
        self.order(&WardenCommand::Tail);
        let _ = self.hear_until(START, |running| running.tail.is_some());
        self.tail.clone().unwrap_or_default()
    }

    /// Ends all of it: it is asked first, and killed when the grace is over.
    #[must_use]
    pub fn stop(mut self) -> Stopped {
        self.end()
    }

    fn exit(&self) -> Option<Exit> {
        let counter = self.spec.membership.as_ref().and_then(|member| member.oom.as_deref());
        Some(self.exit?.with_kills_for_memory(counter.and_then(kills_for_memory)))
    }

    fn end(&mut self) -> Stopped {
        self.is_over = true;
        self.order(&WardenCommand::Stop);
        // The end of the pipe means the same, in case the order did not arrive.
        self.orders = None;
        let limit = Duration::from_millis(self.spec.grace_ms) + OVERTIME;
        let heard = self.hear_until(limit, |running| running.stopped.is_some());
        if heard.is_err() {
            let _ = self.warden.kill();
            self.clean_up();
        }
        let _ = self.warden.wait();
        let (killed, tail) = self.stopped.take().unwrap_or_default();
        Stopped { exit: self.exit().unwrap_or(Exit::Unseen), killed, tail }
    }

    /// Ends from here what a warden did not end. Called before the warden is waited for: until then its process id, and
    /// so the id of its session, is not used again.
    fn clean_up(&mut self) {
        if self.stopped.is_none() {
            let traces = self.traces();
            self.stopped = Some((kill_all(|| traces.processes()).len() as u32, Vec::new()));
        }
    }

    /// How to find the subject's processes without a warden.
    fn traces(&self) -> Traces {
        Traces {
            marker: self.spec.marker.parse::<Marker>().ok(),
            session: self.warden.id(),
            cgroups: self.spec.membership.iter().flat_map(|member| member.join.clone()).collect(),
        }
    }

    fn order(&mut self, order: &WardenCommand) {
        if let Some(orders) = &mut self.orders {
            // A warden that no longer reads shows when the other pipe ends.
            let _ = write_line(orders, order);
        }
    }

    /// Reads the warden's messages until this holds; an error if it does not hold within the time.
    fn hear_until(&mut self, limit: Duration, holds: impl Fn(&Running) -> bool) -> io::Result<()> {
        let deadline = Instant::now() + limit;
        loop {
            while let Some(event) = self.lines.pop::<Event>() {
                self.handle(event?)?;
            }
            if holds(self) {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if !self.has_arrived(left)? {
                return Err(io::Error::new(ErrorKind::TimedOut, "the warden does not answer"));
            }
            let mut bytes = [0; 16 << 10];
            match io::Read::read(&mut self.events, &mut bytes)? {
                0 => return Err(self.lost()),
                arrived => self.lines.push(&bytes[..arrived]),
            }
        }
    }

    fn has_arrived(&self, limit: Duration) -> io::Result<bool> {
        let limit = Timespec::try_from(limit).map_err(io::Error::other)?;
        let mut events = [PollFd::new(&self.events, PollFlags::IN)];
        loop {
            match poll(&mut events, Some(&limit)) {
                Ok(ready) => return Ok(0 < ready),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn handle(&mut self, event: Event) -> io::Result<()> {
        match event {
            Event::Started { pid } => self.pid = pid,
            Event::Failed { os_error, says } => {
                let kind = os_error
                    .map_or(ErrorKind::Other, |error| io::Error::from_raw_os_error(error).kind());
                return Err(io::Error::new(kind, says));
            }
            Event::Exited(exit) => self.exit = Some(exit),
            Event::Tail(text) => self.tail = Some(text.bytes()),
            Event::Stopped { killed, tail } => self.stopped = Some((killed, tail.bytes())),
        }
        Ok(())
    }

    /// The warden ended without its last message: its family is ended from here.
    fn lost(&mut self) -> io::Error {
        self.clean_up();
        let ended = self.warden.wait().map_or(None, |status| status.signal());
        self.exit.get_or_insert(Exit::Unseen);
        let how =
            ended.map_or_else(|| "ended".to_string(), |signal| Exit::Signal(signal).to_string());
        io::Error::new(ErrorKind::BrokenPipe, format!("the warden is gone: {how}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            self.end();
        }
    }
}
