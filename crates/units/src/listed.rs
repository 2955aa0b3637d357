//! Lists in a sentence.

/// `0, 1 and 3`
pub fn listed(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// A list of names; of five and more the first three, and how many others there are.
pub fn listed_in_short(names: &[String]) -> String {
    match names {
        [one, two, three, _, rest @ ..] if !rest.is_empty() => {
            format!("{one}, {two}, {three} and {} others", names.len() - 3)
        }
        few => listed(few),
    }
}
