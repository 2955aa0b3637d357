//! The words of docs/glossary.md on a page: where one occurs in a heading or a legend, its sentence is shown under the
//! pointer and at the keyboard, without a script. The sentences stand in the glossary only.

use std::sync::LazyLock;

use crate::markup::{Markup, markup};

const GLOSSARY: &str = include_str!("../../../docs/glossary.md");

struct Word {
    term: String,
    sentence: String,
}

/// The longest words first, so that `held connection` is not taken for less.
static WORDS: LazyLock<Vec<Word>> = LazyLock::new(|| {
    let mut words = words(GLOSSARY);
    words.sort_by_key(|word| std::cmp::Reverse(word.term.len()));
    words
});

/// The entries of a glossary: `- **a, b**: a sentence`, in one line or several.
fn words(page: &str) -> Vec<Word> {
    page.split("\n- **").skip(1).filter_map(entry).flatten().collect()
}

/// The words of one entry, all with the same sentence.
fn entry(text: &str) -> Option<Vec<Word>> {
    let text = text.split("\n\n").next()?.split_whitespace().collect::<Vec<_>>().join(" ");
    let (terms, sentence) = text.split_once("**: ")?;
    let sentence = sentence.replace('`', "");
    let word = |term: &str| Word { term: term.into(), sentence: sentence.clone() };
    Some(terms.split(", ").map(word).collect())
}

/// The text, in which the first occurrence of each word is explained.
pub(crate) fn explained(text: &str) -> Markup {
    let (mut all, mut rest, mut known) = (Markup::default(), 0, Vec::new());
    let mut at = 0;
    while at < text.len() {
        let found = WORDS.iter().find_map(|word| {
            let end = end_of(text, at, &word.term)?;
            (!known.contains(&word.term.as_str())).then_some((word, end))
        });
        match found {
            Some((word, end)) => {
                all.push(&markup!(
                    "{}<dfn class=\"term\" tabindex=\"0\">{}<span class=\"gloss\" role=\"tooltip\">{}</span></dfn>",
                    &text[rest..at],
                    &text[at..end],
                    word.sentence
                ));
                known.push(word.term.as_str());
                (at, rest) = (end, end);
            }
            None => at += text[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    all.push(&markup!("{}", &text[rest..]));
    all
}

/// Where the word ends that begins here, if it is this one or its plural, and not a part of another.
fn end_of(text: &str, at: usize, term: &str) -> Option<usize> {
    let is_part = |other: char| other.is_alphanumeric() || "-_".contains(other);
    let end = at + term.len();
    let is_it = text.get(at..end)?.eq_ignore_ascii_case(term) && !text[..at].ends_with(is_part);
    let plural = if text[end..].starts_with('s') { end + 1 } else { end };
    (is_it && !text[plural..].starts_with(is_part)).then_some(plural)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        let shown = explained(text).into_string();
        let parts = shown.split("tabindex=\"0\">").skip(1);
        parts.map(|part| part.split('<').next().unwrap().replace("&#39;", "'")).collect()
    }

    #[test]
    fn every_entry_of_the_glossary_is_a_word_with_a_sentence() {
        let entries = GLOSSARY.lines().filter(|line| line.starts_with("- **")).count();
        assert!(30 < entries && entries <= WORDS.len());
        for word in WORDS.iter() {
            let (term, says) = (&word.term, &word.sentence);
            assert!(says.ends_with('.') && !says.contains(['*', '`', '[', '\n']), "{term}: {says}");
            assert_eq!(of(term), [term.as_str()]);
        }
    }

    #[test]
    fn a_word_is_explained_once_whole_and_in_the_plural() {
        assert_eq!(of("throughput/s: the throughput of three Rounds"), ["throughput", "Rounds"]);
        assert_eq!(of("a surround, a row-like thing, around, narrow"), Vec::<String>::new());
        assert_eq!(of("held connections that came late"), ["held connections", "late"]);
        assert_eq!(of("≥ ünder 5 s"), Vec::<String>::new());
    }

    #[test]
    fn the_text_stays_what_it_is_and_is_escaped() {
        let shown = explained("<b> & throughput").into_string();
        assert!(shown.starts_with("&lt;b&gt; &amp; <dfn "), "{shown}");
        assert!(shown.contains(
            ">throughput<span class=\"gloss\" role=\"tooltip\">the correct answers that came"
        ));
        assert_eq!(explained("nothing here").into_string(), "nothing here");
    }
}
