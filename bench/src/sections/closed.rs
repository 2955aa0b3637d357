//! a. A closed loop: CPU per request of the generator, beside wrk and the floor.

use super::{Compared, Section, at_most};
use crate::dyno_json;
use crate::load::{Load, Shape};
use crate::rig::Rig;
use crate::rounds::{Series, ratio};
use crate::run::Run;
use crate::sections::Verdict;
use crate::server::Kind;
use crate::table::{Table, number, range};

/// A table of its own, and what dyno should reach in it.
struct Case {
    title: &'static str,
    load: Load,
    server: Kind,
    wrk_most: f64,
    floor_most: Option<f64>,
}

/// Every case, one after the other; the contenders alternate within each.
pub(crate) fn measure(rig: &Rig) -> Section {
    let mut section = Section::default();
    for case in cases(rig) {
        eprintln!("{}", case.title);
        let compared = rig.alternate(rig.contenders(case.load, case.server), rig.rounds);
        section.tables.push(table(&case, &compared));
        section.verdicts.extend(verdicts(&case, &compared));
    }
    section
}

fn cases(rig: &Rig) -> Vec<Case> {
    let seconds = rig.seconds;
    let oracle = Kind::Oracle(&[]);
    let closed = |connections| Load::of(Shape::Closed, connections, seconds);
    let fresh = Load::of(Shape::Fresh, 50, seconds);
    vec![
        case("50 connections, the oracle", closed(50), oracle, (0.90, Some(1.15))),
        case("50 connections, nginx", closed(50), Kind::Nginx, (0.90, Some(1.15))),
        case("1 connection, the oracle", closed(1), oracle, (1.00, None)),
        case("1,000 connections, the oracle", closed(1000), oracle, (1.00, Some(1.05))),
        case("A connection a request, 50 at a time, the oracle", fresh, oracle, (1.00, None)),
    ]
}

fn case(
    title: &'static str,
    load: Load,
    server: Kind,
    (wrk_most, floor_most): (f64, Option<f64>),
) -> Case {
    Case { title, load, server, wrk_most, floor_most }
}

fn table(case: &Case, compared: &Compared) -> Table {
    let title = format!("CPU per request: {}", case.title);
    let columns =
        ["generator", "µs a request", "of it user", "× floor", "× wrk", "requests/s", "peak MB"];
    let mut table = compared.table(title, &columns, |contender, series| {
        let name = contender.generator.name;
        vec![
            name.to_owned(),
            number(series.median(Run::cpu_us), 2),
            number(series.median(user_us), 2),
            range(compared.ratio((name, "floor"), Run::cpu_us)),
            range(compared.ratio((name, "wrk"), Run::cpu_us)),
            number(series.median(per_s), 0),
            number(series.median(Run::peak_mb), 1),
        ]
    });
    table
        .notes
        .push("start-up is included: in a short run an upper bound for k6 and JMeter".into());
    table
}

pub(super) fn user_us(run: &Run) -> Option<f64> {
    Some(run.measured.spent.user.as_secs_f64() * 1e6 / run.requests as f64)
}

// By the wall clock around the process: start-up counts, so short runs look slower.
pub(super) fn per_s(run: &Run) -> Option<f64> {
    Some(run.requests as f64 / run.wall.as_secs_f64())
}

fn verdicts(case: &Case, compared: &Compared) -> Vec<Verdict> {
    let what = format!("CPU per request: {}", case.title);
    let against = |name| compared.ratio(("dyno", name), Run::cpu_us);
    let mut verdicts = vec![at_most(what.clone(), "wrk", against("wrk"), case.wrk_most)];
    if let Some(most) = case.floor_most {
        verdicts.push(at_most(what.clone(), "floor", against("floor"), most));
    }
    if let Some(dyno) = compared.series("dyno") {
        verdicts.push(own_count(&what, dyno));
    }
    verdicts
}

/// The requests that dyno reports, against those that the server counted: up to one for each
/// connection may be under way at the end, and the server also counts the requests that test
/// whether it is ready.
pub(super) fn own_count(what: &str, dyno: &Series<Run>) -> Verdict {
    let attempted = dyno.figures(dyno_json::attempted);
    let counted = dyno.figures(|run| Some(run.requests as f64));
    let measured = ratio(&attempted, &counted);
    Verdict {
        what: format!("dyno's own count: {what}"),
        target: "the server's, to 1 %".to_owned(),
        measured: measured.map_or("–".to_owned(), |ratio| format!("{:.4}", ratio.median)),
        met: measured.map(|ratio| (ratio.median - 1.0).abs() <= 0.01),
    }
}
