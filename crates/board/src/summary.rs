//! What the board's pages need of a run: a few numbers for each row. The run itself stays in its file.

use std::collections::BTreeMap;

use analysis::{Estimate, Gravity, RoundsOfRun, Row, Table, Verdict};
use lab::experiment::{Point, Shape};
use lab::figure::{Figure, Number};
use lab::manner::Task;
use lab::record::{Entry, PROTOCOL, REQUEST, STREAMS, TrialRecord, fact};
use lab::subject::Tier;
use public::{Level, MachineClass, PublicRun, Verified};
use report::Findings;
use report::time::utc;
use units::counted;

use crate::slug::hash;

/// The figures of a row that the board shows.
pub(crate) const SHOWN: [Figure; 7] = [
    Figure::Throughput,
    Figure::ResponseP50,
    Figure::ResponseP99,
    Figure::CpuPerThousand,
    Figure::RssPeak,
    Figure::FailedShare,
    Figure::MemoryPerConnection,
];
/// Longer texts are cut.
const LONGEST: usize = 400;
/// Why a row has no number that is valid by itself.
const MOSTLY_INVALID: &str = "most rows of its run are invalid under this load";
/// A run with more rows is not one of a board.
const ROWS_MOST: usize = 2_000;

/// A run, without its trials.
#[derive(Clone, Debug)]
pub(crate) struct RunSummary {
    pub(crate) id: String,
    /// The part of the id that is in addresses.
    pub(crate) short: String,
    /// Its file's path in the folder.
    pub(crate) file: String,
    /// Who signed its file, in words; none if it has no signature.
    pub(crate) signed: Option<String>,
    pub(crate) began_unix_ms: i64,
    pub(crate) dyno: String,
    pub(crate) class: MachineClass,
    pub(crate) experiment: String,
    pub(crate) answer: Vec<String>,
    pub(crate) is_consistent: bool,
    /// How many claims are not what was recomputed.
    pub(crate) differences: usize,
    pub(crate) lineage: public::Lineage,
    /// The id of the run that it says it repeats.
    pub(crate) repeats: Option<String>,
    /// What it is for that run, and how many of its rows were repeated, if that run is here.
    pub(crate) repetition: Option<String>,
    pub(crate) is_quick: bool,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) trials: usize,
    pub(crate) rows: Vec<RowSummary>,
    pub(crate) servers: Vec<ServerSummary>,
}

/// A server under a load.
#[derive(Clone, Debug)]
pub(crate) struct RowSummary {
    pub(crate) server: String,
    pub(crate) title: String,
    pub(crate) version: String,
    pub(crate) is_reference: bool,
    /// The workload, and how it was requested.
    pub(crate) task: String,
    pub(crate) workload: String,
    /// A part of the hash of the workload's file: two files of one name are two workloads.
    pub(crate) workload_hash: String,
    pub(crate) point: Point,
    /// The load in words, with what sets the row apart from others with as much.
    pub(crate) place: String,
    pub(crate) figures: Vec<(Figure, Estimate)>,
    /// The figure by which it is compared, and its rounds.
    pub(crate) leading: Figure,
    pub(crate) rounds: Vec<(u32, Number)>,
    pub(crate) verdict: Verdict,
    /// Why it has no number among others, if it has none by itself; else why its verdict is no better.
    pub(crate) reason: String,
    /// The run's own rules number it.
    pub(crate) is_ranked: bool,
    pub(crate) measured: usize,
    pub(crate) planned: usize,
    /// What its figures published, as the file has it: a round that was printed stays as it was.
    pub(crate) claimed: Option<Estimate>,
}

/// A server as a run started it.
#[derive(Clone, Debug)]
pub(crate) struct ServerSummary {
    /// What the run says of it, with its texts cut.
    pub(crate) entry: Entry,
    pub(crate) command: String,
    pub(crate) conformance: Result<String, String>,
}

impl RunSummary {
    pub(crate) fn of(
        file: &str,
        run: &PublicRun,
        verified: &Verified,
        findings: &Findings<'_>,
    ) -> Result<RunSummary, String> {
        let tables = &findings.board.tables;
        let rows: usize = tables.iter().map(|table| table.rows.len()).sum();
        if ROWS_MOST < rows {
            return Err(format!("it has {rows} rows, and more than {ROWS_MOST} are not shown"));
        }
        // A search tries rates of its own for each server: they cannot be compared.
        let is_search = run.record.is_search();
        let shown = tables.iter().filter(|_| !is_search);
        Ok(RunSummary {
            id: run.id.clone(),
            short: run.short_id(),
            file: file.into(),
            signed: None,
            began_unix_ms: run.record.began_unix_ms,
            dyno: cut(&run.record.dyno),
            class: MachineClass::of(&run.record),
            experiment: cut(&run.record.name),
            answer: findings.answer().iter().take(6).map(|text| cut(text)).collect(),
            is_consistent: verified.level == Level::Consistent,
            differences: verified.differences.len(),
            lineage: run.lineage,
            repeats: run.repeats().map(cut),
            repetition: None,
            is_quick: run.record.is_quick,
            verdict: findings.board.verdict(),
            trials: run.trials.len(),
            rows: shown.flat_map(|table| rows_of(run, findings, table)).collect(),
            servers: servers_of(run, findings),
        })
    }

    /// The name of who signed its file, if that is one of the signers of the board.
    pub(crate) fn signer(&self) -> Option<&str> {
        let name = self.signed.as_deref()?.strip_prefix("signed by ")?;
        (!name.starts_with("a key that is not among")).then_some(name)
    }

    pub(crate) fn date(&self) -> String {
        utc(self.began_unix_ms).chars().take_while(|letter| *letter != ' ').collect()
    }
}

impl RowSummary {
    pub(crate) fn estimate(&self, figure: Figure) -> Option<&Estimate> {
        self.figures.iter().find(|(of, _)| *of == figure).map(|(_, estimate)| estimate)
    }

    pub(crate) fn stated_version(&self) -> &str {
        if self.version.is_empty() { "not stated" } else { &self.version }
    }

    /// The rounds of its leading figure, as one of the run at this place.
    pub(crate) fn rounds_of(&self, run: usize) -> RoundsOfRun {
        RoundsOfRun { run, rounds: self.rounds.clone() }
    }
}

fn rows_of(run: &PublicRun, findings: &Findings<'_>, table: &Table) -> Vec<RowSummary> {
    let workload = Task::named(&table.workload).workload;
    let workload_hash = hash(&workload_text(run, &workload), 12);
    let judged = table.rows.iter().filter_map(|row| Some((row, row.verdict()?)));
    judged
        .map(|(row, verdict): (&Row, Verdict)| {
            let entry = run.record.entries.iter().find(|entry| entry.name == row.subject);
            let figures = SHOWN.into_iter().filter_map(|of| Some((of, row.estimate(of)?)));
            let leading = leading(table, row);
            let is_void = verdict == Verdict::Valid && table.is_mostly_invalid_at(row.point);
            RowSummary {
                server: cut(&row.subject),
                title: cut(findings.title(&row.subject)),
                version: entry.map(|entry| cut(&entry.version)).unwrap_or_default(),
                is_reference: row.is_reference,
                task: cut(&table.workload),
                workload: cut(&workload),
                workload_hash: workload_hash.clone(),
                point: row.point,
                place: findings.place(row.point) + &apart(run, entry.map_or("", |it| &it.tier)),
                figures: figures.collect(),
                leading,
                rounds: row.rounds(leading),
                verdict,
                reason: if is_void { MOSTLY_INVALID.into() } else { cut(&reason(row)) },
                is_ranked: row.judgement.is_ranked()
                    && !is_void
                    && !(row.is_offered() && row.is_behind()),
                measured: row.measured(),
                planned: row.planned,
                claimed: claimed(run, table, row, leading),
            }
        })
        .collect()
}

/// What sets a row apart from others of its task with as much load: how its load uses connections, and a division of its
/// own by the run rules. Nothing of a closed loop that keeps them, and of a server as its documentation says.
fn apart(run: &PublicRun, tier: &str) -> String {
    let mut parts = Vec::new();
    if let Some(experiment) = &run.record.experiment {
        match experiment.shape {
            Shape::Closed | Shape::Held(_) => {}
            Shape::Open { poisson, connections, max_connections } => {
                let arrivals = if poisson { "at random, " } else { "" };
                parts.push(format!("{arrivals}on {connections} to {max_connections} connections"));
            }
            Shape::Sessions { calls, .. } => {
                parts.push(counted(calls.into(), "request a session", "requests a session"));
            }
        }
        parts.extend((!experiment.keep_alive).then(|| "one request a connection".into()));
        parts.extend(experiment.vary.then(|| "varied".into()));
    }
    parts.extend((tier == Tier::Tuned.name()).then(|| "tuned".into()));
    parts.iter().map(|part| format!(", {part}")).collect()
}

/// What a workload is: its file, or, where flags said what to request, these.
fn workload_text(run: &PublicRun, workload: &str) -> String {
    let path = format!("workloads/{workload}.toml");
    let mut files = run.record.files.iter();
    if let Some((_, text)) = files.find(|(name, _)| *name == path) {
        return text.clone();
    }
    let asked = [REQUEST, STREAMS, PROTOCOL].map(|name| fact(&run.record.facts, name));
    format!("{} {asked:?}", run.record.group())
}

/// The figure that a load is about.
fn leading(table: &Table, row: &Row) -> Figure {
    match row.point {
        Point::Held(_) => Figure::MemoryPerConnection,
        _ if table.by_cpu => Figure::CpuPerThousand,
        Point::Connections(_) => Figure::Throughput,
        Point::Requests(_) | Point::Sessions(_) => Figure::ResponseP99,
    }
}

fn reason(row: &Row) -> String {
    if let Some(unmet) = &row.unmet {
        return unmet.clone();
    }
    let reasons = row.reasons().into_iter();
    let mut doubts = reasons.filter(|reason| reason.doubt.gravity() != Gravity::Note);
    doubts.next().map(|reason| reason.doubt.says().to_string()).unwrap_or_default()
}

/// The figure that the file claims, with the ends of its interval.
fn claimed(run: &PublicRun, table: &Table, row: &Row, figure: Figure) -> Option<Estimate> {
    let tables = run.claims.get("tables")?.as_array()?;
    let is_table = |it: &&serde_json::Value| it["workload"] == table.workload.as_str();
    let is_row = |it: &&serde_json::Value| {
        it["subject"] == row.subject.as_str()
            && it["point"].as_f64() == Some(row.point.value())
            && it["point_unit"] == row.point.unit()
    };
    let found = tables.iter().find(is_table)?["rows"].as_array()?.iter().find(is_row)?;
    let estimate = &found["figures"][figure.name()];
    Some(Estimate {
        value: estimate["value"].as_f64()?,
        low: estimate["low"].as_f64(),
        high: estimate["high"].as_f64(),
        is_bound: estimate["is_bound"] == true,
        is_supported: estimate["is_supported"] != false,
        ..row.estimate(figure)?
    })
}

fn servers_of(run: &PublicRun, findings: &Findings<'_>) -> Vec<ServerSummary> {
    let commands = commands(&run.trials);
    let took_part = run.record.entries.iter().filter(|entry| entry.skipped.is_none());
    took_part
        .map(|entry| ServerSummary {
            entry: Entry {
                name: cut(&entry.name),
                title: cut(findings.title(&entry.name)),
                language: cut(&entry.language),
                version: cut(&entry.version),
                tier: cut(&entry.tier),
                notes: cut(&entry.notes),
                settings: entry.settings.iter().take(40).cloned().collect(),
                ..Entry::default()
            },
            command: commands.get(entry.name.as_str()).map(|text| cut(text)).unwrap_or_default(),
            conformance: match findings.board.conformity(&entry.name).map(|found| &found.score) {
                Some(Ok(score)) => Ok(cut(&score.short())),
                Some(Err(why)) => Err(cut(why)),
                None => Err("not checked".into()),
            },
        })
        .collect()
}

/// The command that started each server first.
fn commands(trials: &[TrialRecord]) -> BTreeMap<&str, String> {
    let mut all = BTreeMap::new();
    for trial in trials {
        if let Some(launch) = &trial.launch {
            let command = || lab::command::shown(&launch.command);
            all.entry(trial.key.subject.as_str()).or_insert_with(command);
        }
    }
    all
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.into(),
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}
