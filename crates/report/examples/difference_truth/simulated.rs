//! Runs by chance, always from a seed: their sides are equal, but for the last one, which may answer more or fewer
//! requests.

use lab::experiment::Point;
use lab::record::{Entry, Fact, LoadRecord, RACE, RunRecord, Series, TrialKey, TrialRecord};
use load::{Chance, Distribution, Folded, LaneReport, Recording, SECOND, Tally};

const MS: u64 = 1_000_000;
/// How many answers each trial has; how long they take makes its rate.
const ANSWERS: u64 = 1_100;
/// Of them, so many lie at the p99.
const SLOW: u64 = 50;

/// How rounds differ from one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Law {
    /// The values are normally distributed.
    Normal,
    /// Their times are skewed as a log-normal value is.
    LogNormal,
    /// One round in ten is three times as far off.
    OneInTen,
    /// The machine's speed wanders from trial to trial.
    Drifting,
    /// One side, by chance the first or the last, is five times as noisy as the others.
    OneNoisy,
}

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub(crate) sides: usize,
    pub(crate) rounds: u32,
    pub(crate) law: Law,
    /// The spread of a side's throughput from round to round.
    pub(crate) spread: f64,
    /// How many times as many requests the last side answers.
    pub(crate) truth: f64,
}

/// The middle of a figure in a trial, and its spread as a multiple of that of the throughput.
const RATE: f64 = 2_000.0;
const P50: (f64, f64) = (1e6, 1.0);
const P99: (f64, f64) = (3e6, 3.0);
const CPU: (f64, f64) = (2e5, 0.7);
const MEMORY: (f64, f64) = (5e6, 0.3);

fn normal(chance: &mut Chance) -> f64 {
    let angle = std::f64::consts::TAU * chance.unit();
    (-2.0 * (1.0 - chance.unit()).ln()).sqrt() * angle.cos()
}

/// A factor around 1.
fn noise(law: Law, spread: f64, chance: &mut Chance) -> f64 {
    match law {
        Law::Normal => (1.0 + spread * normal(chance)).max(0.05),
        // A log-normal value less its mean, by its standard deviation.
        Law::LogNormal => (spread * (normal(chance).exp() - 1.648_7) / 2.161_2).exp(),
        Law::OneInTen => {
            let further = if chance.unit() < 0.1 { 3.0 } else { 1.0 };
            (further * spread * normal(chance)).exp()
        }
        Law::Drifting | Law::OneNoisy => (spread * normal(chance)).exp(),
    }
}

/// A run of all sides, round by round.
pub(crate) fn run(
    world: World,
    is_race: bool,
    chance: &mut Chance,
) -> (RunRecord, Vec<TrialRecord>) {
    let noisy = if chance.unit() < 0.5 { 0 } else { world.sides - 1 };
    let (mut speed, mut trials) = (1.0_f64, Vec::new());
    for repeat in 0..world.rounds {
        // What all of a round have in common is in no ratio.
        let weather = (0.05 * normal(chance)).exp();
        for turn in 0..world.sides {
            let side = (turn + repeat as usize) % world.sides;
            if world.law == Law::Drifting {
                speed *= (world.spread / 2.0 * normal(chance)).exp();
            }
            let is_noisy = world.law == Law::OneNoisy && side == noisy;
            let spread = world.spread * if is_noisy { 5.0 } else { 1.0 };
            let truth = if side + 1 == world.sides { world.truth } else { 1.0 };
            let mut of =
                |(middle, times): (f64, f64)| middle * noise(world.law, times * spread, chance);
            let rate = of((RATE * truth, 1.0)) * weather * speed;
            let times = [P50, P99].map(|figure| of(figure) / (weather * speed));
            let used = [CPU, MEMORY].map(&mut of);
            trials.push(trial(key(side, repeat, trials.len()), rate, times, used));
        }
    }
    (record(world, is_race, &trials), trials)
}

fn name(side: usize) -> String {
    format!("side{side}")
}

fn key(side: usize, repeat: u32, number: usize) -> TrialKey {
    TrialKey::new(number as u32, &name(side), "hello", Point::Connections(2), repeat)
}

fn record(world: World, is_race: bool, trials: &[TrialRecord]) -> RunRecord {
    let names: Vec<String> = (0..world.sides).map(name).collect();
    let entry = |name: &String| {
        let (name, title) = (name.clone(), name.clone());
        Entry { name, title, tier: "default".into(), ..Entry::default() }
    };
    let experiment = format!(
        "question = \"Which?\"\nsubjects = {names:?}\nworkload = \"hello\"\n\
         load = {{ closed = {{ connections = 2 }}, duration = \"1s\", warmup = \"0s\", timeout = \"5s\" }}\n\
         trials = {{ repeat = {}, seed = 1 }}\n",
        world.rounds
    );
    let workload = "title = \"Hello\"\n[[ask]]\nrequest = \"GET / HTTP/1.1\"\n";
    let race = Fact { name: RACE.into(), value: "dyno race".into() };
    RunRecord {
        name: "simulated".into(),
        files: vec![
            ("experiments/simulated.toml".into(), experiment),
            ("workloads/hello.toml".into(), workload.into()),
        ],
        seed: 1,
        facts: is_race.then_some(race).into_iter().collect(),
        entries: names.iter().map(entry).collect(),
        plan: trials.iter().map(|trial| trial.key.clone()).collect(),
        ..RunRecord::default()
    }
}

/// A trial in which nothing is in doubt.
fn trial(key: TrialKey, rate: f64, [p50, p99]: [f64; 2], [cpu, memory]: [f64; 2]) -> TrialRecord {
    let mut total = Tally::new(5 * SECOND);
    let mut lengths = Distribution::new(5 * SECOND);
    lengths.record_many(p50 as u64, ANSWERS - SLOW);
    lengths.record_many(p99 as u64, SLOW);
    let lengths = Distribution::from(Folded::of(&lengths));
    (total.service, total.first_byte) = (lengths.clone(), lengths.clone());
    total.response = lengths;
    (total.attempted, total.correct, total.correct_inside) = (ANSWERS, ANSWERS, ANSWERS);
    (total.due, total.on_time, total.answered) = (ANSWERS, ANSWERS, ANSWERS);
    total.bytes_received = 100 * ANSWERS;
    total.received_inside = 100 * ANSWERS;
    total.in_flight_area = u128::from(ANSWERS * MS);
    (total.flight.area, total.flight.correct) = (total.in_flight_area, total.in_flight_area);
    let wall = (ANSWERS as f64 / rate * 1e9) as u64;
    let lane = LaneReport { wall, idle: wall / 2, cpu_time: wall / 2, ..LaneReport::default() };
    let recording =
        Recording { lanes: vec![lane], ..Recording::new(total, SECOND..SECOND + wall, 5 * SECOND) };
    let series = |name: &str, unit: &str, points: &[(u64, f64)]| Series {
        name: name.into(),
        unit: unit.into(),
        points: points.to_vec(),
    };
    TrialRecord {
        loaded: Some(LoadRecord { began: SECOND, in_turns: None, agents: Vec::new(), recording }),
        series: vec![
            series("subject.cpu.total", "ns", &[(0, 0.0), (100 * SECOND, cpu * rate * 100.0)]),
            series("subject.memory.rss", "bytes", &[(0, memory), (SECOND, memory)]),
        ],
        ..TrialRecord::new(key, 0)
    }
}
