//! Coordinator and agents in a simulated world, which loses, delays and repeats what they say, and ends any of them at
//! any time.

mod network;
mod place;
mod replay;
mod world;

use crate::{
    Coordinator, CoordinatorAction, CoordinatorEvent, Greeting, MILLISECOND, PROTOCOL, SECOND,
    Terms,
};
use world::{Faults, LEASE, World};

/// So many worlds are tried; more with `DYNO_POST_SEEDS`.
const SEEDS: u64 = 400;

fn seeds() -> u64 {
    let named = std::env::var("DYNO_POST_SEEDS");
    named.map_or(SEEDS, |text| text.parse().expect("DYNO_POST_SEEDS is a number of seeds"))
}

/// Runs it until all is quiet; a failure names its seed.
fn run(seed: u64, faults: Faults) -> World {
    let named = std::panic::AssertUnwindSafe(|| World::new(seed, faults).run());
    std::panic::catch_unwind(named).unwrap_or_else(|_| panic!("seed {seed}, {faults:?}"))
}

fn greeting() -> Greeting {
    let (dyno, by) = ("1".into(), "me".into());
    Greeting { protocol: PROTOCOL, dyno, sha256: None, by, lease: LEASE }
}

fn terms(goes_on: bool) -> Terms {
    Terms {
        greeting: greeting(),
        has_one_clock: false,
        meet_within: 10 * SECOND,
        arm_within: 10 * SECOND,
        lead: 500 * MILLISECOND,
        goes_on,
    }
}

#[test]
fn where_nothing_breaks_every_trial_is_kept() {
    for seed in 0..seeds() / 4 {
        let world = run(seed, Faults::default());
        assert_eq!((world.kept, world.in_vain), (world.wanted, 0), "seed {seed}");
        assert_eq!(world.lost, 0, "seed {seed}");
    }
}

#[test]
fn lost_and_repeated_messages_cost_no_trial() {
    let faults = Faults { losses: 0.01, repeats: 0.2, is_held_up: true, ..Faults::default() };
    for seed in 0..seeds() / 4 {
        let world = run(seed, faults);
        assert_eq!((world.kept, world.lost), (world.wanted, 0), "seed {seed}");
    }
}

#[test]
fn clocks_that_drift_between_the_trials_bring_no_load_apart() {
    for (seed, losses) in (0..seeds().div_ceil(40)).zip([0.0, 0.05].into_iter().cycle()) {
        let world = run(seed, Faults { losses, drifts: true, ..Faults::default() });
        assert_eq!((world.kept, world.lost), (world.wanted, 0), "seed {seed}");
    }
}

#[test]
fn whatever_ends_no_agent_has_two_loads_none_outlasts_its_lease_and_what_is_kept_is_whole() {
    let (mut kept, mut lost, mut in_vain) = (0, 0, 0);
    for seed in 0..seeds() {
        let faults = Faults {
            losses: [0.0, 0.05, 0.3][(seed % 3) as usize],
            repeats: [0.0, 0.2][(seed % 2) as usize],
            is_held_up: seed % 5 < 3,
            ends_agents: seed % 7 != 0,
            ends_coordinators: seed % 4 != 0,
            cuts_lines: seed % 3 != 0,
            drifts: false,
        };
        let world = run(seed, faults);
        kept += world.kept;
        lost += world.lost;
        in_vain += world.in_vain;
    }
    // Otherwise nothing was tried.
    assert!(seeds() < 100 || 0 < kept && 0 < lost && 0 < in_vain, "{kept}, {lost}, {in_vain}");
}

#[test]
fn an_agent_that_gets_its_dyno_first_is_waited_for_as_long_again() {
    let mut coordinator = Coordinator::new("r", 1, terms(true), SECOND);
    let mut is_given_up = |event, second| {
        let actions = coordinator.on(event, second * SECOND);
        actions.iter().any(|action| matches!(action, CoordinatorAction::NotMet(_)))
    };
    assert!(!is_given_up(CoordinatorEvent::Tick, 10));
    assert!(!is_given_up(CoordinatorEvent::Delayed, 10));
    assert!(!is_given_up(CoordinatorEvent::Tick, 19));
    assert!(is_given_up(CoordinatorEvent::Tick, 20));
    // It was given up, and stays so.
    assert!(
        !is_given_up(CoordinatorEvent::Delayed, 21) && !is_given_up(CoordinatorEvent::Tick, 40)
    );
}
