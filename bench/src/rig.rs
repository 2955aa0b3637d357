//! Where everything is, and one measured run: a fresh server, one generator, the output of both.

use crate::args::BenchArgs;
use crate::dyno_json;
use crate::exchange::PATH;
use crate::generators::{DYNO, FLOOR, Generator, PEERS, WRK};
use crate::load::{Load, Shape};
use crate::measure::{self, Measured};
use crate::quantiles::{self, Quantiles};
use crate::rounds::alternate;
use crate::run::Run;
use crate::sections::Compared;
use crate::server::{Answered, Kind, Server};
use crate::template::{Filling, fill, words};
use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The bench, ready to run.
pub(crate) struct Rig {
    pub(crate) scratch: PathBuf,
    pub(crate) cache: PathBuf,
    pub(crate) rounds: usize,
    /// Rounds of the long runs.
    pub(crate) long_rounds: usize,
    pub(crate) seconds: u32,
    pub(crate) quick: bool,
    bench: PathBuf,
    pub(crate) dyno: PathBuf,
    search: Vec<PathBuf>,
    peers: Option<Vec<String>>,
}

/// One generator under one load against one server.
#[derive(Clone, Copy)]
pub(crate) struct Contender {
    pub(crate) generator: &'static Generator,
    pub(crate) load: Load,
    pub(crate) server: Kind,
}

impl Rig {
    /// Finds programs, raises the file limit, makes a scratch directory.
    pub(crate) fn new(args: &BenchArgs) -> Result<Rig> {
        raise_file_limit();
        let bench = env::current_exe()?;
        let dyno = args.dyno.clone().unwrap_or_else(|| bench.with_file_name("dyno"));
        if !dyno.is_file() {
            bail!(
                "no dyno at {}: build it with `cargo build --release -p dyno-http`, or name it with \
                 --dyno PATH",
                dyno.display()
            );
        }
        // Some parts run in folders of their own.
        let dyno = std::path::absolute(dyno)?;
        let cache = args.cache.clone().unwrap_or_else(default_cache);
        let scratch = env::temp_dir().join(format!("dyno-bench-{}", std::process::id()));
        fs::create_dir_all(&scratch)?;
        write_scripts(&scratch)?;
        let mut search = vec![cache.join("bin")];
        search.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        search.push("/usr/sbin".into());
        Ok(Rig {
            scratch,
            cache,
            rounds: args.rounds.unwrap_or(if args.quick { 3 } else { 5 }),
            long_rounds: args.rounds.unwrap_or(3).min(if args.quick { 1 } else { 3 }),
            seconds: args.seconds.unwrap_or(if args.quick { 1 } else { 3 }),
            quick: args.quick,
            bench,
            dyno,
            search,
            peers: args.peers.clone(),
        })
    }

    /// The path of a program; none if it is not installed.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        match name {
            "bench" => Some(self.bench.clone()),
            "dyno" => Some(self.dyno.clone()).filter(|path| path.is_file()),
            name => self.search.iter().map(|at| at.join(name)).find(|path| path.is_file()),
        }
    }

    /// dyno, wrk, the floor and the peers, as far as they support this load.
    pub(crate) fn contenders(&self, load: Load, server: Kind) -> Vec<Contender> {
        let all = [&DYNO, &FLOOR, &WRK].into_iter().chain(self.peers());
        all.filter(|generator| generator.template(&load).is_some())
            .map(|generator| Contender { generator, load, server })
            .collect()
    }

    /// The selected peers.
    pub(crate) fn peers(&self) -> impl Iterator<Item = &'static Generator> {
        let wanted = |peer: &&Generator| match &self.peers {
            Some(names) => names.iter().any(|name| name == peer.program || name == peer.name),
            None => true,
        };
        PEERS.iter().filter(wanted)
    }

    /// Alternating rounds of those contenders that are installed; for the others the reason is
    /// recorded.
    pub(crate) fn alternate(&self, contenders: Vec<Contender>, rounds: usize) -> Compared {
        let all = alternate(contenders.len(), rounds, |round, index| {
            let contender = contenders[index];
            let name = contender.generator.name;
            let outcome = self.run(contender);
            match &outcome {
                Ok(run) => eprintln!(
                    "  round {}: {name:<14} {:>9} requests, {:.2} µs CPU each",
                    round + 1,
                    run.requests,
                    run.cpu_us().unwrap_or(f64::NAN)
                ),
                Err(error) => eprintln!("  round {}: {name:<14} {error:#}", round + 1),
            }
            outcome
        });
        Compared { contenders, all }
    }

    /// One run.
    pub(crate) fn run(&self, contender: Contender) -> Result<Run> {
        let Contender { generator, load, server } = contender;
        if self.program(generator.program).is_none() {
            bail!("not installed ({})", generator.get);
        }
        let server = Server::start(self, server)?;
        let start = Instant::now();
        let pressed = self.press(generator, load, &server);
        let wall = start.elapsed();
        let answered = server.stop()?;
        let (measured, reported) = pressed?;
        check_answers(generator, &measured)?;
        finished(measured, reported, &answered, wall, load)
    }

    fn press(
        &self,
        generator: &Generator,
        load: Load,
        server: &Server,
    ) -> Result<(Measured, Quantiles)> {
        let log = self.scratch.join("generator.log");
        let _ = fs::remove_file(&log);
        let template = generator.template(&load).context("it has no such load")?;
        let command = self.words(generator, &template, &self.fillings(load, server, &log))?;
        let measured = self.measured(&command, load)?;
        let log = fs::read_to_string(&log).unwrap_or_default();
        let reported = (generator.read)(&measured.stdout, &log);
        Ok((measured, reported))
    }

    /// Runs a command on the generators' CPU and measures it.
    pub(crate) fn measured(&self, command: &[String], load: Load) -> Result<Measured> {
        measure::run(&self.bench, &self.scratch, 1, limit_s(load), command)
    }

    /// The command line with its program found.
    pub(crate) fn words(
        &self,
        generator: &Generator,
        template: &str,
        fillings: &[Filling],
    ) -> Result<Vec<String>> {
        let mut command = words(template, fillings);
        let program = self.program(generator.program);
        let program = program.ok_or_else(|| anyhow!("not installed ({})", generator.get))?;
        command[0] = program.to_string_lossy().into_owned();
        Ok(command)
    }

    /// What fills the holes of a command line against a running server.
    pub(crate) fn fillings(&self, load: Load, server: &Server, log: &Path) -> Vec<Filling> {
        let (host, port) = (server.address.ip().to_string(), server.address.port().to_string());
        let script = |file: &str| self.scratch.join(file).to_string_lossy().into_owned();
        fillings(load, server.kind, (&host, &port), &log.to_string_lossy(), script)
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// What fills the holes of a command line.
fn fillings(
    load: Load,
    server: Kind,
    (host, port): (&str, &str),
    log: &str,
    script: impl Fn(&str) -> String,
) -> Vec<Filling> {
    let scheme = server.scheme();
    // What makes dyno trust the oracle's certificate, if there is one: the other generators trust every one.
    let trust = if scheme == "https" { "-k" } else { "" };
    let mut fillings = load.fillings();
    fillings.extend([
        ("url", format!("{scheme}://{host}:{port}{PATH}")),
        ("trust", trust.to_owned()),
        ("address", format!("{host}:{port}")),
        ("path", PATH.to_owned()),
        ("host", host.to_owned()),
        ("port", port.to_owned()),
        ("log", log.to_owned()),
        ("k6_closed", script("k6_closed.js")),
        ("k6_open", script("k6_open.js")),
        ("jmeter_plan", script("jmeter.jmx")),
    ]);
    fillings
}

/// The command line as a reader would type it.
pub(crate) fn shown(contender: &Contender) -> String {
    let Contender { generator, load, server } = *contender;
    let script = |file: &str| format!("bench/assets/{file}");
    let fillings = fillings(load, server, ("127.0.0.1", "PORT"), "LOG", script);
    let template = generator.template(&load).unwrap_or("–".to_owned());
    // A hole that is filled with nothing leaves two blanks.
    fill(&template, &fillings).replace("  ", " ")
}

/// A generator that checks answers must have found them correct: otherwise it did something
/// cheaper.
pub(crate) fn check_answers(generator: &Generator, measured: &Measured) -> Result<()> {
    let checks = generator.name == DYNO.name;
    match checks.then(|| dyno_json::objection(&measured.stdout)).flatten() {
        Some(objection) => bail!("{objection}"),
        None => Ok(()),
    }
}

fn finished(
    measured: Measured,
    reported: Quantiles,
    answered: &Answered,
    wall: Duration,
    load: Load,
) -> Result<Run> {
    if answered.requests == 0 {
        bail!("no request reached the server: {}", measured.complaint.unwrap_or_default());
    }
    Ok(Run {
        requests: answered.requests,
        measured,
        wall,
        server_cpu: answered.cpu,
        imposed: answered.imposed,
        scheduled: match load.shape {
            Shape::OpenStreams => quantiles::of_schedule(&answered.streams, load.rate),
            _ => Quantiles::default(),
        },
        resumed_share: answered.resumed_share,
        reported,
    })
}

/// Three times the expected time, and time to start a JVM.
fn limit_s(load: Load) -> u32 {
    load.seconds() * 3 + 20
}

fn write_scripts(scratch: &Path) -> Result<()> {
    fs::write(scratch.join("k6_closed.js"), include_str!("../assets/k6_closed.js"))?;
    fs::write(scratch.join("k6_open.js"), include_str!("../assets/k6_open.js"))?;
    Ok(fs::write(scratch.join("jmeter.jmx"), include_str!("../assets/jmeter.jmx"))?)
}

/// As high as this user may set it: ten thousand connections need as many files.
fn raise_file_limit() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

fn default_cache() -> PathBuf {
    let home = env::var_os("HOME").map_or_else(env::temp_dir, PathBuf::from);
    home.join(".cache/dyno-bench")
}
