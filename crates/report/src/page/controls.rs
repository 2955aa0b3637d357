//! The controls for the script: which servers are shown, and how axes go. Without a script none of them is there.

use crate::Findings;
use crate::chart::marks::{colour, key};
use crate::markup::{Markup, markup};

/// A chip for each competitor, a field to search them, and the two kinds of axes.
pub(super) fn controls(findings: &Findings<'_>) -> Markup {
    let tables = findings.board.tables.iter();
    let mut slots: Vec<usize> = tables
        .flat_map(|table| findings.subjects(table))
        .map(|subject| findings.slot(subject))
        .collect();
    slots.sort_unstable();
    slots.dedup();
    let chips: Markup = slots.iter().map(|&slot| chip(findings, slot)).collect();
    // Of a single server there is nothing to choose.
    let choosing = (slots.len() < 2).then(|| Markup::fixed(" hidden"));
    markup!(
        "<div class=\"controls\" role=\"group\" aria-label=\"what is shown\" hidden>\n<div class=\"chips\"{1}>{0}</div>\n\
         <div class=\"ways\"><input{1} type=\"search\" placeholder=\"find a server\" aria-label=\"show only servers whose name, \
         version or language has this\" maxlength=\"60\" autocomplete=\"off\">\
         <button{1} type=\"button\" data-all=\"on\">all</button><button{1} type=\"button\" data-all=\"off\">none</button>\
         <button type=\"button\" data-way=\"rate\" aria-pressed=\"false\">logarithmic rates</button>\
         <button type=\"button\" data-way=\"time\" aria-pressed=\"false\">times from zero</button></div>\n</div>\n",
        chips,
        choosing
    )
}

fn chip(findings: &Findings<'_>, slot: usize) -> Markup {
    let Some(entry) = findings.run.entries.get(slot) else { return Markup::default() };
    let title = findings.title(&entry.name);
    let found_by = format!(
        "{} {title} {} {} {} {}",
        entry.name, entry.version, entry.language, entry.processes, entry.tier
    );
    markup!(
        "<button type=\"button\" class=\"chip\" data-s=\"{}\" data-name=\"{}\" data-find=\"{}\" aria-pressed=\"true\">\
         <svg class=\"key {}\" viewBox=\"-6 -6 12 12\" aria-hidden=\"true\">{}\n</svg>{}</button>",
        slot,
        entry.name,
        found_by.to_lowercase(),
        colour(slot),
        key(slot, (0.0, 0.0)),
        title
    )
}
