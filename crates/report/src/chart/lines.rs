//! Lines over x: panels one above the other over one axis. Columns, areas and single marks over the same axis are
//! series, too.

use lab::figure::Unit;

use super::heat::Heat;
use super::marks::{
    Way, apart, arrow, band, both_ways, colour, columns, dashed, heading, key, line, mark, notes,
    of_subject, pair, point, rungs, short, stroke, text,
};
use super::scale::Scale;
use super::shared_axis::SharedAxis;
use super::signs::{BEYOND, Ceiling, NEAR, legend};
use super::{About, Room, Stand, Trust, framed};
use crate::markup::{Markup, markup};

/// Panels one above the other, with one axis below.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    pub(crate) about: About,
    pub(crate) across: SharedAxis,
    /// What the axis counts, with its unit; empty where a heading says so.
    pub(crate) axis: String,
    pub(crate) panels: Vec<Panel>,
    /// The series whose names stand beside the lines where there is no room for all: the first of these.
    pub(crate) first: Vec<usize>,
    /// Upright lines at places between which nothing is alike, and what differs.
    pub(crate) breaks: Vec<(f64, String)>,
    /// Parts of the axis that are shaded.
    pub(crate) shaded: Vec<(f64, f64)>,
    /// The subject to which all of it belongs.
    pub(crate) slot: Option<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) heading: String,
    pub(crate) note: String,
    pub(crate) unit: Unit,
    pub(crate) is_log: bool,
    pub(crate) height: f64,
    /// From the back to the front.
    pub(crate) series: Vec<Series>,
    /// Below all series.
    pub(crate) heat: Option<Heat>,
    /// Values that the axis must include.
    pub(crate) includes: Vec<f64>,
    /// Draws the line where as much is answered as is offered.
    pub(crate) has_even_line: bool,
    pub(crate) ceiling: Option<Ceiling>,
    /// The value that the figure must not exceed, and its name.
    pub(crate) limit: Option<(f64, String)>,
    /// A script may show the panel by factors or from zero, together with all others of this kind.
    pub(crate) way: Option<&'static str>,
}

/// One subject's points in a panel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    /// The name that people use, and that stands beside the line; none where it is empty.
    pub(crate) title: String,
    /// Its colour and mark, in all charts of a page.
    pub(crate) slot: usize,
    /// How its line is broken, where a subject has several: 0 is unbroken.
    pub(crate) dash: usize,
    pub(crate) form: Form,
    /// From low to high.
    pub(crate) points: Vec<Spot>,
}

/// How a series is drawn, with the class of what is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Form {
    /// A line with marks and bands.
    #[default]
    Marked,
    Line(&'static str),
    /// Marks without a line.
    Marks(&'static str),
    /// Stands on the areas before it.
    Area(&'static str),
    /// Columns as wide as its points are.
    Columns(&'static str),
    /// Nothing is drawn: the cursor says it.
    Told,
}

/// One value with its doubt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spot {
    pub(crate) x: f64,
    /// How much of the axis it covers, as a column.
    pub(crate) width: f64,
    /// NaN where there is none: a line has a gap there, and a mark stands at the bottom.
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
    pub(crate) trust: Trust,
    /// A place before it was not measured: no line is drawn to it.
    pub(crate) is_after_gap: bool,
    /// The value in words.
    pub(crate) says: String,
}

/// The height of a panel's heading.
const HEAD: f64 = 26.0;
/// Names beside lines, one below the other.
const NAME: f64 = 13.0;
/// Up to this many lines have marks on a phone, too.
const MARKED: usize = 30;

/// Where the panels lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paper {
    pub(super) room: Room,
    pub(super) left: f64,
    pub(super) right: f64,
}

impl Lines {
    pub(crate) fn svg(&self, room: Room, stand: Stand<'_>) -> Markup {
        let paper = self.paper(room);
        let along = self.across.scale(&self.panels, paper.left, paper.right);
        let (drawn, bottom) = self.drawn(paper, &along, 0.0);
        let drawn = self.slot.map_or(drawn.clone(), |slot| {
            markup!("<g class=\"{}\" data-s=\"{}\">\n{}</g>\n", colour(slot), slot, drawn)
        });
        framed(&self.about, room, bottom, stand, &drawn)
    }

    fn paper(&self, room: Room) -> Paper {
        let named = self.panels.iter().flat_map(Panel::named);
        let longest = named.map(|series| series.title.chars().count()).max().unwrap_or(0);
        let names = match (self.across.has_cursor(), longest.min(letters(room))) {
            // The last label of the axis is centred below its tick.
            (true, _) | (_, 0) => 24.0,
            (false, letters) => 28.0 + letters as f64 * 7.0,
        };
        let width = room.width();
        match room {
            Room::Wide => Paper { room, left: 62.0, right: width - names },
            Room::Narrow => Paper { room, left: 56.0, right: width - 24.0 },
            Room::Small(_) if width < 300.0 => Paper { room, left: 40.0, right: width - names },
            Room::Small(_) => Paper { room, left: 58.0, right: width - names },
        }
    }

    /// All panels below this height, with the axis and the legend; and where they end.
    pub(super) fn drawn(&self, paper: Paper, along: &Scale, top: f64) -> (Markup, f64) {
        let (mut drawn, first) = match paper.room {
            Room::Narrow => self.legend(paper, top),
            Room::Wide | Room::Small(_) => (Markup::default(), top),
        };
        let gap = if paper.room == Room::Wide { 20.0 } else { 14.0 };
        let mut bottom = first;
        for (n, panel) in self.panels.iter().enumerate() {
            // The first panel has the legend of all.
            let all = if n == 0 { &self.panels[..] } else { &[] };
            let heads = [false, true].map(|is_other| {
                let note = panel.noted(is_other, all);
                headed(&panel.heading, &note, bottom, paper.room.width())
            });
            let top = heads.iter().map(|(_, end)| *end).fold(0.0, f64::max);
            bottom = top + panel.height;
            drawn.push(&self.shades(along, top, bottom));
            drawn.push(&both_ways(panel.way, |is_other| {
                let head = &heads[usize::from(is_other)].0;
                markup!("{}{}", head, self.panel(panel, paper, along, top, is_other))
            }));
            drawn.push(&self.broken(paper, along, (top, bottom)));
            bottom += gap;
        }
        bottom -= gap;
        drawn.push(&self.across.drawn(along, (first + HEAD, bottom)));
        if self.across.has_cursor() {
            drawn = self.with_cursor(along, bottom, &drawn);
        }
        bottom += 22.0;
        if !self.axis.is_empty() {
            let axis = format!("{} →", self.axis);
            drawn.push(&text("note", "end", (paper.right, bottom + 12.0), &axis));
            bottom += 18.0;
        }
        let is_crowded = |panel: &Panel| panel.fitting() < panel.named().count();
        if paper.room != Room::Narrow && self.panels.iter().any(is_crowded) {
            let (legend, end) = self.legend(paper, bottom + 4.0);
            drawn.push(&legend);
            bottom = end;
        }
        (drawn, bottom)
    }

    /// What belongs to a subject, unless all of it does.
    fn part(&self, slot: usize, drawn: &Markup) -> Markup {
        if self.slot.is_some() { drawn.clone() } else { of_subject(slot, drawn) }
    }

    fn shades(&self, along: &Scale, top: f64, bottom: f64) -> Markup {
        let mut shades = Markup::default();
        for &(from, until) in &self.shaded {
            let (left, right) = (along.at(from), along.at(until));
            if 1.0 < right - left {
                let corner = pair(["x", "y"], (left, top));
                let size = pair(["width", "height"], (right - left, bottom - top));
                shades.push(&markup!("<rect class=\"shade\"{}{}/>\n", corner, size));
            }
        }
        shades
    }

    /// The places at which a cursor stops; what it says there is in the panels.
    fn with_cursor(&self, along: &Scale, bottom: f64, drawn: &Markup) -> Markup {
        let first = self.panels.iter().flat_map(|panel| &panel.series).next();
        let places = first.into_iter().flat_map(|series| &series.points);
        let places: Vec<String> = places.map(|spot| format!("{:.1}", along.at(spot.x))).collect();
        markup!(
            "<g class=\"strip\" data-x=\"{}\" data-bottom=\"{:.0}\">\n{}</g>\n",
            places.join(" "),
            bottom,
            drawn
        )
    }

    /// Upright lines in a panel; what differs stands above each that has room for it.
    fn broken(&self, paper: Paper, along: &Scale, (top, bottom): (f64, f64)) -> Markup {
        const LETTER: f64 = 6.4;
        let middle = f64::midpoint(paper.left, paper.right);
        let places: Vec<f64> = self.breaks.iter().map(|(place, _)| along.at(*place)).collect();
        let lines = self.breaks.iter().enumerate().map(|(n, (_, says))| {
            let x = places[n];
            let line = stroke("limit", (x, top), (x, bottom));
            let length = says.chars().count() as f64 * LETTER;
            let others = places.iter().enumerate().filter(|(other, _)| *other != n);
            let is_free = others.into_iter().all(|(_, other)| length < (other - x).abs());
            let anchor = if x < middle { "start" } else { "end" };
            let name = is_free.then(|| text("note", anchor, (x, top - 3.0), says));
            markup!("<g><title>{}</title>{}</g>\n{}", says, line, name)
        });
        lines.collect()
    }

    /// Names with their marks in columns, and where they end.
    fn legend(&self, paper: Paper, top: f64) -> (Markup, f64) {
        let Some(first) = self.panels.first() else { return (Markup::default(), top) };
        let named: Vec<&Series> = first.named().collect();
        let columns = if paper.room == Room::Wide { 4 } else { 2 };
        let is_broken = named.iter().any(|series| 0 < series.dash);
        let mut drawn = Markup::default();
        for (place, series) in named.iter().enumerate() {
            let x = 12.0 + (place % columns) as f64 * paper.room.width() / columns as f64;
            let y = top + 12.0 + (place / columns) as f64 * 19.0;
            let class = format!("name {}", colour(series.slot));
            let (x, right) = if is_broken { (x + 5.0, x + 24.0) } else { (x, x + 10.0) };
            let stem = is_broken.then(|| stem(series, (x, y)));
            let name = text(&class, "start", (right, y + 4.0), &short(&series.title, 24));
            let whole = markup!("{}{}\n{}", stem, key(series.slot, (x, y)), name);
            drawn.push(&self.part(series.slot, &whole));
        }
        (drawn, top + 12.0 + named.len().div_ceil(columns) as f64 * 19.0)
    }

    /// A panel without its heading: what lies below others comes first.
    fn panel(
        &self,
        panel: &Panel,
        paper: Paper,
        along: &Scale,
        top: f64,
        is_other: bool,
    ) -> Markup {
        let bottom = top + panel.height;
        let scale = panel.scale(top, bottom, panel.is_log != is_other);
        let place = |spot: &Spot| (along.at(spot.x), scale.at(spot.value));
        let mut drawn = rungs(&scale, panel.unit, paper.left, paper.right);
        if let Some(heat) = &panel.heat {
            drawn.push(&heat.drawn(along, &scale));
        }
        if panel.has_even_line {
            drawn.push(&even_line(along, &scale));
        }
        // At the top of the panel a name above its line would touch the heading.
        let beside = |y: f64| if y - 14.0 < top { y + 11.0 } else { y - 4.0 };
        let ceiling = panel.ceiling.iter().flat_map(|ceiling| ceiling.below(scale.high()));
        let ceiling: Vec<(f64, f64)> = ceiling.map(place).collect();
        drawn.push(&line("ceiling", &ceiling));
        if let Some(&(x, y)) = ceiling.last() {
            let is_left = x < f64::midpoint(paper.left, paper.right);
            let (anchor, x) = if is_left { ("start", x + 4.0) } else { ("end", x - 2.0) };
            drawn.push(&text("note ceiling-name", anchor, (x, beside(y)), "ceiling"));
        }
        if let Some((limit, name)) = panel.limit.as_ref().filter(|it| it.0 <= scale.high()) {
            let y = scale.at(*limit);
            drawn.push(&stroke("limit", (paper.left, y), (paper.right, y)));
            drawn.push(&text("note", "start", (paper.left + 4.0, beside(y)), name));
        }
        for (n, series) in panel.series.iter().enumerate() {
            drawn.push(&self.part(series.slot, &panel.filled(n, along, &scale)));
        }
        for series in &panel.series {
            drawn.push(&self.part(series.slot, &series.lines(place)));
        }
        // On a phone the marks of many lines would hide the lines.
        let is_marked = paper.room != Room::Narrow || panel.named().count() <= MARKED;
        for series in panel.series.iter().filter(|_| is_marked) {
            drawn.push(&self.part(series.slot, &series.marks(place)));
        }
        if self.across.has_cursor() {
            drawn.push(&panel.series.iter().map(Series::told).collect());
        } else if paper.room != Room::Narrow && panel.values().any(|value| 0.0 < value) {
            // Names beside lines that are all zero would say nothing.
            drawn.push(&self.names(panel, paper, place, (top, bottom)));
        }
        drawn
    }

    /// Each name beside its last point, moved where it would overlap another.
    fn names(
        &self,
        panel: &Panel,
        paper: Paper,
        at: impl Fn(&Spot) -> (f64, f64),
        (top, bottom): (f64, f64),
    ) -> Markup {
        let place = |slot| {
            let mut first = self.first.iter();
            first.position(|other| *other == slot).unwrap_or(self.first.len())
        };
        let mut named: Vec<&Series> = panel.named().collect();
        if panel.fitting() < named.len() {
            named.sort_by_key(|series| place(series.slot));
            named.truncate(panel.fitting());
        }
        let ends: Vec<(&Series, (f64, f64))> = named
            .into_iter()
            .filter_map(|series| Some((series, at(series.points.last()?))))
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|(_, (_, y))| *y).collect();
        let heights = apart(&wanted, NAME, top + 2.0, bottom);
        let names = ends.iter().zip(heights).map(|((series, end), height)| {
            let slot = colour(series.slot);
            let x = paper.right + 18.0;
            let lead = stroke(&format!("lead {slot}"), (end.0 + 5.0, end.1), (x - 3.0, height));
            let title = short(&series.title, letters(paper.room));
            let name = text(&format!("name {slot}"), "start", (x, height + 4.0), &title);
            self.part(series.slot, &markup!("{}{}", lead, name))
        });
        names.collect()
    }
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
            heat: None,
            includes: Vec::new(),
            has_even_line: false,
            ceiling: None,
            limit: None,
            way: None,
        }
    }

    /// The series whose names are shown.
    fn named(&self) -> impl Iterator<Item = &Series> + Clone {
        self.series.iter().filter(|series| !series.title.is_empty() && series.form != Form::Told)
    }

    /// The number of names that stand beside the lines: all, where they have room; else a few, and a legend has all.
    fn fitting(&self) -> usize {
        const FEW: usize = 8;
        let room = (self.height / NAME) as usize;
        if self.named().count() <= room { room } else { room.min(FEW) }
    }

    /// What must be known to read it, drawn by factors or from zero; and what the marks in these panels mean.
    fn noted(&self, is_other: bool, panels: &[Panel]) -> String {
        let high = self.scale(0.0, self.height, self.is_log != is_other).high();
        let even = self.has_even_line.then(|| "dotted: all that was offered".to_string());
        let ceiling = self.ceiling.as_ref().map(|ceiling| ceiling.says(self.unit, high));
        let marked = panels.iter().flat_map(|panel| &panel.series);
        let spots: Vec<&Spot> = marked
            .filter(|series| series.form == Form::Marked)
            .flat_map(|series| &series.points)
            .collect();
        let bands = spots.iter().any(|spot| spot.interval.is_some());
        let bands = bands.then(|| "bands: 95 %, in the colour of their line".to_string());
        let beyond = panels.iter().any(Panel::has_arrows).then(|| BEYOND.to_string());
        let parts = [even, Some(self.note.clone()), ceiling, bands, beyond];
        legend(parts.into_iter().flatten(), spots.iter().map(|spot| spot.trust))
    }

    /// Whether an interval leaves the paper, as the panel is first drawn.
    fn has_arrows(&self) -> bool {
        let scale = self.scale(0.0, self.height, self.is_log);
        let marked = self.series.iter().filter(|series| series.form == Form::Marked);
        let mut intervals = marked.flat_map(|series| &series.points).filter_map(|it| it.interval);
        intervals.any(|(low, high)| low < scale.low() || scale.high() < high)
    }

    /// An interval that goes far beyond all values leaves the paper.
    fn scale(&self, top: f64, bottom: f64, is_log: bool) -> Scale {
        let mut values: Vec<f64> = self.values().chain(self.includes.iter().copied()).collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        let marked = self.series.iter().filter(|series| series.form == Form::Marked);
        let ends = marked.flat_map(|series| series.points.iter().filter_map(|spot| spot.interval));
        values.extend(ends.map(|(_, high)| high).filter(|end| *end <= NEAR * most));
        let limit = self.limit.iter().map(|(limit, _)| *limit);
        let ceiling = self.ceiling.iter().flat_map(|it| &it.spots).map(|spot| spot.value);
        values.extend(limit.chain(ceiling).filter(|value| is_log || *value <= NEAR * most));
        let scale = if is_log { Scale::log } else { Scale::linear };
        scale(&values, bottom, top)
    }

    /// What is drawn: of stacked series, their tops.
    fn values(&self) -> impl Iterator<Item = f64> {
        let drawn = self.series.iter().enumerate().filter(|(_, series)| series.form != Form::Told);
        drawn.flat_map(|(n, series)| {
            let ground = self.ground(n);
            series.points.iter().zip(ground).map(|(spot, ground)| ground + spot.value)
        })
    }

    /// The sums of what stands below each point of a series.
    fn ground(&self, n: usize) -> Vec<f64> {
        let series = &self.series[n];
        let below = self.series[..n].iter().filter(|_| series.is_stacked());
        let spots = |place: usize| below.clone().filter_map(move |other| other.points.get(place));
        let height = |place: usize| spots(place).map(|spot| spot.value.max(0.0)).sum();
        (0..series.points.len()).map(height).collect()
    }

    /// The bands, area or columns of a series.
    fn filled(&self, n: usize, along: &Scale, scale: &Scale) -> Markup {
        let series = &self.series[n];
        let ends = |spot: &Spot, ground: f64| {
            let top = scale.at(ground + spot.value.max(0.0));
            let (from, until) = (spot.x - spot.width / 2.0, spot.x + spot.width / 2.0);
            (along.at(from), along.at(until), top, scale.at(ground))
        };
        let grounds = self.ground(n);
        let both = || series.points.iter().zip(&grounds);
        let bars = || both().filter(|(spot, _)| 0.0 < spot.value);
        let class = |class: &str| format!("{class} {}", colour(series.slot));
        match series.form {
            Form::Marked => series.bands(along, scale),
            Form::Area(area) => {
                let top = |(spot, ground): (&Spot, &f64)| (along.at(spot.x), ends(spot, *ground).2);
                let low = |(spot, ground): (&Spot, &f64)| (along.at(spot.x), scale.at(*ground));
                let (low, top): (Vec<_>, Vec<_>) =
                    (both().map(low).collect(), both().map(top).collect());
                band(&class(area), &low, &top)
            }
            Form::Columns(name) => {
                let bars = bars().map(|(spot, ground)| ends(spot, *ground));
                columns(&class(name), &bars.collect::<Vec<_>>())
            }
            Form::Line(_) | Form::Marks(_) | Form::Told => Markup::default(),
        }
    }
}

impl Series {
    fn is_stacked(&self) -> bool {
        matches!(self.form, Form::Area(_))
    }

    /// A thin line beside the marked ones, without a name.
    pub(crate) fn lined(self, class: &'static str) -> Series {
        Series { form: Form::Line(class), title: String::new(), ..self }
    }

    fn lines(&self, at: impl Fn(&Spot) -> (f64, f64)) -> Markup {
        let class = match self.form {
            Form::Marked => "line",
            Form::Line(class) => class,
            Form::Marks(_) | Form::Area(_) | Form::Columns(_) | Form::Told => {
                return Markup::default();
            }
        };
        let class = format!("{class} {}", dashed(self.slot, self.dash));
        let drawn = |spots: &[Spot]| line(&class, &spots.iter().map(&at).collect::<Vec<_>>());
        self.pieces().map(drawn).collect()
    }

    fn marks(&self, at: impl Fn(&Spot) -> (f64, f64)) -> Markup {
        let drawn = self.points.iter().map(|spot| match self.form {
            Form::Marked => {
                let name = if self.title.is_empty() { "" } else { ": " };
                let says = format!("{}{name}{}", self.title, spot.says);
                point(self.slot, spot.trust, at(spot), &says)
            }
            Form::Marks(class) => {
                let class = format!("{class} {}", colour(self.slot));
                mark(class.trim_start(), self.slot, spot.trust, at(spot), &spot.says)
            }
            Form::Line(_) | Form::Area(_) | Form::Columns(_) | Form::Told => Markup::default(),
        });
        drawn.collect()
    }

    /// What the cursor says of it at each place.
    fn told(&self) -> Markup {
        let says: Vec<&str> = self.points.iter().map(|spot| spot.says.as_str()).collect();
        if self.title.is_empty() {
            return Markup::default();
        }
        markup!("<g data-name=\"{}\" data-says=\"{}\"></g>\n", self.title, says.join("|"))
    }

    /// The parts between places that were not measured.
    fn pieces(&self) -> impl Iterator<Item = &[Spot]> {
        let measured = self.points.split(|spot| spot.value.is_nan());
        measured.flat_map(|spots| spots.chunk_by(|_, next| !next.is_after_gap))
    }

    /// Bands of neighbours that have intervals, and arrows where these leave the paper.
    fn bands(&self, along: &Scale, scale: &Scale) -> Markup {
        let class = &colour(self.slot);
        let side = |spots: &[Spot], pick: fn((f64, f64)) -> f64| -> Vec<(f64, f64)> {
            let ends = spots.iter().filter_map(|spot| Some((spot.x, pick(spot.interval?))));
            ends.map(|(x, end)| (along.at(x), scale.at(end))).collect()
        };
        let pieces = self.pieces().flat_map(|spots| spots.split(|spot| spot.interval.is_none()));
        let bands = pieces.map(|spots| {
            band(&format!("{class} band"), &side(spots, |ends| ends.0), &side(spots, |ends| ends.1))
        });
        let arrows = self.points.iter().filter_map(|spot| {
            let (low, high) = spot.interval?;
            let x = along.at(spot.x);
            let up = (scale.high() < high).then(|| arrow(class, (x, scale.at(high)), Way::Up));
            let down = (low < scale.low()).then(|| arrow(class, (x, scale.at(low)), Way::Down));
            Some(up.into_iter().chain(down).collect())
        });
        bands.chain(arrows).collect()
    }
}

/// The letters of a name beside a line.
fn letters(room: Room) -> usize {
    if room == Room::Wide { 17 } else { 12 }
}

/// A panel's heading with its note, which stands beside it where there is room; and where the panel begins.
fn headed(says: &str, note: &str, top: f64, width: f64) -> (Markup, f64) {
    let taken = says.chars().count() as f64 * 7.4 + note.chars().count() as f64 * 5.7;
    if taken + 20.0 <= width {
        return (heading((4.0, top + 13.0), says, note), top + HEAD);
    }
    let (below, bottom) = notes((4.0, top + 28.0), note, width);
    (markup!("{}{}", heading((4.0, top + 13.0), says, ""), below), bottom + 8.0)
}

/// A piece of a line behind its mark in the legend: its dashes distinguish it from the subject's other lines.
fn stem(series: &Series, (x, y): (f64, f64)) -> Markup {
    let class = format!("line {}", dashed(series.slot, series.dash));
    stroke(&class, (x - 14.0, y), (x + 14.0, y))
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
