//! n. What the check of an answer costs dyno, and requests in varied forms: its CPU for a request.

use super::{Section, at_most, notes, ratio_of};
use crate::generators::{ABSENT, Generator};
use crate::load::Load;
use crate::quantiles::Report;
use crate::rig::{Contender, Rig};
use crate::run::Run;
use crate::server::Kind;
use crate::table::{Table, number, range};

/// What is compared, from the least.
static CHECKS: [Generator; 4] = [
    with("the status", "dyno load {url} -c {c} -t 1 -d {s}s --load-cpus 1 --json"),
    with(
        "and a given body",
        "dyno load {url} -c {c} -t 1 -d {s}s --load-cpus 1 --expect-body 'Hello, world!' --json",
    ),
    with(
        "and the first body",
        "dyno load {url} -c {c} -t 1 -d {s}s --load-cpus 1 --same-body --json",
    ),
    with(
        "and the first body, of requests in varied forms",
        "dyno load {url} -c {c} -t 1 -d {s}s --load-cpus 1 --same-body --vary --json",
    ),
];

/// What requests in varied forms may cost, over the same requests in one form.
const VARIED_MOST: f64 = 1.10;

const fn with(name: &'static str, closed: &'static str) -> Generator {
    Generator {
        name,
        program: "dyno",
        version: "dyno --version",
        get: "cargo build --release -p dyno-http",
        closed: Some(closed),
        report: Report::OurJson,
        connections_max: u32::MAX,
        ..ABSENT
    }
}

pub(crate) fn measure(rig: &Rig) -> Section {
    let load = Load::Closed { connections: 50, seconds: rig.seconds };
    let contender =
        |generator: &'static Generator| Contender { generator, load, server: Kind::Oracle(&[]) };
    let contenders: Vec<Contender> = CHECKS.iter().map(contender).collect();
    let all = rig.alternate(&contenders, rig.rounds);
    let columns = ["compared of each answer", "µs CPU a request", "× the status alone"];
    let mut table = Table::new("CPU per request by what is compared, 50 connections", &columns);
    for (check, series) in CHECKS.iter().zip(&all) {
        let over = ratio_of(&contenders, &all, (check.name, CHECKS[0].name), Run::cpu_us);
        table.rows.push(vec![
            check.name.to_owned(),
            number(series.median(Run::cpu_us), 2),
            range(over),
        ]);
    }
    table.notes = notes(&contenders, &all);
    table.notes.push("the body has 13 bytes".to_owned());
    let [.., one, varied] = CHECKS.each_ref().map(|check| check.name);
    let over = ratio_of(&contenders, &all, (varied, one), Run::cpu_us);
    let verdict = at_most("CPU per request, in varied forms".into(), "in one", over, VARIED_MOST);
    Section { tables: vec![table], verdicts: vec![verdict] }
}
