//! Subjects of a round that live at once, with the load alternating between them.

use lab::record::{InTurns, OutcomeKind, TrialRecord};
use load::SECOND;

use crate::lab_rig::{Lab, trial_of};
use crate::rig::{in_each, in_one_of_five};

const LOAD: &str = "closed = { connections = 2 }, duration = '800ms'";
const SLICES: &str = "[trials]\nrepeat = 1\npause = '0s'\nslices = '50ms'";

fn in_turns(trial: &TrialRecord) -> InTurns {
    trial.loaded.as_ref().unwrap().in_turns.unwrap()
}

/// A server that stalls for 300 ms of each 400 ms is stalled at the end of most of its slices.
#[test]
fn a_stall_across_the_border_of_a_slice_is_the_stalled_servers_alone() {
    in_one_of_five(|| {
        let lab = Lab::new().oracle("calm", "").oracle("stalls", "--stall 300ms/400ms");
        let lab = lab.experiment("x", &["calm", "stalls"], LOAD, SLICES);
        lab.dyno(&["run", "x"]).measured();
        let trials = lab.trials("1");
        let (calm, stalls) = (trial_of(&trials, "calm"), trial_of(&trials, "stalls"));
        let longest = |trial: &TrialRecord| {
            let response = &trial.loaded.as_ref().unwrap().recording.total.response;
            response.quantile(1.0).unwrap().value
        };
        let p90 = |trial: &TrialRecord| {
            trial.loaded.as_ref().unwrap().recording.total.response.quantile(0.9).unwrap().value
        };
        assert!(SECOND / 5 < longest(stalls), "{} ns", longest(stalls));
        assert!(p90(calm) < SECOND / 10, "{} ns", p90(calm));
        let (calm, stalls) = (in_turns(calm), in_turns(stalls));
        in_each(|| {
            for turns in [calm, stalls] {
                assert!(SECOND * 4 / 5 <= turns.own, "all measured time is its own: {turns:?}");
                assert_eq!(turns.length, SECOND / 20);
            }
            // While one has its turn, the clock of the other stands still: that time is not its own.
            assert!(0 < calm.others && 0 < stalls.others, "{calm:?} {stalls:?}");
        });
        assert!(
            calm.waited < stalls.waited,
            "a slice that is stalled lasts longer: {stalls:?} {calm:?}"
        );
    });
}

#[test]
fn a_server_that_dies_in_its_slice_ends_no_other_and_none_is_waited_for() {
    let hangs = "run = '''sh -c 'exec sleep 600' '''\nready = '1s'";
    let lab = Lab::new().oracle("good", "").python("later", "dies").subject("hangs", hangs);
    let lab = lab.experiment("x", &["hangs", "good", "later"], LOAD, SLICES);
    lab.dyno(&["run", "x"]).measured().stderr_has("died: ").stderr_has("not-ready: ");
    let trials = lab.trials("1");
    assert_eq!(trial_of(&trials, "later").outcome.kind, OutcomeKind::Died);
    let good = trial_of(&trials, "good");
    assert_eq!(good.outcome.kind, OutcomeKind::Measured, "{:?}", good.outcome);
    let recording = &good.loaded.as_ref().unwrap().recording;
    assert_eq!(recording.measured_until - recording.measured_from, SECOND * 4 / 5);
    assert_eq!(recording.total.failed_in_all(), 0);
    assert_eq!(in_turns(good).length, SECOND / 20);
}
