use std::collections::BTreeSet;

use expect_test::expect_file;

use super::super::all;
use super::*;

/// The page with another table below this heading.
fn with_table(page: &str, heading: &str, table: &str) -> String {
    let start = page.find(heading).expect("the page has the heading");
    let from = start + page[start..].find("\n|").expect("a table follows") + 1;
    let until = from + page[from..].find("\n\n").expect("and ends") + 1;
    format!("{}{table}{}", &page[..from], &page[until..])
}

#[test]
fn the_page_is_that_of_the_definitions() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/validity.md");
    let page = std::fs::read_to_string(path).unwrap();
    let page = with_table(&page, "\n## Doubts\n", &doubts_table());
    let page = with_table(&page, "\n## Remarks about a table\n", &crate::remarks_table());
    let page = with_table(&page, "\n## Doubts of a profile\n", &crate::why::profile_doubts_table());
    expect_file!["../../../../../docs/validity.md"].assert_eq(&page);
}

#[test]
fn every_doubt_has_a_name_of_its_own_a_reason_and_a_way_out() {
    let mut ids = BTreeSet::new();
    for doubt in all() {
        let id = doubt.id;
        assert!(ids.insert(id), "`{id}` is the name of two doubts");
        let is_plain = |letter: char| letter.is_ascii_lowercase() || "_0123456789".contains(letter);
        assert!(id.chars().all(is_plain), "{id}");
        assert!(!doubt.when.is_empty() && !doubt.because.is_empty(), "{id}");
        assert_eq!(doubt.when.matches("{}").count(), doubt.thresholds.len(), "{id}");
        assert!(!doubt.way_out.usual.is_empty(), "{id} has no way out and no reason for it");
    }
    assert!(60 <= ids.len(), "{}", ids.len());
}

#[test]
fn the_ways_out_of_a_load_over_tls_and_http2_name_its_flags() {
    let secured = super::super::security::ALL.iter().chain(super::super::http2::ALL);
    let with_flags: Vec<&Definition> =
        secured.filter(|doubt| doubt.way_out.by_flags.is_some()).collect();
    assert!(8 <= with_flags.len(), "{}", with_flags.len());
    for doubt in with_flags {
        let found = doubt.found("");
        let (by_flags, usual) = (found.way_out(By::Flags), found.way_out(By::Experiment));
        assert_ne!(by_flags, usual, "{}", doubt.id);
        let has_flag = by_flags.split([' ', '(']).any(|word| word.starts_with('-'));
        assert!(has_flag || doubt.id == "churn", "{}: {by_flags}", doubt.id);
    }
}

/// Only a single load raises these, and its ways out are flags.
const OF_A_LOAD: [&str; 3] = ["gave_up", "failures", "blocked"];

#[test]
fn no_way_out_of_an_experiment_is_a_flag_of_a_load() {
    for doubt in all() {
        let text = doubt.way_out.usual;
        let has_flag = text.split([' ', '(']).any(|word| word.starts_with('-'));
        let is_flag = has_flag && !text.contains("(curl -v)");
        assert!(!is_flag || OF_A_LOAD.contains(&doubt.id), "{}: {text}", doubt.id);
    }
}

#[test]
fn a_doubt_is_graver_only_above_its_bound() {
    let churn = super::super::http2::CHURN;
    let gravity = |refused| churn.found_in(refused, 1_000.0, "").gravity();
    assert_eq!((gravity(10.0), gravity(10.1)), (Gravity::Note, Gravity::Suspect));
}

#[test]
fn thresholds_are_written_with_no_more_digits_than_they_have() {
    let shares = [0.01, 0.001, 0.07].map(|share| Threshold::Share(share).words());
    assert_eq!(shares, ["1 %", "0.1 %", "7 %"]);
    let times = [5e6, 5e4].map(|ns| Threshold::Time(ns).words());
    assert_eq!(times, ["5 ms", "50 µs"]);
    assert_eq!(Threshold::AnyOf(&[1, 3, 7]).words(), "1, 3 or 7");
}
