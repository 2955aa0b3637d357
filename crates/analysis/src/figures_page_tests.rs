//! docs/figures.md: what each printed figure is, its population, its time, its estimator, its interval, and its value in
//! edge cases. That is written from the table of figures; the prose around it is the page's own.

use expect_test::expect_file;
use lab::figure::{Better, DISTRIBUTIONS, Figure, Fold, Kind, Unit};
use lab::probe::ProbeFold;

const PAGE: &str = include_str!("../../../docs/figures.md");

#[test]
fn the_page_is_the_table() {
    let entries = |figures: &[Figure]| figures.iter().map(|it| entry(*it)).collect::<String>();
    let page = with_part(PAGE, "\n## Figures of requests\n", &entries(&Figure::OF_TRIALS));
    let page = with_part(&page, "\n## Figures of held connections\n", &entries(&Figure::OF_STEPS));
    let fold = |(key, fold, name, unit, round): &(_, ProbeFold, _, Unit, _)| {
        format!("| {key} | `{name}` | {round} | {} |\n", estimator(fold.rounds(*unit)))
    };
    let folds: String = PROBE_FOLDS.iter().map(fold).collect();
    let page = with_rows(&page, "\n| fold | name | one round | rounds |\n", &folds);
    let times = DISTRIBUTIONS.map(|(name, of, time)| format!("| `{name}` | {of} | {time} |\n"));
    let page = with_rows(&page, "\n| distribution | of | time |\n", &times.concat());
    expect_file!["../../../docs/figures.md"].assert_eq(&page);
    let edges = filled(&format!("Edges: {}", Kind::Reading.edges()));
    assert!(page.contains(&edges), "{edges}");
}

/// The page with other figures in the part with this heading.
fn with_part(page: &str, heading: &str, figures: &str) -> String {
    let start = page.find(heading).expect("the page has the heading");
    let from = start + page[start..].find("\n### ").expect("it has figures");
    let until = from + page[from..].find("\n## ").expect("another part follows");
    format!("{}{figures}{}", &page[..from], &page[until..])
}

/// The page with other rows in the table with this head.
fn with_rows(page: &str, head: &str, rows: &str) -> String {
    let start = page.find(head).expect("the page has the table") + head.len();
    let from = start + page[start..].find('\n').expect("a rule is below its head") + 1;
    let until = page[from..].find("\n\n").map_or(page.len(), |end| from + end + 1);
    format!("{}{rows}{}", &page[..from], &page[until..])
}

#[test]
fn prose_is_wrapped_and_tables_are_not() {
    let is_long = |line: &&str| 120 < line.chars().count() && !line.starts_with('|');
    assert_eq!(PAGE.lines().find(is_long), None);
    assert_eq!(filled(&"- ab".repeat(2)), "- ab- ab\n");
    let word = "x".repeat(59);
    assert_eq!(filled(&format!("- {word} {word}")), format!("- {word}\n  {word}\n"));
    assert_eq!(filled(&format!("{word}y {word}")), format!("{word}y {word}\n"));
}

#[test]
fn every_distribution_that_load_prints_is_in_its_schema() {
    let schema = include_str!("../../../docs/load.schema.json");
    for (name, ..) in DISTRIBUTIONS {
        assert!(schema.contains(&format!("\"{name}\": {{")), "{name}");
    }
}

fn entry(figure: Figure) -> String {
    let better = match figure.better() {
        Better::Higher => "\n- better: more",
        Better::Lower => "\n- better: less",
        Better::Neither => "",
    };
    let text = format!(
        "\n### `{}`\n\n*{}*, {}: {}.\n\n- of: {}\n- time: {}{better}\n- rounds: {}\n- edges: {}\n",
        figure.name(),
        figure.heading(),
        figure.unit().meaning(),
        figure.meaning(),
        figure.population(),
        figure.time(),
        estimator(figure.fold()),
        figure.kind().edges()
    );
    text.lines().map(filled).collect()
}

/// Prose in lines of at most 120 columns; the rows of a table stay whole.
fn filled(line: &str) -> String {
    const WIDTH: usize = 120;
    let indent = if line.starts_with("- ") { "  " } else { "" };
    let (mut text, mut room) = (String::new(), WIDTH);
    for (place, word) in line.split(' ').enumerate() {
        let length = word.chars().count() + 1;
        if place == 0 {
            room += 1;
        } else if length <= room || line.starts_with('|') {
            text.push(' ');
        } else {
            text = text + "\n" + indent;
            room = WIDTH + 1 - indent.len();
        }
        text.push_str(word);
        room = room.saturating_sub(length);
    }
    text + "\n"
}

/// How the rounds become one number, and its interval.
fn estimator(fold: Fold) -> &'static str {
    match fold {
        Fold::Factors => {
            "geometric mean of the rounds; interval by Student's t on logarithms. A round of 0: arithmetic mean and interval, not below 0"
        }
        Fold::Amounts => "arithmetic mean of the rounds; interval by Student's t, not below 0",
        Fold::Shares => "arithmetic mean of the rounds; interval by Student's t, within 0–100 %",
        Fold::Differences => "arithmetic mean of the rounds; interval by Student's t",
        Fold::Least => "the least of all rounds; no interval",
        Fold::Greatest => "the greatest of all rounds; no interval",
    }
}

/// The fold of a probe's reading, what it is there, the name of the figure, its unit, and what it is in one round.
#[rustfmt::skip]
const PROBE_FOLDS: [(&str, ProbeFold, &str, Unit, &str); 10] = [
    ("mean", ProbeFold::Mean, "NAME_mean_bytes", Unit::Bytes, "the mean of the readings"),
    ("mean", ProbeFold::Mean, "NAME_mean_percent", Unit::Percent, "the same, of a ratio"),
    ("mean", ProbeFold::Mean, "NAME_mean", Unit::Count, "the same, of a count"),
    ("mean", ProbeFold::Mean, "NAME_mean_ms", Unit::Milliseconds, "the same, of nanoseconds"),
    ("mean", ProbeFold::Mean, "NAME_mean_per_s", Unit::PerSecond, "the same, of hertz"),
    ("max", ProbeFold::Max, "NAME_max_bytes", Unit::Bytes, "the greatest reading; in other units as the mean"),
    ("growth", ProbeFold::Growth, "NAME_kib_per_s", Unit::KibPerSecond, "bytes by which it grew each second, in units of 1,024"),
    ("growth", ProbeFold::Growth, "NAME_per_s", Unit::PerSecond, "how much it grew each second, of a count"),
    ("growth", ProbeFold::Growth, "NAME_percent", Unit::Percent, "nanoseconds by which it grew, of the time; 100 % is one CPU"),
    ("mean, with `per`", ProbeFold::Per(String::new()), "NAME_bytes_per_ONE", Unit::Bytes, "the mean, divided by the mean of another reading"),
];
