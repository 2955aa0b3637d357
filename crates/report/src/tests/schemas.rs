//! docs/*.schema.json and docs/json.md, made from the types that are written as JSON.

use std::collections::BTreeMap;

use expect_test::expect_file;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Each document, the command that writes it, and its schema.
fn documents() -> [(&'static str, &'static str, Schema); 15] {
    [
        ("load", "dyno load --json", schema::<crate::load::json::LoadDocument>()),
        ("loads", "dyno load --rounds N --json", schema::<crate::load::repeat::Loads>()),
        ("stream", "dyno load --stream", schema::<crate::load::slice::Slice>()),
        ("hold", "dyno hold --json", schema::<crate::hold::json::HoldDocument<'_>>()),
        ("capacity", "dyno capacity --json", schema::<crate::capacity::CapacityDocument>()),
        ("run", "dyno report --format json", schema::<crate::run::json::RunDocument<'_>>()),
        (
            "compare",
            "dyno compare --json",
            schema::<crate::run::comparison::json::ComparisonDocument<'_>>(),
        ),
        ("race", "dyno race --json", schema::<crate::run::race::json::RaceDocument<'_>>()),
        ("gate", "dyno gate --json", schema::<crate::gate::json::GateDocument<'_>>()),
        ("check", "dyno check --json", schema::<crate::check::json::CheckDocument<'_>>()),
        ("audit", "dyno audit --json", schema::<crate::audit::json::AuditDocument<'_>>()),
        ("trend", "dyno trend --json", schema::<crate::history::json::TrendDocument<'_>>()),
        (
            "early_end",
            "dyno COMMAND -o FILE.json, ended before its result",
            schema::<crate::early_end::EarlyEndJson<'_>>(),
        ),
        ("history", "dyno run --history FILE", schema::<crate::history::Line>()),
        ("gates", "dyno gate --history FILE", schema::<crate::history::GateLine>()),
    ]
}

/// What a document may contain, and nothing else.
fn schema<T: JsonSchema>() -> Schema {
    let closed = schemars::transform::RecursiveTransform(|schema: &mut Schema| {
        let is_struct = schema.get("properties").is_some();
        if is_struct && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".into(), false.into());
        }
    });
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(closed);
    settings.into_generator().into_root_schema_for::<T>()
}

#[test]
fn schemas_are_those_of_the_types() {
    for (name, _, schema) in documents() {
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        expect_file![format!("../../../../docs/{name}.schema.json")].assert_eq(&text);
    }
}

#[test]
fn every_field_is_explained() {
    for (name, _, schema) in documents() {
        for (title, of) in objects(schema.as_value()) {
            let lacking = fields(of).filter(|(_, field)| described(field).is_empty());
            let lacking: Vec<&String> = lacking.map(|(field, _)| field).collect();
            assert!(lacking.is_empty(), "{name} {title}: {lacking:?}");
            assert_ne!(described(of), "", "{name} {title}");
        }
    }
}

#[test]
fn the_page_is_that_of_the_types() {
    expect_file!["../../../../docs/json.md"].assert_eq(&page());
}

const HEAD: &str = "\
# What dyno writes for programs

One JSON object, on standard output (`--json`) or in a file (`-o FILE.json`, whole or not at all); `dyno load --stream`
writes one a second, each on a line of its own. All documents speak alike: `schema` says which one it is, `sentence` is
its answer in plain words, `verdict.word` what its figures are worth; a line of a stream or of a history has neither of
the two, and a trend and an early end no verdict. Units stand in the names: `_ns`, `_ms`, `_s`, `_per_s`, `_bytes`,
`_percent`. A number that does not exist is null, never zero. What the figures estimate is written in
[figures.md](figures.md), the thresholds of doubts in [validity.md](validity.md).

Each document has a JSON Schema; tests validate real output against it, and this page is made from it.
";

fn page() -> String {
    let documents = documents();
    let mut uses: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (name, of) in documents.iter().flat_map(|(_, _, schema)| definitions(schema.as_value())) {
        uses.entry(name).or_default().push(of);
    }
    let is_shared = |name: &str| {
        let of = &uses[name];
        1 < of.len() && of.iter().all(|one| *one == of[0])
    };
    let mut text = HEAD.to_string();
    for (name, command, schema) in &documents {
        let schema = schema.as_value();
        text.push_str(&format!("\n## `{command}`\n\n{}\n", wrapped(described(schema))));
        text.push_str(&wrapped(&format!(
            "`schema` is `dyno.{name}/1`; [{name}.schema.json]({name}.schema.json) is its JSON Schema."
        )));
        text.push_str(&table(schema));
        for (title, of) in definitions(schema).filter(|(title, _)| !is_shared(title)) {
            text.push_str(&section(title, of));
        }
    }
    text.push_str("\n## What several of them contain\n");
    for (title, of) in uses.iter().filter(|(title, _)| is_shared(title)) {
        text.push_str(&section(title, of[0]));
    }
    text
}

fn section(title: &str, of: &Value) -> String {
    format!("\n### {}\n\n{}{}", title.replace('_', " "), wrapped(described(of)), table(of))
}

/// The fields of an object, or of each of its variants.
fn table(of: &Value) -> String {
    if let Some(variants) = of.get("oneOf").and_then(Value::as_array) {
        let of_each = variants.iter().map(|variant| {
            let fields = fields(variant).map(|(name, field)| format!("`{name}` {}", kind(field)));
            format!("- {}\n", fields.collect::<Vec<_>>().join(", "))
        });
        return format!("\n{}", of_each.collect::<String>());
    }
    let row_of = |(name, field): (&String, &Value)| {
        let is = described(field).replace('\n', " ").replace('|', "\\|");
        format!("| `{name}` | {} | {is} |\n", kind(field))
    };
    let rows: String = fields(of).map(row_of).collect();
    format!("\n| field | type | is |\n|---|---|---|\n{rows}")
}

fn kind(field: &Value) -> String {
    if let Some(word) = field.get("const") {
        return format!("`{}`", word.as_str().unwrap_or_default());
    }
    if let Some(name) = field.get("$ref").and_then(Value::as_str) {
        let name = name.trim_start_matches("#/$defs/");
        return name.replace('_', " ");
    }
    if let Some(any) = field.get("anyOf").and_then(Value::as_array) {
        return any.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    if field.get("prefixItems").is_some() {
        return "pair of strings".into();
    }
    let inner = |key: &str| field.get(key).map_or("anything".into(), kind);
    let named = |name: &str| match name {
        "array" => format!("list of {}", inner("items")),
        "object" => format!("object of {} by name", inner("additionalProperties")),
        name => name.to_string(),
    };
    match field.get("type") {
        Some(Value::String(name)) => named(name),
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(named).collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".into(),
    }
}

fn definitions(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let all = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
    all.map(|(name, of)| (name.as_str(), of))
}

fn objects(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    std::iter::once(("", schema)).chain(definitions(schema))
}

/// The fields of an object, in the order in which they are written; those that are not always there come last.
fn fields(of: &Value) -> impl Iterator<Item = (&String, &Value)> {
    let names = of.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let properties = of.get("properties").and_then(Value::as_object);
    let always = names.iter().filter_map(move |name| properties?.get_key_value(name.as_str()?));
    let is_other = move |(name, _): &(&String, &Value)| !names.iter().any(|other| other == *name);
    always.chain(properties.into_iter().flatten().filter(is_other))
}

fn described(of: &Value) -> &str {
    of.get("description").and_then(Value::as_str).unwrap_or_default()
}

/// Lines of at most 120 characters.
fn wrapped(text: &str) -> String {
    crate::paint::wrapped(&text.replace('\n', " "), 120).join("\n") + "\n"
}
