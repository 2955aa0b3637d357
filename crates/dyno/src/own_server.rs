//! Dyno's own server in a process of its own, which commands load to see how fast that goes.

use std::env;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use wire::{Ask, BodyRule, Expect, Request, Template};

use crate::shell::Refusal;

/// Killed when it is dropped; ends by itself when dyno is gone.
pub(crate) struct OwnServer {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl OwnServer {
    /// Listens on this address, on port 0 on one that is free.
    pub(crate) fn start(
        address: SocketAddr,
        threads: usize,
        cpu: Option<usize>,
    ) -> Result<OwnServer, Refusal> {
        let refused = |why: String| Refusal::new(format!("dyno's own server did not start: {why}"));
        let executable = env::current_exe().map_err(|error| refused(error.to_string()))?;
        let mut command = Command::new(executable);
        command.args(["serve", "--listen", &address.to_string(), "--until-stdin-ends"]);
        command.args(["--threads", &threads.to_string()]);
        command.args(cpu.map(|cpu| format!("--cpus={cpu}")));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.spawn().map_err(|error| refused(error.to_string()))?;
        let mut oracle = OwnServer { child, address };
        let stdout =
            oracle.child.stdout.take().ok_or_else(|| refused("it has no output".into()))?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).map_err(|error| refused(error.to_string()))?;
        let listens = line.trim().rsplit("http://").next().and_then(|text| text.parse().ok());
        oracle.address = listens.ok_or_else(|| refused(format!("it said `{}`", line.trim())))?;
        Ok(oracle)
    }

    /// CPU time that it has taken, in nanoseconds.
    pub(crate) fn cpu_ns(&self) -> Option<u64> {
        machine::monitor::cpu_ns_of(&[self.child.id()])
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request that it answers at once.
pub(crate) fn hello(host: &str) -> Result<Ask, Refusal> {
    let body = BodyRule::Exactly(Template::literal(*b"Hello, world!"));
    Ok(Ask::new(&Request::get(host, "/hello"), Expect { body, ..Expect::default() })?)
}
