//! Panels along a trial's time, with one axis and one cursor.

use lab::figure::Unit;

use super::About;
use super::marks::{heading, pair, rungs};
use super::scale::Scale;
use super::small::{area, below, columns, of_subject, said, small, trace};
use crate::markup::{Markup, markup};

/// A trial along its time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strips {
    pub(crate) about: About,
    pub(crate) slot: usize,
    /// Columns of time: from and until, seconds.
    pub(crate) columns: Vec<(f64, f64)>,
    /// The part of these that was measured.
    pub(crate) measured: (f64, f64),
    pub(crate) panels: Vec<StripPanel>,
}

#[derive(Clone, Debug)]
pub(crate) struct StripPanel {
    pub(crate) heading: String,
    pub(crate) note: String,
    pub(crate) unit: Unit,
    pub(crate) height: f64,
    pub(crate) way: Way,
    pub(crate) traces: Vec<Trace>,
}

#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Lines from zero.
    Lines,
    /// Lines over an axis by factors.
    Factors,
    /// Areas on top of each other.
    Stack,
    Columns,
    /// Lines over a map of how many exchanges took how long.
    Heat {
        /// For each column of time: where a bin begins, and its share.
        bins: Vec<Vec<(f64, f64)>>,
        /// Bins per factor of ten.
        to_ten: f64,
        /// Times that the axis must include.
        times: Vec<f64>,
        /// Single exchanges: when, how long, and as text.
        slow: Vec<(f64, f64, String)>,
    },
}

/// A value for each column, and the same as text.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    pub(crate) name: String,
    pub(crate) class: &'static str,
    pub(crate) values: Vec<Option<f64>>,
    pub(crate) says: Vec<String>,
}

const WIDTH: f64 = 400.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 384.0;
const HEAD: f64 = 24.0;
const GAP: f64 = 9.0;

impl Strips {
    pub(crate) fn svg(&self, is_alone: bool) -> Markup {
        let until = self.columns.last().map_or(0.0, |column| column.1);
        let along = Scale::upto(until, LEFT, RIGHT);
        let height: f64 = self.panels.iter().map(|panel| HEAD + panel.height + GAP).sum();
        let bottom = height - GAP;
        let mut drawn = self.shades(&along, until, bottom);
        let mut top = 0.0;
        for panel in &self.panels {
            drawn.push(&panel.drawn(&along, &self.columns, top + HEAD));
            top += HEAD + panel.height + GAP;
        }
        drawn.push(&seconds(&along, bottom));
        let middle = |(from, until): &(f64, f64)| format!("{:.1}", along.at((from + until) / 2.0));
        let middles: Vec<String> = self.columns.iter().map(middle).collect();
        let drawn = markup!(
            "<g class=\"strip\" data-x=\"{}\" data-bottom=\"{:.0}\">\n{}</g>\n",
            middles.join(" "),
            bottom,
            drawn
        );
        small(&self.about, "", (WIDTH, height + 18.0), is_alone, &of_subject(self.slot, &drawn))
    }

    /// The parts that are not measured: the warm-up, and the wait at the end.
    fn shades(&self, along: &Scale, until: f64, bottom: f64) -> Markup {
        let pieces = [(0.0, self.measured.0), (self.measured.1, until)];
        let wide = |(from, until): &(f64, f64)| 1.0 < along.at(*until) - along.at(*from);
        let shade = |(from, until): (f64, f64)| {
            let (left, right) = (along.at(from), along.at(until));
            markup!(
                "<rect class=\"shade\" x=\"{:.1}\" y=\"{}\"{}/>\n",
                left,
                HEAD,
                pair(["width", "height"], (right - left, bottom - HEAD))
            )
        };
        pieces.into_iter().filter(wide).map(shade).collect()
    }
}

fn seconds(along: &Scale, bottom: f64) -> Markup {
    // The axis counts seconds; ticks in milliseconds already have the right units.
    let scale = Scale::upto(along.high() * 1e3, LEFT, RIGHT);
    below(&scale, Unit::Milliseconds, 56.0, bottom)
}

/// A panel with this in it.
pub(crate) fn panel(
    heading: &str,
    note: &str,
    unit: Unit,
    height: f64,
    way: Way,
    traces: Vec<Trace>,
) -> StripPanel {
    StripPanel { heading: heading.into(), note: note.into(), unit, height, way, traces }
}

impl StripPanel {
    fn drawn(&self, along: &Scale, times: &[(f64, f64)], top: f64) -> Markup {
        let bottom = top + self.height;
        let scale = self.scale(top, bottom);
        let mut drawn = heading((2.0, top - 9.0), &self.heading, &self.note);
        drawn.push(&rungs(&scale, self.unit, LEFT, RIGHT));
        match &self.way {
            Way::Lines | Way::Factors => {}
            Way::Stack => drawn.push(&self.stack(along, times, &scale)),
            Way::Columns => drawn.push(&self.bars(along, times, &scale, bottom)),
            Way::Heat { bins, to_ten, .. } => {
                drawn.push(&super::heat::heat(along, &scale, times, bins, *to_ten));
            }
        }
        for one in &self.traces {
            let places = one.values.iter().zip(times).map(|(value, time)| {
                value.map(|value| (along.at((time.0 + time.1) / 2.0), scale.at(value)))
            });
            let line = match self.way {
                Way::Lines | Way::Factors | Way::Heat { .. } => {
                    trace(one.class, &places.collect::<Vec<_>>())
                }
                Way::Stack | Way::Columns => Markup::default(),
            };
            drawn.push(&markup!(
                "<g data-name=\"{}\" data-says=\"{}\">{}</g>\n",
                one.name,
                one.says.join("|"),
                line
            ));
        }
        if let Way::Heat { slow, .. } = &self.way {
            for (when, took, says) in slow {
                drawn.push(&said((along.at(*when), scale.at(*took)), "slow", 2.8, says));
            }
        }
        drawn
    }

    fn scale(&self, top: f64, bottom: f64) -> Scale {
        let values = || self.traces.iter().flat_map(|one| one.values.iter().flatten().copied());
        match &self.way {
            Way::Heat { times, .. } => Scale::log(times, bottom, top),
            Way::Stack => Scale::linear(&self.totals(), bottom, top),
            Way::Factors => Scale::log(&values().collect::<Vec<_>>(), bottom, top),
            Way::Lines | Way::Columns => Scale::linear(&values().collect::<Vec<_>>(), bottom, top),
        }
    }

    fn totals(&self) -> Vec<f64> {
        let longest = self.traces.iter().map(|one| one.values.len()).max().unwrap_or(0);
        let value = |one: &Trace, n: usize| one.values.get(n).copied().flatten().unwrap_or(0.0);
        (0..longest).map(|n| self.traces.iter().map(|one| value(one, n)).sum()).collect()
    }

    fn stack(&self, along: &Scale, times: &[(f64, f64)], scale: &Scale) -> Markup {
        let mut below: Vec<f64> = vec![0.0; times.len()];
        let mut drawn = Markup::default();
        for one in &self.traces {
            let above: Vec<f64> = below
                .iter()
                .zip(&one.values)
                .map(|(below, value)| below + value.unwrap_or(0.0))
                .collect();
            let places = |values: &[f64]| -> Vec<(f64, f64)> {
                let middle = |time: &(f64, f64)| along.at((time.0 + time.1) / 2.0);
                times
                    .iter()
                    .zip(values)
                    .map(|(time, value)| (middle(time), scale.at(*value)))
                    .collect()
            };
            drawn.push(&area(one.class, &places(&above), &places(&below)));
            below = above;
        }
        drawn
    }

    fn bars(&self, along: &Scale, times: &[(f64, f64)], scale: &Scale, bottom: f64) -> Markup {
        let of = |one: &Trace| {
            let some = one.values.iter().zip(times).filter_map(|(value, time)| {
                let value = value.filter(|value| 0.0 < *value)?;
                Some((along.at(time.0), along.at(time.1), scale.at(value)))
            });
            columns(one.class, bottom, &some.collect::<Vec<_>>())
        };
        self.traces.iter().map(of).collect()
    }
}
