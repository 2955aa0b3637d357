//! The known word that was probably meant by an unknown one.

/// The nearest of `known` to `text`, if any is near enough to be a typing error.
#[must_use]
pub fn nearest<'k>(text: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let reach = text.chars().count() / 3 + 1;
    known
        .map(|word| (steps_between(text, word), word))
        .filter(|(steps, _)| *steps <= reach)
        .min_by_key(|(steps, _)| *steps)
        .map(|(_, word)| word)
}

/// How many characters must be added, dropped or changed (Levenshtein's distance).
fn steps_between(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let change = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keys_finds_its_word_and_a_stranger_finds_none() {
        let words = ["uniform", "constant", "bimodal"];
        assert_eq!(nearest("unifrom", words.into_iter()), Some("uniform"));
        assert_eq!(nearest("konstant", words.into_iter()), Some("constant"));
        assert_eq!(nearest("zebra", words.into_iter()), None);
    }
}
