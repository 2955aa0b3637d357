//! A run of which a trial is damaged in the store.

use super::*;
use crate::run::DamagedTrial;

/// The fixture's run without its trial 3, which is said to be damaged.
fn with_findings<T>(of: impl FnOnce(&Findings<'_>) -> T) -> T {
    let (run, mut trials) = (fixture::run(), fixture::trials());
    trials.retain(|trial| trial.key.number != 3);
    assert_eq!(trials.len(), 7);
    let says = "trial 3 (evil) is damaged, and in no figure: =torn".to_string();
    of(&Findings::of(&7, &run, &trials, vec![DamagedTrial { number: 3, says }]))
}

#[test]
fn a_damaged_trial_has_a_line_of_the_csv_without_figures() {
    let csv = with_findings(csv);
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 1 + 8);
    let cells = &lines[8];
    assert_eq!(cells[3], "3");
    assert_eq!(
        cells[12..15],
        ["damaged", "\"trial 3 (evil) is damaged", " and in no figure: =torn\""]
    );
    assert_eq!(cells[15], "invalid");
    // The text has a comma of its own.
    assert_eq!(cells.len(), lines[0].len() + 1);
    assert!(cells[16..].iter().all(|cell| cell.is_empty()), "{cells:?}");
}

#[test]
fn a_chart_that_stands_alone_says_which_trial_is_damaged() {
    let name = fixture::run().plan[0].workload.clone();
    let svg = with_findings(|found| crate::svg(found, &name, crate::Theme::Auto).unwrap());
    assert!(svg.contains(">trial 3 (evil) is damaged, and in no figure: =torn</text>"), "{svg}");
    let height = |svg: &str| -> f64 {
        svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    let sound = crate::svg(&Findings::usual(), &name, crate::Theme::Auto).unwrap();
    assert!(height(&sound) < height(&svg));
}

#[test]
fn a_finished_run_with_a_damaged_trial_is_not_to_be_resumed() {
    let text = with_findings(|found| full(found, 120, false));
    assert!(text.contains("trial 3 (evil) is damaged"), "{text}");
    assert!(!text.contains("not finished") && !text.contains("--resume"), "{text}");
    assert_eq!(with_findings(json)["run"]["trials_kept"], 8);
}
