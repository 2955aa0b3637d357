//! What a machine, a disk and a user can do to a running dyno, at random: `make torture` runs for `TORTURE_MINUTES`, a
//! short sample of the cheap kinds is a test. All chance comes from one seed, so that a fault can be repeated.
//!
//! Each kind of case is one function in `lab`, `agents`, `files`, `store`, `foreign`, `gates`,
//! `hostile` or `namespaces`; it returns its result, or panics if that is a fault.

mod agents;
mod files;
mod foreign;
mod gates;
mod hostile;
mod lab;
mod namespaces;
mod store;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use wire::Chance;

use crate::rig::Ran;

/// One kind of case: its name, and its function. It returns its result in a word or two.
type Kind = (&'static str, fn(&mut Dice) -> &'static str);

/// The first round has one case of each kind, in this order.
const KINDS: [Kind; 18] = [
    ("a run is killed and gone on with", lab::killed),
    ("a run is sent INT, TERM or HUP", lab::interrupted),
    ("bits of a store are flipped", store::flipped),
    ("a file of a project is changed", files::changed),
    ("a load is stopped and continued", lab::stopped),
    ("a subject is ill", lab::ill),
    ("a store is deleted under a run", store::deleted),
    ("a store is replaced under a run", store::replaced),
    ("a disk is filled under a run", store::filled),
    ("an agent is killed or stands still", agents::struck),
    ("a run by agents loses one, or dyno", agents::orphaned),
    ("a store was changed elsewhere", foreign::changed),
    ("a gate is killed in its check-out", gates::killed),
    ("three gates begin together", gates::together),
    ("a server that is checked floods", hostile::flooded),
    ("an order is beyond its agent's caps", hostile::capped),
    ("a dyno begins in another container", namespaces::begun),
    ("a run in use is deleted elsewhere", namespaces::deleted),
];

/// A cheap kind runs twenty times for each run of another one.
fn is_cheap(name: &str) -> bool {
    [
        "bits of a store are flipped",
        "a file of a project is changed",
        "a store was changed elsewhere",
    ]
    .contains(&name)
}

/// Random numbers that are the same for the same seed.
pub(super) struct Dice(Chance);

impl Dice {
    /// A number below `limit`.
    pub(super) fn roll(&mut self, limit: usize) -> usize {
        self.0.below(limit)
    }

    /// A part of a time.
    pub(super) fn part(&mut self, of: Duration) -> Duration {
        of.mul_f64(self.roll(1_000) as f64 / 1_000.0)
    }

    pub(super) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.roll(of.len())]
    }
}

/// It ended by itself, in time, and without a panic.
#[track_caller]
pub(super) fn is_orderly(ran: &Ran) {
    assert!(ran.code().is_some(), "ended by a signal, or by the deadline: {ran}");
    assert!(!ran.stderr.contains("panicked"), "{ran}");
}

/// The results of the cases of each kind.
#[derive(Default)]
struct Tally {
    outcomes: BTreeMap<&'static str, BTreeMap<&'static str, u32>>,
    faults: Vec<String>,
}

impl Tally {
    /// Runs case `number` of a seed.
    fn run(&mut self, seed: u64, number: u32) {
        let (name, case) = kind(number);
        let mut dice =
            Dice(Chance::new(seed ^ u64::from(number).wrapping_mul(0xa076_1d64_78bd_642f)));
        let came = catch_unwind(AssertUnwindSafe(|| case(&mut dice))).unwrap_or_else(|panic| {
            let says = panic.downcast_ref::<String>().cloned();
            let says = says.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            self.faults.push(format!(
                "{name}: {}\n  again: make torture TORTURE_SEED={seed} TORTURE_CASE={number}",
                says.unwrap_or_default()
            ));
            "FAULT"
        });
        *self.outcomes.entry(name).or_default().entry(came).or_default() += 1;
    }

    fn table(&self) -> String {
        let mut text = String::new();
        for (name, outcomes) in &self.outcomes {
            let all: Vec<String> =
                outcomes.iter().map(|(came, times)| format!("{times} × {came}")).collect();
            let cases: u32 = outcomes.values().sum();
            let _ = writeln!(text, "{name:<34} {cases:>6}  {}", all.join(" · "));
        }
        text
    }
}

/// The kind of a case: each of them once, then by weight.
fn kind(number: u32) -> Kind {
    let mut at = number as usize;
    if at < KINDS.len() {
        return KINDS[at];
    }
    let round: Vec<Kind> = KINDS
        .into_iter()
        .flat_map(|kind| vec![kind; if is_cheap(kind.0) { 20 } else { 1 }])
        .collect();
    at -= KINDS.len();
    round[at % round.len()]
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

/// Ten cases of each cheap kind, and some of the hand-made stores. What the other kinds do at a moment of chance, tests of
/// their own do at a known one.
#[test]
fn a_sample_of_the_cheap_kinds_finds_no_fault() {
    for (name, case) in KINDS.into_iter().filter(|(name, _)| is_cheap(name)) {
        (0..10).for_each(|at| assert!(!case(&mut Dice(Chance::new(at))).is_empty(), "{name}"));
    }
    (0..foreign::MADE).step_by(7).for_each(|number| assert!(!foreign::made(number).is_empty()));
}

/// All hand-made stores, 2,000 that chance has changed (`TORTURE_STORES`), fifty kills of gates (five times
/// `TORTURE_GATES`), six rounds of three.
#[test]
#[ignore = "takes minutes: make torture"]
fn stores_and_gates() {
    let mut tally = Tally::default();
    let mut count = |name, came| {
        *tally.outcomes.entry(name).or_default().entry(came).or_default() += 1;
    };
    let dice = |at: u64| Dice(Chance::new(at));
    (0..foreign::MADE).for_each(|it| count("hand-made stores", foreign::made(it)));
    let stores = number("TORTURE_STORES").unwrap_or(2_000);
    (0..stores).for_each(|it| count("changed stores", foreign::changed(&mut dice(it))));
    let gates = number("TORTURE_GATES").unwrap_or(10);
    (0..gates).for_each(|it| count("gates, killed 5 times", gates::killed(&mut dice(it))));
    (0..6).for_each(|it| count("three gates together", gates::together(&mut dice(it))));
    eprintln!("{}", tally.table());
}

/// Twenty pairs of dynos in containers (`TORTURE_CONTAINERS`) of each kind.
#[test]
#[ignore = "takes minutes: make torture"]
fn containers() {
    let mut tally = Tally::default();
    let kinds: [Kind; 2] = [("begins", namespaces::begun), ("deletes", namespaces::deleted)];
    for (name, case) in kinds {
        for seed in 0..number("TORTURE_CONTAINERS").unwrap_or(20) {
            let came = case(&mut Dice(Chance::new(seed)));
            *tally.outcomes.entry(name).or_default().entry(came).or_default() += 1;
        }
    }
    eprintln!("{}", tally.table());
}

#[test]
#[ignore = "goes on for TORTURE_MINUTES: make torture"]
fn torture() {
    let seed = number("TORTURE_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    let mut tally = Tally::default();
    match number("TORTURE_CASE") {
        Some(case) => tally.run(seed, u32::try_from(case).expect("cases are numbered by 32 bits")),
        None => {
            let minutes = number("TORTURE_MINUTES").unwrap_or(10);
            eprintln!("torture: seed {seed}, {minutes} min");
            let end = Instant::now() + Duration::from_secs(60 * minutes);
            for case in 0.. {
                // Each kind runs at least once, however short the time is.
                if end < Instant::now() && KINDS.len() as u32 <= case {
                    break;
                }
                tally.run(seed, case);
            }
        }
    }
    eprintln!("{}", tally.table());
    assert!(
        tally.faults.is_empty(),
        "{} faults\n{}",
        tally.faults.len(),
        tally.faults.join("\n\n")
    );
}
