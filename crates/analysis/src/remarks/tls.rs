//! Whether the servers of a table agreed on the same TLS: another version, suite, key or chain costs another amount.

use std::collections::BTreeMap;

use lab::record::TrialRecord;
use load::{Agreed, Counts};

use crate::doubt::{Doubt, security};
use crate::remark::{CHAIN_ALIKE, Remark};

/// The ALPN name of HTTP/1.1.
const HTTP_1_1: &str = "http/1.1";

/// What a subject's connections had most often, by what it is about; none of a subject without TLS.
#[derive(Default)]
struct Terms {
    named: [Counts; 5],
    chain_bytes: Option<u64>,
    has_plain: bool,
}

const ABOUT: [&str; 6] = [
    "version",
    "cipher suite",
    "group",
    "ALPN name",
    "kind of certificate",
    "size of the chain of certificates",
];

/// RFC 7301, 3.1: a server that does not answer ALPN speaks HTTP/1.1. That costs it nothing.
fn meant(name: &str) -> &str {
    if name.is_empty() { HTTP_1_1 } else { name }
}

impl Terms {
    fn add(&mut self, agreed: Option<&Agreed>) {
        let Some(seen) = agreed.filter(|seen| 0 < seen.handshakes()) else {
            self.has_plain |= agreed.is_none();
            return;
        };
        let of = [&seen.versions, &seen.suites, &seen.groups, &seen.alpn, &seen.certificates];
        for (mine, theirs) in self.named.iter_mut().zip(of) {
            theirs.sorted().into_iter().for_each(|(name, count)| mine.add(meant(name), count));
        }
        self.chain_bytes = self.chain_bytes.max(seen.chain_bytes_max);
    }

    /// What it had most often, in words; none where there was none.
    fn had(&self, about: usize) -> Option<String> {
        match self.named.get(about) {
            Some(counts) => counts.sorted().first().map(|(name, _)| (*name).to_string()),
            None => self.chain_bytes.map(|bytes| format!("{bytes} octets")),
        }
    }

    fn is_secured(&self) -> bool {
        self.had(0).is_some()
    }

    /// Whether they have the same, or one of them has nothing.
    fn is_like(&self, other: &Terms, about: usize) -> bool {
        match self.named.get(about) {
            Some(_) => {
                self.had(about).zip(other.had(about)).is_none_or(|(one, other)| one == other)
            }
            None => {
                let both = self.chain_bytes.zip(other.chain_bytes);
                both.is_none_or(|(one, other)| one.abs_diff(other) <= CHAIN_ALIKE)
            }
        }
    }
}

/// The subjects of a table, and what each had.
fn terms<'t>(trials: &[&'t TrialRecord]) -> (Vec<&'t str>, BTreeMap<&'t str, Terms>) {
    let (mut order, mut subjects) = (Vec::new(), BTreeMap::<&str, Terms>::new());
    for trial in trials {
        let Some(loaded) = &trial.loaded else { continue };
        let subject = trial.key.subject.as_str();
        if !order.contains(&subject) {
            order.push(subject);
        }
        let security = loaded.recording.total.security.as_deref();
        subjects.entry(subject).or_default().add(security.map(|security| &security.agreed));
    }
    (order, subjects)
}

/// One thing in which the subjects of a table differ.
pub(super) struct Unlike {
    what: &'static str,
    /// The first of those that agree with the most.
    first: String,
    /// What it has, if it has the majority.
    most: Option<String>,
    /// The subjects that differ from it.
    apart: Vec<String>,
    /// The subjects whose rows are in doubt, and what they have: without a majority, all of them.
    others: Vec<(String, String)>,
}

impl Unlike {
    pub(super) fn all(trials: &[&TrialRecord]) -> Vec<Unlike> {
        let (order, subjects) = terms(trials);
        let of = ABOUT.into_iter().enumerate();
        of.filter_map(|(about, what)| Unlike::of(about, what, &order, &subjects)).collect()
    }

    fn of(
        about: usize,
        what: &'static str,
        order: &[&str],
        subjects: &BTreeMap<&str, Terms>,
    ) -> Option<Unlike> {
        let have: Vec<(&str, String)> =
            order.iter().filter_map(|name| Some((*name, subjects[name].had(about)?))).collect();
        let alike = |name: &str| {
            let is_like =
                |(other, _): &&(&str, String)| subjects[name].is_like(&subjects[other], about);
            have.iter().filter(is_like).count()
        };
        // The first of the greatest: `max_by_key` would take the last.
        let (first, its) = have.iter().rev().max_by_key(|(name, _)| alike(name))?;
        let has_majority = have.len() < 2 * alike(first);
        let is_apart = |name: &str| !subjects[name].is_like(&subjects[first], about);
        let apart = have.iter().filter(|(name, _)| is_apart(name));
        let others = have.iter().filter(|(name, _)| !has_majority || is_apart(name));
        (alike(first) < have.len()).then(|| Unlike {
            what,
            first: (*first).into(),
            most: has_majority.then(|| its.clone()),
            apart: apart.map(|(name, _)| (*name).into()).collect(),
            others: others.map(|(name, its)| ((*name).into(), its.clone())).collect(),
        })
    }

    /// What is wrong with the rows of this subject.
    pub(super) fn doubt(&self, subject: &str) -> Option<Doubt> {
        let (_, mine) = self.others.iter().find(|(name, _)| name == subject)?;
        Some(security::unlike(self.what, mine, self.most.as_deref()))
    }
}

/// A remark for each thing in which subjects differ, and one if some had no TLS.
pub(super) fn remarks(trials: &[&TrialRecord]) -> Vec<Remark> {
    let differ = Unlike::all(trials).into_iter().map(|unlike| Remark::TlsUnlike {
        what: unlike.what,
        subjects: unlike.apart,
        first: unlike.first,
    });
    let mut found: Vec<Remark> = differ.collect();
    let (order, subjects) = terms(trials);
    let first = order.iter().find(|name| subjects[*name].is_secured());
    let is_plain = |name: &&&str| subjects[**name].has_plain && !subjects[**name].is_secured();
    let plain: Vec<String> = order.iter().filter(is_plain).map(ToString::to_string).collect();
    if let Some(first) = first.filter(|_| !plain.is_empty()) {
        found.push(Remark::TlsMissing { first: (*first).into(), subjects: plain });
    }
    found
}

#[cfg(test)]
mod tests {
    use load::Security;

    use super::*;
    use crate::board::Row;
    use crate::fixture::{at, recording, table};
    use crate::verdict::{Gravity, Verdict};
    use lab::experiment::Point;

    fn security(version: &str, certificate: &str, chain: u64) -> Security {
        let mut security = Security::new(load::SECOND);
        let seen = &mut security.agreed;
        seen.full = 10;
        seen.versions.add(version, 10);
        seen.certificates.add(certificate, 10);
        (seen.chain_bytes_min, seen.chain_bytes_max) = (Some(chain), Some(chain));
        security
    }

    fn usual() -> Security {
        security("1.3", "ECDSA P-256", 567)
    }

    fn trial(subject: &str, security: Option<Security>) -> TrialRecord {
        let mut trial = at(subject, Point::Requests(2_000.0), 0);
        recording(&mut trial).total.security = security.map(Box::new);
        trial
    }

    fn remarked(trials: &[TrialRecord]) -> Vec<Remark> {
        remarks(&trials.iter().collect::<Vec<_>>())
    }

    fn found(other: Option<Security>) -> Vec<Remark> {
        let [first, last] = [(); 2].map(|()| trial("a", Some(usual())));
        remarked(&[first, trial("b", other), last])
    }

    #[test]
    fn subjects_with_the_same_tls_need_no_remark() {
        assert_eq!(found(Some(usual())), []);
        assert_eq!(found(Some(security("1.3", "ECDSA P-256", 567 + 64))), []);
        assert_eq!(remarked(&[trial("a", None), trial("b", None)]), []);
    }
    #[test]
    fn subjects_that_differ_are_named_with_what_differs() {
        let unlike = |what, found: &[Remark]| {
            let [remark] = found else { panic!("{found:?}") };
            let Remark::TlsUnlike { what: about, first, subjects } = remark else {
                panic!("{remark:?}")
            };
            assert_eq!((*about, first.as_str(), subjects.join(" ")), (what, "a", "b".to_string()));
            assert_eq!(remark.gravity(), Gravity::Suspect);
        };
        unlike("version", &found(Some(security("1.2", "ECDSA P-256", 567))));
        unlike("kind of certificate", &found(Some(security("1.3", "RSA 2048", 567))));
        let longer = found(Some(security("1.3", "ECDSA P-256", 567 + 65)));
        unlike("size of the chain of certificates", &longer);
    }

    #[test]
    fn a_server_that_does_not_answer_alpn_speaks_http_1_1_like_the_others() {
        let with = |subject: &str, name: &str| {
            let mut seen = usual();
            seen.agreed.alpn.add(name, 10);
            trial(subject, Some(seen))
        };
        let found = |name: &str| {
            remarked(&[with("a", "http/1.1"), with("b", name), with("c", "http/1.1")]).len()
        };
        assert_eq!(["http/1.1", "", "h2"].map(found), [0, 0, 1]);
    }

    /// A trial of each subject with its kind of certificate.
    fn certified(subjects: &[(&str, &str)]) -> Vec<TrialRecord> {
        let certified = |(name, certificate): &(&str, &str)| {
            trial(name, Some(security("1.3", certificate, 567)))
        };
        subjects.iter().map(certified).collect()
    }

    /// What each row of their table is worth.
    fn rows(subjects: &[(&str, &str)]) -> Vec<Option<Verdict>> {
        table(&certified(subjects)).rows.iter().map(Row::verdict).collect()
    }

    #[test]
    fn rows_that_differ_from_the_majority_are_invalid_and_all_are_where_there_is_none() {
        let (valid, invalid) = (Some(Verdict::Valid), Some(Verdict::Invalid));
        assert_eq!(rows(&[("a", "EC"), ("b", "EC"), ("c", "EC")]), [valid; 3]);
        assert_eq!(rows(&[("a", "RSA"), ("b", "EC"), ("c", "EC")]), [invalid, valid, valid]);
        assert_eq!(rows(&[("a", "RSA"), ("b", "EC")]), [invalid; 2]);
    }

    #[test]
    fn subjects_that_agree_with_the_first_are_not_said_to_differ_from_it() {
        let all = [("a", "RSA"), ("b", "RSA"), ("c", "EC"), ("d", "EC")];
        assert_eq!(rows(&all), [Some(Verdict::Invalid); 4], "neither is the majority");
        let found = remarked(&certified(&all));
        let [Remark::TlsUnlike { first, subjects, .. }] = &found[..] else { panic!("{found:?}") };
        assert_eq!((first.as_str(), subjects.join(" ")), ("a", "c d".to_string()));
    }

    #[test]
    fn a_subject_without_tls_beside_one_with_it_is_said() {
        let found = found(None);
        let [Remark::TlsMissing { subjects, .. }] = &found[..] else { panic!("{found:?}") };
        assert_eq!((subjects.join(" "), found[0].gravity()), ("b".to_string(), Gravity::Note));
    }
}
