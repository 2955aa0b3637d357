//! What small charts share: they are drawn once, and a page lays them out beside each other.

use super::marks::{colour, text};
use super::scale::{Scale, tick};
use super::{About, STYLE};
use crate::markup::escaped;
use lab::figure::Unit;

/// Bars, heat and traces, for a page and for a chart that stands alone.
pub(crate) const SMALL_STYLE: &str = include_str!("small.css");

/// All of it in one subject's colour.
pub(super) fn of_subject(slot: usize, inside: &str) -> String {
    format!("<g class=\"{}\" data-s=\"{slot}\">\n{inside}</g>\n", colour(slot))
}

/// The chart's frame. Alone, it brings its colours with it.
pub(super) fn small(
    about: &About,
    class: &str,
    (width, height): (f64, f64),
    is_alone: bool,
    inside: &str,
) -> String {
    let (title, description) = (escaped(&about.title), escaped(&about.description));
    let style = if is_alone {
        format!(
            "<style>{STYLE}{SMALL_STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>\n"
        )
    } else {
        String::new()
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"small{class}\" role=\"img\" viewBox=\"0 0 {width} {height:.0}\" \
         width=\"{width}\" height=\"{height:.0}\">\n<title>{title}</title>\n<desc>{description}</desc>\n{style}{inside}</svg>\n"
    )
}

/// A line in as many pieces as there are runs of values without a gap.
pub(super) fn trace(class: &str, places: &[Option<(f64, f64)>]) -> String {
    let pieces = places.split(Option::is_none).filter(|piece| !piece.is_empty());
    let mut path = String::new();
    for piece in pieces {
        for (n, (x, y)) in piece.iter().flatten().enumerate() {
            path.push_str(&format!("{}{x:.1} {y:.1}", if n == 0 { "M" } else { "L" }));
        }
        // A value alone between two gaps would have no length.
        if piece.len() == 1 {
            path.push_str("h1");
        }
    }
    if path.is_empty() { path } else { format!("<path class=\"{class}\" d=\"{path}\"/>\n") }
}

/// Columns that stand on a line: left, right and top of each.
pub(super) fn columns(class: &str, bottom: f64, columns: &[(f64, f64, f64)]) -> String {
    let column = |&(left, right, top): &(f64, f64, f64)| {
        // Slightly wider, so that no paper shows between neighbours.
        let (width, height) = ((right - left).max(0.4) + 0.2, bottom - top);
        format!("M{left:.1} {bottom:.1}v-{height:.1}h{width:.1}v{height:.1}z")
    };
    let path: String = columns.iter().map(column).collect();
    if path.is_empty() { path } else { format!("<path class=\"{class}\" d=\"{path}\"/>\n") }
}

/// The area between two lines.
pub(super) fn area(class: &str, top: &[(f64, f64)], bottom: &[(f64, f64)]) -> String {
    if top.len() < 2 {
        return String::new();
    }
    let around = top.iter().chain(bottom.iter().rev());
    let points: Vec<String> = around.map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    format!("<path class=\"{class}\" d=\"M{}z\"/>\n", points.join("L"))
}

/// The values of the axis below.
pub(super) fn below(scale: &Scale, unit: Unit, apart: f64, y: f64) -> String {
    let label = |value: f64| {
        let x = scale.at(value);
        format!("<path class=\"base\" d=\"M{x:.1} {y:.1}v4\"/>\n")
            + &text("tick", "middle", (x, y + 16.0), &tick(unit, value))
    };
    scale.ticks(apart).into_iter().map(label).collect()
}

/// An invisible mark whose text shows when it is pointed at.
pub(super) fn said(at: (f64, f64), class: &str, radius: f64, says: &str) -> String {
    format!(
        "<circle class=\"mark {class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{}</title></circle>\n",
        at.0,
        at.1,
        escaped(says)
    )
}
