//! A carrier's process: a thread writes to it, one reads its lines, and one keeps the last that it complained of.

use std::io::{Read, Write};
use std::process::{self, ChildStderr, ChildStdin, ChildStdout, Command};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use machine::process::Exit;
use post::CoordinatorEvent;

use super::CarrierEvent;
use super::framing::{Framing, Listener, Stop};
use super::start::{Start, not_copied};
use crate::pipes::{each_line, in_a_thread};

/// Lines that wait to be written.
const WAITING: usize = 256;
/// A process whose output has ended is about to end; on a busy machine, not at once.
const ENDING: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(5);
/// A copy of dyno is on its way to a host for no longer.
const COPY_WITHIN: Duration = Duration::from_secs(600);
const COPYING_AGAIN: Duration = Duration::from_secs(1);
/// So much is kept of what it complained of.
const COMPLAINT_MAX: usize = 2_048;
const COMPLAINT_WITHIN: Duration = Duration::from_secs(2);

pub(crate) struct Child {
    start: Start,
    framing: Framing,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    process: Option<process::Child>,
    /// When this is dropped, its standard input ends.
    lines: Option<SyncSender<Vec<u8>>>,
    /// It is not started again.
    is_closed: bool,
}

/// What it writes; none if it is not wanted any more.
type Started = Result<Option<(ChildStdout, ChildStderr)>, String>;

impl Child {
    /// Starts it. A thread follows it from then on, and says when it has ended.
    pub(crate) fn start(
        start: Start,
        framing: Framing,
        sender: SyncSender<CarrierEvent>,
    ) -> Result<Arc<Child>, String> {
        let child = Arc::new(Child { start, framing, state: Mutex::default() });
        // Here, so that processes are started in the order of the agents.
        let started = child.spawn();
        let followed = Arc::clone(&child);
        if let Err(how) = in_a_thread("carrier", move || followed.follow(started, &sender)) {
            child.kill();
            return Err(how);
        }
        Ok(child)
    }

    /// A process of which no line is taken, unless this channel's other end does.
    #[cfg(test)]
    pub(crate) fn with_lines(lines: SyncSender<Vec<u8>>) -> Child {
        let state = State { lines: Some(lines), ..State::default() };
        let start = Start::ssh("nowhere", "", &[]);
        Child { start, framing: Framing::Servers, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a line over if there is room for it; returns whether there was.
    pub(crate) fn say(&self, line: Vec<u8>) -> bool {
        self.state().lines.as_ref().is_some_and(|lines| lines.try_send(line).is_ok())
    }

    /// Hands a line over, and waits until there is room for it.
    pub(crate) fn say_surely(&self, line: Vec<u8>) {
        let lines = self.state().lines.clone();
        if let Some(lines) = lines {
            let _ = lines.send(line);
        }
    }

    /// Ends its standard input, by which an agent ends.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        (state.lines, state.is_closed) = (None, true);
    }

    pub(crate) fn has_ended(&self) -> bool {
        let mut state = self.state();
        let process = state.process.as_mut();
        process.is_none_or(|process| !matches!(process.try_wait(), Ok(None)))
    }

    pub(crate) fn kill(&self) {
        self.close();
        if let Some(process) = &mut self.state().process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// From its start to its end; a host that has no dyno yet gets one, and is tried again.
    fn follow(&self, mut started: Started, sender: &SyncSender<CarrierEvent>) {
        let mut was_copied = false;
        let how = loop {
            let (output, complaints) = match started {
                Ok(Some(pipes)) => pipes,
                Ok(None) => return,
                Err(how) => break how,
            };
            let complaint = match listen_to(complaints) {
                Ok(complaint) => complaint,
                Err(how) => break how,
            };
            let mut was_heard = false;
            let stop = self.read(output, &mut was_heard, sender);
            if let Some(Stop::Done) = stop {
                return self.kill();
            }
            let ended = self.ends(&complaint, was_heard);
            match stop {
                Some(Stop::Missing { system, machine }) if !was_copied => {
                    was_copied = true;
                    let copied = self.start.copy(&system, &machine);
                    match copied.and_then(|command| self.copy(command, sender)) {
                        Ok(()) => started = self.spawn(),
                        Err(how) => break how,
                    }
                }
                Some(_) => break "it cannot start the dyno that was copied to it".into(),
                None => break ended,
            }
        };
        self.close();
        let agents: Vec<usize> = match &self.framing {
            Framing::One(agent) => vec![*agent],
            Framing::Named(agents) => agents.values().copied().collect(),
            Framing::Servers => vec![0],
        };
        for agent in agents {
            let gone = CoordinatorEvent::Gone { agent, how: how.clone() };
            let _ = sender.send(CarrierEvent::Agents(gone));
        }
    }

    /// Has the program copied, by a process that ends with this one; says again and again that this goes on.
    fn copy(&self, mut command: Command, sender: &SyncSender<CarrierEvent>) -> Result<(), String> {
        let complaint = {
            let mut state = self.state();
            if state.is_closed {
                return Err("it is not wanted any more".into());
            }
            let mut process = command.spawn().map_err(|error| not_copied(&error.to_string()))?;
            let complaints = process.stderr.take();
            state.process = Some(process);
            complaints.map(listen_to).transpose()?
        };
        let (until, mut said) = (Instant::now() + COPY_WITHIN, None::<Instant>);
        loop {
            if said.is_none_or(|said| COPYING_AGAIN <= said.elapsed()) {
                said = Some(Instant::now());
                let _ = sender.send(CarrierEvent::Agents(CoordinatorEvent::Delayed));
            }
            let waited = self.state().process.as_mut().map(process::Child::try_wait);
            match waited {
                Some(Ok(Some(status))) if status.success() => return Ok(()),
                Some(Ok(None)) if Instant::now() < until => thread::sleep(LOOK),
                Some(Ok(None)) => {
                    return Err(not_copied(&format!("it took {} s", COPY_WITHIN.as_secs())));
                }
                Some(Ok(Some(_)) | Err(_)) | None => {
                    let says = complaint.map_or(String::new(), |it| it.whole());
                    return Err(not_copied(&says));
                }
            }
        }
    }

    /// Its number, while it runs.
    pub(crate) fn process(&self) -> Option<u32> {
        self.state().process.as_ref().map(process::Child::id)
    }

    /// None: it is not wanted any more.
    fn spawn(&self) -> Started {
        let mut state = self.state();
        if state.is_closed {
            return Ok(None);
        }
        let mut process =
            self.start.command().spawn().map_err(|error| self.start.unstarted(&error))?;
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        state.process = Some(process);
        let (Some(input), Some(output), Some(complaints)) = pipes else {
            return Err("its pipes are missing".into());
        };
        let (lines, waiting) = sync_channel(WAITING);
        state.lines = Some(lines);
        in_a_thread("carrier", move || write(input, &waiting))?;
        Ok(Some((output, complaints)))
    }

    fn read(
        &self,
        output: ChildStdout,
        was_heard: &mut bool,
        sender: &SyncSender<CarrierEvent>,
    ) -> Option<Stop> {
        let mut listener = Listener::new(&self.framing, sender);
        each_line(output, |_| *was_heard = true, |line, at| listener.take(line, at))
    }

    /// How it ended; it has ended already, or is about to.
    fn ends(&self, complaint: &Complaint, was_heard: bool) -> String {
        use std::os::unix::process::ExitStatusExt;
        let until = Instant::now() + ENDING;
        let how = loop {
            let waited = self.state().process.as_mut().map(process::Child::try_wait);
            match waited {
                Some(Ok(Some(status))) => {
                    let signal = status.signal().map(Exit::Signal);
                    let how = signal.or(status.code().map(Exit::Status)).unwrap_or(Exit::Unseen);
                    break format!("it ended: {how}");
                }
                Some(Ok(None)) if Instant::now() < until => thread::sleep(LOOK),
                Some(Ok(None) | Err(_)) | None => break "it closed its output".to_string(),
            }
        };
        self.start.ended(&how, &complaint.whole(), was_heard)
    }
}

fn write(mut input: ChildStdin, lines: &Receiver<Vec<u8>>) {
    for line in lines {
        if input.write_all(&line).is_err() {
            return;
        }
    }
}

/// The last that a process wrote to its standard error.
struct Complaint {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Complaint {
    /// All of it, once the process has ended; or, if another one keeps the pipe open, what has come for a while.
    fn whole(&self) -> String {
        let until = Instant::now() + COMPLAINT_WITHIN;
        while !self.reader.is_finished() && Instant::now() < until {
            thread::sleep(LOOK);
        }
        let bytes = self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        last_words(&String::from_utf8_lossy(&bytes))
    }
}

/// Keeps the last that is written to this pipe.
fn listen_to(mut pipe: ChildStderr) -> Result<Complaint, String> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeps = Arc::clone(&kept);
    let reader = in_a_thread("carrier", move || {
        let mut buffer = [0; 1_024];
        while let Ok(length @ 1..) = pipe.read(&mut buffer) {
            let mut kept = keeps.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&buffer[..length]);
            let surplus = kept.len().saturating_sub(COMPLAINT_MAX);
            kept.drain(..surplus);
        }
    })?;
    Ok(Complaint { kept, reader })
}

/// Others' words on one line, without what a terminal obeys, and not too many.
#[must_use]
pub fn plain(text: &str) -> String {
    words(text).join(" ").chars().take(LONGEST).collect()
}

const LONGEST: usize = 400;
const CAUSE_LONGEST: usize = LONGEST - 100;

/// Its words, with a mark where a line ends in the middle of what is said.
fn words_of_lines(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    // ssh writes this about each new host; it is the cause of no failure.
    let is_said = |line: &&str| !line.starts_with("Warning: Permanently added ");
    for line in text.split(['\n', '\r']).filter(is_said) {
        let mut words = words(line);
        words.retain(|word| !word.bytes().all(|byte| byte == b'@'));
        if let Some(last) = all.last_mut()
            && !words.is_empty()
            && !last.ends_with(|end: char| end.is_ascii_punctuation())
        {
            last.push(';');
        }
        all.extend(words.into_iter().map(String::from));
    }
    all
}

fn words(text: &str) -> Vec<&str> {
    let words = text.split(|letter: char| units::is_obeyed(letter) || letter.is_whitespace());
    words.filter(|word| !word.is_empty()).collect()
}

/// The words of a complaint, whose end says why; without the frames of `@` that ssh draws. It leaves room for a few
/// words before it.
fn last_words(text: &str) -> String {
    let words = words_of_lines(text);
    let mut from = words.len();
    let mut length = 0;
    while 0 < from && length + words[from - 1].len() < CAUSE_LONGEST {
        from -= 1;
        length += words[from].len() + 1;
    }
    let is_cut = 0 < from;
    let text = plain(&words[from..].join(" "));
    match (is_cut, text.is_empty()) {
        (true, false) => format!("… {text}"),
        (true, true) => {
            words.last().map_or("", String::as_str).chars().take(CAUSE_LONGEST).collect()
        }
        (false, _) => text,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_copy_that_is_under_way_ends_with_what_wanted_it() {
        let child = Arc::new(Child::with_lines(sync_channel(1).0));
        let (sender, events) = sync_channel(9);
        let (copies, wanted) = (Arc::clone(&child), sender);
        let mut command = Command::new("sleep");
        command.arg("60").stderr(std::process::Stdio::piped());
        let copied = thread::spawn(move || copies.copy(command, &wanted));
        let delayed = events.recv();
        assert!(matches!(delayed, Ok(CarrierEvent::Agents(CoordinatorEvent::Delayed))));
        let process = child.process().unwrap();
        child.kill();
        let says = copied.join().unwrap().unwrap_err();
        assert!(says.starts_with("dyno cannot be copied to it"), "{says}");
        assert!(!fs::exists(format!("/proc/{process}")).unwrap());
        // And none is begun later.
        let mut late = Command::new("sleep");
        late.arg("60");
        assert!(child.copy(late, &sync_channel(1).0).is_err());
    }

    #[test]
    fn the_words_of_others_move_no_cursor() {
        assert_eq!(plain(" a\x1b[2Jb\r\nc\t d\u{9b}e\u{202e} "), "a [2Jb c d e");
        assert_eq!(plain(&"x".repeat(9_999)).len(), 400);
        assert_eq!(plain("\n\x07"), "");
    }

    #[test]
    fn the_end_of_a_complaint_says_why() {
        let met =
            "Warning: Permanently added '[10.77.0.2]:22' (ED25519) to the list of known hosts.\r\n";
        assert_eq!(
            (last_words(met).as_str(), last_words(&format!("{met}why")).as_str()),
            ("", "why")
        );
        assert_eq!(last_words(" why\r\nnot \x1b[2J"), "why; not [2J");
        assert_eq!(last_words("no port,\n\nno way:\nnone.\n"), "no port, no way: none.");
        assert_eq!(last_words("@@@@@@\n@  WARNING!  @\n@@@@@@\nno.\n"), "WARNING! no.");
        let long = format!("{}Host key verification failed.", "It is possible. ".repeat(99));
        let words = last_words(&long);
        assert!(words.starts_with("… ") && words.ends_with("key verification failed."), "{words}");
        assert!(words.chars().count() <= 302);
        assert_eq!(last_words(&"x".repeat(9_999)).len(), 300);
        assert_eq!(last_words("@@@"), "");
    }
}
