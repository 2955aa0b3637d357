//! Two stores that whole dynos made, of version 3 and of version 4: they are read whole, brought up to date, and read
//! whole again.

use rusqlite::Connection;
use store::{Extent, RunEnd, RunId, Store};

use crate::made_up::{Folder, run, trial, whole};

/// What a whole dyno kept, and what its dyno reported of it (for the tests of the program).
pub(crate) struct KeptStore {
    pub(crate) version: i64,
    pub(crate) text: &'static str,
    /// The trials of each run.
    pub(crate) trials: [usize; 3],
}

/// In each: a closed loop and an open one in two rounds, with failures and time-outs, and held connections.
pub(crate) const ALL: [KeptStore; 2] = [
    KeptStore { version: 3, text: include_str!("version_3.sql"), trials: [4, 2, 1] },
    KeptStore { version: 4, text: include_str!("version_4.sql"), trials: [4, 2, 1] },
];

impl KeptStore {
    /// A copy in a folder of its own.
    pub(crate) fn copied(&self) -> Folder {
        let folder = Folder::new();
        let connection = Connection::open(folder.store()).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection.execute_batch(self.text).unwrap();
        folder
    }
}

/// Everything that is in a store's first three runs, in words: its seals are checked on the way.
fn content(store: &Store) -> Vec<String> {
    let mut all = Vec::new();
    for number in 1..=3 {
        let id: RunId = number.to_string().parse().unwrap();
        assert_eq!(store.verify(id).unwrap(), []);
        let run = store.run(id).unwrap();
        let trials: Vec<_> =
            store.trials(id, Extent::Whole).unwrap().into_iter().map(whole).collect();
        assert_eq!(trials.len(), run.plan.len(), "{run:?}");
        all.push(format!("{run:?}"));
        all.extend(trials.iter().map(|trial| format!("{trial:?}")));
    }
    all
}

#[test]
fn a_store_that_a_whole_dyno_made_is_read_whole_before_and_after_it_is_brought_up_to_date() {
    for kept in &ALL {
        let folder = kept.copied();
        let before = content(&Store::open_to_read(&folder.store()).unwrap());
        assert_eq!(before.len(), 3 + kept.trials.iter().sum::<usize>());
        let mut store = Store::open(&folder.store()).unwrap();
        let runs = store.runs().unwrap();
        let found: Vec<usize> = runs.iter().map(|run| run.kept as usize).collect();
        assert_eq!(found, kept.trials, "version {}", kept.version);
        assert!(runs.iter().all(|run| run.is_finished && run.damage.is_none()), "{runs:?}");
        assert!(runs.iter().all(|run| run.ended.is_some_and(|(_, how)| how == RunEnd::Done)));

        let id = store.begin(&run(1)).unwrap();
        store.keep(id, &trial(0)).unwrap();
        assert!(content(&store) == before, "version {}", kept.version);
        assert!(content(&Store::open_to_read(&folder.store()).unwrap()) == before);
    }
}

#[test]
fn the_stores_are_of_the_versions_that_they_stand_for() {
    for kept in &ALL {
        let folder = kept.copied();
        let connection = Connection::open(folder.store()).unwrap();
        let version: i64 =
            connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, kept.version);
    }
}

/// A store of today's version has new names in its bodies; what one of version 3 did not record is not made up.
#[test]
fn what_version_3_did_not_record_is_not_there() {
    let folder = ALL[0].copied();
    let store = Store::open_to_read(&folder.store()).unwrap();
    for run in ["1", "2"] {
        for kept in store.trials(run.parse().unwrap(), Extent::Whole).unwrap() {
            let recording = whole(kept).loaded.unwrap().recording;
            assert_eq!((recording.scheduled_until, recording.on_time_within), (None, None));
            assert_eq!(recording.total.received_inside, None);
        }
    }
    let held = whole(store.trial("3".parse().unwrap(), 0).unwrap()).held.unwrap();
    assert!(held.holding.plateaus.iter().all(|plateau| plateau.whole.is_none()));
}
