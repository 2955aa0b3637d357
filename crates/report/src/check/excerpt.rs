//! Bytes in readable form: everything that a terminal, a page or a parser could obey is escaped.

use check::Finding;

use crate::chart::marks::short;
use crate::json::escaped;

/// How much of an exchange is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub(super) lines: usize,
    pub(super) columns: usize,
}

impl Cut {
    /// Beside a failure.
    pub(crate) const SHORT: Cut = Cut { lines: 10, columns: 100 };
    /// For the verbose report: as much as was kept.
    pub(super) const WHOLE: Cut = Cut { lines: 60, columns: 400 };
}

/// What one side of a finding's exchange sent: its frames, if it is HTTP/2, or its bytes.
pub(super) fn side(finding: &Finding, bytes: &[u8], len: u64, cut: Cut) -> Vec<String> {
    let Some(frames) = finding.frames(bytes) else { return lines(bytes, len, cut) };
    let cut_line = |line: &String| short(line, cut.columns);
    let mut shown: Vec<String> = frames.iter().take(cut.lines).map(cut_line).collect();
    let left = frames.len().saturating_sub(cut.lines);
    if left > 0 {
        shown.push(format!("… ({left} frames more)"));
    } else if (bytes.len() as u64) < len {
        shown.push(format!("… ({} octets more)", len - bytes.len() as u64));
    }
    shown
}

/// What was sent and what came, line by line, each side after its name.
pub(crate) fn exchange(finding: &Finding, cut: Cut) -> Vec<String> {
    let kept = &finding.evidence;
    let sent = side(finding, &kept.sent, kept.sent_len, cut);
    let received = side(finding, &kept.received, kept.received_len, cut);
    let named = [("sent", sent), ("received", received)].into_iter().flat_map(|(name, lines)| {
        let names = std::iter::once(name).chain(std::iter::repeat(""));
        lines.into_iter().zip(names).map(|(line, name)| format!("{name:<10}{line}"))
    });
    named.collect()
}

/// Bytes line by line, with visible line ends; out of `len` octets in all. The last line says what is left out.
fn lines(bytes: &[u8], len: u64, cut: Cut) -> Vec<String> {
    let mut shown = Vec::new();
    let mut seen = 0;
    for line in bytes.split_inclusive(|octet| *octet == b'\n').take(cut.lines) {
        seen += line.len() as u64;
        let text = escaped(line);
        shown.push(match text.chars().count() <= cut.columns {
            true => text,
            false => {
                let kept: String = text.chars().take(cut.columns).collect();
                format!("{kept}… (a line of {} octets)", line.len())
            }
        });
    }
    let left = len.saturating_sub(seen);
    if left > 0 {
        shown.push(format!("… ({left} octets more)"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_could_be_obeyed() {
        let every: Vec<u8> = (0..=255).collect();
        let text = escaped(&every);
        assert!(text.bytes().all(|octet| (0x20..=0x7e).contains(&octet)));
        assert!(text.contains("\\x00") && text.contains("\\x1b") && text.contains("\\xff"));
        assert_eq!(escaped(b"a\\r\r\n\t\x7f\"'"), "a\\\\r\\r\\n\\t\\x7f\"'");
    }

    #[test]
    fn what_is_cut_is_counted() {
        let head = b"GET / HTTP/1.1\r\nHost: h\r\n\r\nbody";
        let cut = Cut { lines: 2, columns: 12 };
        let short = ["GET / HTTP/1… (a line of 16 octets)", "Host: h\\r\\n", "… (6 octets more)"];
        assert_eq!(lines(head, 31, cut), short);
        let whole = lines(head, 31, Cut::WHOLE);
        assert_eq!(whole, ["GET / HTTP/1.1\\r\\n", "Host: h\\r\\n", "\\r\\n", "body"]);
        assert_eq!(lines(b"", 0, cut), Vec::<String>::new());
        assert_eq!(lines(b"ab", 5_000, cut), ["ab", "… (4998 octets more)"]);
    }
}
