//! k. One load, from one process and from several: are the figures the same, and what do agents cost?

use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use machine::process::family_of;
use serde_json::Value;

use super::Section;
use crate::dyno_json;
use crate::hosts::Hosts;
use crate::load::{Load, Shape};
use crate::quantiles::{json, our_quantiles};
use crate::rig::Rig;
use crate::rounds::{Ratio, Series, alternate, median, ratio};
use crate::sections::Verdict;
use crate::server::{Kind, Server};
use crate::table::{Table, number, range};
use crate::usage::{cpu_of_process, cpu_of_threads};

/// Requests of a load on a schedule, each second.
const RATE: &str = "2000";
/// What the server waits before each answer, so that the percentiles have something to say.
const DELAY: &str = "lognormal:2ms,0.5";
const ORACLE: Kind = Kind::Oracle(&["--delay", DELAY]);
/// The p99 of two equal runs differs by 2 % by chance alone, so three rounds say nothing of 2 %.
const ROUNDS: usize = 7;
const MANY: u32 = 100;
/// What an agent and its carrier take more than one process alone.
const CONTROL_MAX: f64 = 0.005;
/// Lateness differs from run to run by more than anything else here.
const LATE_ROUNDS: usize = 15;
const PORT: u16 = 8_080;
/// How the name of a lane's thread begins.
const LANE: &str = "loader ";

/// One load's result.
struct Loaded {
    requests_per_s: Option<f64>,
    p50_ms: Option<f64>,
    p99_ms: Option<f64>,
    late_p99_us: Option<f64>,
    cpu_us: Option<f64>,
}

/// A figure of a load, and its name.
type Figure = (&'static str, fn(&Loaded) -> Option<f64>);

const FIGURES: [Figure; 5] = [
    ("requests/s", |it| it.requests_per_s),
    ("p50 ms", |it| it.p50_ms),
    ("p99 ms", |it| it.p99_ms),
    ("sent late p99 µs", |it| it.late_p99_us),
    ("µs CPU a request", |it| it.cpu_us),
];

pub(crate) fn measure(rig: &Rig) -> Section {
    let mut section = Section::default();
    let rounds = ROUNDS.min(2 * rig.long_rounds + 1);
    for (name, flags) in [("2,000 requests/s by chance", OPEN), ("a closed loop", CLOSED)] {
        let here = |_, contender: usize| on_loopback(rig, flags, "4", contender);
        section.add(&format!("{name}, on loopback"), "4 agents here", rounds, here);
        match Hosts::up(&["server", "desk", "g1", "g2", "g3", "g4"]) {
            Some(hosts) => {
                let apart = |_, contender: usize| on_hosts(rig, &hosts, flags, contender);
                let title = format!("{name}, over namespaces");
                section.add(&title, "4 hosts with an agent", rounds, apart);
            }
            None => eprintln!("  no namespaces here: that part is left out"),
        }
    }
    section.costs(rig);
    section
}

/// One lane in this process, and one in an agent, with the lane on a CPU of its own, as dyno does it by itself: nothing
/// differs but control and carrier, so what they do to lateness is seen here. In the section before, all threads of four
/// agents share one CPU.
pub(crate) fn measure_lateness(rig: &Rig) -> Section {
    let mut section = Section::default();
    let names = ["1 process", "the same again", "1 agent here"];
    let run = |_, contender: usize| on_loopback(rig, OPEN, "1", contender);
    let rounds = LATE_ROUNDS.min(6 * rig.long_rounds - 3);
    let all = section.tabled("2,000 requests/s by chance, of one lane", names, rounds, run);
    let late = |it: &Series<Loaded>| it.figures(|it| it.late_p99_us).into_iter().flatten();
    section.verdicts.push(no_later(
        late(&all[0]).chain(late(&all[1])).collect(),
        median(late(&all[2]).collect()),
    ));
    section
}

const OPEN: &[&str] = &["-c", "64", "-r", RATE, "--arrivals", "poisson"];
const CLOSED: &[&str] = &["-c", "8"];

impl Section {
    /// One process, the same once more, and agents: what they measure, and as ratios to the first.
    fn add(
        &mut self,
        title: &str,
        agents: &str,
        rounds: usize,
        run: impl FnMut(usize, usize) -> Result<Loaded>,
    ) {
        let names = ["1 process of 4 lanes", "the same again", agents];
        let all = self.tabled(title, names, rounds, run);
        for (name, figure) in &FIGURES[..3] {
            let (same, apart) =
                (ratio_of(&all[1], &all[0], *figure), ratio_of(&all[2], &all[0], *figure));
            self.verdicts.push(within(format!("{title}: {name}"), apart, same));
        }
    }

    /// What each of three loads measures, and as ratios to the first.
    fn tabled(
        &mut self,
        title: &str,
        names: [&str; 3],
        rounds: usize,
        run: impl FnMut(usize, usize) -> Result<Loaded>,
    ) -> Vec<Series<Loaded>> {
        eprintln!("  {title}");
        let all = alternate(names.len(), rounds, run);
        let mut columns = vec!["load from"];
        for (name, _) in FIGURES {
            columns.extend([name, "×"]);
        }
        let mut table = Table::new(title, &columns);
        for (name, series) in names.iter().zip(&all) {
            let mut row = vec![(*name).to_owned()];
            for (_, figure) in FIGURES {
                row.push(number(series.median(figure), 2));
                row.push(range(ratio_of(series, &all[0], figure)));
            }
            table.rows.push(row);
        }
        table.notes = all.iter().flat_map(|series| series.failures.clone()).collect();
        table.notes.push(format!("the server waits {DELAY} before each answer"));
        self.tables.push(table);
        all
    }

    fn costs(&mut self, rig: &Rig) {
        let mut table = Table::new("What agents cost", &["what", "measured"]);
        let share = |share: &Result<f64>| match share {
            Ok(share) => format!("{:.3} % of a CPU", share * 100.0),
            Err(error) => format!("{error:#}"),
        };
        let alone = beside_lanes(rig, &["-t", "1", "-c", "16", "-r", "500"], 1);
        let agents =
            beside_lanes(rig, &["-t", "4", "-c", "64", "-r", RATE, "--load-on", "local:4"], 4);
        let control = alone.as_ref().ok().zip(agents.as_ref().ok()).map(|(alone, all)| all - alone);
        let beside = "the threads beside the lane";
        table
            .rows
            .push(vec![format!("{beside}, in one process with 500 requests/s"), share(&alone)]);
        table.rows.push(vec![
            format!("{beside}, of 4 agents and their coordinator, each"),
            share(&agents),
        ]);
        self.verdicts.push(Verdict {
            what: "Agents: CPU of control and carrier, each".into(),
            target: format!("< {} % of a CPU", CONTROL_MAX * 100.0),
            measured: control
                .map_or("–".into(), |control| format!("{:.3} % of a CPU", control * 100.0)),
            met: control.map(|control| control < CONTROL_MAX),
        });
        let many = coordinator(rig);
        table
            .rows
            .push(vec![format!("the coordinator of {MANY} agents, on average"), share(&many)]);
        self.verdicts.push(Verdict {
            what: format!("Agents: CPU of the coordinator of {MANY}"),
            target: "< 1 CPU".into(),
            measured: share(&many),
            met: many.ok().map(|share| share < 1.0),
        });
        table.notes.push(format!(
            "the last: from its start to its end, with the start of the processes, a live window of each agent each second, \
             and the merge of {MANY} recordings"
        ));
        self.tables.push(table);
    }
}

fn ratio_of(
    above: &Series<Loaded>,
    below: &Series<Loaded>,
    figure: fn(&Loaded) -> Option<f64>,
) -> Option<Ratio> {
    ratio(&above.figures(figure), &below.figures(figure))
}

/// The agents' ratio is no further from 1 than two equal runs of one process are, or 2 %.
fn within(what: String, apart: Option<Ratio>, same: Option<Ratio>) -> Verdict {
    let far = |ratio: f64| ratio.ln().abs();
    let noise = same.map(|same| far(same.least).max(far(same.most)).max(0.02));
    Verdict {
        what,
        target: match noise {
            Some(noise) => format!("within {:.1} % of one process", noise.exp_m1() * 100.0),
            None => "as one process".into(),
        },
        measured: range(apart),
        met: apart.zip(noise).map(|(apart, noise)| far(apart.median) <= noise),
    }
}

/// The median of the agent's lateness is not above that of three in four runs of one process.
fn no_later(mut process: Vec<f64>, agent: Option<f64>) -> Verdict {
    process.sort_by(f64::total_cmp);
    let most = process.get(process.len() * 3 / 4).copied();
    let us = |us: Option<f64>| us.map_or("–".into(), |us| format!("{us:.0} µs"));
    Verdict {
        what: "Agents: p99 of lateness, of one lane".into(),
        target: format!("≤ {}, as in three of four runs of one process", us(most)),
        measured: format!("{}; one process {}", us(agent), us(median(process))),
        met: agent.zip(most).map(|(agent, most)| agent <= most),
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

fn dyno(rig: &Rig) -> Result<String> {
    Ok(rig.program("dyno").context("no dyno")?.to_string_lossy().into_owned())
}

fn on_loopback(rig: &Rig, flags: &[&str], lanes: &str, contender: usize) -> Result<Loaded> {
    let server = Server::start(rig, ORACLE)?;
    let url = format!("http://{}/hello", server.address);
    let mut command = load(&dyno(rig)?, &url, seconds(rig), lanes, flags);
    if lanes == "1" {
        command.splice(0..0, words(&["taskset", "-c", "0,1"]));
        command.extend(words(&["--load-cpus", "1"]));
    }
    if contender == 2 {
        command.extend(["--load-on".into(), format!("local:{lanes}")]);
    }
    let loaded = loaded(rig, &command);
    server.stop()?;
    loaded
}

fn load(dyno: &str, url: &str, seconds: u32, lanes: &str, flags: &[&str]) -> Vec<String> {
    let length = format!("{seconds}s");
    let mut command = words(&[dyno, "load", url, "-t", lanes, "-d", &length, "--json"]);
    command.extend(words(flags));
    command
}

fn seconds(rig: &Rig) -> u32 {
    rig.seconds + 2
}

/// Runs it on the generators' CPU. The CPU time includes that of the agents, and of their start.
fn loaded(rig: &Rig, command: &[String]) -> Result<Loaded> {
    let limit = Load::of(Shape::Closed, 1, rig.seconds + 10);
    let measured = rig.measured(command, limit)?;
    let report = json(&measured.stdout);
    if let Some(objection) = dyno_json::objection(&measured.stdout) {
        bail!("{objection}");
    }
    let figure = |of: &Value, key: &str| of[key].as_f64();
    let correct = figure(&report["books"], "correct").filter(|correct| 0.0 < *correct);
    let quantiles = our_quantiles(&report["response"]);
    Ok(Loaded {
        requests_per_s: correct.zip(figure(&report, "measured_s")).map(|(n, s)| n / s),
        p50_ms: quantiles.p50_ms,
        p99_ms: quantiles.p99_ms,
        late_p99_us: figure(&report["late"], "p99_ns").map(|ns| ns / 1e3),
        cpu_us: correct.map(|correct| measured.spent.cpu().as_secs_f64() * 1e6 / correct),
    })
}

fn on_hosts(rig: &Rig, hosts: &Hosts, flags: &[&str], contender: usize) -> Result<Loaded> {
    let (program, address) = (dyno(rig)?, format!("{}:{PORT}", hosts.address("server")));
    let serve = ["serve", "--listen", &address, "--threads", "1", "--cpus", "0", "--delay", DELAY];
    let mut server = Running(
        hosts.on("server", &program, &serve).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?,
    );
    let began = Instant::now();
    let connects = format!("exec 3<>/dev/tcp/{}", address.replace(':', "/"));
    while !hosts.on("desk", "bash", &["-c", &connects]).stderr(Stdio::null()).status()?.success() {
        if server.0.try_wait()?.is_some() || Duration::from_secs(10) < began.elapsed() {
            bail!("the server does not answer in its namespace");
        }
        sleep(Duration::from_millis(20));
    }
    let ssh = hosts.ssh();
    let folder = ssh.parent().context("a folder")?.display().to_string();
    let path = format!("PATH={folder}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command: Vec<String> = vec!["env".into(), path];
    let on_desk = hosts.on("desk", &program, &[]);
    command.push(on_desk.get_program().to_string_lossy().into_owned());
    // The last word is the program.
    let entering = on_desk.get_args().map(|word| word.to_string_lossy().into_owned());
    command.extend(entering);
    let url = format!("http://{address}/hello");
    command.extend(load(&program, &url, seconds(rig), "4", flags).into_iter().skip(1));
    if contender == 2 {
        command.extend(words(&["--load-on", "ssh:g1,g2,g3,g4"]));
    }
    loaded(rig, &command)
}

/// It ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The share of a CPU that all threads of a load but its lanes take, for each of so many.
fn beside_lanes(rig: &Rig, flags: &[&str], among: u32) -> Result<f64> {
    eprintln!("  the threads beside the lanes of {among}");
    let server = Server::start(rig, ORACLE)?;
    let url = format!("http://{}/hello", server.address);
    let mut command =
        words(&[&dyno(rig)?, "load", &url, "-d", "10s", "--arrivals", "poisson", "--json"]);
    command.extend(words(flags));
    let load = Running(start(&command)?);
    sleep(Duration::from_secs(3));
    let mut all = family_of(load.0.id());
    all.push(load.0.id());
    let spent = || -> Result<Duration> {
        all.iter().map(|&pid| cpu_of_threads(pid, |name| !name.starts_with(LANE))).sum()
    };
    let (began, before) = (Instant::now(), spent()?);
    sleep(Duration::from_secs(5));
    let spent = spent()?.saturating_sub(before);
    let share = spent.as_secs_f64() / began.elapsed().as_secs_f64() / f64::from(among);
    drop(load);
    server.stop()?;
    Ok(share)
}

/// The share of a CPU that the coordinator of many agents takes, from its start to its end.
fn coordinator(rig: &Rig) -> Result<f64> {
    eprintln!("  the coordinator of {MANY} agents");
    let server = Server::start(rig, ORACLE)?;
    let (url, many) = (format!("http://{}/hello", server.address), MANY.to_string());
    let place = format!("local:{many}");
    let flags = ["-c", &many, "-t", &many, "-r", "600", "-d", "10s", "--load-on", &place];
    let mut command = words(&[&dyno(rig)?, "load", &url, "--json"]);
    command.extend(words(&flags));
    let mut coordinator = Running(start(&command)?);
    let (began, mut spent) = (Instant::now(), Duration::ZERO);
    let status = loop {
        if let Some(status) = coordinator.0.try_wait()? {
            break status;
        }
        spent = cpu_of_process(coordinator.0.id()).unwrap_or(spent);
        if Duration::from_secs(120) < began.elapsed() {
            bail!("it did not end within two minutes");
        }
        sleep(Duration::from_millis(5));
    };
    server.stop()?;
    match status.code() {
        Some(0 | 2) => Ok(spent.as_secs_f64() / began.elapsed().as_secs_f64()),
        _ => bail!("it ended with {status}"),
    }
}

fn start(command: &[String]) -> Result<Child> {
    let (program, arguments) = command.split_first().context("no command")?;
    let mut command = Command::new(program);
    Ok(command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otherwise lanes would count among the threads beside them.
    #[test]
    fn the_threads_of_lanes_are_known_by_their_names() {
        let press = include_str!("../../../crates/load/src/press.rs");
        assert!(press.contains(&format!("scope, format!(\"{LANE}{{}}\"")));
    }

    #[test]
    fn agents_are_judged_by_how_far_two_equal_runs_differ() {
        let exactly = |median| Some(Ratio { median, least: median, most: median });
        let met = |apart, same| within(String::new(), exactly(apart), exactly(same)).met;
        assert_eq!(met(1.01, 1.0), Some(true), "2 % is always granted");
        assert_eq!(met(1.05, 1.0), Some(false));
        assert_eq!(met(1.05, 0.94), Some(true));
        assert_eq!(within(String::new(), None, exactly(1.0)).met, None);
    }

    #[test]
    fn an_agent_is_late_if_it_is_later_than_three_in_four_runs_of_one_process() {
        let met = |process: &[f64], agent| no_later(process.to_vec(), agent).met;
        let process = [30.0, 10.0, 40.0, 20.0];
        assert_eq!(met(&process, Some(40.0)), Some(true));
        assert_eq!(met(&process, Some(41.0)), Some(false));
        assert_eq!(met(&[], Some(1.0)), None);
        assert_eq!(met(&process, None), None);
    }
}
