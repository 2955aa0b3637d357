//! What was agreed on with TLS, counted connection by connection and never assumed, and what went wrong.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tls::rustls::pki_types::CertificateDer;
use tls::{Kind, Terms, TlsFault};

use crate::Nanos;
use crate::distribution::Distribution;

/// More reasons than this are not told apart.
const REASONS_MAX: usize = 16;
const REASON_LENGTH_MAX: usize = 300;
/// What the others are counted as.
const OTHERS: &str = "others";

/// The handshakes of a stretch of time: how long they took, and what connections agreed on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Security {
    /// From the establishment of the TCP connection to the end of the handshake.
    pub handshake: Distribution,
    #[serde(flatten)]
    pub agreed: Agreed,
}

/// What connections agreed on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Agreed {
    /// handshakes with a certificate
    pub full: u64,
    /// full handshakes with a round trip more, because the server asked for another group
    pub retried: u64,
    /// handshakes that resumed an earlier session
    pub resumed: u64,
    /// handshakes that were to do so
    pub meant_to_resume: u64,
    /// versions, and how many connections had each
    pub versions: Counts,
    /// cipher suites by their IANA names
    pub suites: Counts,
    /// groups of the key exchange, where there was one
    pub groups: Counts,
    /// names that the server chose by ALPN; an empty name where it chose none
    pub alpn: Counts,
    /// kinds of keys in the certificates of full handshakes
    pub certificates: Counts,
    /// octets of the smallest chain of certificates
    pub chain_bytes_min: Option<u64>,
    /// octets of the largest one
    pub chain_bytes_max: Option<u64>,
    /// tickets for later sessions that came after handshakes (TLS 1.3)
    pub tickets: u64,
    /// why TLS failed, in words that begin with the class of the failure
    pub reasons: Counts,
}

/// How often each of a few names was seen, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct Counts(BTreeMap<String, u64>);

impl Counts {
    /// The names and their counts, the most frequent first.
    #[must_use]
    pub fn sorted(&self) -> Vec<(&str, u64)> {
        let mut sorted: Vec<_> =
            self.0.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        sorted.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        sorted
    }

    /// Whether there is more than one name.
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        1 < self.0.len()
    }

    /// Counts a name. It allocates only for one that it sees for the first time.
    pub fn add(&mut self, name: &str, count: u64) {
        match self.0.get_mut(name) {
            Some(sum) => *sum += count,
            None => {
                self.0.insert(name.into(), count);
            }
        }
    }

    /// Counts several names, those that were not seen left out.
    pub(crate) fn add_all<const N: usize>(&mut self, names: [&str; N], counts: [u64; N]) {
        for (name, count) in names.into_iter().zip(counts).filter(|(_, count)| 0 < *count) {
            self.add(name, count);
        }
    }

    /// Removes the last by name, of all but this one; returns its count.
    fn take_last_but(&mut self, other: &str) -> Option<u64> {
        let last = self.0.keys().rfind(|name| *name != other)?.clone();
        self.0.remove(&last)
    }

    /// All of them together.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.0.values().sum()
    }

    /// How often this name was seen.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    pub(crate) fn merge(&mut self, other: &Counts) {
        other.0.iter().for_each(|(name, count)| self.add(name, *count));
    }
}

impl Security {
    /// Nothing yet. Handshakes up to `longest` are distinguished.
    #[must_use]
    pub fn new(longest: Nanos) -> Security {
        Security { handshake: Distribution::new(longest), agreed: Agreed::default() }
    }

    /// Adds what another thread or another stretch of time has seen.
    pub fn merge(&mut self, other: &Security) {
        self.handshake.merge(&other.handshake);
        self.agreed.merge(&other.agreed);
    }
}

impl Agreed {
    /// Handshakes that were done.
    #[must_use]
    pub fn handshakes(&self) -> u64 {
        self.full + self.resumed
    }

    fn merge(&mut self, other: &Agreed) {
        self.full += other.full;
        self.retried += other.retried;
        self.resumed += other.resumed;
        self.meant_to_resume += other.meant_to_resume;
        self.versions.merge(&other.versions);
        self.suites.merge(&other.suites);
        self.groups.merge(&other.groups);
        self.alpn.merge(&other.alpn);
        self.certificates.merge(&other.certificates);
        let smallest = [self.chain_bytes_min, other.chain_bytes_min];
        self.chain_bytes_min = smallest.into_iter().flatten().min();
        self.chain_bytes_max = self.chain_bytes_max.max(other.chain_bytes_max);
        self.tickets += other.tickets;
        other.reasons.0.iter().for_each(|(reason, count)| self.add_reason(reason, *count));
    }

    /// Of too many reasons, those are kept that come first by name: so it does not matter which was seen first, by which
    /// lane, nor in which order threads are merged.
    fn add_reason(&mut self, reason: &str, count: u64) {
        self.reasons.add(reason, count);
        let kept = self.reasons.0.iter().filter(|(name, _)| *name != OTHERS).count();
        if REASONS_MAX < kept
            && let Some(surplus) = self.reasons.take_last_but(OTHERS)
        {
            self.reasons.add(OTHERS, surplus);
        }
    }
}

/// Adds what was seen elsewhere, if anything was.
pub(crate) fn merge(mine: &mut Option<Box<Security>>, theirs: Option<&Security>) {
    match (mine, theirs) {
        (_, None) => {}
        (Some(mine), Some(theirs)) => mine.merge(theirs),
        (mine @ None, Some(theirs)) => *mine = Some(Box::new(theirs.clone())),
    }
}

/// Where an engine writes down what was agreed on, and a recorder finds it. Both belong to one lane.
#[derive(Clone, Debug)]
pub(crate) struct SecurityLog {
    seen: Rc<RefCell<Option<Box<Security>>>>,
    longest: Nanos,
    /// The last certificate and its kind: a server has few.
    last: (Vec<u8>, String),
}

impl SecurityLog {
    pub(crate) fn new(longest: Nanos) -> SecurityLog {
        SecurityLog { seen: Rc::default(), longest, last: (Vec::new(), String::new()) }
    }

    /// What was seen since this was last called.
    pub(crate) fn take(&self) -> Option<Box<Security>> {
        self.seen.take()
    }

    fn note(&self, note: impl FnOnce(&mut Security)) {
        let mut seen = self.seen.borrow_mut();
        note(seen.get_or_insert_with(|| Box::new(Security::new(self.longest))));
    }

    pub(crate) fn handshake(
        &mut self,
        terms: &Terms,
        chain: &[CertificateDer<'_>],
        took: Nanos,
        is_meant_to_resume: bool,
    ) {
        if let Some(first) = chain.first().filter(|first| ***first != *self.last.0) {
            self.last = (first.to_vec(), Terms::key(first));
        }
        let bytes = chain.iter().map(|one| one.len() as u64).sum();
        self.note(|seen| {
            seen.handshake.record(took);
            let seen = &mut seen.agreed;
            seen.versions.add(terms.version, 1);
            seen.suites.add(terms.suite, 1);
            terms.group.iter().for_each(|group| seen.groups.add(group, 1));
            let alpn = terms.alpn.as_deref().unwrap_or_default();
            seen.alpn.add(&alpn.escape_ascii().to_string(), 1);
            seen.meant_to_resume += u64::from(is_meant_to_resume);
            if terms.kind == Kind::Resumed {
                seen.resumed += 1;
                return;
            }
            seen.full += 1;
            seen.retried += u64::from(terms.kind == Kind::Retried);
            seen.certificates.add(&self.last.1, 1);
            seen.chain_bytes_min =
                Some(seen.chain_bytes_min.map_or(bytes, |least| least.min(bytes)));
            seen.chain_bytes_max = seen.chain_bytes_max.max(Some(bytes));
        });
    }

    pub(crate) fn tickets(&self, more: u32) {
        self.note(|seen| seen.agreed.tickets += u64::from(more));
    }

    pub(crate) fn failed(&self, fault: TlsFault, reason: &str) {
        let shown = reason.chars().filter(|letter| !letter.is_control());
        let reason: String = shown.take(REASON_LENGTH_MAX).collect();
        let reason = if reason.is_empty() { fault.meaning() } else { &reason };
        self.note(|seen| seen.agreed.add_reason(&format!("{}: {reason}", fault.name()), 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_and_bounded() {
        let log = SecurityLog::new(crate::SECOND);
        assert!(log.take().is_none(), "without TLS there is nothing");
        for number in 0..100 {
            log.failed(TlsFault::Alert, &format!("alert {}", number % 50));
        }
        log.failed(TlsFault::Closed, "");
        let mut seen = log.take().unwrap();
        let reasons = seen.agreed.reasons.sorted();
        assert_eq!((reasons.len(), reasons[0]), (REASONS_MAX + 1, ("others", 69)));
        assert_eq!(reasons[1], ("tls.alert: alert 0", 2));
        let other = seen.clone();
        seen.merge(&other);
        assert_eq!(seen.agreed.reasons.sorted()[0], ("others", 138));
    }

    #[test]
    fn which_reasons_are_kept_does_not_depend_on_the_order_of_merging() {
        let seen = |numbers: &[u64]| {
            let log = SecurityLog::new(crate::SECOND);
            numbers.iter().for_each(|n| log.failed(TlsFault::Alert, &format!("alert {n}")));
            *log.take().unwrap()
        };
        let all: Vec<u64> = (0..90).map(|n| n * 37 % 41).collect();
        let lanes: Vec<Security> = all.chunks(23).map(seen).collect();
        let merged = |order: [usize; 4]| {
            let mut whole = lanes[order[0]].clone();
            order[1..].iter().for_each(|&lane| whole.merge(&lanes[lane]));
            whole
        };
        assert_eq!(merged([0, 1, 2, 3]), seen(&all));
        assert_eq!(merged([3, 1, 0, 2]), seen(&all));
    }

    #[test]
    fn lanes_add_up() {
        let mut log = SecurityLog::new(crate::SECOND);
        let terms =
            |kind, version| Terms { version, suite: "S", group: Some("x25519"), kind, alpn: None };
        let chain = [CertificateDer::from(vec![1; 500]), CertificateDer::from(vec![2; 400])];
        log.handshake(&terms(Kind::Full, "1.3"), &chain, 5, false);
        log.handshake(&terms(Kind::Retried, "1.3"), &chain[..1], 5, true);
        let mut one = log.take();
        log.handshake(&terms(Kind::Resumed, "1.2"), &chain, 5, true);
        log.tickets(2);
        merge(&mut one, log.take().as_deref());
        merge(&mut one, None);
        let Security { handshake, agreed: all } = *one.unwrap();
        assert_eq!((all.full, all.retried, all.resumed, all.meant_to_resume), (2, 1, 1, 2));
        assert_eq!((all.chain_bytes_min, all.chain_bytes_max), (Some(500), Some(900)));
        assert_eq!(all.tickets, 2);
        assert_eq!(all.versions.sorted(), [("1.3", 2), ("1.2", 1)]);
        assert!(all.versions.is_mixed() && !all.suites.is_mixed());
        assert_eq!((all.handshakes(), handshake.count()), (3, 3));
    }
}
