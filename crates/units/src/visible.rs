//! Text that others wrote, as a terminal may be given it.

/// Whether it is a control character, or one that changes the order of the characters behind it: a terminal obeys these
/// instead of showing them.
#[must_use]
pub fn is_obeyed(character: char) -> bool {
    let turns = ['\u{200e}', '\u{200f}', '\u{61c}'].contains(&character)
        || ('\u{202a}'..='\u{202e}').contains(&character)
        || ('\u{2066}'..='\u{2069}').contains(&character);
    character.is_control() || turns
}

/// A text whose control characters, and those that change the direction of text, are written out as `\u{1b}`. Line ends and
/// tabs stay as they are.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match is_obeyed(character) && !['\n', '\t'].contains(&character) {
            true => shown.extend(character.escape_unicode()),
            false => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(visible("a\x1b[2J\0\nb\u{202e}c\té…"), "a\\u{1b}[2J\\u{0}\nb\\u{202e}c\té…");
    }
}
