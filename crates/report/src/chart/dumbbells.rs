//! Then and now for each subject: a stroke and a mark on a line, and the factor between them.

use lab::figure::Unit;

use super::marks::{colour, point, short, stroke, text};
use super::scale::{Scale, tick};
use super::signs::noted;
use super::small::{said, small, titled};
use super::{About, Trust};
use crate::markup::{Markup, markup};

/// One below the other, over one axis by factors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dumbbells {
    pub(crate) about: About,
    pub(crate) rows: Vec<Dumbbell>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Dumbbell {
    pub(crate) slot: usize,
    pub(crate) title: String,
    /// With its text.
    pub(crate) then: Option<(f64, String)>,
    pub(crate) now: Option<(f64, String)>,
    pub(crate) trust: Trust,
    pub(crate) times: String,
}

const WIDTH: f64 = 430.0;
const ROW: f64 = 26.0;
const TOP: f64 = 44.0;
const LEFT: f64 = 124.0;
const RIGHT: f64 = 368.0;

impl Dumbbells {
    pub(crate) fn svg(&self, unit: Unit, is_alone: bool) -> Markup {
        let ends = self.rows.iter().flat_map(|row| [row.then.as_ref(), row.now.as_ref()]);
        let values: Vec<f64> = ends.flatten().map(|end| end.0).collect();
        let scale = Scale::log(&values, LEFT, RIGHT);
        let bottom = TOP + self.rows.len() as f64 * ROW;
        let drawn = self.rows.iter().filter(|row| row.now.is_some());
        let note = noted(&self.about.note, drawn.map(|row| row.trust));
        let mut drawn = titled(&self.about.heading, &note, 29.0);
        for value in scale.ticks(60.0) {
            let x = scale.at(value);
            drawn.push(&stroke("rung", (x, TOP - 6.0), (x, bottom)));
            drawn.push(&text("tick", "middle", (x, bottom + 15.0), &tick(unit, value)));
        }
        for (n, row) in self.rows.iter().enumerate() {
            let y = TOP + (n as f64 + 0.5) * ROW;
            drawn.push(&row.drawn(&scale, y));
        }
        small(&self.about, " dumbbells", (WIDTH, bottom + 22.0), is_alone, &drawn)
    }
}

impl Dumbbell {
    fn drawn(&self, scale: &Scale, y: f64) -> Markup {
        let slot = colour(self.slot);
        let name = format!("name {slot}");
        let mut drawn = text(&name, "start", (2.0, y + 4.0), &short(&self.title, 17));
        if let (Some(then), Some(now)) = (&self.then, &self.now) {
            let (from, to) = (scale.at(then.0), scale.at(now.0));
            drawn.push(&stroke(&format!("bar {slot}"), (from, y), (to, y)));
        }
        if let Some((value, says)) = &self.then {
            let x = scale.at(*value);
            drawn.push(&stroke(&format!("then {slot}"), (x, y - 7.0), (x, y + 7.0)));
            drawn.push(&said((x, y), "touch", 7.0, says));
        }
        match &self.now {
            Some((value, says)) => {
                let at = (scale.at(*value), y);
                drawn.push(&point(self.slot, self.trust, at, says));
            }
            None => drawn.push(&text("note", "end", (RIGHT, y + 4.0), "not measured now")),
        }
        drawn.push(&text("value", "end", (WIDTH - 6.0, y + 4.0), &self.times));
        markup!("<g data-s=\"{}\">\n{}</g>\n", self.slot, drawn)
    }
}
