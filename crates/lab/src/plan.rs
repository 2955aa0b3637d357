//! All trials of an experiment, in the order in which they will run. Pure: the same seed gives the same plan.

use wire::{Chance, mix};

use crate::experiment::{Experiment, Point};
use crate::manner::{Protocol, Task};
use crate::record::TrialKey;

/// A subject that takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runner {
    pub subject: String,
    /// The workloads that it is tried with, if the experiment has them.
    pub asked: Vec<String>,
    /// The protocols that it speaks.
    pub protocols: Vec<Protocol>,
    /// It only shows the greatest load that dyno itself can make: for that the first round is enough.
    pub is_extra: bool,
}

impl Runner {
    fn answers(&self, task: &Task) -> bool {
        self.asked.contains(&task.workload) && self.protocols.contains(&task.manner.protocol)
    }
}

/// Every trial: round by round; within a round every task and place of the axis, in random order; for each of them
/// every subject that can, the order rotated from one to the next, so that no subject is always first. Extras are inserted in
/// between, and leave the order of the others unchanged.
#[must_use]
pub fn plan(experiment: &Experiment, runners: &[Runner]) -> Vec<TrialKey> {
    let mut chance = Chance::new(experiment.seed);
    let mut aside = Chance::new(mix(experiment.seed ^ EXTRAS));
    let (extras, mut order): (Vec<&Runner>, Vec<&Runner>) =
        runners.iter().partition(|runner| runner.is_extra);
    chance.shuffle(&mut order);
    let tasks: Vec<Task> = experiment.tasks().collect();
    let mut plan = Vec::new();
    for repeat in 0..experiment.rounds() {
        let mut places: Vec<(&Task, Point)> = Vec::new();
        for task in &tasks {
            places.extend(experiment.points.iter().map(|&point| (task, point)));
        }
        chance.shuffle(&mut places);
        for (task, point) in places {
            let mut here = order.clone();
            for extra in extras.iter().filter(|_| repeat == 0) {
                here.insert(aside.below(here.len() + 1), extra);
            }
            for runner in here.into_iter().filter(|runner| runner.answers(task)) {
                plan.push(TrialKey::new(
                    plan.len() as u32,
                    &runner.subject,
                    &task.to_string(),
                    point,
                    repeat,
                ));
            }
            if !order.is_empty() {
                order.rotate_left(1);
            }
        }
    }
    plan
}

/// Extras have random numbers of their own.
const EXTRAS: u64 = 0x0063_6569_6c69_6e67;

/// The seed of a trial's random values: the same for all subjects at one place and round, so that all of them are sent
/// the same bytes, and the same for all manners, so that what is compared across them differs in nothing else.
#[must_use]
pub fn seed_of(seed: u64, key: &TrialKey) -> u64 {
    let mut mixed = seed;
    for byte in Task::named(&key.workload).workload.bytes() {
        mixed = mix(mixed ^ u64::from(byte));
    }
    mix(mix(mixed ^ key.point.value().to_bits()) ^ u64::from(key.repeat))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::experiment::tests::read;

    fn text(seed: u64) -> String {
        format!(
            "question = 'x'\nsubjects = 'all'\nworkload = ['u', 'v']\n\
             load = {{ closed = {{ connections = [1, 2, 4] }}, total = 10 }}\n\
             trials = {{ repeat = 2, seed = {seed} }}"
        )
    }

    fn experiment(seed: u64) -> Experiment {
        read(&text(seed)).unwrap()
    }

    fn runner(subject: &str, asked: &[&str]) -> Runner {
        let asked = asked.iter().map(ToString::to_string).collect();
        Runner { subject: subject.into(), asked, protocols: vec![Protocol::Http1], is_extra: false }
    }

    fn entries() -> Vec<Runner> {
        vec![runner("a", &["u", "v"]), runner("b", &["u", "v"]), runner("c", &["u"])]
    }

    #[test]
    fn every_trial_is_planned_once_and_only_what_is_spoken() {
        let plan = plan(&experiment(1), &entries());
        assert_eq!(plan.len(), 2 * 3 * (3 + 2));
        for (at, key) in plan.iter().enumerate() {
            assert_eq!(key.number as usize, at);
            assert!(key.subject != "c" || key.workload == "u");
            let same = |other: &&TrialKey| {
                TrialKey { number: 0, ..(*other).clone() } == TrialKey { number: 0, ..key.clone() }
            };
            assert_eq!(plan.iter().filter(same).count(), 1);
        }
    }

    #[test]
    fn subjects_take_turns_in_going_first() {
        let entries: Vec<_> = entries().into_iter().take(2).collect();
        let plan = plan(&experiment(1), &entries);
        let firsts = plan.chunks(2).filter(|pair| pair[0].subject == "a").count();
        assert_eq!(firsts, plan.len() / 4);
        for pair in plan.chunks(2) {
            assert_eq!((&pair[0].workload, pair[0].point), (&pair[1].workload, pair[1].point));
        }
    }

    #[test]
    fn an_extra_comes_once_a_place_and_changes_no_other_order() {
        let extra = Runner { is_extra: true, ..runner("z", &["u", "v"]) };
        let with: Vec<_> = entries().into_iter().chain([extra]).collect();
        let (plain, more) = (plan(&experiment(1), &entries()), plan(&experiment(1), &with));
        let of_extra = || more.iter().filter(|key| key.subject == "z");
        assert_eq!((of_extra().count(), of_extra().all(|key| key.repeat == 0)), (2 * 3, true));
        let unnumbered = |key: &TrialKey| TrialKey { number: 0, ..key.clone() };
        let others = more.iter().filter(|key| key.subject != "z").map(unnumbered);
        assert!(others.eq(plain.iter().map(unnumbered)));
        let firsts = more.chunk_by(|one, other| {
            (&one.workload, one.point, one.repeat) == (&other.workload, other.point, other.repeat)
        });
        let places: Vec<_> =
            firsts.filter_map(|place| place.iter().position(|key| key.subject == "z")).collect();
        assert!(places.iter().any(|place| *place != places[0]), "not always {places:?}");
    }

    #[test]
    fn the_seed_decides_the_order_and_all_subjects_of_a_place_are_sent_the_same_values() {
        let keys = plan(&experiment(1), &entries());
        assert_eq!(keys, plan(&experiment(1), &entries()));
        assert_ne!(keys, plan(&experiment(2), &entries()));
        assert_eq!(seed_of(7, &keys[0]), seed_of(7, &keys[1]));
        let other = keys.iter().find(|key| key.point != keys[0].point).unwrap();
        assert_ne!(seed_of(7, &keys[0]), seed_of(7, other));
    }

    #[test]
    fn a_subject_is_tried_over_the_protocols_that_it_speaks() {
        let text = text(1).replace("total = 10", "total = 10, protocol = ['http/1.1', 'h2c']");
        let experiment = read(&text).unwrap();
        let both = Runner { protocols: Protocol::ALL.to_vec(), ..runner("both", &["u", "v"]) };
        let plan = plan(&experiment, &[both, runner("one", &["u"])]);
        let tasks = |subject: &str| {
            let keys = plan.iter().filter(|key| key.subject == subject);
            keys.map(|key| key.workload.as_str()).collect::<BTreeSet<_>>()
        };
        let of_both = ["u", "u over h2c, 1 stream", "v", "v over h2c, 1 stream"];
        assert_eq!((tasks("both"), tasks("one")), (of_both.into(), ["u"].into()));
        // What is compared across protocols differs in nothing else.
        let key =
            |workload: &str| plan.iter().find(|key| key.workload == workload).unwrap().clone();
        let [plain, http2, other] = ["u", "u over h2c, 1 stream", "v"].map(key);
        let seed =
            |key: &TrialKey| seed_of(1, &TrialKey { point: plain.point, repeat: 0, ..key.clone() });
        assert_eq!(seed(&plain), seed(&http2));
        assert_ne!(seed(&plain), seed(&other));
    }
}
