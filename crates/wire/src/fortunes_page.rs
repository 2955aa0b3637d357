//! The page of fortunes, read by its meaning: a table of ids and messages, sorted by message.

use crate::tables::{FORTUNES, Tables};

/// The row that the server adds to each page.
const ADDED: (u32, &str) = (0, "Additional fortune added at request time.");

/// Whether a right page has the row that is inserted during the load; or what is wrong with it.
pub(crate) fn judge(body: &[u8], tables: &Tables) -> Result<bool, String> {
    let text = std::str::from_utf8(body).map_err(|_| "it is not UTF-8".to_string())?;
    let plain = without(&without(text, "<!--", "-->"), "<script", "</script>");
    let found = rows(&plain)?;
    let with_inserted = found.len() == FORTUNES as usize + 2;
    let wanted = right_rows(tables, with_inserted);
    if found.len() != wanted.len() {
        return Err(format!("it has {} rows; {} are expected", found.len(), wanted.len()));
    }
    let is_other = |((id, message), wanted): &(&(String, String), &(u32, &str))| {
        (id.as_str(), message.as_str()) != (wanted.0.to_string().as_str(), wanted.1)
    };
    match found.iter().zip(&wanted).enumerate().find(|(_, pair)| is_other(pair)) {
        None => Ok(with_inserted),
        Some((at, ((id, message), (wanted_id, wanted)))) => {
            Err(format!("row {} is {id}, `{message}`; {wanted_id}, `{wanted}` is expected", at + 1))
        }
    }
}

/// A right page, in the form that TechEmpower's servers write.
#[must_use]
pub fn fortunes_page(tables: &Tables, with_inserted: bool) -> String {
    page_of(&right_rows(tables, with_inserted))
}

fn right_rows(tables: &Tables, with_inserted: bool) -> Vec<(u32, &str)> {
    let inserted = with_inserted.then(|| tables.inserted());
    let mut rows: Vec<(u32, &str)> = tables.fortunes().chain([ADDED]).chain(inserted).collect();
    rows.sort_unstable_by_key(|(_, message)| *message);
    rows
}

fn page_of(rows: &[(u32, &str)]) -> String {
    let rows: String = rows
        .iter()
        .map(|(id, message)| format!("<tr><td>{id}</td><td>{}</td></tr>", escaped(message)))
        .collect();
    format!(
        "<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>\
         <tr><th>id</th><th>message</th></tr>{rows}</table></body></html>"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&#34;")
}

/// What precedes the rows: tags, and the text that follows each.
const BEFORE: [(&str, &str); 14] = [
    ("!doctype html", ""),
    ("html", ""),
    ("head", ""),
    ("title", "Fortunes"),
    ("/title", ""),
    ("/head", ""),
    ("body", ""),
    ("table", ""),
    ("tr", ""),
    ("th", "id"),
    ("/th", ""),
    ("th", "message"),
    ("/th", ""),
    ("/tr", ""),
];
const AFTER: [&str; 3] = ["/table", "/body", "/html"];
/// Tags without which a page means the same.
const FREE: [&str; 8] = ["meta", "/meta", "link", "/link", "thead", "/thead", "tbody", "/tbody"];

/// The rows of the page: the text of their two cells.
fn rows(page: &str) -> Result<Vec<(String, String)>, String> {
    let mut parts = parts(page)?.into_iter().peekable();
    for (tag, text) in BEFORE {
        let part = parts.next().unwrap_or_default();
        if part.tag != tag || part.text.trim() != text {
            return Err(format!(
                "`<{}>{}` is found where `<{tag}>{text}` is expected",
                part.tag, part.text
            ));
        }
    }
    let mut rows = Vec::new();
    while parts.next_if(|part| part.tag == "tr" && part.is_bare()).is_some() {
        let mut cell = || {
            let cell = parts.next().filter(|part| part.tag == "td")?;
            parts.next().filter(|part| part.tag == "/td" && part.is_bare())?;
            unescaped(cell.text.trim())
        };
        let cells = cell().zip(cell());
        let cells =
            cells.filter(|_| parts.next().is_some_and(|it| it.tag == "/tr" && it.is_bare()));
        rows.push(cells.ok_or_else(|| format!("row {} is not two cells of text", rows.len() + 1))?);
    }
    for tag in AFTER {
        if !parts.next().is_some_and(|part| part.tag == tag && part.is_bare()) {
            return Err(format!("`<{tag}>` is missing after {} rows", rows.len()));
        }
    }
    match parts.next() {
        None => Ok(rows),
        Some(part) => Err(format!("`<{}>` follows the end of the page", part.tag)),
    }
}

/// A tag and the text behind it.
#[derive(Debug, Default)]
struct Part<'t> {
    /// Its name in lower case, without its attributes.
    tag: String,
    text: &'t str,
}

impl Part<'_> {
    fn is_bare(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// The page without what stands between these two, and without themselves.
fn without(page: &str, begin: &str, end: &str) -> String {
    let mut pieces = page.split(begin);
    let first = pieces.next();
    let others = pieces.map(|piece| piece.split_once(end).map_or("", |(_, behind)| behind));
    first.into_iter().chain(others).collect()
}

fn parts(page: &str) -> Result<Vec<Part<'_>>, String> {
    let mut pieces = page.split('<');
    if !pieces.next().unwrap_or_default().trim().is_empty() {
        return Err("it does not begin with a tag".into());
    }
    let mut parts = Vec::new();
    for piece in pieces {
        let Some((tag, text)) = piece.split_once('>') else {
            return Err(format!(
                "`<{}` is a tag without an end",
                piece.chars().take(20).collect::<String>()
            ));
        };
        let tag = tag.to_ascii_lowercase();
        let name = match tag.split_ascii_whitespace().collect::<Vec<_>>()[..] {
            ["!doctype", "html"] => "!doctype html",
            [name, ..] => name.trim_end_matches('/'),
            [] => "",
        };
        if !FREE.contains(&name) {
            parts.push(Part { tag: name.to_string(), text });
        } else if !text.trim().is_empty() {
            return Err(format!("text follows `<{name}>`"));
        }
    }
    Ok(parts)
}

/// Text with its character references replaced; none if there is one that is none. `>` may stand for itself.
fn unescaped(text: &str) -> Option<String> {
    let mut all = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        all.push_str(&rest[..at]);
        let (name, after) = rest[at + 1..].split_once(';')?;
        all.push(match name {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            "mdash" => '—',
            _ => referred(name)?,
        });
        rest = after;
    }
    all.push_str(rest);
    Some(all)
}

/// `#39`, `#x27`.
fn referred(name: &str) -> Option<char> {
    let number = name.strip_prefix('#')?;
    let (digits, radix) = number.strip_prefix(['x', 'X']).map_or((number, 10), |it| (it, 16));
    // `from_str_radix` would take a sign.
    let is_number = digits.chars().all(|digit| digit.is_digit(radix));
    char::from_u32(u32::from_str_radix(digits, radix).ok().filter(|_| is_number)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_right_in_any_form_with_and_without_the_inserted_row() {
        let tables = Tables::of(3);
        let plain = fortunes_page(&tables, false);
        for form in [
            plain.clone(),
            plain.replace("><", ">\n  <").replace("<td>", "<td class=\"x\">"),
            plain.replace("<table>", "<TABLE>").replace("</head>", "<meta charset=utf-8/></head>"),
            plain.replace("&#34;", "&quot;").replace('\'', "&#x27;").replace('—', "&mdash;"),
            plain.replace("<tr>", "<!-- <td> --><tr>"),
            plain.replace("<table>", "<table><thead>").replace("</th></tr>", "</th></tr></thead>"),
            plain.replace("</head>", "<script>if (a<b) '</td>'</script><link></link></head>"),
        ] {
            assert_eq!(judge(form.as_bytes(), &tables), Ok(false), "{form}");
        }
        assert_eq!(judge(fortunes_page(&tables, true).as_bytes(), &tables), Ok(true));
    }

    #[test]
    fn what_is_unsorted_unescaped_missing_or_another_is_wrong() {
        let tables = Tables::of(3);
        let right = right_rows(&tables, false);
        let plain = page_of(&right);
        let swapped = {
            let mut rows = right.clone();
            rows.swap(5, 6);
            page_of(&rows)
        };
        let others = Tables::of(4);
        for (form, says) in [
            (swapped, "row 6 is"),
            (plain.replace("&lt;script", "<script"), "is not two cells of text"),
            (
                plain.replace("&lt;script&gt;", "<script>").replace("&lt;/script&gt;", "</script>"),
                "is expected",
            ),
            (plain.replace("&lt;", "<").replace("&gt;", ">"), "is not two cells of text"),
            (plain.replace("&amp;lt;", "&lt;"), "is expected"),
            (page_of(&right[1..]), "it has 200 rows; 201 are expected"),
            (fortunes_page(&others, false), "is expected"),
            (plain.replace("Additional", "additional"), "is expected"),
            (plain.replace("Fortunes", "Fortune"), "`<title>Fortune` is found where"),
            (plain.replace("</html>", ""), "`</html>` is missing after 201 rows"),
            (plain[..plain.len() - 300].to_string(), "is not two cells of text"),
            (plain.clone() + "<p>", "`<p>` follows the end of the page"),
            (plain.replace("Ben &amp;", "Ben &"), "is not two cells of text"),
            (plain.replace("&#34;", "&#+34;"), "is not two cells of text"),
            (plain.replacen("<tr>", "<!-- <tr>", 1), "`<>` is found where `<tr>` is expected"),
            (String::new(), "is expected"),
        ] {
            let found = judge(form.as_bytes(), &tables);
            assert!(found.as_ref().is_err_and(|it| it.contains(says)), "{says}: {found:?}");
        }
        assert_eq!(judge(b"\xff", &tables), Err("it is not UTF-8".into()));
    }
}
