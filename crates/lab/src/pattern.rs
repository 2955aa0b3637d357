//! Names that are chosen by a pattern, as a shell has them.

/// `*` stands for any letters, `?` for one.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    // Where to continue if the text after the last star did not match: one letter later.
    let (mut at, mut read, mut retry) = (0, 0, None);
    while read < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                retry = Some((at, read));
            }
            Some(letter) if *letter == b'?' || *letter == text[read] => {
                at += 1;
                read += 1;
            }
            _ => match &mut retry {
                None => return false,
                Some((after_star, from)) => {
                    *from += 1;
                    (at, read) = (*after_star, *from);
                }
            },
        }
    }
    pattern[at..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_as_a_shell_has_them() {
        let fits = matches;
        assert!(fits("*", "") && fits("H1-*", "H1-B01") && fits("*01", "H1-B01"));
        assert!(fits("H?-B*1", "H1-B01") && fits("**B**", "H1-B01") && fits("*1-*1", "H1-B01"));
        assert!(!fits("H1", "H1-B01") && !fits("?", "") && !fits("*2", "H1-B01"));
        assert!(!fits("H1-B0?", "H1-B0"));
    }
}
