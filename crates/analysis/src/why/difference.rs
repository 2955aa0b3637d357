//! What makes the second of two servers dearer than the first: lines, all decided together, and functions.

use std::collections::{BTreeMap, BTreeSet};

use profile::Line;

use super::sampling::Blocks;
use super::server::{Amount, SIDES, Server, Variance};
use super::{Differences, FunctionGap, Gap, LineGap, SideGap};
use crate::difference::ALPHA;
use crate::student;

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

/// The difference of two amounts.
struct Contrast {
    us: f64,
    /// Its standard error and degrees of freedom.
    error: Option<(f64, f64)>,
}

/// A function of either server.
struct Function<'p> {
    name: &'p str,
    places: [Option<u32>; 2],
    contrast: Contrast,
    /// What it costs where it costs more.
    most_us: f64,
    /// Its largest share of a server's samples.
    share: f64,
    depth: usize,
}

impl Contrast {
    fn of(a: Amount, b: Amount) -> Contrast {
        let error = a.errors.zip(b.errors).map(|([a, of_a], [b, of_b])| {
            let parts = [a, of_a, b, of_b];
            Variance::together(&parts)
        });
        Contrast { us: b.us - a.us, error }
    }

    /// The probability of a difference at least this large among equals.
    fn p(&self) -> f64 {
        let Some((error, freedom)) = self.error else { return 1.0 };
        if 0.0 < error { student::two_sided(self.us.abs() / error, freedom) } else { 1.0 }
    }

    fn gap(&self, outside: f64) -> Gap {
        let half = self.error.map(|(error, freedom)| student::point(outside, freedom) * error);
        let (low_us, high_us) = (half.map(|half| self.us - half), half.map(|half| self.us + half));
        Gap { us: self.us, low_us, high_us, outside }
    }
}

impl Differences {
    pub(super) fn between(a: &Server<'_>, b: &Server<'_>) -> Differences {
        let side = |side| {
            let [a, b] = [a, b].map(|server| server.amount(&server.sampling.of_side(side)));
            SideGap { side, gap: Contrast::of(a, b).gap(ALPHA) }
        };
        let whole = Contrast::of(a.whole(), b.whole());
        let least_us = LEAST_US.min(LEAST_SHARE * a.whole().us.max(b.whole().us));
        let judged = functions([a, b], least_us);
        let (shown, outside) = false_discoveries(&judged, least_us);
        let (leading, is_named) = leading([a, b], &shown, least_us);
        let [rest_a, rest_b] = [(a, &is_named[0]), (b, &is_named[1])]
            .map(|(server, is_named)| server.amount(&under(server, None, is_named)));
        let gap_of = |(function, is_leading): (&&Function<'_>, bool)| FunctionGap {
            name: function.name.into(),
            gap: function.contrast.gap(outside),
            is_leading,
        };
        Differences {
            cpu: whole.gap(ALPHA),
            sides: SIDES.map(side).into(),
            lines: lines([a, b]),
            functions: shown.iter().zip(leading).map(gap_of).collect(),
            functions_judged: judged.len(),
            rest: Contrast::of(rest_a, rest_b).gap(ALPHA),
        }
    }
}

/// All lines of both, decided together by Holm's method: the probability that even one of them is said to differ among
/// equals is at most 1 in 20.
fn lines([a, b]: [&Server<'_>; 2]) -> Vec<LineGap> {
    let none = vec![0.0; 0];
    let names: BTreeSet<&Line> = a.sampling.lines.keys().chain(b.sampling.lines.keys()).collect();
    let amount =
        |server: &Server<'_>, line| server.amount(server.sampling.lines.get(line).unwrap_or(&none));
    let mut contrasts: Vec<(&Line, Contrast)> =
        names.iter().map(|line| (*line, Contrast::of(amount(a, line), amount(b, line)))).collect();
    contrasts.sort_by(|(_, one), (_, other)| one.p().total_cmp(&other.p()));
    let (count, mut shown) = (contrasts.len(), 0);
    let mut gaps = Vec::with_capacity(count);
    for (place, (line, contrast)) in contrasts.iter().enumerate() {
        let outside = ALPHA / (count - shown) as f64;
        // Only a line that is shown leaves its share to the others.
        let is_shown = shown == place && contrast.p() < outside;
        shown += usize::from(is_shown);
        gaps.push(LineGap { line: (*line).clone(), gap: contrast.gap(outside), is_shown });
    }
    gaps.sort_by(|one, other| other.gap.us.abs().total_cmp(&one.gap.us.abs()));
    gaps
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
        let [a, b] = [0, 1].map(|side| {
            let blocks = places[side].map_or(&[][..], |place| &blocks[side][place as usize]);
            (servers[side].amount(blocks), servers[side].share(blocks))
        });
        let depths = [0, 1].map(|side| {
            places[side].map_or(0, |place| servers[side].sampling.depths[place as usize])
        });
        if least_us <= a.0.us + b.0.us {
            found.push(Function {
                name,
                places,
                contrast: Contrast::of(a.0, b.0),
                most_us: a.0.us.max(b.0.us),
                share: a.1.max(b.1),
                depth: depths[0].max(depths[1]),
            });
        }
    }
    found
}

/// Those that differ by Benjamini and Hochberg's method and by enough, the largest difference first; and the level of
/// their intervals: of intervals chosen so, as small a share do not hold the truth.
fn false_discoveries<'f, 'p>(
    judged: &'f [Function<'p>],
    least_us: f64,
) -> (Vec<&'f Function<'p>>, f64) {
    let mut ordered: Vec<(f64, &Function<'_>)> =
        judged.iter().map(|function| (function.contrast.p(), function)).collect();
    ordered.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let level = |count: usize| FALSE_FUNCTIONS * count as f64 / judged.len() as f64;
    let count = (1..=ordered.len()).rev().find(|count| ordered[count - 1].0 <= level(*count));
    let count = count.unwrap_or(0);
    let found = ordered.into_iter().take(count).map(|(_, function)| function);
    let mut found: Vec<&Function<'_>> =
        found.filter(|function| least_us <= function.contrast.us.abs()).collect();
    found.sort_by(|one, other| other.contrast.us.abs().total_cmp(&one.contrast.us.abs()));
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
        let (own_us, whole_us) = (own[1] - own[0], function.contrast.us);
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
