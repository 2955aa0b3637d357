//! The lines of a run whose servers are elsewhere, where its coordinator is.

use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use load::Halt;
use post::{
    CoordinatorEvent, FromServers, Greeting, Host, LineError, MILLISECOND, Nanos, Reassembly,
    SECOND, ToServers, cut,
};

use super::held;
use super::place::ServersOn;
use crate::carrier::CarrierEvent;
use crate::carrier::child::{Child, plain};
use crate::carrier::framing::Framing;
use crate::carrier::start::Start;
use crate::identity::{digest_to_ask_for, greeting};
use crate::loads::LoadsError;
use crate::now_ns;
use crate::pipes::in_a_thread;

/// Whichever side hears nothing of the other for so long ends the run.
pub(super) const LEASE: Nanos = 10 * SECOND;
/// A host is reached, and gets a dyno if it has none, within this time.
const MEET_WITHIN: Duration = Duration::from_secs(60);
/// How often what was asked for is looked for, and how often the host is told that this side lives.
const LOOK: Duration = Duration::from_millis(20);
const BEAT: Nanos = 500 * MILLISECOND;
/// No longer sentence of a host is shown.
const WORDS_MAX: usize = 2_000;
/// Messages that wait to be taken; a host that says more waits.
const WAITING: usize = 1_024;
/// A process of this machine that has lost its coordinator ends its run within this time. Another host does so alone.
const LOCAL_ENDING: Duration = Duration::from_secs(8);
const ENDING: Duration = Duration::from_millis(700);

/// What a host last said of its server's processes: nanoseconds of CPU time each second, and octets of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vitals {
    pub cpu: Option<f64>,
    pub memory: Option<f64>,
}

/// The connection with the host of a run's servers; the run there ends with it.
pub struct RemoteSession {
    /// The host, as sentences name it.
    name: String,
    /// Whether the host is this machine.
    pub is_local: bool,
    /// How long its end is waited for.
    ending: Duration,
    child: Arc<Child>,
    shared: Arc<Shared>,
    news: Receiver<Result<FromServers, String>>,
}

struct Shared {
    halt: Arc<Halt>,
    reassembly: Mutex<Reassembly>,
    /// The load that is under way.
    load: Mutex<Option<(u64, Arc<Halt>)>>,
    vitals: Mutex<Vitals>,
    /// When something was heard last; 0 before that.
    heard: AtomicU64,
    /// When a copy of dyno was on its way to the host last; 0 if none was.
    copied: AtomicU64,
    is_over: AtomicBool,
}

impl Shared {
    fn halt_load(&self, of: Option<u64>) {
        if let Some((load, halt)) = &*held(&self.load)
            && of.is_none_or(|of| of == *load)
        {
            halt.ask();
        }
    }
}

/// A load that is under way here; it can be halted from there as long as this is there.
pub struct Load<'t> {
    session: &'t RemoteSession,
    pub halt: Arc<Halt>,
}

impl Drop for Load<'_> {
    fn drop(&mut self) {
        *held(&self.session.shared.load) = None;
    }
}

impl RemoteSession {
    /// Starts an agent there, and waits until it has answered; returns what it says of itself, and by which address it
    /// was reached. `halt` ends the run there, too.
    pub fn meet(
        on: &ServersOn,
        program: &Path,
        halt: &Arc<Halt>,
    ) -> Result<(RemoteSession, Host, Option<IpAddr>), LoadsError> {
        let refused = |says: String| LoadsError::Refused(format!("{}: {says}", on.name()));
        let digest = digest_to_ask_for(on.is_local())?;
        let start = match on {
            ServersOn::Local => Start::Local { program: program.into(), flags: &["--servers"] },
            ServersOn::Ssh(host) => Start::ssh_servers(host, digest.as_deref().unwrap_or_default()),
        };
        let (sender, events) = sync_channel(64);
        let child = Child::start(start, Framing::Servers, sender).map_err(refused)?;
        let shared = Arc::new(Shared {
            halt: Arc::clone(halt),
            reassembly: Mutex::default(),
            load: Mutex::default(),
            vitals: Mutex::default(),
            heard: AtomicU64::new(0),
            copied: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        });
        let (says, news) = sync_channel(WAITING);
        let ending = if on.is_local() { LOCAL_ENDING } else { ENDING };
        let (name, is_local) = (on.name().into(), on.is_local());
        let session = RemoteSession { name, is_local, ending, child, shared, news };
        session.start(events, says).map_err(refused)?;
        let (host, address) = session.greet(greeting(digest, LEASE))?;
        Ok((session, host, address))
    }

    fn start(
        &self,
        events: Receiver<CarrierEvent>,
        says: SyncSender<Result<FromServers, String>>,
    ) -> Result<(), String> {
        let (shared, beaten) = (Arc::clone(&self.shared), says.clone());
        in_a_thread("servers", move || listen(&shared, &events, &says))?;
        let (shared, child) = (Arc::clone(&self.shared), Arc::clone(&self.child));
        in_a_thread("beats", move || beat(&shared, &child, &beaten))?;
        Ok(())
    }

    /// Greets until there is an answer: a host that gets its dyno first does not hear the first greetings.
    fn greet(&self, greeting: Greeting) -> Result<(Host, Option<IpAddr>), LoadsError> {
        let hello = ToServers::Hello(greeting);
        let (mut until, mut copied) = (Instant::now() + MEET_WITHIN, 0);
        let (mut greeted, again): (Option<Instant>, _) = (None, Duration::from_millis(500));
        while Instant::now() < until {
            let now_copied = self.shared.copied.load(Ordering::Acquire);
            if copied < now_copied {
                (until, copied) = (Instant::now() + MEET_WITHIN, now_copied);
            }
            if greeted.is_none_or(|at| again <= at.elapsed()) {
                greeted = Some(Instant::now());
                self.say(&hello);
            }
            match self.next()? {
                Some(FromServers::Hello(host, address)) => return Ok((*host, address)),
                Some(FromServers::Refused { says }) => return Err(self.refused(&says)),
                Some(_) => return Err(self.refused("it did not answer the greeting")),
                None if self.shared.halt.is_asked() => return Err(LoadsError::Interrupted),
                None => {}
            }
        }
        let waited = MEET_WITHIN.as_secs();
        Err(self.refused(&format!("it did not answer within {waited} s")))
    }

    /// Something about the host, with its name.
    #[must_use]
    pub fn refused(&self, says: &str) -> LoadsError {
        let words: String = says.chars().filter(|letter| !letter.is_control()).collect();
        let words: String = words.chars().take(WORDS_MAX).collect();
        LoadsError::Refused(format!("{}: {words}", self.name))
    }

    /// The next message, if there is one soon; an error if the host is lost.
    pub fn next(&self) -> Result<Option<FromServers>, LoadsError> {
        match self.news.recv_timeout(LOOK) {
            Ok(Ok(message)) => Ok(Some(message)),
            Ok(Err(how)) => Err(self.refused(&how)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.refused("it was lost")),
        }
    }

    pub fn say(&self, message: &ToServers) {
        if let Ok(line) = post::encode(message) {
            self.child.say_surely(line.into_bytes());
        }
    }

    /// Says something that does not matter much, if there is room for it.
    pub fn mention(&self, message: &ToServers) {
        mention(&self.child, message);
    }

    /// Sends what may be long; its digest can be named from now on.
    pub fn send(&self, bytes: Vec<u8>) -> String {
        let (digest, parts) = cut(bytes);
        parts.for_each(|part| self.say(&ToServers::Part(part)));
        digest
    }

    /// What has come in parts and has this digest.
    pub fn take(&self, digest: &str) -> Result<Vec<u8>, LoadsError> {
        let whole = held(&self.shared.reassembly).take(digest);
        whole.ok_or_else(|| self.refused("it names what it did not send"))
    }

    /// A load begins here. The host, the user and the end of the connection can end it.
    #[must_use]
    pub fn load(&self, number: u64) -> Load<'_> {
        let halt = Arc::new(Halt::default());
        *held(&self.shared.load) = Some((number, Arc::clone(&halt)));
        if self.shared.halt.is_asked() {
            halt.ask();
        }
        Load { session: self, halt }
    }

    #[must_use]
    pub fn vitals(&self) -> Vitals {
        *held(&self.shared.vitals)
    }
}

impl Drop for RemoteSession {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        self.child.close();
        let until = Instant::now() + self.ending;
        while !self.child.has_ended() && Instant::now() < until {
            // What it still says is not wanted any more.
            let _ = self.news.try_recv();
            thread::sleep(Duration::from_millis(5));
        }
        self.child.kill();
    }
}

/// Says it if there is room for it; returns whether there was.
fn mention(child: &Child, message: &ToServers) -> bool {
    post::encode(message).is_ok_and(|line| child.say(line.into_bytes()))
}

/// Takes the host's lines, until it is lost.
fn listen(
    shared: &Shared,
    events: &Receiver<CarrierEvent>,
    says: &SyncSender<Result<FromServers, String>>,
) {
    for event in events {
        let taken = match event {
            CarrierEvent::Raw(line) => {
                shared.heard.store(now_ns(), Ordering::Release);
                take_in(shared, line, says)
                    .map_err(|error| format!("it wrote what cannot be read: {}", plain(&error)))
            }
            CarrierEvent::Agents(CoordinatorEvent::Delayed) => {
                shared.copied.store(now_ns(), Ordering::Release);
                Ok(())
            }
            CarrierEvent::Agents(CoordinatorEvent::Gone { how, .. }) => Err(how),
            _ => Ok(()),
        };
        if let Err(how) = taken {
            let _ = says.send(Err(how));
            shared.halt_load(None);
            return;
        }
    }
}

fn take_in(
    shared: &Shared,
    line: Result<Vec<u8>, LineError>,
    says: &SyncSender<Result<FromServers, String>>,
) -> Result<(), String> {
    let message = line.and_then(|line| post::decode(&line)).map_err(|error| error.to_string())?;
    match message {
        FromServers::Alive => {}
        FromServers::Part(part) => held(&shared.reassembly).add(part)?,
        FromServers::HaltLoad { load } => shared.halt_load(Some(load)),
        FromServers::Vitals { cpu, memory } => *held(&shared.vitals) = Vitals { cpu, memory },
        message => {
            let _ = says.send(Ok(message));
        }
    }
    Ok(())
}

/// Lets the host know that this side lives, hands the user's wish to end on, and notices when nothing is heard.
fn beat(shared: &Shared, child: &Child, says: &SyncSender<Result<FromServers, String>>) {
    let (mut beaten, mut was_halted) = (0, false);
    while !shared.is_over.load(Ordering::Acquire) {
        let now = now_ns();
        if beaten + BEAT <= now {
            beaten = now;
            mention(child, &ToServers::Beat);
        }
        if shared.halt.is_asked() && !was_halted {
            // Not waited for: a host that has stopped reading must still be noticed.
            was_halted = mention(child, &ToServers::Halt);
            shared.halt_load(None);
        }
        let heard = shared.heard.load(Ordering::Acquire);
        if 0 < heard && heard.saturating_add(LEASE) < now {
            let how = format!("it sent nothing for {} s", LEASE / SECOND);
            // If many messages wait, the reader stands still and the host with it: that is not its fault.
            let _ = says.try_send(Err(how));
            shared.halt_load(None);
            child.kill();
            return;
        }
        thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    fn shared(heard: Nanos) -> Shared {
        let halt = Arc::new(Halt::default());
        halt.ask();
        Shared {
            halt,
            reassembly: Mutex::default(),
            load: Mutex::default(),
            vitals: Mutex::default(),
            heard: AtomicU64::new(heard),
            copied: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    #[test]
    fn a_wish_to_end_waits_for_room_and_keeps_no_silence_from_being_noticed() {
        // No line is taken of it, and nothing was heard for long.
        let (lines, waiting) = sync_channel(1);
        lines.send(Vec::new()).unwrap();
        let child = Child::with_lines(lines);
        let (says, said) = sync_channel(1);
        thread::scope(|scope| {
            scope.spawn(|| beat(&shared(1), &child, &says));
            let how = said.recv_timeout(Duration::from_secs(20));
            // If it still waits for room, it has some now, and the test ends.
            drop(waiting);
            assert!(how.unwrap().unwrap_err().contains("it sent nothing for"));
        });
    }

    #[test]
    fn a_wish_to_end_for_which_there_was_no_room_is_said_when_there_is() {
        let (lines, waiting) = sync_channel(1);
        lines.send(Vec::new()).unwrap();
        let (child, shared) = (Child::with_lines(lines), shared(0));
        let (says, _said) = sync_channel(1);
        thread::scope(|scope| {
            scope.spawn(|| beat(&shared, &child, &says));
            let next = || waiting.recv_timeout(Duration::from_secs(20)).unwrap();
            while !String::from_utf8(next()).unwrap().contains("halt") {}
            shared.is_over.store(true, Ordering::Release);
        });
    }
}
