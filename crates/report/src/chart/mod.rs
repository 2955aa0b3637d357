//! Charts as SVG, written by hand from three marks and one scale. They show what they are given and compute nothing.

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
mod small;
mod spectrum;
mod stacks;
mod strip;

pub(crate) use curves::{Curves, Panel};
pub(crate) use dots::{Column, Dots};
pub(crate) use dumbbells::{Dumbbell, Dumbbells};
pub(crate) use histogram::Histogram;
pub(crate) use plot::Plot;
pub(crate) use prices::{Price, Prices};
pub(crate) use ratios::{Ratio, Ratios};
pub(crate) use small::SMALL_STYLE;
pub(crate) use spectrum::{Percentile, Percentiles};
pub(crate) use stacks::{KINDS, Layer, Stack, Stacks};
pub(crate) use strip::{StripPanel, Strips, Trace, Way};

use crate::markup::escaped;

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
    pub(crate) fn style(self) -> &'static str {
        match self {
            Theme::Auto => STYLE,
            Theme::Light => concat!(include_str!("light.css"), include_str!("chart.css")),
            Theme::Dark => concat!(include_str!("dark.css"), include_str!("chart.css")),
        }
    }
}

/// Whether a chart stands in a page, or alone with its own colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand<'s> {
    /// The page has the colours.
    Page,
    /// The chart brings its own colours.
    Alone(&'s str),
}

/// How much room there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// A large screen or a sheet of paper.
    Wide,
    /// A phone.
    Narrow,
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
    pub(crate) is_doubtful: bool,
    /// A place before it was not measured: no line is drawn to it.
    pub(crate) is_after_gap: bool,
    /// The value in words.
    pub(crate) says: String,
}

/// A description of the chart, for readers who do not see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    /// Unique in the page.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: String,
}

/// The chart's frame. A chart that stands alone brings its own colours.
fn framed(
    about: &About,
    width: f64,
    height: f64,
    room: Room,
    stand: Stand<'_>,
    inside: &str,
) -> String {
    let class = match room {
        Room::Wide => "wide",
        Room::Narrow => "narrow",
    };
    let (title, description) = (escaped(&about.title), escaped(&about.description));
    let style = match stand {
        Stand::Page => String::new(),
        Stand::Alone(style) => format!(
            "<style>{style}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"var(--paper)\"/>\n"
        ),
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" role=\"img\" viewBox=\"0 0 {width} {height:.0}\" \
         width=\"{width}\" height=\"{height:.0}\">\n<title>{title}</title>\n<desc>{description}</desc>\n{style}{inside}</svg>\n"
    )
}

#[cfg(test)]
mod tests;
