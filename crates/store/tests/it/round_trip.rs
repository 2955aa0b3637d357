//! What is stored is read back unchanged.

use lab::record::TrialRecord;
use load::Failure;
use proptest::prelude::*;
use store::{Extent, Fault, Kept, RunEnd, RunId, Store};

use crate::made_up::{Folder, bare_trial, begun, filled, key, run, series, trial, whole};

#[test]
fn a_run_and_its_trials_come_back_as_they_were() {
    let (folder, mut store, id) = begun(4);
    store.keep(id, &trial(2)).unwrap();
    store.keep(id, &bare_trial(0)).unwrap();
    drop(store);

    let store = Store::open(&folder.store()).unwrap();
    assert_eq!(store.run(id).unwrap(), run(4));
    assert_eq!(store.kept(id).unwrap(), [0, 2]);
    assert!(whole(store.trial(id, 2).unwrap()) == trial(2));
    assert!(whole(store.trial(id, 0).unwrap()) == bare_trial(0));
    assert_eq!(store.trial(id, 1).unwrap_err().fault, Fault::NoTrial(id, 1));
    assert_eq!(store.trials(id, Extent::Whole).unwrap().len(), 2);
    assert_eq!(store.verify(id).unwrap(), []);
}

#[test]
fn a_summary_is_the_trial_without_windows_and_series() {
    let (_folder, store, id) = filled(1);
    let mut expected = trial(0);
    expected.series.clear();
    expected.loaded.as_mut().unwrap().recording.windows.clear();
    expected.held.as_mut().unwrap().holding.windows.clear();
    let [summary] = store.trials(id, Extent::Summary).unwrap().try_into().unwrap();
    assert!(whole(summary) == expected);
}

#[test]
fn runs_are_listed_with_what_is_left_to_do() {
    let (_folder, mut store, first) = filled(2);
    let second = store.begin(&run(3)).unwrap();
    store.end(first, 5, RunEnd::Interrupted).unwrap();
    store.end(first, 6, RunEnd::Done).unwrap();
    let runs = store.runs().unwrap();
    let lines = runs.iter().map(|run| (run.id, run.planned, run.kept, run.ended));
    let expected = [(first, 2, 2, Some((6, RunEnd::Done))), (second, 3, 0, None)];
    assert_eq!(lines.collect::<Vec<_>>(), expected);
    assert_eq!(store.ids().unwrap(), [first, second]);
    assert_eq!(store.summary(second).unwrap().as_ref(), Some(&runs[1]));
    assert_eq!(store.summary("9".parse().unwrap()).unwrap(), None);
    assert_eq!((runs[0].name.as_str(), runs[0].is_quick), ("json", true));
    assert_eq!(first.to_string().parse(), Ok(first));
    assert!("0".parse::<RunId>().is_err() && "last".parse::<RunId>().is_err());
}

#[test]
fn a_trial_is_kept_once_and_only_where_it_was_planned() {
    let (_folder, mut store, id) = filled(2);
    assert_eq!(store.keep(id, &trial(1)).unwrap_err().fault, Fault::AlreadyKept(id, 1));
    assert_eq!(store.keep(id, &trial(2)).unwrap_err().fault, Fault::NotPlanned(id, 2));
    let unknown: RunId = "7".parse().unwrap();
    assert_eq!(store.keep(unknown, &trial(0)).unwrap_err().fault, Fault::NoRun(unknown));
    assert_eq!(store.end(unknown, 0, RunEnd::Done).unwrap_err().fault, Fault::NoRun(unknown));
    assert_eq!(store.run(unknown).unwrap_err().fault, Fault::NoRun(unknown));
    assert_eq!(store.trials(unknown, Extent::Whole).unwrap_err().fault, Fault::NoRun(unknown));
    assert_eq!(store.kept(id).unwrap(), [0, 1]);
}

#[test]
fn trials_that_belong_together_are_kept_together_or_not_at_all() {
    let (_folder, mut store, _) = filled(1);
    let id = store.begin(&run(2)).unwrap();
    let says = store.keep_together(id, &[trial(0), trial(9)]).unwrap_err().fault;
    assert_eq!(says, Fault::NotPlanned(id, 9));
    assert!(store.kept(id).unwrap().is_empty(), "the first of the two was not kept either");
    store.keep_together(id, &[trial(0), trial(1)]).unwrap();
    assert_eq!(store.kept(id).unwrap(), [0, 1]);
}

#[test]
fn what_no_column_holds_is_refused_and_never_cut() {
    let (_folder, mut store, id) = filled(2);
    let run = store.begin(&run(1)).unwrap();
    let mut huge = trial(0);
    huge.loaded.as_mut().unwrap().recording.total.attempted = 1 << 63;
    huge.checks[0].head_len = 1 << 63;
    let error = store.keep(run, &huge).unwrap_err();
    assert!(matches!(&error.fault, Fault::Refused(says) if says.contains("head_bytes")), "{error}");
    assert!(store.kept(run).unwrap().is_empty(), "nothing of it has been kept");
    huge.checks[0].head_len = 1;
    store.keep(run, &huge).unwrap();
    assert!(whole(store.trial(run, 0).unwrap()) == huge, "a body holds any number");
    let run = store.begin(&crate::made_up::run(1)).unwrap();
    assert!(store.kept(run).unwrap().is_empty(), "nothing of it has been kept");
    assert_eq!(store.kept(id).unwrap(), [0, 1]);
}

#[test]
fn what_is_not_a_number_comes_back_as_that() {
    let (_folder, mut store, id) = begun(1);
    let gap = series("gap", &[(1, f64::NAN), (2, f64::NEG_INFINITY)]);
    store.keep(id, &TrialRecord { series: vec![gap], ..trial(0) }).unwrap();
    let points = whole(store.trial(id, 0).unwrap()).series.remove(0).points;
    assert!(points[0].1.is_nan() && points[1].1 == f64::NEG_INFINITY, "{points:?}");
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "\\PC{0,12}", "[\u{0}-\u{7f}]{0,6}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_trial_comes_back_as_it_was(
        texts in prop::array::uniform5(text()),
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        counts in prop::array::uniform4(0_u64..1 << 63),
        area in any::<u128>(),
        points in prop::collection::vec((0_u64..1 << 63, prop::num::f64::NORMAL | prop::num::f64::INFINITE), 0..20),
        failed in prop::collection::vec(0_u64..1 << 63, Failure::COUNT),
    ) {
        let [says, exit, name, word, path] = texts;
        let mut made = trial(0);
        made.outcome.says = says;
        made.ending.exit = exit;
        made.ending.output_tail = bytes.clone();
        made.checks[0].response = bytes;
        made.series.push(series(&name, &points));
        made.launch.as_mut().unwrap().command = vec![word];
        let total = &mut made.loaded.as_mut().unwrap().recording.total;
        [total.attempted, total.bytes_sent, total.cpu, total.slowest[0].seq] = counts;
        total.in_flight_area = area;
        total.failed = failed.try_into().unwrap();
        let mut began = run(1);
        began.seed = area as u64;
        began.files.push((path, name));

        let folder = Folder::new();
        let mut store = Store::open(&folder.store()).unwrap();
        let id = store.begin(&began).unwrap();
        store.keep(id, &made).unwrap();
        prop_assert_eq!(store.run(id).unwrap(), began);
        let back = match store.trial(id, 0).unwrap() {
            Kept::Whole(trial) => *trial,
            Kept::Damaged(damage) => return Err(TestCaseError::fail(damage.says)),
        };
        prop_assert!(back == made);
        prop_assert_eq!(back.key, key(0));
    }
}
