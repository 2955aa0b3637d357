//! A command line with holes: `wrk -c{connections} -H 'Connection: close' {url}`.

/// A hole and what fills it.
pub(crate) type Filling = (&'static str, String);

/// The words of the command, with holes filled. Single quotes keep spaces within a word; a hole may be filled with
/// nothing, and then is no word.
pub(crate) fn words(template: &str, fillings: &[Filling]) -> Vec<String> {
    let filled = split(template).into_iter().map(|word| fill(&word, fillings));
    filled.filter(|word| !word.is_empty()).collect()
}

/// The text, with holes filled.
pub(crate) fn fill(text: &str, fillings: &[Filling]) -> String {
    fillings.iter().fold(text.to_owned(), |text, (hole, filling)| {
        text.replace(&format!("{{{hole}}}"), filling)
    })
}

fn split(template: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in template.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            letter => words.last_mut().expect("never empty").push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_blanks_together_and_holes_are_filled() {
        let fillings =
            [("c", "50".to_owned()), ("url", "http://a b/".to_owned()), ("k", String::new())];
        assert_eq!(
            words("wrk -c{c} {k} -H 'Connection: close'  {url}", &fillings),
            ["wrk", "-c50", "-H", "Connection: close", "http://a b/"]
        );
    }
}
