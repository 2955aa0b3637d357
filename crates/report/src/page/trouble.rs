//! What is in doubt, what failed, what went wrong, with the evidence.

use super::part::paragraph;
use crate::Findings;
use crate::markup::escaped;

/// What is in doubt, what failed, what went wrong, with the evidence: all of it may be a server's words.
pub(super) fn troubles(findings: &Findings<'_>) -> String {
    let mut html = String::from("<h2 id=\"doubt\">What to doubt</h2>\n");
    let told = findings.words.troubles.iter().filter(|lines| !lines.is_empty());
    let told: Vec<String> = told
        .map(|lines| {
            let (first, rest) = lines.split_first().map_or(("", &[][..]), |(f, r)| (f.as_str(), r));
            format!("<h3>{}</h3>\n<pre>{}</pre>\n", escaped(first), escaped(&rest.join("\n")))
        })
        .collect();
    if told.is_empty() {
        html.push_str(&paragraph("", "Nothing that dyno looks for was found."));
    }
    html + &told.concat()
}
