//! What it costs dyno to judge the answers of each workload, over the same exchange with any body:
//! `cargo run --release -p dyno-lab --example check_cost -- [ROUNDS [WORKLOAD]]`, from the project's root. The server is
//! dyno's own or, for rows of a database, one with the right rows of a fixed table; CPU time is that of the load's
//! thread.

#![allow(clippy::print_stdout)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use lab::workload::Workload;
use load::{Halt, Load, Order, Spin, Stop, Target, press};
use oracle::{Config, Listen, Oracle};
use wire::{Ask, Asks, BodyRule, Chance, Dataset, Files, Tables, WORLDS, fortunes_page};

const SEED: u64 = 7;
const CONNECTIONS: usize = 32;
/// What the judgement of bodies may cost, over the same answers of which only the status and the fields are judged.
/// `files` may be above it: four fifths of its judgement are memcmp, and the files, which fill no near cache, come at
/// 30 GB/s.
const MOST: f64 = 1.15;

type Anything<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Anything<()> {
    let rounds = std::env::args().nth(1).map_or(Ok(5), |rounds| rounds.parse())?;
    let only = std::env::args().nth(2);
    let is_wanted = |name: &&str| only.as_deref().is_none_or(|only| only == *name);
    println!("{:<12} {:>9} {:>9}  ratio", "workload", "any, ns", "judged");
    let dataset = oracle::Dataset::parse(Dataset::of(SEED).to_json().as_bytes(), 1)?;
    let listen = Listen::Tcp("127.0.0.1:0".parse()?);
    let dataset = Some(Arc::new(dataset));
    let served = Files::of(SEED);
    let content = |number| (Files::name(number).to_owned(), served.content(number).to_vec());
    let files = Some(Arc::new(oracle::Files::of((0..Files::COUNT).map(content))));
    let server = Oracle::start(Config { listen, threads: 1, dataset, files, ..Config::default() })?;
    let address = server.address().to_string().parse()?;
    let names = ["wait-15", "headers", "json", "post-json", "echo-bytes", "files"];
    for name in names.into_iter().filter(is_wanted) {
        row(name, address, rounds)?;
    }
    for (name, kind, bodies) in database().into_iter().filter(|(name, ..)| is_wanted(name)) {
        row(name, canned(kind, bodies)?, rounds)?;
    }
    Ok(())
}

/// One workload, judged and not, in turn.
fn row(name: &str, address: SocketAddr, rounds: usize) -> Anything<()> {
    let workload = Workload::read(std::path::Path::new("."), name).map_err(|it| it.to_string())?;
    let workload = workload.with_files(&Files::of(SEED)).knowing(None)?;
    let judged = workload.with(&Dataset::of(SEED), &Tables::of(SEED)).weighted(true);
    let any = judged.iter().map(|(weight, ask)| (*weight, with_any_body(ask))).collect();
    let orders = [order(address, any)?, order(address, judged)?];
    let mut costs: Vec<[f64; 2]> = Vec::new();
    for _ in 0..rounds {
        costs.push([cost_ns(&orders[0])?, cost_ns(&orders[1])?]);
    }
    let median = |figure: &dyn Fn(&[f64; 2]) -> f64| {
        let mut all: Vec<f64> = costs.iter().map(figure).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let ratio = median(&|pair| pair[1] / pair[0]);
    let each: Vec<String> = costs.iter().map(|pair| format!("{:.2}", pair[1] / pair[0])).collect();
    let verdict = if ratio <= MOST { "" } else { "  above 1.15" };
    let (any, judged) = (median(&|pair| pair[0]), median(&|pair| pair[1]));
    println!("{name:<12} {any:>9.0} {judged:>9.0}  {ratio:.3} ({}){verdict}", each.join(" "));
    Ok(())
}

fn with_any_body(ask: &Ask) -> Ask {
    let mut ask = ask.clone();
    ask.expect.body = BodyRule::Any;
    ask.expect.wait_ns = None;
    ask
}

fn order(address: SocketAddr, asks: Vec<(u32, Ask)>) -> Anything<Order> {
    let stop = Stop { total: None, duration: Some(Duration::from_secs(2)) };
    let load = Load::Closed { connections: CONNECTIONS };
    let warmup = Duration::from_millis(300);
    let asks = Asks::weighted(asks).ok_or("no asks")?;
    let spin = Spin::Never;
    Ok(Order { stop, warmup, spin, ..Order::new(Target::Tcp(address), asks, load) })
}

/// CPU time of the load's thread for a right answer.
fn cost_ns(order: &Order) -> Anything<f64> {
    let recording = press(order, &Halt::default(), &mut |_| {})?;
    let total = &recording.total;
    match total.failed_in_all() {
        0 => Ok(total.cpu as f64 / total.correct_inside as f64),
        failed => Err(format!("{failed} answers are wrong").into()),
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
fn canned(kind: &'static str, bodies: Vec<String>) -> Anything<SocketAddr> {
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
