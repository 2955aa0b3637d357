//! A histogram with its cumulative curve for each place, over one axis of time.

use analysis::{Detail, Number, Spread};
use lab::experiment::Point;
use lab::figure::Figure;

use crate::Findings;
use crate::chart::{About, Histogram, Trust};
use crate::markup::{Markup, markup};
use crate::render::html::{beside, dim};
use crate::run::words::number;
use crate::written::marks;

/// Up to this many places, each has the room of a large chart.
const FEW: usize = 3;

pub(super) fn histograms(findings: &Findings<'_>, detail: &Detail, slot: usize) -> Markup {
    let is_few = detail.places.len() <= FEW;
    let width = if is_few { 400.0 } else { 200.0 };
    let times: Vec<f64> = detail.places.iter().flat_map(|(_, spread)| times(spread)).collect();
    let chart = |(point, spread): &(Point, Spread)| {
        histogram(findings, detail, *point, spread, &times, slot).svg(width, false)
    };
    let charts: Markup = detail.places.iter().map(chart).collect();
    if charts.is_empty() {
        return dim("No round was measured, so there is no distribution of its answers.");
    }
    let is_single = detail.closeups.iter().all(|close| close.rounds <= 1);
    let (heading, together) = match (findings.is_load(), is_single) {
        (true, true) => ("Distribution", ""),
        (true, false) => ("Distribution", ", all loads together"),
        (false, _) => ("Distribution at each place", ", all measured rounds together"),
    };
    let legend = format!(
        "How long answers took{together}. Bars: how many took so long, by the tallest; line: the share that was answered \
         by then, with p50 and p99 as marks (hollow: fewer than 10 samples lie beyond). A dashed bar is what was given up \
         at the time-out."
    );
    markup!(
        "<h4>{}</h4>\n{}{}",
        heading,
        dim(&legend),
        beside(if is_few { "charts" } else { "charts many" }, &charts)
    )
}

fn times(spread: &Spread) -> Vec<f64> {
    let bins = spread.bins.first().into_iter().chain(spread.bins.last());
    let limit = (0 < spread.censored).then_some(spread.limit_ms);
    bins.flat_map(|bin| [bin.from_ms, bin.until_ms]).chain(limit).collect()
}

fn histogram(
    findings: &Findings<'_>,
    detail: &Detail,
    point: Point,
    spread: &Spread,
    times: &[f64],
    slot: usize,
) -> Histogram {
    let named = [
        ("p50", 0.5, Figure::ResponseP50, spread.p50),
        ("p99", 0.99, Figure::ResponseP99, spread.p99),
    ];
    let marks: Vec<(f64, f64, String, Trust)> = named
        .into_iter()
        .filter_map(|(name, share, figure, number)| {
            let number = number?;
            let says = format!("{name} {}", value(figure, number));
            let is_doubtful = !number.is_supported || number.is_bound;
            Some((number.value, share, says, Trust::Full.or_doubtful(is_doubtful)))
        })
        .collect();
    let notes: Vec<&str> = marks.iter().map(|mark| mark.2.as_str()).collect();
    let given_up = (0 < spread.censored).then(|| {
        let count = number(Figure::Failed, spread.censored as f64);
        let says = format!("{count} given up");
        (1.0 - spread.bins.last().map_or(0.0, |bin| bin.upto), spread.limit_ms, says)
    });
    let mut note = notes.join(" · ");
    if let Some((_, _, says)) = &given_up {
        note.push_str(&format!(" · {says}"));
    }
    Histogram {
        about: About {
            title: format!(
                "{}, {}, {}",
                findings.title(&detail.subject),
                findings.task(&detail.workload),
                findings.place(point)
            ),
            description: format!("Distribution of the response time: {note}"),
            heading: findings.place(point),
            note,
            ..About::default()
        },
        slot,
        times: times.to_vec(),
        bins: spread
            .bins
            .iter()
            .map(|bin| [bin.from_ms, bin.until_ms, bin.share, bin.upto])
            .collect(),
        given_up,
        marks,
    }
}

/// A time with its marks.
pub(super) fn value(figure: Figure, found: Number) -> String {
    marks(found.is_bound, found.is_supported).around(&number(figure, found.value))
}
