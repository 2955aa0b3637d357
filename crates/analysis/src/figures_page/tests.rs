use super::*;
use expect_test::expect_file;

#[test]
fn the_page_is_the_table() {
    expect_file!["../../../../docs/figures.md"].assert_eq(&figures_page());
}

#[test]
fn prose_is_wrapped_and_tables_are_not() {
    let page = figures_page();
    let is_long = |line: &&str| 120 < line.chars().count() && !line.starts_with('|');
    assert_eq!(page.lines().find(is_long), None);
    assert_eq!(filled(&"- ab".repeat(2)), "- ab- ab\n");
    let word = "x".repeat(59);
    assert_eq!(filled(&format!("- {word} {word}")), format!("- {word}\n  {word}\n"));
    assert_eq!(filled(&format!("{word}y {word}")), format!("{word}y {word}\n"));
}

#[test]
fn every_distribution_that_load_prints_is_in_its_schema() {
    let schema = include_str!("../../../../docs/load.schema.json");
    for (name, ..) in DISTRIBUTIONS {
        assert!(schema.contains(&format!("\"{name}\": {{")), "{name}");
    }
}
