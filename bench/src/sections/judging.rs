//! o. What it costs to judge the answers of each workload, over the same answers with any body. The server is dyno's own
//! or, for rows of a database, one with the right rows of a fixed table; CPU time is that of the load's thread.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use lab::workload::Workload;
use load::{Halt, Load, Order, Spin, Stop, Target, press};
use oracle::{Config, Listen, Oracle};
use wire::{Ask, Asks, BodyRule, Chance, Dataset, Files, Tables, WORLDS, fortunes_page};

use super::{Section, at_most};
use crate::rig::Rig;
use crate::rounds::{Series, alternate, ratio};
use crate::table::{Table, number, range};

const SEED: u64 = 7;
const CONNECTIONS: usize = 32;
/// What the judgement of bodies may cost, over the same answers of which only the status and the fields are judged.
/// `files` may be above it: four fifths of its judgement are memcmp, and the files, which fill no near cache, come at
/// 30 GB/s.
const MOST: f64 = 1.15;

pub(crate) fn measure(rig: &Rig) -> Section {
    let columns = ["workload", "ns CPU an answer, any body", "judged", "×"];
    let mut table = Table::new("CPU of the load's thread for an answer, 32 connections", &columns);
    let mut verdicts = Vec::new();
    let measured = with_servers(&mut |name, address| {
        let all = costs(name, address, rig)?;
        let [any, judged] = [0, 1].map(|at: usize| all[at].figures(|cost| Some(*cost)));
        let over = ratio(&judged, &any);
        let medians = [0, 1].map(|at: usize| number(all[at].median(|cost| Some(*cost)), 0));
        let [any, judged] = medians;
        table.rows.push(vec![name.to_owned(), any, judged, range(over)]);
        let failures = all.iter().flat_map(|series| &series.failures);
        table.notes.extend(failures.map(|failure| format!("{name}: {failure}")));
        verdicts.push(at_most(format!("CPU to judge {name}"), "any body", over, MOST));
        Ok(())
    });
    table.notes.extend(measured.err().map(|error| format!("not measured: {error:#}")));
    Section { tables: vec![table], verdicts }
}

/// Each workload, and the server that answers it.
fn with_servers(row: &mut dyn FnMut(&str, SocketAddr) -> Result<()>) -> Result<()> {
    let dataset = oracle::Dataset::parse(Dataset::of(SEED).to_json().as_bytes());
    let dataset = Some(Arc::new(dataset.map_err(|says| anyhow!("{says}"))?));
    let listen = Listen::Tcp("127.0.0.1:0".parse()?);
    let served = Files::of(SEED);
    let content = |number| (Files::name(number).to_owned(), served.content(number).to_vec());
    let files = Some(Arc::new(oracle::Files::of((0..Files::COUNT).map(content))));
    let server = Oracle::start(Config { listen, threads: 1, dataset, files, ..Config::default() })?;
    let address = server.address().to_string().parse()?;
    for name in ["wait-15", "headers", "json", "post-json", "echo-bytes", "files"] {
        row(name, address)?;
    }
    for (name, kind, bodies) in database() {
        row(name, canned(kind, bodies)?)?;
    }
    Ok(())
}

/// The nanoseconds of an answer with any body and of a judged one, in turn.
fn costs(name: &str, address: SocketAddr, rig: &Rig) -> Result<Vec<Series<f64>>> {
    let workload = Workload::read(Path::new("."), name).map_err(|says| anyhow!("{says}"))?;
    let workload = workload.with_files(&Files::of(SEED)).knowing(None);
    let workload = workload.map_err(|says| anyhow!("{says}"))?;
    let judged = workload.with(&Dataset::of(SEED), &Tables::of(SEED)).weighted(true);
    let any = judged.iter().map(|(weight, ask)| (*weight, with_any_body(ask))).collect();
    let orders = [order(address, any, rig)?, order(address, judged, rig)?];
    Ok(alternate(orders.len(), rig.rounds, |_, which| cost_ns(&orders[which])))
}

fn with_any_body(ask: &Ask) -> Ask {
    let mut ask = ask.clone();
    ask.expect.body = BodyRule::Any;
    ask.expect.wait_ns = None;
    ask
}

fn order(address: SocketAddr, asks: Vec<(u32, Ask)>, rig: &Rig) -> Result<Order> {
    let stop = Stop { total: None, duration: Some(Duration::from_secs(rig.seconds.into())) };
    let load = Load::Closed { connections: CONNECTIONS };
    let warmup = Duration::from_millis(300);
    let asks = Asks::weighted(asks).context("no asks")?;
    let spin = Spin::Never;
    Ok(Order { stop, warmup, spin, ..Order::new(Target::Tcp(address), asks, load) })
}

/// CPU time of the load's thread for a right answer.
fn cost_ns(order: &Order) -> Result<f64> {
    let recording = press(order, &Halt::default(), &mut |_| {})?;
    let total = &recording.total;
    match total.failed_in_all() {
        0 => Ok(total.cpu as f64 / total.correct_inside as f64),
        failed => bail!("{failed} answers are wrong"),
    }
}

/// Bodies that are right for the tables of the seed.
fn database() -> Vec<(&'static str, &'static str, Vec<String>)> {
    let (tables, mut chance) = (Tables::of(SEED), Chance::new(1));
    let mut lists = |rows: usize, open: &str, close: &str| -> Vec<String> {
        let mut list = || (0..rows).map(|_| drawn(&tables, &mut chance)).collect::<Vec<_>>();
        (0..500).map(|_| format!("{open}{}{close}", list().join(","))).collect()
    };
    vec![
        ("db-row", "application/json", lists(1, "", "")),
        ("db-rows-5", "application/json", lists(5, "[", "]")),
        ("db-rows-20", "application/json", lists(20, "[", "]")),
        ("db-update", "application/json", lists(5, "[", "]")),
        ("fortunes", "text/html", vec![fortunes_page(&tables, false)]),
    ]
}

fn drawn(tables: &Tables, chance: &mut Chance) -> String {
    let id = 1 + chance.below(WORLDS as usize) as u32;
    format!("{{\"id\":{id},\"randomNumber\":{}}}", tables.number(id).unwrap_or(0))
}

/// A server that gives these bodies in turn, on a thread for each connection, until the program ends.
fn canned(kind: &'static str, bodies: Vec<String>) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let answers: Arc<[String]> = bodies.into_iter().map(|body| answer(kind, &body)).collect();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answers = answers.clone();
            std::thread::spawn(move || answer_all(stream, &answers));
        }
    });
    Ok(address)
}

fn answer(kind: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn answer_all(mut stream: TcpStream, answers: &[String]) {
    let mut request = [0; 4096];
    // A request is one segment here.
    for answer in answers.iter().cycle() {
        let has_come = matches!(stream.read(&mut request), Ok(1..));
        if !has_come || stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}
