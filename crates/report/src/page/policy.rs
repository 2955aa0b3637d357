//! What a browser may do with the page: show it, by this style, with this script, and nothing else from anywhere.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::markup::{Markup, markup};

/// What a page consists of; empty texts are not in it.
pub(super) struct Policy<'p> {
    pub(super) styles: &'p [&'p str],
    pub(super) scripts: &'p [&'p str],
    /// Files of the page's site are scripts, too. A page that was opened from a disk has no origin of its own, so the
    /// scheme is named; a page that came over HTTP can load no file.
    pub(super) has_files: bool,
}

impl Policy<'_> {
    /// The content of the policy's `meta`: only these styles and scripts, identified by their hashes.
    pub(super) fn content(&self) -> Markup {
        markup!(
            "default-src 'none'; style-src{}; script-src{}{}; base-uri 'none'; form-action 'none'",
            hashes(self.styles),
            hashes(self.scripts),
            self.has_files.then(|| Markup::fixed(" 'self' file:"))
        )
    }
}

fn hashes(texts: &[&str]) -> Markup {
    let hash = |text: &&str| markup!(" 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    texts.iter().filter(|text| !text.is_empty()).map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_by_its_hash() {
        // The output of `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`.
        let policy = Policy { styles: &["a{}", ""], scripts: &["alert(1)"], has_files: false };
        let policy = policy.content().into_string();
        assert!(
            policy.contains("script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe") && !policy.contains("self"), "{policy}");
    }
}
