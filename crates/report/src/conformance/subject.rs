//! One subject: its lines, what it breaks with the bytes, and its warnings, folded. What the server did is its own to say:
//! everything is escaped.

use analysis::{Conformity, Score, failures};
use lab::conformance::{Finding, Verdict};

use super::octets;
use crate::Findings;
use crate::markup::escaped;
use crate::page::part::paragraph;
use crate::page::table::key_of;

/// So many failures of a subject come with their bytes.
const WITH_BYTES: usize = 40;
/// So many octets of a side are shown.
const SHOWN: usize = 300;

pub(super) fn told(
    findings: &Findings<'_>,
    found: &Conformity,
    score: &Score,
    is_open: bool,
) -> String {
    let slot = findings.slot(&found.subject);
    let key = key_of((!found.is_reference).then_some(slot));
    let open = if is_open { " open" } else { "" };
    let lines: String = score.lines().iter().map(|line| paragraph("score", line)).collect();
    let found_in = match found.from_run {
        None => String::new(),
        Some(run) => {
            paragraph("dim", &format!("As checked for run {run}, with the same build and version."))
        }
    };
    let cut_short = match score.cut_short.as_str() {
        "" => String::new(),
        why => paragraph("warn", &format!("The check was cut short: {why}.")),
    };
    format!(
        "<details class=\"kept\" data-s=\"{slot}\"{open}><summary>{key}<b>{}</b> <span class=\"dim\">{}</span></summary>\n\
         {lines}{found_in}{cut_short}{}</details>\n",
        escaped(findings.title(&found.subject)),
        escaped(&score.short()),
        cases(all(findings, &found.subject))
    )
}

fn all<'t>(findings: &'t Findings<'_>, subject: &str) -> &'t [Finding] {
    let found = findings.run.conformance.iter().find(|found| found.subject == subject);
    found.and_then(|found| found.found.as_ref().ok()).map_or(&[], |report| &report.findings)
}

fn cases(all: &[Finding]) -> String {
    let failures = failures(all);
    let broken = failures.iter().enumerate();
    let broken: String =
        broken.map(|(place, finding)| failure(finding, place < WITH_BYTES)).collect();
    let broken = match failures.is_empty() {
        true => paragraph("dim", "Nothing of what was asked is broken."),
        false => format!("<ul class=\"cases\">\n{broken}</ul>\n"),
    };
    let folded = |verdict: Verdict, heading: &str, line: fn(&Finding) -> String| {
        let these: Vec<&Finding> = all.iter().filter(|it| it.verdict == verdict).collect();
        let lines: String = these.iter().map(|finding| line(finding)).collect();
        match these.len() {
            0 => String::new(),
            many => format!(
                "<details class=\"fold\"><summary>{heading}: {many}</summary>\n<ul class=\"cases\">\n{lines}</ul>\n</details>\n"
            ),
        }
    };
    broken
        + &folded(Verdict::Warn, "tolerable", warning)
        + &folded(Verdict::NotTestable, "not testable", bare)
}

fn failure(finding: &Finding, has_bytes: bool) -> String {
    let mut html = format!("<li>{}", heading(finding));
    if finding.verdict == Verdict::Crash {
        html.push_str(" <b class=\"bad\">CRASH</b>");
    }
    html.push_str(&paragraph("", &format!("It did: {}", finding.why)));
    html.push_str(&paragraph(
        "dim",
        &format!(
            "{} asks: {}. Right would be: {}.{}",
            finding.clause,
            finding.demand,
            finding.expected,
            unstable(finding)
        ),
    ));
    if has_bytes {
        let evidence = &finding.evidence;
        html.push_str("<details class=\"bytes\"><summary>the bytes</summary>\n");
        html.push_str(&side("sent", &evidence.sent, evidence.sent_len));
        html.push_str(&side("received", &evidence.heard, evidence.heard_len));
        html.push_str("</details>");
    }
    html + "</li>\n"
}

fn side(name: &str, kept: &[u8], len: u64) -> String {
    let shown = &kept[..kept.len().min(SHOWN)];
    let more = if (shown.len() as u64) < len {
        format!(", the first {}", shown.len())
    } else {
        String::new()
    };
    format!("<p class=\"dim\">{name}: {len} octets{more}</p><pre>{}</pre>\n", octets(shown))
}

fn warning(finding: &Finding) -> String {
    let says = format!(
        "It did: {}. {}: {}.{}",
        finding.why,
        finding.clause,
        finding.doubt,
        unstable(finding)
    );
    format!("<li>{}{}</li>\n", heading(finding), paragraph("dim", &says))
}

fn bare(finding: &Finding) -> String {
    format!("<li>{}{}</li>\n", heading(finding), paragraph("dim", &finding.why))
}

/// The rounds, where they differ.
fn unstable(finding: &Finding) -> String {
    let rounds: Vec<&str> = finding.rounds.iter().map(|verdict| verdict.name()).collect();
    match finding.is_unstable() {
        false => String::new(),
        true => format!(" Round by round: {}.", rounds.join(", ")),
    }
}

fn heading(finding: &Finding) -> String {
    let tags: String = finding
        .tags
        .iter()
        .map(|tag| format!(" <span class=\"tag bad\">{}</span>", tag.name()))
        .collect();
    format!(
        "<code>{}</code> <span class=\"tag\">{}</span>{tags} {}",
        escaped(&finding.id),
        finding.level.name(),
        escaped(&finding.title)
    )
}
