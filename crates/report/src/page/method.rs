//! How it was measured, by whom, on what machine, and how it is done once more.

use super::part::{grid, paragraph};
use crate::Findings;
use crate::markup::{data_link, escaped};

pub(super) fn fairness(findings: &Findings<'_>) -> String {
    let settings = &findings.fairness.settings;
    if settings.is_empty() {
        return String::new();
    }
    let mut rows = vec![
        ["setting", "the library's way", "changed by the entry", "whose"]
            .map(String::from)
            .to_vec(),
    ];
    for setting in settings {
        for variant in &setting.variants {
            let whose: Vec<&str> =
                variant.subjects.iter().map(|subject| findings.title(subject)).collect();
            rows.push(vec![
                setting.name.replace('_', " "),
                variant.default.clone().unwrap_or("not known".into()),
                variant.change.clone().unwrap_or("–".into()),
                whose.join(", "),
            ]);
        }
    }
    format!("<h2>What differs between them</h2>\n{}", grid(&rows, "text"))
}

pub(super) fn subjects(findings: &Findings<'_>) -> String {
    let head = ["subject", "version", "in", "processes", "tier", "backlog", "notes"];
    let mut rows = vec![head.map(String::from).to_vec()];
    for entry in &findings.run.entries {
        let seen = findings.fairness.observed.iter().find(|seen| seen.subject == entry.name);
        let backlogs =
            seen.map_or(Vec::new(), |seen| seen.backlogs.iter().map(ToString::to_string).collect());
        let notes = match &entry.skipped {
            Some(why) => format!("took no part: {why}"),
            None => entry.notes.clone(),
        };
        rows.push(vec![
            findings.title(&entry.name).to_string(),
            entry.version.clone(),
            entry.language.clone(),
            entry.processes.clone(),
            entry.tier.clone(),
            backlogs.join("/"),
            notes,
        ]);
    }
    format!("<h2>Who took part</h2>\n{}", grid(&rows, "text"))
}

pub(super) fn method(findings: &Findings<'_>) -> String {
    let run = findings.run;
    let texts = [
        "Every trial starts its server anew, asks whether its answers are right, presses it, and asks again. Trials are \
         shuffled by the seed.",
        "answered/s: correct answers inside the measured time. Response time counts from when a request was due, not from \
         when it was sent; what was given up counts at the time-out.",
        "95 % interval: by Student's t over the rounds of this run. What differs from one run, day or machine to the next \
         is not in it. With one round there is none.",
    ];
    let held = [
        "Held connections: a trial is a whole ramp. Connections are added in steps, and each plateau is measured once its connections \
         have been begun and have settled. At the end all are closed, and the server is watched while it gives back.",
        "A message's lateness counts from its beat. dyno's own share of it stands beside it (own p99), and never in its place.",
    ];
    let is_held = !findings.board.ramps.is_empty();
    let texts = texts.iter().chain(held.iter().filter(|_| is_held));
    let texts: String = texts.map(|says| paragraph("", says)).collect();
    let about: String = findings
        .history
        .about
        .iter()
        .map(|says| paragraph("dim", &format!("{}: {says}", findings.history.label)))
        .collect();
    let rounds: String = findings.words.rounds.iter().map(|says| paragraph("", says)).collect();
    let mut facts = vec![vec!["fact".to_string(), "as it was read".to_string()]];
    facts.extend(run.facts.iter().map(|fact| vec![fact.name.clone(), fact.value.clone()]));
    let quick = if run.is_quick { " --quick" } else { "" };
    format!(
        "<h2>How it was measured</h2>\n{texts}{rounds}{about}<h3>Once more</h3>\n<pre>dyno run {}{quick}</pre>\n\
         <p><a download=\"run-{}.csv\" href=\"{}\">Every trial as CSV</a></p>\n<h3>The machine</h3>\n{}",
        escaped(&run.name),
        escaped(findings.id),
        escaped(&data_link("text/csv", &findings.words.csv)),
        grid(&facts, "text")
    )
}
