use super::*;
use crate::fixture::{MS, at, counted, end, fail, key, recording};
use load::Failure;

fn run() -> RunRecord {
    let mut plan = Vec::new();
    for repeat in 0..3 {
        for (subject, rate) in [("b", 900.0), ("a", 2_000.0), ("b", 2_000.0), ("a", 900.0)] {
            plan.push(key(subject, rate, repeat));
        }
    }
    RunRecord { plan, ..crate::fixture::run(&[("b", ""), ("a", "")]) }
}

fn trial(subject: &str, rate: f64, repeat: u32, correct: u64) -> TrialRecord {
    let mut trial = at(subject, Point::Requests(rate), repeat);
    counted(&mut trial, correct, correct);
    trial
}

#[test]
fn rows_stand_in_the_run_s_order_and_places_rise() {
    let board = Board::of(&run(), &[]);
    let rows: Vec<_> =
        board.tables[0].rows.iter().map(|row| (row.subject.as_str(), row.point.value())).collect();
    assert_eq!(rows, [("b", 900.0), ("b", 2_000.0), ("a", 900.0), ("a", 2_000.0)]);
    assert!(board.tables[0].is_curve());
    assert!(board.tables[0].rows.iter().all(|row| row.planned == 3 && row.measured() == 0));
    assert_eq!(board.tables[0].peaks, []);
}

#[test]
fn figures_are_geometric_means_with_their_range() {
    let trials = [4, 1, 2].map(|n| trial("a", 900.0, n as u32 - 1, n * 10_000));
    let board = Board::of(&run(), &trials);
    let row = &board.tables[0].rows[2];
    let throughput = row.estimate(Figure::Throughput).unwrap();
    assert!((throughput.value - 2_000.0).abs() < 1e-6, "{throughput:?}");
    assert_eq!((throughput.min, throughput.max, throughput.rounds), (1_000.0, 4_000.0, 3));
    assert_eq!(row.trials.iter().map(|trial| trial.repeat).collect::<Vec<_>>(), [0, 1, 3]);
}

#[test]
fn a_percentile_is_the_mean_of_the_rounds_percentiles_and_so_is_its_interval() {
    let mut slow = trial("a", 900.0, 2, 20_000);
    recording(&mut slow).total.response.record_many(100 * MS, 5_000);
    let trials = [trial("a", 900.0, 0, 20_000), trial("a", 900.0, 1, 20_000), slow];
    let board = Board::of(&run(), &trials);
    let row = &board.tables[0].rows[2];
    // 1, 1 and 100 ms.
    let p99 = row.estimate(Figure::ResponseP99).unwrap();
    assert!((p99.value - 100_f64.cbrt()).abs() < 0.01, "{p99:?}");
    let (low, high) = p99.interval().unwrap();
    assert!(((low * high).sqrt() / p99.value - 1.0).abs() < 1e-9, "{p99:?}");
    // The longest is the longest of all rounds.
    let longest = row.estimate(Figure::ResponseMax).unwrap();
    assert!((longest.value - 100.0).abs() < 0.1 && longest.interval().is_none(), "{longest:?}");
}

#[test]
fn what_is_no_measurement_is_shown_and_not_averaged() {
    let mut died = trial("a", 900.0, 1, 10);
    end(&mut died, OutcomeKind::Died);
    let board = Board::of(&run(), &[trial("a", 900.0, 0, 20_000), died]);
    let row = &board.tables[0].rows[2];
    assert_eq!((row.measured(), row.planned), (1, 3));
    assert_eq!(row.unmeasured(), [(OutcomeKind::Died, 1)]);
    assert_eq!(row.estimate(Figure::Throughput).unwrap().min, 2_000.0);
}

#[test]
fn a_doubtful_round_stays_in_the_figures_and_marks_its_row() {
    let mut doubtful = trial("a", 900.0, 0, 20_000);
    fail(&mut doubtful, Failure::NoFiles, 100);
    let board = Board::of(&run(), &[doubtful, trial("a", 900.0, 1, 20_000)]);
    let row = &board.tables[0].rows[2];
    assert!(row.is_doubtful());
    assert_eq!(row.estimate(Figure::Throughput).unwrap().rounds, 2);
    assert_eq!(row.failures(), [(Failure::NoFiles, 100)]);
}

#[test]
fn a_peak_at_the_last_place_may_not_be_the_limit() {
    let mut slow = trial("b", 2_000.0, 0, 20_000);
    counted(&mut slow, 20_000, 12_000);
    let trials = [
        trial("a", 900.0, 0, 9_000),
        trial("a", 2_000.0, 0, 20_000),
        trial("b", 900.0, 0, 9_000),
        slow,
    ];
    let board = Board::of(&run(), &trials);
    let peaks: Vec<_> = board.tables[0]
        .peaks
        .iter()
        .map(|peak| (peak.subject.as_str(), peak.throughput.value, peak.is_open, peak.is_doubtful))
        .collect();
    assert_eq!(peaks, [("a", 2_000.0, true, false), ("b", 1_200.0, false, false)]);
}
