//! Reads the files of the catalogue, and writes them as the table of cases that is compiled. A mistake in a file is
//! reported with the file's name and the line.

mod grammar;
mod notation;
mod vocabulary;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use self::grammar::Reader;
use self::notation::{Names, Place, tokens};
use crate::labels::{Area, Level, Need, Protocol, Scheduling, Tag};

/// A file of the catalogue: its path in it, and its text.
pub(crate) struct Source<'a> {
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
}

/// What an entry may have; at the top of a file it holds for all of its cases that do not say otherwise.
const FIELDS: [&str; 18] = [
    "like",
    "title",
    "area",
    "clause",
    "level",
    "weight",
    "tags",
    "twin",
    "needs",
    "applies",
    "scheduling",
    "limit",
    "steps",
    "answers",
    "pass",
    "warn",
    "demand",
    "doubt",
];

/// The file of a protocol whose names and bases its other files use, too.
const BASES: &str = "bases";

/// A value of an entry, and where it begins.
#[derive(Clone)]
struct Field {
    value: Value,
    place: Place,
}

#[derive(Clone)]
enum Value {
    Text(String),
    Number(u64),
    List(Vec<String>),
}

/// A case or a base.
#[derive(Clone)]
struct Entry {
    place: Place,
    fields: BTreeMap<String, Field>,
}

/// What a file defines for its cases.
#[derive(Clone, Default)]
struct Definitions {
    names: Names,
    bases: BTreeMap<String, Entry>,
}

/// A case with all that its bases give to it.
struct Case {
    id: String,
    entry: Entry,
    protocol: Protocol,
    names: Names,
}

/// The table of all cases in Rust, in the order of the files.
pub(crate) fn table(sources: &[Source<'_>]) -> Result<String, String> {
    let mut shared: BTreeMap<&str, Definitions> = BTreeMap::new();
    let mut cases = Vec::new();
    for source in sources {
        let (folder, name) = source.path.split_once('/').unwrap_or_default();
        let mut definitions = shared.get(folder).cloned().unwrap_or_default();
        cases.extend(read(source, protocol(source.path)?, &mut definitions)?);
        if name.strip_suffix(".toml") == Some(BASES) {
            shared.insert(folder, definitions);
        }
    }
    check_ids(&cases)?;
    let (mut table, mut conditions) = (String::new(), Vec::new());
    for case in &cases {
        table.push_str(&case.rust(&mut conditions)?);
    }
    let mut rust = String::new();
    for (number, condition) in conditions.iter().enumerate() {
        let _ = writeln!(rust, "const CONDITION_{number}: Rule = {condition};");
    }
    let _ = writeln!(rust, "pub(super) static CASES: &[Case] = &[\n{table}];");
    Ok(rust)
}

/// The paths of the files in the order in which their cases are listed.
pub(crate) fn contents(text: &str) -> Result<Vec<String>, String> {
    let source = Source { path: "contents.toml", text };
    let document = DeTable::parse(text).map_err(|error| error.to_string())?;
    match document.get_ref().get("files") {
        Some(files) => field(&source, files)?.list(),
        None => Err(place(&source, 0).fault("`files` is missing")),
    }
}

/// Each folder has the cases of a protocol.
fn protocol(path: &str) -> Result<Protocol, String> {
    match path.split('/').next() {
        Some("http1") => Ok(Protocol::Http),
        Some("http2") => Ok(Protocol::Http2),
        Some("websocket") => Ok(Protocol::Socket),
        _ => Err(format!("crates/check/catalogue/{path}: no protocol has this folder")),
    }
}

/// What the ids of a protocol's cases begin with.
fn prefix(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Http => "H1-",
        Protocol::Http2 => "H2-",
        Protocol::Socket => "WS-",
    }
}

fn check_ids(cases: &[Case]) -> Result<(), String> {
    let mut known: BTreeMap<&str, &Case> = BTreeMap::new();
    for case in cases {
        if let Some(other) = known.insert(&case.id, case) {
            let Place { file, line } = &other.entry.place;
            return Err(case.fault(&format!("{file}:{line} has the same id")));
        }
    }
    for case in cases {
        let Some(twin) = case.entry.fields.get("twin") else { continue };
        let id = twin.text()?;
        let is_known = known.get(id).is_some_and(|twin| twin.protocol == case.protocol);
        if !id.is_empty() && !is_known {
            return Err(twin.place.fault(&format!("no case of the protocol is the twin `{id}`")));
        }
    }
    Ok(())
}

/// The cases of a file, and what it defines for them.
fn read(
    source: &Source<'_>,
    protocol: Protocol,
    definitions: &mut Definitions,
) -> Result<Vec<Case>, String> {
    let document = DeTable::parse(source.text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        place(source, at).fault(error.message())
    })?;
    let top = document.get_ref().iter().filter(|(key, _)| FIELDS.contains(&key.get_ref().as_ref()));
    let defaults = fields(source, top, definitions)?;
    let mut cases = Vec::new();
    for (key, value) in in_order(document.get_ref()) {
        let place = place(source, key.span().start);
        match (key.get_ref().as_ref(), value.get_ref()) {
            (field, _) if FIELDS.contains(&field) => {}
            ("names", DeValue::Table(names)) => define_names(source, names, definitions)?,
            ("base", DeValue::Table(bases)) => {
                for (name, base) in in_order(bases) {
                    let base = entry(source, name, base, definitions)?;
                    definitions.bases.insert(name.get_ref().to_string(), base);
                }
            }
            (id, DeValue::Table(_)) if id.starts_with(prefix(protocol)) => {
                let mut entry = entry(source, key, value, definitions)?;
                for (name, field) in &defaults {
                    entry.fields.entry(name.clone()).or_insert_with(|| field.clone());
                }
                cases.push((id.to_string(), entry));
            }
            (other, _) => {
                let ids = prefix(protocol);
                return Err(place.fault(&format!(
                    "`{other}` is no field, nor `names`, `base`, or a case of this protocol, `{ids}…`"
                )));
            }
        }
    }
    let names = &definitions.names;
    let cases = cases.into_iter();
    Ok(cases.map(|(id, entry)| Case { id, entry, protocol, names: names.clone() }).collect())
}

/// The entries of a table in the order in which they stand in the file.
fn in_order<'a, 'i>(
    table: &'a DeTable<'i>,
) -> Vec<(&'a Spanned<DeString<'i>>, &'a Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn define_names(
    source: &Source<'_>,
    names: &DeTable<'_>,
    definitions: &mut Definitions,
) -> Result<(), String> {
    for (name, value) in in_order(names) {
        let field = field(source, value)?;
        let name = name.get_ref().to_string();
        if !name.bytes().all(|it| matches!(it, b'A'..=b'Z' | b'0'..=b'9' | b'_')) {
            return Err(field.place.fault(&format!("the name `{name}` is not in capitals")));
        }
        let tokens = tokens(field.text()?, &field.place, &definitions.names)?;
        definitions.names.insert(name, tokens);
    }
    Ok(())
}

/// A case or a base with what its own bases have.
fn entry(
    source: &Source<'_>,
    key: &Spanned<DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
    definitions: &Definitions,
) -> Result<Entry, String> {
    let place = place(source, key.span().start);
    let DeValue::Table(table) = value.get_ref() else {
        return Err(place.fault(&format!("`{}` is not a table", key.get_ref())));
    };
    Ok(Entry { place, fields: fields(source, table.iter(), definitions)? })
}

/// These fields, after those of the bases that they are like.
fn fields<'a, 'i: 'a>(
    source: &Source<'_>,
    table: impl Iterator<Item = (&'a Spanned<DeString<'i>>, &'a Spanned<DeValue<'i>>)>,
    definitions: &Definitions,
) -> Result<BTreeMap<String, Field>, String> {
    let (mut inherited, mut own) = (BTreeMap::new(), BTreeMap::new());
    for (key, value) in table {
        let (name, field) = (key.get_ref().to_string(), field(source, value)?);
        if !FIELDS.contains(&name.as_str()) {
            let known = FIELDS.join(", ");
            let place = place(source, key.span().start);
            return Err(place.fault(&format!("unknown field `{name}`; there are {known}")));
        }
        if name != "like" {
            own.insert(name, field);
            continue;
        }
        for base in field.list()? {
            let Some(entry) = definitions.bases.get(&base) else {
                return Err(field.place.fault(&format!("no base before this is named `{base}`")));
            };
            inherited.extend(entry.fields.clone());
        }
    }
    inherited.extend(own);
    Ok(inherited)
}

fn field(source: &Source<'_>, value: &Spanned<DeValue<'_>>) -> Result<Field, String> {
    let mut place = place(source, value.span().start);
    let wrong = |what: &str| place.fault(&format!("{what} where text, a number or a list is"));
    let value = match value.get_ref() {
        DeValue::String(text) => {
            // The first line of a text in three quotes may be the next line.
            let opened = &source.text[value.span()];
            if opened.starts_with("'''\n") || opened.starts_with("\"\"\"\n") {
                place.line += 1;
            }
            Value::Text(text.to_string())
        }
        DeValue::Integer(number) => {
            let number = u64::from_str_radix(number.as_str(), number.radix());
            Value::Number(number.map_err(|_| place.fault("a number that is too large"))?)
        }
        DeValue::Array(values) => {
            let texts = values.iter().map(|value| value.get_ref().as_str().map(String::from));
            Value::List(texts.collect::<Option<_>>().ok_or_else(|| wrong("other values"))?)
        }
        other => return Err(wrong(other.type_str())),
    };
    Ok(Field { value, place })
}

fn place(source: &Source<'_>, at: usize) -> Place {
    let line = source.text[..at].matches('\n').count() + 1;
    Place { file: source.path.into(), line }
}

impl Field {
    fn text(&self) -> Result<&str, String> {
        match &self.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.place.fault("text is expected")),
        }
    }

    fn number(&self) -> Result<u64, String> {
        match &self.value {
            Value::Number(number) => Ok(*number),
            _ => Err(self.place.fault("a number is expected")),
        }
    }

    /// One text stands for a list of one.
    fn list(&self) -> Result<Vec<String>, String> {
        match &self.value {
            Value::List(texts) => Ok(texts.clone()),
            _ => Ok(vec![self.text()?.into()]),
        }
    }

    /// A value with a name, like `Level::Must`.
    fn label<T: std::fmt::Debug>(
        &self,
        kind: &str,
        named: fn(&str) -> Option<T>,
    ) -> Result<String, String> {
        self.one_label(kind, self.text()?, named)
    }

    fn one_label<T: std::fmt::Debug>(
        &self,
        kind: &str,
        name: &str,
        named: fn(&str) -> Option<T>,
    ) -> Result<String, String> {
        let found = named(name).map(|value| format!("{kind}::{value:?}"));
        let what = kind.to_lowercase();
        found.ok_or_else(|| self.place.fault(&format!("unknown {what} `{name}`")))
    }

    /// `RFC 9112, 7.1 (erratum 7633)`
    fn clause(&self) -> Result<String, String> {
        let wrong =
            || self.place.fault("a clause reads `RFC 9112, 7.1`, perhaps with `(erratum 7633)`");
        let (rfc, rest) = self.text()?.split_once(", ").ok_or_else(wrong)?;
        let rfc: u16 = rfc.strip_prefix("RFC ").and_then(|it| it.parse().ok()).ok_or_else(wrong)?;
        let (section, erratum) = match rest.split_once(" (erratum ") {
            Some((section, erratum)) => {
                (section, Some(erratum.strip_suffix(')').ok_or_else(wrong)?))
            }
            None => (rest, None),
        };
        let erratum: Option<u16> = erratum.map(str::parse).transpose().map_err(|_| wrong())?;
        if section.is_empty() || !section.bytes().all(|it| it.is_ascii_digit() || it == b'.') {
            return Err(wrong());
        }
        Ok(format!("Clause {{ rfc: {rfc}, section: {section:?}, erratum: {erratum:?} }}"))
    }
}

impl Case {
    fn fault(&self, what: &str) -> String {
        self.entry.place.fault(&format!("{}: {what}", self.id))
    }

    /// The case as a value of Rust. What its entry does not say is as in `Case::BLANK`.
    fn rust(&self, conditions: &mut Vec<String>) -> Result<String, String> {
        for owed in ["title", "area", "clause", "demand"] {
            if !self.entry.fields.contains_key(owed) {
                return Err(self.fault(&format!("a case has a {owed}")));
            }
        }
        let has_text = |name: &str| match self.entry.fields.get(name).map(|field| &field.value) {
            Some(Value::Text(text)) => !text.is_empty(),
            _ => false,
        };
        if has_text("warn") != has_text("doubt") {
            return Err(
                self.fault("what only warns has a `doubt` that says why, and nothing else has")
            );
        }
        let mut rust = format!("Case {{ id: {:?}, ", self.id);
        for (name, field) in &self.entry.fields {
            let _ = write!(rust, "{name}: {}, ", self.value(name, field, conditions)?);
        }
        rust.push_str("..Case::BLANK },\n");
        Ok(rust)
    }

    fn value(
        &self,
        name: &str,
        field: &Field,
        conditions: &mut Vec<String>,
    ) -> Result<String, String> {
        match name {
            "area" => self.area(field),
            "clause" => field.clause(),
            "level" => field.label("Level", Level::named),
            "needs" => field.label("Need", Need::named),
            "scheduling" => field.label("Scheduling", Scheduling::named),
            "answers" => Ok(field.number()?.to_string()),
            "weight" => match field.number()? {
                weight @ (1 | 3 | 5) => Ok(weight.to_string()),
                other => {
                    Err(field.place.fault(&format!("a case weighs 1, 3 or 5, and not {other}")))
                }
            },
            "tags" => {
                let tags = field.list()?;
                let tags = tags.iter().map(|tag| field.one_label("Tag", tag, Tag::named));
                Ok(format!("&[{}]", tags.collect::<Result<Vec<_>, _>>()?.join(", ")))
            }
            "twin" => match field.text()? {
                "" => Ok("None".into()),
                id => Ok(format!("Some({id:?})")),
            },
            "limit" | "steps" | "applies" | "pass" | "warn" => self.noted(name, field, conditions),
            _ => Ok(format!("{:?}", field.text()?)),
        }
    }

    fn area(&self, field: &Field) -> Result<String, String> {
        let area = field.label("Area", Area::named)?;
        match Area::named(field.text()?).map(Area::protocol) {
            Some(protocol) if protocol == self.protocol => Ok(area),
            _ => Err(field.place.fault("this area belongs to another protocol")),
        }
    }

    /// A field in the notation.
    fn noted(
        &self,
        name: &str,
        field: &Field,
        conditions: &mut Vec<String>,
    ) -> Result<String, String> {
        let tokens = tokens(field.text()?, &field.place, &self.names)?;
        let is_http2 = self.protocol.is_http2();
        let reader = Reader::new(&tokens, field.place.clone(), is_http2, conditions);
        match name {
            "limit" => reader.all(Reader::time),
            "steps" => Ok(format!("&[{}]", reader.all(Reader::steps)?)),
            _ => Ok(format!("&[{}]", reader.all(Reader::rules)?)),
        }
    }
}

#[cfg(test)]
mod tests;
