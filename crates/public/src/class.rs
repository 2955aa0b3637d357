//! The class of a machine: what follows from the facts that dyno read, and from nothing that anybody says about it.

use std::collections::BTreeSet;

use lab::record::{Fact, LOAD_ON, RunRecord, SUBJECT_ON, fact};
use machine::conditions::Cpus;

/// Machines of one class can be compared with one another, and with no other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MachineClass {
    /// Its name, of small letters, digits, dots and hyphens: `amd-epyc-2cpu-24gb-linux-6.18`.
    pub label: String,
    /// What it was made of, each with its value.
    pub facts: Vec<(&'static str, String)>,
}

/// What stands for a fact that was not read.
const UNKNOWN: &str = "unknown";
/// No part of a label has more letters.
const LONGEST: usize = 40;

impl MachineClass {
    /// The class of the machine that the run was made on.
    #[must_use]
    pub fn of(run: &RunRecord) -> MachineClass {
        let known = |name: &str| fact(&run.facts, name).unwrap_or(UNKNOWN).to_string();
        let (model, kernel) = (known("cpu.model"), known("kernel"));
        let cpus = cpus_used(run).map_or(UNKNOWN.into(), |cpus| cpus.to_string());
        let memory = known("memory");
        let parts = [
            word(&model),
            word(&format!("{cpus}cpu")),
            gib(&memory).map_or(UNKNOWN.into(), |gib| format!("{gib}gb")),
            word(&family(&kernel)),
        ];
        let mut label = parts.join("-");
        let is_shared = [SUBJECT_ON, LOAD_ON].iter().any(|name| fact(&run.facts, name).is_some());
        if is_shared {
            label.push_str("-and-others");
        }
        let facts = vec![
            ("CPU", model),
            ("CPUs used", cpus),
            ("memory", memory),
            ("kernel", kernel),
            ("machines", if is_shared { "several" } else { "one" }.into()),
        ];
        MachineClass { label, facts }
    }
}

/// The CPUs of the servers and of the load together; where that is not stated, those that are online.
fn cpus_used(run: &RunRecord) -> Option<usize> {
    let named = ["cpus.subject", "cpus.load", "cpus.service"];
    let named: Vec<Cpus> = named.iter().filter_map(|name| cpus(&run.facts, name)).collect();
    match named.iter().flat_map(Cpus::iter).collect::<BTreeSet<_>>().len() {
        0 => cpus(&run.facts, "cpu.online").map(|online| online.count()),
        used => Some(used),
    }
}

/// The CPUs of a fact that lists them; none if it is no such list.
pub(crate) fn cpus(facts: &[Fact], name: &str) -> Option<Cpus> {
    fact(facts, name)?.trim().parse().ok()
}

/// Units of 1,024³ bytes, rounded, of `24684084 kB`.
fn gib(memory: &str) -> Option<u64> {
    const KIB_PER_GIB: u64 = 1_024 * 1_024;
    let kib: u64 = memory.strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kib.saturating_add(KIB_PER_GIB / 2) / KIB_PER_GIB)
}

/// `Linux 6.18` of `Linux 6.18.44-vendor`.
fn family(kernel: &str) -> String {
    let mut parts = kernel.split('.');
    let both: Vec<&str> = parts.by_ref().take(2).collect();
    both.join(".")
}

/// Small letters, digits and dots, with hyphens between.
fn word(text: &str) -> String {
    let is_kept = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
    let lower = text.to_ascii_lowercase();
    let parts = lower.split(|letter| !is_kept(letter)).filter(|part| !part.is_empty());
    let whole: String = parts.collect::<Vec<_>>().join("-").chars().take(LONGEST).collect();
    let whole = whole.trim_matches(['.', '-']).to_string();
    if whole.is_empty() { UNKNOWN.into() } else { whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(facts: &[(&str, &str)]) -> String {
        let fact =
            |(name, value): &(&str, &str)| Fact { name: (*name).into(), value: (*value).into() };
        let facts = facts.iter().map(fact).collect();
        MachineClass::of(&RunRecord { facts, ..RunRecord::default() }).label
    }

    #[test]
    fn a_class_follows_from_what_was_read() {
        let facts = [
            ("cpu.model", "AMD EPYC"),
            ("cpu.online", "0-7"),
            ("memory", "24684084 kB"),
            ("kernel", "Linux 6.18.44-fc-v669"),
        ];
        assert_eq!(label(&facts), "amd-epyc-8cpu-24gb-linux-6.18");
        let used = [&facts[..], &[("cpus.subject", "0"), ("cpus.load", "1,3-4")]].concat();
        assert_eq!(label(&used), "amd-epyc-4cpu-24gb-linux-6.18");
        let two = [&facts[..], &[("load.on", "ssh:other")]].concat();
        assert_eq!(label(&two), "amd-epyc-8cpu-24gb-linux-6.18-and-others");
    }

    #[test]
    fn what_a_stranger_wrote_makes_no_path() {
        let facts = [
            ("cpu.model", "../../<b>Ä"),
            ("cpu.online", "0-4294967295"),
            ("memory", "99999999999999999999 kB"),
            ("kernel", "..."),
        ];
        assert_eq!(label(&facts), "b-unknowncpu-unknown-unknown");
        assert_eq!(label(&[]), "unknown-unknowncpu-unknown-unknown");
    }
}
