//! Values with their intervals: a row for each server or figure, over an axis that all rows share.

use lab::figure::Unit;
use units::trimmed;

use super::marks::{
    Way, arrow, both_ways, colour, key, mark, notes, of_subject, pair, point, said, short, stroke,
    text,
};
use super::scale::{Scale, tick};
use super::signs::{BEYOND, Ceiling, NEAR, legend};
use super::{About, Room, Stand, Trust, framed};
use crate::markup::{Markup, markup};

/// Columns beside each other; on a phone, below each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    pub(crate) about: About,
    /// From the top.
    pub(crate) names: Vec<Name>,
    pub(crate) columns: Vec<Column>,
    /// What a reader must know to read it.
    pub(crate) note: String,
    /// What the bars are, if there are any.
    pub(crate) bars: &'static str,
}

/// A row's name, and the subject to which the row belongs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Name {
    pub(crate) slot: Option<usize>,
    pub(crate) title: String,
}

/// One figure of all rows.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) heading: String,
    pub(crate) axis: Axis,
    /// One for each row.
    pub(crate) values: Vec<Value>,
    /// Values that the axis must include.
    pub(crate) includes: Vec<f64>,
    pub(crate) ceiling: Option<Ceiling>,
    /// From one value to another.
    pub(crate) shaded: Option<(f64, f64)>,
    /// A script may show the column by factors or from zero, together with all others of this kind.
    pub(crate) way: Option<&'static str>,
}

/// What an axis counts, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Axis {
    FromZero(Unit),
    ByFactors(Unit),
    /// By factors, with a line at 1.
    Ratio,
}

/// What a row shows in a column.
#[derive(Clone, Debug, Default)]
pub(crate) struct Value {
    /// None where it was not measured, or where only its interval is known, which then has strokes at its ends.
    pub(crate) value: Option<f64>,
    /// An end that is open is infinite.
    pub(crate) interval: Option<(f64, f64)>,
    /// Another value, which is a stroke, with the text that shows when it is pointed at.
    pub(crate) second: Option<(f64, String)>,
    pub(crate) trust: Trust,
    /// The class of its colour, if that is not its subject's.
    pub(crate) tone: Option<&'static str>,
    /// The text at the end of the row.
    pub(crate) shown: String,
    /// The text that shows when the value is pointed at; it stands in the place of a value that is not there.
    pub(crate) says: String,
}

/// Further than this from the ratios, the ends of intervals are not on the axis.
const WIDEST: f64 = 4.0;
/// The width of a letter of a name.
const NAME_LETTER: f64 = 7.4;
const ROW: f64 = 24.0;
const HEAD: f64 = 28.0;
const FOOT: f64 = 30.0;
/// The room of the texts right of the rows, at least.
const SHOWN: f64 = 62.0;

/// The paper of one column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) left: f64,
    pub(super) right: f64,
    top: f64,
}

impl Rows {
    pub(crate) fn svg(&self, room: Room, stand: Stand<'_>) -> Markup {
        let (mut drawn, bottom) = self.drawn(room);
        let (foot, bottom) = self.foot(room, bottom);
        drawn.push(&foot);
        framed(&self.about, room, bottom, stand, &drawn)
    }

    /// Names and columns, and where they end.
    pub(super) fn drawn(&self, room: Room) -> (Markup, f64) {
        let mut drawn = Markup::default();
        for (n, column) in self.columns.iter().enumerate() {
            let place = self.place(room, n);
            if n == 0 || room != Room::Wide {
                drawn.push(&self.names(place));
            }
            drawn.push(&both_ways(column.way, |is_other| self.column(column, place, is_other)));
        }
        let last = self.place(room, self.columns.len().max(1) - 1);
        (drawn, last.top + self.height())
    }

    fn height(&self) -> f64 {
        HEAD + self.names.len() as f64 * ROW + FOOT
    }

    pub(super) fn place(&self, room: Room, n: usize) -> Place {
        let names = self.names_width(room);
        let shown = self.columns.get(n).map_or(SHOWN, Column::shown_width);
        match room {
            Room::Wide => {
                let each = (room.width() - names) / self.columns.len().max(1) as f64;
                let left = names + n as f64 * each;
                Place { left: left + 10.0, right: left + each - shown, top: 0.0 }
            }
            Room::Narrow | Room::Small(_) => Place {
                left: names + 4.0,
                right: room.width() - shown,
                top: n as f64 * self.height(),
            },
        }
    }

    fn names_width(&self, room: Room) -> f64 {
        let most = if room == Room::Wide { 32 } else { 15 };
        let longest = self.names.iter().map(|name| name.title.chars().count()).max().unwrap_or(0);
        self.names_left() + longest.clamp(8, most) as f64 * NAME_LETTER + 8.0
    }

    /// Where no mark in the row shows the subject's shape, it stands before the name.
    fn names_left(&self) -> f64 {
        let is_bare = |value: &Value| value.value.is_none() && value.interval.is_some();
        if self.columns.iter().flat_map(|column| &column.values).any(is_bare) { 22.0 } else { 4.0 }
    }

    fn names(&self, place: Place) -> Markup {
        let left = self.names_left();
        let letters = ((place.left - left - 8.0) / NAME_LETTER).round() as usize;
        let names = self.names.iter().enumerate().map(|(n, Name { slot, title })| {
            let y = place.row(n);
            let title = short(title, letters);
            let name = |class: &str| text(class, "start", (left, y + 4.0), &title);
            let Some(slot) = *slot else { return name("label") };
            let key = (10.0 < left).then(|| key(slot, (10.0, y)));
            of_subject(slot, &markup!("{}{}", key, name(&format!("name {}", colour(slot)))))
        });
        names.collect()
    }

    fn column(&self, column: &Column, place: Place, is_other: bool) -> Markup {
        let scale = column.scale(place, is_other);
        let bottom = place.row(self.names.len()) - ROW / 2.0;
        let top = place.top + HEAD - 4.0;
        let upright = |class: &str, x: f64| stroke(class, (x, top), (x, bottom));
        let mut drawn = text("head", "start", (place.left, place.top + 14.0), &column.heading);
        if let Some((low, high)) = column.shaded {
            let (left, right) = (scale.at(low), scale.at(high));
            drawn.push(&markup!(
                "<rect class=\"tolerance\"{}{}/>\n",
                pair(["x", "y"], (left, top)),
                pair(["width", "height"], ((right - left).max(0.0), bottom - top))
            ));
        }
        for value in column.ticks(&scale) {
            let x = scale.at(value);
            let is_base = value == scale.low() && column.axis != Axis::Ratio;
            drawn.push(&upright(if is_base { "rung base" } else { "rung" }, x));
            drawn.push(&text("tick", "middle", (x, bottom + 14.0), &column.tick(value)));
        }
        if column.axis == Axis::Ratio {
            drawn.push(&upright("rung base", scale.at(1.0)));
        }
        for spot in column.ceiling.iter().flat_map(|ceiling| ceiling.below(scale.high())) {
            drawn.push(&upright("ceiling", scale.at(spot.value)));
        }
        for (n, (name, value)) in self.names.iter().zip(&column.values).enumerate() {
            let row = value.drawn(name, place, place.row(n), &scale);
            drawn.push(&match name.slot {
                Some(slot) => of_subject(slot, &row),
                None => markup!("<g class=\"row\">{}</g>\n", row),
            });
        }
        drawn
    }

    /// The note and the legend below all, and where they end.
    pub(super) fn foot(&self, room: Room, top: f64) -> (Markup, f64) {
        let way = self.columns.iter().find(|column| column.ceiling.is_some());
        let feet = [false, true]
            .map(|is_other| notes((4.0, top + 8.0), &self.noted(is_other), room.width()));
        let bottom = feet.iter().map(|(_, bottom)| *bottom).fold(top, f64::max);
        let foot = |is_other| feet[usize::from(is_other)].0.clone();
        (both_ways(way.and_then(|column| column.way), foot), bottom)
    }

    fn noted(&self, is_other: bool) -> String {
        let place = Place { left: 0.0, right: 1.0, top: 0.0 };
        let ceiling = |column: &Column| {
            let high = column.scale(place, is_other).high();
            Some(column.ceiling.as_ref()?.says(column.unit()?, high))
        };
        let values = || self.columns.iter().flat_map(|column| &column.values);
        let is_bare = |value: &&Value| value.value.is_none() && value.interval.is_some();
        let bars = values().any(|value| value.interval.is_some()).then(|| self.bars.to_string());
        let is_beyond = |column: &Column| column.has_arrows(&column.scale(place, is_other));
        let beyond = self.columns.iter().any(is_beyond).then(|| BEYOND.to_string());
        let is_dashed = values().filter(is_bare).any(|value| value.trust != Trust::Full);
        let dashed = is_dashed.then(|| "dashed: in doubt".to_string());
        let given = std::iter::once(self.note.clone());
        let ceilings = self.columns.iter().filter_map(ceiling);
        let drawn = values().filter(|value| value.value.is_some());
        let parts = given.chain(ceilings).chain(bars).chain(beyond).chain(dashed);
        legend(parts, drawn.map(|value| value.trust))
    }
}

impl Place {
    /// The middle of a row.
    fn row(self, n: usize) -> f64 {
        self.top + HEAD + (n as f64 + 0.5) * ROW
    }
}

impl Column {
    /// With nothing beside the values.
    pub(crate) fn new(heading: impl Into<String>, axis: Axis, values: Vec<Value>) -> Column {
        Column {
            heading: heading.into(),
            axis,
            values,
            includes: Vec::new(),
            ceiling: None,
            shaded: None,
            way: None,
        }
    }

    /// None: a ratio.
    fn unit(&self) -> Option<Unit> {
        match self.axis {
            Axis::FromZero(unit) | Axis::ByFactors(unit) => Some(unit),
            Axis::Ratio => None,
        }
    }

    /// Whether an interval leaves the axis.
    fn has_arrows(&self, scale: &Scale) -> bool {
        let mut intervals = self.values.iter().filter_map(|value| value.interval);
        intervals.any(|(low, high)| low < scale.low() || scale.high() < high)
    }

    /// The room that the texts take right of the rows.
    fn shown_width(&self) -> f64 {
        self.values.iter().map(|value| width(&value.shown)).fold(SHOWN, f64::max)
    }

    fn tick(&self, value: f64) -> String {
        self.unit().map_or_else(|| format!("{}×", trimmed(value, 4)), |unit| tick(unit, value))
    }

    /// Of ratios, where there is no room for more, the ends and no difference: a reader sees how far the axis reaches.
    fn ticks(&self, scale: &Scale) -> Vec<f64> {
        let (low, high) = (scale.low(), scale.high());
        let ticks = scale.ticks(width(&self.tick(high)).max(56.0));
        let is_whole = [low, 1.0, high].iter().all(|end| ticks.contains(end));
        if self.axis == Axis::Ratio && !is_whole { vec![low, 1.0, high] } else { ticks }
    }

    /// All values, and as much of their intervals as does not squeeze them into a dot.
    pub(super) fn scale(&self, place: Place, is_other: bool) -> Scale {
        let both = |value: &Value| [value.value, value.second.as_ref().map(|second| second.0)];
        let mut values: Vec<f64> = self.values.iter().flat_map(both).flatten().collect();
        values.extend(&self.includes);
        if self.axis == Axis::Ratio {
            // What is near to no difference is always on the axis.
            values.extend([0.8, 1.25]);
        }
        let (least, most) = (
            values.iter().copied().fold(f64::MAX, f64::min),
            values.iter().copied().fold(0.0, f64::max),
        );
        let ends = self.values.iter().filter_map(|value| value.interval);
        let ceiling = self.ceiling.iter().flat_map(|it| &it.spots).map(|spot| spot.value);
        let is_log = match self.axis {
            Axis::Ratio => {
                let ends = ends.flat_map(|(low, high)| [low, high]);
                values.extend(ends.map(|end| end.clamp(least / WIDEST, most * WIDEST)));
                return Scale::log(&values, place.left, place.right);
            }
            Axis::FromZero(_) => is_other,
            Axis::ByFactors(_) => !is_other,
        };
        values.extend(ends.map(|(_, high)| high).filter(|end| *end <= NEAR * most));
        values.extend(ceiling.filter(|value| is_log || *value <= NEAR * most));
        let scale = if is_log { Scale::log } else { Scale::linear };
        scale(&values, place.left, place.right)
    }
}

impl Name {
    /// A subject's.
    pub(crate) fn of(slot: usize, title: &str) -> Name {
        Name { slot: Some(slot), title: title.into() }
    }
}

impl Value {
    /// Where nothing was measured: the text says so in its place.
    pub(crate) fn absent(says: impl Into<String>) -> Value {
        Value { says: says.into(), ..Value::default() }
    }

    fn drawn(&self, name: &Name, place: Place, y: f64, scale: &Scale) -> Markup {
        let slot = name.slot.unwrap_or_default();
        let class = self.tone.map_or_else(|| colour(slot), Into::into);
        let says = format!("{}: {}", name.title, self.says);
        let mut drawn = Markup::default();
        if let Some(interval) = self.interval {
            drawn.push(&self.interval(interval, &class, place, y, scale));
        }
        if let Some((second, second_says)) = &self.second {
            let x = scale.at(*second);
            drawn.push(&stroke(&format!("then {class}"), (x, y - 6.0), (x, y + 6.0)));
            drawn.push(&said((x, y), 7.0, &format!("{}: {second_says}", name.title)));
        }
        match (self.value, self.interval) {
            (Some(value), _) if self.tone.is_some() => {
                drawn.push(&mark(&class, slot, self.trust, (scale.at(value), y), &says));
            }
            (Some(value), _) => {
                drawn.push(&point(slot, self.trust, (scale.at(value), y), &says));
            }
            (None, Some((low, high))) => {
                let middle = f64::midpoint(scale.at(low), scale.at(high));
                drawn.push(&said((middle, y), 9.0, &says));
            }
            (None, None) => {
                let left = if self.second.is_some() { place.right } else { place.left + 6.0 };
                let anchor = if self.second.is_some() { "end" } else { "start" };
                drawn.push(&text("note", anchor, (left, y + 4.0), &self.says));
            }
        }
        drawn.push(&text("value", "start", (place.right + 9.0, y + 4.0), &self.shown));
        drawn
    }

    /// A bar; an end that is not on the axis is an arrow.
    fn interval(
        &self,
        (low, high): (f64, f64),
        class: &str,
        place: Place,
        y: f64,
        scale: &Scale,
    ) -> Markup {
        let is_bare = self.value.is_none();
        let bar = if is_bare && self.trust != Trust::Full { "past" } else { "bar" };
        let (from, to) = (scale.at(low), scale.at(high));
        let mut drawn = stroke(&format!("{bar} {class}"), (from, y), (to, y));
        let end = |x: f64| stroke(&format!("line {class}"), (x, y - 7.0), (x, y + 7.0));
        if low < scale.low() {
            drawn.push(&arrow(class, (place.left, y), Way::Left));
        } else if is_bare {
            drawn.push(&end(from));
        }
        if scale.high() < high {
            drawn.push(&arrow(class, (place.right, y), Way::Right));
        } else if is_bare {
            drawn.push(&end(to));
        }
        drawn
    }
}

/// The width of a text, with air on both sides.
fn width(text: &str) -> f64 {
    text.chars().count() as f64 * 6.4 + 14.0
}
