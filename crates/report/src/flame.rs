//! Flame graphs: a box for each function, as wide as the CPU time that an answer costs in it with all that it calls. And
//! how two such graphs differ.

use std::collections::BTreeMap;

use analysis::why::CostedStack;
use profile::Side;
use units::{digits, percent};

use crate::chart::{About, Room, Stand, Theme, both, framed, marks};
use crate::markup::{Markup, markup};

pub(crate) const STYLE: &str = include_str!("flame.css");

/// What is narrower than this share of the whole is left out, and what is deeper than so many functions.
const LEAST: f64 = 0.002;
const DEEPEST: usize = 64;
/// A longer name is cut where it is said.
const NAME_MOST: usize = 100;
/// How many bytes the boxes of a drawing may have, for a large screen and for a phone: two graphs and their difference
/// stay below 120 kB together. And those of a file of its own.
const WIDE_BYTES: usize = 27_500;
const NARROW_BYTES: usize = 9_500;
const ALONE_BYTES: usize = 90_000;
const ROW: f64 = 17.0;
/// What a row adds to its boxes.
const ROW_BYTES: usize = 60;
/// Differences, as shares of the largest one, at which each depth of a colour begins. What is below the first has none.
const DEPTHS: [f64; 4] = [0.01, 0.06, 0.2, 0.5];

/// A graph whose boxes have their places. What is called stands below its caller.
#[derive(Clone, Debug)]
pub(crate) struct FlameGraph {
    about: About,
    /// The classes of the colours, and what they say.
    keys: Vec<(&'static str, String)>,
    /// The widest first; a caller before what it calls.
    frames: Vec<Frame>,
}

/// One box; its place and width are shares of the whole width.
#[derive(Clone, Debug)]
struct Frame {
    depth: usize,
    left: f64,
    width: f64,
    class: String,
    name: String,
    /// Stands behind the name where there is room.
    figure: String,
    says: String,
}

/// A function below its callers, with what two sides spend in it.
#[derive(Debug, Default)]
struct Node {
    us: [f64; 2],
    inside: BTreeMap<(Side, String), Node>,
}

/// What of a tree is drawn.
#[derive(Clone, Copy, Debug)]
enum View<'v> {
    /// The second side.
    One,
    /// The second side, in the colours of its difference to the first.
    Against { most_us: f64 },
    /// What only the first side has.
    Gone { least_us: f64, first: &'v str },
}

impl FlameGraph {
    pub(crate) fn of(name: &str, stacks: &[CostedStack]) -> FlameGraph {
        let tree = Node::of([&[], stacks]);
        let description = match tree.us[1] {
            0.0 => "No samples.".into(),
            us => format!("{} of CPU time an answer.", micros(us)),
        };
        let keys =
            [("program", "the program"), ("kernel", "the kernel"), ("nameless", "not named")];
        FlameGraph {
            about: About { title: marks::short(name, 40), description },
            keys: keys.map(|(class, says)| (class, says.into())).into(),
            frames: laid_out(&tree, &[View::One]),
        }
    }

    /// The second side's graph in the colours of its difference to the first, and beside it what only the first has.
    pub(crate) fn difference(names: [&str; 2], sides: [&[CostedStack]; 2]) -> FlameGraph {
        let tree = Node::of(sides);
        let [first, second] = names.map(|name| marks::short(name, 20));
        let least_us = LEAST * tree.us[0].max(tree.us[1]);
        let views =
            [View::Against { most_us: tree.most_us() }, View::Gone { least_us, first: &first }];
        let [a, b] = tree.us.map(micros);
        let description = format!(
            "{b} of CPU time an answer, and {a} in {first}. Boxes are as wide as their time in {second}."
        );
        let (more, less, alike) = ("more".into(), "less".into(), "alike".into());
        let gone = format!("only in {first}");
        FlameGraph {
            about: About { title: format!("{second} against {first}"), description },
            keys: vec![("more q4", more), ("less q4", less), ("alike", alike), ("gone", gone)],
            frames: laid_out(&tree, &views),
        }
    }

    /// For a page.
    pub(crate) fn figure(&self) -> Markup {
        both(|room| self.drawn(room, Stand::Page))
    }

    /// For a file of its own, with what a page would say around it.
    pub(crate) fn alone(&self, theme: Theme, note: &str) -> Markup {
        let style = markup!("{}{}", theme.style(), Markup::fixed(STYLE));
        self.drawn(Room::Wide, Stand::Alone { style: &style, notes: &[note] })
    }

    fn drawn(&self, room: Room, stand: Stand<'_>) -> Markup {
        let most_bytes = match (room, stand) {
            (_, Stand::Alone { .. }) => ALONE_BYTES,
            (Room::Wide, Stand::Page) => WIDE_BYTES,
            (Room::Narrow | Room::Small(_), Stand::Page) => NARROW_BYTES,
        };
        let mut rows: BTreeMap<usize, Markup> = BTreeMap::new();
        let (mut bytes, mut left_out) = (0, LEAST);
        for frame in &self.frames {
            let drawn = frame.drawn(room.width());
            let is_new_row = !rows.contains_key(&frame.depth);
            bytes += drawn.as_str().len() + if is_new_row { ROW_BYTES } else { 0 };
            if most_bytes < bytes {
                left_out = frame.width;
                break;
            }
            rows.entry(frame.depth).or_default().push(&drawn);
        }
        let note = format!(
            "{} What is called stands below its caller; what is narrower than {} of the width is \
             left out.",
            self.about.description,
            percent(left_out)
        );
        let note = if rows.is_empty() { &self.about.description } else { &note };
        let mut drawn = marks::heading((2.0, 16.0), &self.about.title, "");
        let (note, bottom) = marks::notes((2.0, 34.0), note, room.width() - 12.0);
        drawn.push(&note);
        drawn.push(&self.keys(bottom + 14.0));
        let top = bottom + 36.0;
        let height = top + rows.keys().last().map_or(0.0, |deepest| (deepest + 1) as f64 * ROW);
        for (depth, row) in rows {
            let y = top + depth as f64 * ROW;
            drawn.push(&markup!(
                "<g class=\"flame\" transform=\"translate(0 {})\">{}</g>\n",
                y,
                row
            ));
        }
        framed(&self.about, room, height + 4.0, stand, &drawn)
    }

    fn keys(&self, y: f64) -> Markup {
        let mut x = 2.0;
        let mut drawn = Markup::default();
        for (class, says) in &self.keys {
            drawn.push(&markup!(
                "<g class=\"flame\"><rect class=\"{}\"{} width=\"12\" height=\"12\"/></g>\n",
                class,
                marks::pair(["x", "y"], (x, y))
            ));
            drawn.push(&marks::text("note", "start", (x + 18.0, y + 10.0), says));
            x += 34.0 + length(says);
        }
        drawn
    }
}

impl Frame {
    fn drawn(&self, paper: f64) -> Markup {
        let (x, width) = (self.left * paper, (self.width * paper).max(0.1));
        let whole = format!("{} {}", self.name, self.figure);
        let room = width - 6.0;
        let label = if length(&whole) <= room { whole } else { fitting(&self.name, room) };
        let label = (!label.is_empty())
            .then(|| markup!("<text{}>{}</text>", marks::pair(["x", "y"], (x + 3.0, 12.0)), label));
        let class = (self.class != "program").then(|| markup!(" class=\"{}\"", self.class));
        markup!(
            "<rect{}{} height=\"16\"><title>{}</title></rect>{}\n",
            class,
            marks::pair(["x", "width"], (x, width)),
            self.says,
            label
        )
    }
}

impl Node {
    fn of(sides: [&[CostedStack]; 2]) -> Node {
        let mut root = Node::default();
        for (side, stacks) in sides.into_iter().enumerate() {
            for stack in stacks.iter().filter(|it| it.us.is_finite() && 0.0 < it.us) {
                root.add(side, stack);
            }
        }
        root
    }

    fn add(&mut self, side: usize, stack: &CostedStack) {
        let functions = stack.functions.iter().take(DEEPEST).map(|name| (Side::Program, name));
        let is_own = stack.line.side == Side::Program && !stack.functions.is_empty();
        let line = (!is_own).then_some((stack.line.side, &stack.line.name));
        let mut node = self;
        node.us[side] += stack.us;
        for (kind, name) in functions.chain(line) {
            node = node.inside.entry((kind, name.clone())).or_default();
            node.us[side] += stack.us;
        }
    }

    /// The largest difference of a function.
    fn most_us(&self) -> f64 {
        let own = (self.us[1] - self.us[0]).abs();
        self.inside.values().map(Node::most_us).fold(own, f64::max)
    }

    /// What the first side spends where the second does not come. A path that has next to nothing is missing by chance.
    fn gone_us(&self, least_us: f64) -> f64 {
        match self.us {
            [a, 0.0] if least_us <= a => a,
            [_, 0.0] => 0.0,
            _ => self.inside.values().map(|node| node.gone_us(least_us)).sum(),
        }
    }
}

impl View<'_> {
    fn width_us(self, node: &Node) -> f64 {
        match self {
            View::One | View::Against { .. } => node.us[1],
            View::Gone { least_us, .. } => node.gone_us(least_us),
        }
    }

    /// A box's colour, its figure, and its whole text.
    fn look(self, side: Side, name: &str, node: &Node, whole_us: f64) -> [String; 3] {
        let ([a, b], us) = (node.us, self.width_us(node));
        let says = format!("{name}: {} an answer, {}", micros(us), percent(us / whole_us));
        match self {
            View::One => {
                let class = match side {
                    Side::Program => "program",
                    Side::Kernel => "kernel",
                    Side::NotNamed => "nameless",
                };
                [class.into(), micros(us), says]
            }
            View::Against { most_us } => {
                let share = (b - a).abs() / most_us;
                let depth = DEPTHS.iter().filter(|least| **least <= share).count();
                let (way, sign) = if a < b { ("more", "+") } else { ("less", "") };
                let class = if depth == 0 { "alike".into() } else { format!("{way} q{depth}") };
                let more = format!("{sign}{}", micros(b - a));
                [class, more.clone(), format!("{says}; {more}")]
            }
            View::Gone { first, .. } => {
                let is_gone = b == 0.0;
                let class = if is_gone { "gone" } else { "above" };
                let of = if is_gone { "an answer" } else { "of what it calls" };
                let says = format!("{name}: {} {of}, only in {first}", micros(us));
                [class.into(), micros(us), says]
            }
        }
    }
}

/// Gives each view of the tree its place, one beside the other, on one scale.
fn laid_out(tree: &Node, views: &[View<'_>]) -> Vec<Frame> {
    const GAP: f64 = 0.01;
    let views: Vec<View<'_>> =
        views.iter().copied().filter(|view| 0.0 < view.width_us(tree)).collect();
    let sum_us: f64 = views.iter().map(|view| view.width_us(tree)).sum();
    let scale = (1.0 - GAP * views.len().saturating_sub(1) as f64) / sum_us;
    let mut layout = Layout { scale, whole_us: tree.us[1], frames: Vec::new() };
    let mut left = 0.0;
    for view in views {
        let name = match view {
            View::Gone { first, .. } => format!("only in {first}"),
            View::One | View::Against { .. } => "all".into(),
        };
        layout.place(view, Side::Program, &name, tree, 0, left);
        left += view.width_us(tree) * scale + GAP;
    }
    layout.frames.sort_by(|one, other| {
        let by_place = one.depth.cmp(&other.depth).then(one.left.total_cmp(&other.left));
        other.width.total_cmp(&one.width).then(by_place)
    });
    layout.frames
}

struct Layout {
    /// Shares of the width for a microsecond.
    scale: f64,
    whole_us: f64,
    frames: Vec<Frame>,
}

impl Layout {
    fn place(
        &mut self,
        view: View<'_>,
        side: Side,
        name: &str,
        node: &Node,
        depth: usize,
        left: f64,
    ) {
        let width = view.width_us(node) * self.scale;
        if width < LEAST {
            return;
        }
        let name = marks::short(name, NAME_MOST);
        let [class, figure, says] = view.look(side, &name, node, self.whole_us);
        let class = if depth == 0 { "above".into() } else { class };
        self.frames.push(Frame { depth, left, width, class, name, figure, says });
        let mut left = left;
        for ((side, name), inside) in &node.inside {
            self.place(view, *side, name, inside, depth + 1, left);
            left += view.width_us(inside) * self.scale;
        }
    }
}

fn micros(us: f64) -> String {
    format!("{} µs", digits(us))
}

/// How wide a text is: the letters of the font are equally wide, but for those that it does not have.
fn length(text: &str) -> f64 {
    text.chars().map(letter).sum()
}

fn letter(letter: char) -> f64 {
    if letter < '\u{3000}' { 6.7 } else { 11.0 }
}

/// As much of a text as fits, or nothing.
fn fitting(text: &str, room: f64) -> String {
    if length(text) <= room {
        return text.into();
    }
    let mut left = room - letter('…');
    let fits = |it: &char| {
        left -= letter(*it);
        0.0 <= left
    };
    let kept: String = text.chars().take_while(fits).collect();
    if kept.chars().count() < 2 { String::new() } else { kept + "…" }
}

#[cfg(test)]
mod tests;
