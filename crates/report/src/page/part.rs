//! What all parts of the page are made of: paragraphs and grids of text.

use crate::markup::escaped;

pub(crate) fn paragraph(class: &str, says: &str) -> String {
    format!("<p class=\"{class}\">{}</p>\n", escaped(says))
}

/// A table of texts; the first row is its heading. Cells are escaped here.
pub(crate) fn grid(rows: &[Vec<String>], class: &str) -> String {
    let mut html = String::from("<div class=\"scroll\"><table>\n");
    for (place, row) in rows.iter().enumerate() {
        let cell = if place == 0 { "th" } else { "td" };
        let cells =
            row.iter().map(|says| format!("<{cell} class=\"{class}\">{}</{cell}>", escaped(says)));
        html.push_str(&format!("<tr>{}</tr>\n", cells.collect::<String>()));
    }
    html + "</table></div>\n"
}
