//! Checks as JUnit XML, which GitLab, Jenkins and others read: a suite for each server, a test for each case.

use check::{CaseVerdict, FailOn, Finding};

use super::excerpt::{Cut, lines};
use super::{CheckResult, CheckedServer};
use crate::conformance::rounds;

/// The whole document, with a line end. A failure that `fail_on` allows is no failure here either, so that both agree.
pub(super) fn junit(checked: &[CheckedServer], fail_on: FailOn) -> String {
    let suites: String = checked.iter().map(|checked| suite(checked, fail_on)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"dyno check\">\n{suites}</testsuites>\n"
    )
}

fn suite(checked: &CheckedServer, fail_on: FailOn) -> String {
    let name = escaped(&checked.name);
    match &checked.result {
        Err(why) => format!(
            " <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\">\n  \
             <testcase classname=\"{name}\" name=\"is there\">\n   <error message=\"{}\"/>\n  \
             </testcase>\n </testsuite>\n",
            escaped(why)
        ),
        Ok(result) => asked(&name, result, fail_on),
    }
}

fn asked(name: &str, result: &CheckResult, fail_on: FailOn) -> String {
    let findings = &result.report.findings;
    let count = |of: &dyn Fn(&Finding) -> bool| findings.iter().filter(|it| of(it)).count();
    let failures = count(&|finding| is_failure(finding, fail_on));
    let skipped = count(&is_skipped);
    let cases: String = findings.iter().map(|finding| case(name, finding, fail_on)).collect();
    format!(
        " <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" \
         time=\"{:.3}\">\n{cases} </testsuite>\n",
        findings.len(),
        result.report.took_ms as f64 / 1e3
    )
}

fn is_failure(finding: &Finding, fail_on: FailOn) -> bool {
    finding.is_broken() && fail_on.fails(&check::VerdictCounts::of([finding]))
}

fn is_skipped(finding: &Finding) -> bool {
    matches!(finding.verdict, CaseVerdict::NotApplicable | CaseVerdict::NotTestable)
}

fn case(suite: &str, finding: &Finding, fail_on: FailOn) -> String {
    let head = format!(
        "  <testcase classname=\"{suite}.{}\" name=\"{} {}\"",
        finding.area.name(),
        escaped(&finding.id),
        escaped(&finding.title)
    );
    let why = escaped(&finding.why);
    if is_skipped(finding) {
        format!(
            "{head}>\n   <skipped message=\"{}: {why}\"/>\n  </testcase>\n",
            finding.verdict.name()
        )
    } else if is_failure(finding, fail_on) {
        format!(
            "{head}>\n   <failure type=\"{} {}\" message=\"{why}\">{}</failure>\n  </testcase>\n",
            finding.verdict.name(),
            finding.level.name(),
            escaped(&evidence(finding))
        )
    } else if finding.verdict == CaseVerdict::Pass && !finding.is_unstable() {
        format!("{head}/>\n")
    } else {
        let shown = escaped(&evidence(finding));
        format!("{head}>\n   <system-out>{shown}</system-out>\n  </testcase>\n")
    }
}

fn evidence(finding: &Finding) -> String {
    let mut text = format!(
        "{}: {}\n{}, {}: {}\nexpected: {}\n",
        finding.verdict.name(),
        finding.why,
        finding.clause,
        finding.level.name(),
        finding.demand,
        finding.expected
    );
    if !finding.doubt.is_empty() && finding.verdict == CaseVerdict::Warn {
        text += &format!("only a warning: {}\n", finding.doubt);
    }
    if finding.is_unstable() {
        text += &format!("not stable: {}\n", rounds(finding));
    }
    let kept = &finding.evidence;
    for (word, bytes, len) in
        [("sent", &kept.sent, kept.sent_len), ("received", &kept.received, kept.received_len)]
    {
        text += &format!("{word}:\n");
        for line in lines(bytes, len, Cut::WHOLE) {
            text += &format!("  {line}\n");
        }
    }
    text
}

/// A text that XML 1.0 allows in content and between quotation marks. Most control characters are allowed in neither.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            '\n' | '\t' => safe.push(character),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            control if control.is_control() => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_forbids_is_replaced() {
        assert_eq!(
            escaped("a<b>&\"'\u{0}\u{1b}\r\u{ffff}\n"),
            "a&lt;b&gt;&amp;&quot;&apos;\u{fffd}\u{fffd}\u{fffd}\u{fffd}\n"
        );
    }
}
