//! What makes one build of equal code lie elsewhere than another: a text of another length, in its path, and in a
//! variable of its environment while it is built and while it runs.

use sha2::{Digest, Sha256};

use super::BuildPlan;
use crate::subject::Subject;

/// The variable in which a build and its server have it.
pub const SALT: &str = "DYNO_BUILD_SALT";

/// Its lengths: so many digits at least that no two builds have the same, and less than a file's name may have.
const SHORTEST: usize = 12;
const LENGTHS: usize = 128;

/// The salt of one of several builds of a subject: always the same for the same subject, seed and number.
#[must_use]
pub fn salt(subject: &str, seed: u64, number: usize) -> String {
    let digest: [u8; 32] = Sha256::digest(format!("{number} {seed} {subject}")).into();
    let length = SHORTEST + usize::from(digest[0]) % LENGTHS;
    units::hex(&digest).chars().cycle().take(length).collect()
}

impl Subject {
    /// The subject in a build of its own, which lies where this salt says; the build and the server find it in a
    /// variable.
    #[must_use]
    pub fn salted(self, salt: String) -> Subject {
        let mut plan = self.plan;
        plan.env.push((SALT.into(), salt.clone()));
        Subject { plan: BuildPlan { salt: Some(salt), ..plan }, ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn salts_differ_in_their_texts_and_lengths_and_are_always_the_same() {
        let all = || (0..20).flat_map(|number| ["base", "head"].map(|side| salt(side, 7, number)));
        let texts: BTreeSet<String> = all().collect();
        let lengths: BTreeSet<usize> = all().map(|salt| salt.len()).collect();
        assert_eq!(texts.len(), 40);
        assert!(
            15 < lengths.len() && lengths.iter().all(|it| (12..140).contains(it)),
            "{lengths:?}"
        );
        assert!(texts.iter().all(|salt| salt.bytes().all(|byte| byte.is_ascii_hexdigit())));
        assert_eq!(salt("base", 7, 3), salt("base", 7, 3));
        assert_ne!(salt("base", 7, 3), salt("base", 8, 3));
    }
}
