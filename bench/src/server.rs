//! The servers under load: a fresh one for every run, on CPU 0, counting its requests.

use crate::quantiles::{self, Quantiles};
use crate::rig::Rig;
use crate::template::{fill, words};
use crate::usage;
use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Which server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `dyno serve`, with these further arguments.
    Oracle(&'static [&'static str]),
    Nginx,
    /// One file, over HTTP/1.1 and HTTP/2 in cleartext.
    H2o,
    Canned,
}

impl Kind {
    /// Its name in a table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Oracle(_) => "oracle",
            Kind::Nginx => "nginx",
            Kind::H2o => "h2o",
            Kind::Canned => "canned",
        }
    }

    /// How its address begins.
    pub(crate) fn scheme(self) -> &'static str {
        match self {
            Kind::Oracle(more) if more.contains(&"--tls") => "https",
            Kind::Oracle(_) | Kind::Nginx | Kind::H2o | Kind::Canned => "http",
        }
    }

    /// The command line that started it.
    pub(crate) fn command(self) -> String {
        let command = match self {
            Kind::Oracle(more) => format!("{ORACLE} {}", more.join(" ").replace(LOG_HOLE, "FILE")),
            Kind::Nginx => "taskset -c 0 nginx (1 worker, return 200, no access log)".to_owned(),
            Kind::H2o => "taskset -c 0 h2o (1 thread, a file of 13 bytes)".to_owned(),
            Kind::Canned => "taskset -c 0 bench canned".to_owned(),
        };
        command.trim_end().to_owned()
    }
}

const STREAMS_LOG: &str = "streams.csv";
const H2O_LOG: &str = "h2o-requests";
const ORACLE: &str = "dyno serve --listen 127.0.0.1:0 --threads 1 --cpus 0 --json";

/// In the oracle's arguments: where it writes its record of streams.
const LOG_HOLE: &str = "{streams}";

/// A running server.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) kind: Kind,
    scratch: PathBuf,
    child: Child,
    stdout: BufReader<ChildStdout>,
    cpu_at_start: Duration,
}

/// What a server reports at its end.
pub(crate) struct Answered {
    pub(crate) requests: u64,
    pub(crate) cpu: Duration,
    /// The delays it imposed, by its own record.
    pub(crate) imposed: Quantiles,
    /// When requests came and answers left, if it has recorded that.
    pub(crate) streams: Vec<(u64, u64)>,
    /// Of its handshakes, those that resumed a session; none without TLS.
    pub(crate) resumed_share: Option<f64>,
}

impl Server {
    /// Starts one and waits until it answers.
    pub(crate) fn start(rig: &Rig, kind: Kind) -> Result<Server> {
        let port = free_port()?;
        let mut child = command(rig, kind, port)?
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", kind.name()))?;
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let (scratch, cpu_at_start) = (rig.scratch.clone(), Duration::ZERO);
        let mut server = Server { address, kind, scratch, child, stdout, cpu_at_start };
        if matches!(kind, Kind::Oracle(_) | Kind::Canned) {
            server.address = announced(&mut server.stdout).with_context(|| kind.command())?;
        }
        server.wait_until_it_listens()?;
        server.cpu_at_start = server.cpu()?;
        Ok(server)
    }

    /// Ends it and reads its record.
    pub(crate) fn stop(mut self) -> Result<Answered> {
        let cpu = self.cpu()?.saturating_sub(self.cpu_at_start);
        let counted = match self.kind {
            Kind::Nginx => Some(stub_status_requests(self.address)?),
            Kind::H2o => Some(fs::read(self.scratch.join(H2O_LOG))?.len() as u64 / 2),
            Kind::Oracle(_) | Kind::Canned => None,
        };
        self.signal(Signal::INT)?;
        let mut said = String::new();
        self.stdout.read_to_string(&mut said)?;
        self.child.wait()?;
        let books = quantiles::json(&said);
        let requests = counted.or_else(|| books["requests"].as_u64());
        let streams = fs::read_to_string(self.scratch.join(STREAMS_LOG)).unwrap_or_default();
        let handshakes = |kind: &str| books[kind].as_f64().unwrap_or(0.0);
        let resumed = handshakes("handshakes_resumed");
        let all = resumed + handshakes("handshakes_full");
        Ok(Answered {
            requests: requests
                .with_context(|| format!("no `requests` in its end report: {said}"))?,
            cpu,
            imposed: quantiles::our_quantiles(&books["imposed"]),
            streams: quantiles::recorded_streams(&streams),
            resumed_share: (all > 0.0).then(|| resumed / all),
        })
    }

    fn cpu(&self) -> Result<Duration> {
        usage::cpu_of_family(self.child.id())
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        Ok(kill_process(Pid::from_child(&self.child), signal)?)
    }

    fn wait_until_it_listens(&mut self) -> Result<()> {
        let limit = Instant::now() + Duration::from_secs(5);
        while TcpStream::connect(self.address).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("{} ended at once: {status}", self.kind.name());
            }
            if Instant::now() > limit {
                bail!("{} does not listen on {} after 5 s", self.kind.name(), self.address);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // TERM first: nginx's master ends its worker on it.
        let _ = self.signal(Signal::TERM);
        let limit = Instant::now() + Duration::from_secs(2);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < limit {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(rig: &Rig, kind: Kind, port: u16) -> Result<Command> {
    let mut words: Vec<String> = match kind {
        Kind::Oracle(more) => {
            ORACLE.split(' ').chain(more.iter().copied()).map(str::to_owned).collect()
        }
        Kind::Canned => words("taskset -c 0 bench canned", &[]),
        Kind::Nginx => nginx_words(rig, port)?,
        Kind::H2o => h2o_words(rig, port)?,
    };
    // No record of an earlier run is taken for this one's.
    [STREAMS_LOG, H2O_LOG].iter().for_each(|log| drop(fs::remove_file(rig.scratch.join(log))));
    for word in &mut words {
        if word == LOG_HOLE {
            *word = rig.scratch.join(STREAMS_LOG).to_string_lossy().into_owned();
        }
        if ["dyno", "bench", "nginx", "h2o", "taskset"].contains(&word.as_str()) {
            let path = rig.program(word).ok_or_else(|| anyhow!("`{word}` is not installed"))?;
            *word = path.to_string_lossy().into_owned();
        }
    }
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("RUST_BACKTRACE", "0");
    Ok(command)
}

fn nginx_words(rig: &Rig, port: u16) -> Result<Vec<String>> {
    let log = rig.scratch.join("nginx-error.log");
    let fillings = [
        ("directory", rig.scratch.to_string_lossy().into_owned()),
        ("log", log.to_string_lossy().into_owned()),
        ("config", configured(rig, "nginx.conf", include_str!("../assets/nginx.conf"), port)?),
    ];
    Ok(words("taskset -c 0 nginx -p {directory} -e {log} -c {config}", &fillings))
}

fn h2o_words(rig: &Rig, port: u16) -> Result<Vec<String>> {
    let files = rig.scratch.join("h2o");
    fs::create_dir_all(&files)?;
    fs::write(files.join("hello"), "Hello, world!")?;
    let config = configured(rig, "h2o.conf", include_str!("../assets/h2o.conf"), port)?;
    Ok(words("taskset -c 0 h2o -c {config}", &[("config", config)]))
}

/// Writes a configuration for this port; where it is.
fn configured(rig: &Rig, name: &str, config: &str, port: u16) -> Result<String> {
    let directory = rig.scratch.to_string_lossy();
    let fillings = [("directory", directory.into_owned()), ("port", port.to_string())];
    let path = rig.scratch.join(name);
    fs::write(&path, fill(config, &fillings))?;
    Ok(path.to_string_lossy().into_owned())
}

/// `listening on http://127.0.0.1:40123` is the first line.
fn announced(stdout: &mut impl BufRead) -> Result<SocketAddr> {
    let mut line = String::new();
    if stdout.read_line(&mut line)? == 0 {
        bail!("it ended before it listened; its reason stands above, on stderr");
    }
    let address = line.trim().trim_end_matches('/').rsplit('/').next().unwrap_or("");
    address.parse().with_context(|| format!("expected `listening on http://…`, got `{line}`"))
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// All that nginx answered before this request.
fn stub_status_requests(address: SocketAddr) -> Result<u64> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(b"GET /stub_status HTTP/1.0\r\n\r\n")?;
    let mut page = String::new();
    stream.read_to_string(&mut page)?;
    let requests = requests_in(&page).with_context(|| format!("no counts in {page}"))?;
    Ok(requests.saturating_sub(1))
}

/// Third number of the line below `server accepts handled requests`.
fn requests_in(page: &str) -> Option<u64> {
    let mut lines = page.lines().skip_while(|line| !line.starts_with("server accepts"));
    lines.nth(1)?.split_whitespace().nth(2)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_tells_its_address_in_its_first_line() {
        let announced = |mut line: &[u8]| announced(&mut line).ok();
        let expected = SocketAddr::from(([127, 0, 0, 1], 40_123));
        assert_eq!(announced(b"listening on http://127.0.0.1:40123\nmore"), Some(expected));
        assert_eq!(announced(b"listening on http://127.0.0.1:40123/\n"), Some(expected));
        assert_eq!(announced(b"address in use\n"), None);
    }

    #[test]
    fn nginx_counts_its_requests_in_the_third_column() {
        let page =
            "Active connections: 1 \nserver accepts handled requests\n 16 16 31070 \nReading";
        assert_eq!(requests_in(page), Some(31_070));
        assert_eq!(requests_in("404"), None);
    }
}
