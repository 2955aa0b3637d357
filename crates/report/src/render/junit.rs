//! Results as test cases, which GitLab, Jenkins and others read.

use super::Format;

pub static JUNIT: Format = Format {
    name: "junit",
    about: "Test cases for a CI server, as JUnit XML",
    ending: "xml",
    media_type: "application/xml",
    make: |shown, _| shown.junit().ok_or_else(|| "it has no test cases".into()),
};

/// The tests of one thing.
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) tests: Vec<Test>,
    pub(crate) took_s: Option<f64>,
}

/// A test, and how it ended.
pub(crate) struct Test {
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) end: End,
}

pub(crate) enum End {
    Passed,
    /// What was printed meanwhile.
    PassedWith(String),
    Failed(String),
    /// What kind of failure, why, and with what evidence.
    FailedWith([String; 3]),
    Skipped(String),
    /// It could not be tested.
    Error(String),
}

/// All that a program tested.
pub(crate) fn written(program: &str, suites: &[Suite]) -> String {
    let suites: String = suites.iter().map(suite).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{program}\">\n{suites}</testsuites>\n"
    )
}

fn suite(Suite { name, tests, took_s }: &Suite) -> String {
    let count = |is_one: fn(&End) -> bool| tests.iter().filter(|test| is_one(&test.end)).count();
    format!(
        " <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"{}>\n{} </testsuite>\n",
        escaped(name),
        tests.len(),
        count(|end| matches!(end, End::Failed(_) | End::FailedWith(_))),
        count(|end| matches!(end, End::Error(_))),
        count(|end| matches!(end, End::Skipped(_))),
        took_s.map_or(String::new(), |took| format!(" time=\"{took:.3}\"")),
        tests.iter().map(test).collect::<String>()
    )
}

fn test(Test { class, name, end }: &Test) -> String {
    let head = format!("  <testcase classname=\"{}\" name=\"{}\"", escaped(class), escaped(name));
    let with_message = |kind: &str, says: &str| format!("<{kind} message=\"{}\"/>", escaped(says));
    let inside = match end {
        End::Passed => return format!("{head}/>\n"),
        End::PassedWith(text) => format!("<system-out>{}</system-out>", escaped(text)),
        End::Failed(says) => with_message("failure", says),
        End::FailedWith(all) => {
            let [kind, says, text] = all.each_ref().map(|text| escaped(text));
            format!("<failure type=\"{kind}\" message=\"{says}\">{text}</failure>")
        }
        End::Skipped(says) => with_message("skipped", says),
        End::Error(says) => with_message("error", says),
    };
    format!("{head}>\n   {inside}\n  </testcase>\n")
}

/// A text that XML 1.0 allows in content and between quotation marks. Most control characters are allowed in neither.
fn escaped(text: &str) -> String {
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
