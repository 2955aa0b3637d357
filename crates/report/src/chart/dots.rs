//! A dot and its interval for each subject, in columns: the picture for servers that were loaded at one place only.

use lab::figure::Unit;
use units::trimmed;

use super::marks::{Way, arrow, both_ways, colour, of_subject, point, short, stroke, text};
use super::scale::{Scale, tick};
use super::signs::{Ceiling, NEAR, noted_series};
use super::{About, Room, Series, Spot, Stand, framed};
use crate::markup::Markup;

/// Columns beside each other; on a phone, below each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dots {
    pub(crate) about: About,
    /// The names of the rows.
    pub(crate) titles: Vec<(usize, String)>,
    pub(crate) columns: Vec<Column>,
    /// What a reader must know to read it.
    pub(crate) note: String,
}

/// One figure of all subjects.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) heading: String,
    pub(crate) unit: Unit,
    pub(crate) is_log: bool,
    /// Its values are ratios: a line stands at 1.
    pub(crate) is_ratio: bool,
    /// Each has one point; in any order, by slot.
    pub(crate) series: Vec<Series>,
    /// A second figure, drawn smaller and quieter.
    pub(crate) thin: Vec<Series>,
    pub(crate) ceiling: Option<Ceiling>,
    /// A script may show the column by factors or from zero, together with all others of this kind.
    pub(crate) way: Option<&'static str>,
}

/// Further than this from the ratios, the ends of intervals are not on the axis.
const WIDEST: f64 = 4.0;
/// The width of a letter of a name, with air behind the last.
const NAME_LETTER: f64 = 8.2;
const ROW: f64 = 24.0;
const HEAD: f64 = 28.0;
const FOOT: f64 = 30.0;
/// The values stand right of the dots.
const VALUE: f64 = 62.0;

/// The room of one column.
#[derive(Clone, Copy)]
struct DotRow {
    names: f64,
    left: f64,
    right: f64,
    top: f64,
}

impl Dots {
    pub(crate) fn svg(&self, room: Room, stand: Stand<'_>) -> Markup {
        let height = HEAD + self.titles.len() as f64 * ROW + FOOT;
        let count = self.columns.len().max(1) as f64;
        let mut drawn = Markup::default();
        for (n, column) in self.columns.iter().enumerate() {
            let n = n as f64;
            let place = match room {
                Room::Wide => {
                    let each = (960.0 - 150.0) / count;
                    let left = 150.0 + n * each;
                    let right = left + each - column.room();
                    DotRow { names: 4.0, left: left + 10.0, right, top: 0.0 }
                }
                Room::Narrow => {
                    let right = 380.0 - column.room();
                    DotRow { names: 4.0, left: 128.0, right, top: n * height }
                }
            };
            if n == 0.0 || room == Room::Narrow {
                drawn.push(&self.names(place));
            }
            drawn.push(&both_ways(column.way, |is_other| {
                self.column(column, place, column.is_log != is_other)
            }));
        }
        let (width, height) = match room {
            Room::Wide => (960.0, height),
            Room::Narrow => (380.0, height * count),
        };
        let way = self.columns.iter().find(|column| column.ceiling.is_some()).and_then(|it| it.way);
        let foot = |is_other| self.foot(width, height, is_other);
        drawn.push(&both_ways(way, |is_other| foot(is_other).0));
        let foot = foot(false).1.max(foot(true).1);
        framed(&self.about, room.class(), (width, foot), stand, &drawn)
    }

    /// The note below all, broken into lines, and where it ends.
    fn foot(&self, width: f64, top: f64, is_other: bool) -> (Markup, f64) {
        /// The width of a letter of a note, a little more than average.
        const LETTER: f64 = 5.6;
        let mut lines: Vec<String> = Vec::new();
        for word in self.noted(is_other).split_whitespace() {
            match lines.last_mut() {
                Some(line) if ((line.len() + word.len()) as f64) * LETTER < width => {
                    line.push(' ');
                    line.push_str(word);
                }
                Some(_) | None => lines.push(word.into()),
            }
        }
        let y = |n: usize| top + 8.0 + n as f64 * 15.0;
        let drawn = |(n, line): (usize, &String)| text("note", "start", (4.0, y(n)), line);
        let bottom = if lines.is_empty() { top } else { y(lines.len()) - 6.0 };
        (lines.iter().enumerate().map(drawn).collect(), bottom)
    }

    /// The note and the legend, drawn by factors or from zero.
    fn noted(&self, is_other: bool) -> String {
        let place = DotRow { names: 0.0, left: 0.0, right: 1.0, top: 0.0 };
        let ceiling = |column: &Column| {
            let high = column.scale(place, column.is_log != is_other).high();
            Some(column.ceiling.as_ref()?.says(column.unit, high))
        };
        let given = (!self.note.is_empty()).then(|| self.note.clone());
        let parts = given.into_iter().chain(self.columns.iter().filter_map(ceiling));
        let parts: Vec<String> = parts.collect();
        noted_series(&parts.join(" · "), self.columns.iter().flat_map(|column| &column.series))
    }

    fn names(&self, place: DotRow) -> Markup {
        let name = |(n, (slot, title)): (usize, &(usize, String))| {
            let at = (place.names, row(place, n) + 4.0);
            let class = format!("name {}", colour(*slot));
            let letters = ((place.left - place.names) / NAME_LETTER) as usize;
            of_subject(*slot, &text(&class, "start", at, &short(title, letters.min(18))))
        };
        self.titles.iter().enumerate().map(name).collect()
    }

    fn column(&self, column: &Column, place: DotRow, is_log: bool) -> Markup {
        let scale = column.scale(place, is_log);
        let bottom = row(place, self.titles.len()) - ROW / 2.0;
        let top = place.top + HEAD - 4.0;
        let mut drawn = text("head", "start", (place.left, place.top + 14.0), &column.heading);
        let longest = letters(&column.tick(scale.high()));
        for value in column.ticks(&scale, longest.max(56.0)) {
            let x = scale.at(value);
            let is_base = value == scale.low() && !column.is_ratio;
            let class = if is_base { "rung base" } else { "rung" };
            drawn.push(&stroke(class, (x, top), (x, bottom)));
            drawn.push(&text("tick", "middle", (x, bottom + 14.0), &column.tick(value)));
        }
        if column.is_ratio {
            drawn.push(&stroke("rung base", (scale.at(1.0), top), (scale.at(1.0), bottom)));
        }
        let ceiling = column.ceiling.iter().flat_map(|ceiling| ceiling.below(scale.high()));
        for spot in ceiling {
            let x = scale.at(spot.value);
            drawn.push(&stroke("ceiling", (x, top), (x, bottom)));
        }
        for (n, (slot, _)) in self.titles.iter().enumerate() {
            drawn.push(&of_subject(*slot, &column.row(*slot, place, row(place, n), &scale)));
        }
        drawn
    }
}

impl Column {
    /// The room that its values take at the right.
    fn room(&self) -> f64 {
        let spots = self.series.iter().flat_map(|series| &series.points);
        spots.map(|spot| letters(shown(spot))).fold(VALUE, f64::max)
    }

    fn tick(&self, value: f64) -> String {
        if self.is_ratio { format!("{}×", trimmed(value, 4)) } else { tick(self.unit, value) }
    }

    /// Of ratios the ends, which are round, and no difference: a reader sees how far the axis reaches.
    fn ticks(&self, scale: &Scale, apart: f64) -> Vec<f64> {
        if self.is_ratio { vec![scale.low(), 1.0, scale.high()] } else { scale.ticks(apart) }
    }

    /// The values, with as much of their intervals as does not squeeze them into a dot, and what is near to no difference.
    fn ratios(&self, place: DotRow) -> Scale {
        let spots = || self.series.iter().flat_map(|series| &series.points);
        let values = || spots().map(|spot| spot.value).chain([0.8, 1.25]);
        let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
        let ends = spots().filter_map(|spot| spot.interval).flat_map(|(low, high)| [low, high]);
        let ends = ends.map(|end| end.clamp(least / WIDEST, most * WIDEST));
        Scale::log(&values().chain(ends).collect::<Vec<f64>>(), place.left, place.right)
    }

    fn scale(&self, place: DotRow, is_log: bool) -> Scale {
        if self.is_ratio {
            return self.ratios(place);
        }
        let all = self.series.iter().chain(&self.thin);
        let mut values: Vec<f64> =
            all.flat_map(|series| series.points.iter().map(|spot| spot.value)).collect();
        let most = values.iter().copied().fold(0.0, f64::max);
        let ends = self.series.iter().flat_map(Series::ends);
        values.extend(ends.filter(|end| *end <= NEAR * most));
        let ceiling = self.ceiling.iter().flat_map(|it| &it.spots).map(|spot| spot.value);
        values.extend(ceiling.filter(|value| is_log || *value <= NEAR * most));
        let scale = if is_log { Scale::log } else { Scale::linear };
        scale(&values, place.left, place.right)
    }

    fn row(&self, slot: usize, place: DotRow, y: f64, scale: &Scale) -> Markup {
        let mut drawn = Markup::default();
        let thin = self.thin.iter().filter(|series| series.slot == slot);
        for spot in thin.flat_map(|series| &series.points) {
            let x = scale.at(spot.value);
            let class = format!("line {}", colour(slot));
            drawn.push(&stroke(&class, (x, y - 6.0), (x, y + 6.0)));
        }
        let series = self.series.iter().find(|series| series.slot == slot);
        let Some((series, spot)) = series.and_then(|found| Some((found, found.points.first()?)))
        else {
            drawn.push(&text("note", "start", (place.left + 6.0, y + 4.0), "not measured"));
            return drawn;
        };
        if let Some((low, high)) = spot.interval {
            let class = format!("bar {}", colour(slot));
            drawn.push(&stroke(&class, (scale.at(low), y), (scale.at(high), y)));
            if low < scale.low() {
                drawn.push(&arrow(&colour(slot), (place.left, y), Way::Left));
            }
            if scale.high() < high {
                drawn.push(&arrow(&colour(slot), (place.right, y), Way::Right));
            }
        }
        let says = format!("{}: {}", series.title, spot.says);
        drawn.push(&point(slot, spot.trust, (scale.at(spot.value), y), &says));
        drawn.push(&text("value", "start", (place.right + 9.0, y + 4.0), shown(spot)));
        drawn
    }
}

/// The text beside its mark: without the words that are shown on pointing at it.
fn shown(spot: &Spot) -> &str {
    spot.says.split(' ').next().unwrap_or_default()
}

/// The width of a text, with air on both sides.
fn letters(text: &str) -> f64 {
    text.chars().count() as f64 * 6.4 + 14.0
}

fn row(place: DotRow, n: usize) -> f64 {
    place.top + HEAD + n as f64 * ROW + ROW / 2.0
}
