//! A command as a shell would read it, without a shell: words and quotes. What a shell would fill in, run or redirect is
//! refused.

use std::iter::Peekable;
use std::str::Chars;

/// The words of a command.
pub(crate) fn words(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    // A word may be empty, `''`, and that is not the same as none.
    let mut word: Option<String> = None;
    let mut rest = command.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\\' => escaped(&mut rest, &mut word)?,
            '\'' => single_quoted(&mut rest, word.get_or_insert_default())?,
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            '$' if rest.next_if_eq(&'\'').is_some() => {
                dollar_quoted(&mut rest, word.get_or_insert_default())?;
            }
            '$' | '`' => return Err(would_be_filled(letter)),
            '|' | '&' | ';' | '<' | '>' | '(' | ')' => {
                return Err(format!(
                    "`{letter}` outside of quotes means something to a shell, and there is none here; \
                     put the URL or the text in quotes, and give the curl command alone"
                ));
            }
            '#' if word.is_none() => while rest.next_if(|&letter| letter != '\n').is_some() {},
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

fn would_be_filled(letter: char) -> String {
    format!(
        "`{letter}`: a shell would fill something in here, and there is none; write the value itself"
    )
}

/// After a backslash outside of quotes. With the end of a line it is nothing: the command goes on.
fn escaped(rest: &mut Peekable<Chars<'_>>, word: &mut Option<String>) -> Result<(), String> {
    let _ = rest.next_if_eq(&'\r');
    match rest.next() {
        Some('\n') => Ok(()),
        Some(letter) => {
            word.get_or_insert_default().push(letter);
            Ok(())
        }
        None => Err("it ends with a backslash; the rest of the command is missing".into()),
    }
}

fn not_closed(quote: &str) -> String {
    format!("a quote, {quote}, is not closed; the rest of the command is missing")
}

fn single_quoted(rest: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), String> {
    loop {
        match rest.next() {
            Some('\'') => return Ok(()),
            Some(letter) => word.push(letter),
            None => return Err(not_closed("'")),
        }
    }
}

fn double_quoted(rest: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), String> {
    loop {
        match rest.next() {
            Some('"') => return Ok(()),
            Some(letter @ ('$' | '`')) => return Err(would_be_filled(letter)),
            Some('\\') => match rest.next() {
                Some('\n') => {}
                Some(letter @ ('$' | '`' | '"' | '\\')) => word.push(letter),
                Some(letter) => word.extend(['\\', letter]),
                None => return Err(not_closed("\"")),
            },
            Some(letter) => word.push(letter),
            None => return Err(not_closed("\"")),
        }
    }
}

/// `$'…'`, as browsers copy a request whose body has quotes or line ends.
fn dollar_quoted(rest: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), String> {
    loop {
        match rest.next() {
            Some('\'') => return Ok(()),
            Some('\\') => word.push(dollar_escape(rest)?),
            Some(letter) => word.push(letter),
            None => return Err(not_closed("$'")),
        }
    }
}

fn dollar_escape(rest: &mut Peekable<Chars<'_>>) -> Result<char, String> {
    Ok(match rest.next() {
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some(letter @ ('\\' | '\'' | '"' | '?' | '!')) => letter,
        Some('x') => numbered(rest, 2, 0x7f)?,
        Some('u') => match numbered_value(rest, 4) {
            // A character beyond the first 65,536 comes as two halves.
            high @ 0xd800..=0xdbff
                if rest.next_if_eq(&'\\').is_some() && rest.next() == Some('u') =>
            {
                match numbered_value(rest, 4) {
                    low @ 0xdc00..=0xdfff => {
                        character(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))?
                    }
                    // A half without its other one is no character.
                    _ => character(high)?,
                }
            }
            value => character(value)?,
        },
        Some('U') => numbered(rest, 8, u32::MAX)?,
        other => {
            let shown = other.map_or(String::new(), String::from);
            return Err(format!(
                "`\\{shown}` within $'…' is not known here; write the character itself"
            ));
        }
    })
}

/// The value of up to so many hexadecimal digits; 0 if there is none.
fn numbered_value(rest: &mut Peekable<Chars<'_>>, digits: usize) -> u32 {
    let mut value = 0_u32;
    for _ in 0..digits {
        let Some(digit) = rest.peek().and_then(|letter| letter.to_digit(16)) else { break };
        rest.next();
        value = (value << 4) | digit;
    }
    value
}

fn numbered(rest: &mut Peekable<Chars<'_>>, digits: usize, most: u32) -> Result<char, String> {
    match numbered_value(rest, digits) {
        value if value <= most => character(value),
        value => Err(format!(
            "\\x{value:02x} is not text; put binary content in a file, and give --data-binary @FILE"
        )),
    }
}

fn character(value: u32) -> Result<char, String> {
    let usable = char::from_u32(value).filter(|&letter| letter != '\0');
    usable.ok_or_else(|| format!("the number {value:#x} within $'…' stands for no character"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(command: &str) -> Vec<String> {
        words(command).unwrap_or_else(|says| panic!("{command}: {says}"))
    }

    #[test]
    fn words_are_parted_by_spaces_and_kept_together_by_quotes() {
        assert_eq!(read("curl  -H 'A: b c'\t\"x y\"z"), ["curl", "-H", "A: b c", "x yz"]);
        assert_eq!(read("a '' \"\" b"), ["a", "", "", "b"]);
        assert_eq!(read("curl \\\n  'http://h/' \\\r\n -s # the end"), ["curl", "http://h/", "-s"]);
        assert_eq!(read("it\\'s a\\ b h/#x"), ["it's", "a b", "h/#x"]);
    }

    #[test]
    fn within_quotes_a_shell_reads_few_characters() {
        assert_eq!(read(r#"'a\n"$x`' "a\n\"\$\`\\'""#), [r#"a\n"$x`"#, r#"a\n"$`\'"#]);
        assert_eq!(read(r"$'a\nb\'c\\\u0021\x41é\u00e9\ud83d\ude00'"), ["a\nb'c\\!Aéé😀"]);
    }

    #[test]
    fn what_needs_a_shell_is_refused() {
        let refusal = |command: &str| words(command).unwrap_err();
        for command in ["curl $URL", "curl \"$URL\"", "curl `x`", "curl \"`x`\"", "curl $(x)"] {
            assert!(refusal(command).contains("write the value itself"), "{command}");
        }
        for command in ["curl h | jq", "curl h/?a=1&b=2", "curl h; x", "curl h > f", "(curl h)"] {
            assert!(refusal(command).contains("outside of quotes"), "{command}");
        }
        for command in ["curl 'h", "curl \"h", "curl \"h\\", "curl h\\", "curl $'h"] {
            assert!(refusal(command).contains("is missing"), "{command}");
        }
        for command in [
            r"$'\xff'",
            r"$'\u0000'",
            r"$'\q'",
            r"$'\ud800'",
            r"$'\ud83d\u0041'",
            r"$'\U110000'",
            r"$'\",
        ] {
            assert!(words(command).is_err(), "{command}");
        }
    }
}
