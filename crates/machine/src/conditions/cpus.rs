//! Sets of CPUs: those of the subject, of the load, and of a service beside the subject.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::str::FromStr;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::{Deserialize, Serialize};

use crate::Fact;
use crate::proc::number;

/// Some CPUs, in ascending order, at least one: `0-3,8`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpus(Vec<usize>);

impl Cpus {
    /// Those that the calling thread may use.
    pub fn available() -> io::Result<Cpus> {
        let set = sched_getaffinity(None)?;
        Ok(Cpus((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()))
    }

    /// A set of these; nothing if the list is empty.
    #[must_use]
    pub fn of(numbers: &[usize]) -> Option<Cpus> {
        let cpus: BTreeSet<usize> = numbers.iter().copied().collect();
        (!cpus.is_empty()).then(|| Cpus(cpus.into_iter().collect()))
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Each, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().copied()
    }

    /// Whether one of them is in the other set, too.
    #[must_use]
    pub fn overlaps(&self, other: &Cpus) -> bool {
        self.0.iter().any(|cpu| other.0.contains(cpu))
    }

    /// Keeps the calling thread, and those that it starts from now on, on these CPUs.
    pub fn keep_this_thread(&self) -> io::Result<()> {
        Ok(sched_setaffinity(None, &self.as_set())?)
    }

    pub(crate) fn as_set(&self) -> CpuSet {
        let mut set = CpuSet::new();
        self.0.iter().filter(|cpu| **cpu < CpuSet::MAX_CPU).for_each(|cpu| set.set(*cpu));
        set
    }
}

impl FromStr for Cpus {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Cpus, &'static str> {
        let error = "not a set of CPUs, such as 0-3,8";
        let number = |text: &str| {
            let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = text.parse::<usize>().ok().filter(|cpu| *cpu < CpuSet::MAX_CPU);
            number.filter(|_| is_plain).ok_or(error)
        };
        let mut cpus = BTreeSet::new();
        for part in text.split(',').map(str::trim) {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return Err(error);
            }
            cpus.extend(first..=last);
        }
        Ok(Cpus(cpus.into_iter().collect()))
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for run in self.0.chunk_by(|left, right| left + 1 == *right) {
            match run {
                [] => {}
                [only] => write!(f, "{comma}{only}")?,
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
            }
            comma = ",";
        }
        Ok(())
    }
}

/// Which CPUs run what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    pub subject: Cpus,
    /// The CPUs of the load, the monitors and the warden.
    pub load: Cpus,
    /// The CPUs of the services of workloads; none if they run on those of the subject.
    pub service: Option<Cpus>,
    /// What the subject and the load have in common, in words; nothing if they share no CPU.
    pub shared: Option<String>,
}

impl Split {
    /// Which CPUs run what, for the record.
    #[must_use]
    pub fn facts(&self) -> Vec<Fact> {
        let fact = |name: &str, value: String| Fact { name: name.to_string(), value };
        let mut facts = vec![
            fact("cpus.subject", self.subject.to_string()),
            fact("cpus.load", self.load.to_string()),
        ];
        facts.extend(self.service.iter().map(|cpus| fact("cpus.service", cpus.to_string())));
        facts.extend(self.shared.iter().map(|shared| fact("cpus.shared", shared.clone())));
        facts
    }
}

/// The usual split: the first half of the cores is the subject's, the other half the load's. Two
/// threads of one core are not two halves: each slows the other. With a service, and three cores or more, the first
/// third is the subject's, the second the service's, and the rest the load's.
#[must_use]
pub fn split(available: &Cpus, has_service: bool) -> Split {
    let siblings =
        |cpu| number(format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
    split_by_cores(available, has_service, siblings)
}

fn split_by_cores(
    available: &Cpus,
    has_service: bool,
    siblings: impl Fn(usize) -> Option<Cpus>,
) -> Split {
    let mut cores: Vec<Vec<usize>> = Vec::new();
    for cpu in available.iter() {
        let siblings = siblings(cpu).unwrap_or(Cpus(vec![cpu]));
        let is_mine = |core: &&mut Vec<usize>| core.iter().any(|other| siblings.0.contains(other));
        match cores.iter_mut().find(is_mine) {
            Some(core) => core.push(cpu),
            None => cores.push(vec![cpu]),
        }
    }
    let gathered = |cores: &[Vec<usize>]| {
        let mut cpus = cores.concat();
        cpus.sort_unstable();
        Cpus(cpus)
    };
    match (cores.as_slice(), available.0.as_slice()) {
        (_, [] | [_]) => Split {
            subject: available.clone(),
            load: available.clone(),
            service: None,
            shared: Some("the server and the load share the only CPU".to_string()),
        },
        ([_], threads) => {
            let (subject, load) = threads.split_at(threads.len() / 2);
            let shared = "the server and the load run on threads of the same core".to_string();
            Split {
                subject: Cpus(subject.to_vec()),
                load: Cpus(load.to_vec()),
                service: None,
                shared: Some(shared),
            }
        }
        (cores @ [_, _, _, ..], _) if has_service => {
            let (subject, rest) = cores.split_at(cores.len() / 3);
            let (service, load) = rest.split_at(cores.len() / 3);
            Split {
                subject: gathered(subject),
                load: gathered(load),
                service: Some(gathered(service)),
                shared: None,
            }
        }
        (cores, _) => {
            let (subject, load) = cores.split_at(cores.len() / 2);
            Split { subject: gathered(subject), load: gathered(load), service: None, shared: None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(text: &str) -> Cpus {
        text.parse().expect(text)
    }

    #[test]
    fn sets_are_read_and_written() {
        assert_eq!(cpus("8,0-3,2").to_string(), "0-3,8");
        assert_eq!(cpus("5").to_string(), "5");
        assert_eq!(cpus("0, 2, 4-5").to_string(), "0,2,4-5");
        for text in ["", "-", "1-", "-1", "3-1", "a", "0,,1", "99999", "+1", "0-4000000000"] {
            assert!(text.parse::<Cpus>().is_err(), "{text}");
        }
    }

    #[test]
    fn each_gets_half_of_the_cores() {
        let alone = |_| None;
        let halves = split_by_cores(&cpus("0-3"), false, alone);
        assert_eq!((halves.subject, halves.load, halves.shared), (cpus("0-1"), cpus("2-3"), None));
        let odd = split_by_cores(&cpus("2,5,7"), false, alone);
        assert_eq!((odd.subject, odd.load), (cpus("2"), cpus("5,7")));
    }

    #[test]
    fn threads_of_a_core_stay_together() {
        // As most machines number them: CPU 0 and CPU 4 are one core.
        let siblings = |cpu: usize| Some(Cpus(vec![cpu % 4, cpu % 4 + 4]));
        let halves = split_by_cores(&cpus("0-7"), false, siblings);
        assert_eq!((halves.subject, halves.load), (cpus("0-1,4-5"), cpus("2-3,6-7")));
    }

    #[test]
    fn a_service_has_cores_of_its_own_where_there_are_three() {
        let alone = |_| None;
        let of = |text: &str| split_by_cores(&cpus(text), true, alone);
        let parts = |text: &str| {
            let Split { subject, load, service, shared } = of(text);
            assert_eq!(shared, None);
            [Some(subject), service, Some(load)].map(|cpus| cpus.map(|cpus| cpus.to_string()))
        };
        let own = |cpus: [&str; 3]| cpus.map(|cpus| Some(cpus.to_string()));
        assert_eq!(parts("2,5,7"), own(["2", "5", "7"]));
        assert_eq!(parts("0-3"), own(["0", "1", "2-3"]));
        assert_eq!(parts("0-6"), own(["0-1", "2-3", "4-6"]));
        assert_eq!(parts("0-1"), [Some("0".into()), None, Some("1".into())]);
        let of_two_cores =
            split_by_cores(&cpus("0-3"), true, |cpu| Some(Cpus(vec![cpu % 2, cpu % 2 + 2])));
        assert_eq!(of_two_cores.service, None, "threads of a core slow each other");
        let names =
            |split: Split| split.facts().into_iter().map(|fact| fact.name).collect::<Vec<_>>();
        assert_eq!(names(of("0-2")), ["cpus.subject", "cpus.load", "cpus.service"]);
        assert_eq!(names(of("0-1")), ["cpus.subject", "cpus.load"]);
    }

    #[test]
    fn what_must_be_shared_is_said() {
        let one = split_by_cores(&cpus("3"), false, |_| None);
        assert_eq!((&one.subject, &one.load), (&cpus("3"), &cpus("3")));
        assert!(one.shared.is_some_and(|shared| shared.contains("only CPU")));
        let core = split_by_cores(&cpus("0-1"), false, |_| Some(cpus("0-1")));
        assert_eq!((&core.subject, &core.load), (&cpus("0"), &cpus("1")));
        assert!(core.shared.is_some_and(|shared| shared.contains("same core")));
    }

    #[test]
    fn a_thread_stays_where_it_is_kept() {
        let available = Cpus::available().expect("this thread runs somewhere");
        let first = Cpus(vec![available.0[0]]);
        let kept = std::thread::spawn(move || {
            first.keep_this_thread().expect("it may use it");
            (Cpus::available().expect("as before"), first)
        });
        let (after, first) = kept.join().expect("no panic");
        assert_eq!(after, first);
    }
}
