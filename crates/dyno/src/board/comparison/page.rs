//! A comparison as what stands in a page's body: the words and numbers of the text, in tables.

use analysis::{Gate, Pair};
use report::escaped;

use super::text::{Made, finding, findings, legend, more, ratio, value};
use super::{Compared, Side, answer, conformance};
use crate::report::paint::Ink;
use crate::report::table::Cell;
use crate::report::time::utc;
use lab::figure::Figure;

pub(super) fn of(compared: &Compared<'_>) -> String {
    let [a, b] = &compared.sides;
    let mut html = format!("{}<dl>{}{}</dl>\n", lede(compared), side("A", a), side("B", b));
    let same = |one: &Pair<'_>, other: &Pair<'_>| {
        (one.workload, one.a.point) == (other.workload, other.a.point)
    };
    for pairs in compared.versus.pairs.chunk_by(same) {
        html.push_str(&table(compared, pairs));
    }
    for says in legend(compared).iter().chain(&more(compared)) {
        html.push_str(&format!("<p class=\"dim\">{}</p>\n", escaped(says)));
    }
    let conformance: String = conformance::lines(compared)
        .iter()
        .map(|says| format!("<li>{}</li>\n", escaped(says)))
        .collect();
    if !conformance.is_empty() {
        html.push_str(&format!("<h2>Conformance, case by case</h2>\n<ul>\n{conformance}</ul>\n"));
    }
    let notes = compared.notes();
    if !notes.is_empty() {
        let items: String =
            notes.iter().map(|says| format!("<li>{}</li>\n", escaped(says))).collect();
        html.push_str(&format!("<h2>To be known</h2>\n<ul>\n{items}</ul>\n"));
    }
    html
}

/// The answer, why, and what all comparisons came to.
fn lede(compared: &Compared<'_>) -> String {
    let mut says = answer::says(compared);
    says.push(findings(compared));
    let class = |place: usize| if place == 0 { " class=\"lede\"" } else { "" };
    let texts = says.iter().enumerate();
    texts.map(|(place, says)| format!("<p{}>{}</p>\n", class(place), escaped(says))).collect()
}

fn side(name: &str, side: &Side<'_>) -> String {
    let told = side.told;
    let subject = side.subject.map_or(String::new(), |name| format!("{}, ", told.title(name)));
    let what = format!("{subject}{}, run {}", told.run.name, told.id);
    format!(
        "<dt>{name}</dt><dd><a href=\"/run/{0}\">{1}</a> <span class=\"dim\">{2}</span></dd>\n",
        escaped(&told.id),
        escaped(&what),
        escaped(&utc(told.run.began_unix_ms))
    )
}

/// Pairs of one workload at one point.
fn table(compared: &Compared<'_>, pairs: &[Pair<'_>]) -> String {
    let Some(first) = pairs.first() else { return String::new() };
    let is_named = compared.sides[0].subject.is_none();
    let mut html = format!(
        "<h2>{} <span class=\"dim\">at {}</span></h2>\n<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\"></th>\
         <th scope=\"col\" class=\"n\">A</th><th scope=\"col\" class=\"n\">B</th><th scope=\"col\" class=\"n\">B / A [95 %]</th>\
         <th scope=\"col\">B is</th></tr></thead>\n",
        escaped(first.workload),
        escaped(&first.a.point.to_string())
    );
    for pair in pairs {
        html.push_str("<tbody>\n");
        if is_named {
            let title = compared.sides[0].told.title(&pair.a.subject);
            html.push_str(&format!(
                "<tr><th scope=\"rowgroup\" colspan=\"5\">{}</th></tr>\n",
                escaped(title)
            ));
        }
        for (figure, made) in &pair.figures {
            html.push_str(&row(pair, *figure, made, compared.gate));
        }
        html.push_str("</tbody>\n");
    }
    html + "</table></div>\n"
}

fn row(pair: &Pair<'_>, figure: Figure, made: &Made, gate: Gate) -> String {
    let [a, b] = [(pair.a, 0), (pair.b, 1)].map(|(row, side)| value(row, figure, made, side));
    format!(
        "<tr><th scope=\"row\">{}</th>{}{}{}{}</tr>\n",
        escaped(figure.heading()),
        cell(&a, "n"),
        cell(&b, "n"),
        cell(&ratio(made), "n"),
        cell(&finding(made, gate, true), "")
    )
}

fn cell(cell: &Cell, class: &str) -> String {
    let (ink, text) = cell.parts();
    let ink = match ink {
        Ink::Plain => "",
        Ink::Dim => "dim",
        Ink::Bold => "bold",
        Ink::Good => "good",
        Ink::Doubtful => "doubtful",
        Ink::Bad => "bad",
    };
    format!("<td class=\"{}\">{}</td>", format!("{class} {ink}").trim(), escaped(text))
}
