//! What makes the second of two servers dearer than the first: lines, all decided together, and functions.

use std::collections::{BTreeMap, BTreeSet};

use profile::{Line, Side};

use super::amount::Amount;
use super::sampling::Blocks;
use super::server::{SIDES, Server};
use super::{Differences, FunctionGap, LineGap, Sides};
use crate::difference::ALPHA;

/// The share of false ones among the functions that are said to differ: Benjamini and Hochberg's method.
const FALSE_FUNCTIONS: f64 = 0.01;
/// A function's difference is not worth a word if it is smaller than this, ...
const LEAST_US: f64 = 0.2;
/// ... and than this share of the dearer server's CPU time of an answer.
const LEAST_SHARE: f64 = 0.02;
/// A function is leading if more than this share of its difference is outside of the leading functions that it calls.
const OWN: f64 = 0.2;
/// A function in more of the samples, such as `main`, explains nothing beyond what the functions do that it calls.
const EVERYWHERE: f64 = 0.9;

/// A function of either server.
struct Function<'p> {
    name: &'p str,
    places: [Option<u32>; 2],
    gap: Amount,
    /// What it costs where it costs more.
    most_us: f64,
    /// Its largest share of a server's samples.
    share: f64,
    depth: usize,
}

impl Differences {
    /// As one of so many comparisons that are made beside it: all that is decided by them together is wrong as seldom as
    /// that of a single one.
    pub(super) fn between(servers: [&Server<'_>; 2], comparisons: usize) -> Differences {
        let alpha = ALPHA / comparisons as f64;
        let wholes = servers.map(|server| server.amount(&server.sampling.total));
        let least_us = LEAST_US.min(LEAST_SHARE * wholes[0].us.max(wholes[1].us));
        let judged = functions(servers, least_us);
        let false_functions = FALSE_FUNCTIONS / comparisons as f64;
        let (shown, outside) = false_discoveries(&judged, least_us, false_functions);
        let (is_leading, is_named) = leading(servers, &shown, least_us);
        let rest = |side: usize| servers[side].amount(&under(servers[side], None, &is_named[side]));
        let functions = shown.iter().zip(is_leading).map(|(function, is_leading)| FunctionGap {
            name: function.name.into(),
            gap: function.gap.micros(outside),
            is_leading,
        });
        let (sides, lines) = parts(servers, alpha);
        Differences {
            cpu: gap(wholes).micros(alpha),
            sides,
            lines,
            functions: functions.collect(),
            functions_judged: judged.len(),
            rest: gap([rest(0), rest(1)]).micros(alpha),
        }
    }
}

fn gap([a, b]: [Amount; 2]) -> Amount {
    b.minus(a)
}

/// The sides and all lines of both, decided together by Holm's method: the probability that even one of them is said to
/// differ among equals is at most this.
fn parts(servers: [&Server<'_>; 2], alpha: f64) -> (Sides, Vec<LineGap>) {
    let names: BTreeSet<&Line> =
        servers.iter().flat_map(|server| server.sampling.lines.keys()).collect();
    let of_line = |line: &Line| {
        gap(servers.map(|it| it.amount(it.sampling.lines.get(line).map_or(&[], Vec::as_slice))))
    };
    let of_side = |side| gap(servers.map(|it| it.amount(&it.sampling.of_side(side))));
    let mut gaps: Vec<(Result<&Line, Side>, Amount)> =
        names.into_iter().map(|line| (Ok(line), of_line(line))).collect();
    gaps.extend(SIDES.map(|side| (Err(side), of_side(side))));
    gaps.sort_by(|(_, one), (_, other)| one.p().total_cmp(&other.p()));
    let mut shown = 0;
    let (mut sides, mut lines) = (Vec::new(), Vec::new());
    for (place, (part, gap)) in gaps.iter().enumerate() {
        let outside = alpha / (gaps.len() - shown) as f64;
        // Only a part that is shown leaves its share to the others.
        let is_shown = shown == place && gap.p() < outside;
        shown += usize::from(is_shown);
        match part {
            Ok(line) => {
                lines.push(LineGap { line: (*line).clone(), gap: gap.micros(outside), is_shown });
            }
            Err(side) => sides.push((*side, gap.micros(outside))),
        }
    }
    lines.sort_by(|one, other| other.gap.us.abs().total_cmp(&one.gap.us.abs()));
    let found =
        |side| sides.iter().find(|(other, _)| *other == side).expect("both servers are there").1;
    (Sides::of(found), lines)
}

/// The functions of both that cost enough for a difference that is worth a word.
fn functions<'p>(servers: [&Server<'p>; 2], least_us: f64) -> Vec<Function<'p>> {
    let blocks = servers.map(|server| server.sampling.by_function());
    let mut places: BTreeMap<&str, [Option<u32>; 2]> = BTreeMap::new();
    for (side, server) in servers.iter().enumerate() {
        for (place, name) in server.sampling.functions.iter().enumerate() {
            places.entry(name).or_default()[side] = Some(place as u32);
        }
    }
    let mut found = Vec::new();
    for (name, places) in places {
        let of_side = |side: usize| {
            places[side].map_or(&[][..], |place| blocks[side][place as usize].as_slice())
        };
        let depth = |side: usize| {
            places[side].map_or(0, |place| servers[side].sampling.depths[place as usize])
        };
        let amounts = [0, 1].map(|side| servers[side].amount(of_side(side)));
        if least_us <= amounts[0].us + amounts[1].us {
            found.push(Function {
                name,
                places,
                most_us: amounts[0].us.max(amounts[1].us),
                gap: gap(amounts),
                share: servers[0].share(of_side(0)).max(servers[1].share(of_side(1))),
                depth: depth(0).max(depth(1)),
            });
        }
    }
    found
}

/// Those that differ by Benjamini and Hochberg's method and by enough, the largest difference first, where this share of
/// them may be false; and the level of their intervals: of intervals chosen so, as small a share do not hold the truth.
fn false_discoveries<'f, 'p>(
    judged: &'f [Function<'p>],
    least_us: f64,
    share: f64,
) -> (Vec<&'f Function<'p>>, f64) {
    let mut ordered: Vec<(f64, &Function<'_>)> =
        judged.iter().map(|function| (function.gap.p(), function)).collect();
    ordered.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let level = |count: usize| share * count as f64 / judged.len() as f64;
    let count = (1..=ordered.len()).rev().find(|count| ordered[count - 1].0 <= level(*count));
    let count = count.unwrap_or(0);
    let found = ordered.into_iter().take(count).map(|(_, function)| function);
    let mut found: Vec<&Function<'_>> =
        found.filter(|function| least_us <= function.gap.us.abs()).collect();
    found.sort_by(|one, other| other.gap.us.abs().total_cmp(&one.gap.us.abs()));
    (found, level(count))
}

/// Which of these are leading, and of each server whether each function is. A function's callees cost no more than it,
/// so those that cost least are looked at first, of equals the innermost.
fn leading(
    servers: [&Server<'_>; 2],
    shown: &[&Function<'_>],
    least_us: f64,
) -> (Vec<bool>, [Vec<bool>; 2]) {
    let mut is_named = servers.map(|server| vec![false; server.sampling.functions.len()]);
    let mut leading = vec![false; shown.len()];
    let mut order: Vec<usize> = (0..shown.len()).collect();
    order.sort_by(|one, other| {
        let (one, other) = (shown[*one], shown[*other]);
        one.most_us.total_cmp(&other.most_us).then(other.depth.cmp(&one.depth))
    });
    for place in order {
        let function = shown[place];
        let own = [0, 1].map(|side| {
            let Some(of) = function.places[side] else { return 0.0 };
            servers[side].amount(&under(servers[side], Some(of), &is_named[side])).us
        });
        let (own_us, whole_us) = (own[1] - own[0], function.gap.us);
        let has_leading = 1e-9 < (own_us - whole_us).abs();
        let is_of_callees = own_us.abs() < least_us.max(OWN * whole_us.abs())
            || EVERYWHERE < function.share && has_leading;
        if !is_of_callees {
            leading[place] = true;
            for (is_named, place) in is_named.iter_mut().zip(function.places) {
                place.into_iter().for_each(|place| is_named[place as usize] = true);
            }
        }
    }
    (leading, is_named)
}

/// The samples of a function, or of all, that are in none of the named ones.
fn under(server: &Server<'_>, function: Option<u32>, is_named: &[bool]) -> Blocks {
    server.sampling.whose(|functions| {
        function.is_none_or(|function| functions.binary_search(&function).is_ok())
            && !functions.iter().any(|function| is_named[*function as usize])
    })
}
