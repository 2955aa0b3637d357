//! c and j. The server adds known delays: does a tool's rate mode report them? Over HTTP/1.1, and over HTTP/2.

use super::{Compared, Section};
use crate::load::{Load, Shape};
use crate::quantiles::Quantiles;
use crate::rig::Rig;
use crate::rounds::Series;
use crate::run::Run;
use crate::sections::Verdict;
use crate::server::Kind;
use crate::table::{Table, number};

/// The first freeze comes 5 s after the server's start. A run that ends in the middle between two freezes contains
/// whole ones only, whether its generator took 0.1 s or 1 s to start.
const STALLS_S: u32 = 23;
const QUICK_STALL_S: u32 = 13;
const STALL_S: u32 = 1;
const STALL_EVERY_S: u32 = 5;
const NAMES: [&str; 4] = ["p50", "p90", "p99", "p99.9"];

/// The delay that is imposed, and for how long it is observed.
struct Case {
    title: &'static str,
    oracle: &'static [&'static str],
    load: Load,
    truth: Truth,
    /// How far a quantile may be off: this share, or so many milliseconds, whichever is more.
    allowed: (f64, f64),
}

/// Where the truth about a case comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Truth {
    /// The floor that sends on the same schedule, in the same alternation.
    Floor,
    /// The oracle's own record of the delays it imposed.
    Books,
    /// The oracle's record of each stream of HTTP/2 in dyno's own runs, and the schedule.
    Streams,
}

/// A freeze and two distributions of delays.
pub(crate) fn measure(rig: &Rig) -> Section {
    measured(rig, &cases(rig.quick))
}

/// A freeze, on 4 connections with 50 streams each: fewer streams than requests that are due within it.
pub(crate) fn measure_over_http2(rig: &Rig) -> Section {
    let seconds = if rig.quick { QUICK_STALL_S } else { STALLS_S };
    let case = Case {
        title: "The server freezes 1 s every 5 s, HTTP/2, 4 connections × 50 streams",
        oracle: &["--stall", "1s/5s", "--stream-log", "{streams}"],
        load: Load { streams: 50, rate: 1000, ..Load::of(Shape::OpenStreams, 4, seconds) },
        truth: Truth::Streams,
        allowed: (0.01, 0.2),
    };
    measured(rig, &[case])
}

fn measured(rig: &Rig, cases: &[Case]) -> Section {
    let mut section = Section::default();
    for case in cases {
        eprintln!("{}", case.title);
        let contenders = rig.contenders(case.load, Kind::Oracle(case.oracle));
        let compared = rig.alternate(contenders, rig.long_rounds);
        let truth = truth(case, &compared);
        section.tables.push(table(case, &compared, &truth));
        section.verdicts.push(verdict(case, &compared, &truth));
    }
    section
}

fn cases(quick: bool) -> [Case; 3] {
    let (stall_s, delay_s) = if quick { (QUICK_STALL_S, 5) } else { (STALLS_S, 12) };
    let case = |title, oracle, seconds, truth| {
        let load = Load { rate: 1000, ..Load::of(Shape::Open, 50, seconds) };
        Case { title, oracle, load, truth, allowed: (0.02, 1.0) }
    };
    [
        case("The server freezes 1 s every 5 s", &["--stall", "1s/5s"], stall_s, Truth::Floor),
        case("Delays lognormal:2ms,0.7", &["--delay", "lognormal:2ms,0.7"], delay_s, Truth::Books),
        case(
            "Delays bimodal:1ms,50ms,0.05",
            &["--delay", "bimodal:1ms,50ms,0.05"],
            delay_s,
            Truth::Books,
        ),
    ]
}

fn truth(case: &Case, compared: &Compared) -> Quantiles {
    let (name, of): (_, fn(&Run) -> Quantiles) = match case.truth {
        Truth::Floor => ("floor", |run| run.reported),
        Truth::Books => ("dyno", |run| run.imposed),
        Truth::Streams => ("dyno", |run| run.scheduled),
    };
    compared.series(name).map_or_else(Quantiles::default, |series| medians_of(series, of))
}

fn medians(series: &Series<Run>) -> Quantiles {
    medians_of(series, |run| run.reported)
}

fn medians_of(series: &Series<Run>, of: impl Fn(&Run) -> Quantiles) -> Quantiles {
    Quantiles {
        p50_ms: series.median(|run| of(run).p50_ms),
        p90_ms: series.median(|run| of(run).p90_ms),
        p99_ms: series.median(|run| of(run).p99_ms),
        p99_9_ms: series.median(|run| of(run).p99_9_ms),
    }
}

fn table(case: &Case, compared: &Compared, truth: &Quantiles) -> Table {
    let seconds = case.load.seconds();
    let title = format!("{}: 1,000 requests/s for {seconds} s; response times in ms", case.title);
    let columns = ["generator", "requests/s", "p50", "p90", "p99", "p99.9", "furthest off"];
    let mut table = compared.table(title, &columns, |contender, series| {
        let name = match contender.generator.name {
            "floor" => "floor-open",
            name => name,
        };
        let per_s = series.median(|run| Some(run.requests as f64 / f64::from(seconds)));
        row(name, per_s, &medians(series), truth, case)
    });
    let expected = expected_of_a_stall(seconds);
    let known: &[(&str, &Quantiles)] = match case.truth {
        Truth::Floor => &[("expected by arithmetic", &expected)],
        Truth::Streams => {
            &[("expected by arithmetic", &expected), ("by the oracle's record of streams", truth)]
        }
        Truth::Books => &[("imposed, by the oracle's books", truth)],
    };
    table.rows.splice(0..0, known.iter().map(|(name, it)| row(name, None, it, truth, case)));
    table
}

fn row(
    name: &str,
    per_s: Option<f64>,
    quantiles: &Quantiles,
    truth: &Quantiles,
    case: &Case,
) -> Vec<String> {
    let mut row = vec![name.to_owned(), number(per_s, 0)];
    row.extend(quantiles.all().map(|quantile| number(quantile, 1)));
    row.push(furthest_off(quantiles, truth, case.allowed).map_or("–".to_owned(), |off| off.text));
    row
}

/// Arrivals are spread evenly; one that falls into a freeze waits for the rest of it.
fn expected_of_a_stall(seconds: u32) -> Quantiles {
    let freezes = seconds / STALL_EVERY_S;
    let frozen = f64::from(freezes * STALL_S) / f64::from(seconds);
    Quantiles::from_fn(|percent| {
        let beyond = 1.0 - percent / 100.0;
        Some(f64::from(STALL_S) * 1000.0 * (1.0 - beyond / frozen).max(0.0))
    })
}

/// The quantile that is furthest from the truth, relative to the tolerance.
struct Off {
    text: String,
    of_allowed: f64,
}

fn furthest_off(quantiles: &Quantiles, truth: &Quantiles, allowed: (f64, f64)) -> Option<Off> {
    let (share, at_least_ms) = allowed;
    let pairs = quantiles.all().into_iter().zip(truth.all()).zip(NAMES);
    let offs = pairs.filter_map(|((quantile, truth), name)| {
        let (quantile, truth) = (quantile?, truth?);
        let text = format!("{name} {:+.1} ms", quantile - truth);
        Some(Off { text, of_allowed: (quantile - truth).abs() / (truth * share).max(at_least_ms) })
    });
    offs.max_by(|one, other| one.of_allowed.total_cmp(&other.of_allowed))
}

fn verdict(case: &Case, compared: &Compared, truth: &Quantiles) -> Verdict {
    let dyno = compared.series("dyno").map(medians);
    // In a short run dyno does not report p99.9: too few samples lie beyond it.
    let complete = dyno.is_some_and(|dyno| dyno.all()[..3].iter().all(Option::is_some));
    let off = dyno.filter(|_| complete).and_then(|dyno| furthest_off(&dyno, truth, case.allowed));
    let (share, at_least_ms) = case.allowed;
    Verdict {
        what: format!("Truth: {}", case.title),
        target: format!(
            "p50 to p99.9, as far as reported, within {} % or {at_least_ms} ms",
            share * 100.0
        ),
        met: off.as_ref().map(|off| off.of_allowed <= 1.0),
        measured: off.map_or("–".to_owned(), |off| format!("furthest {}", off.text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_falls_into_a_freeze_waits_half_of_it() {
        // Two freezes of a second in ten: a fifth of all arrivals.
        let [p50, p90, p99, p99_9] = expected_of_a_stall(10).all().map(|ms| ms.expect("known"));
        assert!(p50.abs() < 1e-9 && (p90 - 500.0).abs() < 1e-9);
        assert!((p99 - 950.0).abs() < 1e-9 && (p99_9 - 995.0).abs() < 1e-9);
    }

    #[test]
    fn the_quantile_furthest_off_is_judged_by_what_is_allowed() {
        let quantiles =
            |p50, p99| Quantiles { p50_ms: Some(p50), p99_ms: Some(p99), ..Quantiles::default() };
        let off = furthest_off(&quantiles(2.5, 960.0), &quantiles(0.5, 950.0), (0.02, 1.0));
        let off = off.expect("both known");
        assert_eq!(off.text, "p50 +2.0 ms");
        assert!(off.of_allowed > 1.0);
        assert!(furthest_off(&Quantiles::default(), &quantiles(1.0, 1.0), (0.02, 1.0)).is_none());
    }
}
