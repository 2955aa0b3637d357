//! OpenSSH on this machine: a server with keys of its own, and a client that knows it under several names.

use std::fs;
use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::agents_rig::Gate;
use crate::lab_rig::not_tested;
use crate::rig::{Going, Ran, Rig};

const SSHD: &str = "/usr/sbin/sshd";
const SSH: &str = "/usr/bin/ssh";
const LEFT_OUT: &str = "load by ssh";

/// It ends when this is dropped.
struct Server(Child);

/// A server, which ends with this, and the script in place of ssh by which dyno reaches it.
pub(crate) struct Sshd {
    pub(crate) gate: Gate,
    _server: Server,
    /// Accepts connections, and never says a word.
    _silent: TcpListener,
}

impl Sshd {
    /// None where it cannot run: that is said, and the test is skipped.
    pub(crate) fn start() -> Option<Sshd> {
        if !has_ssh() {
            return None;
        }
        let gate = Gate::new();
        for key in ["host", "user", "stranger"] {
            keygen(gate.path(), key);
        }
        // Another program may take the port before the server does.
        (0..5).find_map(|_| Sshd::on_a_port(&gate)).map(|(server, address)| {
            let silent = TcpListener::bind("127.0.0.1:0").unwrap();
            write_config(&gate, address, silent.local_addr().unwrap());
            gate.opens(&format!("exec {SSH} -F '{}' \"$@\"", file(&gate, "config").display()));
            Sshd { gate, _server: server, _silent: silent }
        })
    }

    fn on_a_port(gate: &Gate) -> Option<(Server, SocketAddr)> {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        fs::write(file(gate, "sshd"), server_config(gate.path(), address, gate.path())).unwrap();
        let mut command = Command::new(SSHD);
        command.args(["-D", "-e", "-f"]).arg(file(gate, "sshd")).stdin(Stdio::null());
        let log = fs::File::create(file(gate, "log")).unwrap();
        let server = command.stdout(Stdio::null()).stderr(log).spawn();
        let mut server = Server(server.unwrap());
        let until = Instant::now() + Duration::from_secs(30);
        while Instant::now() < until {
            if server.0.try_wait().unwrap().is_some() {
                return None;
            }
            let mut greeting = [0; 4];
            let read = TcpStream::connect(address).and_then(|mut it| it.read_exact(&mut greeting));
            if read.is_ok() && greeting == *b"SSH-" {
                return Some((server, address));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    /// These are the only lines of authorized_keys.
    pub(crate) fn lets_in(&self, lines: &str) {
        fs::write(file(&self.gate, "keys"), lines).unwrap();
    }

    pub(crate) fn public_key(&self) -> PathBuf {
        file(&self.gate, "user.pub")
    }

    /// Dyno with these arguments, whose ssh knows the server's names.
    pub(crate) fn dyno(&self, rig: &Rig, arguments: &[&str]) -> Ran {
        self.gate.start(rig, arguments).end()
    }

    /// What a client gets that asks for this command.
    pub(crate) fn ssh(&self, host: &str, command: &str) -> Ran {
        let mut ssh = Command::new(SSH);
        ssh.arg("-F").arg(file(&self.gate, "config"));
        ssh.args(["-T", "-oBatchMode=yes", host, command]);
        Going::start(ssh).end()
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(file(&self.gate, "log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn file(gate: &Gate, name: &str) -> PathBuf {
    gate.path().join(name)
}

/// Whether OpenSSH is here; if not, prints what is left out.
pub(crate) fn has_ssh() -> bool {
    for program in [SSHD, SSH, "/usr/bin/ssh-keygen"] {
        if !Path::new(program).exists() {
            not_tested(LEFT_OUT, program);
            return false;
        }
    }
    if rustix::process::geteuid().is_root() {
        // Where Debian's service makes it.
        let _ = fs::create_dir_all("/run/sshd");
    }
    true
}

/// Makes a key and its public half in this folder.
pub(crate) fn keygen(folder: &Path, name: &str) {
    let mut keygen = Command::new("/usr/bin/ssh-keygen");
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]).arg(folder.join(name));
    assert!(keygen.stdin(Stdio::null()).status().unwrap().success());
}

/// A server whose key is `host` in this folder, and which lets in those of `keys`; agents keep what they have in `home`.
pub(crate) fn server_config(folder: &Path, address: SocketAddr, home: &Path) -> String {
    let (folder, home) = (folder.display(), home.display());
    format!(
        "ListenAddress {address}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/keys\nStrictModes no\nUsePAM no\n\
         PidFile none\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         SetEnv XDG_CACHE_HOME={home}/cache DYNO_LOCKS={home} XDG_STATE_HOME={home}/state\n"
    )
}

/// desk2 and desk3 are this server; to `stranger` another key is shown, of `moved` another host key is known, and
/// `silent` never answers.
fn write_config(gate: &Gate, server: SocketAddr, silent: SocketAddr) {
    let known = |key: &str, of: &str| {
        let key = fs::read_to_string(file(gate, key)).unwrap();
        fs::write(file(gate, of), format!("[{}]:{} {key}", server.ip(), server.port())).unwrap();
    };
    known("host.pub", "known");
    known("stranger.pub", "known-before");
    let mut text = String::new();
    for (names, at, key, known) in [
        ("desk2 desk3", server, "user", "known"),
        ("stranger", server, "stranger", "known"),
        ("moved", server, "user", "known-before"),
        ("silent", silent, "user", "known"),
    ] {
        text += &format!(
            "Host {names}\n HostName {}\n Port {}\n IdentityFile {}\n UserKnownHostsFile {}\n",
            at.ip(),
            at.port(),
            file(gate, key).display(),
            file(gate, known).display()
        );
    }
    text += "Host *\n IdentitiesOnly yes\n IdentityAgent none\n StrictHostKeyChecking yes\n GlobalKnownHostsFile none\n";
    fs::write(file(gate, "config"), text).unwrap();
}
