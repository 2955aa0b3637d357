//! Flags whose values are those of a list, which gives their names and what they mean.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// One of the values of a list, by its name; the help says what each means.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    meaning: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let shown = all.map(|value| PossibleValue::new(name(value)).help(meaning(value)));
    let named = move |text: String| all.into_iter().find(|value| name(*value) == text);
    PossibleValuesParser::new(shown).try_map(move |text| named(text).ok_or("no such value"))
}
