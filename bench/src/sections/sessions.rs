//! e, third part. Connections on a schedule, ten calls each, as in httperf.

use super::{Compared, Section, at_most};
use crate::dyno_json;
use crate::load::{Load, Shape};
use crate::rig::Rig;
use crate::rounds::Series;
use crate::run::Run;
use crate::sections::Verdict;
use crate::server::Kind;
use crate::table::{number, range};

const LOAD: Load =
    Load { rate: 1200, calls: 10, requests: 5000, ..Load::of(Shape::Sessions, 0, 0) };
const REQUESTS: f64 = 50_000.0;

/// 1,200 connections a second.
pub(crate) fn measure(rig: &Rig) -> Section {
    let compared = rig.alternate(rig.contenders(LOAD, Kind::Oracle(&[])), rig.long_rounds);
    let title = "Sessions of 10 calls, 1,200 connections/s, 50,000 requests";
    let columns = ["generator", "requests", "µs CPU a request", "× httperf", "× h2load", "peak MB"];
    let mut table = compared.table(title, &columns, |contender, series| {
        let name = contender.generator.name;
        vec![
            name.to_owned(),
            number(series.median(|run| Some(run.requests as f64)), 0),
            number(series.median(Run::cpu_us), 2),
            range(compared.ratio((name, "httperf"), Run::cpu_us)),
            range(compared.ratio((name, "h2load"), Run::cpu_us)),
            number(series.median(Run::peak_mb), 1),
        ]
    });
    table.notes.push("httperf spins; h2load opens a second's connections in one burst".to_owned());
    Section { tables: vec![table], verdicts: verdicts(&compared) }
}

fn verdicts(compared: &Compared) -> Vec<Verdict> {
    let dyno = compared.series("dyno");
    let correct = dyno.and_then(|dyno| least(dyno, dyno_json::correct));
    let over_httperf = compared.ratio(("dyno", "httperf"), Run::cpu_us);
    vec![
        Verdict {
            what: "Sessions: correct answers, worst round".to_owned(),
            target: format!("{REQUESTS:.0}, no failures"),
            measured: number(correct, 0),
            met: correct.map(|correct| correct >= REQUESTS),
        },
        at_most("Sessions: CPU per request".to_owned(), "httperf", over_httperf, 1.0),
    ]
}

fn least(series: &Series<Run>, figure: impl Fn(&Run) -> Option<f64>) -> Option<f64> {
    series.figures(figure).into_iter().flatten().reduce(f64::min)
}
