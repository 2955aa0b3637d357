//! When a file counts as a repetition.

use lab::record::{Fact, RunRecord};
use public::{PublicRun, REPEATS, Repetition, counts_as_repetition};
use store::RunEnd;

use super::{Loaded, PUBLISHED, loaded, published};

const SIGNERS: [Option<&str>; 2] = [Some("alice"), Some("bob")];

/// The fixture, once more: with another seed, and with trials that ended one nanosecond later.
fn again(original: &PublicRun, change: impl FnOnce(&mut Loaded)) -> PublicRun {
    let mut again = loaded();
    again.0.seed += 1;
    again.0.facts.push(Fact { name: REPEATS.into(), value: original.id.clone() });
    for trial in &mut again.1 {
        if let Some(loaded) = &mut trial.loaded {
            loaded.recording.ended += 1;
        }
    }
    change(&mut again);
    published(again)
}

#[test]
fn a_repetition_counts_only_by_another_signer_on_the_same_class() {
    let original = &PUBLISHED;
    let repetition = again(original, |_| {});
    let counted = |signers, classes| counts_as_repetition(original, &repetition, signers, classes);
    assert_eq!(counted(SIGNERS, ["a", "a"]), Repetition::Counts);
    assert_eq!(counted(SIGNERS, ["a", "b"]), Repetition::OnAnotherClass);
    for signers in [[Some("alice"); 2], [Some("alice"), None], [None, Some("bob")], [None; 2]] {
        assert_eq!(counted(signers, ["a", "a"]), Repetition::ByTheSame);
    }
}

#[test]
fn what_shares_seed_trials_or_sources_with_its_original_repeats_nothing() {
    let original = &PUBLISHED;
    let seed = original.record.seed;
    let reason = |change: &dyn Fn(&mut Loaded)| {
        let other = again(original, |again| change(again));
        counts_as_repetition(original, &other, SIGNERS, ["a", "a"]).says()
    };
    assert_eq!(reason(&|it| it.0.seed = seed), "it has the seed of the original");
    assert_eq!(reason(&|it| it.1 = loaded().1), "its trials are not new");
    assert_eq!(reason(&|it| it.1[1] = loaded().1.remove(1)), "its trials are not new");
    assert_eq!(reason(&|it| it.0.files[0].1.push('#')), "its files are not those of the original");
    assert_eq!(reason(&|it| it.2 = Some((1, RunEnd::Interrupted))), "it did not end");
    let other_name = |it: &mut Loaded| it.0.facts.retain(|fact| fact.name != REPEATS);
    assert_eq!(reason(&other_name), "it does not say that it repeats this run");
    let shorter = |it: &mut Loaded| it.0.experiment.as_mut().unwrap().repeat -= 1;
    assert_eq!(reason(&shorter), "its experiment is another one");
    let (record, trials, ended) = loaded();
    let of_no_experiment = published((RunRecord { experiment: None, ..record }, trials, ended));
    let other = again(&of_no_experiment, |it| it.0.experiment = None);
    let found = counts_as_repetition(&of_no_experiment, &other, SIGNERS, ["a", "a"]);
    assert_eq!(found.says(), "what it names has no experiment that can be repeated");
}
