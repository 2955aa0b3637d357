//! HTML and SVG. `markup!` escapes every text that is put into its template, and a text in the place of markup does not
//! compile. So no text is left unescaped by mistake.

use std::fmt::{self, Display, Write};

/// Finished markup. No text becomes it that was put together while the program runs:
///
/// ```compile_fail
/// let text = String::from("<b>");
/// report::markup::Markup::fixed(&text);
/// ```
/// ```compile_fail
/// let text = "<b>";
/// report::markup::markup!("<p>{text}</p>");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Markup(String);

impl Markup {
    /// For a style or a script of our own, which is part of the program.
    pub fn fixed(text: &'static str) -> Markup {
        Markup(text.into())
    }

    /// For `markup!` only, which escapes everything that is put into its template.
    #[doc(hidden)]
    pub fn from_template(template: fmt::Arguments<'_>) -> Markup {
        Markup(template.to_string())
    }

    pub fn push(&mut self, other: &Markup) {
        self.0.push_str(&other.0);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

impl FromIterator<Markup> for Markup {
    fn from_iter<I: IntoIterator<Item = Markup>>(parts: I) -> Markup {
        let mut all = Markup::default();
        parts.into_iter().for_each(|part| all.push(&part));
        all
    }
}

/// What may be put into a template, and how it is written there.
pub trait IntoMarkup {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl IntoMarkup for Markup {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Without anything that a browser or a terminal would act upon.
impl IntoMarkup for str {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.chars().try_for_each(|character| match character {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            '\n' => f.write_char('\n'),
            other => f.write_char(shown(other)),
        })
    }
}

impl IntoMarkup for String {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().write(f)
    }
}

impl<T: IntoMarkup + ?Sized> IntoMarkup for &T {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).write(f)
    }
}

/// Nothing is written as nothing.
impl<T: IntoMarkup> IntoMarkup for Option<T> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|value| value.write(f))
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl IntoMarkup for $number {
            fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Display::fmt(self, f)
            }
        })*
    };
}

numbers!(u8 u16 u32 u64 usize i64 f32 f64);

/// A value in a template.
#[doc(hidden)]
pub struct Put<T>(pub T);

impl<T: IntoMarkup> Display for Put<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f)
    }
}

/// Like `format!`, but everything in its placeholders is escaped unless it is markup already. Names in braces do not
/// compile (`concat!` forbids them), so nothing slips past.
#[macro_export]
macro_rules! markup {
    ($template:literal $(, $value:expr)* $(,)?) => {
        $crate::markup::Markup::from_template(
            ::std::format_args!(::std::concat!($template) $(, $crate::markup::Put(&$value))*)
        )
    };
}

pub use markup;

/// Control characters have pictures; characters that change the order of the following letters have none.
fn shown(character: char) -> char {
    let code = u32::from(character);
    let turns = matches!(code, 0x200e | 0x200f | 0x202a..=0x202e | 0x2066..=0x2069);
    match code {
        0..0x20 => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        // A character that XML does not allow would make a chart unreadable.
        0x80..0xa0 | 0xfffe | 0xffff => '\u{fffd}',
        _ if turns => '\u{fffd}',
        _ => character,
    }
}

/// A file's text as the address of a link that saves it.
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
    fn what_is_put_into_a_template_is_escaped_unless_it_is_markup() {
        let hostile = "<b onclick=\"x\">".to_string();
        let inside = markup!("<i>{}</i>", hostile);
        assert_eq!(
            markup!("<p title=\"{}\">{}{:.1}{}</p>", hostile, inside, 1.25, 3_usize).as_str(),
            "<p title=\"&lt;b onclick=&quot;x&quot;&gt;\"><i>&lt;b onclick=&quot;x&quot;&gt;</i>1.23</p>"
        );
    }

    #[test]
    fn what_is_not_there_is_not_written_and_our_own_style_stays_as_it_is() {
        let (none, some) = (None::<&str>, Some("a<b"));
        assert_eq!(
            markup!("<i>{}{}</i>{}", none, some, Markup::fixed("a>b{}")).as_str(),
            "<i>a&lt;b</i>a>b{}"
        );
    }

    #[test]
    fn nothing_breaks_out_and_control_characters_are_seen() {
        assert_eq!(
            markup!("{}", "<script>\"'&\u{1b}[31m\u{202e}\u{7f}").as_str(),
            "&lt;script&gt;&quot;&#39;&amp;␛[31m\u{fffd}␡"
        );
        assert_eq!(data_link("text/csv", "a,\"é\n"), "data:text/csv;charset=utf-8,a,%22%C3%A9%0A");
    }
}
