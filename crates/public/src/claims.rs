//! What an exporter claims of a run: the part of the document `dyno.run/1` that is computed of its content.

use report::render::Shown;
use report::run::Findings;
use serde_json::Value;

/// Parts of the document that are the content itself, or its place in a store.
const CONTENT: [&str; 8] =
    ["run", "facts", "subjects", "differences", "published", "files", "damaged", "why"];

/// Everything that is computed of a run.
pub(crate) fn claims(findings: &Findings<'_>) -> Value {
    let document = findings.json().map_err(|error| error.to_string());
    let document =
        document.and_then(|text| serde_json::from_str(&text).map_err(|it| it.to_string()));
    let mut document: Value = document.unwrap_or_default();
    let Some(parts) = document.as_object_mut() else { return document };
    parts.retain(|name, _| !CONTENT.contains(&name.as_str()));
    for tables in parts.get_mut("tables").and_then(Value::as_array_mut).into_iter().flatten() {
        for row in tables["rows"].as_array_mut().into_iter().flatten() {
            drop(row.as_object_mut().and_then(|row| row.remove("evidence")));
            for trial in row["trials"].as_array_mut().into_iter().flatten() {
                drop(trial.as_object_mut().and_then(|trial| trial.remove("course")));
            }
        }
    }
    // The findings of a check are content; its scores are not.
    for check in parts.get_mut("conformance").and_then(Value::as_array_mut).into_iter().flatten() {
        drop(check.as_object_mut().and_then(|check| check.remove("findings")));
    }
    document
}
