//! n. What the check of an answer costs dyno, and requests in varied forms: its CPU for a request.

use super::{Section, at_most};
use crate::generators::{DYNO, Generator};
use crate::load::{Load, Shape};
use crate::rig::{Contender, Rig};
use crate::run::Run;
use crate::server::Kind;
use crate::table::{number, range};

/// What is compared, from the least.
static CHECKS: [Generator; 4] = [
    with("the status", &[(Shape::Closed, "--json")]),
    with("and a given body", &[(Shape::Closed, "--expect-body 'Hello, world!' --json")]),
    with("and the first body", &[(Shape::Closed, "--same-body --json")]),
    with(
        "and the first body, of requests in varied forms",
        &[(Shape::Closed, "--same-body --vary --json")],
    ),
];

/// What requests in varied forms may cost, over the same requests in one form.
const VARIED_MOST: f64 = 1.10;

const fn with(name: &'static str, loads: &'static [(Shape, &'static str)]) -> Generator {
    Generator { name, command: "dyno load {url} -c {c} -t 1 -d {s}s --load-cpus 1", loads, ..DYNO }
}

pub(crate) fn measure(rig: &Rig) -> Section {
    let load = Load::of(Shape::Closed, 50, rig.seconds);
    let contender =
        |generator: &'static Generator| Contender { generator, load, server: Kind::Oracle(&[]) };
    let compared = rig.alternate(CHECKS.iter().map(contender).collect(), rig.rounds);
    let columns = ["compared of each answer", "µs CPU a request", "× the status alone"];
    let title = "CPU per request by what is compared, 50 connections";
    let mut table = compared.table(title, &columns, |contender, series| {
        let name = contender.generator.name;
        let over = compared.ratio((name, CHECKS[0].name), Run::cpu_us);
        vec![name.to_owned(), number(series.median(Run::cpu_us), 2), range(over)]
    });
    table.notes.push("the body has 13 bytes".to_owned());
    let [.., one, varied] = CHECKS.each_ref().map(|check| check.name);
    let over = compared.ratio((varied, one), Run::cpu_us);
    let verdict = at_most("CPU per request, in varied forms".into(), "in one", over, VARIED_MOST);
    Section { tables: vec![table], verdicts: vec![verdict] }
}
