//! A subject's conformance to the RFCs as rows, and back: a check of a run, and the few cases of a trial.

use lab::conformance::{
    Area, CaseVerdict, Conformance, Evidence, Finding, Level, Report, Spot, Stamp, Tag,
};

use crate::cell::{RowReader, row};
use crate::table::Rows;
use crate::trial_rows::phase;

/// The rows of a subject's check.
pub(crate) fn rows(conformance: &Conformance) -> Rows {
    let mut rows = Rows::default();
    let from_run = conformance.from_run;
    match &conformance.found {
        Err(wrong) => {
            let nothing = String::new;
            let row =
                row![from_run, Some(wrong.clone()), nothing(), nothing(), 0u32, 0u64, nothing()];
            rows.add("run_conformance", row);
        }
        Ok(report) => {
            let Report { catalogue, findings, rounds, took_ms, cut_short } = report;
            let row = row![
                from_run,
                None::<String>,
                catalogue.version,
                catalogue.hash,
                *rounds,
                *took_ms,
                cut_short.clone(),
            ];
            rows.add("run_conformance", row);
            for (place, finding) in findings.iter().enumerate() {
                add_finding(&mut rows, place, finding);
            }
        }
    }
    rows
}

fn add_finding(rows: &mut Rows, place: usize, finding: &Finding) {
    let tags: Vec<&str> = finding.tags.iter().map(|tag| tag.name()).collect();
    let rounds: Vec<&str> = finding.rounds.iter().map(|verdict| verdict.name()).collect();
    let evidence = &finding.evidence;
    let row = row![
        place,
        finding.id,
        finding.title,
        finding.area.name().to_string(),
        finding.clause,
        finding.level.name().to_string(),
        u32::from(finding.weight),
        tags.join(" "),
        finding.verdict.name().to_string(),
        rounds.join(" "),
        finding.why,
        finding.demand,
        finding.doubt,
        finding.expected,
        evidence.sent,
        evidence.sent_len,
        evidence.received,
        evidence.received_len,
    ];
    rows.add("run_finding", row);
}

/// The check that is read from these rows.
pub(crate) fn conformance(subject: &str, mut rows: Rows) -> Result<Conformance, String> {
    let findings = rows.take_list("run_finding", finding)?;
    let mut row = rows.take_one("run_conformance")?.ok_or("run_conformance: no row")?;
    let (from_run, wrong) = (row.next()?, row.next::<Option<String>>()?);
    let report = Report {
        catalogue: Stamp { version: row.next()?, hash: row.next()? },
        findings,
        rounds: row.next()?,
        took_ms: row.next()?,
        cut_short: row.next()?,
    };
    let found = wrong.map_or(Ok(report), Err);
    Ok(Conformance { subject: subject.into(), from_run, found })
}

fn finding(row: &mut RowReader) -> Result<Finding, String> {
    let (id, title) = (row.next()?, row.next()?);
    let area = row.next::<String>()?;
    let area = Area::named(&area).ok_or_else(|| unknown(&area, "area"))?;
    let clause = row.next()?;
    let level = row.next::<String>()?;
    let level = Level::named(&level).ok_or_else(|| unknown(&level, "level"))?;
    let weight = row.next::<u32>()?;
    let weight = u8::try_from(weight).map_err(|_| format!("{weight} is no weight"))?;
    let tag = |name: &str| Tag::named(name).ok_or_else(|| unknown(name, "tag"));
    Ok(Finding {
        id,
        title,
        area,
        clause,
        level,
        weight,
        tags: row.next::<String>()?.split_whitespace().map(tag).collect::<Result<_, _>>()?,
        verdict: verdict(&row.next::<String>()?)?,
        rounds: row.next::<String>()?.split_whitespace().map(verdict).collect::<Result<_, _>>()?,
        why: row.next()?,
        demand: row.next()?,
        doubt: row.next()?,
        expected: row.next()?,
        evidence: Evidence {
            sent: row.next()?,
            sent_len: row.next()?,
            received: row.next()?,
            received_len: row.next()?,
        },
    })
}

fn verdict(name: &str) -> Result<CaseVerdict, String> {
    CaseVerdict::named(name).ok_or_else(|| unknown(name, "verdict"))
}

fn unknown(name: &str, kind: &str) -> String {
    format!("`{}` is no {kind} that this dyno knows", name.escape_debug())
}

/// The rows of the cases that were asked beside a trial's load.
pub(crate) fn add_spots(rows: &mut Rows, spots: &[Spot]) {
    for (place, spot) in spots.iter().enumerate() {
        let (phase, verdict) = (spot.phase.name().to_string(), spot.verdict.name().to_string());
        rows.add("trial_spot", row![place, phase, spot.id, verdict, spot.why]);
    }
}

/// The cases that were asked beside a trial's load.
pub(crate) fn spots(rows: &mut Rows) -> Result<Vec<Spot>, String> {
    rows.take_list("trial_spot", |row| {
        Ok(Spot {
            phase: phase(row)?,
            id: row.next()?,
            verdict: verdict(&row.next::<String>()?)?,
            why: row.next()?,
        })
    })
}
