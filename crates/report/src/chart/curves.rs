//! Lines over an axis that several panels share.

use lab::figure::Unit;

use super::marks::{
    Way, apart, arrow, band, both_ways, colour, dashed, heading, key, line, of_subject, point,
    rungs, short, stroke, text,
};
use super::scale::{Scale, tick};
use super::signs::{Ceiling, NEAR, noted_series};
use super::{About, Room, Series, Spot, Stand, framed};
use crate::markup::{Markup, markup};

/// Panels one above the other, with one axis below.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curves {
    pub(crate) about: About,
    /// What the axis counts, with its unit.
    pub(crate) axis: String,
    pub(crate) panels: Vec<Panel>,
    /// The series whose names stand beside the lines where there is no room for all: the first of these.
    pub(crate) first: Vec<usize>,
    /// What the places at 0.5, 1.5, … are called, where an axis has names instead of numbers.
    pub(crate) names: Vec<String>,
    /// Upright lines at places between which nothing is alike, and what differs.
    pub(crate) breaks: Vec<(f64, String)>,
}

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
    /// Peaks that were published without a place: faint strokes at the right edge, by slot.
    pub(crate) past_peaks: Vec<(usize, f64)>,
    /// Draws the line where as much is answered as is offered.
    pub(crate) has_even_line: bool,
    pub(crate) ceiling: Option<Ceiling>,
    /// The value that the figure must not exceed, and its name.
    pub(crate) limit: Option<(f64, String)>,
    /// A script may show the panel by factors or from zero, together with all others of this kind.
    pub(crate) way: Option<&'static str>,
}

impl Panel {
    /// From zero, with nothing beside the series.
    pub(crate) fn new(
        heading: impl Into<String>,
        note: impl Into<String>,
        unit: Unit,
        height: f64,
        series: Vec<Series>,
    ) -> Panel {
        Panel {
            heading: heading.into(),
            note: note.into(),
            unit,
            is_log: false,
            height,
            series,
            thin: Vec::new(),
            past: Vec::new(),
            past_peaks: Vec::new(),
            has_even_line: false,
            ceiling: None,
            limit: None,
            way: None,
        }
    }
}

const HEAD: f64 = 30.0;
const GAP: f64 = 22.0;
/// Names beside lines, one below the other.
const NAME: f64 = 13.0;
/// Up to this many lines have marks on a phone, too.
const MARKED: usize = 30;

/// The left and right ends of panels.
#[derive(Clone, Copy)]
struct Paper {
    width: f64,
    left: f64,
    right: f64,
    room: Room,
}

impl Curves {
    pub(crate) fn svg(&self, room: Room, stand: Stand<'_>) -> Markup {
        let paper = match room {
            Room::Wide => Paper { width: 960.0, left: 62.0, right: 806.0, room },
            Room::Narrow => Paper { width: 380.0, left: 56.0, right: 356.0, room },
        };
        let along = self.along(paper);
        let (mut drawn, mut top) = match room {
            Room::Wide => (Markup::default(), 0.0),
            Room::Narrow => self.legend(paper, 0.0),
        };
        for (place, panel) in self.panels.iter().enumerate() {
            let clip =
                format!("{}{}{place}", self.about.id, if room == Room::Wide { "w" } else { "n" });
            // The first panel has the legend of all.
            let panels = if place == 0 { &self.panels[..] } else { &[] };
            let marked = || panels.iter().flat_map(|panel| &panel.series);
            drawn.push(&both_ways(panel.way, |is_other| {
                let note = noted_series(&panel.note(is_other), marked());
                panel.drawn(paper, &along, top + HEAD, &clip, is_other, (&self.first, &note))
            }));
            drawn.push(&self.broken(paper, &along, (top + HEAD, top + HEAD + panel.height)));
            top += HEAD + panel.height + GAP;
        }
        drawn.push(&self.axis(paper, &along, top - GAP));
        top += 26.0;
        let is_crowded = |panel: &Panel| panel.fitting() < panel.series.len();
        if room == Room::Wide && self.panels.iter().any(is_crowded) {
            let (legend, bottom) = self.legend(paper, top + 6.0);
            drawn.push(&legend);
            top = bottom;
        }
        framed(&self.about, room.class(), (paper.width, top), stand, &drawn)
    }

    /// The shared axis: by factors where places are far apart.
    fn along(&self, paper: Paper) -> Scale {
        if !self.names.is_empty() {
            return Scale::upto(self.names.len() as f64, paper.left, paper.right);
        }
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

    fn axis(&self, paper: Paper, along: &Scale, y: f64) -> Markup {
        let mut drawn = Markup::default();
        for (value, name) in self.ticks(paper, along) {
            let x = along.at(value);
            drawn.push(&stroke("base", (x, y), (x, y + 4.0)));
            drawn.push(&text("tick", "middle", (x, y + 17.0), &name));
        }
        drawn.push(&text("note", "end", (paper.right, y + 36.0), &format!("{} →", self.axis)));
        drawn
    }

    /// The places that the axis names, as many as there is room for.
    fn ticks(&self, paper: Paper, along: &Scale) -> Vec<(f64, String)> {
        if self.names.is_empty() {
            let mut ticks = along.ticks(if paper.room == Room::Wide { 64.0 } else { 52.0 });
            // There are no half connections.
            if 1.0 < along.high() {
                ticks.retain(|value| value.fract() == 0.0);
            }
            return ticks.into_iter().map(|value| (value, tick(Unit::Count, value))).collect();
        }
        let room = ((paper.right - paper.left) / 36.0).max(1.0) as usize;
        let places = self.names.iter().enumerate().step_by(self.names.len().div_ceil(room));
        places.map(|(place, name)| (place as f64 + 0.5, name.clone())).collect()
    }

    /// Upright lines in a panel; what differs stands above each that has room for it.
    fn broken(&self, paper: Paper, along: &Scale, (top, bottom): (f64, f64)) -> Markup {
        const LETTER: f64 = 6.4;
        let middle = (paper.left + paper.right) / 2.0;
        let places: Vec<f64> = self.breaks.iter().map(|(place, _)| along.at(*place)).collect();
        let line = |(n, (_, says)): (usize, &(f64, String))| {
            let x = places[n];
            let line = stroke("limit", (x, top), (x, bottom));
            let length = says.chars().count() as f64 * LETTER;
            let others = places.iter().enumerate().filter(|(other, _)| *other != n);
            let is_free = others.into_iter().all(|(_, other)| length < (other - x).abs());
            let anchor = if x < middle { "start" } else { "end" };
            let name = is_free.then(|| text("note", anchor, (x, top - 3.0), says));
            markup!("<g><title>{}</title>{}</g>\n{}", says, line, name)
        };
        self.breaks.iter().enumerate().map(line).collect()
    }

    /// Names with their marks in columns, and where they end.
    fn legend(&self, paper: Paper, top: f64) -> (Markup, f64) {
        let Some(first) = self.panels.first() else { return (Markup::default(), top) };
        let columns = if paper.room == Room::Wide { 4 } else { 2 };
        let is_broken = first.series.iter().any(|series| 0 < series.dash);
        let mut drawn = Markup::default();
        for (place, series) in first.series.iter().enumerate() {
            let x = 12.0 + (place % columns) as f64 * paper.width / columns as f64;
            let y = top + 12.0 + (place / columns) as f64 * 19.0;
            let class = format!("name {}", colour(series.slot));
            let (x, right) = if is_broken { (x + 5.0, x + 24.0) } else { (x, x + 10.0) };
            let stem = is_broken.then(|| stem(series, (x, y)));
            let name = text(&class, "start", (right, y + 4.0), &short(&series.title, 24));
            let whole = markup!("{}{}\n{}", stem, key(series.slot, (x, y)), name);
            drawn.push(&of_subject(series.slot, &whole));
        }
        (drawn, top + 12.0 + first.series.len().div_ceil(columns) as f64 * 19.0)
    }
}

impl Panel {
    fn drawn(
        &self,
        paper: Paper,
        along: &Scale,
        top: f64,
        clip: &str,
        is_other: bool,
        (first, note): (&[usize], &str),
    ) -> Markup {
        let bottom = top + self.height;
        let scale = self.scale(top, bottom, self.is_log != is_other);
        let clip = if is_other { format!("{clip}o") } else { clip.to_string() };
        let note = if paper.room == Room::Wide { note } else { "" };
        let mut drawn = heading((4.0, top - 14.0), &self.heading, note);
        drawn.push(&rungs(&scale, self.unit, paper.left, paper.right));
        drawn.push(&markup!(
            "<clipPath id=\"{0}\"><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\"/></clipPath>\n\
             <g clip-path=\"url(#{0})\">\n{5}</g>\n{6}",
            clip,
            paper.left,
            top,
            paper.right - paper.left,
            self.height,
            self.lines(paper, along, &scale),
            self.ceiling_name(along, &scale)
        ));
        if let Some((limit, name)) = self.limit.as_ref().filter(|(limit, _)| *limit <= scale.high())
        {
            let y = scale.at(*limit);
            drawn.push(&stroke("limit", (paper.left, y), (paper.right, y)));
            drawn.push(&text("note", "start", (paper.left + 4.0, y - 4.0), name));
        }
        // On a phone the marks of many lines would hide the lines.
        let is_marked = paper.room == Room::Wide || self.series.len() <= MARKED;
        for series in self.series.iter().filter(|_| is_marked) {
            let marks = series.points.iter().zip(places(&series.points, along, &scale));
            let mark = |(spot, place): (&Spot, (f64, f64))| {
                let says = format!("{}: {}", series.title, spot.says);
                point(series.slot, spot.trust, place, &says)
            };
            drawn.push(&of_subject(series.slot, &marks.map(mark).collect()));
        }
        // Names beside lines that are all zero would say nothing.
        let is_any = self.values().any(|value| 0.0 < value);
        if paper.room == Room::Wide && is_any {
            drawn.push(&self.names(paper, along, &scale, (top, bottom), first));
        }
        drawn
    }

    /// Everything that must not leave the panel: bands below lines, published figures below measured ones.
    fn lines(&self, paper: Paper, along: &Scale, scale: &Scale) -> Markup {
        let mut drawn = Markup::default();
        if self.has_even_line {
            drawn.push(&even_line(along, scale));
        }
        let ceiling = self.ceiling.iter().flat_map(|ceiling| ceiling.below(scale.high()));
        drawn.push(&line("ceiling", &places(ceiling, along, scale)));
        for series in &self.series {
            drawn.push(&of_subject(series.slot, &bands(series, along, scale)));
        }
        for (slot, value) in &self.past_peaks {
            let y = scale.at(*value);
            let class = format!("past {}", colour(*slot));
            let peak = stroke(&class, (paper.right - 56.0, y), (paper.right, y));
            drawn.push(&of_subject(*slot, &peak));
        }
        for (class, all) in [("past", &self.past), ("thin", &self.thin), ("line", &self.series)] {
            for series in all {
                let class = format!("{class} {}", dashed(series.slot, series.dash));
                let lines =
                    pieces(&series.points).map(|spots| line(&class, &places(spots, along, scale)));
                drawn.push(&of_subject(series.slot, &lines.collect()));
            }
        }
        drawn
    }

    /// What must be known to read it, drawn by factors or from zero.
    fn note(&self, is_other: bool) -> String {
        let high = self.scale(0.0, self.height, self.is_log != is_other).high();
        let even = self.has_even_line.then(|| "dotted: all that was offered".to_string());
        let ceiling = self.ceiling.as_ref().map(|ceiling| ceiling.says(self.unit, high));
        let given = (!self.note.is_empty()).then(|| self.note.clone());
        [even, given, ceiling].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    fn ceiling_name(&self, along: &Scale, scale: &Scale) -> Option<Markup> {
        let last = self.ceiling.as_ref()?.below(scale.high()).last()?;
        let place = (along.at(last.x) - 2.0, scale.at(last.value) - 5.0);
        Some(text("note ceiling-name", "end", place, "ceiling"))
    }

    /// An interval that goes far beyond all values leaves the paper.
    fn scale(&self, top: f64, bottom: f64, is_log: bool) -> Scale {
        let mut values: Vec<f64> = self.values().collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        let ends = self.series.iter().flat_map(Series::ends);
        values.extend(ends.filter(|end| *end <= NEAR * most));
        values.extend(
            self.limit
                .as_ref()
                .map(|(limit, _)| *limit)
                .filter(|limit| is_log || *limit <= NEAR * most),
        );
        let ceiling = self.ceiling.iter().flat_map(|it| &it.spots).map(|spot| spot.value);
        values.extend(ceiling.filter(|value| is_log || *value <= NEAR * most));
        let scale = if is_log { Scale::log } else { Scale::linear };
        scale(&values, bottom, top)
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        let all = self.series.iter().chain(&self.thin).chain(&self.past);
        let spots = all.flat_map(|series| series.points.iter().map(|spot| spot.value));
        spots.chain(self.past_peaks.iter().map(|(_, value)| *value))
    }

    /// The number of names that stand beside the lines: all, where they have room; else a few, and a legend has all.
    fn fitting(&self) -> usize {
        const FEW: usize = 8;
        let room = (self.height / NAME) as usize;
        if self.series.len() <= room { room } else { room.min(FEW) }
    }

    /// Each name beside its last point, moved where it would overlap another.
    fn names(
        &self,
        paper: Paper,
        along: &Scale,
        scale: &Scale,
        (top, bottom): (f64, f64),
        first: &[usize],
    ) -> Markup {
        let place = |slot| first.iter().position(|other| *other == slot).unwrap_or(first.len());
        let mut named: Vec<&Series> =
            self.series.iter().filter(|series| !series.points.is_empty()).collect();
        if self.fitting() < named.len() {
            named.sort_by_key(|series| place(series.slot));
            named.truncate(self.fitting());
        }
        let ends: Vec<(&Series, (f64, f64))> = named
            .into_iter()
            .filter_map(|series| Some((series, *places(&series.points, along, scale).last()?)))
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
        let heights = apart(&wanted, NAME, top + 2.0, bottom);
        let name = |((series, end), height): (&(&Series, (f64, f64)), f64)| {
            let slot = colour(series.slot);
            let x = paper.right + 18.0;
            let lead = stroke(&format!("lead {slot}"), (end.0 + 5.0, end.1), (x - 3.0, height));
            let class = format!("name {slot}");
            let name = text(&class, "start", (x, height + 4.0), &short(&series.title, 17));
            of_subject(series.slot, &markup!("{}{}", lead, name))
        };
        ends.iter().zip(heights).map(name).collect()
    }
}

/// A piece of a line behind its mark in the legend: its dashes distinguish it from the subject's other lines.
fn stem(series: &Series, (x, y): (f64, f64)) -> Markup {
    let class = format!("line {}", dashed(series.slot, series.dash));
    stroke(&class, (x - 14.0, y), (x + 14.0, y))
}

/// The parts of a line between places that were not measured.
fn pieces(spots: &[Spot]) -> impl Iterator<Item = &[Spot]> {
    spots.chunk_by(|_, next| !next.is_after_gap)
}

fn places<'s>(
    spots: impl IntoIterator<Item = &'s Spot>,
    along: &Scale,
    scale: &Scale,
) -> Vec<(f64, f64)> {
    spots.into_iter().map(|spot| (along.at(spot.x), scale.at(spot.value))).collect()
}

/// Bands of neighbours that have intervals.
fn bands(series: &Series, along: &Scale, scale: &Scale) -> Markup {
    let class = &colour(series.slot);
    let pieces =
        pieces(&series.points).flat_map(|spots| spots.split(|spot| spot.interval.is_none()));
    let cut = series.points.iter().filter_map(|spot| {
        let (low, high) = spot.interval?;
        let x = along.at(spot.x);
        let up = (scale.high() < high).then(|| arrow(class, (x, scale.at(high)), Way::Up));
        let down = (low < scale.low()).then(|| arrow(class, (x, scale.at(low)), Way::Down));
        Some(up.into_iter().chain(down).collect())
    });
    let arrows: Markup = cut.collect();
    let bands: Markup = pieces
        .map(|spots| {
            let side = |pick: fn((f64, f64)) -> f64| -> Vec<(f64, f64)> {
                let of =
                    |spot: &super::Spot| Some((along.at(spot.x), scale.at(pick(spot.interval?))));
                spots.iter().filter_map(of).collect()
            };
            band(class, &side(|interval| interval.0), &side(|interval| interval.1))
        })
        .collect();
    markup!("{}{}", bands, arrows)
}

/// The places where the answered rate is the offered one; a curve where the axis goes by factors.
fn even_line(along: &Scale, scale: &Scale) -> Markup {
    const PIECES: usize = 60;
    let most = along.high().min(scale.high());
    let low = along.low().max(scale.low());
    let value = |n: usize| low + (most - low) * n as f64 / PIECES as f64;
    let places: Vec<(f64, f64)> =
        (0..=PIECES).map(value).map(|value| (along.at(value), scale.at(value))).collect();
    line("even", &places)
}
