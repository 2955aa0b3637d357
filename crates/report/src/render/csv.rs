//! Lines of a spreadsheet: numbers in full, and no text that a spreadsheet would take for a formula.

use super::Format;

pub static CSV: Format = Format {
    name: "csv",
    about: "A line for each trial",
    ending: "csv",
    media_type: "text/csv; charset=utf-8",
    make: |shown, _| shown.csv().ok_or_else(|| "it has no trials".into()),
};

/// A line of cells that are ready.
pub fn line(cells: &[String]) -> String {
    cells.join(",") + "\r\n"
}

/// A text that no spreadsheet takes for a formula, and whose commas, quotation marks and lines stay its own.
pub fn text(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let text = if is_formula { format!("'{text}") } else { text.to_string() };
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_a_formula_or_breaks_out_of_its_cell() {
        for (raw, shown) in [
            ("plain", "plain"),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@x", "'@x"),
            ("\tx", "'\tx"),
            ("\rx", "\"'\rx\""),
            ("a,\"b\"\nc", "\"a,\"\"b\"\"\nc\""),
            ("", ""),
        ] {
            assert_eq!(text(raw), shown);
        }
    }
}
