//! One self-contained HTML file: no network, no script.

use analysis::{Row, Table};
use lab::figure::Figure;

use crate::Findings;
use crate::chart::{Room, STYLE};
use crate::markup::{data_link, escaped};
use crate::sentence;
use crate::signature::{cost, drawn};

const PAGE_STYLE: &str = include_str!("page.css");

/// What a browser may do with the page: show it.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// The table's columns.
const COLUMNS: [Figure; 11] = [
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
    Figure::PssPeak,
];

/// The whole page.
#[must_use]
pub fn page(findings: &Findings<'_>) -> String {
    let title = escaped(&format!("{} · run {} · dyno", findings.run.name, findings.id));
    let tables = findings.board.tables.iter().enumerate();
    let workloads: String = tables.map(|(place, table)| workload(findings, table, place)).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}{PAGE_STYLE}</style>\n</head>\n<body>\n<main>\n{}{workloads}{}{}{}{}</main>\n</body>\n</html>\n",
        heading(findings),
        troubles(findings),
        fairness(findings),
        subjects(findings),
        method(findings),
    )
}

fn heading(findings: &Findings<'_>) -> String {
    let words = &findings.words;
    let question = findings.experiment.map_or(findings.run.name.as_str(), |found| &found.question);
    let eyebrow = format!("{} · run {} · {}", findings.run.name, findings.id, words.began);
    let article = findings.experiment.and_then(|found| found.article.as_ref());
    let after =
        article.map_or(String::new(), |article| paragraph("dim", &format!("After: {article}")));
    let warnings: String = words.warnings.iter().map(|says| paragraph("warn", says)).collect();
    let answers: String =
        sentence::all(findings).iter().map(|says| paragraph("lede", says)).collect();
    let conditions = format!("{} · {}", words.load, words.machine);
    format!(
        "{}<h1>{}</h1>\n{after}{warnings}{answers}{}",
        paragraph("eyebrow", &eyebrow),
        escaped(question),
        paragraph("dim", &conditions)
    )
}

fn paragraph(class: &str, says: &str) -> String {
    format!("<p class=\"{class}\">{}</p>\n", escaped(says))
}

fn workload(findings: &Findings<'_>, table: &Table, place: usize) -> String {
    let mut html = format!("<h2>{}</h2>\n", escaped(&table.workload));
    for (room, id) in [(Room::Wide, "a"), (Room::Narrow, "b")] {
        html.push_str(&drawn(findings, table, &format!("{id}{place}"), room, false));
    }
    html.push_str(&results(findings, table));
    html.push_str(&peaks(findings, table));
    html.push_str("<h3>What it cost</h3>\n");
    for (room, id) in [(Room::Wide, "c"), (Room::Narrow, "d")] {
        html.push_str(&cost(findings, table, &format!("{id}{place}"), room));
    }
    html
}

/// A table of texts; the first row is its heading. Cells are escaped here.
fn grid(rows: &[Vec<String>], class: &str) -> String {
    let mut html = String::from("<div class=\"scroll\"><table>\n");
    for (place, row) in rows.iter().enumerate() {
        let cell = if place == 0 { "th" } else { "td" };
        let cells =
            row.iter().map(|says| format!("<{cell} class=\"{class}\">{}</{cell}>", escaped(says)));
        html.push_str(&format!("<tr>{}</tr>\n", cells.collect::<String>()));
    }
    html + "</table></div>\n"
}

fn results(findings: &Findings<'_>, table: &Table) -> String {
    let is_there = |figure: &Figure| table.rows.iter().any(|row| row.estimate(*figure).is_some());
    let figures: Vec<Figure> = COLUMNS.into_iter().filter(is_there).collect();
    let mut head = vec!["subject".to_string()];
    head.push(table.rows.first().map_or(String::new(), |row| row.point.unit().into()));
    for figure in &figures {
        head.push(figure.heading().into());
        if *figure == Figure::Achieved {
            head.push("95 % interval".into());
        }
    }
    head.push("rounds".into());
    let row = |row: &Row| {
        let mut cells =
            vec![findings.title(&row.subject).to_string(), row.point.value().to_string()];
        for &figure in &figures {
            cells.push(median(findings, row, figure));
            if figure == Figure::Achieved {
                cells.push(interval(findings, row.estimate(figure)));
            }
        }
        let ends =
            row.unmeasured().into_iter().map(|(kind, times)| format!(" · {times} {}", kind.name()));
        cells.push(format!("{}/{}{}", row.measured(), row.planned, ends.collect::<String>()));
        cells
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(table.rows.iter().map(row)).collect();
    let legend = "Medians of the rounds that were measured. ? in doubt, see below · ↓ it did not keep up with what was \
                  offered, or the trial was too short to tell · ≥ requests were given up at the time-out: the truth is no \
                  less · * fewer than 10 samples lie beyond";
    grid(&rows, "n") + &paragraph("dim", legend)
}

fn median(findings: &Findings<'_>, row: &Row, figure: Figure) -> String {
    let Some(estimate) = row.estimate(figure) else { return "–".into() };
    let bound = if estimate.is_censored { "≥" } else { "" };
    let support = if estimate.is_supported || estimate.is_censored { "" } else { "*" };
    let (mut behind, mut doubt) = ("", "");
    if figure == Figure::Achieved {
        behind = if row.is_behind() { "↓" } else { "" };
        doubt = if row.is_doubtful() { "?" } else { "" };
    }
    format!("{bound}{}{support}{behind}{doubt}", (findings.number)(figure, estimate.median))
}

fn interval(findings: &Findings<'_>, estimate: Option<analysis::Estimate>) -> String {
    let shown = |value| (findings.number)(Figure::Achieved, value);
    let interval = estimate.and_then(|estimate| estimate.interval);
    interval.map_or("one round".into(), |(low, high)| format!("{}–{}", shown(low), shown(high)))
}

fn peaks(findings: &Findings<'_>, table: &Table) -> String {
    if table.peaks.is_empty() {
        return String::new();
    }
    let published =
        |subject: &str| findings.history.find(subject, &table.workload, None, Figure::Achieved);
    let has_past = table.peaks.iter().any(|peak| published(&peak.subject).is_some());
    let mut head = ["subject", "most answers/s", "95 % interval", "at"].map(String::from).to_vec();
    if has_past {
        head.push(format!("{}, as published", findings.history.label));
    }
    let row = |peak: &analysis::Peak| {
        let open = if peak.is_open { "≥" } else { "" };
        let doubt = if peak.is_doubtful { "?" } else { "" };
        let most = (findings.number)(Figure::Achieved, peak.achieved.median);
        let mut cells = vec![
            findings.title(&peak.subject).to_string(),
            format!("{open}{most}{doubt}"),
            interval(findings, Some(peak.achieved)),
            peak.point.to_string(),
        ];
        if has_past {
            cells
                .push(published(&peak.subject).map_or("–".into(), |found| {
                    (findings.number)(Figure::Achieved, found.value)
                }));
        }
        cells
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(table.peaks.iter().map(row)).collect();
    let legend = "≥ at the last place, where it still kept up: it may be able to do more. Published figures are from \
                  another machine and other versions.";
    format!("<h3>The most of each</h3>\n{}{}", grid(&rows, "n"), paragraph("dim", legend))
}

/// What is in doubt, what failed, what went wrong, with the evidence: all of it may be a server's words.
fn troubles(findings: &Findings<'_>) -> String {
    let mut html = String::from("<h2>What to doubt</h2>\n");
    let told = findings.words.troubles.iter().filter(|lines| !lines.is_empty());
    let told: Vec<String> = told
        .map(|lines| {
            let (first, rest) = lines.split_first().map_or(("", &[][..]), |(f, r)| (f.as_str(), r));
            format!("<h3>{}</h3>\n<pre>{}</pre>\n", escaped(first), escaped(&rest.join("\n")))
        })
        .collect();
    if told.is_empty() {
        html.push_str(&paragraph("", "Nothing that dyno looks for was found."));
    }
    html + &told.concat()
}

fn fairness(findings: &Findings<'_>) -> String {
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

fn subjects(findings: &Findings<'_>) -> String {
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

fn method(findings: &Findings<'_>) -> String {
    let run = findings.run;
    let texts = [
        "Every trial starts its server anew, asks whether its answers are right, presses it, and asks again. Trials are \
         shuffled by the seed.",
        "answered/s: correct answers inside the measured time. Response time counts from when a request was due, not from \
         when it was sent; what was given up counts at the time-out.",
        "95 % interval: by Student's t over the rounds of this run. What differs from one run, day or machine to the next \
         is not in it. With one round there is none.",
    ];
    let texts: String = texts.iter().map(|says| paragraph("", says)).collect();
    let about: String = findings
        .history
        .about
        .iter()
        .map(|says| paragraph("dim", &format!("{}: {says}", findings.history.label)))
        .collect();
    let mut facts = vec![vec!["fact".to_string(), "as it was read".to_string()]];
    facts.extend(run.facts.iter().map(|fact| vec![fact.name.clone(), fact.value.clone()]));
    let quick = if run.is_quick { " --quick" } else { "" };
    format!(
        "<h2>How it was measured</h2>\n{texts}{about}<h3>Once more</h3>\n<pre>dyno run {}{quick}</pre>\n\
         <p><a download=\"run-{}.csv\" href=\"{}\">Every trial as CSV</a></p>\n<h3>The machine</h3>\n{}",
        escaped(&run.name),
        escaped(findings.id),
        escaped(&data_link("text/csv", &findings.words.csv)),
        grid(&facts, "text")
    )
}
