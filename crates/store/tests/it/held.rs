//! Held connections are read as they were stored, and take little room.

use lab::record::{HeldRecord, TrialRecord};
use load::{Chance, Folded, HoldWindow, Holding, Loss, Nanos, Plateau, PlateauTimes, SECOND};
use proptest::prelude::*;
use store::{Extent, Kept, Store};

use crate::holding::{held, plateau, times};
use crate::made_up::{bare_trial, begun, change, trial, whole};

/// A held trial as it is: without a load of exchanges.
fn held_trial(number: u32, holding: Holding) -> TrialRecord {
    let held = Some(HeldRecord { began: 12_345, agents: Vec::new(), holding });
    TrialRecord { held, loaded: None, series: Vec::new(), ..trial(number) }
}

fn back(made: &TrialRecord) -> Kept {
    let (folder, mut store, id) = begun(made.key.number + 1);
    store.keep(id, made).unwrap();
    drop(store);
    Store::open_to_read(&folder.store()).unwrap().trial(id, made.key.number).unwrap()
}

#[test]
fn held_connections_come_back_as_they_were() {
    let made = held_trial(3, held(3).holding);
    let found = whole(back(&made));
    assert!(found == made);
    assert_eq!(found.key.point.unit(), "held connections");
    // What was stored can be added to what was not.
    let plateaus = |trial: TrialRecord| trial.held.unwrap().holding.plateaus;
    let (mut found, mut expected) = (plateaus(found), plateaus(made));
    for (found, expected) in found.iter_mut().zip(&mut expected) {
        let (mut more, mut same) = (plateau(0, 5), expected.clone());
        (more.missed, same.missed, expected.missed, found.missed) = (0, 0, 0, 0);
        found.merge(&more);
        same.merge(&more);
        assert!(*found == same && same != *expected);
    }
}

#[test]
fn a_ramp_that_was_stopped_at_once_is_no_missing_one() {
    let none =
        Holding { plateaus: Vec::new(), windows: Vec::new(), closed_at: 0, was_halted: true };
    let made = held_trial(0, none);
    assert!(whole(back(&made)) == made);
}

#[test]
fn damage_to_windows_does_not_show_in_a_summary() {
    let (folder, mut store, id) = begun(1);
    store.keep(id, &trial(0)).unwrap();
    let sql = "UPDATE trial_detail SET body = replace(body, '\"lost\":', '\"lost\":1') WHERE part = 'held'";
    change(&folder.store(), sql);
    let [summary] = store.trials(id, Extent::Summary).unwrap().try_into().unwrap();
    assert!(whole(summary).held.unwrap().holding.windows.is_empty());
    assert!(matches!(store.trial(id, 0).unwrap(), Kept::Damaged(_)));
}

/// How many bytes a trial takes: its summary, and its windows.
fn sizes(holding: &Holding) -> (u64, u64) {
    let with = |holding: Option<Holding>| {
        let (folder, mut store, id) = begun(20);
        for number in 0..20 {
            let held =
                holding.clone().map(|holding| HeldRecord { began: 0, agents: Vec::new(), holding });
            store.keep(id, &TrialRecord { held, ..bare_trial(number) }).unwrap();
        }
        drop(store);
        std::fs::metadata(folder.store()).unwrap().len() / 20
    };
    let summary = with(Some(Holding { windows: Vec::new(), ..holding.clone() }));
    (summary - with(None), with(Some(holding.clone())) - summary)
}

/// Ten steps of 1,000 connections, a minute each, with a message a second on each connection; each message is late by
/// some 100 µs to some ms.
fn ramp_of_ten() -> Holding {
    let mut dice = Chance::new(0x2013);
    let mut plateaus = Vec::new();
    let mut windows = Vec::new();
    for step in 1..=10 {
        plateaus.push(full_plateau(step, &mut dice));
        for place in 0..60 {
            windows.push(full_window((step - 1) * 60 + place, 1_000 * step as usize, &mut dice));
        }
    }
    Holding { plateaus, windows, closed_at: 600 * SECOND, was_halted: false }
}

/// The sum of some dice: usually near the middle, and seldom far from it.
fn late(dice: &mut Chance) -> Nanos {
    let scale = 1 << dice.below(6);
    (50_000 + scale * (0..4).map(|_| dice.below(25_000)).sum::<usize>()) as Nanos
}

fn full_plateau(step: u64, dice: &mut Chance) -> Plateau {
    let messages = 55_000 * step as usize;
    let from = (step - 1) * 60 * SECOND;
    Plateau {
        times: PlateauTimes {
            connections: 1_000 * step as usize,
            from,
            measured_from: from + 5 * SECOND,
            until: from + 60 * SECOND,
        },
        connect: times((0..1_000).map(|_| late(dice))),
        agree: times((0..1_000).map(|_| late(dice))),
        late: times((0..messages).map(|_| late(dice))),
        gap: times((0..messages).map(|_| SECOND + late(dice))),
        own: times((0..messages).map(|_| late(dice) / 50)),
        ..plateau(0, step)
    }
}

fn full_window(place: u64, messages: usize, dice: &mut Chance) -> HoldWindow {
    HoldWindow {
        open: messages as u64,
        messages: messages as u64,
        bytes: 12 * messages as u64,
        late: Folded::of(&times((0..messages).map(|_| late(dice)))),
        ..HoldWindow::new(place * SECOND, (place + 1) * SECOND)
    }
}

#[test]
fn a_ramp_of_ten_plateaus_takes_little_room() {
    let (summary, windows) = sizes(&ramp_of_ten());
    println!("ten plateaus: {summary} bytes; 600 windows: {windows} bytes");
    assert!(summary < 400 << 10, "{summary} bytes");
    assert!(windows < 4 << 20, "{windows} bytes");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_held_connections_come_back_as_they_were(
        counts in prop::array::uniform8(0_u64..1 << 63),
        missed in any::<u64>(),
        late in prop::collection::vec(any::<u64>(), 0..30),
        received in prop::collection::btree_map(any::<u64>(), (0_u64..1 << 63, 0_u64..1 << 63), 0..9),
        failed in prop::collection::vec(0_u64..1 << 63, Loss::COUNT),
        lost in prop::collection::vec(0_u64..1 << 63, Loss::COUNT),
        was_halted in any::<bool>(),
    ) {
        let mut made = held(0);
        let holding = &mut made.holding;
        let plateau = &mut holding.plateaus[1];
        [made.began, holding.closed_at, holding.windows[1].bytes, plateau.times.measured_from,
            plateau.open, plateau.echoes.due, plateau.cpu, plateau.begun] = counts;
        plateau.missed = missed;
        plateau.late = times(late);
        plateau.failed = failed.try_into().unwrap();
        plateau.lost = lost.try_into().unwrap();
        plateau.broadcasts = received
            .into_iter()
            .map(|(number, (first, last))| (number, load::Broadcast { first, last, received: last }))
            .collect();
        holding.was_halted = was_halted;
        let made = TrialRecord { held: Some(made), ..trial(0) };
        match back(&made) {
            Kept::Whole(found) => prop_assert!(*found == made),
            Kept::Damaged(damage) => return Err(TestCaseError::fail(damage.says)),
        }
    }
}
