//! Connections that failed, were lost, or are silent: by cause, plateau by plateau, for the subjects that have any.

use analysis::Plateau;
use lab::figure::Unit;

use super::lines::{Line, number};
use crate::chart::{About, Form, Lines, Panel, Room, Series, SharedAxis, Spot, Stand};
use crate::grouped::distinct;
use crate::markup::{Markup, markup};
use crate::render::html::{beside, dim};

/// The classes of colours: the same cause has the same one in all charts of a page; all others share the last one.
const KINDS: [&str; 7] =
    ["kind k0", "kind k1", "kind k2", "kind k3", "kind k4", "kind k5", "kind k6"];

/// Small charts beside each other, with the names of the colours above.
pub(super) fn losses(lines: &[Line<'_>]) -> Markup {
    let causes = causes(lines);
    let held = lines.iter().filter(|line| !line.held.plateaus.is_empty());
    let (whole, troubled): (Vec<&Line<'_>>, Vec<&Line<'_>>) = held.partition(|line| is_whole(line));
    if troubled.is_empty() && whole.is_empty() {
        return Markup::default();
    }
    let charts = troubled.iter().map(|line| chart(line, &causes)).collect();
    markup!(
        "<h3>What was lost</h3>\n{}{}{}",
        dim(&said(&troubled, &whole)),
        (!troubled.is_empty()).then(|| legend(&causes)),
        beside("charts losses", &charts)
    )
}

fn said(troubled: &[&Line<'_>], whole: &[&Line<'_>]) -> String {
    const FEW: usize = 4;
    let names: Vec<&str> = whole.iter().map(|line| line.title.as_str()).collect();
    match (troubled.is_empty(), names.len()) {
        (true, _) => {
            "No connection failed, was lost or fell silent, at any step of any server.".into()
        }
        (false, 0) => "All of them have something here.".into(),
        (false, 1..=FEW) => format!("Nothing at all with {}.", names.join(", ")),
        (false, many) => format!("Nothing at all with {many} others."),
    }
}

/// All causes, in the order in which they were first seen.
fn causes(lines: &[Line<'_>]) -> Vec<String> {
    let plateaus = lines.iter().flat_map(|line| &line.held.plateaus);
    distinct(plateaus.flat_map(lost).map(|lost| lost.cause))
}

/// Connections that ended in the same way.
struct Lost {
    cause: String,
    count: u64,
}

/// The connections that a plateau lost, over its rounds; a silent one is still open, but useless.
fn lost(plateau: &Plateau) -> Vec<Lost> {
    let gone = plateau.gone.iter().map(|gone| {
        let verb = if gone.was_open { "lost" } else { "failed" };
        let own = if gone.loss.is_own() { "dyno: " } else { "" };
        let cause = format!("{own}{verb}, {}", gone.loss.name());
        Lost { cause, count: gone.times }
    });
    let count = plateau.sums.silent;
    let silent = (0 < count).then(|| Lost { cause: "silent".into(), count });
    gone.chain(silent).collect()
}

fn is_whole(line: &Line<'_>) -> bool {
    let is_whole = |plateau: &Plateau| plateau.gone.is_empty() && plateau.sums.silent == 0;
    line.held.plateaus.iter().all(is_whole)
}

fn legend(causes: &[String]) -> Markup {
    let names = causes.iter().enumerate().map(|(kind, cause)| {
        markup!(
            "<li><svg class=\"key\" viewBox=\"-6 -6 12 12\" aria-hidden=\"true\"><path class=\"{}\" d=\"M-5 -5h10v10h-10z\"/>\
             </svg>{}</li>",
            KINDS[kind.min(KINDS.len() - 1)],
            cause
        )
    });
    let names: Markup = names.collect();
    markup!("<ul class=\"kinds\">{}</ul>\n", names)
}

fn place(plateau: &Plateau) -> String {
    number(Unit::Count, plateau.connections as f64)
}

fn spot(n: usize, plateau: &Plateau, cause: &str) -> Spot {
    let of_cause = lost(plateau).into_iter().filter(|lost| lost.cause == cause);
    let value = of_cause.map(|lost| lost.count).sum::<u64>() as f64;
    let says = format!("{} {cause} at {}", number(Unit::Count, value), place(plateau));
    Spot { x: n as f64 + 0.5, width: 0.72, value, says, ..Spot::default() }
}

fn chart(line: &Line<'_>, causes: &[String]) -> Markup {
    let plateaus = || line.held.plateaus.iter();

    let series = causes.iter().enumerate().map(|(kind, cause)| Series {
        slot: line.slot,
        form: Form::Stack(KINDS[kind.min(KINDS.len() - 1)]),
        points: plateaus().enumerate().map(|(n, plateau)| spot(n, plateau, cause)).collect(),
        ..Series::default()
    });
    let series = series.collect();
    let note = "connections at each plateau, all rounds";
    Lines {
        about: About {
            title: format!("{}: what was lost", line.title),
            description:
                "Connections that failed, were lost or fell silent, by cause, at each plateau"
                    .into(),
        },
        across: SharedAxis::Names(plateaus().map(place).collect()),
        panels: vec![Panel::new(line.title.clone(), note, Unit::Count, 108.0, series)],
        slot: Some(line.slot),
        ..Lines::default()
    }
    .svg(Room::Small(300.0), Stand::Page)
}
