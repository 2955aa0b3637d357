//! Connections that failed, were lost, or are silent: by cause, plateau by plateau, for the subjects that have any.

use analysis::Plateau;
use lab::figure::Unit;

use super::lines::{Line, number};
use crate::chart::{About, KINDS, Layer, Stack, Stacks};
use crate::markup::{Markup, markup};
use crate::render::html::{beside, dim};

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
    let mut causes: Vec<String> = Vec::new();
    let plateaus = lines.iter().flat_map(|line| &line.held.plateaus);
    for lost in plateaus.flat_map(lost) {
        if !causes.contains(&lost.cause) {
            causes.push(lost.cause);
        }
    }
    causes
}

/// Connections that ended in the same way.
struct Lost {
    cause: String,
    count: f64,
    says: String,
}

/// The connections that a plateau lost, over its rounds; a silent one is still open, but useless.
fn lost(plateau: &Plateau) -> Vec<Lost> {
    let lost = |cause: String, times: u64| {
        let says = format!("{} {cause}", number(Unit::Count, times as f64));
        Lost { cause, count: times as f64, says }
    };
    let gone = plateau.gone.iter().map(|gone| {
        let verb = if gone.was_open { "lost" } else { "failed" };
        let own = if gone.loss.is_own() { "dyno: " } else { "" };
        lost(format!("{own}{verb}, {}", gone.loss.name()), gone.times)
    });
    let silent = (0 < plateau.sums.silent).then(|| lost("silent".into(), plateau.sums.silent));
    gone.chain(silent).collect()
}

fn is_whole(line: &Line<'_>) -> bool {
    let is_whole = |plateau: &Plateau| plateau.gone.is_empty() && plateau.sums.silent == 0;
    line.held.plateaus.iter().all(is_whole)
}

fn legend(causes: &[String]) -> Markup {
    let name = |(kind, cause): (usize, &String)| {
        markup!(
            "<li><svg class=\"key\" viewBox=\"-6 -6 12 12\" aria-hidden=\"true\"><path class=\"kind k{}\" d=\"M-5 -5h10v10h-10z\"/>\
             </svg>{}</li>",
            kind.min(KINDS - 1),
            cause
        )
    };
    let names: Markup = causes.iter().enumerate().map(name).collect();
    markup!("<ul class=\"kinds\">{}</ul>\n", names)
}

fn chart(line: &Line<'_>, causes: &[String]) -> Markup {
    let layer = |lost: Lost| {
        let kind = causes.iter().position(|cause| *cause == lost.cause).unwrap_or(KINDS);
        Layer { kind, value: lost.count, says: lost.says }
    };
    let stack = |plateau: &Plateau| {
        let mut layers: Vec<Layer> = lost(plateau).into_iter().map(layer).collect();
        layers.sort_by_key(|layer| layer.kind);
        Stack { place: number(Unit::Count, plateau.connections as f64), layers }
    };
    let chart = Stacks {
        about: About {
            title: format!("{}: what was lost", line.title),
            description:
                "Connections that failed, were lost or fell silent, by cause, at each plateau"
                    .into(),
            heading: line.title.clone(),
            note: "connections at each plateau, all rounds".into(),
            ..About::default()
        },
        slot: line.slot,
        columns: line.held.plateaus.iter().map(stack).collect(),
    };
    chart.svg(false)
}
