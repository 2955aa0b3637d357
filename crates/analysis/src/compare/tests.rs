use super::*;
use crate::difference::Change;
use crate::fixture::{at, late};
use lab::record::{RunRecord, TrialRecord};

fn trial(subject: &str, repeat: u32, correct: u64) -> TrialRecord {
    let mut trial = at(subject, Point::Requests(2_000.0), repeat);
    late(&mut trial, 20_000.max(correct), correct);
    trial
}

fn board(of: &[(&str, [u64; 3])]) -> Board {
    let trials = of.iter().flat_map(|(subject, counts)| {
        counts.iter().zip(0..).map(|(count, repeat)| trial(subject, repeat, *count))
    });
    let trials: Vec<TrialRecord> = trials.collect();
    let run = RunRecord {
        plan: trials.iter().map(|trial| trial.key.clone()).collect(),
        ..crate::fixture::run(&of.iter().map(|(name, _)| (*name, "")).collect::<Vec<_>>())
    };
    Board::of(&run, &trials)
}

const FAST: [u64; 3] = [20_000, 20_100, 19_900];
const SLOW: [u64; 3] = [10_000, 10_100, 9_900];

#[test]
fn rows_find_their_partners_and_the_others_are_said() {
    let (one, other) = (board(&[("a", FAST), ("b", FAST)]), board(&[("c", FAST), ("a", SLOW)]));
    let versus = Versus::of(&one, &other, Sides::Runs, Gate::default());
    assert_eq!(versus.pairs.len(), 1);
    let names = |place: usize| -> Vec<&str> {
        versus.alone[place].iter().map(|(_, row)| row.subject.as_str()).collect()
    };
    assert_eq!((names(0), names(1)), (vec!["b"], vec!["c"]));
    let (figure, throughput) = versus.pairs[0].figures[0];
    assert_eq!((figure, throughput.unwrap().finding()), (Figure::OnTime, Change::Worse));
    // Neither CPU nor memory was read in these trials.
    assert_eq!(versus.made().count(), 3);
    let versus = Versus::of(&one, &one, Sides::OfOneRun(["a", "b"]), Gate::default());
    assert_eq!((versus.pairs.len(), &versus.alone), (1, &[vec![], vec![]]));
    assert_eq!(versus.pairs[0].figures[0].1, Err(Why::KeptUp));
}

#[test]
fn ties_are_ties() {
    let near = [20_050, 19_950, 20_020];
    let board = board(&[("slow", SLOW), ("a", FAST), ("b", near)]);
    let rows: Vec<&Row> = board.tables[0].rows.iter().collect();
    let groups = |figure| -> Vec<Vec<&str>> {
        let groups = ranks(&rows, figure, 1.0).into_iter();
        groups.map(|group| group.iter().map(|row| row.subject.as_str()).collect()).collect()
    };
    assert_eq!(groups(Figure::Throughput), [vec!["b", "a"], vec!["slow"]]);
    assert_eq!(groups(Figure::ResponseP50), [vec!["slow", "a", "b"]]);
    assert_eq!(groups(Figure::RssPeak), Vec::<Vec<&str>>::new());
}
