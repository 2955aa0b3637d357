//! Charts as SVG, written by hand: values with intervals on a shared axis (`rows`), lines over x (`lines`), and the map
//! of how long exchanges took (`heat`). They show what they are given and compute nothing.

pub mod bars;
pub mod braille;
mod heat;
mod lines;
pub(crate) mod marks;
mod rows;
pub mod scale;
mod shared_axis;
mod signs;

pub(crate) use heat::Heat;
pub(crate) use lines::{Form, Lines, Panel, Series, Spot};
pub(crate) use rows::{Axis, Column, Name, Rows, Value};
pub(crate) use shared_axis::SharedAxis;
pub(crate) use signs::{Ceiling, Trust};

use units::named;

use crate::markup::{Markup, markup};

/// Colours and strokes, for a page and for a chart that stands alone.
pub(crate) const STYLE: &str = concat!(
    include_str!("light.css"),
    "@media screen and (prefers-color-scheme:dark){",
    include_str!("dark.css"),
    "}\n",
    include_str!("chart.css")
);

named! {
    /// The colours of a chart that stands alone.
    #[derive(Default)]
    pub enum Theme {
        #[default]
        Auto = "auto" => "As the reader's system setting says",
        Light = "light" => "Dark on white",
        Dark = "dark" => "Light on black",
    }
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
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stand<'s> {
    /// The page has the colours.
    Page,
    /// The chart brings its own colours, and says below itself what a page would say around it.
    Alone { style: &'s Markup, notes: &'s [&'s str] },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Room {
    /// A large screen or a sheet of paper.
    Wide,
    /// A phone.
    Narrow,
    /// Beside others of this width, on every screen.
    Small(f64),
}

impl Room {
    /// The class of a chart that is drawn for it.
    fn class(self) -> &'static str {
        match self {
            Room::Wide => "wide",
            Room::Narrow => "narrow",
            Room::Small(_) => "small",
        }
    }

    pub(crate) fn width(self) -> f64 {
        match self {
            Room::Wide => 960.0,
            Room::Narrow => 380.0,
            Room::Small(width) => width,
        }
    }
}

/// A picture for a large screen and one for a phone.
pub(crate) fn both(drawn: impl Fn(Room) -> Markup) -> Markup {
    markup!("<figure>\n{}{}</figure>\n", drawn(Room::Wide), drawn(Room::Narrow))
}

/// Rows, and below them lines over the axis of the rows' first column.
pub(crate) fn rows_over_lines(rows: &Rows, lines: &Lines, room: Room, stand: Stand<'_>) -> Markup {
    let Some(column) = rows.columns.first() else { return Markup::default() };
    let place = rows.place(room, 0);
    let paper = lines::Paper { room, left: place.left, right: place.right };
    let (mut drawn, bottom) = rows.drawn(room);
    let (foot, bottom) = rows.foot(room, bottom);
    drawn.push(&foot);
    let (below, bottom) = lines.drawn(paper, &column.scale(place, false), bottom + 12.0);
    drawn.push(&below);
    framed(&rows.about, room, bottom, stand, &drawn)
}

/// What a chart says to readers who do not see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) title: String,
    pub(crate) description: String,
}

/// The chart's frame. A chart that stands alone brings its own colours.
pub(crate) fn framed(
    about: &About,
    room: Room,
    height: f64,
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
        room.class(),
        room.width(),
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
