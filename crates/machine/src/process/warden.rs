//! The warden: the parent of one subject, until no process of the subject is alive.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{PipeReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, read};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, pidfd_open, set_child_subreaper, setsid, wait,
};
use rustix::thread::set_no_new_privs;

use super::family::{descends, family_of, send};
use super::output::Output;
use super::protocol::{Command as WardenCommand, Event, Lines, Text, write_line};
use super::{Exit, Spec, descriptors, spawn};

/// Its pace while it ends its subject. Otherwise it sleeps until something happens, or for a second: then it waits for
/// processes that lost their parents.
const PACE: Duration = Duration::from_millis(5);
const IDLE: Duration = Duration::from_secs(1);

/// After how long the survivors of a first process that has ended are asked again: a shell's child that has not yet
/// become another program forgets the signal.
const AGAIN: Duration = Duration::from_millis(250);

/// The hidden subcommand: reads commands, reports events, returns the exit status.
#[must_use]
pub fn warden_main(commands: impl AsFd, mut events: impl Write) -> i32 {
    let mut lines = Lines::default();
    let Some(WardenCommand::Start(spec)) = first(&commands, &mut lines) else { return 2 };
    match begin(&spec) {
        Ok((subject, output)) => {
            let pid = subject.as_raw_nonzero().get().unsigned_abs();
            let _ = write_line(&mut events, &Event::Started { pid });
            Warden::new(*spec, subject, output, lines).run(&commands, &mut events);
            0
        }
        Err(error) => {
            let event = Event::Failed { os_error: error.raw, says: error.says };
            let _ = write_line(&mut events, &event);
            1
        }
    }
}

fn first(commands: &impl AsFd, lines: &mut Lines) -> Option<WardenCommand> {
    let mut bytes = [0; 4096];
    loop {
        if let Some(order) = lines.pop() {
            return order.ok();
        }
        match read(commands, &mut bytes) {
            Ok(0) => return None,
            Ok(arrived) => lines.push(&bytes[..arrived]),
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

fn begin(spec: &Spec) -> Result<(Pid, PipeReader), spawn::Failure> {
    let own = |what: &'static str| move |error: Errno| spawn::Failure::of(what, &error.into());
    // Detached from the terminal: an interrupt from its keyboard is for dyno to handle.
    setsid().map_err(own("a session for the warden"))?;
    set_child_subreaper(Some(getpid())).map_err(own("to be a subreaper"))?;
    descriptors::keep_from_children().map_err(|error| spawn::Failure::of("/proc", &error))?;
    // A subject needs no setuid program; servers that drop root's privileges still can.
    if !spec.may_gain_privileges {
        set_no_new_privs(true).map_err(own("no_new_privs"))?;
    }
    spawn::spawn(spec)
}

struct Warden {
    spec: Spec,
    subject: Pid,
    subject_ends: Option<OwnedFd>,
    pipe: Option<PipeReader>,
    output: Output,
    lines: Lines,
    hears: bool,
    exit: Option<Exit>,
    has_children: bool,
    ending: Option<Ending>,
}

/// How far the end of the subject has come.
struct Ending {
    began: Instant,
    /// The processes that were asked to end, and when last.
    asked: BTreeMap<u32, Instant>,
    killed: BTreeSet<u32>,
}

impl Warden {
    fn new(spec: Spec, subject: Pid, pipe: PipeReader, lines: Lines) -> Warden {
        let open = |path| std::fs::File::options().create(true).append(true).open(path).ok();
        let log = spec.log.as_ref().and_then(open);
        Warden {
            subject,
            subject_ends: pidfd_open(subject, PidfdFlags::empty()).ok(),
            pipe: ioctl_fionbio(&pipe, true).is_ok().then_some(pipe),
            output: Output::new(log, spec.log_bytes_max),
            lines,
            hears: true,
            exit: None,
            has_children: true,
            ending: None,
            spec,
        }
    }

    fn run(mut self, commands: &impl AsFd, events: &mut impl Write) {
        loop {
            self.wait(commands);
            self.drain();
            self.reap(events);
            self.handle(commands, events);
            if self.ending.is_some() {
                if !self.has_children {
                    break;
                }
                self.press_on();
            }
        }
        while self.drain() {}
        self.output.close();
        let killed = self.ending.map_or(0, |ending| ending.killed.len());
        let killed = u32::try_from(killed).unwrap_or(u32::MAX);
        let _ = write_line(events, &Event::Stopped { killed, tail: Text::of(&self.output.tail()) });
    }

    /// Waits until something happens, or the time is over.
    fn wait(&self, commands: &impl AsFd) {
        let mut sources = Vec::with_capacity(3);
        if self.hears {
            sources.push(PollFd::new(commands, PollFlags::IN));
        }
        sources.extend(self.pipe.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        sources.extend(self.subject_ends.iter().map(|ends| PollFd::new(ends, PollFlags::IN)));
        let limit = if self.ending.is_some() { PACE } else { IDLE };
        let limit = Timespec::try_from(limit).unwrap_or_default();
        // Whatever the result, everything is checked afterwards.
        let _ = poll(&mut sources, Some(&limit));
    }

    /// Reads some output; returns whether there may be more.
    fn drain(&mut self) -> bool {
        let mut bytes = [0; 64 << 10];
        let Some(pipe) = &self.pipe else { return false };
        match read(pipe, &mut bytes) {
            Ok(0) => self.pipe = None,
            Ok(arrived) => self.output.push(&bytes[..arrived]),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return false,
            Err(_) => self.pipe = None,
        }
        self.pipe.is_some()
    }

    /// Waits for every child that has ended, the adopted ones too.
    fn reap(&mut self, events: &mut impl Write) {
        self.has_children = loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.subject => {
                    let status = std::process::ExitStatus::from_raw(status.as_raw());
                    let exit = match (status.code(), status.signal()) {
                        (Some(code), _) => Exit::Status(code),
                        (None, Some(signal)) if self.ending.is_none() => Exit::by_signal(signal),
                        (None, Some(signal)) => Exit::Signal(signal),
                        (None, None) => Exit::Unseen,
                    };
                    self.exit = Some(exit);
                    self.subject_ends = None;
                    let _ = write_line(events, &Event::Exited(exit));
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
    }

    fn handle(&mut self, commands: &impl AsFd, events: &mut impl Write) {
        let mut source = [PollFd::new(commands, PollFlags::IN)];
        if self.hears && poll(&mut source, Some(&Timespec::default())).is_ok_and(|ready| 0 < ready)
        {
            let mut bytes = [0; 4096];
            match read(commands, &mut bytes) {
                Ok(0) => self.hears = false,
                Ok(arrived) => self.lines.push(&bytes[..arrived]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => self.hears = false,
            }
        }
        let mut is_told = !self.hears;
        while let Some(order) = self.lines.pop::<WardenCommand>() {
            match order {
                Ok(WardenCommand::Tail) => {
                    while self.drain() {}
                    let _ = write_line(events, &Event::Tail(Text::of(&self.output.tail())));
                }
                Ok(WardenCommand::Stop | WardenCommand::Start(_)) | Err(_) => is_told = true,
            }
        }
        if is_told && self.ending.is_none() {
            let (asked, killed) = (BTreeMap::new(), BTreeSet::new());
            self.ending = Some(Ending { began: Instant::now(), asked, killed });
        }
    }

    /// The first process is asked first: it knows best how to end its family. When it has ended, or half the grace is
    /// over, all processes are asked; when the grace is over, they are killed.
    fn press_on(&mut self) {
        let Some(ending) = &mut self.ending else { return };
        let own = getpid().as_raw_nonzero().get().unsigned_abs();
        let first = self.subject.as_raw_nonzero().get().unsigned_abs();
        let grace = Duration::from_millis(self.spec.grace_ms);
        let elapsed = ending.began.elapsed();
        if grace <= elapsed {
            self.spec.membership.iter().for_each(spawn::kill_members);
            for pid in family_of(own) {
                if send(pid, Signal::KILL, || descends(pid, own)) {
                    ending.killed.insert(pid);
                }
            }
            return;
        }
        let signal = Signal::from_named_raw(self.spec.stop_signal).unwrap_or(Signal::TERM);
        let is_for_all = self.exit.is_some() || grace / 2 <= elapsed;
        let receivers = if is_for_all { family_of(own) } else { vec![first] };
        for pid in receivers {
            let last = ending.asked.get(&pid);
            let is_due = last.is_none_or(|last| self.exit.is_some() && AGAIN <= last.elapsed());
            if is_due {
                ending.asked.insert(pid, Instant::now());
                let _ = send(pid, signal, || descends(pid, own));
                // A stopped process does not receive the signal.
                let _ = send(pid, Signal::CONT, || descends(pid, own));
            }
        }
    }
}
