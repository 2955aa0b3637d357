//! A picture for a README: a value with its interval, its class of machines, month and verdict; never a rank.

use analysis::Verdict;
use report::markup::{Markup, markup};
use report::run::cell_of;

use crate::ranking::Shown;
use crate::slug::slug;

pub(crate) fn address(server: &str, workload: &str) -> String {
    format!("b/{}/{}.svg", slug(server), slug(workload))
}

pub(crate) fn badge(shown: Shown<'_>) -> Markup {
    let Shown { run, row, .. } = shown;
    let value = row.estimate(row.leading).map_or_else(String::new, |estimate| {
        let cell = cell_of(row.leading, estimate);
        let alone = if cell.interval.is_none() { " (one round)" } else { "" };
        format!("{} {}{alone}", row.leading.heading(), cell.whole_text())
    });
    let date = run.date();
    let month = date.get(..7).unwrap_or(&date);
    let name = format!("{} · {}, {}", cut(&row.title), cut(&row.task), row.place);
    let says = format!("{value} · {} · {month}", run.class.label);
    let verdict = row.verdict.name();
    let colour = match row.verdict {
        Verdict::Valid => "#1a7f4b",
        Verdict::Suspect => "#8a5a00",
        Verdict::Invalid => "#b3261e",
    };
    let widths = [&name, &says, verdict].map(width);
    let [first, second, third] = widths;
    let whole = first + second + third;
    let text = |x: f64, says: &str| markup!("<text x=\"{:.0}\" y=\"14\">{}</text>", x, says);
    markup!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0}\" height=\"20\" role=\"img\" viewBox=\"0 0 {0:.0} 20\">\n\
         <title>{1}: {2} · {3}</title>\n\
         <rect width=\"{0:.0}\" height=\"20\" rx=\"3\" fill=\"#3d444d\"/>\n\
         <rect x=\"{4:.0}\" width=\"{5:.0}\" height=\"20\" fill=\"#57606a\"/>\n\
         <path d=\"M{6:.0} 0h{7:.0}q3 0 3 3v14q0 3-3 3h-{7:.0}z\" fill=\"{8}\"/>\n\
         <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">\n{9}{10}{11}</g>\n</svg>\n",
        whole,
        name,
        says,
        verdict,
        first,
        second,
        first + second,
        third - 3.0,
        colour,
        text(7.0, &name),
        text(first + 7.0, &says),
        text(first + second + 7.0, verdict)
    )
}

/// No part of a name is longer here.
const LONGEST: usize = 40;

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// About as wide as the text is drawn.
fn width(text: impl AsRef<str>) -> f64 {
    14.0 + 6.6 * text.as_ref().chars().count() as f64
}
