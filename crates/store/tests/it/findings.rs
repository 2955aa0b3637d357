//! Checks of a run's subjects: they are read as they were stored, a changed one is reported, and another run takes them
//! over.

use lab::conformance::{
    Area, CaseVerdict, Conformance, Evidence, Finding, Level, Report, Spot, Tag, stamp,
};
use lab::record::{Phase, RunRecord};
use rusqlite::Connection;
use store::{Fault, RunId, Store};

use crate::made_up::{Folder, begun, change, run};

const MANIFEST: &str = "run = 'node server.js'";

fn finding(place: usize, verdict: CaseVerdict) -> Finding {
    Finding {
        id: format!("H1-X{place:02}"),
        title: "two lengths".into(),
        area: Area::ALL[place % Area::ALL.len()],
        clause: "RFC 9112, 6.3 (erratum 1)".into(),
        level: Level::ALL[place % 3],
        weight: 5,
        tags: Tag::ALL[..place % Tag::ALL.len()].to_vec(),
        demand: "ümläute".into(),
        doubt: String::new(),
        expected: "400, or closed without an answer".into(),
        verdict,
        why: "200 \u{0}".into(),
        rounds: vec![CaseVerdict::Pass, verdict],
        evidence: Evidence {
            sent: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            sent_len: 1 << 40,
            received: b"\xff\x00".to_vec(),
            received_len: 2,
        },
    }
}

/// A check with a finding of every verdict, area, level and number of tags.
fn checked(subject: &str) -> Conformance {
    let verdict = |place: usize| CaseVerdict::ALL[place % CaseVerdict::ALL.len()];
    let report = Report {
        catalogue: stamp(),
        findings: (0..20).map(|place| finding(place, verdict(place))).collect(),
        rounds: 2,
        took_ms: 4_711,
        cut_short: String::new(),
    };
    Conformance { subject: subject.into(), from_run: None, found: Ok(report) }
}

/// A run with a check of each of its two subjects, one of them without a result.
pub(crate) fn checked_run(trials: u32) -> RunRecord {
    let failed =
        Conformance { subject: "go".into(), from_run: Some(7), found: Err("it died".into()) };
    let mut run = RunRecord { conformance: vec![checked("node-http"), failed], ..run(trials) };
    run.files.push(("subjects/node-http/subject.toml".into(), MANIFEST.into()));
    run
}

pub(crate) fn spots() -> Vec<Spot> {
    let spot =
        |phase, verdict, why: &str| Spot { phase, id: "H1-B01".into(), verdict, why: why.into() };
    vec![spot(Phase::Before, CaseVerdict::Pass, "200"), spot(Phase::After, CaseVerdict::Crash, "")]
}

/// Whether all checks are unchanged; those that are not must be reported.
pub(crate) fn is_as_checked(found: &[Conformance], kept: &[Conformance], case: &str) -> bool {
    for one in found.iter().filter(|one| !kept.contains(one)) {
        let says = one.found.as_ref().expect_err(case);
        assert!(says.contains("damaged"), "{case}: {says}");
    }
    found == kept
}

#[test]
fn checks_come_back_as_they_were_whenever_they_were_kept() {
    let (folder, mut store, id) = begun(1);
    assert_eq!(store.run(id).unwrap(), run(1));
    for found in checked_run(1).conformance.iter().rev() {
        store.keep_conformance(id, found).unwrap();
    }
    let whole = store.begin(&checked_run(1)).unwrap();
    drop(store);
    let store = Store::open_to_read(&folder.store()).unwrap();
    for id in [id, whole] {
        assert_eq!(store.run(id).unwrap().conformance, checked_run(1).conformance);
    }
}

#[test]
fn a_check_is_kept_once_and_only_of_a_subject_of_the_run() {
    let (_folder, mut store, id) = begun(1);
    store.keep_conformance(id, &checked("go")).unwrap();
    for subject in ["go", "nobody"] {
        let refused = store.keep_conformance(id, &checked(subject)).unwrap_err().fault;
        assert!(matches!(refused, Fault::Refused(_)), "{refused:?}");
    }
    let nowhere = store.keep_conformance("9".parse().unwrap(), &checked("go")).unwrap_err();
    assert_eq!(nowhere.fault, Fault::NoRun("9".parse().unwrap()));
    assert_eq!(store.run(id).unwrap().conformance, [checked("go")]);
}

#[test]
fn a_changed_check_says_that_it_is_damaged_and_leaves_the_others() {
    for sql in [
        "UPDATE run_finding SET verdict = 'pass' WHERE place = 4",
        "UPDATE run_finding SET verdict = 'splendid' WHERE place = 4",
        "DELETE FROM run_finding WHERE place = 19",
        "UPDATE run_conformance SET catalogue_hash = '00' WHERE entry = 0",
        "UPDATE run_conformance_seal SET sha256 = x'00' WHERE entry = 0",
        "DELETE FROM run_conformance_seal WHERE entry = 0",
        "DELETE FROM run_conformance WHERE entry = 0",
    ] {
        let (folder, mut store, _) = begun(1);
        let id = store.begin(&checked_run(1)).unwrap();
        change(&folder.store(), sql);
        let found = store.run(id).unwrap().conformance;
        assert!(!is_as_checked(&found, &checked_run(1).conformance, sql), "{sql}: unnoticed");
        assert_eq!((found.len(), &found[1]), (2, &checked_run(1).conformance[1]), "{sql}");
    }
}

#[test]
fn a_word_that_this_dyno_does_not_know_is_named() {
    // A later dyno may have sealed it correctly.
    let (path, mut store, id) = begun(1);
    let mut odd = checked("go");
    odd.found.as_mut().unwrap().findings.truncate(1);
    store.keep_conformance(id, &odd).unwrap();
    let connection = Connection::open(path.store()).unwrap();
    for (column, kind) in
        [("verdict", "verdict"), ("area", "area"), ("level", "level"), ("tags", "tag")]
    {
        let sql = format!("UPDATE run_finding SET {column} = 'great\u{1b}'");
        connection.execute_batch(&sql).unwrap();
        let says = conformance_says(&path, &connection, id);
        assert!(says.contains(&format!("`great\\u{{1b}}` is no {kind}")), "{says}");
        let sane =
            "UPDATE run_finding SET verdict = 'pass', area = 'host', level = 'MUST', tags = ''";
        connection.execute_batch(sane).unwrap();
    }
}

/// What is reported about the only check, sealed anew as it is now.
fn conformance_says(folder: &Folder, connection: &Connection, id: RunId) -> String {
    let seal = resealed(connection);
    connection.execute("UPDATE run_conformance_seal SET sha256 = ?1", [seal]).unwrap();
    let found = Store::open_to_read(&folder.store()).unwrap().run(id).unwrap().conformance;
    found[0].found.clone().unwrap_err()
}

/// Follows the layout in docs/store.md, and uses none of the store's own code.
fn resealed(connection: &Connection) -> Vec<u8> {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    hash.update(b"dyno store 1\n");
    hash.update(1_i64.to_be_bytes());
    hash.update(1_i64.to_be_bytes());
    for (table, skip) in [("run_conformance", 2), ("run_finding", 2)] {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        hash.update(b"T");
        hash.update((table.len() as u64).to_be_bytes());
        hash.update(table);
        hash.update(1_u64.to_be_bytes());
        let row = rows.next().unwrap().unwrap();
        for column in skip..columns {
            use rusqlite::types::ValueRef;
            let mut bytes = |kind: &[u8], bytes: &[u8]| {
                hash.update(kind);
                hash.update((bytes.len() as u64).to_be_bytes());
                hash.update(bytes);
            };
            match row.get_ref(column).unwrap() {
                ValueRef::Null => hash.update(b"0"),
                ValueRef::Integer(number) => {
                    hash.update(b"i");
                    hash.update(number.to_be_bytes());
                }
                ValueRef::Text(text) => bytes(b"t", text),
                ValueRef::Blob(blob) => bytes(b"b", blob),
                ValueRef::Real(_) => panic!("there is none"),
            }
        }
    }
    hash.finalize().to_vec()
}

/// The run whose check of this build of node-http is taken over.
fn lasting(store: &Store, build: &str, version: &str, manifest: &str, http2: bool) -> Option<u64> {
    let found = store.lasting_conformance("node-http", build, version, manifest, http2).unwrap();
    found.and_then(|found| found.from_run)
}

#[test]
fn a_check_of_the_same_build_and_version_is_taken_over_from_the_newest_run_that_has_it() {
    let (folder, mut store, _) = begun(1);
    let (build, version) = ("b1946ac9", "v20.1.0");
    assert_eq!(lasting(&store, build, version, MANIFEST, false), None, "no server was checked");
    store.begin(&checked_run(1)).unwrap();
    store.begin(&checked_run(1)).unwrap();
    let of_build = |build, version, run| lasting(&store, build, version, run, false);
    assert_eq!(of_build(build, version, MANIFEST), Some(3));
    assert_eq!(of_build(build, "v20.1.1", MANIFEST), None, "another version");
    assert_eq!(of_build("00", version, MANIFEST), None, "another build");
    assert_eq!(of_build("", "", MANIFEST), None, "what was never built is not alike");
    assert_eq!(of_build(build, version, "run = 'deno'"), None, "another command");
    change(&folder.store(), "UPDATE run_conformance SET took_ms = 0 WHERE run = 3");
    assert_eq!(of_build(build, version, MANIFEST), Some(2), "the newest is damaged");
    let mut newer = checked_run(1);
    newer.conformance = newer.conformance.into_iter().map(Conformance::without_http2).collect();
    store.begin(&newer).unwrap();
    let of_either = |http2| lasting(&store, build, version, MANIFEST, http2);
    assert_eq!([true, false].map(of_either), [Some(2), Some(4)]);
    // What was cut short, or asked by another catalogue, is none of them.
    let changes: [fn(&mut Report); 2] =
        [|it| it.cut_short = "halted".into(), |it| it.catalogue.hash = "00000000".into()];
    for change in changes {
        let mut last = checked_run(1);
        change(last.conformance[0].found.as_mut().unwrap());
        let id = store.begin(&last).unwrap();
        assert_eq!(lasting(&store, build, version, MANIFEST, false), Some(4));
        assert_eq!(store.run(id).unwrap().conformance, last.conformance);
    }
}
