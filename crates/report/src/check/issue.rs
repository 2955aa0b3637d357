//! One finding as an issue for the server's own tracker: what was sent, what came, what the RFC demands, how to repeat
//! it. Bytes and words of the server are shown, never obeyed.

use check::{CaseVerdict, Finding};

use super::excerpt::{Cut, side};
use super::repeat::command;
use super::{CheckResult, CheckedServer};
use crate::conformance::rounds;
use crate::render::markdown_text as shown;

/// Markdown; or why there is nothing to report.
pub fn issue(checked: &CheckedServer) -> Result<String, String> {
    let result = checked.result.as_ref().map_err(|why| format!("{}: {why}", checked.name))?;
    let Some(finding) = result.report.findings.first() else {
        return Err(format!("{}: the case was not played", checked.name));
    };
    match finding.verdict {
        CaseVerdict::Fail | CaseVerdict::Crash | CaseVerdict::Warn => {
            Ok(written(checked, result, finding))
        }
        CaseVerdict::Pass => {
            Err(format!("{}: {} passes: there is nothing to report", checked.name, finding.id))
        }
        CaseVerdict::NotTestable | CaseVerdict::NotApplicable => Err(format!(
            "{}: {} is {}: {}",
            checked.name,
            finding.id,
            finding.verdict.name(),
            finding.why
        )),
    }
}

fn written(checked: &CheckedServer, result: &CheckResult, finding: &Finding) -> String {
    let names = [&checked.title, &result.version].into_iter();
    let names: Vec<String> =
        names.filter(|name| !name.is_empty()).map(|name| shown(name)).collect();
    let server = if names.is_empty() { shown(&checked.name) } else { names.join(" ") };
    let link = format!("[{}]({}), {}", finding.clause, finding.clause_link(), finding.level.name());
    let tags: Vec<&str> = finding.tags.iter().map(|tag| tag.name()).collect();
    let tags = match tags.is_empty() {
        true => String::new(),
        false => format!(" A failure can be used for: {}.", tags.join(", ")),
    };
    let kept = &finding.evidence;
    let mut parts = vec![
        format!("## {}: {}", shown(&finding.title), shown(&finding.why)),
        format!("Server: {server}"),
        format!("**What the RFC demands** ({link}): {}.{tags}", shown(&finding.demand)),
        "**What was sent**".into(),
        quoted(finding, &kept.sent, kept.sent_len),
        format!("**What came**: {}", shown(&finding.why)),
        quoted(finding, &kept.received, kept.received_len),
        format!("**What would be right**: {}", shown(&finding.expected)),
        "**How to repeat it**".into(),
        match command(finding, &result.target) {
            Ok(line) => format!("```sh\n{line}\n```"),
            Err(why) => format!(
                "The bytes alone do not repeat it: {why}. This does: `dyno check ADDRESS --case {}`",
                finding.id
            ),
        },
    ];
    match finding.verdict {
        CaseVerdict::Warn => {
            parts.push(format!("It is only a warning: {}.", shown(&finding.doubt)));
        }
        CaseVerdict::Crash => parts.push("Afterwards the server no longer answered.".into()),
        CaseVerdict::Fail
        | CaseVerdict::Pass
        | CaseVerdict::NotTestable
        | CaseVerdict::NotApplicable => {}
    }
    if finding.is_unstable() {
        parts.push(format!("Not every round was alike: {}.", shown(&rounds(finding))));
    }
    parts.push(format!(
        "Found by dyno {}, case {}, catalogue {}. `\\r`, `\\n`, `\\t` and `\\xNN` stand for unseen octets.",
        env!("CARGO_PKG_VERSION"),
        finding.id,
        result.report.catalogue
    ));
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n") + "\n"
}

/// A block of code by its indent, so that no byte of the server can end it.
fn quoted(finding: &Finding, bytes: &[u8], len: u64) -> String {
    let lines = side(finding, bytes, len, Cut::WHOLE);
    lines.iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
