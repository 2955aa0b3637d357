//! h. A closed loop over HTTP/2 in cleartext: CPU per request of the generator, beside h2load and the floor.

use super::closed::{own_count, per_s, user_us};
use super::{Compared, Section, at_most};
use crate::generators::DYNO;
use crate::load::{Load, Shape};
use crate::rig::{Contender, Rig};
use crate::rounds::ratio;
use crate::run::Run;
use crate::sections::Verdict;
use crate::server::Kind;
use crate::table::{Table, number, range};

/// A table of its own, and what dyno should reach in it.
struct Case {
    title: &'static str,
    connections: u32,
    streams: u32,
    server: Kind,
    h2load_most: Option<f64>,
    floor_most: Option<f64>,
    /// Over what the same number of requests at once costs dyno over HTTP/1.1, a connection for each.
    http1_most: Option<f64>,
}

/// Every case, one after the other; the contenders alternate within each.
pub(crate) fn measure(rig: &Rig) -> Section {
    let mut section = Section::default();
    for case in cases() {
        eprintln!("{}", case.title);
        let seconds = rig.seconds;
        let Case { connections, streams, server, .. } = case;
        let mut contenders = rig
            .contenders(Load { streams, ..Load::of(Shape::Streams, connections, seconds) }, server);
        if case.http1_most.is_some() {
            let load = Load::of(Shape::Closed, connections * streams, seconds);
            contenders.push(Contender { generator: &DYNO, load, server });
        }
        let compared = rig.alternate(contenders, rig.rounds);
        section.tables.push(table(&case, &compared));
        section.verdicts.extend(verdicts(&case, &compared));
    }
    section
}

fn cases() -> [Case; 4] {
    let oracle = Kind::Oracle(&[]);
    let multiplexed = |title, server| Case {
        h2load_most: Some(0.40),
        floor_most: Some(1.30),
        ..case(title, 1, 100, server)
    };
    [
        multiplexed("1 connection × 100 streams, the oracle", oracle),
        multiplexed("1 connection × 100 streams, h2o", Kind::H2o),
        Case {
            h2load_most: Some(0.50),
            ..case("16 connections × 10 streams, the oracle", 16, 10, oracle)
        },
        Case {
            http1_most: Some(1.10),
            ..case("50 connections × 1 stream, the oracle", 50, 1, oracle)
        },
    ]
}

/// A case of which nothing is demanded.
fn case(title: &'static str, connections: u32, streams: u32, server: Kind) -> Case {
    Case {
        title,
        connections,
        streams,
        server,
        h2load_most: None,
        floor_most: None,
        http1_most: None,
    }
}

fn name(contender: &Contender) -> &'static str {
    match (contender.generator.name, contender.load.shape) {
        ("floor", _) => "floor-h2",
        ("dyno", Shape::Closed) => "dyno, HTTP/1.1",
        (name, _) => name,
    }
}

fn table(case: &Case, compared: &Compared) -> Table {
    let title = format!("CPU per request, HTTP/2: {}", case.title);
    let columns = [
        "generator",
        "µs a request",
        "of it user",
        "× floor-h2",
        "× h2load",
        "requests/s",
        "peak MB",
    ];
    let mut table = compared.table(title, &columns, |contender, series| {
        let against = |name| {
            let below = compared.series(name)?;
            ratio(&series.figures(Run::cpu_us), &below.figures(Run::cpu_us))
        };
        vec![
            name(contender).to_owned(),
            number(series.median(Run::cpu_us), 2),
            number(series.median(user_us), 2),
            range(against("floor")),
            range(against("h2load")),
            number(series.median(per_s), 0),
            number(series.median(Run::peak_mb), 1),
        ]
    });
    if case.server == Kind::H2o {
        table.notes.push("h2o's requests are counted by the lines of its access log".to_owned());
    }
    table
}

fn verdicts(case: &Case, compared: &Compared) -> Vec<Verdict> {
    let what = format!("CPU per request, HTTP/2: {}", case.title);
    let against = |name| compared.ratio(("dyno", name), Run::cpu_us);
    let mut verdicts = Vec::new();
    let mut most = |name, measured, most: Option<f64>| {
        verdicts.extend(most.map(|most| at_most(what.clone(), name, measured, most)));
    };
    most("h2load", against("h2load"), case.h2load_most);
    most("floor-h2", against("floor"), case.floor_most);
    // HTTP/1.1 comes last.
    let over_http1 =
        compared.all.first().zip(compared.all.last()).and_then(|(over_http2, over_http1)| {
            ratio(&over_http2.figures(Run::cpu_us), &over_http1.figures(Run::cpu_us))
        });
    most("dyno over HTTP/1.1", over_http1, case.http1_most);
    verdicts.extend(compared.series("dyno").map(|dyno| own_count(&what, dyno)));
    verdicts
}
