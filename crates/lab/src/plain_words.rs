//! What a reader of TOML or JSON says of a wrong value, in plain words: without the names of types in dyno's code.

use units::nearest;

/// How a notation calls a value with named parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    Toml,
    Json,
}

impl Notation {
    fn object(self) -> &'static str {
        match self {
            Notation::Toml => "a table",
            Notation::Json => "an object",
        }
    }
}

/// The reader of TOML says this of nested keys, without a place.
pub(crate) const TOO_DEEP: &str = "recursion limit";

/// What is wrong with a JSON text, and in which column of its line.
#[must_use]
pub fn of_json(error: &serde_json::Error) -> String {
    let says = error.to_string();
    let says = says.rsplit_once(" at line ").map_or(says.as_str(), |(says, _)| says);
    format!("column {}: {}", error.column(), in_plain_words(says, Notation::Json))
}

/// A message of serde in the words of a user's file. Other messages stay as they are.
#[must_use]
pub fn in_plain_words(says: &str, notation: Notation) -> String {
    if let Some(says) = unknown(says) {
        return says;
    }
    let mismatch = ["invalid type: ", "invalid value: ", "invalid length "]
        .iter()
        .find_map(|kind| says.strip_prefix(kind)?.rsplit_once(", expected "));
    if let Some((found, expected)) = mismatch {
        return format!(
            "{} is given where {} is expected",
            found_as(found, notation),
            wanted(expected, notation)
        );
    }
    for (kind, what) in [("missing field ", "is missing"), ("duplicate field ", "is given twice")] {
        if let Some(key) = says.strip_prefix(kind) {
            return format!("the key {key} {what}");
        }
    }
    match says {
        "expected ident" | "expected value" => {
            "what stands here is not a value; a text needs quotes".into()
        }
        TOO_DEEP => "keys are nested too deep here".into(),
        says if says.starts_with("EOF while parsing") => "the text ends too early".into(),
        says if says.starts_with("data did not match any variant") => {
            "the value has none of the forms that are possible here".into()
        }
        says => says.into(),
    }
}

/// The value that was found: "integer `5`" is `5`.
fn found_as(found: &str, notation: Notation) -> String {
    match found {
        "map" => notation.object().into(),
        "sequence" => "a list".into(),
        "null" | "unit value" => "null".into(),
        found => match (found.find(['`', '"']), found.ends_with(['`', '"'])) {
            (Some(quote), true) => found[quote..].into(),
            _ => found.into(),
        },
    }
}

fn wanted(expected: &str, notation: Notation) -> String {
    let up_to = |most: &str| format!("a whole number from 0 to {most}");
    match expected {
        "u8" => up_to("255"),
        "u16" => up_to("65,535"),
        "u32" => up_to("4,294,967,295"),
        "u64" | "u128" | "usize" => "a whole number that is not below 0".into(),
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number".into(),
        "f32" | "f64" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a string" | "a borrowed string" | "string or map" | "a character" => "a text".into(),
        "a sequence" => "a list".into(),
        "a map" => notation.object().into(),
        "unit" => "null".into(),
        expected if expected.starts_with("struct ") => notation.object().into(),
        expected if expected.starts_with("enum ") || expected.starts_with("variant ") => {
            "a word".into()
        }
        expected if expected.starts_with("tuple ") || expected.starts_with("a tuple ") => {
            "a list".into()
        }
        expected => expected.into(),
    }
}

/// Reports an unknown key in dyno's own words, with the nearest known key.
fn unknown(says: &str) -> Option<String> {
    let quoted: Vec<&str> = says.split('`').skip(1).step_by(2).collect();
    let (what, known) = quoted.split_first()?;
    let kind =
        ["unknown field", "unknown variant"].into_iter().find(|kind| says.starts_with(kind))?;
    let noun = if kind == "unknown field" { "key" } else { "word" };
    Some(match (nearest(what, known.iter().copied()), known) {
        (Some(near), _) => format!("unknown {noun} `{what}`; did you mean `{near}`?"),
        (None, [only]) => format!("unknown {noun} `{what}`; the only one known is {only}"),
        (None, known) => format!("unknown {noun} `{what}`; known are {}", known.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use serde::de::DeserializeOwned;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only what is said of wrong values is of interest")]
    struct Shape {
        small: Option<u32>,
        large: Option<u64>,
        signed: Option<i64>,
        real: Option<f64>,
        truth: Option<bool>,
        text: Option<String>,
        list: Option<Vec<u8>>,
        named: Option<BTreeMap<String, u8>>,
        inner: Option<Inner>,
        word: Option<Word>,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "as above")]
    struct Inner {
        key: u8,
    }

    #[derive(Debug, Deserialize)]
    enum Word {
        #[serde(rename = "this")]
        This,
    }

    fn toml_says(text: &str) -> String {
        let error = toml::from_str::<Shape>(text).unwrap_err();
        in_plain_words(error.message(), Notation::Toml)
    }

    fn json_says<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
        of_json(&serde_json::from_str::<T>(text).unwrap_err())
    }

    #[test]
    fn a_wrong_value_is_named_with_what_belongs_there() {
        for (text, says) in [
            (
                "small = 1.5",
                "`1.5` is given where a whole number from 0 to 4,294,967,295 is expected",
            ),
            (
                "small = -1",
                "`-1` is given where a whole number from 0 to 4,294,967,295 is expected",
            ),
            ("large = 'x'", "\"x\" is given where a whole number that is not below 0 is expected"),
            ("signed = true", "`true` is given where a whole number is expected"),
            ("real = 'x'", "\"x\" is given where a number is expected"),
            ("truth = 1", "`1` is given where true or false is expected"),
            ("text = 1", "`1` is given where a text is expected"),
            ("list = {}", "a table is given where a list is expected"),
            ("named = []", "a list is given where a table is expected"),
            ("inner = 5", "`5` is given where a table is expected"),
            ("inner = {}", "the key `key` is missing"),
        ] {
            assert_eq!(toml_says(text), says, "{text}");
        }
        assert_eq!(
            json_says::<Shape>("{\"inner\": 5}"),
            "column 11: `5` is given where an object is expected"
        );
        assert_eq!(json_says::<Shape>("{\"inner\": {}}"), "column 12: the key `key` is missing");
        assert_eq!(
            json_says::<Shape>("{\"text\":\"\",\"text\":\"\"}"),
            "column 17: the key `text` is given twice"
        );
        assert!(json_says::<Shape>("nonsense").contains("a text needs quotes"));
    }

    #[test]
    fn no_type_of_the_code_is_named_whatever_stands_in_a_file() {
        let keys = "small large signed real truth text list named inner word";
        for value in [
            "-1",
            "1.5",
            "99999999999999999999",
            "true",
            "'x'",
            "[1.5]",
            "{ x = 'y' }",
            "1979-05-27",
        ] {
            for key in keys.split(' ') {
                let text = format!("{key} = {value}\n");
                let Err(error) = toml::from_str::<Shape>(&text) else { continue };
                names_no_type(&in_plain_words(error.message(), Notation::Toml));
            }
        }
        for value in
            ["-1", "1.5", "1e99", "true", "null", "\"x\"", "[1.5]", "{\"x\": \"y\"}", "nul", ""]
        {
            for key in keys.split(' ') {
                let text = format!("{{\"{key}\": {value}}}");
                let Err(error) = serde_json::from_str::<Shape>(&text) else { continue };
                names_no_type(&of_json(&error));
            }
        }
    }

    fn names_no_type(says: &str) {
        for word in [
            "struct",
            "enum ",
            "Shape",
            "Inner",
            "Word",
            "u8",
            "u32",
            "u64",
            "i64",
            "f64",
            "variant",
            "sequence",
            " map",
            "EOF",
            "invalid type",
        ] {
            assert!(!says.contains(word), "{word}: {says}");
        }
    }
}
