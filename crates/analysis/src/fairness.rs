//! The differences between the subjects of a run, as declared and as observed.

use std::collections::{BTreeMap, BTreeSet};

use lab::experiment::Point;
use lab::figure::{Figure, Terms};
use lab::manner::Task;
use lab::record::{RunRecord, TrialRecord};
use load::{Security, ServerSettings};
use schemars::JsonSchema;
use serde::Serialize;

use crate::estimate::Estimate;
use crate::figures::Figures;

/// The differences, and what was observed of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Fairness {
    /// Settings that differ, or that a server changes.
    pub settings: Vec<Variants>,
    /// What was observed of each server that took part.
    pub observed: Vec<Observed>,
    /// For every question, whether all servers gave the same answer.
    pub answers: Vec<Answers>,
}

/// A setting, and which servers have which value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variants {
    /// Its name, such as `backlog`.
    pub name: String,
    /// Its variants, in the order of the servers that have them.
    pub variants: Vec<Variant>,
}

/// A value of a setting, and who has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Variant {
    /// the library's own default
    pub default: Option<String>,
    /// what the server changes it to
    pub change: Option<String>,
    /// the servers that have it so
    pub subjects: Vec<String>,
}

/// What was observed of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    pub subject: String,
    /// From its start to the first correct answer.
    pub start_up: Option<Estimate>,
    /// The backlogs of its listening socket; more than one if they differed.
    pub backlogs: BTreeSet<u32>,
    /// How many processes it had.
    pub processes: BTreeSet<u32>,
    /// Its answers' bytes; those over HTTP/2 are not known.
    pub wires: Vec<Wire>,
    /// What its connections agreed on with TLS, over all of its trials; none where it was loaded without.
    pub security: Option<Security>,
    /// The SETTINGS that it announced over HTTP/2, and on how many connections.
    pub settings: Vec<(ServerSettings, u64)>,
}

/// The size of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "wire")]
pub struct Wire {
    /// the workload
    pub workload: String,
    /// the request
    pub ask: String,
    /// octets of its head; the longest observed
    pub head_bytes: u64,
    /// octets of the rest, framing included; the longest observed
    pub rest_bytes: u64,
}

/// Whether the servers answered a request alike. Fields about the server, the time and the framing are not compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "answers")]
pub struct Answers {
    /// the workload
    pub workload: String,
    /// the request
    pub ask: String,
    /// servers whose answers were always those of most
    pub alike: Vec<String>,
    /// servers that answered in another way at least once
    pub apart: Vec<String>,
}

impl Fairness {
    /// Compares what is recorded of the servers.
    #[must_use]
    pub fn of(run: &RunRecord, trials: &[TrialRecord]) -> Fairness {
        let taking_part = run.entries.iter().filter(|entry| entry.skipped.is_none());
        Fairness {
            settings: settings(run),
            observed: taking_part.map(|entry| observed(&entry.name, trials)).collect(),
            answers: answers(run, &trials.iter().collect::<Vec<_>>()),
        }
    }
}

fn settings(run: &RunRecord) -> Vec<Variants> {
    let mut all: Vec<Variants> = Vec::new();
    for entry in run.entries.iter().filter(|entry| entry.skipped.is_none()) {
        for setting in &entry.settings {
            let at = all.iter().position(|variants| variants.name == setting.name);
            let at = at.unwrap_or_else(|| {
                all.push(Variants { name: setting.name.clone(), variants: Vec::new() });
                all.len() - 1
            });
            let variants = &mut all[at].variants;
            let is_same = |variant: &&mut Variant| {
                (&variant.default, &variant.change) == (&setting.default, &setting.change)
            };
            match variants.iter_mut().find(is_same) {
                Some(variant) => variant.subjects.push(entry.name.clone()),
                None => variants.push(Variant {
                    default: setting.default.clone(),
                    change: setting.change.clone(),
                    subjects: vec![entry.name.clone()],
                }),
            }
        }
    }
    let is_changed = |variant: &Variant| variant.change.is_some();
    all.retain(|setting| 1 < setting.variants.len() || setting.variants.iter().any(is_changed));
    all
}

fn observed(subject: &str, trials: &[TrialRecord]) -> Observed {
    let own = || trials.iter().filter(|trial| trial.key.subject == subject);
    let start_ups: Vec<_> = own()
        .filter_map(|trial| Figures::of(trial, Terms::of(None)).get(Figure::StartUp))
        .collect();
    let launches = || own().filter_map(|trial| trial.launch.as_ref());
    let mut wires: BTreeMap<(&str, &str), (u64, u64)> = BTreeMap::new();
    // Over HTTP/2 an answer is kept as it reads, not as it came.
    let as_it_came =
        |trial: &&TrialRecord| !Task::named(&trial.key.workload).manner.protocol.is_http2();
    for trial in own().filter(as_it_came) {
        for check in trial.checks.iter().filter(|check| check.wrong.is_none()) {
            let wire = wires.entry((&trial.key.workload, &check.ask)).or_default();
            *wire = (wire.0.max(check.head_len), wire.1.max(check.rest_len));
        }
    }
    let totals = || own().filter_map(|trial| Some(&trial.loaded.as_ref()?.recording.total));
    let seen = totals().filter_map(|total| total.security.as_deref().cloned());
    let security = seen.reduce(|mut all, seen| {
        all.merge(&seen);
        all
    });
    let mut settings: Vec<(ServerSettings, u64)> = Vec::new();
    for (seen, connections) in
        totals().filter_map(|it| it.http2.as_ref()).flat_map(|it| &it.settings)
    {
        match settings.iter_mut().find(|(known, _)| known == seen) {
            None => settings.push((*seen, *connections)),
            Some((_, count)) => *count += connections,
        }
    }
    Observed {
        security,
        settings,
        subject: subject.into(),
        start_up: Estimate::of(&start_ups, Figure::StartUp.fold()),
        backlogs: launches().filter_map(|launch| launch.backlog).collect(),
        processes: launches().map(|launch| launch.processes).filter(|&count| 0 < count).collect(),
        wires: wires
            .into_iter()
            .map(|((workload, ask), (head_bytes, rest_bytes))| Wire {
                workload: workload.into(),
                ask: ask.into(),
                head_bytes,
                rest_bytes,
            })
            .collect(),
    }
}

/// Answers can be compared only where the same values were requested: one place, round and phase.
type Occasion = (Point, u32, &'static str);
type Digests<'t> = BTreeMap<&'t str, [u8; 32]>;

/// For every question of these trials, which servers gave the same answer.
pub(crate) fn answers(run: &RunRecord, trials: &[&TrialRecord]) -> Vec<Answers> {
    let mut asked: BTreeMap<(&str, &str), BTreeMap<Occasion, Digests<'_>>> = BTreeMap::new();
    for trial in trials {
        let key = &trial.key;
        for check in &trial.checks {
            let Some(digest) = check.digest.filter(|_| check.wrong.is_none()) else { continue };
            let occasion = (key.point, key.repeat, check.phase.name());
            let occasions = asked.entry((&key.workload, &check.ask)).or_default();
            occasions.entry(occasion).or_default().insert(&key.subject, digest);
        }
    }
    asked
        .into_iter()
        .map(|((workload, ask), occasions)| {
            let apart: BTreeSet<&str> = occasions.values().flat_map(apart).collect();
            let all: BTreeSet<&str> =
                occasions.values().flat_map(BTreeMap::keys).copied().collect();
            let in_order = |is_apart: bool| {
                let names = run.entries.iter().map(|entry| entry.name.as_str());
                let wanted = |name: &&str| all.contains(name) && apart.contains(name) == is_apart;
                names.filter(wanted).map(String::from).collect()
            };
            Answers {
                workload: workload.into(),
                ask: ask.into(),
                alike: in_order(false),
                apart: in_order(true),
            }
        })
        .collect()
}

/// The servers whose answer was not that of most.
fn apart<'t>(digests: &Digests<'t>) -> Vec<&'t str> {
    let mut times: BTreeMap<[u8; 32], usize> = BTreeMap::new();
    for digest in digests.values() {
        *times.entry(*digest).or_default() += 1;
    }
    // If several answers are equally frequent, the first one is the standard.
    let first = digests.values().copied().max_by_key(|digest| {
        let place = digests.values().position(|other| other == digest);
        (times[digest], std::cmp::Reverse(place))
    });
    let other = |(_, digest): &(&&str, &[u8; 32])| Some(**digest) != first;
    digests.iter().filter(other).map(|(subject, _)| *subject).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{checked, healthy, key};
    use lab::record::{Entry, Setting};

    fn entry(name: &str, settings: &[(&str, &str, Option<&str>)]) -> Entry {
        let setting = |(name, default, change): &(&str, &str, Option<&str>)| Setting {
            name: (*name).into(),
            default: Some((*default).into()),
            change: change.map(String::from),
        };
        let settings = settings.iter().map(setting).collect();
        Entry { name: name.into(), settings, ..Entry::default() }
    }

    fn run(entries: Vec<Entry>) -> RunRecord {
        RunRecord { entries, ..crate::fixture::run(&[]) }
    }

    fn trial(subject: &str, repeat: u32, digest: u8) -> TrialRecord {
        let checks = vec![checked("hello", b"", b"", digest)];
        TrialRecord { key: key(subject, 1.0, repeat), checks, ..healthy() }
    }

    #[test]
    fn only_settings_that_differ_or_are_changed_are_listed() {
        let same = ("nodelay", "on", None);
        let run = run(vec![
            entry("a", &[("backlog", "128", None), same, ("access_log", "a line", Some("none"))]),
            entry("b", &[("backlog", "511", None), same, ("access_log", "a line", Some("none"))]),
            entry("c", &[("backlog", "128", None), same, ("access_log", "a line", Some("none"))]),
            Entry { skipped: Some("gone".into()), ..entry("d", &[("workers", "9", None)]) },
        ]);
        let fairness = Fairness::of(&run, &[]);
        let names: Vec<_> = fairness.settings.iter().map(|setting| setting.name.as_str()).collect();
        assert_eq!(names, ["backlog", "access_log"]);
        assert_eq!(fairness.settings[0].variants[0].subjects, ["a", "c"]);
        assert_eq!(fairness.settings[1].variants[0].subjects, ["a", "b", "c"]);
        assert_eq!(fairness.observed.len(), 3);
    }

    #[test]
    fn octets_of_answers_over_http2_are_not_those_that_were_kept() {
        let run = run(vec![entry("a", &[])]);
        let over = |task: &str| {
            let mut trial = trial("a", 0, 1);
            trial.key.workload = task.into();
            Fairness::of(&run, &[trial]).observed[0].wires.len()
        };
        assert_eq!(["hello", "hello over http/1.1+tls"].map(over), [1, 1]);
        assert_eq!(["hello over h2c, 1 stream", "hello over h2, 10 streams"].map(over), [0, 0]);
    }

    #[test]
    fn a_server_that_answers_differently_once_stands_apart() {
        let run = run(["a", "b", "c"].map(|name| entry(name, &[])).to_vec());
        let mut trials = Vec::new();
        for repeat in 0..2 {
            // Each round has other values, and so other digests, for all subjects.
            let digest = repeat as u8 * 10;
            trials.push(trial("a", repeat, digest));
            trials.push(trial("b", repeat, digest));
            trials.push(trial("c", repeat, digest + u8::from(repeat == 1)));
        }
        let fairness = Fairness::of(&run, &trials);
        assert_eq!(fairness.answers.len(), 1);
        assert_eq!(fairness.answers[0].alike, ["a", "b"]);
        assert_eq!(fairness.answers[0].apart, ["c"]);
        assert_eq!(fairness.observed[2].wires[0].head_bytes, 111);
    }
}
