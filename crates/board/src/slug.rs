//! Names as parts of paths. What a stranger wrote becomes no path of its own choice, and two names never become one.

use sha2::{Digest, Sha256};

/// A name that is kept has no more letters.
const LONGEST: usize = 60;
/// So many digits of a hash are behind a name that was changed.
const DIGITS: usize = 24;

/// The name itself if it is made of small letters, digits, dots, hyphens and underscores; else what is left of it, and
/// behind it a hash of all of it. A name that looks like a changed one is changed, too.
pub(crate) fn slug(name: &str) -> String {
    let is_kept = |letter: char| {
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || "._-".contains(letter)
    };
    let looks_changed = || {
        let tail = name.rsplit('-').next().unwrap_or_default();
        tail.len() == DIGITS && tail.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let begins_well = name.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    let is_plain = begins_well && name.len() <= LONGEST && name.chars().all(is_kept);
    if is_plain && !looks_changed() && !name.ends_with('.') {
        return name.into();
    }
    let lower = name.to_ascii_lowercase();
    let rest = lower.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-');
    let rest: String = rest.take(LONGEST).collect();
    format!("x{rest}-{}", hash(name, DIGITS))
}

/// The first digits of the text's SHA-256.
pub(crate) fn hash(text: &str, digits: usize) -> String {
    units::hex(&Sha256::digest(text)).chars().take(digits).collect()
}

/// The address, if it begins with `https:` and has nothing in it that a browser reads otherwise.
pub(crate) fn https(address: &str) -> Option<&str> {
    const LONGEST: usize = 500;
    let is_safe = |letter: char| letter.is_ascii_graphic() && !"\"'<>\\`".contains(letter);
    let rest = address.strip_prefix("https://")?;
    (address.len() <= LONGEST && !rest.is_empty() && rest.chars().all(is_safe)).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_never_become_one() {
        assert_eq!(slug("node-http"), "node-http");
        let changed = slug("Node http");
        assert!(changed.starts_with("xnodehttp-"), "{changed}");
        assert_ne!(slug("node http"), changed);
        assert_ne!(slug(&changed), changed, "a name that was chosen to look like a changed one");
        for hostile in ["..", "../x", "a/b", "", ".git", "a\0", "con.", "é", &"a".repeat(300)] {
            let made = slug(hostile);
            let is_safe = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
            assert!(made.chars().all(is_safe) && made.len() < 100, "{hostile:?}: {made}");
        }
    }

    #[test]
    fn only_https_is_a_link() {
        assert_eq!(https("https://example.org/a?b=c"), Some("https://example.org/a?b=c"));
        for hostile in
            ["http://a", "javascript:alert(1)", "https://", "https://a\"b", "HTTPS://a b"]
        {
            assert_eq!(https(hostile), None, "{hostile}");
        }
    }
}
