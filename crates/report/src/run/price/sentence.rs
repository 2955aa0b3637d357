//! What is said of prices in the summary of a run.

use analysis::{Change, MannerPrice, PaidFor, Pair, Why};
use lab::figure::Figure;
use units::listed_in_short;

use super::{is_doubtful, which};
use crate::paired::{self, Ratio};
use crate::run::findings::Findings;
use crate::sentence::marked_name;

/// Prices at the highest place of the axis where a server has one, a sentence each; those without a difference together.
pub(crate) fn sentences(findings: &Findings<'_>) -> Vec<String> {
    let mut prices = findings.board.prices();
    prices.retain(|price| competitors(price).next().is_some());
    let all = prices.clone();
    prices.retain(|price| {
        let same = all.iter().filter(|other| other.tasks == price.tasks);
        same.map(|other| other.point.value()).fold(0.0, f64::max) <= price.point.value()
    });
    let (shown, not_shown): (Vec<_>, Vec<_>) = prices.iter().partition(|price| shows(price));
    let says = shown.iter().filter_map(|price| {
        Some(format!("{}: {}.", headed(findings, price), parts(findings, price)?))
    });
    let mut texts: Vec<String> = says.collect();
    if !not_shown.is_empty() {
        let pairs: Vec<String> = not_shown.iter().map(|price| headed(findings, price)).collect();
        texts.push(format!(
            "For no server this data shows a difference that is due to {}.",
            pairs.join("; ")
        ));
    }
    texts
}

/// Whether this data shows a difference for any server, or may.
fn shows(price: &MannerPrice<'_>) -> bool {
    let is_shown =
        |pair: &Pair<'_>| !matches!(change(pair, price.primary()), Some(Change::NotShown));
    competitors(price).any(is_shown)
}

fn competitors<'p, 'b>(price: &'p MannerPrice<'b>) -> impl Iterator<Item = &'p Pair<'b>> {
    price.pairs.iter().filter(|pair| !pair.b.is_reference)
}

fn change(pair: &Pair<'_>, figure: Figure) -> Option<Change> {
    pair.made(figure).ok().map(|made| made.finding())
}

/// `TLS (hello over http/1.1+tls ÷ hello over http/1.1, at 4 connections)`.
fn headed(findings: &Findings<'_>, price: &MannerPrice<'_>) -> String {
    let name = match price.paid_for {
        PaidFor::Resumption => "Resumption",
        PaidFor::Tls | PaidFor::Http2 => price.paid_for.meaning(),
    };
    format!("{name} ({})", which(findings, price))
}

/// What one price is for each server: that which pays most first, as is that which gains most.
fn parts(findings: &Findings<'_>, price: &MannerPrice<'_>) -> Option<String> {
    let primary = price.primary();
    let (mut worse, mut better, mut alike, mut single) = (vec![], vec![], vec![], vec![]);
    for pair in competitors(price) {
        let named = marked_name(findings, &pair.b.subject, is_doubtful(pair));
        match &pair.made(primary) {
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
