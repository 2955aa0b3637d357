//! A server's figure from run to run: each with its interval and its version, and a line that ends where two runs are
//! not alike.

use analysis::{Estimate, Verdict};
use lab::figure::Figure;

use crate::chart::{About, Form, Lines, Panel, Series, SharedAxis, Spot, Trust, both};
use crate::chart::{Stand, marks};
use crate::markup::Markup;
use crate::number_format::Written;

/// One run's figure.
pub struct VersionSpot {
    /// What stands below it: the version.
    pub label: String,
    /// The run in words.
    pub says: String,
    pub estimate: Estimate,
    pub verdict: Option<Verdict>,
    /// What is not as it was in the run before; empty if the two are alike.
    pub broken_by: String,
}

/// So many letters of a label are drawn.
const LABEL: usize = 14;

/// The chart, for large screens and for phones.
#[must_use]
pub fn versions(title: &str, figure: Figure, spots: &[VersionSpot]) -> Markup {
    let points = spots.iter().enumerate().map(|(n, spot)| Spot {
        x: n as f64 + 0.5,
        value: spot.estimate.value,
        interval: spot.estimate.interval(),
        trust: Trust::of(spot.verdict),
        is_after_gap: !spot.broken_by.is_empty(),
        says: format!(
            "{}: {}",
            spot.says,
            Written::estimate(figure.unit(), &spot.estimate).marked()
        ),
        ..Spot::default()
    });
    let series = Series { form: Form::Marked, points: points.collect(), ..Series::default() };
    let heading = format!("{}, 95 % interval", figure.heading());
    let panel = Panel::new(heading, "upright: not alike", figure.unit(), 180.0, vec![series]);
    let breaks = spots.iter().enumerate().filter(|(_, spot)| !spot.broken_by.is_empty());
    let lines = Lines {
        about: About {
            title: title.into(),
            description: "Each run's figure; the table below has the same figures".into(),
        },
        across: SharedAxis::Names(
            spots.iter().map(|spot| marks::short(&spot.label, LABEL)).collect(),
        ),
        axis: "versions, oldest run first".into(),
        panels: vec![panel],
        breaks: breaks.map(|(n, spot)| (n as f64, spot.broken_by.clone())).collect(),
        ..Lines::default()
    };
    both(|room| lines.svg(room, Stand::Page))
}
