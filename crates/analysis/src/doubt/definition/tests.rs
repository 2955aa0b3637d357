use std::collections::BTreeSet;
use std::fmt::Write as _;

use expect_test::expect_file;

use super::*;

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/validity.md");
    std::fs::read_to_string(path).unwrap()
}

/// The page with another table below this heading.
fn with_table(page: &str, heading: &str, table: &str) -> String {
    let start = page.find(heading).expect("the page has the heading");
    let from = start + page[start..].find("\n|").expect("a table follows") + 1;
    let until = from + page[from..].find("\n\n").expect("and ends") + 1;
    format!("{}{table}{}", &page[..from], &page[until..])
}

#[test]
fn the_page_is_that_of_the_definitions() {
    let page = with_table(&page(), "\n## Doubts\n", &doubts_table());
    expect_file!["../../../../../docs/validity.md"].assert_eq(&page);
}

#[test]
fn every_doubt_has_a_name_of_its_own_a_sentence_and_a_way_out() {
    let (all, page) = (Doubt::examples(), page());
    let (mut ids, mut sentences) = (BTreeSet::new(), BTreeSet::new());
    for doubts in all.chunk_by(|one, other| one.id() == other.id()) {
        let id = doubts[0].id();
        assert!(ids.insert(id), "`{id}` is the name of two doubts");
        assert!(
            id.chars().all(|letter| letter.is_ascii_lowercase() || "_0123456789".contains(letter))
        );
        let [when, because] = doubts[0].when_and_why();
        let row = format!("| `{id}` | {} | {when} | {because} |\n", doubts[0].weight().words());
        assert!(page.contains(&row), "docs/validity.md lacks {row}");
        for doubt in doubts {
            let (says, words) = (doubt.says(), doubt.weight().words());
            assert!(!says.is_empty() && !says.ends_with('.'), "{id}: {says}");
            assert!(words.contains(doubt.gravity().name()), "{id}: {words}");
            for by in [By::Experiment, By::Flags] {
                assert!(!doubt.way_out(by).is_empty(), "{id} has no way out and no reason for it");
            }
            sentences.insert(says);
        }
    }
    assert!(60 <= ids.len() && ids.len() < sentences.len(), "{}", ids.len());
}

/// Only a single load raises these, and its ways out are flags.
const OF_A_LOAD: [&str; 3] = ["gave_up", "failures", "blocked"];

#[test]
fn no_way_out_of_an_experiment_is_a_flag_of_a_load() {
    for doubt in Doubt::examples() {
        let says = doubt.way_out(By::Experiment);
        let has_flag = says.split([' ', '(']).any(|word| word.starts_with('-'));
        let is_flag = has_flag && !says.contains("(curl -v)");
        assert!(!is_flag || OF_A_LOAD.contains(&doubt.id()), "{}: {says}", doubt.id());
    }
}

#[test]
fn every_doubt_says_its_figures_and_the_ways_out() {
    let mut text = String::new();
    for doubt in Doubt::examples() {
        let ways_out = doubt.ways_out();
        writeln!(text, "{} ({}): {}", doubt.id(), doubt.gravity().name(), doubt.says()).unwrap();
        if ways_out.flags == ways_out.experiment {
            writeln!(text, "    {}", ways_out.flags).unwrap();
        } else {
            writeln!(text, "    by flags: {}", ways_out.flags).unwrap();
            writeln!(text, "    in an experiment: {}", ways_out.experiment).unwrap();
        }
    }
    expect_file!["sentences.txt"].assert_eq(&text);
}

#[test]
fn a_doubt_is_graver_only_above_its_bound() {
    let of = |part| {
        Weight::ByShare {
            usual: Gravity::Note,
            graver: Gravity::Suspect,
            part,
            whole: 1_000.0,
            bound: 0.01,
            of: "them",
        }
        .gravity()
    };
    assert_eq!((of(10.0), of(10.1)), (Gravity::Note, Gravity::Suspect));
}

#[test]
fn thresholds_are_written_with_no_more_digits_than_they_have() {
    let all = [in_percent(0.01), in_percent(0.001), in_percent(0.07), duration(5e6), duration(5e4)];
    assert_eq!(all, ["1 %", "0.1 %", "7 %", "5 ms", "50 µs"]);
}
