//! A command line with holes: `wrk -c{connections} -H 'Connection: close' {url}`.

use lab::command::Command;

/// A hole and what fills it.
pub(crate) type Filling = (&'static str, String);

/// The words of the command, with holes filled. A hole may be filled with nothing, and then is no word.
pub(crate) fn words(template: &str, fillings: &[Filling]) -> Vec<String> {
    let command = Command::parse(template).expect("the templates are ours, and are commands");
    let filled = command.words().iter().map(|word| fill(word, fillings));
    filled.filter(|word| !word.is_empty()).collect()
}

/// The text, with holes filled.
pub(crate) fn fill(text: &str, fillings: &[Filling]) -> String {
    fillings.iter().fold(text.to_owned(), |text, (hole, filling)| {
        text.replace(&format!("{{{hole}}}"), filling)
    })
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
