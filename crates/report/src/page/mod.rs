//! One self-contained HTML file: readable without script, no network. The little script is ours, and no other runs.

mod controls;
mod policy;

use analysis::{Verdict, Worth};

use crate::Findings;
use crate::chart::STYLE;
use crate::document::{Document, Paragraph, Tone};
use crate::glossary::explained;
use crate::markup::{Markup, data_link, markup};
use crate::render::{Format, html};
use crate::{conformance, detail, flame};
use controls::controls;
use policy::Policy;

const PAGE_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(
    include_str!("../script/view.js"),
    include_str!("../script/figures.js"),
    include_str!("../script/cursor.js")
);

pub static HTML: Format = Format {
    name: "html",
    about: "One self-contained page",
    ending: "html",
    media_type: "text/html; charset=utf-8",
    make: |shown, _| Ok(shown.page()),
};

/// The whole page of a run.
pub(crate) fn page(
    findings: &Findings<'_>,
    document: &Document,
    csv: &str,
    site: &OfSite,
) -> Markup {
    let levels = findings.board.tables.iter().map(|table| table.points().len()).max();
    let chosen = html::chosen(levels.unwrap_or_default());
    let ours =
        |texts: &[&'static str]| texts.iter().copied().map(Markup::fixed).collect::<Markup>();
    let chart_style = markup!("{}{}", ours(&[STYLE]), conformance::pale(findings));
    let parts = ours(&[PAGE_STYLE, detail::STYLE, flame::STYLE]);
    let page_style = markup!("{}{}{}", parts, chosen, conformance::pale_rows(findings));
    let body = body(document, &controls(findings), &every_trial(findings, csv), site);
    let title = format!("{} · run {} · dyno", findings.run.name, findings.id);
    framed(&title, [&chart_style, &page_style], &body, site)
}

/// A page of a document that is no run.
pub(crate) fn alone(document: &Document) -> Markup {
    of_site(document, &OfSite::default())
}

/// A page of a document that is no run, as one of a site's.
#[must_use]
pub fn of_site(document: &Document, site: &OfSite) -> Markup {
    let ours =
        |texts: &[&'static str]| texts.iter().copied().map(Markup::fixed).collect::<Markup>();
    let styles = [ours(&[STYLE]), ours(&[PAGE_STYLE, detail::STYLE])];
    let body = body(document, &Markup::default(), &Markup::default(), site);
    let name = if site.name.is_empty() { "dyno" } else { &site.name };
    framed(&format!("{} · {name}", document.title), [&styles[0], &styles[1]], &body, site)
}

/// A document with what a page has besides: what chooses servers, and links to data.
fn body(document: &Document, controls: &Markup, data: &Markup, site: &OfSite) -> Markup {
    markup!(
        "{}{}<main>\n{}{}{}{}{}</main>\n{}",
        skip(document),
        site.above,
        heading(document),
        controls,
        html::sections(&document.sections),
        data,
        document.ending.iter().map(html::paragraph).collect::<Markup>(),
        site.below
    )
}

/// What a page has besides if it is one of a site's.
#[derive(Debug, Default)]
pub struct OfSite {
    /// The site's.
    pub name: String,
    /// In the head of the page: the site's feed, the address by which the page is known.
    pub head: Markup,
    /// Above the page: the way to the site's other pages.
    pub above: Markup,
    /// Below the page.
    pub below: Markup,
    pub style: &'static str,
    /// A script besides the page's own, and the address of the file that it reads.
    pub script: &'static str,
    pub script_file: Option<String>,
}

impl OfSite {
    /// What runs a script besides the page's own.
    fn scripts(&self) -> Markup {
        let file = self.script_file.as_ref();
        let file = file.map(|address| markup!("<script src=\"{}\"></script>\n", address));
        let own = Some(Markup::fixed(self.script)).filter(|script| !script.is_empty());
        markup!("{}{}", file, own.map(|script| markup!("<script>{}</script>\n", script)))
    }

    fn styles(&self) -> Option<Markup> {
        let style = Some(Markup::fixed(self.style)).filter(|style| !style.is_empty());
        style.map(|style| markup!("<style>{}</style>\n", style))
    }
}

/// The file around a page's body.
fn framed(title: &str, [charts, page]: [&Markup; 2], body: &Markup, site: &OfSite) -> Markup {
    let policy = Policy {
        styles: &[charts.as_str(), page.as_str(), site.style],
        scripts: &[SCRIPT, site.script],
        has_files: site.script_file.is_some(),
    };
    markup!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style id=\"charts\">{}</style>\n<style>{}</style>\n{}{}</head>\n<body>\n{}\
         <script>{}</script>\n{}</body>\n</html>\n",
        policy.content(),
        title,
        charts,
        page,
        site.styles(),
        site.head,
        body,
        Markup::fixed(SCRIPT),
        site.scripts()
    )
}

/// The first stop of the Tab key: past links and controls, to the first section.
fn skip(document: &Document) -> Option<Markup> {
    let first = document.sections.iter().find(|section| !section.blocks.is_empty())?;
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
        worth(document),
        html::paragraph(&conditions)
    )
}

/// What all of it is worth, or how many rows are valid, suspect, invalid: a sign and a word, so that no reader needs the
/// colour.
fn worth(document: &Document) -> Option<Markup> {
    let badges = match document.worth {
        Some(worth) => badges(worth),
        None => badge(document.verdict?, None),
    };
    let is_doubted =
        document.sections.iter().any(|section| section.id == "doubt" && !section.blocks.is_empty());
    let why = Markup::fixed("<li class=\"why\"><a href=\"#doubt\">why</a></li>");
    Some(markup!(
        "<ul class=\"badges\" aria-label=\"what the figures are worth\">{}{}</ul>\n",
        badges,
        is_doubted.then_some(why)
    ))
}

fn badge(verdict: Verdict, count: Option<usize>) -> Markup {
    let none = if count == Some(0) { " none" } else { "" };
    let count = count.map(|count| format!("{count} "));
    let (sign, name) = (html::verdict_sign(verdict), verdict.name());
    markup!("<li class=\"verdict {}{}\">{}{}{}</li>", name, none, sign, count, explained(name))
}

fn badges(worth: Worth) -> Markup {
    let all = [
        (Verdict::Valid, worth.valid),
        (Verdict::Suspect, worth.suspect),
        (Verdict::Invalid, worth.invalid),
    ];
    let all: Markup = all.into_iter().map(|(verdict, count)| badge(verdict, Some(count))).collect();
    let untried = (0 < worth.untried)
        .then(|| markup!("<li class=\"why\">{} not yet run</li>", worth.untried));
    markup!("{}{}", all, untried)
}

fn every_trial(findings: &Findings<'_>, csv: &str) -> Markup {
    let name = match findings.is_kept() {
        true => format!("run-{}.csv", findings.id),
        false => "trials.csv".into(),
    };
    csv_link(&name, "Every trial as CSV", csv)
}

/// Data that a page carries, to be saved as a file of this name.
fn csv_link(name: &str, says: &str, csv: &str) -> Markup {
    let data = data_link("text/csv", csv);
    markup!("<p><a download=\"{}\" href=\"{}\">{}</a></p>\n", name, data, says)
}

/// The style of a report's parts in any other page.
pub fn style() -> String {
    [STYLE, PAGE_STYLE].concat()
}
