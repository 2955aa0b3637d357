//! One self-contained HTML file: readable without script, no network. The little script is ours, and no other runs.

mod controls;
mod policy;

use analysis::{Verdict, Worth};

use crate::Findings;
use crate::chart::{SMALL_STYLE, STYLE};
use crate::document::{Document, Paragraph, Tone};
use crate::markup::{Markup, data_link, escaped};
use crate::render::html;
use crate::{conformance, detail, held, markup};
use controls::controls;
use policy::policy;

const PAGE_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    include_str!("../script/view.js"),
    include_str!("../script/figures.js"),
    include_str!("../script/cursor.js")
);

/// The whole page of a run.
pub(crate) fn page(findings: &Findings<'_>, document: &Document, csv: &str) -> String {
    let title = format!("{} · run {} · dyno", findings.run.name, findings.id);
    let levels = findings.board.tables.iter().map(|table| table.points().len()).max();
    let chart_style = format!("{STYLE}{SMALL_STYLE}{}", conformance::pale(findings));
    let chosen = html::chosen(levels.unwrap_or_default());
    let parts = [PAGE_STYLE, detail::STYLE, held::STYLE, conformance::STYLE].concat();
    let page_style = format!("{parts}{chosen}{}", conformance::pale_rows(findings));
    let policy = policy(&[&chart_style, &page_style], SCRIPT);
    let sections: Markup = document.sections.iter().map(html::section).collect();
    let body = markup!(
        "<main>\n{}{}{}{}</main>\n",
        heading(document),
        controls(findings),
        sections,
        ending(findings, document, csv)
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style id=\"charts\">{chart_style}</style>\n<style>{page_style}</style>\n</head>\n<body>\n{}\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(&title),
        body.as_str()
    )
}

/// The question, the answer, the verdict, and the conditions.
fn heading(document: &Document) -> Markup {
    let notes: Markup = document.notes.iter().map(html::paragraph).collect();
    let answer = document.answer.iter().map(|text| Paragraph::new(Tone::Strong, text.clone()));
    let answer: Markup = answer.map(|text| html::paragraph(&text)).collect();
    let conditions = Paragraph::new(Tone::Dim, document.conditions.join(" · "));
    markup!(
        "<header>\n<p class=\"eyebrow\">{}</p>\n<h1>{}</h1>\n{}{}{}{}</header>\n",
        document.label,
        document.title,
        notes,
        answer,
        document.worth.map_or(Markup::default(), badges),
        html::paragraph(&conditions)
    )
}

/// How many rows are valid, suspect, invalid: a sign and a word, so that no reader needs the colour.
fn badges(worth: Worth) -> Markup {
    let badge = |(verdict, count): (Verdict, usize)| {
        let none = if count == 0 { " none" } else { "" };
        let (sign, name) = (html::verdict_sign(verdict), verdict.name());
        markup!("<li class=\"verdict {}{}\">{}{} {}</li>", name, none, sign, count, name)
    };
    let all = [
        (Verdict::Valid, worth.valid),
        (Verdict::Suspect, worth.suspect),
        (Verdict::Invalid, worth.invalid),
    ];
    let all: Markup = all.into_iter().map(badge).collect();
    let untried = match worth.untried {
        0 => Markup::default(),
        count => markup!("<li class=\"why\">{} not yet run</li>", count),
    };
    markup!(
        "<ul class=\"badges\" aria-label=\"what the figures are worth\">{}{}\
         <li class=\"why\"><a href=\"#doubt\">why</a></li></ul>\n",
        all,
        untried
    )
}

fn ending(findings: &Findings<'_>, document: &Document, csv: &str) -> Markup {
    let texts: Markup = document.ending.iter().map(html::paragraph).collect();
    markup!(
        "<p><a download=\"run-{}.csv\" href=\"{}\">Every trial as CSV</a></p>\n{}",
        findings.id,
        data_link("text/csv", csv),
        texts
    )
}

/// The style of a report's parts in any other page.
pub fn style() -> String {
    [STYLE, SMALL_STYLE, PAGE_STYLE, conformance::STYLE].concat()
}

/// A paragraph between pictures.
pub(crate) fn paragraph(class: &str, says: &str) -> String {
    markup!("<p class=\"{}\">{}</p>\n", class, says).into_string()
}
