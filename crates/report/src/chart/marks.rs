//! What a chart is drawn with: lines with bands, points with marks of their own, an axis; and labels that keep apart.

use super::Trust;
use super::scale::{Scale, tick};
use crate::markup::{Markup, markup};
use lab::figure::Unit;

/// How many colours there are; after that they begin again, with other marks.
const COLOURS: usize = 8;
const MARKS: usize = 8;
/// How many ways a line can be broken.
const DASHES: usize = 3;

/// A subject's class of colour.
pub(crate) fn colour(slot: usize) -> String {
    format!("s{}", slot % COLOURS)
}

/// The class of a line of this colour, broken in this way.
pub(crate) fn dashed(slot: usize, dash: usize) -> String {
    match dash {
        0 => colour(slot),
        broken => format!("{} d{}", colour(slot), (broken - 1) % DASHES),
    }
}

/// A line through points on paper. One point alone has a short line, because it would not be seen.
pub(crate) fn line(class: &str, places: &[(f64, f64)]) -> Markup {
    match places {
        [] => Markup::default(),
        [(x, y)] => line(class, &[(*x, *y), (x + 1.0, *y)]),
        many => markup!("<polyline class=\"{}\" points=\"{}\"/>\n", class, points(many)),
    }
}

/// The area between two lines; where these have one place only, a bar.
pub(super) fn band(class: &str, low: &[(f64, f64)], high: &[(f64, f64)]) -> Markup {
    let around: Vec<(f64, f64)> = low.iter().chain(high.iter().rev()).copied().collect();
    match low.len() {
        0 => Markup::default(),
        1 => line(&format!("{class} bar"), &around),
        _ => markup!("<polygon class=\"{}\" points=\"{}\"/>\n", class, points(&around)),
    }
}

/// Columns, each with its left, right, top and bottom.
pub(super) fn columns(class: &str, columns: &[(f64, f64, f64, f64)]) -> Markup {
    let column = |&(left, right, top, bottom): &(f64, f64, f64, f64)| {
        // Slightly wider, so that no paper shows between neighbours.
        let (width, height) = ((right - left).max(0.4) + 0.2, bottom - top);
        format!("M{left:.1} {bottom:.1}v-{height:.1}h{width:.1}v{height:.1}z")
    };
    let path: String = columns.iter().map(column).collect();
    match path.as_str() {
        "" => Markup::default(),
        path => markup!("<path class=\"{}\" d=\"{}\"/>\n", class, path),
    }
}

fn points(places: &[(f64, f64)]) -> String {
    let mut texts: Vec<String> =
        places.iter().map(|(x, y)| format!("{},{}", tenths(*x), tenths(*y))).collect();
    texts.dedup();
    texts.join(" ")
}

/// A place on paper, to a tenth, and no longer than it must be.
fn tenths(place: f64) -> String {
    let text = format!("{place:.1}");
    text.strip_suffix(".0").map_or(text.clone(), Into::into)
}

/// A subject's point as it can be trusted. Its text shows when it is pointed at.
pub(crate) fn point(slot: usize, trust: Trust, place: (f64, f64), says: &str) -> Markup {
    mark(&colour(slot), slot, trust, place, says)
}

/// A point in this class's colour, with the shape of a slot.
pub(super) fn mark(
    class: &str,
    slot: usize,
    trust: Trust,
    place: (f64, f64),
    says: &str,
) -> Markup {
    let hollow = if trust == Trust::Full { "" } else { " hollow" };
    let title = markup!("<title>{}</title>", says);
    let mark = shape(&format!("{class} mark{hollow}"), slot, place, &title);
    let cross = (trust == Trust::Invalid).then(|| cross(class, place));
    markup!("{}\n{}", mark, cross)
}

/// An invisible mark whose text shows when it is pointed at.
pub(super) fn said(place: (f64, f64), radius: f64, says: &str) -> Markup {
    markup!(
        "<circle class=\"mark touch\"{} r=\"{}\"><title>{}</title></circle>\n",
        pair(["cx", "cy"], place),
        radius,
        says
    )
}

fn cross(class: &str, (x, y): (f64, f64)) -> Markup {
    const ARM: f64 = 6.0;
    let class = format!("line {class}");
    let arm = |rise: f64| stroke(&class, (x - ARM, y - rise), (x + ARM, y + rise));
    markup!("{}{}", arm(ARM), arm(-ARM))
}

/// A subject's mark beside its name, which is no value.
pub(crate) fn key(slot: usize, place: (f64, f64)) -> Markup {
    shape(&format!("{} key", colour(slot)), slot, place, &Markup::default())
}

fn shape(class: &str, slot: usize, (x, y): (f64, f64), inside: &Markup) -> Markup {
    let shape = match (slot + slot / COLOURS) % MARKS {
        0 => "M-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z",
        1 => "M-3.3 -3.3h6.6v6.6h-6.6z",
        2 => "M0 -4.4L4.1 3H-4.1z",
        3 => "M0 -4.7L4.7 0L0 4.7L-4.7 0z",
        4 => "M0 4.4L4.1 -3H-4.1z",
        5 => "M-1.4 -4.2h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8v-2.8h2.8z",
        6 => "M-4.4 -1.9h8.8v3.8h-8.8z",
        _ => "M-1.9 -4.4h3.8v8.8h-3.8z",
    };
    markup!(
        "<path class=\"{}\" transform=\"translate({} {})\" d=\"{}\">{}</path>",
        class,
        tenths(x),
        tenths(y),
        shape,
        inside
    )
}

/// Everything that belongs to a subject: a page's script shows, hides and highlights it in all charts at once.
pub(crate) fn of_subject(slot: usize, drawn: &Markup) -> Markup {
    match drawn.is_empty() {
        true => Markup::default(),
        false => markup!("<g data-s=\"{}\">{}</g>\n", slot, drawn),
    }
}

/// A drawing that may stand by factors or from zero: first as given, then the other way, which only a script shows.
pub(crate) fn both_ways(kind: Option<&str>, draw: impl Fn(bool) -> Markup) -> Markup {
    match kind {
        None => draw(false),
        Some(kind) => markup!(
            "<g class=\"stated\" data-way=\"{0}\">\n{1}</g>\n<g class=\"other\" data-way=\"{0}\">\n{2}</g>\n",
            kind,
            draw(false),
            draw(true)
        ),
    }
}

/// Two attributes of an element: the place of something, or its size.
pub(crate) fn pair(names: [&str; 2], (one, other): (f64, f64)) -> Markup {
    markup!(" {}=\"{}\" {}=\"{}\"", names[0], tenths(one), names[1], tenths(other))
}

/// A text; `anchor` is `start`, `middle` or `end`.
pub(crate) fn text(class: &str, anchor: &str, place: (f64, f64), says: &str) -> Markup {
    if says.is_empty() {
        return Markup::default();
    }
    let at = pair(["x", "y"], place);
    markup!("<text class=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", class, anchor, at, says)
}

/// A panel's heading, and beside it a note about the panel.
pub(crate) fn heading(place: (f64, f64), says: &str, note: &str) -> Markup {
    let beside = || markup!("<tspan class=\"note\" dx=\"9\">{}</tspan>", note);
    let note = (!note.is_empty()).then(beside);
    markup!("<text class=\"head\"{}>{}{}</text>\n", pair(["x", "y"], place), says, note)
}

/// A note, broken into lines that fit, and where these end.
pub(crate) fn notes((x, y): (f64, f64), says: &str, width: f64) -> (Markup, f64) {
    /// The width of a letter, a little more than average.
    const LETTER: f64 = 5.7;
    const LINE: f64 = 15.0;
    let mut lines: Vec<String> = Vec::new();
    for word in says.split_whitespace() {
        match lines.last_mut() {
            Some(line)
                if ((line.chars().count() + word.chars().count()) as f64) * LETTER < width - x =>
            {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.into()),
        }
    }
    let line = |(n, line): (usize, &String)| text("note", "start", (x, y + n as f64 * LINE), line);
    let bottom = if lines.is_empty() { y - 8.0 } else { y + lines.len() as f64 * LINE - 6.0 };
    (lines.iter().enumerate().map(line).collect(), bottom)
}

/// The end of an interval that continues beyond the paper.
pub(crate) fn arrow(class: &str, (x, y): (f64, f64), way: Way) -> Markup {
    const LONG: f64 = 5.0;
    const BROAD: f64 = 3.5;
    let around = match way {
        Way::Left => [(x + LONG, y - BROAD), (x, y), (x + LONG, y + BROAD)],
        Way::Right => [(x - LONG, y - BROAD), (x, y), (x - LONG, y + BROAD)],
        Way::Up => [(x - BROAD, y + LONG), (x, y), (x + BROAD, y + LONG)],
        Way::Down => [(x - BROAD, y - LONG), (x, y), (x + BROAD, y - LONG)],
    };
    line(&format!("arrow {class}"), &around)
}

/// Where an arrow points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Left,
    Right,
    Up,
    Down,
}

/// A straight stroke.
pub(crate) fn stroke(class: &str, from: (f64, f64), to: (f64, f64)) -> Markup {
    let (from, to) = (pair(["x1", "y1"], from), pair(["x2", "y2"], to));
    markup!("<line class=\"{}\"{}{}/>\n", class, from, to)
}

/// Quiet lines across the paper, with their values left of them.
pub(crate) fn rungs(scale: &Scale, unit: Unit, left: f64, right: f64) -> Markup {
    let rungs = scale.ticks(26.0).into_iter().map(|value| {
        let y = scale.at(value);
        let class = if value == scale.low() { "rung base" } else { "rung" };
        let name = text("tick", "end", (left - 7.0, y + 4.0), &tick(unit, value));
        markup!("{}{}", stroke(class, (left, y), (right, y)), name)
    });
    rungs.collect()
}

/// Heights for labels that should be at these, each at this distance from the next, all between `top` and `bottom` if
/// possible.
pub(crate) fn apart(wanted: &[f64], distance: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&one, &other| wanted[one].total_cmp(&wanted[other]));
    let mut heights = wanted.to_vec();
    let mut next = top;
    for &place in &order {
        heights[place] = heights[place].max(next);
        next = heights[place] + distance;
    }
    // Labels pushed out below move the others back up.
    let mut last = bottom;
    for &place in order.iter().rev() {
        heights[place] = heights[place].min(last);
        last = heights[place] - distance;
    }
    heights
}

/// A name cut to this many letters.
pub(crate) fn short(name: &str, letters: usize) -> String {
    match name.chars().count() <= letters {
        true => name.into(),
        false => name.chars().take(letters.saturating_sub(1)).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_apart_and_on_the_paper() {
        assert_eq!(apart(&[50.0, 10.0], 14.0, 0.0, 100.0), [50.0, 10.0]);
        assert_eq!(apart(&[98.0, 99.0, 97.0], 14.0, 0.0, 100.0), [86.0, 100.0, 72.0]);
        assert_eq!(apart(&[0.0, 1.0], 14.0, 0.0, 100.0), [0.0, 14.0]);
    }

    #[test]
    fn subjects_differ_in_colour_or_in_mark() {
        let drawn = |slot| point(slot, Trust::Full, (0.0, 0.0), "").into_string();
        let all: std::collections::BTreeSet<String> = (0..40).map(drawn).collect();
        assert_eq!(all.len(), 40);
    }
}
