//! Whether the servers of a table agreed on the same TLS: another version, suite, key or chain costs another amount.

use std::collections::BTreeMap;

use lab::record::TrialRecord;
use load::{Counts, Security};

use super::Remark;

/// Signatures within a certificate vary by a few octets.
const CHAIN_ALIKE: u64 = 64;

/// What a subject's connections had most often, by what it is about; none of a subject without TLS.
#[derive(Default)]
struct Terms {
    named: [Counts; 5],
    chain_bytes: Option<u64>,
    has_plain: bool,
}

const ABOUT: [&str; 5] = ["version", "cipher suite", "group", "ALPN name", "kind of certificate"];

impl Terms {
    fn add(&mut self, security: Option<&Security>) {
        let Some(seen) = security.filter(|seen| 0 < seen.handshakes()) else {
            self.has_plain |= security.is_none();
            return;
        };
        let of = [&seen.versions, &seen.suites, &seen.groups, &seen.alpn, &seen.certificates];
        for (mine, theirs) in self.named.iter_mut().zip(of) {
            theirs.sorted().into_iter().for_each(|(name, count)| mine.add(name, count));
        }
        self.chain_bytes = self.chain_bytes.max(seen.chain_bytes.map(|(_, most)| most));
    }

    fn most(&self, about: usize) -> Option<&str> {
        self.named[about].sorted().first().map(|(name, _)| *name)
    }
}

/// A remark for each thing in which subjects differ from the first one.
pub(super) fn unlike(trials: &[&TrialRecord]) -> Vec<Remark> {
    let mut subjects: BTreeMap<&str, Terms> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for trial in trials {
        let Some(loaded) = &trial.loaded else { continue };
        let subject = trial.key.subject.as_str();
        if !order.contains(&subject) {
            order.push(subject);
        }
        subjects.entry(subject).or_default().add(loaded.recording.total.security.as_deref());
    }
    let secured = |name: &&str| subjects[*name].most(0).is_some();
    let Some(first) = order.iter().copied().find(secured) else { return Vec::new() };
    let others = |differs: &dyn Fn(&Terms) -> bool| -> Vec<String> {
        let unlike = order.iter().filter(|name| differs(&subjects[**name]));
        unlike.map(ToString::to_string).collect()
    };
    let base = &subjects[first];
    let mut found = Vec::new();
    let mut remark = |what: &'static str, subjects: Vec<String>| {
        if !subjects.is_empty() {
            found.push(Remark::TlsUnlike { what, first: first.into(), subjects });
        }
    };
    for (about, what) in ABOUT.into_iter().enumerate() {
        let differs =
            |terms: &Terms| terms.most(about).is_some() && terms.most(about) != base.most(about);
        remark(what, others(&differs));
    }
    let differs = |terms: &Terms| match (terms.chain_bytes, base.chain_bytes) {
        (Some(one), Some(other)) => CHAIN_ALIKE < one.abs_diff(other),
        _ => false,
    };
    remark("size of the chain of certificates", others(&differs));
    let plain = others(&|terms| terms.has_plain && terms.most(0).is_none());
    if !plain.is_empty() {
        found.push(Remark::TlsMissing { first: first.into(), subjects: plain });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::healthy;
    use crate::verdict::Gravity;

    fn security(version: &str, certificate: &str, chain: u64) -> Security {
        let mut seen = Security::new(load::SECOND);
        seen.full = 10;
        seen.versions.add(version, 10);
        seen.certificates.add(certificate, 10);
        seen.chain_bytes = Some((chain, chain));
        seen
    }

    fn trial(subject: &str, security: Option<Security>) -> TrialRecord {
        let mut trial = healthy();
        trial.key.subject = subject.into();
        if let Some(loaded) = &mut trial.loaded {
            loaded.recording.total.security = security.map(Box::new);
        }
        trial
    }

    fn found(others: Option<Security>) -> Vec<Remark> {
        let like = || Some(security("1.3", "ECDSA P-256", 567));
        let all = [trial("a", like()), trial("b", others), trial("a", like())];
        unlike(&all.iter().collect::<Vec<_>>())
    }

    #[test]
    fn subjects_with_the_same_tls_need_no_remark() {
        assert_eq!(found(Some(security("1.3", "ECDSA P-256", 567))), []);
        assert_eq!(found(Some(security("1.3", "ECDSA P-256", 567 + 64))), []);
        let plain = [trial("a", None), trial("b", None)];
        assert_eq!(unlike(&plain.iter().collect::<Vec<_>>()), []);
    }

    #[test]
    fn subjects_that_differ_are_named_with_what_differs() {
        let unlike = |what, found: &[Remark]| {
            let [remark] = found else { panic!("{found:?}") };
            let Remark::TlsUnlike { what: about, first, subjects } = remark else {
                panic!("{remark:?}")
            };
            assert_eq!((*about, first.as_str(), subjects.join(" ")), (what, "a", "b".to_string()));
            assert_eq!(remark.gravity(), Gravity::Invalid);
        };
        unlike("version", &found(Some(security("1.2", "ECDSA P-256", 567))));
        unlike("kind of certificate", &found(Some(security("1.3", "RSA 2048", 567))));
        let longer = found(Some(security("1.3", "ECDSA P-256", 567 + 65)));
        unlike("size of the chain of certificates", &longer);
    }

    #[test]
    fn a_subject_without_tls_beside_one_with_it_is_said() {
        let found = found(None);
        let [Remark::TlsMissing { subjects, .. }] = &found[..] else { panic!("{found:?}") };
        assert_eq!((subjects.join(" "), found[0].gravity()), ("b".to_string(), Gravity::Note));
    }
}
