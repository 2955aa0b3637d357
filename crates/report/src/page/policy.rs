//! What a browser may do with the page: show it, by this style, with this script, and nothing else from anywhere.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::markup::{Markup, markup};

/// The content of the policy's `meta`: only these styles and this script, identified by their hashes.
pub(super) fn policy(styles: &[&str], script: &str) -> Markup {
    let hash = |text: &str| markup!(" 'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    markup!(
        "default-src 'none'; style-src{}; script-src{}; base-uri 'none'; form-action 'none'",
        styles.iter().map(|style| hash(style)).collect::<Markup>(),
        hash(script)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_by_its_hash() {
        // The output of `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`.
        let policy = policy(&["a{}"], "alert(1)").into_string();
        assert!(
            policy.contains("script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}
