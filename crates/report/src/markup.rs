//! Texts that others wrote, as they may stand in HTML and SVG: shown, never obeyed.

/// The text with nothing in it that a browser or a terminal would act upon.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' => safe.push('\n'),
            other => safe.push(shown(other)),
        }
    }
    safe
}

/// Control characters have pictures; what turns the order of the letters after it has none.
fn shown(character: char) -> char {
    let code = u32::from(character);
    let turns = matches!(code, 0x200e | 0x200f | 0x202a..=0x202e | 0x2066..=0x2069);
    match code {
        0..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        // What is no character of XML would make a chart unreadable.
        0x80..0xa0 | 0xfffe | 0xffff => '\u{fffd}',
        _ if turns => '\u{fffd}',
        _ => character,
    }
}

/// A file's text as the address of a link that keeps it.
pub(crate) fn data_link(kind: &str, text: &str) -> String {
    let mut link = format!("data:{kind};charset=utf-8,");
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' | b'_' | b',' => {
                link.push(char::from(byte));
            }
            other => link.push_str(&format!("%{other:02X}")),
        }
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_and_control_characters_are_seen() {
        assert_eq!(
            escaped("<script>\"'&\u{1b}[31m\u{202e}\u{7f}"),
            "&lt;script&gt;&quot;&#39;&amp;␛[31m\u{fffd}␡"
        );
        assert_eq!(data_link("text/csv", "a,\"é\n"), "data:text/csv;charset=utf-8,a,%22%C3%A9%0A");
    }
}
