//! Lines over an axis that several panels share.

use lab::figure::Unit;

use super::marks::{apart, band, colour, heading, line, point, rungs, short, stroke, text};
use super::scale::{Scale, tick};
use super::{About, Room, Series, framed};

/// Panels one above the other, with one axis below.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curves {
    pub(crate) about: About,
    /// What the axis counts.
    pub(crate) axis: String,
    pub(crate) panels: Vec<Panel>,
}

/// One panel.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) heading: String,
    pub(crate) note: String,
    pub(crate) unit: Unit,
    pub(crate) is_log: bool,
    pub(crate) height: f64,
    /// Drawn with marks, bands and names.
    pub(crate) series: Vec<Series>,
    /// Drawn thin beside them.
    pub(crate) thin: Vec<Series>,
    /// Drawn faint and dashed: as published.
    pub(crate) past: Vec<Series>,
    /// What was published without a place: faint strokes at the right edge, by slot.
    pub(crate) past_peaks: Vec<(usize, f64)>,
    /// Where as much comes back as is offered.
    pub(crate) has_even_line: bool,
}

const HEAD: f64 = 30.0;
const GAP: f64 = 22.0;

/// Where panels begin and end, left and right.
#[derive(Clone, Copy)]
struct Paper {
    width: f64,
    left: f64,
    right: f64,
    room: Room,
}

impl Curves {
    pub(crate) fn svg(&self, room: Room, is_alone: bool) -> String {
        let paper = match room {
            Room::Wide => Paper { width: 800.0, left: 62.0, right: 660.0, room },
            Room::Narrow => Paper { width: 380.0, left: 56.0, right: 356.0, room },
        };
        let along = self.along(paper);
        let (mut drawn, mut top) = match room {
            Room::Wide => (String::new(), 0.0),
            Room::Narrow => self.legend(paper),
        };
        for (place, panel) in self.panels.iter().enumerate() {
            let clip =
                format!("{}{}{place}", self.about.id, if room == Room::Wide { "w" } else { "n" });
            drawn.push_str(&panel.drawn(paper, &along, top + HEAD, &clip));
            top += HEAD + panel.height + GAP;
        }
        drawn.push_str(&self.axis(paper, &along, top - GAP));
        framed(&self.about, paper.width, top + 26.0, room, is_alone, &drawn)
    }

    /// The shared axis: by factors where places lie far apart.
    fn along(&self, paper: Paper) -> Scale {
        let all = self.panels.iter().flat_map(|panel| panel.series.iter().chain(&panel.past));
        let places: Vec<f64> =
            all.flat_map(|series| series.points.iter().map(|spot| spot.x)).collect();
        let (least, most) = (
            places.iter().copied().fold(f64::MAX, f64::min),
            places.iter().copied().fold(0.0, f64::max),
        );
        let is_far = 0.0 < least && 30.0 * least < most;
        let scale = if is_far { Scale::log } else { Scale::linear };
        scale(&places, paper.left, paper.right)
    }

    fn axis(&self, paper: Paper, along: &Scale, y: f64) -> String {
        let ticks = along.ticks(if paper.room == Room::Wide { 64.0 } else { 52.0 });
        let mut drawn = String::new();
        for value in ticks {
            let x = along.at(value);
            drawn.push_str(&stroke("base", (x, y), (x, y + 4.0)));
            drawn.push_str(&text("tick", "middle", (x, y + 17.0), &tick(Unit::Count, value)));
        }
        drawn + &text("note", "end", (paper.right, y + 36.0), &format!("{} →", self.axis))
    }

    /// Names with their marks above the panels, in two columns.
    fn legend(&self, paper: Paper) -> (String, f64) {
        let Some(first) = self.panels.first() else { return (String::new(), 0.0) };
        let mut drawn = String::new();
        for (place, series) in first.series.iter().enumerate() {
            let x = 12.0 + (place % 2) as f64 * paper.width / 2.0;
            let y = 12.0 + (place / 2) as f64 * 19.0;
            drawn.push_str(&point(series.slot, false, (x, y), ""));
            let class = format!("name {}", colour(series.slot));
            drawn.push_str(&text(&class, "start", (x + 10.0, y + 4.0), &short(&series.title, 24)));
        }
        (drawn, 12.0 + first.series.len().div_ceil(2) as f64 * 19.0)
    }
}

impl Panel {
    fn drawn(&self, paper: Paper, along: &Scale, top: f64, clip: &str) -> String {
        let bottom = top + self.height;
        let scale = self.scale(top, bottom);
        let note = if paper.room == Room::Wide { self.note.as_str() } else { "" };
        let mut drawn = heading((4.0, top - 14.0), &self.heading, note);
        drawn.push_str(&rungs(&scale, self.unit, paper.left, paper.right));
        drawn.push_str(&format!(
            "<clipPath id=\"{clip}\"><rect x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{}\"/></clipPath>\n<g clip-path=\"url(#{clip})\">\n",
            paper.left, paper.right - paper.left, self.height
        ));
        if self.has_even_line {
            drawn.push_str(&even_line(along, &scale));
        }
        for series in &self.series {
            drawn.push_str(&bands(series, along, &scale));
        }
        for (slot, value) in &self.past_peaks {
            let y = scale.at(*value);
            let class = format!("past {}", colour(*slot));
            drawn.push_str(&stroke(&class, (paper.right - 56.0, y), (paper.right, y)));
        }
        let groups = [("past", &self.past), ("thin", &self.thin), ("line", &self.series)];
        for (class, all) in groups {
            for series in all {
                let class = format!("{class} {}", colour(series.slot));
                drawn.push_str(&line(&class, &places(series, along, &scale)));
            }
        }
        drawn.push_str("</g>\n");
        for series in &self.series {
            for (spot, place) in series.points.iter().zip(places(series, along, &scale)) {
                let says = format!("{}: {}", series.title, spot.says);
                drawn.push_str(&point(series.slot, spot.is_doubtful, place, &says));
            }
        }
        // Names beside a line of zeros would say nothing.
        let is_any = self.values().any(|value| 0.0 < value);
        if paper.room == Room::Wide && is_any {
            drawn.push_str(&self.names(paper, along, &scale, top, bottom));
        }
        drawn
    }

    /// Of medians and what was published: an interval of few rounds may leave the paper.
    fn scale(&self, top: f64, bottom: f64) -> Scale {
        let values: Vec<f64> = self.values().collect();
        let scale = if self.is_log { Scale::log } else { Scale::linear };
        scale(&values, bottom, top)
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        let all = self.series.iter().chain(&self.thin).chain(&self.past);
        let spots = all.flat_map(|series| series.points.iter().map(|spot| spot.value));
        spots.chain(self.past_peaks.iter().map(|(_, value)| *value))
    }

    /// Each name beside its last point, moved where another stands.
    fn names(&self, paper: Paper, along: &Scale, scale: &Scale, top: f64, bottom: f64) -> String {
        let ends: Vec<(&Series, (f64, f64))> = self
            .series
            .iter()
            .filter_map(|series| Some((series, *places(series, along, scale).last()?)))
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
        let heights = apart(&wanted, 14.0, top + 2.0, bottom);
        let mut drawn = String::new();
        for ((series, end), height) in ends.iter().zip(heights) {
            let slot = colour(series.slot);
            let x = paper.right + 18.0;
            drawn.push_str(&stroke(
                &format!("lead {slot}"),
                (end.0 + 5.0, end.1),
                (x - 3.0, height),
            ));
            let class = format!("name {slot}");
            drawn.push_str(&text(&class, "start", (x, height + 4.0), &short(&series.title, 17)));
        }
        drawn
    }
}

fn places(series: &Series, along: &Scale, scale: &Scale) -> Vec<(f64, f64)> {
    series.points.iter().map(|spot| (along.at(spot.x), scale.at(spot.value))).collect()
}

/// Bands of neighbours that have intervals.
fn bands(series: &Series, along: &Scale, scale: &Scale) -> String {
    let class = colour(series.slot);
    let pieces = series.points.split(|spot| spot.interval.is_none());
    pieces
        .map(|spots| {
            let side = |pick: fn((f64, f64)) -> f64| -> Vec<(f64, f64)> {
                let of =
                    |spot: &super::Spot| Some((along.at(spot.x), scale.at(pick(spot.interval?))));
                spots.iter().filter_map(of).collect()
            };
            band(&class, &side(|interval| interval.0), &side(|interval| interval.1))
        })
        .collect()
}

/// The places where what comes back is what is offered; a curve where the axis goes by factors.
fn even_line(along: &Scale, scale: &Scale) -> String {
    const PIECES: usize = 60;
    let most = along.high().min(scale.high());
    let low = along.low();
    let value = |n: usize| low + (most - low) * n as f64 / PIECES as f64;
    let places: Vec<(f64, f64)> =
        (0..=PIECES).map(value).map(|value| (along.at(value), scale.at(value))).collect();
    line("even", &places)
}
