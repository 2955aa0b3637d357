//! A small language: a broker, and programs whose lines are written and awaited.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// At most this long anything is awaited.
const PATIENCE: Duration = Duration::from_secs(60);

/// The configuration that `dyno agents nats` writes, with keys in the places of which each test puts its own.
const CONFIG: &str = include_str!("../lab.conf");
const LIST: &str = include_str!("../lab.keys");

pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_dyno-nats"))
}

/// Where nats-server is, unless this test cannot run here.
pub(crate) fn server() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into()]);
    let found = folders.map(|folder| folder.join("nats-server")).find(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: nats-server is not installed; what needs a broker is not tested");
    }
    found
}

/// A folder of the test's own, until it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("dyno-nats-it-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }

    /// Makes a key, and returns its public half.
    pub(crate) fn key(&self, name: &str) -> String {
        let made = program().args(["key", &self.path(name)]).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let line = String::from_utf8(made.stdout).unwrap();
        line.trim().strip_prefix(&format!("{name} ")).unwrap().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// nats-server on a port of its own.
pub(crate) struct Broker {
    server: PathBuf,
    folder: Folder,
    config: String,
    port: u16,
    child: Child,
}

impl Broker {
    /// Anybody may do anything.
    pub(crate) fn open() -> Option<Broker> {
        Broker::with(&server()?, Folder::new(), "max_payload: 65536\n")
    }

    /// As `dyno agents nats` configures it, for the agents desk2 and desk3; `changed` may change that.
    pub(crate) fn closed(changed: impl Fn(String) -> String) -> Option<Broker> {
        let (server, folder) = (server()?, Folder::new());
        let mut config = CONFIG.to_string();
        let mut list = String::new();
        for line in LIST.lines() {
            let (name, placeholder) = line.split_once(' ').unwrap();
            let key = folder.key(name);
            assert!(config.contains(placeholder), "{name}");
            config = config.replace(placeholder, &key);
            list += &format!("{name} {key}\n");
        }
        folder.file("agents.keys", &list);
        let config = config.lines().filter(|line| !line.starts_with("listen:"));
        let config = config.collect::<Vec<_>>().join("\n") + "\n";
        Broker::with(&server, folder, &changed(config))
    }

    pub(crate) fn with(server: &Path, folder: Folder, config: &str) -> Option<Broker> {
        // Another process may take the port before the server does.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let config =
                folder.file("nats.conf", &format!("listen: \"127.0.0.1:{port}\"\n{config}"));
            let child = start(server, &config, &folder);
            let mut broker =
                Broker { server: server.to_path_buf(), folder: Folder::new(), config, port, child };
            if broker.is_up() {
                broker.folder = folder;
                return Some(broker);
            }
        }
        panic!("nats-server does not start: {}", fs::read_to_string(folder.path("log")).unwrap());
    }

    fn is_up(&mut self) -> bool {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return true;
            }
            thread::sleep(Duration::from_millis(10));
        }
        false
    }

    pub(crate) fn stop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// It is there, and does nothing: like a host behind a cable that was pulled.
    pub(crate) fn hang(&self) {
        let pid = self.child.id().to_string();
        let stopped = Command::new("kill").args(["-STOP", &pid]).status().unwrap();
        assert!(stopped.success());
    }

    pub(crate) fn start_again(&mut self) {
        self.child = start(&self.server, &self.config, &self.folder);
        assert!(self.is_up(), "it started before, on this port");
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The public half of a key that `closed` made.
    pub(crate) fn public(&self, name: &str) -> String {
        let list = fs::read_to_string(self.folder.path("agents.keys")).unwrap();
        let line = list.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap().to_string()
    }

    /// An agent with these further flags.
    pub(crate) fn agent(&self, name: &str, flags: &[&str]) -> Program {
        let usual = ["agent", "--url", &self.url(), "--lab", "lab", "--name", name];
        Program::start(&[&usual[..], flags].concat())
    }

    pub(crate) fn coordinator(&self, agents: &str, flags: &[&str]) -> Program {
        let usual = ["coordinator", "--url", &self.url(), "--lab", "lab", "--agents", agents];
        Program::start(&[&usual[..], flags].concat())
    }

    /// An agent that has its key, and knows the coordinator's.
    pub(crate) fn known_agent(&self, name: &str) -> Program {
        let (key, trust) = (self.folder.path(name), self.public("coordinator"));
        self.agent(name, &["--key-file", &key, "--trust", &trust])
    }

    pub(crate) fn known_coordinator(&self, agents: &str) -> Program {
        let (key, list) = (self.folder.path("coordinator"), self.folder.path("agents.keys"));
        self.coordinator(agents, &["--key-file", &key, "--keys", &list])
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(server: &Path, config: &str, folder: &Folder) -> Child {
    let log = folder.path("log");
    let mut command = Command::new(server);
    command.args(["-c", config, "-l", &log]).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// A dyno-nats under way.
pub(crate) struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Arc<Mutex<String>>,
}

impl Program {
    pub(crate) fn start(arguments: &[&str]) -> Program {
        let mut command = program();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = child.stdout.take().unwrap();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let errors = Arc::new(Mutex::new(String::new()));
        let mut stderr = child.stderr.take().unwrap();
        let heard = Arc::clone(&errors);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut buffer) {
                heard.lock().unwrap().push_str(&String::from_utf8_lossy(&buffer[..count]));
            }
        });
        let stdin = child.stdin.take();
        Program { child, stdin, lines, errors }
    }

    /// Writes a line; whether it is read is another matter.
    pub(crate) fn line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("it is open");
        let _ = stdin.write_all(format!("{line}\n").as_bytes());
    }

    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// The next line that it prints; none if nothing comes within this time, or never will.
    pub(crate) fn prints_within(&self, time: Duration) -> Option<String> {
        self.lines.recv_timeout(time).ok()
    }

    /// On a busy machine the broker may seem out of reach for a while, which is no line of the other side.
    #[track_caller]
    pub(crate) fn prints(&self, expected: &str) {
        let mut line = self.prints_within(PATIENCE);
        while line.as_ref().is_some_and(|line| line.contains(" !blinked ")) {
            line = self.prints_within(PATIENCE);
        }
        let shown = |text: &str| text.chars().take(200).collect::<String>();
        assert!(
            line.as_deref() == Some(expected),
            "not `{}` but {:?}; it says: {}",
            shown(expected),
            line.as_deref().map(shown),
            self.said()
        );
    }

    pub(crate) fn said(&self) -> String {
        self.errors.lock().unwrap().clone()
    }

    #[track_caller]
    pub(crate) fn says(&self, words: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.said().contains(words) {
            assert!(Instant::now() < until, "it never said `{words}`: {}", self.said());
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn ends(&mut self) -> ExitStatus {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < until, "it does not end: {}", self.said());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// It ends with this code, and says these words.
    #[track_caller]
    pub(crate) fn ends_with(&mut self, code: i32, words: &str) {
        assert_eq!(self.ends().code(), Some(code), "{}", self.said());
        self.says(words);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
