//! docs/figures.md: what each printed figure is, its population, its time, its estimator, its interval, and its value in
//! edge cases. It is written from the table of figures.

use lab::figure::{Better, DISTRIBUTIONS, Figure, Fold, Kind, Unit};
use lab::probe::ProbeFold;

/// The text of docs/figures.md.
#[must_use]
pub fn figures_page() -> String {
    let mut page = String::from(HEAD);
    for (title, about, figures) in [
        ("Figures of requests", OF_REQUESTS, &Figure::OF_TRIALS[..]),
        ("Figures of held connections", OF_HELD, &Figure::OF_STEPS[..]),
    ] {
        page.push_str(&format!("\n## {title}\n\n{about}\n"));
        page.extend(figures.iter().map(|figure| entry(*figure)));
    }
    page.push_str(OF_PROBES);
    for (key, fold, name, unit, round) in &PROBE_FOLDS {
        let rounds = estimator(fold.rounds(*unit));
        page.push_str(&format!("| {key} | `{name}` | {round} | {rounds} |\n"));
    }
    page.push_str(&format!("\nEdges: {}\n", Kind::Reading.edges()));
    page.push_str(crate::price::PAGE);
    page.push_str(LOAD);
    for (name, population, time) in DISTRIBUTIONS {
        page.push_str(&format!("| `{name}` | {population} | {time} |\n"));
    }
    page.lines().map(filled).collect()
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

fn entry(figure: Figure) -> String {
    let better = match figure.better() {
        Better::Higher => "\n- better: more",
        Better::Lower => "\n- better: less",
        Better::Neither => "",
    };
    format!(
        "\n### `{}`\n\n*{}*, {}: {}.\n\n- of: {}\n- time: {}{better}\n- rounds: {}\n- edges: {}\n",
        figure.name(),
        figure.heading(),
        figure.unit().words(),
        figure.meaning(),
        figure.population(),
        figure.time(),
        estimator(figure.fold()),
        figure.kind().edges()
    )
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

const HEAD: &str = "# Figures

Every figure that dyno prints, and what it is. This page is written by a test from the table that all reports use
(`crates/lab/src/figure/table.rs`);
`UPDATE_EXPECT=1 cargo test -p dyno-analysis figures_page` writes it anew.

What holds for all:

- A **round** is a trial with a fresh process. A row's figure is the mean of its measured rounds: the value that is
  printed is what its interval is about. A ratio of two figures is the ratio of the two values.
- **95 % interval**: Student's t over the rounds. One round has none, and names no winner. It does not contain what
  differs from one run to the next.
- **Bounds** (`≥`): where requests were given up or left, the truth is no less. A bound in any round makes the value a
  bound. Its interval is open above: `[≥4.21s]` has its low end, which is that of the rounds as if each had ended where
  it was given up. A ratio of which one part is a bound is one itself where the true ratio can only be further from 1:
  `≥50× [≥18]`, or `≤0.02× [≤0.06]` where the first part is the bound; elsewhere there is none. Every format says so:
  with `≥`, in JSON as `is_bound`, in CSV in a column beside the figure, whose name ends in `_bound`.
- Rounds that are no measurement are in no figure. Rounds in doubt are included, and the figure is marked.
- Times are kept in histograms with three digits; a quantile is the least value that so many of the samples do not
  exceed.
- **Digits**: people are shown the digits that the interval supports, up to the second digit of half its width, and
  never more than three, apart from whole numbers; without an interval three, and whole numbers in full. CSV and JSON
  have all of them.
- **Units**: a time or a size has the unit that fits it, because one column may hold 80 µs and 8 s, and three digits in
  each are easier to read than 0.08 and 8,000; the unit stands at every value, and sorting goes by the true value. An
  interval is written in the unit of its value.
";

const OF_REQUESTS: &str = "A trial's, from `dyno run`: text, page, Markdown, CSV and JSON. `dyno load` prints the same of its one trial.";

const OF_HELD: &str = "Of each step of a ramp (`dyno run` of a `held` load; `dyno hold` prints the same of its one ramp). A step that was not reached has none.";

const OF_PROBES: &str = "
## Figures of a probe's readings

A probe's manifest declares its readings and how they are folded ([subjects.md](subjects.md#what-a-probe-declares));
nothing about any virtual machine is built into dyno. Each fold is a figure of each step of a ramp: a column of
tables, CSV and JSON. Its name begins as the manifest says (`NAME`) and ends in its unit. It is made of what the probe
in the server read in the step's measured part.

| fold | name | one round | rounds |
|---|---|---|---|
";

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

const LOAD: &str = "
## What `dyno load` prints

One trial, so no mean of rounds and no interval. *throughput* is `throughput_per_s`, *offered* `offered_per_s`, *on
time* `on_time_percent` as above. The times, each with p50, p90, p99, p99.9 and its longest, and with the edges of a
quantile:

| distribution | of | time |
|---|---|---|
";

#[cfg(test)]
mod tests;
