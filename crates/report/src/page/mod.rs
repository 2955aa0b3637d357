//! One self-contained HTML file: readable without script, no network. The little script is ours, and no other runs.

mod controls;
mod policy;

use analysis::{Verdict, Worth};

use crate::Findings;
use crate::chart::STYLE;
use crate::document::{Document, Paragraph, Tone};
use crate::glossary::explained;
use crate::markup::{Markup, data_link, markup};
use crate::render::html;
use crate::{conformance, detail, held};
use controls::controls;
use policy::policy;

const PAGE_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    include_str!("../script/view.js"),
    include_str!("../script/figures.js"),
    include_str!("../script/cursor.js")
);

/// The whole page of a run.
pub(crate) fn page(findings: &Findings<'_>, document: &Document, csv: &str) -> Markup {
    let levels = findings.board.tables.iter().map(|table| table.points().len()).max();
    let chosen = html::chosen(levels.unwrap_or_default());
    let ours =
        |texts: &[&'static str]| texts.iter().copied().map(Markup::fixed).collect::<Markup>();
    let chart_style = markup!("{}{}", ours(&[STYLE]), conformance::pale(findings));
    let parts = ours(&[PAGE_STYLE, detail::STYLE, held::STYLE, conformance::STYLE]);
    let page_style = markup!("{}{}{}", parts, chosen, conformance::pale_rows(findings));
    let body = markup!(
        "{}<main>\n{}{}{}{}</main>\n",
        skip(document),
        heading(document),
        controls(findings),
        html::sections(&document.sections),
        ending(findings, document, csv)
    );
    let title = format!("{} · run {} · dyno", findings.run.name, findings.id);
    framed(&title, [&chart_style, &page_style], &body)
}

/// A page of a document that is no run.
pub(crate) fn alone(document: &Document) -> Markup {
    let ours =
        |texts: &[&'static str]| texts.iter().copied().map(Markup::fixed).collect::<Markup>();
    let styles = [ours(&[STYLE]), ours(&[PAGE_STYLE, detail::STYLE])];
    let doubts = document.verdict.map(|verdict| {
        let (name, sign) = (verdict.name(), html::verdict_sign(verdict));
        markup!(
            "<ul class=\"badges\" aria-label=\"what the figures are worth\"><li class=\"verdict {}\">{}{}</li>{}</ul>\n",
            name,
            sign,
            name,
            document.sections.iter().any(|section| section.id == "doubt").then(why)
        )
    });
    let body = markup!(
        "{}<main>\n{}{}{}{}</main>\n",
        skip(document),
        heading(document),
        doubts,
        html::sections(&document.sections),
        document.ending.iter().map(html::paragraph).collect::<Markup>()
    );
    framed(&format!("{} · dyno", document.title), [&styles[0], &styles[1]], &body)
}

fn why() -> Markup {
    Markup::fixed("<li class=\"why\"><a href=\"#doubt\">why</a></li>")
}

/// The file around a page's body.
fn framed(title: &str, [charts, page]: [&Markup; 2], body: &Markup) -> Markup {
    markup!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style id=\"charts\">{}</style>\n<style>{}</style>\n</head>\n<body>\n{}\
         <script>{}</script>\n</body>\n</html>\n",
        policy(&[charts.as_str(), page.as_str()], SCRIPT),
        title,
        charts,
        page,
        body,
        Markup::fixed(SCRIPT)
    )
}

/// The first stop of the Tab key: past the controls, to the first section.
fn skip(document: &Document) -> Option<Markup> {
    let mut sections = document.sections.iter();
    let first =
        sections.find(|section| !section.heading.is_empty() && !section.blocks.is_empty())?;
    Some(markup!("<a class=\"skip\" href=\"#{}\">Skip to the results</a>\n", first.id.as_ref()))
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
        document.worth.map(badges),
        html::paragraph(&conditions)
    )
}

/// How many rows are valid, suspect, invalid: a sign and a word, so that no reader needs the colour.
fn badges(worth: Worth) -> Markup {
    let badge = |(verdict, count): (Verdict, usize)| {
        let none = if count == 0 { " none" } else { "" };
        let (sign, name) = (html::verdict_sign(verdict), verdict.name());
        markup!("<li class=\"verdict {}{}\">{}{} {}</li>", name, none, sign, count, explained(name))
    };
    let all = [
        (Verdict::Valid, worth.valid),
        (Verdict::Suspect, worth.suspect),
        (Verdict::Invalid, worth.invalid),
    ];
    let all: Markup = all.into_iter().map(badge).collect();
    let untried = (0 < worth.untried)
        .then(|| markup!("<li class=\"why\">{} not yet run</li>", worth.untried));
    markup!(
        "<ul class=\"badges\" aria-label=\"what the figures are worth\">{}{}{}</ul>\n",
        all,
        untried,
        why()
    )
}

fn ending(findings: &Findings<'_>, document: &Document, csv: &str) -> Markup {
    let texts: Markup = document.ending.iter().map(html::paragraph).collect();
    let name = match findings.is_kept() {
        true => format!("run-{}.csv", findings.id),
        false => "trials.csv".into(),
    };
    let link = csv_link(&name, "Every trial as CSV", csv);
    markup!("{}{}", link, texts)
}

/// Data that a page carries, to be saved as a file of this name.
fn csv_link(name: &str, says: &str, csv: &str) -> Markup {
    let data = data_link("text/csv", csv);
    markup!("<p><a download=\"{}\" href=\"{}\">{}</a></p>\n", name, data, says)
}

/// The style of a report's parts in any other page.
pub fn style() -> String {
    [STYLE, PAGE_STYLE, conformance::STYLE].concat()
}
