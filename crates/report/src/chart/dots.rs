//! A dot and its interval for each subject, in columns: what there is to draw where all were pressed at one place.

use lab::figure::Unit;

use super::marks::{colour, point, short, stroke, text};
use super::scale::{Scale, tick};
use super::{About, Room, Series, framed};

/// Columns beside each other; on a phone below each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dots {
    pub(crate) about: About,
    /// The names of the rows.
    pub(crate) titles: Vec<(usize, String)>,
    pub(crate) columns: Vec<Column>,
}

/// One figure of all subjects.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) heading: String,
    pub(crate) unit: Unit,
    pub(crate) is_log: bool,
    /// Each has one point; in any order, by slot.
    pub(crate) series: Vec<Series>,
    /// A second one, smaller and quieter.
    pub(crate) thin: Vec<Series>,
}

const ROW: f64 = 24.0;
const HEAD: f64 = 28.0;
const FOOT: f64 = 30.0;
/// The values stand right of the dots.
const VALUE: f64 = 62.0;

/// The room of one column.
#[derive(Clone, Copy)]
struct Place {
    names: f64,
    left: f64,
    right: f64,
    top: f64,
}

impl Dots {
    pub(crate) fn svg(&self, room: Room, is_alone: bool) -> String {
        let height = HEAD + self.titles.len() as f64 * ROW + FOOT;
        let count = self.columns.len().max(1) as f64;
        let mut drawn = String::new();
        for (n, column) in self.columns.iter().enumerate() {
            let n = n as f64;
            let place = match room {
                Room::Wide => {
                    let each = (800.0 - 140.0) / count;
                    let left = 140.0 + n * each;
                    Place { names: 4.0, left: left + 10.0, right: left + each - VALUE, top: 0.0 }
                }
                Room::Narrow => {
                    Place { names: 4.0, left: 128.0, right: 380.0 - VALUE, top: n * height }
                }
            };
            if n == 0.0 || room == Room::Narrow {
                drawn.push_str(&self.names(place));
            }
            drawn.push_str(&self.column(column, place));
        }
        let (width, height) = match room {
            Room::Wide => (800.0, height),
            Room::Narrow => (380.0, height * count),
        };
        framed(&self.about, width, height, room, is_alone, &drawn)
    }

    fn names(&self, place: Place) -> String {
        let name = |(n, (slot, title)): (usize, &(usize, String))| {
            let y = row(place, n) + 4.0;
            text(&format!("name {}", colour(*slot)), "start", (place.names, y), &short(title, 18))
        };
        self.titles.iter().enumerate().map(name).collect()
    }

    fn column(&self, column: &Column, place: Place) -> String {
        let values: Vec<f64> = column
            .series
            .iter()
            .chain(&column.thin)
            .flat_map(|series| series.points.iter().map(|spot| spot.value))
            .collect();
        let scale = if column.is_log { Scale::log } else { Scale::linear };
        let scale = scale(&values, place.left, place.right);
        let bottom = row(place, self.titles.len()) - ROW / 2.0;
        let mut drawn = text("head", "start", (place.left, place.top + 14.0), &column.heading);
        for value in scale.ticks(56.0) {
            let x = scale.at(value);
            let class = if value == scale.low() { "rung base" } else { "rung" };
            drawn.push_str(&stroke(class, (x, place.top + HEAD - 4.0), (x, bottom)));
            drawn.push_str(&text("tick", "middle", (x, bottom + 14.0), &tick(column.unit, value)));
        }
        for (n, (slot, _)) in self.titles.iter().enumerate() {
            let y = row(place, n);
            let thin = column.thin.iter().filter(|series| series.slot == *slot);
            for spot in thin.flat_map(|series| &series.points) {
                let x = scale.at(spot.value);
                let class = format!("line {}", colour(*slot));
                drawn.push_str(&stroke(&class, (x, y - 6.0), (x, y + 6.0)));
            }
            let series = column.series.iter().find(|series| series.slot == *slot);
            match series.and_then(|series| Some((series, series.points.first()?))) {
                None => drawn.push_str(&text(
                    "note",
                    "start",
                    (place.left + 6.0, y + 4.0),
                    "not measured",
                )),
                Some((series, spot)) => {
                    if let Some((low, high)) = spot.interval {
                        let class = format!("bar {}", colour(*slot));
                        drawn.push_str(&stroke(&class, (scale.at(low), y), (scale.at(high), y)));
                    }
                    let says = format!("{}: {}", series.title, spot.says);
                    let at = (scale.at(spot.value), y);
                    drawn.push_str(&point(*slot, spot.is_doubtful, at, &says));
                    let shown = spot.says.split(' ').next().unwrap_or_default();
                    drawn.push_str(&text("value", "start", (place.right + 9.0, y + 4.0), shown));
                }
            }
        }
        drawn
    }
}

fn row(place: Place, n: usize) -> f64 {
    place.top + HEAD + n as f64 * ROW + ROW / 2.0
}
