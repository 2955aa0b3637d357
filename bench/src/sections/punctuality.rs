//! d. 20,000 requests/s one by one: how late does the generator send, and what does that add?

use super::{Compared, Section, at_most};
use crate::dyno_json;
use crate::load::{Load, Shape};
use crate::rig::Rig;
use crate::run::Run;
use crate::sections::Verdict;
use crate::server::Kind;
use crate::table::{Table, number, range};

const RATE: u32 = 20_000;
const LATE_P99_US_MAX: f64 = 100.0;

/// dyno beside the floor that sends on the same schedule, and beside the peers.
pub(crate) fn measure(rig: &Rig) -> Section {
    let seconds = if rig.quick { 3 } else { 10 };
    let load = Load { rate: RATE, ..Load::of(Shape::Open, 50, seconds) };
    let compared = rig.alternate(rig.contenders(load, Kind::Oracle(&[])), rig.long_rounds);
    Section { tables: vec![table(&compared, seconds)], verdicts: verdicts(&compared, seconds) }
}

fn table(compared: &Compared, seconds: u32) -> Table {
    let title = format!("20,000 requests/s on 50 connections for {seconds} s");
    let columns = [
        "generator",
        "requests/s",
        "sent late p50 µs",
        "p99 µs",
        "response p50 µs",
        "p99 µs",
        "p50 × floor-open",
        "µs CPU a request",
    ];
    compared.table(title, &columns, |contender, series| {
        let generator = contender.generator.name;
        vec![
            if generator == "floor" { "floor-open" } else { generator }.to_owned(),
            number(series.median(|run| Some(run.requests as f64 / f64::from(seconds))), 0),
            number(series.median(dyno_json::late_p50_us), 1),
            number(series.median(dyno_json::late_p99_us), 1),
            number(series.median(p50_us), 0),
            number(series.median(|run| Some(run.reported.p99_ms? * 1e3)), 0),
            range(compared.ratio((generator, "floor"), p50_us)),
            number(series.median(Run::cpu_us), 1),
        ]
    })
}

fn p50_us(run: &Run) -> Option<f64> {
    Some(run.reported.p50_ms? * 1e3)
}

fn verdicts(compared: &Compared, seconds: u32) -> Vec<Verdict> {
    let response = compared.ratio(("dyno", "floor"), p50_us);
    let late = |name| compared.series(name)?.median(dyno_json::late_p99_us);
    let instants = compared.series("dyno").and_then(|dyno| dyno.median(dyno_json::attempted));
    vec![
        lateness(late("dyno"), late("floor")),
        at_most("Punctuality: median response".to_owned(), "floor-open", response, 1.25),
        Verdict {
            what: "Punctuality: instants kept".to_owned(),
            target: format!("{}", RATE * seconds),
            measured: number(instants, 0),
            met: instants.map(|instants| instants >= f64::from(RATE * seconds)),
        },
    ]
}

fn lateness(dyno_us: Option<f64>, floor_us: Option<f64>) -> Verdict {
    let floor = floor_us.unwrap_or(0.0);
    Verdict {
        what: "Punctuality: sent late, p99".to_owned(),
        target: format!("< {LATE_P99_US_MAX} µs, or floor-open's {floor:.1} µs"),
        measured: format!("{} µs", number(dyno_us, 1)),
        met: dyno_us.map(|late| late < LATE_P99_US_MAX || late <= floor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_forgiven_where_the_floor_is_as_late() {
        assert_eq!(lateness(Some(60.0), Some(20.0)).met, Some(true));
        assert_eq!(lateness(Some(160.0), Some(20.0)).met, Some(false));
        assert_eq!(lateness(Some(160.0), Some(170.0)).met, Some(true));
        assert_eq!(lateness(None, Some(170.0)).met, None);
    }
}
