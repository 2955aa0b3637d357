//! Percentiles along an axis on which each further nine takes as much room as the one before.

use lab::figure::Unit;

use super::About;
use super::marks::{apart, rungs, stroke, text};
use super::scale::Scale;
use super::small::{of_subject, said, small, titled, trace};
use crate::markup::Markup;

#[derive(Clone, Debug, Default)]
pub(crate) struct Percentiles {
    pub(crate) about: About,
    pub(crate) slot: usize,
    /// Times that the axis must include.
    pub(crate) times: Vec<f64>,
    /// One in so many: the axis goes from one to this.
    pub(crate) reach: f64,
    /// The first is drawn strong.
    pub(crate) lines: Vec<Percentile>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Percentile {
    pub(crate) name: String,
    /// One value in so many is larger; whether enough samples lie beyond.
    pub(crate) steps: Vec<(f64, f64, bool)>,
    /// Steps with text.
    pub(crate) marks: Vec<(f64, f64, String)>,
}

const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 216.0;
const TOP: f64 = 40.0;
const LEFT: f64 = 54.0;
const RIGHT: f64 = 338.0;
/// Named places of the axis.
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

impl Percentiles {
    pub(crate) fn svg(&self, is_alone: bool) -> Markup {
        let bottom = HEIGHT - 22.0;
        let (along, scale) = (
            Scale::log(&[1.0, self.reach.max(20.0)], LEFT, RIGHT),
            Scale::log(&self.times, bottom, TOP),
        );
        let mut drawn = titled(&self.about.heading, &self.about.note, 28.0);
        drawn.push(&rungs(&scale, Unit::Milliseconds, LEFT, RIGHT));
        drawn.push(&self.axis(&along, bottom));
        let place =
            |&(one_in, value, _): &(f64, f64, bool)| Some((along.at(one_in), scale.at(value)));
        for (n, line) in self.lines.iter().enumerate().rev() {
            let few = line.steps.partition_point(|(_, _, is_supported)| *is_supported);
            let sure: Vec<_> = line.steps[..few].iter().map(place).collect();
            // The grey piece begins where the sure piece ends.
            let unsure: Vec<_> = line.steps[few.saturating_sub(1)..].iter().map(place).collect();
            drawn.push(&trace("trace few", &unsure));
            drawn.push(&trace(if n == 0 { "trace" } else { "trace faint" }, &sure));
            for (one_in, value, says) in &line.marks {
                drawn.push(&said((along.at(*one_in), scale.at(*value)), "dot", 3.2, says));
            }
        }
        drawn.push(&self.names(&along, &scale, bottom));
        small(&self.about, "", (WIDTH, HEIGHT), is_alone, &of_subject(self.slot, &drawn))
    }

    fn axis(&self, along: &Scale, bottom: f64) -> Markup {
        /// The width of a letter of a name, in the broadest of the fonts, and the room between two names.
        const LETTER: f64 = 6.8;
        const AIR: f64 = 7.0;
        let mut drawn = Markup::default();
        let mut free = LEFT - 20.0;
        for (one_in, says) in NAMED.into_iter().filter(|(one_in, _)| *one_in <= along.high()) {
            let x = along.at(one_in);
            let half = says.len() as f64 * LETTER / 2.0;
            drawn.push(&stroke("rung", (x, TOP), (x, bottom)));
            if free <= x - half {
                drawn.push(&text("tick", "middle", (x, bottom + 16.0), says));
                free = x + half + AIR;
            }
        }
        drawn
    }

    fn names(&self, along: &Scale, scale: &Scale, bottom: f64) -> Markup {
        let ends: Vec<(&Percentile, (f64, f64))> = self
            .lines
            .iter()
            .filter_map(|line| line.steps.last().map(|last| (line, (last.0, last.1))))
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|(_, (_, value))| scale.at(*value)).collect();
        let heights = apart(&wanted, 14.0, TOP, bottom);
        let name = |((line, (one_in, _)), height): (&(&Percentile, (f64, f64)), f64)| {
            text("note", "start", (along.at(*one_in) + 6.0, height + 4.0), &line.name)
        };
        ends.iter().zip(heights).map(name).collect()
    }
}
