//! `dyno load --calibrate`: loads the oracle, which runs in a child process of our own.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use archive::keep;
use load::{Arrivals, Halt, Load, Order, Rate, Recording, Stop, Target};
use wire::Asks;

use crate::interrupt::halt_on_interrupt;
use crate::order::flags::CalibrateFlags;
use crate::own_server::{OwnServer, hello};
use crate::results::{OF_TRIALS, ResultFlags};
use crate::shell::{ExitStatus, Refusal, print};
use machine::limits::{self, Machine};
use report::calibration::{self, Calibration, Ceiling, Punctuality, Resolution};
use report::load::weigh;
use report::render::{JSON, TEXT};

/// How long and how often each step runs.
struct Timing {
    step: Duration,
    repeat: Duration,
    repeats: usize,
}

const USUAL: Timing =
    Timing { step: Duration::from_secs(2), repeat: Duration::from_secs(1), repeats: 10 };
const QUICK: Timing =
    Timing { step: Duration::from_millis(500), repeat: Duration::from_millis(500), repeats: 5 };

const CONNECTIONS: [usize; 2] = [1, 50];
const RATES_PER_S: [u64; 3] = [1_000, 5_000, 20_000];
/// A rate that every machine can bear, and that gives each median a thousand samples.
const REPEATED_PER_S: u64 = 1_000;

pub(super) fn run(
    flags: &CalibrateFlags,
    results: &ResultFlags<OF_TRIALS>,
) -> Result<ExitStatus, Refusal> {
    let files = results.files_of(&JSON).filter(|_| !results.wants_other_than(&[&TEXT, &JSON]));
    let files = files.ok_or_else(|| {
        Refusal::new(
            "--calibrate: it prints text, or with --json JSON, and -o takes FILE.json only",
        )
    })?;
    let usual = if files.is_empty() { Some(usual_file()?) } else { None };
    let halt = halt_on_interrupt()?;
    let timing = if flags.quick { QUICK } else { USUAL };
    let bench = Bench::open(&Machine::read(), &halt)?;
    let Some(calibration) = calibrate(&bench, &timing, flags.quick)? else {
        terminal::notice("dyno: interrupted; the calibration is incomplete, and nothing was kept");
        return Ok(ExitStatus::Interrupted);
    };
    let json = serde_json::to_string_pretty(&calibration)? + "\n";
    let is_coloured = terminal::stdout_is_coloured();
    print(&match results.prints_text() {
        true => calibration::text(&calibration, is_coloured),
        false => json.clone(),
    })?;
    for path in files.into_iter().chain(usual.as_deref()) {
        keep::write_for("--output", path, &json)?;
        terminal::notice(&format!("dyno: kept in {}", path.display()));
    }
    Ok(ExitStatus::Yes)
}

/// The file that keeps the result if none is named; its directory is made.
fn usual_file() -> Result<PathBuf, Refusal> {
    let directory = campaign::places::data().map_err(|refusal| {
        Refusal::new(format!("{refusal}, or say where to keep it with --output FILE.json"))
    })?;
    fs::create_dir_all(&directory).map_err(|error| {
        Refusal::new(format!(
            "{} cannot be made ({error}); say where to keep it with --output FILE.json",
            directory.display()
        ))
    })?;
    Ok(directory.join("calibration.json"))
}

/// All steps; `None` if the user stopped it.
fn calibrate(
    bench: &Bench<'_>,
    timing: &Timing,
    is_quick: bool,
) -> Result<Option<Calibration>, Refusal> {
    bench.press(Load::Closed { connections: 50 }, timing.repeat / 2)?;
    let mut ceilings = Vec::new();
    for connections in CONNECTIONS {
        terminal::notice(&format!("dyno: closed, {connections} connections"));
        let recording = bench.press(Load::Closed { connections }, timing.step)?;
        ceilings.push(Ceiling::of(&connections, &recording));
    }
    let ceiling = ceilings.iter().map(|ceiling| ceiling.throughput_per_s).fold(0.0, f64::max);
    let mut punctuality = Vec::new();
    for per_s in RATES_PER_S {
        // If dyno cannot keep up with a rate, its punctuality there means nothing.
        if per_s as f64 <= 0.8 * ceiling && !bench.halt.is_asked() {
            terminal::notice(&format!("dyno: open, {per_s}/s"));
            let recording = bench.press(open(per_s)?, timing.step)?;
            punctuality.push(Punctuality::of(&(per_s as f64), &recording));
        }
    }
    terminal::notice(&format!("dyno: {} runs at {REPEATED_PER_S}/s", timing.repeats));
    let mut medians = Vec::new();
    for _ in 0..timing.repeats {
        if bench.halt.is_asked() {
            return Ok(None);
        }
        let recording = bench.press(open(REPEATED_PER_S)?, timing.repeat)?;
        medians.extend(recording.total.response.quantile(0.5).map(|median| median.value));
    }
    Ok((!bench.halt.is_asked()).then(|| Calibration {
        schema: "dyno.calibration/1",
        dyno_version: env!("CARGO_PKG_VERSION"),
        kernel: limits::kernel(),
        is_quick,
        server_cpu: bench.server_cpu,
        lane_cpu: bench.lane_cpu,
        ceilings,
        punctuality,
        resolution: Resolution::of(REPEATED_PER_S as f64, timing.repeat.as_secs_f64(), medians),
    }))
}

fn open(per_s: u64) -> Result<Load, Refusal> {
    let rate = Rate::per_s(per_s).map_err(Refusal::new)?;
    Ok(Load::Open { arrivals: Arrivals::Constant(rate), connections: 50, max_connections: 200 })
}

/// The oracle in a process of its own, and the CPUs of both.
struct Bench<'a> {
    halt: &'a Halt,
    address: SocketAddr,
    server_cpu: Option<usize>,
    lane_cpu: Option<usize>,
    _oracle: OwnServer,
}

/// How often a load is tried before it is said that the oracle does not answer.
const ATTEMPTS: u32 = 5;

impl<'a> Bench<'a> {
    fn open(machine: &Machine, halt: &'a Halt) -> Result<Bench<'a>, Refusal> {
        // Neighbours may share a core: the first and the last are the farthest apart.
        let (server_cpu, lane_cpu) = match machine.cpus.as_slice() {
            [first, .., last] => (Some(*first), Some(*last)),
            _ => (None, None),
        };
        let oracle = OwnServer::start((Ipv4Addr::LOCALHOST, 0).into(), 1, server_cpu)?;
        Ok(Bench { halt, address: oracle.address, server_cpu, lane_cpu, _oracle: oracle })
    }

    fn press(&self, load: Load, duration: Duration) -> Result<Recording, Refusal> {
        let order = self.order(load, duration)?;
        let press = || load::press(&order, self.halt, &mut |_| {});
        // A busy machine may keep both of them waiting for as long as a load lasts; not for long.
        let is_empty =
            |recording: &Recording| recording.total.correct == 0 && !self.halt.is_asked();
        let mut recording = press();
        for _ in 1..ATTEMPTS {
            if recording.as_ref().is_ok_and(is_empty) {
                recording = press();
            }
        }
        let recording = recording?;
        if let Some(wrong) = weigh(&recording, &order, None, (&[], &[])).find("books") {
            return Err(Refusal::new(format!("{} {}", wrong.says, wrong.what_to_do)));
        }
        if is_empty(&recording) {
            return Err(Refusal::new(
                "dyno's own server did not answer; see whether `dyno serve` works here",
            ));
        }
        Ok(recording)
    }

    fn order(&self, load: Load, duration: Duration) -> Result<Order, Refusal> {
        let asks = Asks::one(hello(&self.address.to_string())?);
        Ok(Order {
            stop: Stop { total: None, duration: Some(duration) },
            warmup: Duration::from_millis(100),
            cpus: self.lane_cpu.into_iter().collect(),
            ..Order::new(Target::Tcp(self.address), asks, load)
        })
    }
}
