//! What one connection or message costs with each server: a dot with its interval and its value, one row below the
//! other.

use lab::figure::Unit;

use super::marks::{colour, point, short, stroke, text};
use super::scale::{Scale, tick};
use super::signs::noted;
use super::small::{small, titled};
use super::{About, Trust};
use crate::markup::{Markup, markup};

/// Rows over one axis from zero.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prices {
    pub(crate) about: About,
    pub(crate) rows: Vec<Price>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Price {
    pub(crate) slot: usize,
    pub(crate) title: String,
    /// Nothing where it was not measured.
    pub(crate) value: Option<f64>,
    pub(crate) interval: Option<(f64, f64)>,
    pub(crate) trust: Trust,
    /// The value as a short text.
    pub(crate) shown: String,
    /// The value with its interval, as text.
    pub(crate) says: String,
}

const WIDTH: f64 = 470.0;
const ROW: f64 = 22.0;
const TOP: f64 = 44.0;
const LEFT: f64 = 164.0;
const RIGHT: f64 = 396.0;

impl Prices {
    pub(crate) fn svg(&self, unit: Unit, is_alone: bool) -> Markup {
        let values: Vec<f64> = self.rows.iter().flat_map(Price::ends).collect();
        let scale = Scale::linear(&values, LEFT, RIGHT);
        let bottom = TOP + self.rows.len() as f64 * ROW;
        let drawn = self.rows.iter().filter(|row| row.value.is_some());
        let note = noted(&self.about.note, drawn.map(|row| row.trust));
        let mut drawn = titled(&self.about.heading, &note, 29.0);
        for value in scale.ticks(58.0) {
            let x = scale.at(value);
            let class = if value == scale.low() { "rung base" } else { "rung" };
            drawn.push(&stroke(class, (x, TOP - 4.0), (x, bottom)));
            drawn.push(&text("tick", "middle", (x, bottom + 15.0), &tick(unit, value)));
        }
        for (n, row) in self.rows.iter().enumerate() {
            drawn.push(&row.drawn(&scale, TOP + (n as f64 + 0.5) * ROW));
        }
        small(&self.about, "", (WIDTH, bottom + 22.0), is_alone, &drawn)
    }
}

impl Price {
    /// The values that the axis must include. An interval of few rounds can be very wide: it may leave the paper.
    fn ends(&self) -> Vec<f64> {
        const WIDEST: f64 = 2.0;
        let Some(value) = self.value else { return Vec::new() };
        let high = self.interval.map(|(_, high)| high.min(value * WIDEST));
        [Some(value), high].into_iter().flatten().collect()
    }

    fn drawn(&self, scale: &Scale, y: f64) -> Markup {
        let slot = colour(self.slot);
        let name = format!("name {slot}");
        let mut drawn = text(&name, "start", (2.0, y + 4.0), &short(&self.title, 21));
        if let Some((low, high)) = self.interval {
            let bar = format!("bar {slot}");
            drawn.push(&stroke(&bar, (scale.at(low), y), (scale.at(high), y)));
        }
        match self.value {
            Some(value) => {
                let says = format!("{}: {}", self.title, self.says);
                drawn.push(&point(self.slot, self.trust, (scale.at(value), y), &says));
                drawn.push(&text("value", "start", (RIGHT + 10.0, y + 4.0), &self.shown));
            }
            None => drawn.push(&text("note", "start", (LEFT + 6.0, y + 4.0), &self.says)),
        }
        markup!("<g data-s=\"{}\">\n{}</g>\n", self.slot, drawn)
    }
}
