//! A run as Markdown, for a README: the sentences, and a table for each workload. What others wrote is shown, never obeyed.

use analysis::{Row, Table, Verdict};
use lab::figure::Figure;

use super::results::{beside_name, mark};
use super::{Told, conformance, heading, held, picture, words};
use crate::report::paint::Line;
use crate::report::time::utc;

/// The figures of the table, as the page has them.
const FIGURES: [Figure; 10] = [
    Figure::Achieved,
    Figure::ResponseP50,
    Figure::ResponseP90,
    Figure::ResponseP99,
    Figure::ResponseP999,
    Figure::ResponseMax,
    Figure::ResponseSd,
    Figure::FailedShare,
    Figure::CpuPerThousand,
    Figure::RssPeak,
];

/// The whole text, with a line end.
pub(super) fn of(told: &Told<'_>) -> String {
    let mut blocks = introduction(told);
    blocks.extend(of_held(told));
    for table in told.board.tables.iter().filter(|table| !table.is_held()) {
        blocks.push(title(told, table));
        let best = best(table);
        match table.is_curve() {
            true => {
                blocks.push("Each at the load at which it answered most:".into());
                blocks.push(grid(told, table, &best));
                let all: Vec<&Row> = table.rows.iter().collect();
                let all = grid(told, table, &all);
                blocks.push(format!("<details><summary>Every load</summary>\n\n{all}\n</details>"));
            }
            false => blocks.push(grid(told, table, &best)),
        }
    }
    if told.board.tables.iter().any(|table| !table.is_held()) {
        blocks.push(legend(told));
    }
    blocks.push(conditions(told));
    blocks.iter().map(|block| format!("{}\n", block.trim_end())).collect::<Vec<_>>().join("\n")
}

fn introduction(told: &Told<'_>) -> Vec<String> {
    let run = told.run;
    let question = told.experiment.as_ref().map_or(&run.name, |experiment| &experiment.question);
    let whose = format!("{}, run {}, {}", run.name, told.id, utc(run.began_unix_ms));
    let mut blocks = vec![format!("**{}** ({})", shown(question), shown(&whose))];
    let warnings = heading::warnings(told).into_iter();
    blocks.extend(warnings.map(|says| format!("> **Beware:** {}", shown(&says))));
    blocks.extend(picture::sentences(told).iter().map(|says| shown(says)));
    blocks
}

/// The price list of held connections, and everybody's way up.
fn of_held(told: &Told<'_>) -> Vec<String> {
    if told.board.ramps.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![
        "What a held connection costs:".into(),
        drawn(&held::markdown::prices(told)),
        shown(&held::markdown::legend(told)),
    ];
    for ramps in &told.board.ramps {
        let title =
            told.workload_title(&ramps.workload).map_or(String::new(), |it| format!(": {it}"));
        let says = shown(&format!("{}{title}", ramps.workload));
        let plateaus = drawn(&held::markdown::plateaus(told, ramps));
        blocks.push(format!(
            "<details><summary>Every plateau</summary>\n\n{says}\n\n{plateaus}\n</details>"
        ));
    }
    blocks
}

/// A grid of texts, escaped.
fn drawn(grid: &held::markdown::Grid) -> String {
    let rule = (0..grid.head.len()).map(|at| if at < grid.names { "---" } else { "--:" });
    let mut lines = vec![line(&grid.head), rule.collect::<Vec<_>>().join(" | ")];
    lines.extend(grid.rows.iter().map(|row| line(row)));
    lines.iter().map(|line| format!("| {line} |\n")).collect()
}

fn title(told: &Told<'_>, table: &Table) -> String {
    let says = told.workload_title(&table.workload).unwrap_or_default();
    let place = match table.rows.first() {
        Some(row) if !table.is_curve() => format!(", at {}", row.point),
        Some(_) | None => String::new(),
    };
    let colon = if says.is_empty() { "" } else { ": " };
    format!("**{}**{}", shown(&table.workload), shown(&format!("{colon}{says}{place}")))
}

/// Every server once, best first; references last.
fn best(table: &Table) -> Vec<&Row> {
    let competitors = table.bests().into_iter().map(|placed| placed.row);
    let references = table.rows.iter().filter(|row| row.is_reference);
    let at_peak = |row: &&Row| {
        let peak = table.peaks.iter().find(|peak| peak.subject == row.subject);
        peak.is_none_or(|peak| peak.point == row.point)
    };
    competitors.chain(references.filter(at_peak)).collect()
}

/// One table. Its cells are escaped here, and nowhere else.
fn grid(told: &Told<'_>, table: &Table, rows: &[&Row]) -> String {
    let is_there = |figure: &Figure| table.rows.iter().any(|row| row.estimate(*figure).is_some());
    let figures: Vec<Figure> = FIGURES.into_iter().filter(is_there).collect();
    let mut head: Vec<String> = ["subject", "version", "processes"].map(String::from).to_vec();
    let names = head.len();
    if table.is_curve() {
        head.push(table.rows.first().map_or(String::new(), |row| row.point.unit().into()));
    }
    for figure in &figures {
        head.push(figure.heading().into());
        if *figure == Figure::Achieved {
            head.push("conformance".into());
            head.push("95 %".into());
        }
    }
    head.extend(["rounds", "verdict"].map(String::from));
    let rule = (0..head.len()).map(|at| if at < names { "---".into() } else { "--:".to_string() });
    let mut lines = vec![line(&head), rule.collect::<Vec<_>>().join(" | ")];
    lines.extend(rows.iter().map(|row| line(&cells(told, table, row, &figures))));
    lines.iter().map(|line| format!("| {line} |\n")).collect()
}

fn line(cells: &[String]) -> String {
    cells.iter().map(|cell| shown(cell)).collect::<Vec<_>>().join(" | ")
}

fn cells(told: &Told<'_>, table: &Table, row: &Row, figures: &[Figure]) -> Vec<String> {
    let entry = told.run.entries.iter().find(|entry| entry.name == row.subject);
    let mut cells = vec![
        format!("{}{}", told.title(&row.subject), beside_name(row)),
        entry.map_or(String::new(), |entry| entry.version.clone()),
        entry.map_or(String::new(), |entry| entry.processes.clone()),
    ];
    if table.is_curve() {
        cells.push(words::place(row.point));
    }
    for &figure in figures {
        cells.push(number(row, figure));
        if figure == Figure::Achieved {
            cells.push(conformance::short(told, &row.subject));
            cells.push(interval(row, figure));
        }
    }
    cells.push(rounds(row));
    cells.push(row.verdict().map_or("–", Verdict::name).into());
    cells
}

/// A figure with its marks.
fn number(row: &Row, figure: Figure) -> String {
    let Some(estimate) = row.estimate(figure) else { return "–".into() };
    let mut text = words::estimate(figure, &estimate);
    if !estimate.is_supported && !estimate.is_censored {
        text.push('*');
    }
    if figure == Figure::Achieved && row.has_crashed {
        text.push_str(conformance::CRASHED);
    }
    if figure == Figure::Achieved && row.is_behind() {
        text.push('↓');
    }
    if figure == Figure::Achieved {
        text.push_str(mark(row));
    }
    text
}

/// `981–1,002`; of one round there is none.
fn interval(row: &Row, figure: Figure) -> String {
    let interval = row.estimate(figure).and_then(|estimate| estimate.shown().interval);
    let shown = |value| words::number(figure, value);
    interval.map_or("–".into(), |(low, high)| format!("{}–{}", shown(low), shown(high)))
}

/// `3`, or `1 of 2, 1 × died`.
fn rounds(row: &Row) -> String {
    let ends = row.unmeasured().into_iter();
    let ends = ends.map(|(kind, times)| format!(", {times} × {}", words::outcome(kind)));
    match row.measured() == row.planned {
        true => row.planned.to_string(),
        false => format!("{} of {}{}", row.measured(), row.planned, ends.collect::<String>()),
    }
}

/// What the columns and marks mean.
fn legend(told: &Told<'_>) -> String {
    let rows = || told.board.tables.iter().flat_map(|table| &table.rows);
    let estimates =
        || rows().flat_map(|row| FIGURES.into_iter().filter_map(|figure| row.estimate(figure)));
    let mut parts = vec![
        "achieved/s: correct answers a second; figures are over the measured rounds",
        "95 %: by Student's t over the rounds of this run",
        "times: response time from when a request was due",
    ];
    let marks = [
        (rows().any(|row| mark(row) == "?"), "?: suspect, some of it may not be what it seems"),
        (rows().any(|row| mark(row) == "!"), "!: invalid, it does not answer the question"),
        (
            rows().any(|row| row.is_reference),
            "reference: it does nothing but answer, and shows what this machine and dyno come to",
        ),
        (
            rows().any(Row::is_behind),
            "↓: it did not keep up with what was offered, or the trial was too short to tell",
        ),
        (
            estimates().any(|found| found.is_censored),
            "≥: requests were given up at the time-out, the truth is no less",
        ),
        (
            estimates().any(|found| !found.is_supported && !found.is_censored),
            "*: fewer than 10 samples lie beyond",
        ),
    ];
    parts.extend(marks.into_iter().filter_map(|(is_there, says)| is_there.then_some(says)));
    let more = conformance::legend(told).into_iter().chain(conformance::unmet(told));
    let parts = parts.into_iter().map(String::from).chain(more);
    shown(&parts.collect::<Vec<_>>().join(" · "))
}

/// How and where it was measured, and how that is done again.
fn conditions(told: &Told<'_>) -> String {
    let load = told.experiment.as_ref().map(words::load).unwrap_or_default();
    let quick = if told.run.is_quick { " --quick" } else { "" };
    let again = format!("once more: dyno run {}{quick}", told.run.name);
    shown(&[load, heading::machine(told.run, told.trials), again].join(" · "))
}

/// A text as Markdown shows it: no character of it makes a table, a link, an image, HTML or a formula.
fn shown(text: &str) -> String {
    const ACTS: &str = "\\`*_[]<>|~$#!{}&@^";
    let text = Line::plain(text.replace(['\n', '\r', '\t'], " ")).shown(false);
    let mut safe = String::with_capacity(text.len());
    for character in text.trim().chars() {
        if ACTS.contains(character) {
            safe.push('\\');
        }
        safe.push(character);
    }
    // A bare address would become a link to wherever its author likes.
    safe.replace("://", "\\://").replace("www.", "www\\.").replace("WWW.", "WWW\\.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::fixture;
    use expect_test::expect;
    use lab::record::{RunRecord, TrialRecord};

    fn markdown(change: impl FnOnce(&mut RunRecord, &mut Vec<TrialRecord>)) -> String {
        let (mut run, mut trials) = (fixture::run(), fixture::trials());
        change(&mut run, &mut trials);
        of(&Told::of(&7, &run, &trials, Vec::new(), None))
    }

    #[test]
    fn a_curve_has_each_at_its_best_and_then_every_load() {
        expect![[r#"
            **Which of two answers, and how fast?** (two, run 7, 2026-11-21 13:28 UTC)

            Under the promise (p99 ≤ 100ms, at most 1.0% failed, at least 99.0% on time): Quick holds every rate up to 200 sessions/s; Evil ␛\[31m (in doubt) holds no rate that was tried; the lowest is 100 sessions/s (a round failed).

            The intervals show how much the rounds differ; another day or machine may differ more. Some trials failed or have not been run; they are listed, and are in no average. Some figures are in doubt; they are marked.

            **echo-xml**: Echo a value

            Each at the load at which it answered most:

            | subject | version | processes | sessions/s | achieved/s | conformance | 95 % | p50 | p90 | p99 | p99.9 | max | sd | failed | CPU/1k | memory | rounds | verdict |
            | --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
            | Quick | 1.2 | one | 200 | 2,002 | not checked | 1,977–2,028 | 1.05ms | 1.05ms | 1.05ms | 1.05ms | 1.10ms | 0ns | 0% | 250ms | 4.20MB | 2 | valid |
            | Evil ␛\[31m | =cmd\|' /C calc'\!A0\*\*\* | one | 100 | 1,000? | not checked | – | 1.00ms | 1.00ms | 1.00ms | 1.00ms | 1.00ms | 0ns | 0% | 500ms | 4.20MB | 1 of 2, 1 × died | suspect |

            <details><summary>Every load</summary>

            | subject | version | processes | sessions/s | achieved/s | conformance | 95 % | p50 | p90 | p99 | p99.9 | max | sd | failed | CPU/1k | memory | rounds | verdict |
            | --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
            | Quick | 1.2 | one | 100 | 1,002 | not checked | 977–1,028 | 1.05ms | 1.05ms | 1.05ms | 1.05ms | 1.10ms | 0ns | 0% | 499ms | 4.20MB | 2 | valid |
            | Quick | 1.2 | one | 200 | 2,002 | not checked | 1,977–2,028 | 1.05ms | 1.05ms | 1.05ms | 1.05ms | 1.10ms | 0ns | 0% | 250ms | 4.20MB | 2 | valid |
            | Evil ␛\[31m | =cmd\|' /C calc'\!A0\*\*\* | one | 100 | 1,000? | not checked | – | 1.00ms | 1.00ms | 1.00ms | 1.00ms | 1.00ms | 0ns | 0% | 500ms | 4.20MB | 1 of 2, 1 × died | suspect |
            | Evil ␛\[31m | =cmd\|' /C calc'\!A0\*\*\* | one | 200 | 1,170↓? | not checked | 900–1,540 | 180ms | 180ms | ≥949ms | ≥949ms | ≥5.00s | 400ms | 2.0% | 430ms | 4.20MB | 2 | suspect |

            </details>

            achieved/s: correct answers a second; figures are over the measured rounds · 95 %: by Student's t over the rounds of this run · times: response time from when a request was due · ?: suspect, some of it may not be what it seems · ↓: it did not keep up with what was offered, or the trial was too short to tell · ≥: requests were given up at the time-out, the truth is no less · conformance: cases of the RFCs passed, of those that apply · obligations broken · failures that an attacker could use; never part of a speed

            sessions: 100, 200 sessions/s, 10 calls each; 1,000 sessions a trial, no warm-up, time-out 5 s; 2 rounds · A CPU · Linux 6.18 · subject on CPU 0 · memory: 1.5 GiB by cgroup v1 · dyno 0.1.0 · seed 7 · once more: dyno run two
        "#]].assert_eq(&markdown(|_, _| {}));
    }

    #[test]
    fn one_place_is_one_table() {
        let text = markdown(|run, trials| {
            run.plan.retain(|key| key.point.value() < 150.0);
            trials.retain(|trial| trial.key.point.value() < 150.0);
        });
        assert_eq!(text.matches("| subject |").count(), 1);
        assert!(!text.contains("<details>") && text.contains(", at 100 sessions/s"), "{text}");
    }

    #[test]
    fn a_run_without_a_trial_has_a_table_without_numbers() {
        let text = markdown(|_, trials| trials.clear());
        assert!(text.contains("0 of 8 trials") && text.contains("| 0 of 2 |"), "{text}");
        let text = markdown(|run, trials| {
            run.plan.clear();
            trials.clear();
        });
        assert!(!text.contains("| subject"), "{text}");
    }

    #[test]
    fn nothing_that_others_wrote_acts() {
        const HOSTILE: &str = "<script>x</script>|`[a](javascript:x)![i](//e) **b** &lt; $x$ @all #1 https://e www.e \n# h\n\n---\u{1b}[2J\u{202e}";
        let text = markdown(|run, _| {
            for entry in &mut run.entries {
                entry.title = HOSTILE.into();
                entry.version = HOSTILE.into();
                entry.processes = HOSTILE.into();
            }
            run.facts[0].value = HOSTILE.into();
        });
        let plain = markdown(|_, _| {});
        assert_eq!(text.lines().count(), plain.lines().count(), "it made lines of its own");
        let bars = |text: &str| -> Vec<usize> {
            let unescaped = text.replace("\\|", "");
            unescaped.lines().map(|line| line.matches('|').count()).collect()
        };
        assert_eq!(bars(&text), bars(&plain), "it made cells of its own");
        for odd in ["\u{1b}", "\u{202e}", "https:/", "www."] {
            assert!(!text.contains(odd), "{odd}: {text}");
        }
        let shown = shown(HOSTILE);
        for character in "`*_[]<>|$#!&@".chars() {
            let bare = shown.match_indices(character).find(|(at, _)| !shown[..*at].ends_with('\\'));
            assert_eq!(bare, None, "{shown}");
        }
    }
}
