//! How many of which kind at each place: columns with layers on top of each other.

use lab::figure::Unit;

use super::About;
use super::marks::{pair, rungs, text};
use super::scale::Scale;
use super::small::{small, titled};
use crate::markup::{Markup, markup};

/// Columns beside each other, of one subject.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stacks {
    pub(crate) about: About,
    pub(crate) slot: usize,
    pub(crate) columns: Vec<Stack>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Stack {
    /// The text below it.
    pub(crate) place: String,
    /// From the ground up.
    pub(crate) layers: Vec<Layer>,
}

/// A number of things of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layer {
    /// Its colour: the same kind has the same one in all charts of a page.
    pub(crate) kind: usize,
    pub(crate) value: f64,
    /// The count as text.
    pub(crate) says: String,
}

/// How many kinds have a colour of their own; all others share the last one.
pub(crate) const KINDS: usize = 7;

const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 170.0;
const TOP: f64 = 40.0;
const LEFT: f64 = 48.0;
const RIGHT: f64 = 292.0;
/// The width of a place's name with room around it.
const NAME: f64 = 46.0;

impl Stacks {
    pub(crate) fn svg(&self, is_alone: bool) -> Markup {
        let bottom = HEIGHT - 22.0;
        let total = |stack: &Stack| stack.layers.iter().map(|layer| layer.value).sum::<f64>();
        let totals: Vec<f64> = self.columns.iter().map(total).collect();
        let scale = Scale::linear(&totals, bottom, TOP);
        let mut drawn = titled(&self.about.heading, &self.about.note, 28.0);
        drawn.push(&rungs(&scale, Unit::Count, LEFT, RIGHT));
        let each = (RIGHT - LEFT) / self.columns.len().max(1) as f64;
        let every = (NAME / each).ceil().max(1.0) as usize;
        for (n, column) in self.columns.iter().enumerate() {
            let left = LEFT + n as f64 * each;
            drawn.push(&column.drawn(&scale, left + each * 0.14, each * 0.72));
            // The last place always has its name; those before it have theirs where there is room.
            if (self.columns.len() - 1 - n).is_multiple_of(every) {
                let at = (left + each / 2.0, bottom + 16.0);
                drawn.push(&text("tick", "middle", at, &column.place));
            }
        }
        let drawn = markup!("<g data-s=\"{}\">\n{}</g>\n", self.slot, drawn);
        small(&self.about, "", (WIDTH, HEIGHT), is_alone, &drawn)
    }
}

impl Stack {
    fn drawn(&self, scale: &Scale, left: f64, width: f64) -> Markup {
        let mut below = 0.0;
        let mut drawn = Markup::default();
        for layer in self.layers.iter().filter(|layer| 0.0 < layer.value) {
            let above = below + layer.value;
            let (top, bottom) = (scale.at(above), scale.at(below));
            drawn.push(&markup!(
                "<rect class=\"mark kind k{}\"{}{}><title>{} at {}</title></rect>\n",
                layer.kind.min(KINDS - 1),
                pair(["x", "y"], (left, top)),
                pair(["width", "height"], (width, (bottom - top).max(0.6))),
                layer.says,
                self.place
            ));
            below = above;
        }
        drawn
    }
}
