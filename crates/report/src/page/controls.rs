//! What a script adds: whom to show, how axes go. Nothing of it is there without one.

use crate::Findings;
use crate::chart::marks::{colour, key};
use crate::markup::escaped;

/// A chip for each competitor, a field to find them by, and the two ways of the axes.
pub(super) fn controls(findings: &Findings<'_>) -> String {
    let tables = findings.board.tables.iter();
    let mut slots: Vec<usize> = tables
        .flat_map(|table| findings.subjects(table))
        .map(|subject| findings.slot(subject))
        .collect();
    slots.sort_unstable();
    slots.dedup();
    let chips: String = slots.iter().map(|&slot| chip(findings, slot)).collect();
    format!(
        "<div class=\"controls\" role=\"group\" aria-label=\"what is shown\" hidden>\n<div class=\"chips\">{chips}</div>\n\
         <div class=\"ways\"><input type=\"search\" placeholder=\"find a server\" aria-label=\"show only servers whose name, \
         version or language has this\" maxlength=\"60\" autocomplete=\"off\">\
         <button type=\"button\" data-all=\"on\">all</button><button type=\"button\" data-all=\"off\">none</button>\
         <button type=\"button\" data-way=\"rate\" aria-pressed=\"false\">rates by factors</button>\
         <button type=\"button\" data-way=\"time\" aria-pressed=\"false\">times from zero</button></div>\n</div>\n"
    )
}

fn chip(findings: &Findings<'_>, slot: usize) -> String {
    let Some(entry) = findings.run.entries.get(slot) else { return String::new() };
    let title = findings.title(&entry.name);
    let found_by = format!(
        "{} {title} {} {} {} {}",
        entry.name, entry.version, entry.language, entry.processes, entry.tier
    );
    format!(
        "<button type=\"button\" class=\"chip\" data-s=\"{slot}\" data-name=\"{}\" data-find=\"{}\" aria-pressed=\"true\">\
         <svg class=\"key {}\" viewBox=\"-6 -6 12 12\" aria-hidden=\"true\">{}</svg>{}</button>",
        escaped(&entry.name),
        escaped(&found_by.to_lowercase()),
        colour(slot),
        key(slot, (0.0, 0.0)),
        escaped(title)
    )
}
