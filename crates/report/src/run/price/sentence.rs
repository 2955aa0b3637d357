//! What is said of prices in the summary of a run: a sentence for each thing that is paid for, with all numbers of streams.

use analysis::{Change, Comparison, MannerPrice, PaidFor, Pair, Why};
use lab::figure::Figure;
use lab::manner::Task;
use units::listed_in_short;

use super::{is_doubtful, made, name, which};
use crate::paired::{self, Ratio};
use crate::run::findings::Findings;
use crate::sentence::marked_name;

/// Prices at the highest place of the axis where a server has one; those that differ in nothing but the number of
/// streams stand in one sentence.
pub(crate) fn sentences(findings: &Findings<'_>) -> Vec<String> {
    let mut prices = findings.board.prices();
    prices.retain(|price| competitors(price).next().is_some());
    let all = prices.clone();
    prices.retain(|price| {
        let same = all.iter().filter(|other| other.tasks == price.tasks);
        same.map(|other| other.point.value()).fold(0.0, f64::max) <= price.point.value()
    });
    let (mut texts, mut without) = (Vec::new(), Vec::new());
    for price in &prices {
        let alike: Vec<&MannerPrice<'_>> =
            prices.iter().filter(|other| differ_in_streams(price, other)).collect();
        // Said with the first of them.
        if !std::ptr::eq(alike[0], price) {
            continue;
        }
        let (shown, not_shown): (Vec<_>, Vec<_>) = alike.into_iter().partition(|it| shows(it));
        without.extend(not_shown.iter().map(|price| headed(findings, price)));
        texts.extend(sentence(findings, &shown));
    }
    if !without.is_empty() {
        let pairs = without.join("; ");
        texts.push(format!("For no server this data shows a difference that is due to {pairs}."));
    }
    texts
}

/// Whether two prices differ in nothing but in how many streams a connection has; a price and itself, too.
fn differ_in_streams(one: &MannerPrice<'_>, other: &MannerPrice<'_>) -> bool {
    (one.paid_for, one.point) == (other.paid_for, other.point)
        && tasks_by_one_stream(one) == tasks_by_one_stream(other)
}

fn tasks_by_one_stream(price: &MannerPrice<'_>) -> [Task; 2] {
    price.tasks.clone().map(|mut task| {
        task.manner.streams = lab::manner::Manner::default().streams;
        task
    })
}

/// Whether this data shows a difference for any server, or may.
fn shows(price: &MannerPrice<'_>) -> bool {
    let is_shown =
        |pair: &Pair<'_>| !matches!(change(pair, price.primary()), Some(Change::NotShown));
    competitors(price).any(is_shown)
}

/// `HTTP/2 (hello over h2c ÷ hello over http/1.1, at 16 connections): with 1 stream, Quick answers …; with 10 streams, …`.
fn sentence(findings: &Findings<'_>, prices: &[&MannerPrice<'_>]) -> Option<String> {
    match prices {
        [] => None,
        [price] => Some(format!("{}: {}.", headed(findings, price), parts(findings, price)?)),
        [first, ..] => {
            let streams = |price: &MannerPrice<'_>| match price.tasks[1].manner.streams.get() {
                1 => "with 1 stream".to_string(),
                streams => format!("with {streams} streams"),
            };
            let said = |price: &&MannerPrice<'_>| {
                Some(format!("{}, {}", streams(price), parts(findings, price)?))
            };
            let said: Vec<String> = prices.iter().filter_map(said).collect();
            let [without, with] = first.tasks.each_ref().map(|task| {
                let name = findings.task(&task.to_string());
                let is_other =
                    |part: &&str| !part.ends_with(" streams") && !part.ends_with(" stream");
                name.split(", ").filter(is_other).collect::<Vec<_>>().join(", ")
            });
            let place = findings.place(first.point);
            let which = format!("{with} ÷ {without}, at {place}");
            (!said.is_empty())
                .then(|| format!("{} ({which}): {}.", beginning(first), said.join("; ")))
        }
    }
}

fn competitors<'p, 'b>(price: &'p MannerPrice<'b>) -> impl Iterator<Item = &'p Pair<'b>> {
    price.pairs.iter().filter(|pair| !pair.b.is_reference)
}

fn change(pair: &Pair<'_>, figure: Figure) -> Option<Change> {
    made(pair, figure)?.as_ref().ok().map(Comparison::finding)
}

/// `TLS (hello over http/1.1+tls ÷ hello over http/1.1, at 4 connections)`.
fn headed(findings: &Findings<'_>, price: &MannerPrice<'_>) -> String {
    format!("{} ({})", beginning(price), which(findings, price))
}

/// The name of what is paid for, where a sentence begins with it.
fn beginning(price: &MannerPrice<'_>) -> &'static str {
    match price.paid_for {
        PaidFor::Resumption => "Resumption",
        PaidFor::Tls | PaidFor::Http2 => name(price.paid_for),
    }
}

/// What one price is for each server: that which pays most first, as is that which gains most.
fn parts(findings: &Findings<'_>, price: &MannerPrice<'_>) -> Option<String> {
    let primary = price.primary();
    let (mut worse, mut better, mut alike, mut single) = (vec![], vec![], vec![], vec![]);
    for pair in competitors(price) {
        let named = marked_name(findings, &pair.b.subject, is_doubtful(pair));
        match made(pair, primary)? {
            Ok(made) => match made.finding() {
                Change::Worse => worse.push((named, Ratio::from(made))),
                Change::Better => better.push((named, Ratio::from(made))),
                Change::Differs | Change::Within | Change::NotShown => alike.push(named),
            },
            Err(Why::OneRound) => single.push(named),
            Err(_) => {}
        }
    }
    worse.reverse();
    let mut parts: Vec<String> =
        [worse, better].iter().filter_map(|servers| paired::each(primary, servers)).collect();
    if !alike.is_empty() {
        parts.push(format!("for {} this data shows no difference", listed_in_short(&alike)));
    }
    if !single.is_empty() {
        parts.push(format!(
            "after one round, nothing is known of the price for {}",
            listed_in_short(&single)
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}
