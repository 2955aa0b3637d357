//! How long answers took at one place: bars, and the share that had been answered by then as a curve.

use lab::figure::Unit;

use super::marks::{point, stroke, text};
use super::scale::Scale;
use super::small::{below, columns, of_subject, small, titled, trace};
use super::{About, Trust};
use crate::markup::Markup;

/// One histogram. Its axis of time is given, so that several can be compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    pub(crate) about: About,
    pub(crate) slot: usize,
    /// Times that the axis must include.
    pub(crate) times: Vec<f64>,
    /// From, until, share, and the share up to its end.
    pub(crate) bins: Vec<[f64; 4]>,
    /// Requests that were given up: their share and since when, with text.
    pub(crate) given_up: Option<(f64, f64, String)>,
    /// Values with their shares, their text, and how far they can be trusted.
    pub(crate) marks: Vec<(f64, f64, String, Trust)>,
}

const TOP: f64 = 38.0;
const HEIGHT: f64 = 140.0;
const LEFT: f64 = 38.0;

impl Histogram {
    pub(crate) fn svg(&self, width: f64, is_alone: bool) -> Markup {
        let (right, bottom) = (width - 16.0, HEIGHT - 22.0);
        let along = Scale::log(&self.times, LEFT, right);
        let up = |share: f64| bottom - share.clamp(0.0, 1.0) * (bottom - TOP);
        let mut drawn = titled(&self.about.heading, &self.about.note, 28.0);
        for (share, says) in [(1.0, "100 %"), (0.5, "50 %"), (0.0, "0")] {
            let class = if share == 0.0 { "rung base" } else { "rung" };
            drawn.push(&stroke(class, (LEFT, up(share)), (right, up(share))));
            drawn.push(&text("tick", "end", (LEFT - 5.0, up(share) + 4.0), says));
        }
        drawn.push(&below(&along, Unit::Milliseconds, 60.0, bottom));
        drawn.push(&self.bars(&along, right, bottom));
        drawn.push(&self.curve(&along, right, up));
        for (value, share, says, trust) in &self.marks {
            let at = (along.at(*value), up(*share));
            drawn.push(&point(self.slot, *trust, at, says));
        }
        small(&self.about, "", (width, HEIGHT), is_alone, &of_subject(self.slot, &drawn))
    }

    /// Their heights are shares of the tallest.
    fn bars(&self, along: &Scale, right: f64, bottom: f64) -> Markup {
        let given_up = self.given_up.as_ref();
        let shares = self.bins.iter().map(|bin| bin[2]).chain(given_up.map(|given| given.0));
        let tallest = shares.fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let top = |share: f64| bottom - share / tallest * (bottom - TOP);
        let bar = |bin: &[f64; 4]| (along.at(bin[0]), along.at(bin[1]), top(bin[2]));
        let bars: Vec<(f64, f64, f64)> = self.bins.iter().map(bar).collect();
        let mut drawn = columns("fill", bottom, &bars);
        if let Some((share, since, _)) = given_up {
            let left = along.at(*since).min(right - 7.0);
            drawn.push(&columns("given", bottom, &[(left, right, top(*share))]));
        }
        drawn
    }

    fn curve(&self, along: &Scale, right: f64, up: impl Fn(f64) -> f64) -> Markup {
        let Some(first) = self.bins.first() else { return Markup::default() };
        let mut places = vec![Some((along.at(first[0]), up(0.0)))];
        let mut last = (along.at(first[0]), 0.0);
        for bin in &self.bins {
            // Between two bars nothing was answered: the curve stays where it is.
            if last.0 + 0.1 < along.at(bin[0]) {
                places.push(Some((along.at(bin[0]), up(last.1))));
            }
            last = (along.at(bin[1]), bin[3]);
            places.push(Some((last.0, up(last.1))));
        }
        let mut drawn = trace("trace", &places);
        drawn.push(&stroke("lead", (last.0, up(last.1)), (right, up(last.1))));
        drawn
    }
}
