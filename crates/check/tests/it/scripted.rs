//! A server that behaves correctly towards every client, by forwarding to the oracle, but plays a script to the case
//! under test, which it recognises by its octets.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use check::{Case, Protocol, Step, Target};
use rustix::net::sockopt;

use crate::script::{Act, play};
use crate::websocket::frame;

/// What a case is recognised by: this many octets of each part of it.
const KNOWN_BY: usize = 4 << 10;
/// A client that sends the beginning of the case and no more within this time is another client.
const DOUBT: Duration = Duration::from_millis(100);

/// Which script is played when the case arrives for the n-th time, from 0.
pub(crate) type Scripts = Box<dyn Fn(usize) -> &'static [Act] + Send + Sync>;

pub(crate) struct Scripted {
    address: SocketAddr,
    scene: Arc<Scene>,
    doorman: Option<JoinHandle<()>>,
}

struct Scene {
    oracle: SocketAddr,
    /// What the case sends, cut where it waits to read something.
    parts: Vec<Vec<u8>>,
    /// Whether the end of the client's half belongs to the last part.
    is_cut: bool,
    scripts: Scripts,
    hits: AtomicUsize,
    /// The number of the hit at which it dies, instead of playing a script.
    dies_at: Option<usize>,
    /// Whether it has learnt to survive.
    is_immune: AtomicBool,
    is_dead: AtomicBool,
    is_over: AtomicBool,
    /// Connections that stay open although their clients have sent everything.
    kept: Mutex<Vec<TcpStream>>,
}

impl Scripted {
    /// Plays scripts to this case.
    pub(crate) fn start(oracle: SocketAddr, case: &Case, scripts: Scripts) -> Scripted {
        Scripted::with(oracle, case, scripts, None)
    }

    /// Dies when the case arrives for the n-th time, from 0, and later: any later connection is reset.
    pub(crate) fn mortal(oracle: SocketAddr, case: &Case, scripts: Scripts, n: usize) -> Scripted {
        Scripted::with(oracle, case, scripts, Some(n))
    }

    fn with(oracle: SocketAddr, case: &Case, scripts: Scripts, dies_at: Option<usize>) -> Scripted {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let scene = Arc::new(Scene {
            oracle,
            parts: parts(case, &target(address)),
            is_cut: matches!(case.steps.last(), Some(Step::HalfClose)),
            scripts,
            hits: AtomicUsize::new(0),
            dies_at,
            is_immune: AtomicBool::new(false),
            is_dead: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            kept: Mutex::default(),
        });
        let own = Arc::clone(&scene);
        let doorman = std::thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                if own.is_over.load(Ordering::SeqCst) {
                    return;
                }
                let scene = Arc::clone(&own);
                std::thread::spawn(move || scene.welcome(client));
            }
        });
        Scripted { address, scene, doorman: Some(doorman) }
    }

    pub(crate) fn target(&self) -> Target {
        target(self.address)
    }

    /// How often the case arrived.
    pub(crate) fn hits(&self) -> usize {
        self.scene.hits.load(Ordering::SeqCst)
    }

    /// After its death, for good.
    pub(crate) fn cure(&self) {
        self.scene.is_immune.store(true, Ordering::SeqCst);
        self.revive();
    }

    /// After its death.
    pub(crate) fn revive(&self) {
        self.scene.is_dead.store(false, Ordering::SeqCst);
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.scene.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let _ = self.doorman.take().map(JoinHandle::join);
    }
}

/// The paths that such a server, and the oracle, have.
pub(crate) fn target(address: SocketAddr) -> Target {
    Target { posts: vec!["/user".into()], socket: Some("/wsecho".into()), ..Target::at(address) }
}

/// A case's octets, cut where it waits to read something. For HTTP only the first part matters: the script has the rest
/// of the exchange. A WebSocket is opened by the oracle, and the script begins with the last part.
fn parts(case: &Case, target: &Target) -> Vec<Vec<u8>> {
    let mut parts: Vec<Vec<u8>> = vec![Vec::new()];
    for step in case.steps {
        let part = parts.last_mut().unwrap();
        match step {
            Step::Send(template) | Step::Drip(template, _) => {
                part.extend(target.fill(template, "/user"));
            }
            Step::Trickle(trickle) => part.extend(target.fill(trickle.head, "/user")),
            Step::Raw(octets) => part.extend_from_slice(octets),
            Step::Fill(octet, count) => part.extend(vec![*octet; (*count).min(KNOWN_BY)]),
            Step::Repeat(template, count) => {
                let text = String::from_utf8(target.fill(template, "/user")).unwrap();
                for number in 0..(*count).min(KNOWN_BY) {
                    part.extend(text.replace("{n}", &number.to_string()).as_bytes());
                }
            }
            Step::Frames(first, len, count) => {
                let frame = frame(*first, Some([0; 4]), &vec![b'x'; *len]);
                part.extend(frame.repeat((*count).min(KNOWN_BY / frame.len() + 1)));
            }
            Step::Receive(_) | Step::ReceivePong(_) | Step::ReceiveToEnd if !part.is_empty() => {
                parts.push(Vec::new());
            }
            // What an exchange quotes comes after it was read.
            Step::Receive(_) | Step::ReceivePong(_) | Step::ReceiveToEnd => {}
            Step::Quote(_) | Step::Idle(_) | Step::Crowd(_) | Step::Http2(_) | Step::Tls(_) => {}
            Step::HalfClose => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.iter_mut().for_each(|part| part.truncate(KNOWN_BY));
    if case.protocol() == Protocol::Http {
        parts.truncate(1);
    }
    assert!(!parts.is_empty(), "{}: nothing to recognise it by", case.id);
    parts
}

impl Scene {
    fn welcome(&self, mut client: TcpStream) {
        let _ = client.set_nodelay(true);
        if self.is_dead.load(Ordering::SeqCst) {
            let _ = sockopt::set_socket_linger(&client, Some(Duration::ZERO));
            return;
        }
        let mut relay = Relay::new(self.oracle, &client);
        if !self.recognises(&mut client, &mut relay) {
            return;
        }
        relay.leave();
        let hit = self.hits.fetch_add(1, Ordering::SeqCst);
        if self.dies_at.is_some_and(|at| at <= hit) && !self.is_immune.load(Ordering::SeqCst) {
            self.is_dead.store(true, Ordering::SeqCst);
            let _ = sockopt::set_socket_linger(&client, Some(Duration::ZERO));
        } else if play((self.scripts)(hit), &mut client).is_some() {
            self.kept.lock().unwrap().push(client);
        }
    }

    /// Forwards what arrives until the case is recognised; false if it was another exchange and is over.
    fn recognises(&self, client: &mut TcpStream, relay: &mut Relay) -> bool {
        let (mut pending, mut buffer, mut number) = (Vec::new(), vec![0; 64 << 10], 0);
        loop {
            let part = self.parts.get(number).map_or(&[][..], Vec::as_slice);
            let is_open_question = !pending.is_empty() && part.starts_with(&pending);
            let _ = client.set_read_timeout(is_open_question.then_some(DOUBT));
            match client.read(&mut buffer) {
                Ok(0) if self.is_cut && pending == part => return true,
                Ok(0) => {
                    relay.hand_on(&pending);
                    relay.finish();
                    return false;
                }
                Ok(count) => pending.extend_from_slice(&buffer[..count]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    number = self.parts.len();
                }
                Err(_) => return false,
            }
            let part = self.parts.get(number).map_or(&[][..], Vec::as_slice);
            let is_part = !part.is_empty() && pending.starts_with(part);
            let is_last = number + 1 == self.parts.len();
            if is_last && self.is_cut && pending == part {
                continue;
            }
            if is_last && is_part && !self.is_cut {
                let _ = client.set_read_timeout(None);
                return true;
            }
            if is_part || !part.starts_with(&pending) {
                number = if is_part { number + 1 } else { self.parts.len() };
                relay.hand_on(&std::mem::take(&mut pending));
            }
        }
    }
}

/// Forwards an exchange to the oracle, and the oracle's answers back.
struct Relay {
    oracle: SocketAddr,
    client: TcpStream,
    there: Option<TcpStream>,
    back: Option<JoinHandle<()>>,
    is_left: Arc<AtomicBool>,
}

impl Relay {
    fn new(oracle: SocketAddr, client: &TcpStream) -> Relay {
        let client = client.try_clone().unwrap();
        Relay { oracle, client, there: None, back: None, is_left: Arc::default() }
    }

    fn hand_on(&mut self, octets: &[u8]) {
        if octets.is_empty() {
            return;
        }
        if self.there.is_none() {
            self.connect();
        }
        let _ = self.there.as_mut().unwrap().write_all(octets);
    }

    fn connect(&mut self) {
        let there = TcpStream::connect(self.oracle).unwrap();
        there.set_nodelay(true).unwrap();
        let (mut from, mut to) = (there.try_clone().unwrap(), self.client.try_clone().unwrap());
        let is_left = Arc::clone(&self.is_left);
        self.back = Some(std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            while let Ok(count) = from.read(&mut buffer) {
                if count == 0 || to.write_all(&buffer[..count]).is_err() {
                    break;
                }
            }
            if !is_left.load(Ordering::SeqCst) {
                let _ = to.shutdown(Shutdown::Write);
            }
        }));
        self.there = Some(there);
    }

    /// The client has ended its half.
    fn finish(&mut self) {
        let _ = self.there.as_ref().map(|there| there.shutdown(Shutdown::Write));
        let _ = self.back.take().map(JoinHandle::join);
    }

    /// The oracle gets nothing more from this client; the script serves it from now on.
    fn leave(&mut self) {
        self.is_left.store(true, Ordering::SeqCst);
        let _ = self.there.as_ref().map(|there| there.shutdown(Shutdown::Both));
        let _ = self.back.take().map(JoinHandle::join);
    }
}
