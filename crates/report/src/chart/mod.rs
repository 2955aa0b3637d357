//! Charts as SVG, written by hand from three marks and one scale. They show what they are given and compute nothing.

pub mod bars;
mod brackets;
pub mod braille;
mod curves;
mod dots;
mod dumbbells;
mod heat;
mod histogram;
pub(crate) mod marks;
mod plot;
mod prices;
mod ratios;
pub(crate) mod scale;
mod signs;
mod small;
mod spectrum;
mod stacks;
mod strip;

pub(crate) use brackets::{Bracket, Brackets};
pub(crate) use curves::{Curves, Panel};
pub(crate) use dots::{Column, Dots};
pub(crate) use dumbbells::{Dumbbell, Dumbbells};
pub(crate) use histogram::Histogram;
pub(crate) use plot::Plot;
pub(crate) use prices::{Price, Prices};
pub(crate) use ratios::{Ratio, Ratios};
pub(crate) use signs::{Ceiling, Trust};
pub(crate) use small::SMALL_STYLE;
pub(crate) use spectrum::{Percentile, Percentiles};
pub(crate) use stacks::{KINDS, Layer, Stack, Stacks};
pub(crate) use strip::{StripPanel, Strips, Trace, Way, panel};

use crate::markup::{Markup, markup};

/// Colours and strokes, for a page and for a chart that stands alone.
pub(crate) const STYLE: &str = concat!(
    include_str!("light.css"),
    "@media (prefers-color-scheme:dark){",
    include_str!("dark.css"),
    "}\n",
    include_str!("chart.css")
);

/// The colours of a chart that stands alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The reader's own setting.
    #[default]
    Auto,
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

impl Theme {
    pub(crate) fn style(self) -> Markup {
        Markup::fixed(match self {
            Theme::Auto => STYLE,
            Theme::Light => concat!(include_str!("light.css"), include_str!("chart.css")),
            Theme::Dark => concat!(include_str!("dark.css"), include_str!("chart.css")),
        })
    }
}

/// Whether a chart stands in a page, or alone with its own colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand<'s> {
    /// The page has the colours.
    Page,
    /// The chart brings its own colours, and says below itself what a page would say around it.
    Alone { style: &'s Markup, notes: &'s [&'s str] },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// A large screen or a sheet of paper.
    Wide,
    Narrow,
}

/// A picture for a large screen and one for a phone.
pub(crate) fn both(ids: [&str; 2], place: usize, drawn: &dyn Fn(&str, Room) -> Markup) -> Markup {
    let rooms = [Room::Wide, Room::Narrow].into_iter().zip(ids);
    let drawn = rooms.map(|(room, id)| drawn(&format!("{id}{place}"), room));
    markup!("<figure>\n{}</figure>\n", drawn.collect::<Markup>())
}

/// One subject's points in a panel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    /// The name that people use.
    pub(crate) title: String,
    /// Its colour and mark, in all charts of a page.
    pub(crate) slot: usize,
    /// How its line is broken, where a subject has several: 0 is unbroken.
    pub(crate) dash: usize,
    /// From low to high.
    pub(crate) points: Vec<Spot>,
}

impl Series {
    /// The high ends of its intervals.
    fn ends(&self) -> impl Iterator<Item = f64> {
        self.points.iter().filter_map(|spot| spot.interval.map(|(_, high)| high))
    }
}

/// One value with its doubt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spot {
    pub(crate) x: f64,
    pub(crate) value: f64,
    pub(crate) interval: Option<(f64, f64)>,
    pub(crate) trust: Trust,
    /// A place before it was not measured: no line is drawn to it.
    pub(crate) is_after_gap: bool,
    /// The value in words.
    pub(crate) says: String,
}

/// What a chart says of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// Unique in the page.
    pub(crate) id: String,
    /// Both for readers who do not see the chart.
    pub(crate) title: String,
    pub(crate) description: String,
    /// Both above what is drawn; charts of several panels have their own for each panel.
    pub(crate) heading: String,
    pub(crate) note: String,
}

impl Room {
    /// The class of a chart that is drawn for it.
    fn class(self) -> &'static str {
        if self == Room::Wide { "wide" } else { "narrow" }
    }
}

/// The chart's frame. A chart that stands alone brings its own colours.
fn framed(
    about: &About,
    class: &str,
    (width, height): (f64, f64),
    stand: Stand<'_>,
    inside: &Markup,
) -> Markup {
    const LINE: f64 = 18.0;
    let (style, notes) = match stand {
        Stand::Page => (None, &[][..]),
        Stand::Alone { style, notes } => {
            let style = markup!(
                "<style>{}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>\n",
                style
            );
            (Some(style), notes)
        }
    };
    let mut below = Markup::default();
    for (n, says) in notes.iter().enumerate() {
        let at = (2.0, height + (n as f64 + 0.5) * LINE);
        below.push(&marks::text("note", "start", at, says));
    }
    let height = height + notes.len() as f64 * LINE;
    markup!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{0}\" role=\"img\" viewBox=\"0 0 {1} {2:.0}\" \
         width=\"{1}\" height=\"{2:.0}\">\n<title>{3}</title>\n<desc>{4}</desc>\n{5}{6}{7}</svg>\n",
        class,
        width,
        height,
        about.title,
        about.description,
        style,
        inside,
        below
    )
}

#[cfg(test)]
mod tests;
