//! The top of the page: the question, the answer, what it is worth, and under which conditions.

use super::badge::badges;
use super::part::paragraph;
use crate::markup::escaped;
use crate::{Findings, sentence};

pub(super) fn heading(findings: &Findings<'_>) -> String {
    let words = &findings.words;
    let question = findings.experiment.map_or(findings.run.name.as_str(), |found| &found.question);
    let eyebrow = format!("{} · run {} · {}", findings.run.name, findings.id, words.began);
    let article = findings.experiment.and_then(|found| found.article.as_ref());
    let after =
        article.map_or(String::new(), |article| paragraph("dim", &format!("After: {article}")));
    let warnings = words.warnings.iter().chain(&words.alarms);
    let warnings: String = warnings.map(|says| paragraph("warn", says)).collect();
    let answers: String =
        sentence::all(findings).iter().map(|says| paragraph("lede", says)).collect();
    let conditions = format!("{} · {}", words.load, words.machine);
    format!(
        "<header>\n{}<h1>{}</h1>\n{after}{warnings}{answers}{}{}</header>\n",
        paragraph("eyebrow", &eyebrow),
        escaped(question),
        badges(findings.board.worth()),
        paragraph("dim", &conditions)
    )
}
