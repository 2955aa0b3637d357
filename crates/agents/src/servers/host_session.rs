//! The lines of a run, where its servers are: what comes from the coordinator, and what goes to it.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use load::Halt;
use post::{
    CoordinatorFrame, FromServers, Greeting, Line, MILLISECOND, Nanos, Reassembly, ToServers, cut,
};

use super::held;
use super::remote_session::LEASE;
use crate::busy::Claim;
use crate::carrier::child::plain;
use crate::identity::{nonce, own_host, same_program, unread};
use crate::now_ns;
use crate::pipes::{Writer, each_line, in_a_thread};

const ONLY_SERVERS: &str = "this agent only runs servers, and was asked to load (`--load-on`); name a login, or a key with \
                            the line of `dyno agents key`, that may load";

/// Lines that wait to be written, and messages that wait to be read.
const WAITING: usize = 256;
/// The coordinator is told so often that this host lives, and is looked after.
const BEAT: Nanos = 500 * MILLISECOND;
/// A run that is ended has this long; then the process ends, and its warden what it started.
const ENDING: Duration = Duration::from_secs(20);
/// How long the last lines may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// This side of the lines. When the coordinator is gone, the run's halt is asked for.
pub struct HostSession {
    /// None once the last lines have been written.
    writer: Mutex<Option<Writer<FromServers>>>,
    news: Mutex<Receiver<ToServers>>,
    reassembly: Mutex<Reassembly>,
    halt: Arc<Halt>,
    is_gone: AtomicBool,
    heard: AtomicU64,
    /// Why the coordinator is thought to be gone, if what it wrote is wrong.
    wrong: Mutex<Option<String>>,
}

impl HostSession {
    /// Reads from here and writes there.
    pub fn open(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        halt: Arc<Halt>,
    ) -> Result<Arc<HostSession>, String> {
        let (sender, news) = sync_channel(WAITING);
        let session = Arc::new(HostSession {
            writer: Mutex::default(),
            news: Mutex::new(news),
            reassembly: Mutex::default(),
            halt,
            is_gone: AtomicBool::new(false),
            heard: AtomicU64::new(now_ns()),
            wrong: Mutex::default(),
        });
        let gone = Arc::clone(&session);
        let writer = Writer::start(output, WAITING, move || gone.has_gone())?;
        *held(&session.writer) = Some(writer);
        let reads = Arc::clone(&session);
        in_a_thread("reads", move || reads.read(input, &sender))?;
        let beats = Arc::clone(&session);
        in_a_thread("beats", move || beats.beat())?;
        Ok(session)
    }

    /// Waits for a coordinator, and answers it if it is the same program.
    pub fn meet(&self, is_local: bool) -> Result<Option<Met>, String> {
        let greeting = loop {
            match self.next(Duration::from_millis(100)) {
                Some(ToServers::Hello(greeting)) => break greeting,
                Some(_) => return Err("it was given an order before the greeting".into()),
                None if self.is_gone() => return self.wrong().map_or(Ok(None), Err),
                None => {}
            }
        };
        let sha256 = same_program(&greeting)?;
        let Greeting { by, .. } = greeting;
        let claim = match is_local {
            true => None,
            false => Some(Claim::stake("servers", &format!("{:016x}", nonce()), &plain(&by))?),
        };
        let address = (!is_local).then(reached_by).flatten();
        self.say(FromServers::Hello(Box::new(own_host(sha256)), address));
        Ok(Some(Met { _claim: claim }))
    }

    #[must_use]
    pub fn halt(&self) -> &Arc<Halt> {
        &self.halt
    }

    /// Whether there is no coordinator any more.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }

    /// What was wrong with what it wrote.
    pub fn wrong(&self) -> Option<String> {
        held(&self.wrong).clone()
    }

    /// The next message, if there is one soon.
    pub fn next(&self, wait: Duration) -> Option<ToServers> {
        held(&self.news).recv_timeout(wait).ok()
    }

    /// What has come in parts and has this digest.
    pub fn take(&self, digest: &str) -> Result<Vec<u8>, String> {
        let whole = held(&self.reassembly).take(digest);
        whole.ok_or_else(|| "what an order names did not come before it".into())
    }

    /// Says it, and waits until there is room for it.
    pub fn say(&self, message: FromServers) {
        // The lock is not held while it waits.
        let messages = held(&self.writer).as_ref().map(|writer| writer.messages.clone());
        messages.map(|messages| messages.send(message));
    }

    /// Says it if there is room: it does not matter much.
    pub fn mention(&self, message: FromServers) {
        if let Some(writer) = &*held(&self.writer) {
            let _ = writer.messages.try_send(message);
        }
    }

    /// Sends what may be long; its digest can be named from now on.
    pub fn send(&self, bytes: Vec<u8>) -> String {
        let (digest, parts) = cut(bytes);
        parts.for_each(|part| self.say(FromServers::Part(part)));
        digest
    }

    /// Writes the last lines.
    pub fn close(&self) {
        let writer = held(&self.writer).take();
        writer.into_iter().for_each(|writer| writer.close(LAST_WORDS));
    }

    fn read(&self, input: impl Read, sender: &SyncSender<ToServers>) {
        let heard = |at| self.heard.store(at, Ordering::Release);
        let wrong = each_line(input, heard, |line, _| self.take_in(&line, sender).err());
        *held(&self.wrong) = wrong;
        self.has_gone();
    }

    fn take_in(&self, line: &Line<'_>, sender: &SyncSender<ToServers>) -> Result<(), String> {
        let unread = |error| unread::<CoordinatorFrame>(line, &error, ONLY_SERVERS);
        match line.clone().and_then(post::decode).map_err(unread)? {
            ToServers::Beat => {}
            ToServers::Halt => self.halt.ask(),
            ToServers::Part(part) => held(&self.reassembly).add(part)?,
            message => {
                let _ = sender.send(message);
            }
        }
        Ok(())
    }

    fn has_gone(&self) {
        self.is_gone.store(true, Ordering::Release);
        self.halt.ask();
    }

    /// Lets the coordinator know that this host lives, and looks whether it does. A process that cannot end its run is
    /// ended.
    fn beat(&self) {
        let mut gone: Option<Instant> = None;
        loop {
            thread::sleep(Duration::from_nanos(BEAT));
            if self.heard.load(Ordering::Acquire).saturating_add(LEASE) < now_ns() {
                self.has_gone();
            }
            match (self.is_gone(), gone) {
                (false, _) => self.mention(FromServers::Alive),
                (true, None) => gone = Some(Instant::now()),
                (true, Some(since)) if ENDING < since.elapsed() => std::process::exit(2),
                (true, Some(_)) => {}
            }
        }
    }
}

/// A coordinator that was met; the host is taken for it as long as this is there.
pub struct Met {
    _claim: Option<Claim>,
}

/// This side's address of the connection of ssh.
fn reached_by() -> Option<std::net::IpAddr> {
    let connection = std::env::var("SSH_CONNECTION").ok()?;
    // The client's address and port, and the server's.
    connection.split(' ').nth(2)?.parse().ok()
}
