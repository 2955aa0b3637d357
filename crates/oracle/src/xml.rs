//! Text out of URLs and into XML.

use std::borrow::Cow;

/// Undoes percent-encoding; a `%` that starts no octet stands for itself.
pub(crate) fn unescaped(text: &[u8], plus_is_space: bool) -> Cow<'_, [u8]> {
    let plain = |byte: &u8| *byte != b'%' && !(plus_is_space && *byte == b'+');
    if text.iter().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text;
    loop {
        rest = match rest {
            [] => return Cow::Owned(octets),
            [b'%', high, low, after @ ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                octets.push(nibble(*high) * 16 + nibble(*low));
                after
            }
            [b'+', after @ ..] if plus_is_space => {
                octets.push(b' ');
                after
            }
            [byte, after @ ..] => {
                octets.push(*byte);
                after
            }
        };
    }
}

fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'A' + 10,
    }
}

/// Appends octets as XML text. What XML cannot hold (bad UTF-8, most controls) becomes U+FFFD.
pub(crate) fn push_text(out: &mut Vec<u8>, octets: &[u8]) {
    if octets.iter().all(u8::is_ascii_alphanumeric) {
        out.extend_from_slice(octets);
        return;
    }
    for character in String::from_utf8_lossy(octets).chars() {
        match character {
            '&' => out.extend_from_slice(b"&amp;"),
            '<' => out.extend_from_slice(b"&lt;"),
            '>' => out.extend_from_slice(b"&gt;"),
            // XML 1.0, 2.11: a parser would read a bare CR as LF.
            '\r' => out.extend_from_slice(b"&#13;"),
            '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {
                out.extend_from_slice("\u{fffd}".as_bytes());
            }
            other => out.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, text: &str) {
        let mut out = Vec::new();
        push_text(&mut out, &unescaped(value.as_bytes(), true));
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }

    #[test]
    fn a_value_is_unescaped_from_the_url_and_escaped_for_xml() {
        check("plain123", "plain123");
        check("a+b%20c", "a b c");
        check("%3Cb%3E%26amp;", "&lt;b&gt;&amp;amp;");
        check("caf%C3%A9", "café");
        check("%", "%");
        check("%4", "%4");
        check("%zz%41", "%zzA");
        check("%00%ff", "\u{fffd}\u{fffd}");
        check("a%0d%0ab", "a&#13;\nb");
    }

    #[test]
    fn a_plus_in_a_path_is_a_plus() {
        assert_eq!(&*unescaped(b"a+b%2B", false), b"a+b+");
    }
}
