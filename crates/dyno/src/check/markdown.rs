//! Checks as a Markdown table, a row a server: for documents.

use check::{Protocol, Stamp, Tally};

use super::{Came, Checked};

/// The table, and which catalogue it is by, or a part of it.
pub(crate) fn of(checked: &[Checked], stamp: &Stamp, is_part: bool) -> String {
    let mut text = String::from(
        "| server | version | protocol | pass | warn | fail | not testable | of | MUST broken | security | score |\n\
         |---|---|---|--:|--:|--:|--:|--:|--:|---|---|\n",
    );
    for one in checked {
        match &one.came {
            Err(why) => {
                text += &format!("| {} | | not checked: {} |\n", cell(&one.name), cell(why));
            }
            Ok(came) => text.extend(
                came.tallies().iter().map(|(protocol, tally)| row(one, came, *protocol, tally)),
            ),
        }
    }
    let part = if is_part { "; only a part of it was asked: no score of any server" } else { "" };
    text + &format!(
        "\nCatalogue {stamp}; scores of different catalogues are not comparable{part}.\n"
    )
}

fn row(checked: &Checked, came: &Came, protocol: Protocol, tally: &Tally) -> String {
    let (name, version) = (cell(&checked.name), cell(&checked.version));
    let title = protocol.title();
    if tally.applicable() == 0 {
        let why = came.of(protocol).next().map_or(String::new(), |finding| cell(&finding.why));
        return format!(
            "| {name} | {version} | {title} | – | – | – | – | 0 | – | – | not applicable: {why} |\n"
        );
    }
    let crash = if tally.crash > 0 { format!(" + {} crash", tally.crash) } else { String::new() };
    let security = match tally.security.is_empty() {
        true => "–".to_string(),
        false => format!("{}: {}", tally.security.len(), tally.security.join(" ")),
    };
    format!(
        "| {name} | {version} | {title} | {} | {} | {}{crash} | {} | {} | {} | {security} | {} |\n",
        tally.pass,
        tally.warn,
        tally.fail,
        tally.not_testable,
        tally.applicable(),
        tally.must_broken,
        tally.score()
    )
}

/// A text that cannot leave its cell, nor be taken for markup.
fn cell(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' => safe.extend(['\\', character]),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            control if control.is_control() => safe.push(' '),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_a_cell() {
        assert_eq!(cell("a|b\n<i>*x*</i>"), r"a\|b &lt;i&gt;\*x\*&lt;/i&gt;");
    }
}
