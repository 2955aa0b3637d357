//! The notation of steps and rules: words, numbers, octets in quotes, and the names that a file gives to parts of it.

use std::collections::BTreeMap;

/// Where something stands in the catalogue.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: usize,
}

impl Place {
    /// A message that names the place.
    pub(super) fn fault(&self, what: &str) -> String {
        format!("crates/check/catalogue/{}:{}: {what}", self.file, self.line)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Word(String),
    Octets(Vec<u8>),
    Number(u64),
    /// One of `[ ] , : * =`, or `;` between two steps. A new line is a `;`, unless it begins with a blank: such a line
    /// continues the one before.
    Mark(char),
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) symbol: Symbol,
    pub(super) line: usize,
}

/// What names in capitals stand for.
pub(super) type Names = BTreeMap<String, Vec<Token>>;

/// The tokens of a text that begins at this place.
pub(super) fn tokens(text: &str, place: &Place, names: &Names) -> Result<Vec<Token>, String> {
    let mut scanner = Scanner { rest: text, place: place.clone() };
    let mut tokens: Vec<Token> = Vec::new();
    while let Some(symbol) = scanner.symbol()? {
        let line = scanner.place.line;
        match &symbol {
            Symbol::Word(word) if names.contains_key(word) => {
                tokens.extend(names[word].iter().map(|token| Token { line, ..token.clone() }));
            }
            Symbol::Mark(';') if tokens.last().is_none_or(|last| last.is(';')) => {}
            _ => tokens.push(Token { symbol, line }),
        }
    }
    while tokens.last().is_some_and(|last| last.is(';')) {
        tokens.pop();
    }
    Ok(tokens)
}

impl Token {
    pub(super) fn is(&self, mark: char) -> bool {
        self.symbol == Symbol::Mark(mark)
    }
}

/// A text that is taken apart from its front.
struct Scanner<'a> {
    rest: &'a str,
    place: Place,
}

impl Scanner<'_> {
    fn symbol(&mut self) -> Result<Option<Symbol>, String> {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        let Some(first) = self.rest.chars().next() else { return Ok(None) };
        match first {
            '"' => self.octets().map(|octets| Some(Symbol::Octets(octets))),
            '0'..='9' => self.number().map(|number| Some(Symbol::Number(number))),
            'a'..='z' | 'A'..='Z' => Ok(Some(Symbol::Word(self.letters()))),
            '[' | ']' | ',' | ':' | '*' | '=' | ';' => {
                self.rest = &self.rest[1..];
                Ok(Some(Symbol::Mark(first)))
            }
            '\n' => {
                self.rest = &self.rest[1..];
                self.place.line += 1;
                // A line that begins with a blank continues the one before.
                if self.rest.starts_with(' ') { self.symbol() } else { Ok(Some(Symbol::Mark(';'))) }
            }
            _ => Err(self.place.fault(&format!("`{first}` has no meaning here"))),
        }
    }

    fn letters(&mut self) -> String {
        let is_other = |letter: char| !letter.is_ascii_alphanumeric() && !"-_".contains(letter);
        let (word, rest) = self.rest.split_at(self.rest.find(is_other).unwrap_or(self.rest.len()));
        self.rest = rest;
        word.into()
    }

    fn number(&mut self) -> Result<u64, String> {
        let word = self.letters();
        let digits = word.replace('_', "");
        let number = match digits.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        number.map_err(|_| self.place.fault(&format!("`{word}` is not a number")))
    }

    /// Octets in quotes. What is not ASCII stands for its octets in UTF-8.
    fn octets(&mut self) -> Result<Vec<u8>, String> {
        let mut octets = Vec::new();
        let mut letters = self.rest[1..].char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[at + 2..];
                    return Ok(octets);
                }
                '\n' => break,
                '\\' => {
                    let (octet, length) = escaped(&self.rest[at + 2..]).ok_or_else(|| {
                        self.place.fault(r#"a bad escape: there are \r \n \t \0 \\ \" and \x41"#)
                    })?;
                    octets.push(octet);
                    letters.by_ref().take(length).for_each(drop);
                }
                _ => octets.extend_from_slice(letter.to_string().as_bytes()),
            }
        }
        Err(self.place.fault("octets that begin with `\"` do not end on their line"))
    }
}

/// The octet that an escape stands for, and how many letters it has after the backslash.
fn escaped(rest: &str) -> Option<(u8, usize)> {
    let octet = match rest.chars().next()? {
        'r' => b'\r',
        'n' => b'\n',
        't' => b'\t',
        '0' => 0,
        '\\' => b'\\',
        '"' => b'"',
        'x' => return Some((u8::from_str_radix(rest.get(1..3)?, 16).ok()?, 3)),
        _ => return None,
    };
    Some((octet, 1))
}
