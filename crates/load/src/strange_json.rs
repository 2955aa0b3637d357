//! Values of JSON with something strange in them, for tests of what comes from elsewhere.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wire::Chance;

/// The places of all values that hold no others.
pub(crate) fn leaves(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    gather(value, "", &mut found);
    found
}

fn gather(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Array(all) => all
            .iter()
            .enumerate()
            .for_each(|(place, inner)| gather(inner, &format!("{path}/{place}"), found)),
        Value::Object(all) => {
            all.iter().for_each(|(name, inner)| gather(inner, &format!("{path}/{name}"), found));
        }
        _ => found.push(path.to_string()),
    }
}

fn strange(chance: &mut Chance) -> Value {
    match chance.below(12) {
        0 => u64::MAX.into(),
        1 => (1_u64 << 62).into(),
        2 => (1_u64 << chance.below(64)).into(),
        3 => 0.into(),
        4 => (-1).into(),
        5 => json!("18446744073709551616000000000000000"),
        6 => json!("x".repeat(chance.below(3_000))),
        7 => Value::Null,
        8 => json!(1e300),
        9 => json!([1, 2, 3]),
        10 => true.into(),
        _ => (chance.draw() >> chance.below(64)).into(),
    }
}

/// Changes one value, or two, or replaces one by another from elsewhere in it.
pub(crate) fn shaken(value: &Value, places: &[String], chance: &mut Chance) -> Value {
    let mut changed = value.clone();
    for _ in 0..=chance.below(2) {
        let place = &places[chance.below(places.len())];
        let other = value.pointer(&places[chance.below(places.len())]).cloned();
        let by = if chance.below(4) == 0 { other.unwrap_or_default() } else { strange(chance) };
        if let Some(value) = changed.pointer_mut(place) {
            *value = by;
        }
    }
    changed
}

/// With this in its place, the value is refused, and this is said.
pub(crate) fn assert_refused<T: DeserializeOwned>(
    good: &Value,
    place: &str,
    by: Value,
    says: &str,
) {
    let mut bad = good.clone();
    *bad.pointer_mut(place).expect(place) = by;
    let refusal = serde_json::from_value::<T>(bad).err().map(|error| error.to_string());
    assert!(refusal.as_ref().is_some_and(|it| it.contains(says)), "{refusal:?}, and not `{says}`");
}
