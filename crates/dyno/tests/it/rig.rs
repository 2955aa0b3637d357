//! A small language: a rig has a server, runs dyno against it, and checks the result.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use oracle::{Config, Fault, Oracle};
use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde_json::Value;

pub(crate) use crate::again::{in_each, in_one_of_five};
use crate::lab_rig::until;
use crate::secured_rig::AuthorityFile;

/// No run of the tests takes longer.
const DEADLINE: Duration = Duration::from_secs(180);

pub(crate) struct Rig {
    oracle: Option<Oracle>,
    address: String,
    is_secured: bool,
    /// A command for the shell before it becomes dyno.
    limit: Option<String>,
}

/// The output and the exit of dyno.
pub(crate) struct Ran {
    status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

/// Whether a command has done what it was told: it ends with 0, or with 2 where its text says that a busy machine kept
/// dyno or the server from their CPUs for so long that the figures are invalid.
pub(crate) fn is_done(code: Option<i32>, text: &str) -> bool {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let was_kept = ["was not running for", "server gave no correct answer for"];
    code == Some(0) || code == Some(2) && was_kept.iter().any(|says| text.contains(says))
}

impl Rig {
    /// An oracle that answers at once.
    pub(crate) fn new() -> Rig {
        Rig::oracle(Config::default())
    }

    pub(crate) fn oracle(config: Config) -> Rig {
        let config = Config { threads: 1, ..config };
        let is_secured = config.tls.is_some();
        let oracle = Oracle::start(config).expect("port 0 is always free");
        let address = oracle.address().to_string();
        Rig { oracle: Some(oracle), address, is_secured, limit: None }
    }

    /// An oracle of whose answers such a share has this fault.
    pub(crate) fn faulty(name: &str, fault_rate: f64) -> Rig {
        let fault = Some(name.parse::<Fault>().unwrap());
        Rig::oracle(Config { fault, fault_rate, ..Config::default() })
    }

    /// Where nothing listens.
    pub(crate) fn nowhere() -> Rig {
        Rig::at(([127, 0, 0, 1], 9).into())
    }

    /// A server of the test's own.
    pub(crate) fn at(address: SocketAddr) -> Rig {
        Rig { oracle: None, address: address.to_string(), is_secured: false, limit: None }
    }

    pub(crate) fn memory_kib(mut self, limit: u64) -> Rig {
        self.limit = Some(format!("ulimit -v {limit}"));
        self
    }

    /// Soft and hard.
    pub(crate) fn files(mut self, limit: u64) -> Rig {
        self.limit = Some(format!("ulimit -n {limit}"));
        self
    }

    /// As `nohup` starts programs.
    pub(crate) fn without_hangups(mut self) -> Rig {
        self.limit = Some("trap '' HUP".into());
        self
    }

    pub(crate) fn soft_files(mut self, limit: u64) -> Rig {
        self.limit = Some(format!("ulimit -Sn {limit}"));
        self
    }

    /// `{url}` and `{address}` stand for the server.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let dyno = env!("CARGO_BIN_EXE_dyno");
        let mut command = match &self.limit {
            None => Command::new(dyno),
            Some(limit) => {
                let mut shell = Command::new("sh");
                let limited = format!("{limit}; exec \"$0\" \"$@\"");
                shell.args(["-c", &limited, dyno]);
                shell
            }
        };
        let url = self.url("");
        let filled = arguments
            .iter()
            .map(|argument| argument.replace("{url}", &url).replace("{address}", &self.address));
        command.args(filled).env_remove("COLUMNS");
        command
    }

    pub(crate) fn dyno(&self, arguments: &[&str]) -> Ran {
        self.run(arguments, |_| {})
    }

    /// It is refused with these words before anything is printed.
    #[track_caller]
    pub(crate) fn refuses(&self, arguments: &[&str], words: &[&str]) {
        let ran = self.dyno(arguments).status(2);
        let ran = words.iter().fold(ran, |ran, word| ran.stderr_has(word));
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }

    /// Interrupts it once requests have arrived.
    pub(crate) fn dyno_interrupted(&self, arguments: &[&str]) -> Ran {
        self.run(arguments, |pid| {
            self.await_requests(10);
            let _ = kill_process(pid, Signal::INT);
        })
    }

    /// Stops it for this long once requests have arrived, and interrupts it when more have come after that.
    pub(crate) fn dyno_stopped(&self, arguments: &[&str], pause: Duration) -> Ran {
        self.run(arguments, |pid| {
            let send = |signal| kill_process(pid, signal).expect("no thread has waited for it");
            self.await_requests(100);
            send(Signal::STOP);
            // On a busy machine, threads go on for a while until the one that takes the signal has a CPU.
            waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED).expect("it stops, and is our child");
            thread::sleep(pause);
            let before = self.requests();
            send(Signal::CONT);
            self.await_requests(before + 100);
            send(Signal::INT);
        })
    }

    #[track_caller]
    fn await_requests(&self, count: u64) {
        until("requests arrive", || count <= self.requests());
    }

    fn run(&self, arguments: &[&str], meanwhile: impl FnOnce(Pid)) -> Ran {
        let going = Going::start(self.command(arguments));
        meanwhile(going.pid());
        going.end()
    }

    /// The server's address with a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", if self.is_secured { "https" } else { "http" }, self.address)
    }

    /// The certificate of the authority that the oracle made for its TLS, as a file; none without TLS.
    pub(crate) fn authority_file(&self) -> Option<AuthorityFile> {
        self.oracle.as_ref()?.authority_pem().map(AuthorityFile::of)
    }

    pub(crate) fn requests(&self) -> u64 {
        self.oracle.as_ref().map_or(0, |oracle| oracle.truth().requests)
    }

    /// What the oracle knows of each stream, if it keeps that.
    pub(crate) fn streams(&self) -> Vec<oracle::StreamTimes> {
        self.oracle.as_ref().expect("this rig has an oracle").streams()
    }

    /// The certificate of the authority that clients of an oracle with TLS must trust, as PEM.
    pub(crate) fn authority(&self) -> &str {
        self.oracle.as_ref().and_then(Oracle::authority_pem).expect("this rig's oracle has TLS")
    }

    /// The requests that the oracle counted.
    pub(crate) fn truth(&self) -> oracle::Truth {
        self.oracle.as_ref().expect("this rig has an oracle").truth()
    }
}

/// The doubts of a document's verdict, or of a row's.
#[track_caller]
pub(crate) fn doubts(of: &Value) -> Vec<&str> {
    let doubts = of["verdict"]["doubts"].as_array().unwrap_or_else(|| panic!("{of:#}"));
    doubts.iter().filter_map(|doubt| doubt["id"].as_str()).collect()
}

/// The histogram of a distribution; an empty one where it has none.
pub(crate) fn histogram(of: &Value) -> Histogram<u64> {
    let Some(text) = of.as_str() else { return Histogram::new(3).unwrap() };
    let bytes = BASE64_STANDARD.decode(text).unwrap();
    Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap()
}

pub(crate) fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("pids are small")).expect("and not zero")
}

/// A dyno under way. Whatever happens to the test, it does not outlive `DEADLINE`.
pub(crate) struct Going {
    child: Child,
    started: Instant,
    stdout: Receiver<String>,
    lines: Receiver<String>,
    /// Its output on standard error so far.
    pub(crate) heard: String,
    done: Sender<()>,
}

impl Going {
    pub(crate) fn start(mut command: Command) -> Going {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let mut child = command.spawn().expect("dyno has been built");
        let stdout = drain(child.stdout.take());
        let lines = lines(child.stderr.take());
        let (done, watched) = channel();
        let pid = pid(&child);
        thread::spawn(move || watch(pid, &watched));
        Going { child, started, stdout, lines, heard: String::new(), done }
    }

    pub(crate) fn pid(&self) -> Pid {
        pid(&self.child)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("no thread has waited for it");
    }

    /// Waits for a line on standard error that contains this text.
    #[track_caller]
    pub(crate) fn says(&mut self, text: &str) {
        assert!(self.has_said(text), "it never said `{text}`: {}", self.heard);
    }

    /// Waits for such a line, or for its end.
    pub(crate) fn has_said(&mut self, text: &str) -> bool {
        while !self.heard.contains(text) {
            match self.lines.recv() {
                Ok(line) => self.heard.push_str(&line),
                Err(_) => return false,
            }
        }
        true
    }

    /// Whether it ends by itself within this time.
    pub(crate) fn ends_within(&mut self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => self.heard.push_str(&line),
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => return true,
            }
        }
    }

    pub(crate) fn end(mut self) -> Ran {
        let status = self.child.wait().expect("it is our child");
        let took = self.started.elapsed();
        drop(self.done);
        let stdout = self.stdout.recv().expect("its reader ends with it");
        self.heard.extend(self.lines.iter());
        Ran { status, stdout, stderr: self.heard, took }
    }
}

fn watch(pid: Pid, done: &Receiver<()>) {
    if let Err(RecvTimeoutError::Timeout) = done.recv_timeout(DEADLINE) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn lines(from: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut from = BufReader::new(from.expect("it is a pipe"));
        let mut line = Vec::new();
        while let Ok(1..) = from.read_until(b'\n', &mut line) {
            let _ = sender.send(String::from_utf8_lossy(&line).into_owned());
            line.clear();
        }
    });
    receiver
}

fn drain(from: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            let _ = from.read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

impl Ran {
    /// Of a program that has ended, and was not started by a rig.
    pub(crate) fn of(child: Child) -> Ran {
        let ended = child.wait_with_output().expect("it is our child");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (stdout, stderr) = (text(ended.stdout), text(ended.stderr));
        Ran { status: ended.status, stdout, stderr, took: Duration::ZERO }
    }

    /// Of a command with this on its standard input, which it need not read to the end.
    pub(crate) fn with_input(mut command: Command, input: &[u8]) -> Ran {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it can be started");
        let _ = child.stdin.take().expect("it is a pipe").write_all(input);
        Ran::of(child)
    }

    /// Where a busy machine kept dyno from its CPU for over 1 % of the time, a load is invalid: then 2 stands for 0.
    #[track_caller]
    pub(crate) fn status(self, code: i32) -> Ran {
        let is_done = code == 0 && is_done(self.code(), &format!("{self}"));
        assert!(is_done || self.code() == Some(code), "{self}");
        self
    }

    /// A run ended and measured something. On a busy machine some of its rows may be invalid, and nothing but that
    /// makes its exit code 2.
    #[track_caller]
    pub(crate) fn measured(self) -> Ran {
        let is_in_vain = self.stderr.contains(" invalid or not measured, for the reasons above: ");
        assert_eq!(self.status.code(), Some(if is_in_vain { 2 } else { 0 }), "{self}");
        self
    }

    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    #[track_caller]
    pub(crate) fn stdout_has(self, text: &str) -> Ran {
        assert!(self.stdout.contains(text), "no `{text}` in {self}");
        self
    }

    /// A sentence of standard output, wherever it was wrapped.
    pub(crate) fn has_sentence(&self, text: &str) -> bool {
        self.sentences().contains(text)
    }

    /// Standard output in one line.
    pub(crate) fn sentences(&self) -> String {
        self.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    pub(crate) fn stdout_lacks(self, text: &str) -> Ran {
        assert!(!self.stdout.contains(text), "`{text}` in {self}");
        self
    }

    #[track_caller]
    pub(crate) fn stderr_has(self, text: &str) -> Ran {
        assert!(self.stderr.contains(text), "no `{text}` in {self}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self}"))
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}\n--- stdout\n{}\n--- stderr\n{}", self.status, self.stdout, self.stderr)
    }
}

/// A port on which no server listens; no other program takes it as long as the socket is held.
pub(crate) fn closed_port() -> (OwnedFd, SocketAddr) {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("loopback");
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("port 0 is always free");
    let address = getsockname(&socket).expect("it is bound").try_into().expect("it is TCP's");
    (socket, address)
}

/// A server on this address, port 0 of it, that does this to every connection.
pub(crate) fn serving(
    at: impl Into<IpAddr>,
    talk: impl Fn(TcpStream) + Send + Sync + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind((at.into(), 0)).expect("port 0 is always free");
    let address = listener.local_addr().expect("it is bound");
    let talk = Arc::new(talk);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let talk = Arc::clone(&talk);
            thread::spawn(move || talk(stream));
        }
    });
    address
}

/// A server that answers `ok` to everything and reports what arrived.
pub(crate) fn peer() -> (SocketAddr, Receiver<String>) {
    let (heard, hears) = channel();
    (serving(Ipv4Addr::LOCALHOST, move |stream| converse(stream, &heard)), hears)
}

fn converse(mut stream: TcpStream, heard: &Sender<String>) {
    let mut bytes = vec![0; 65_536];
    // A request of these tests fits one segment.
    while let Ok(length @ 1..) = stream.read(&mut bytes) {
        let _ = heard.send(String::from_utf8_lossy(&bytes[..length]).into_owned());
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Who: peer\r\n\r\nok";
        if stream.write_all(answer).is_err() {
            return;
        }
    }
}
