//! A store that another program made may hold any number of rows: no more are read than a dyno keeps.

use std::path::Path;

use store::{Extent, Fault, Store};

use crate::made_up::{Folder, change, filled, run};

const TRIALS: u32 = 250_000;
const POINTS: u32 = 100_000;

/// Adds so many rows: `table` says where, and what is in them.
pub(crate) fn add(path: &Path, rows: u32, table: &str) {
    let sql = format!(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
         INSERT INTO {table} FROM n"
    );
    change(path, &sql);
}

/// Two runs of two trials, and so many rows more in the first.
fn swollen(rows: u32, table: &str) -> (Folder, Store) {
    let (folder, mut store, _) = filled(2);
    store.begin(&run(1)).unwrap();
    add(&folder.store(), rows, table);
    (folder, store)
}

const PLAN: &str = "run_plan SELECT 1, 9 + i, 'a', 'b', 1, 'connections', 0";
const SEALS: &str = "trial_seal SELECT 1, 9 + i, x'', x''";

#[test]
fn a_plan_or_a_list_of_trials_beyond_all_measure_is_refused_and_the_other_run_is_read() {
    for (table, says) in [
        (PLAN, "run 1: more than 250000 trials are planned"),
        (SEALS, "run 1: more than 250000 trials"),
    ] {
        let (folder, store) = swollen(TRIALS, table);
        let first = "1".parse().unwrap();
        let found = match table {
            PLAN => store.run(first).unwrap_err(),
            _ => store.trials(first, Extent::Summary).unwrap_err(),
        };
        assert_eq!(found.fault, Fault::TooMuch(says.to_string()));
        let message = found.to_string();
        let path = folder.store().display().to_string();
        assert!(message.starts_with(&path) && message.ends_with("name another file"), "{message}");
        let runs = store.runs().unwrap();
        assert_eq!(runs[0].damage.as_deref(), Some(says));
        assert_eq!((runs[1].damage.as_deref(), runs[1].planned), (None, 1));
        assert_eq!(store.run(runs[1].id).unwrap(), run(1));
    }
}

#[test]
fn a_series_of_points_beyond_all_measure_is_refused_and_the_other_trial_is_read() {
    let (_folder, store) = swollen(POINTS, "trial_point SELECT 1, 0, 1, 9 + i, i, 0.5");
    let first = "1".parse().unwrap();
    let says = "run 1, trial 0: more than 100000 points are in one series";
    for found in [store.trial(first, 0).map(drop), store.trials(first, Extent::Whole).map(drop)] {
        assert_eq!(found.unwrap_err().fault, Fault::TooMuch(says.to_string()));
    }
    assert!(store.trial(first, 1).is_ok());
    assert_eq!(store.trials(first, Extent::Summary).unwrap().len(), 2, "they have no series");
}

/// As many points as are read, spread over two series, are not too many: they are only not what was sealed.
#[test]
fn points_are_counted_series_by_series() {
    let (_folder, store) = swollen(POINTS - 3, "trial_point SELECT 1, 0, i % 2, 9 + i, i, 0.5");
    assert!(matches!(store.trial("1".parse().unwrap(), 0), Ok(store::Kept::Damaged(_))));
}

#[test]
fn a_run_that_could_not_be_read_again_is_not_begun() {
    let folder = Folder::new();
    let mut store = Store::open(&folder.store()).unwrap();
    let error = store.begin(&run(TRIALS + 1)).unwrap_err();
    assert_eq!(error.fault, Fault::LongPlan(TRIALS as usize + 1));
    assert!(error.to_string().contains("fewer rounds"), "{error}");
    assert_eq!(store.runs().unwrap(), []);
}
