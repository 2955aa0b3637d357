//! e. The cost of ten thousand connections, whether memory grows with requests, and sessions.

use super::{Compared, Section, at_most, notes, sessions};
use crate::generators::{DYNO, Generator, WRK};
use crate::load::{Load, Shape};
use crate::rig::{Contender, Rig};
use crate::rounds::Series;
use crate::run::Run;
use crate::sections::Verdict;
use crate::server::Kind;
use crate::table::{Table, number, range};

const FEW: u32 = 200_000;
const MANY: u32 = 1_000_000;
/// The 800,000 requests take some seconds longer, and every window of 100 ms keeps its folded
/// histograms (some kilobytes; 1,200 windows at the most). The requests themselves keep nothing.
const GROWTH_MB_MAX: f64 = 1.5;

/// Three tables: held connections, growth, sessions.
pub(crate) fn measure(rig: &Rig) -> Section {
    Section::of([held(rig), growth(rig), sessions::measure(rig)])
}

fn held(rig: &Rig) -> Section {
    let load = Load::of(Shape::Closed, 10_000, if rig.quick { 3 } else { 5 });
    let compared = rig.alternate(rig.contenders(load, Kind::Oracle(&[])), rig.long_rounds);
    let columns = ["generator", "peak MB", "× wrk", "µs CPU a request"];
    let title = "10,000 keep-alive connections";
    let table = compared.table(title, &columns, |contender, series| {
        let name = contender.generator.name;
        vec![
            name.to_owned(),
            number(series.median(Run::peak_mb), 1),
            range(compared.ratio((name, "wrk"), Run::peak_mb)),
            number(series.median(Run::cpu_us), 2),
        ]
    });
    let over_wrk = compared.ratio(("dyno", "wrk"), Run::peak_mb);
    let what = "Peak memory at 10,000 connections".to_owned();
    Section { tables: vec![table], verdicts: vec![at_most(what, WRK.name, over_wrk, 1.0)] }
}

fn growth(rig: &Rig) -> Section {
    let load = Load { requests: FEW, ..Load::of(Shape::Counted, 50, 0) };
    let counted = |generator, requests| Contender {
        generator,
        load: Load { requests, ..load },
        server: Kind::Oracle(&[]),
    };
    let slow = ["k6"];
    let able = |generator: &&'static Generator| {
        generator.template(&load).is_some() && !slow.contains(&generator.name)
    };
    let generators: Vec<_> = [&DYNO].into_iter().chain(rig.peers()).filter(able).collect();
    let pairs = generators
        .iter()
        .flat_map(|&generator| [counted(generator, FEW), counted(generator, MANY)]);
    let Compared { contenders, all } = rig.alternate(pairs.collect(), rig.long_rounds);
    let columns = ["generator", "peak MB at 200,000", "at 1,000,000", "bytes a request"];
    let mut table = Table::new("Memory that grows with requests, 50 connections", &columns);
    for (generator, pair) in generators.iter().zip(all.chunks(2)) {
        table.rows.push(vec![
            generator.name.to_owned(),
            number(pair[0].median(Run::peak_mb), 1),
            number(pair[1].median(Run::peak_mb), 1),
            number(grown_mb(pair).map(|mb| mb * 1e6 / f64::from(MANY - FEW)), 1),
        ]);
    }
    table.notes = notes(&contenders, &all);
    let verdicts = vec![flat(all.get(..2).and_then(grown_mb))];
    Section { tables: vec![table], verdicts }
}

fn grown_mb(pair: &[Series<Run>]) -> Option<f64> {
    Some(pair[1].median(Run::peak_mb)? - pair[0].median(Run::peak_mb)?)
}

fn flat(grown_mb: Option<f64>) -> Verdict {
    Verdict {
        what: "Memory over 800,000 more requests".to_owned(),
        target: format!("≤ {GROWTH_MB_MAX} MB more"),
        measured: format!("{} MB", number(grown_mb, 2)),
        met: grown_mb.map(|grown| grown <= GROWTH_MB_MAX),
    }
}
