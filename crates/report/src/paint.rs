//! Lines of coloured text, cut to a width before the colours are written.

/// How much a text matters: a colour with a meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    /// Explanations.
    Dim,
    /// Important text.
    Strong,
    Good,
    Doubtful,
    Bad,
}

impl Tone {
    fn code(self) -> &'static str {
        match self {
            Tone::Plain => "",
            Tone::Dim => "2",
            Tone::Strong => "1",
            Tone::Good => "32",
            Tone::Doubtful => "33",
            Tone::Bad => "31",
        }
    }
}

/// One line, piece by piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    pieces: Vec<(Tone, String)>,
}

impl Line {
    pub fn plain(text: impl Into<String>) -> Line {
        Line::default().and(Tone::Plain, text)
    }

    pub fn toned(tone: Tone, text: impl Into<String>) -> Line {
        Line::default().and(tone, text)
    }

    /// Text from a peer or a user is data: control characters are shown, not obeyed.
    pub fn and(mut self, tone: Tone, text: impl Into<String>) -> Line {
        let text: String = text.into();
        let text = text.replace(units::is_obeyed, "␛");
        self.pieces.push((tone, text));
        self
    }

    /// Another line appended to it.
    pub fn joined(mut self, other: &Line) -> Line {
        self.pieces.extend(other.pieces.iter().cloned());
        self
    }

    pub fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| text.chars().count()).sum()
    }

    /// No wider than this; a line that was cut ends in an ellipsis.
    pub fn cut(self, width: usize) -> Line {
        if self.width() <= width {
            return self;
        }
        let mut left = width.saturating_sub(1);
        let mut line = Line::default();
        for (tone, text) in self.pieces {
            let kept: String = text.chars().take(left).collect();
            left -= kept.chars().count();
            line.pieces.push((tone, kept));
        }
        if 0 < width {
            line.pieces.push((Tone::Dim, "…".into()));
        }
        line
    }

    /// With its colours, or without any.
    pub fn shown(&self, is_coloured: bool) -> String {
        let mut shown = String::new();
        for (tone, text) in &self.pieces {
            match tone.code() {
                code if is_coloured && !code.is_empty() && !text.is_empty() => {
                    shown += &format!("\x1b[{code}m{text}\x1b[0m");
                }
                _ => shown += text,
            }
        }
        shown
    }
}

/// Lines as a text, without blanks at their ends.
pub fn shown(lines: &[Line], is_coloured: bool) -> String {
    lines.iter().map(|line| line.shown(is_coloured).trim_end().to_string() + "\n").collect()
}

/// A text for a terminal in which nothing is obeyed but line ends, tabs and the colours of [`Line::shown`].
#[must_use]
pub fn visible(text: &str) -> String {
    let is_tone = |rest: &str| {
        ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m"].iter().any(|it| rest.starts_with(it))
    };
    let mut parts = text.split('\x1b');
    let first = units::visible(parts.next().unwrap_or_default());
    parts.fold(first, |shown, part| {
        let escape = if is_tone(part) { "\x1b" } else { "\\u{1b}" };
        shown + escape + &units::visible(part)
    })
}

/// A text in lines of at most `width` characters, cut at blanks; a longer word stands alone, and
/// a number keeps its unit.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words(text) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            Some(_) | None => lines.push(word),
        }
    }
    lines
}

fn words(text: &str) -> Vec<String> {
    const UNITS: [&str; 10] = ["ns", "µs", "ms", "s", "%", "B", "kB", "MB", "GB", "TB"];
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let is_unit = UNITS.contains(&word.trim_end_matches([',', '.', ';', ':', ')']));
        match words.last_mut() {
            Some(last) if is_unit && last.ends_with(|end: char| end.is_ascii_digit()) => {
                last.push(' ');
                last.push_str(word);
            }
            Some(_) | None => words.push(word.into()),
        }
    }
    words
}

/// The share of a bar that is filled, in eighths of a character.
pub fn bar(share: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    // A value above zero is always visible.
    let eighths = if 0.0 < share { eighths.max(1) } else { 0 };
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_by_what_is_seen() {
        let line = Line::toned(Tone::Strong, "dyno").and(Tone::Dim, " load");
        assert_eq!(line.clone().cut(9).shown(false), "dyno load");
        assert_eq!(line.clone().cut(6).shown(false), "dyno …");
        assert_eq!(line.clone().cut(1).shown(false), "…");
        assert_eq!(line.clone().cut(0).shown(true), "");
        assert_eq!(line.shown(true), "\x1b[1mdyno\x1b[0m\x1b[2m load\x1b[0m");
    }

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(Line::plain("a\x1b[31mb\n").shown(true), "a␛[31mb␛");
        assert_eq!(Line::plain("\u{202e}txt.exe\u{2069}").shown(true), "␛txt.exe␛");
        let line = Line::toned(Tone::Bad, "a").shown(true);
        assert_eq!(visible(&(line + "\x1b[2J\u{202e}\n")), "\x1b[31ma\x1b[0m\\u{1b}[2J\\u{202e}\n");
    }

    #[test]
    fn a_text_is_cut_at_blanks() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("a-very-long-word b", 4), ["a-very-long-word", "b"]);
        assert_eq!(wrapped("within 54.4 ms, and", 12), ["within", "54.4 ms, and"]);
    }

    #[test]
    fn a_bar_shows_what_is_not_nothing() {
        assert_eq!([bar(0.0, 4), bar(0.001, 4), bar(0.5, 4), bar(2.0, 4)], ["", "▏", "██", "████"]);
    }
}
