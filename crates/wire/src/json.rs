//! JSON as it is compared: by its meaning. The order of members, white space and the form of numbers do not matter:
//! `14760`, `14760.0` and `1.476e4` are the same number (RFC 8259 does not tell them apart, and many readers cannot).

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Readers that take all numbers for doubles know every integer below this one.
const INTEGER_END: u64 = 1 << 53;

/// A value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    /// A number without a fraction, whatever its form; below `INTEGER_END`, with either sign.
    Integer(i64),
    /// Any other number that is no integer of 2⁵³ or more.
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// One value and nothing after it. An object with two members of one name is none.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Json, String> {
        serde_json::from_slice(bytes).map_err(|error| error.to_string())
    }

    pub(crate) fn object<'n>(members: impl IntoIterator<Item = (&'n str, Json)>) -> Json {
        let members = members.into_iter().map(|(name, value)| (name.to_string(), value));
        Json::Object(members.collect())
    }

    /// Where a value first differs from this one, which was expected, and how.
    pub(crate) fn difference(&self, found: &Json) -> Option<String> {
        differs(self, found, "")
    }
}

fn differs(expected: &Json, found: &Json, path: &str) -> Option<String> {
    let place = if path.is_empty() { "it" } else { path };
    match (expected, found) {
        (Json::Object(wanted), Json::Object(there)) => {
            let below =
                |name: &str| if path.is_empty() { name.into() } else { format!("{path}.{name}") };
            let wrong = wanted.iter().find_map(|(name, value)| match there.get(name) {
                None => Some(format!("`{}` is missing", below(name))),
                Some(found) => differs(value, found, &below(name)),
            });
            let extra = || there.keys().find(|name| !wanted.contains_key(*name));
            wrong.or_else(|| extra().map(|name| format!("`{}` must not be there", below(name))))
        }
        (Json::List(wanted), Json::List(there)) if wanted.len() == there.len() => {
            wanted.iter().zip(there).enumerate().find_map(|(at, (expected, found))| {
                differs(expected, found, &format!("{path}[{at}]"))
            })
        }
        (Json::List(wanted), Json::List(there)) => {
            Some(format!("`{place}` has {} elements; {} are expected", there.len(), wanted.len()))
        }
        _ if expected == found => None,
        _ => Some(format!("`{place}` is {found}; {expected} is expected")),
    }
}

/// So many letters of a value are shown.
const SHOWN: usize = 60;

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).unwrap_or_default();
        match text.char_indices().nth(SHOWN) {
            None => f.write_str(&text),
            Some((at, _)) => write!(f, "{}…", &text[..at]),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

fn integer<E: Error>(number: i64) -> Result<Json, E> {
    match number.unsigned_abs() < INTEGER_END {
        true => Ok(Json::Integer(number)),
        false => Err(E::custom(format!("{number} is not below 2^53"))),
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Json, E> {
        integer(number)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Json, E> {
        integer(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Json, E> {
        let is_integer = number.fract() == 0.0;
        if is_integer { integer(number as i64) } else { Ok(Json::Number(number)) }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element()? {
            list.push(value);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, Json>()? {
            if members.contains_key(&name) {
                return Err(A::Error::custom(format!("`{name}` is there twice")));
            }
            members.insert(name, value);
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with a body, where the first one is expected.
    fn wrong(expected: &str, found: &str) -> Option<String> {
        let expected = Json::parse(expected.as_bytes()).unwrap();
        match Json::parse(found.as_bytes()) {
            Ok(found) => expected.difference(&found),
            Err(says) => Some(says),
        }
    }

    #[test]
    fn order_white_space_escapes_and_the_form_of_numbers_are_free() {
        let expected = r#"{"a":[1,true,null,"é&\""],"b":{"c":14760,"d":-2}}"#;
        for found in [
            expected,
            "\n{ \"b\" : {\"d\":-2,\"c\":14760}\t,\"a\":[1,true,null,\"é&\\\"\"] }\r\n",
            r#"{"a":[1.0,true,null,"\u00e9\u0026\u0022"],"b":{"c":14760.0,"d":-20e-1}}"#,
            r#"{"a":[1,true,null,"é&\""],"b":{"c":1.476e4,"d":-2.00}}"#,
        ] {
            assert_eq!(wrong(expected, found), None, "{found}");
        }
    }

    #[test]
    fn what_differs_is_named_with_its_place() {
        let expected = r#"{"items":[{"id":1,"total":30}],"count":1}"#;
        for (found, says) in [
            (r#"{"items":[{"id":1,"total":31}],"count":1}"#, "`items[0].total` is 31; 30 is"),
            (r#"{"items":[{"id":1,"total":30.5}],"count":1}"#, "`items[0].total` is 30.5; 30 is"),
            (r#"{"items":[{"id":"1","total":30}],"count":1}"#, "`items[0].id` is \"1\"; 1 is"),
            (r#"{"items":[{"id":1}],"count":1}"#, "`items[0].total` is missing"),
            (r#"{"items":[{"id":1,"total":30}],"count":1,"x":null}"#, "`x` must not be there"),
            (r#"{"items":[],"count":1}"#, "`items` has 0 elements; 1 are expected"),
            (r#"{"items":[{"id":1,"total":30,"id":1}],"count":1}"#, "`id` is there twice"),
            (r#"{"items":[{"id":1,"total":30}],"count":1}x"#, "trailing characters"),
            (r#"{"items":[{"id":1,"total":30}],"count":1}{}"#, "trailing characters"),
            (r#"{"items":[{"id":01,"total":30}],"count":1}"#, "invalid number"),
            (r#"{"items":[{"id":1,"total":30}],"count":9007199254740992}"#, "is not below 2^53"),
            (r#"{"items":[{"id":1,"total":30}],"count":1e300}"#, "is not below 2^53"),
            (r#"{"items":[{"id":1,"total":30}],"count":1"#, "EOF"),
            ("[]", "`it` is []; {"),
            ("", "EOF"),
        ] {
            let wrong = wrong(expected, found).unwrap_or_default();
            assert!(wrong.contains(says), "{found}: {wrong}");
        }
    }
}
