//! A validator for as much of JSON Schema as the schemas in docs/ use; it refuses any other word.

use serde_json::{Map, Value};

/// Panics if a document is not as docs/NAME.schema.json says.
#[track_caller]
pub(crate) fn fits(name: &str, document: &Value) {
    assert_eq!(violations(&of(name), document), Vec::<String>::new(), "{document:#}");
    assert_eq!(document["schema"], format!("dyno.{name}/1"));
    assert!(document["sentence"].as_str().is_some_and(|text| !text.is_empty()), "{document:#}");
}

pub(crate) fn of(name: &str) -> Value {
    let path = format!("{}/../../docs/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Everything in which `value` differs from `schema`, with its place.
pub(crate) fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(schema, schema, value, "", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    let rules = schema.as_object().expect("a schema is an object");
    for (word, rule) in rules {
        match word.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "format" | "default" => {}
            "anyOf" | "oneOf" => {
                let all = rule.as_array().expect("a list").iter();
                let found_of_each = all.map(|one| {
                    let mut found = Vec::new();
                    check(root, one, value, place, &mut found);
                    found
                });
                // What is wrong with the likeliest of them.
                let least = found_of_each.min_by_key(Vec::len).expect("one at least");
                found.extend(least);
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten();
                for (n, (rule, item)) in
                    rule.as_array().expect("a list").iter().zip(items).enumerate()
                {
                    check(root, rule, item, &format!("{place}/{n}"), found);
                }
            }
            "$ref" => check(root, referred(root, rule), value, place, found),
            "type" => {
                if !types(rule).any(|name| is_of_type(name, value)) {
                    found.push(format!("{place}: {value} is no {rule}"));
                }
            }
            "const" => {
                found.extend((rule != value).then(|| format!("{place}: {value} is not {rule}")));
            }
            "enum" => {
                let is_in = rule.as_array().expect("a list").contains(value);
                found.extend((!is_in).then(|| format!("{place}: {value} is none of {rule}")));
            }
            "minItems" | "maxItems" => {
                let items = value.as_array().map_or(0, Vec::len) as u64;
                let is_kept = match word.as_str() {
                    "minItems" => rule.as_u64() <= Some(items),
                    _ => Some(items) <= rule.as_u64(),
                };
                found.extend((!is_kept).then(|| format!("{place}: {items} items, {word} {rule}")));
            }
            "maximum" => {
                let is_more = rule.as_f64() < value.as_f64() && value.is_number();
                found.extend(is_more.then(|| format!("{place}: {value} is above {rule}")));
            }
            "minimum" => {
                let is_less = value.as_f64() < rule.as_f64() && value.is_number();
                found.extend(is_less.then(|| format!("{place}: {value} is below {rule}")));
            }
            // If the value is not an object, no member is required.
            "required" if !value.is_object() => {}
            "required" => {
                for name in rule.as_array().expect("a list").iter().filter_map(Value::as_str) {
                    found.extend(value.get(name).is_none().then(|| format!("{place}: no {name}")));
                }
            }
            "items" => {
                for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{place}/{n}"), found);
                }
            }
            "properties" => properties(root, rules, value, place, found),
            "additionalProperties" if rules.contains_key("properties") => {}
            "additionalProperties" => properties(root, rules, value, place, found),
            other => panic!("the validator does not know `{other}`"),
        }
    }
}

fn properties(
    root: &Value,
    rules: &Map<String, Value>,
    value: &Value,
    place: &str,
    found: &mut Vec<String>,
) {
    let none = Map::new();
    let named = rules.get("properties").and_then(Value::as_object).unwrap_or(&none);
    for (name, item) in value.as_object().into_iter().flatten() {
        let place = format!("{place}/{name}");
        match (named.get(name), rules.get("additionalProperties")) {
            (Some(schema), _) => check(root, schema, item, &place, found),
            (None, Some(Value::Bool(false))) => found.push(format!("{place}: not in the schema")),
            (None, Some(schema @ Value::Object(_))) => check(root, schema, item, &place, found),
            (None, _) => {}
        }
    }
}

fn referred<'a>(root: &'a Value, rule: &Value) -> &'a Value {
    let path = rule.as_str().and_then(|text| text.strip_prefix('#')).expect("a place within");
    root.pointer(path).expect("it is there")
}

fn types(rule: &Value) -> impl Iterator<Item = &str> {
    let one = rule.as_str();
    let many = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(many)
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("there is no type `{other}`"),
    }
}
