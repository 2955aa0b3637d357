//! The axis that the panels of lines share.

use lab::figure::Unit;

use super::lines::{Panel, Spot};
use super::marks::text;
use super::scale::{Scale, tick};
use crate::markup::{Markup, markup};

/// What lies along it.
#[derive(Clone, Debug)]
pub(crate) enum SharedAxis {
    /// Connections or rates, those of all series and these: by factors where they are far apart.
    Counts(Vec<f64>),
    /// What the places at 0.5, 1.5, … are called.
    Names(Vec<String>),
    /// From zero to this. A cursor moves along it.
    Seconds(f64),
    /// Shares of which each further nine takes as much room as the one before, to one in so many.
    Percentiles(f64),
    /// Times in milliseconds, by factors, that it must include.
    Times(Vec<f64>),
}

impl Default for SharedAxis {
    fn default() -> SharedAxis {
        SharedAxis::Counts(Vec::new())
    }
}

/// Named places: one in so many is larger.
const NAMED: [(f64, &str); 8] = [
    (2.0, "50 %"),
    (10.0, "90 %"),
    (100.0, "99 %"),
    (1e3, "99.9 %"),
    (1e4, "99.99 %"),
    (1e5, "99.999 %"),
    (1e6, "99.9999 %"),
    (1e7, "99.99999 %"),
];

impl SharedAxis {
    pub(super) fn has_cursor(&self) -> bool {
        matches!(self, SharedAxis::Seconds(_))
    }

    pub(super) fn scale(&self, panels: &[Panel], left: f64, right: f64) -> Scale {
        match self {
            SharedAxis::Names(names) => Scale::upto(names.len() as f64, left, right),
            SharedAxis::Seconds(until) => Scale::upto(*until, left, right),
            SharedAxis::Percentiles(reach) => Scale::log(&[1.0, reach.max(20.0)], left, right),
            SharedAxis::Times(times) => Scale::log(times, left, right),
            SharedAxis::Counts(also) => {
                let series = panels.iter().flat_map(|panel| &panel.series);
                let places =
                    series.flat_map(|series| series.points.iter().map(|spot: &Spot| spot.x));
                Scale::near_or_far(
                    &places.chain(also.iter().copied()).collect::<Vec<_>>(),
                    left,
                    right,
                )
            }
        }
    }

    /// The places that have a name.
    fn ticks(&self, along: &Scale) -> Vec<(f64, String)> {
        match self {
            SharedAxis::Counts(_) => {
                let mut ticks = along.ticks(54.0);
                // There are no half connections.
                if 1.0 < along.high() {
                    ticks.retain(|value| value.fract() == 0.0);
                }
                named(ticks, Unit::Count)
            }
            SharedAxis::Names(names) => {
                names.iter().enumerate().map(|(n, name)| (n as f64 + 0.5, name.clone())).collect()
            }
            SharedAxis::Seconds(until) => {
                let scale = Scale::upto(until * 1e3, along.at(0.0), along.at(*until));
                let ticks = named(scale.ticks(56.0), Unit::Milliseconds);
                ticks.into_iter().map(|(value, name)| (value / 1e3, name)).collect()
            }
            SharedAxis::Percentiles(_) => {
                let named = NAMED.into_iter().filter(|(one_in, _)| *one_in <= along.high());
                named.map(|(one_in, name)| (one_in, name.into())).collect()
            }
            SharedAxis::Times(_) => named(along.ticks(60.0), Unit::Milliseconds),
        }
    }

    /// Below the panels, which are ruled for percentiles: the last place, and of the others, from the first, those
    /// whose names have room.
    pub(super) fn drawn(&self, along: &Scale, (top, y): (f64, f64)) -> Markup {
        /// The width of a letter, in the broadest of the fonts, and the room between two names.
        const LETTER: f64 = 6.6;
        const AIR: f64 = 7.0;
        let mut ticks = self.ticks(along);
        if !ticks.is_empty() {
            ticks.rotate_right(1);
        }
        let is_ruled = matches!(self, SharedAxis::Percentiles(_));
        let (class, from) = if is_ruled { ("rung", top) } else { ("base", y) };
        let mut taken: Vec<(f64, f64)> = Vec::new();
        let (mut drawn, mut strokes) = (Markup::default(), String::new());
        for (value, name) in ticks {
            let x = along.at(value);
            let half = (name.chars().count() as f64 * LETTER + AIR) / 2.0;
            if taken.iter().all(|(left, right)| x + half <= *left || *right <= x - half) {
                taken.push((x - half, x + half));
                strokes.push_str(&format!("M{x:.1} {from:.1}V{:.1}", y + 4.0));
                drawn.push(&text("tick", "middle", (x, y + 17.0), &name));
            }
        }
        markup!("<path class=\"{}\" d=\"{}\"/>\n{}", class, strokes, drawn)
    }
}

/// Places with their names.
fn named(ticks: Vec<f64>, unit: Unit) -> Vec<(f64, String)> {
    ticks.into_iter().map(|value| (value, tick(unit, value))).collect()
}
