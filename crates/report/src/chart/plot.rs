//! Lines of all subjects in one small panel.

use lab::figure::Unit;

use super::marks::{apart, colour, line, point, rungs, short, stroke, text};
use super::scale::Scale;
use super::signs::noted;
use super::small::{below, small, titled};
use super::{About, Series};
use crate::markup::{Markup, markup};

/// One panel with its axes.
#[derive(Clone, Debug)]
pub(crate) struct Plot {
    pub(crate) about: About,
    pub(crate) unit: Unit,
    pub(crate) is_log: bool,
    /// Places that the axis must include.
    pub(crate) places: Vec<f64>,
    /// The class of the lines: `line`, or `past` for published figures.
    pub(crate) class: &'static str,
    pub(crate) series: Vec<Series>,
}

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 216.0;
const TOP: f64 = 40.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 292.0;

impl Plot {
    pub(crate) fn svg(&self, is_alone: bool) -> Markup {
        let bottom = HEIGHT - 22.0;
        let spots = || self.series.iter().flat_map(|series| &series.points);
        let values: Vec<f64> = spots().map(|spot| spot.value).collect();
        let scale = if self.is_log { Scale::log } else { Scale::linear };
        let (along, scale) = (self.along(), scale(&values, bottom, TOP));
        let mut drawn = titled(
            &self.about.heading,
            &noted(&self.about.note, spots().map(|spot| spot.trust)),
            28.0,
        );
        drawn.push(&rungs(&scale, self.unit, LEFT, RIGHT));
        drawn.push(&below(&along, Unit::Count, 52.0, bottom));
        let at = |x: f64, value: f64| (along.at(x), scale.at(value));
        let ends = self.series.iter().map(|series| series.points.last());
        let wanted: Vec<f64> =
            ends.map(|end| end.map_or(bottom, |end| scale.at(end.value))).collect();
        let heights = apart(&wanted, 13.0, TOP, bottom);
        for (series, height) in self.series.iter().zip(heights) {
            let places: Vec<(f64, f64)> =
                series.points.iter().map(|spot| at(spot.x, spot.value)).collect();
            let slot = colour(series.slot);
            let mut inside = line(&format!("{} {slot}", self.class), &places);
            for (spot, place) in series.points.iter().zip(&places) {
                let says = format!("{}: {}", series.title, spot.says);
                inside.push(&point(series.slot, spot.trust, *place, &says));
            }
            if let Some(end) = places.last() {
                let (name, title) = (format!("name {slot}"), short(&series.title, 12));
                let x = RIGHT + 12.0;
                let lead = format!("lead {slot}");
                inside.push(&stroke(&lead, (end.0 + 5.0, end.1), (x - 2.0, height)));
                inside.push(&text(&name, "start", (x, height + 4.0), &title));
            }
            drawn.push(&markup!("<g data-s=\"{}\">\n{}</g>\n", series.slot, inside));
        }
        small(&self.about, "", (WIDTH, HEIGHT), is_alone, &drawn)
    }

    /// By factors where places are far apart.
    fn along(&self) -> Scale {
        let least = self.places.iter().copied().fold(f64::MAX, f64::min);
        let most = self.places.iter().copied().fold(0.0, f64::max);
        let is_far = 0.0 < least && 30.0 * least < most;
        let scale = if is_far { Scale::log } else { Scale::linear };
        scale(&self.places, LEFT, RIGHT)
    }
}
