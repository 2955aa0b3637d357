//! The rows as data: JSON lines with their schema, and the index that the site's script reads.

use std::collections::{BTreeMap, BTreeSet};

use analysis::Estimate;
use report::run::cell_of;
use serde_json::{Value, json};

use crate::folder::Known;
use crate::pages::File;
use crate::pages::beside::INDEX;
use crate::ranking::Shown;
use crate::summary::{RowSummary, RunSummary};

/// The fields of a line of `rows.jsonl`: the name, the type, the value of a row of a run, and what it is.
macro_rules! fields {
    (($known:ident, $run:ident, $row:ident)
     $($name:literal: $kind:literal = $value:expr, $says:literal;)*) => {
        const FIELDS: &[[&str; 3]] = &[$([$name, $kind, $says]),*];

        fn line($known: &Known, Shown { run: $run, row: $row, .. }: Shown<'_>) -> Value {
            Value::Object([$(($name.to_string(), json!($value))),*].into_iter().collect())
        }
    };
}

fields! { (known, run, row)
    "run": "string" = run.id, "the id of the run: SHA-256 over the content of its file";
    "file": "string" = run.file, "its file in the board's folder";
    "date": "string" = run.date(), "the day on which it began, in UTC";
    "began_unix_ms": "integer" = run.began_unix_ms, "when it began: milliseconds since 1970";
    "dyno": "string" = run.dyno, "the dyno that measured";
    "experiment": "string" = run.experiment, "the experiment's name";
    "class": "string" = run.class.label,
        "the class of machines, which follows from the facts of the run";
    "is_own_machine": "boolean" = known.written.is_own(&run.class.label),
        "the class is one of the board's own";
    "level": "string" = level(run),
        "consistent, intact, or differs: claims are not what the counts give";
    "is_superseded": "boolean" = known.superseded(run).is_some(),
        "the run is wrong, and its page says why";
    "is_quick": "boolean" = run.is_quick, "times and rounds were reduced";
    "server": "string" = row.server, "the server's name";
    "title": "string" = row.title, "the name that people use for it";
    "version": "string" = row.version, "what its version command printed";
    "is_reference": "boolean" = row.is_reference, "it does not compete";
    "task": "string" = row.task, "the workload, and how it was requested";
    "workload": "string" = row.workload, "the workload's name";
    "workload_hash": "string" = row.workload_hash,
        "the first digits of the SHA-256 of the workload's file";
    "point": "number" = row.point.value(), "the load";
    "point_unit": "string" = row.point.unit(), "what the load counts";
    "figure": "string" = row.leading.name(),
        "the figure by which rows of this load are compared";
    "figures": "object" = by_name(row),
        "each figure by its name in docs/figures.md, as an `estimate` of docs/json.md: `value`, the \
         mean, `low` and `high`, the ends of its 95 % interval, and `is_bound`: the true value is no less";
    "trials": "integer" = row.measured, "rounds that were measured";
    "trials_planned": "integer" = row.planned, "rounds that were planned";
    "verdict": "string" = row.verdict.name(), "valid, suspect or invalid";
    "reason": "string" = row.reason, "why it is not ranked, or why its verdict is no better";
}

fn level(run: &RunSummary) -> &'static str {
    match (run.differences, run.is_consistent) {
        (0, true) => "consistent",
        (0, false) => "intact",
        _ => "differs",
    }
}

fn by_name(row: &RowSummary) -> BTreeMap<&'static str, &Estimate> {
    row.figures.iter().map(|(of, it)| (of.name(), it)).collect()
}

/// `data/rows.jsonl` and `data/schema.json`.
pub(crate) fn lines(known: &Known) -> Result<[File; 2], String> {
    let mut text = Vec::new();
    for (place, run) in known.runs.iter().enumerate() {
        for row in &run.rows {
            let line = line(known, Shown { place, run, row });
            serde_json::to_writer(&mut text, &line).map_err(|error| error.to_string())?;
            text.push(b'\n');
        }
    }
    let properties = FIELDS
        .iter()
        .map(|[name, kind, says]| (name.to_string(), json!({ "type": kind, "description": says })));
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a row of a board: a line of rows.jsonl",
        "type": "object",
        "properties": properties.collect::<serde_json::Map<String, Value>>(),
        "required": FIELDS.iter().map(|[name, ..]| *name).collect::<Vec<_>>(),
    });
    let schema = serde_json::to_string_pretty(&schema).map_err(|error| error.to_string())?;
    Ok([("data/rows.jsonl".into(), text), ("data/schema.json".into(), (schema + "\n").into())])
}

/// Texts that occur many times, each once.
#[derive(Default)]
struct Texts {
    all: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Texts {
    fn place(&mut self, text: &str) -> usize {
        if let Some(place) = self.places.get(text) {
            return *place;
        }
        self.places.insert(text.into(), self.all.len());
        // As in pages, nothing in a name turns the letters behind it around.
        self.all.push(units::visible(text));
        self.all.len() - 1
    }
}

/// The file that assigns the index: every row that stands, as small as it can be.
pub(crate) fn index(known: &Known) -> Result<File, String> {
    let [mut servers, mut loads, mut texts, mut dates] = [(); 4].map(|()| Texts::default());
    let load = |row: &RowSummary| format!("{}, {}", row.task, row.place);
    let mut files: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for Shown { row, .. } in known.rows() {
        files.entry(load(row)).or_default().insert(&row.workload_hash);
    }
    let mut runs: Vec<Value> = Vec::new();
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut rows: Vec<Value> = Vec::new();
    for shown in known.rows() {
        let Shown { place, run, row } = shown;
        let at = *places.entry(place).or_insert_with(|| {
            let (class, dyno) = (texts.place(&run.class.label), texts.place(&run.dyno));
            runs.push(json!([run.short, dates.place(&run.date()), class, dyno]));
            runs.len() - 1
        });
        let value = row.estimate(row.leading).map(|it| cell_of(row.leading, it).whole_text());
        rows.push(json!([
            servers.place(&row.server),
            loads.place(&match files.get(&load(row)).map_or(0, BTreeSet::len) {
                // Rows of two files of one workload are not beside each other.
                2.. => format!("{}, workload file {}", load(row), row.workload_hash),
                _ => load(row),
            }),
            texts.place(row.leading.heading()),
            value.unwrap_or_else(|| "–".into()),
            if shown.can_be_numbered() { 0 } else { row.verdict as usize + 1 },
            texts.place(&row.version),
            format!("{}/{}", row.measured, row.planned),
            at,
        ]));
    }
    let index = json!({
        "own": known.written.settings.own_machines,
        "servers": servers.all,
        "loads": loads.all,
        "texts": texts.all,
        "dates": dates.all,
        "verdicts": ["valid", "valid, no number", "suspect", "invalid"],
        "runs": runs,
        "rows": rows,
    });
    let text = serde_json::to_string(&index).map_err(|error| error.to_string())?;
    // In no page, but a reader of the file as a page finds nothing to obey either.
    let text = text.replace('<', "\\u003c");
    Ok((INDEX.into(), format!("window.dynoIndex={text};\n").into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{READER, summary};
    use crate::settings::Written;
    use crate::slug::hash;

    /// Runs of eight servers, whose ids, days, versions and figures are those of chance.
    fn of_chance(runs: u64) -> Known {
        let names: String = (0..8).map(|n| format!("server name-{n} 1 9000\n")).collect();
        let model = summary(&(READER.parse)(format!("began 1\n{names}").as_bytes()).unwrap());
        let chance = |run: u64, n: usize, below: u64| {
            let digits = &hash(&format!("{run} {n}"), 16);
            u64::from_str_radix(digits, 16).unwrap() % below
        };
        let runs = (0..runs).map(|run| {
            let mut made = model.clone();
            made.short = hash(&run.to_string(), 32);
            made.began_unix_ms = (chance(run, 0, 1_000) * 86_400_000) as i64;
            for (n, row) in made.rows.iter_mut().enumerate() {
                let chance = |what: usize, below: u64| chance(run, 10 * n + what, below);
                row.server = format!("server-{}", chance(1, 120));
                row.version = format!("{}.{}.{}", chance(2, 3), chance(3, 20), chance(4, 20));
                row.place = format!("{} connections", 1 << chance(5, 10));
                for (_, figure) in &mut row.figures {
                    figure.value = 1e3 + chance(6, 1 << 30) as f64 / 1e4;
                    let share = 0.003 + chance(7, 1 << 20) as f64 / 1e7;
                    figure.low = Some(figure.value * (1.0 - share));
                    figure.high = Some(figure.value * (1.0 + share));
                }
            }
            made
        });
        Known { written: Written::default(), runs: runs.collect(), refused: Vec::new() }
    }

    /// The index of two runs of a server under one load, after a change of the second.
    fn of_two(change: fn(&mut RunSummary)) -> Value {
        let mut known = of_chance(2);
        for run in &mut known.runs {
            run.rows.truncate(1);
            run.rows[0].place = "64 connections".into();
        }
        change(&mut known.runs[1]);
        let (_, text) = index(&known).unwrap();
        let text = String::from_utf8(text).unwrap();
        let text = text.strip_prefix("window.dynoIndex=").unwrap().trim_end();
        serde_json::from_str(text.trim_end_matches(';')).unwrap()
    }

    #[test]
    fn the_index_sets_nothing_side_by_side_that_no_page_compares() {
        let usual = of_two(|_| {});
        assert_eq!(
            (&usual["loads"], &usual["rows"][1][4]),
            (&json!(["hello, 64 connections"]), &json!(0))
        );
        let other = of_two(|run| run.rows[0].workload_hash = "0123".into());
        assert_eq!(other["loads"].as_array().map(Vec::len), Some(2), "{other}");
        assert_eq!(other["loads"][1], json!("hello, 64 connections, workload file 0123"));
        let quick = of_two(|run| run.is_quick = true);
        let verdict = quick["rows"][1][4].as_u64().unwrap() as usize;
        assert_eq!(quick["verdicts"][verdict], "valid, no number");
    }

    #[test]
    fn a_bound_is_marked_as_one_as_in_other_json() {
        let mut known = of_chance(1);
        let (_, estimate) = &mut known.runs[0].rows[0].figures[0];
        (estimate.is_bound, estimate.high) = (true, None);
        let low = estimate.low;
        let [(_, lines), (_, schema)] = lines(&known).unwrap();
        let line = String::from_utf8(lines).unwrap().lines().next().unwrap().to_string();
        let line: Value = serde_json::from_str(&line).unwrap();
        let figure = &line["figures"]["throughput_per_s"];
        assert_eq!((&figure["is_bound"], &figure["high"]), (&json!(true), &Value::Null), "{line}");
        assert_eq!(
            (&figure["low"], line["figures"]["response_p99_ms"]["is_bound"].as_bool()),
            (&json!(low), Some(false))
        );
        assert!(String::from_utf8(schema).unwrap().contains("`is_bound`"));
        let (_, index) = index(&known).unwrap();
        let badge = crate::badge::badge(known.rows().next().unwrap()).into_string();
        for text in [String::from_utf8(index).unwrap(), badge] {
            assert!(text.contains("≥"), "{text}");
        }
    }

    #[test]
    fn the_index_has_300_kb_for_10000_rows() {
        use std::io::Write;
        let (_, index) = index(&of_chance(125)).unwrap();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(&index).unwrap();
        let bytes = packed.finish().unwrap().len();
        println!("{} bytes, {bytes} packed", index.len());
        assert!(bytes < 1_000 * 300_000 / 10_000, "{bytes} bytes for 1,000 rows");
    }
}
