//! Sampled trials of a run: they are read as they were stored, a changed one is reported, and they go where their run goes.

use lab::record::{ProfileRecord, TrialKey};
use profile::{BLOCKS, Calls, Line, Method, Profile, Side, Stack, Target};
use rusqlite::Connection;
use store::{Imported, RunId, Store};

use crate::made_up::{Folder, change, key, run};

fn sampled() -> Profile {
    Profile {
        method: Method {
            hz: 997,
            target: Target::Threads,
            user_only: true,
            dwarf_bytes: Some(8192),
        },
        lines: vec![Line { side: Side::NotNamed, name: "not named".into() }],
        functions: vec!["ümläute \u{0}".into(), "main".into()],
        stacks: vec![Stack {
            line: 0,
            functions: vec![1, 0],
            counts: vec![(0, 1), (BLOCKS as u8 - 1, 7)],
        }],
        sampled_ns: 1 << 50,
        cpu_ns: 1 << 50,
        user_cpu_ns: Some(0),
        answers: 1 << 50,
        waited_for_cpu_ns: 0,
        lost: 3,
        calls: Ok(Calls { answers: 1, counts: vec![("read".into(), 1 << 50)] }),
        with_flags: true,
    }
}

/// One that found something, and one that did not.
fn records() -> Vec<ProfileRecord> {
    let numbered = |number| TrialKey { number, ..key(0) };
    vec![
        ProfileRecord { key: numbered(0), found: Ok(sampled()) },
        ProfileRecord { key: numbered(1), found: Err("this kernel lets only root sample".into()) },
    ]
}

fn kept(folder: &Folder) -> (Store, RunId) {
    let mut store = Store::open(&folder.store()).unwrap();
    let id = store.begin(&run(1)).unwrap();
    records().iter().for_each(|record| store.keep_profile(id, record).unwrap());
    (store, id)
}

#[test]
fn profiles_are_read_as_they_were_stored_and_go_where_their_run_goes() {
    let folder = Folder::new();
    let (mut store, id) = kept(&folder);
    assert_eq!(store.run(id).unwrap().profiles, records());
    assert!(store.keep_profile(id, &records()[0]).is_err(), "it is there already");
    let path = folder.path().join("exported");
    store.export(id, &path, None).unwrap();
    let exported = Store::open_to_read(&path).unwrap();
    assert_eq!(exported.run(id).unwrap().profiles, records());
    store.remove(&[id]).unwrap();
    let Imported::New(again) = store.import(&exported, id).unwrap() else { panic!("it was gone") };
    assert_eq!(store.run(again).unwrap().profiles, records());
    store.remove(&[again]).unwrap();
    let left =
        "SELECT (SELECT count(*) FROM run_profile) + (SELECT count(*) FROM run_profile_seal)";
    let connection = Connection::open(folder.store()).unwrap();
    assert_eq!(connection.query_row(left, [], |row| row.get(0)), Ok(0));
}

/// Changes the store by SQL; then the first profile is reported as damaged, and all else is as it was.
fn damaged_by(sql: &str) -> ProfileRecord {
    let folder = Folder::new();
    let (store, id) = kept(&folder);
    change(&folder.store(), sql);
    let run = store.run(id).expect("the run itself is whole");
    assert_eq!(run.profiles[1..], records()[1..], "{sql}");
    let first = run.profiles[0].clone();
    let says = first.found.as_ref().expect_err(sql);
    assert!(says.contains("damaged"), "{sql}: {says}");
    let into = folder.path().join("copy");
    assert!(store.export(id, &into, None).is_err(), "{sql}: what is damaged is not copied");
    first
}

#[test]
fn a_changed_profile_is_reported_and_takes_nothing_with_it() {
    let changed = damaged_by("UPDATE run_profile SET body = x'00' WHERE profile = 0");
    assert_eq!(changed.key, records()[0].key);
    damaged_by("UPDATE run_profile SET repeat = 9 WHERE profile = 0");
    damaged_by("UPDATE run_profile SET wrong = 'x', body = NULL WHERE profile = 0");
    damaged_by("DELETE FROM run_profile_seal WHERE profile = 0");
    let gone = damaged_by("DELETE FROM run_profile WHERE profile = 0");
    assert_eq!((gone.key.number, gone.key.subject.as_str()), (0, ""));
}
