//! What small charts share: they are drawn once, and a page lays them out beside each other.

use super::marks::{colour, pair, text};
use super::scale::{Scale, tick};
use super::{About, STYLE, Stand, framed};
use crate::markup::{Markup, markup};
use lab::figure::Unit;

/// Bars, heat and traces, for a page and for a chart that stands alone.
pub(crate) const SMALL_STYLE: &str = include_str!("small.css");

/// All of it in one subject's colour.
pub(super) fn of_subject(slot: usize, inside: &Markup) -> Markup {
    markup!("<g class=\"{}\" data-s=\"{}\">\n{}</g>\n", colour(slot), slot, inside)
}

/// The chart's frame. Alone, it brings its colours with it.
pub(super) fn small(
    about: &About,
    class: &str,
    size: (f64, f64),
    is_alone: bool,
    inside: &Markup,
) -> Markup {
    let style = is_alone.then(|| [STYLE, SMALL_STYLE].map(Markup::fixed).into_iter().collect());
    let stand = style.as_ref().map_or(Stand::Page, |style| Stand::Alone { style, notes: &[] });
    framed(about, &format!("small{class}"), size, stand, inside)
}

/// A small chart's title, and below it a note at this height.
pub(super) fn titled(says: &str, note: &str, y: f64) -> Markup {
    let title = text("title", "start", (2.0, 13.0), says);
    markup!("{}{}", title, text("note", "start", (2.0, y), note))
}

/// A line in as many pieces as there are runs of values without a gap.
pub(super) fn trace(class: &str, places: &[Option<(f64, f64)>]) -> Markup {
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
    drawn(class, &path)
}

fn drawn(class: &str, path: &str) -> Markup {
    match path {
        "" => Markup::default(),
        path => markup!("<path class=\"{}\" d=\"{}\"/>\n", class, path),
    }
}

/// Columns that stand on a line: left, right and top of each.
pub(super) fn columns(class: &str, bottom: f64, columns: &[(f64, f64, f64)]) -> Markup {
    let column = |&(left, right, top): &(f64, f64, f64)| {
        // Slightly wider, so that no paper shows between neighbours.
        let (width, height) = ((right - left).max(0.4) + 0.2, bottom - top);
        format!("M{left:.1} {bottom:.1}v-{height:.1}h{width:.1}v{height:.1}z")
    };
    drawn(class, &columns.iter().map(column).collect::<String>())
}

/// The area between two lines.
pub(super) fn area(class: &str, top: &[(f64, f64)], bottom: &[(f64, f64)]) -> Markup {
    if top.len() < 2 {
        return Markup::default();
    }
    let around = top.iter().chain(bottom.iter().rev());
    let points: Vec<String> = around.map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    drawn(class, &format!("M{}z", points.join("L")))
}

/// The values of the axis below.
pub(super) fn below(scale: &Scale, unit: Unit, apart: f64, y: f64) -> Markup {
    let label = |value: f64| {
        let x = scale.at(value);
        let name = text("tick", "middle", (x, y + 16.0), &tick(unit, value));
        markup!("{}{}", drawn("base", &format!("M{x:.1} {y:.1}v4")), name)
    };
    scale.ticks(apart).into_iter().map(label).collect()
}

/// An invisible mark whose text shows when it is pointed at.
pub(super) fn said(at: (f64, f64), class: &str, radius: f64, says: &str) -> Markup {
    markup!(
        "<circle class=\"mark {}\"{} r=\"{}\"><title>{}</title></circle>\n",
        class,
        pair(["cx", "cy"], at),
        radius,
        says
    )
}
