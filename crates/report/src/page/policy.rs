//! What a browser may do with the page: show it, by this style, with this script, and nothing else from anywhere.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

/// The content of the policy's `meta`: only these styles and this script, identified by their hashes.
pub(super) fn policy(styles: &[&str], script: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)));
    let styles: Vec<String> = styles.iter().map(|style| hash(style)).collect();
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        styles.join(" "),
        hash(script)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_known_by_its_hash() {
        // The output of `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`.
        let policy = policy(&["a{}"], "alert(1)");
        assert!(
            policy.contains("script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
    }
}
