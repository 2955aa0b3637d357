//! Flame graphs: a box for each function, as wide as the CPU time that an answer costs in it with all that it calls. And
//! how two such graphs differ.

use std::collections::BTreeMap;

use profile::Side;
use units::{digits, percent};

use crate::chart::{About, Room, Stand, Theme, both, framed, marks};
use crate::markup::{Markup, markup};

pub(crate) const STYLE: &str = include_str!("flame.css");

/// What is narrower than this share of the whole is left out.
const LEAST: f64 = 0.002;
/// Functions deeper than this are left out.
const DEEPEST: usize = 64;
/// A longer name is cut where it is said.
const NAME_MOST: usize = 100;
/// How many bytes of boxes a drawing may have: two graphs and their difference stay below 120 kB, each drawn for a large
/// screen and for a phone.
const WIDE_BYTES: usize = 27_500;
const NARROW_BYTES: usize = 9_500;
/// The same, of a graph that is a file of its own.
const ALONE_BYTES: usize = 90_000;
/// On a phone a box is at least so many units wide.
const NARROW_LEAST: f64 = 1.2;
const ROW: f64 = 17.0;
/// What a row adds to its boxes.
const ROW_BYTES: usize = 60;
/// Differences, as shares of the largest one, at which each depth of a colour begins. What is below the first has none.
const DEPTHS: [f64; 4] = [0.01, 0.06, 0.2, 0.5];

/// What an answer costs in one stack.
#[derive(Clone, Debug, PartialEq)]
pub struct CostedStack {
    /// Of the program, the outermost first.
    pub functions: Vec<String>,
    /// What stands below the functions if the time is not theirs: `send`, `not named (libc)`.
    pub line: String,
    pub side: Side,
    /// CPU time an answer, in microseconds.
    pub us: f64,
}

/// A graph whose boxes have their places. It is drawn from the top down: what is called stands below its caller.
#[derive(Clone, Debug)]
pub struct FlameGraph {
    about: About,
    /// The classes of the colours, and what they say.
    keys: Vec<(String, String)>,
    /// The widest first; a caller before what it calls.
    frames: Vec<Frame>,
}

/// One box.
#[derive(Clone, Debug)]
struct Frame {
    depth: usize,
    /// Shares of the whole width.
    left: f64,
    width: f64,
    class: String,
    name: String,
    /// Its figure, which stands behind the name where there is room.
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
    Gone { least_us: f64, name: &'v str },
}

impl FlameGraph {
    pub fn of(name: &str, stacks: &[CostedStack]) -> FlameGraph {
        let tree = Node::of([&[], stacks]);
        let keys =
            [("program", "the program"), ("kernel", "the kernel"), ("nameless", "not named")];
        let title = marks::short(name, 40);
        let description = format!("{} of CPU time an answer.", micros(tree.us[1]));
        let (views, description) = match 0.0 < tree.us[1] {
            true => (&[View::One][..], description),
            false => (&[][..], "No samples.".to_string()),
        };
        laid_out(&tree, views, About { title, description }, &keys)
    }

    /// The second side's graph in the colours of its difference to the first, and beside it what only the first has.
    pub fn difference(names: [&str; 2], sides: [&[CostedStack]; 2]) -> FlameGraph {
        let tree = Node::of(sides);
        let [a, b] = names.map(|name| marks::short(name, 40));
        let least_us = LEAST * tree.us[0].max(tree.us[1]);
        let views = [View::Against { most_us: tree.most_us() }, View::Gone { least_us, name: &a }];
        let description = format!(
            "{} of CPU time an answer, and {} in {a}. Boxes are as wide as their time in {b}.",
            micros(tree.us[1]),
            micros(tree.us[0])
        );
        let gone = format!("only in {a}");
        let keys = [("more q4", "more"), ("less q4", "less"), ("alike", "alike"), ("gone", &gone)];
        laid_out(&tree, &views, About { title: format!("{b} against {a}"), description }, &keys)
    }

    /// For a page.
    pub fn figure(&self) -> Markup {
        both(|room| self.drawn(room, Stand::Page))
    }

    /// For a file of its own.
    pub fn alone(&self, theme: Theme) -> Markup {
        let style = markup!("{}{}", theme.style(), Markup::fixed(STYLE));
        self.drawn(Room::Wide, Stand::Alone { style: &style, notes: &[] })
    }

    fn drawn(&self, room: Room, stand: Stand<'_>) -> Markup {
        let (most_bytes, least) = match (room, stand) {
            (_, Stand::Alone { .. }) => (ALONE_BYTES, 0.0),
            (Room::Wide, Stand::Page) => (WIDE_BYTES, 0.0),
            (Room::Narrow | Room::Small(_), Stand::Page) => (NARROW_BYTES, NARROW_LEAST),
        };
        let mut rows: BTreeMap<usize, Markup> = BTreeMap::new();
        let (mut bytes, mut left_out) = (0, LEAST);
        for frame in &self.frames {
            let drawn = frame.drawn(room.width());
            let is_new_row = !rows.contains_key(&frame.depth);
            bytes += drawn.as_str().len() + if is_new_row { ROW_BYTES } else { 0 };
            if most_bytes < bytes || frame.width * room.width() < least {
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
        let (keys, top) = self.keys(room, bottom + 14.0);
        drawn.push(&keys);
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

    /// The colours, and where they end.
    fn keys(&self, room: Room, top: f64) -> (Markup, f64) {
        let (mut x, mut y) = (2.0, top);
        let mut drawn = Markup::default();
        for (class, says) in &self.keys {
            let width = 34.0 + says.chars().map(letter).sum::<f64>();
            if room.width() < x + width {
                (x, y) = (2.0, y + ROW);
            }
            drawn.push(&markup!(
                "<g class=\"flame\"><rect class=\"{}\" x=\"{:.0}\" y=\"{}\" width=\"12\" height=\"12\"/></g>\n",
                class,
                x,
                y
            ));
            drawn.push(&marks::text("note", "start", ((x + 18.0).round(), y + 10.0), says));
            x += width;
        }
        (drawn, y + 22.0)
    }
}

impl Frame {
    fn drawn(&self, paper: f64) -> Markup {
        let (x, width) = (self.left * paper, self.width * paper);
        let class = match self.class.as_str() {
            "program" => Markup::default(),
            other => markup!(" class=\"{}\"", other),
        };
        markup!(
            "<rect{}{} height=\"16\"><title>{}</title></rect>{}\n",
            class,
            marks::pair(["x", "width"], (x, width.max(0.1))),
            self.says,
            self.label(x + 3.0, width - 6.0)
        )
    }

    /// As much of the name as there is room for, if that is enough to be of use.
    fn label(&self, x: f64, room: f64) -> Markup {
        let whole = format!("{} {}", self.name, self.figure);
        let fits = |text: &str| text.chars().map(letter).sum::<f64>() <= room;
        let label = if fits(&whole) { whole } else { fitting(&self.name, room) };
        let width: f64 = label.chars().map(letter).sum();
        // How wide a letter of another script is, is not known: it is made as wide as it may be.
        let length = (!label.chars().all(|it| it.is_ascii() || "…µ−".contains(it)))
            .then(|| markup!(" textLength=\"{:.0}\" lengthAdjust=\"spacingAndGlyphs\"", width));
        match label.is_empty() {
            true => Markup::default(),
            false => markup!("<text x=\"{:.1}\" y=\"12\"{}>{}</text>", x, length, label),
        }
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
        let is_own = stack.side == Side::Program && !stack.functions.is_empty();
        let line = (!is_own).then_some((stack.side, &stack.line));
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

    fn class(self, side: Side, [a, b]: [f64; 2]) -> String {
        let class = match self {
            View::One => match side {
                Side::Program => "program",
                Side::Kernel => "kernel",
                Side::NotNamed => "nameless",
            },
            View::Gone { .. } => {
                if b == 0.0 {
                    "gone"
                } else {
                    "above"
                }
            }
            View::Against { most_us } => {
                let share = (b - a).abs() / most_us;
                let way = if a < b { "more" } else { "less" };
                let depth = DEPTHS.iter().filter(|least| **least <= share).count();
                return if depth == 0 { "alike".into() } else { format!("{way} q{depth}") };
            }
        };
        class.into()
    }

    /// A box's figure, and its whole text.
    fn figures(self, name: &str, node: &Node, whole_us: f64) -> (String, String) {
        let us = micros(self.width_us(node));
        let share = percent(self.width_us(node) / whole_us);
        match self {
            View::One => (us.clone(), format!("{name}: {us} an answer, {share}")),
            View::Against { .. } => {
                let more = node.us[1] - node.us[0];
                let sign = if 0.0 < more { "+" } else { "" };
                let more = format!("{sign}{}", micros(more));
                (more.clone(), format!("{name}: {us} an answer, {share}; {more}"))
            }
            View::Gone { name: side, .. } => {
                let of = if node.us[1] == 0.0 { "an answer" } else { "of what it calls" };
                (us.clone(), format!("{name}: {us} {of}, only in {side}"))
            }
        }
    }
}

/// Gives each view of the tree its place, one beside the other, on one scale.
fn laid_out(tree: &Node, views: &[View<'_>], about: About, keys: &[(&str, &str)]) -> FlameGraph {
    const GAP: f64 = 0.01;
    let widths: Vec<f64> = views.iter().map(|view| view.width_us(tree)).collect();
    let gaps = widths.iter().filter(|width| 0.0 < **width).count().saturating_sub(1) as f64 * GAP;
    let scale = (1.0 - gaps) / widths.iter().sum::<f64>();
    let (mut frames, mut left) = (Vec::new(), 0.0);
    for (view, width) in views.iter().zip(widths).filter(|(_, width)| 0.0 < *width) {
        let name = match view {
            View::Gone { name, .. } => format!("only in {name}"),
            View::One | View::Against { .. } => "all".into(),
        };
        let of_view = Layout { view: *view, scale, whole_us: tree.us[1] };
        of_view.place(Side::Program, &name, tree, (0, left), &mut frames);
        left += width * scale + GAP;
    }
    frames.sort_by(|one, other| {
        let by_place = one.depth.cmp(&other.depth).then(one.left.total_cmp(&other.left));
        other.width.total_cmp(&one.width).then(by_place)
    });
    let keys = keys.iter().map(|(class, says)| ((*class).into(), (*says).into())).collect();
    FlameGraph { about, keys, frames }
}

struct Layout<'v> {
    view: View<'v>,
    /// Shares of the width for a microsecond.
    scale: f64,
    whole_us: f64,
}

impl Layout<'_> {
    fn place(
        &self,
        side: Side,
        name: &str,
        node: &Node,
        (depth, left): (usize, f64),
        frames: &mut Vec<Frame>,
    ) {
        let width = self.view.width_us(node) * self.scale;
        if width < LEAST {
            return;
        }
        let name = marks::short(name, NAME_MOST);
        let (figure, says) = self.view.figures(&name, node, self.whole_us);
        let class = if depth == 0 { "above".into() } else { self.view.class(side, node.us) };
        frames.push(Frame { depth, left, width, class, name, figure, says });
        let mut left = left;
        for ((side, name), inside) in &node.inside {
            self.place(*side, name, inside, (depth + 1, left), frames);
            left += self.view.width_us(inside) * self.scale;
        }
    }
}

fn micros(us: f64) -> String {
    format!("{} µs", digits(us))
}

/// About how wide a letter is.
fn letter(letter: char) -> f64 {
    match letter {
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 10.0,
        '&' | '<' | '>' | '+' | '=' | '~' | '^' | '#' => 9.2,
        'A'..='Z' => 7.8,
        'i' | 'j' | 'l' | ' ' | '.' | ',' | ':' | ';' | '|' | '\'' => 3.4,
        _ if letter.is_ascii() || letter == 'µ' || letter == '−' => 6.4,
        _ => 11.0,
    }
}

/// As much of a text as fits, or nothing.
fn fitting(text: &str, room: f64) -> String {
    if text.chars().map(letter).sum::<f64>() <= room {
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
