//! Ratios with their intervals over an axis by factors: left of one and right of one.

use super::About;
use super::marks::{Way, arrow, pair, short, stroke, text};
use super::scale::Scale;
use super::small::{said, small};
use crate::markup::{Markup, markup};

/// One below the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ratios {
    pub(crate) about: About,
    pub(crate) rows: Vec<Ratio>,
    /// The ratios from which B still counts as good as A: they are shaded.
    pub(crate) tolerated: (f64, f64),
    /// The same in words.
    pub(crate) tolerance: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Ratio {
    pub(crate) label: String,
    pub(crate) ratio: f64,
    pub(crate) interval: (f64, f64),
    pub(crate) says: String,
    /// Whether the data shows a difference.
    pub(crate) is_found: bool,
    pub(crate) is_worse: bool,
}

const WIDTH: f64 = 640.0;
const ROW: f64 = 22.0;
const TOP: f64 = 26.0;
const LEFT: f64 = 210.0;
const RIGHT: f64 = 616.0;
/// The axis reaches no further: a very wide interval would squeeze all others into a dot.
const WIDEST: f64 = 16.0;

impl Ratios {
    /// Empty if there are no rows.
    pub(crate) fn svg(&self) -> Markup {
        if self.rows.is_empty() {
            return Markup::default();
        }
        let within = |value: f64| value.clamp(1.0 / WIDEST, WIDEST);
        let ends = self.rows.iter().flat_map(|row| [row.interval.0, row.interval.1, row.ratio]);
        let mut values: Vec<f64> = ends.filter(|value| value.is_finite()).map(within).collect();
        values.extend([0.8, 1.25]);
        let scale = Scale::log(&values, LEFT, RIGHT);
        let bottom = TOP + self.rows.len() as f64 * ROW;
        let note = format!(
            "B / A, logarithmic, with the interval that decides; the line is 1; shaded: the tolerance, {}",
            self.tolerance
        );
        let mut drawn = text("note", "start", (2.0, 13.0), &note);
        let (low, high) = (scale.at(self.tolerated.0), scale.at(self.tolerated.1));
        drawn.push(&markup!(
            "<rect class=\"shade tolerance\"{}{}/>\n",
            pair(["x", "y"], (low, TOP - 4.0)),
            pair(["width", "height"], ((high - low).max(0.0), bottom - TOP + 4.0))
        ));
        for value in scale.ticks(70.0) {
            let x = scale.at(value);
            drawn.push(&stroke("rung", (x, TOP - 4.0), (x, bottom)));
            drawn.push(&text("tick", "middle", (x, bottom + 15.0), &format!("{value}×")));
        }
        drawn.push(&stroke("base", (scale.at(1.0), TOP - 4.0), (scale.at(1.0), bottom)));
        for (n, row) in self.rows.iter().enumerate() {
            drawn.push(&row.drawn(&scale, TOP + (n as f64 + 0.5) * ROW));
        }
        let drawn = small(&self.about, " ratios", (WIDTH, bottom + 22.0), false, &drawn);
        markup!("<figure>\n{}</figure>\n", drawn)
    }
}

impl Ratio {
    fn drawn(&self, scale: &Scale, y: f64) -> Markup {
        let class = match (self.is_found, self.is_worse) {
            (false, _) => "unknown",
            (true, true) => "worse",
            (true, false) => "found",
        };
        let bar = format!("bar {class}");
        let label = short(&self.label, 32);
        let mut drawn = text("label", "end", (LEFT - 10.0, y + 4.0), &label);
        let (low, high) = self.interval;
        drawn.push(&stroke(&bar, (scale.at(low), y), (scale.at(high), y)));
        if low < scale.low() {
            drawn.push(&arrow(class, (LEFT, y), Way::Left));
        }
        if scale.high() < high {
            drawn.push(&arrow(class, (RIGHT, y), Way::Right));
        }
        let place = (scale.at(self.ratio), y);
        let at = pair(["cx", "cy"], place);
        drawn.push(&markup!("<circle class=\"mark {}\"{} r=\"4\"/>\n", class, at));
        drawn.push(&said(place, "touch", 9.0, &format!("{}: {}", self.label, self.says)));
        drawn
    }
}
