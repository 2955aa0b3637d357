//! Checks of a run's subjects: stored one by one after the run began, each under a seal of its own.

use lab::conformance::Conformance;
use lab::record::RunRecord;
use rusqlite::{Connection, Transaction};

use crate::conformance_rows;
use crate::error::Fault;
use crate::sealed::{CHECKS, unlike};

/// Stores a check. `run` gives the position of its subject.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    id: i64,
    run: &RunRecord,
    found: &Conformance,
) -> Result<(), Fault> {
    let place = run.entries.iter().position(|entry| entry.name == found.subject);
    let place = place.ok_or_else(|| {
        Fault::Refused(format!("run {id} has no subject `{}`", found.subject.escape_debug()))
    })?;
    CHECKS.insert(transaction, &[id, place as i64], &conformance_rows::rows(found))
}

/// The checks of a run, in the order of its entries. A damaged one is reported in its place.
pub(crate) fn read(
    connection: &Connection,
    id: i64,
    run: &RunRecord,
) -> Result<Vec<Conformance>, Fault> {
    let mut all = Vec::new();
    for (place, entry) in run.entries.iter().enumerate() {
        all.extend(match one(connection, [id, place as i64], &entry.name) {
            Err(Fault::Damaged(says) | Fault::Disk(says) | Fault::Refused(says)) => {
                let says = format!("what was kept of its check is damaged: {says}");
                Some(Conformance { subject: entry.name.clone(), from_run: None, found: Err(says) })
            }
            found => found?,
        });
    }
    Ok(all)
}

fn one(
    connection: &Connection,
    owner: [i64; 2],
    subject: &str,
) -> Result<Option<Conformance>, Fault> {
    let rows = CHECKS.read(connection, &owner, unlike)?;
    let found = rows.map(|rows| conformance_rows::conformance(subject, rows)).transpose();
    found.map_err(Fault::Damaged)
}

/// The newest check of a subject of this name, build, version and manifest that can be taken over: it is complete, and
/// made with this catalogue.
pub(crate) fn lasting(
    connection: &Connection,
    subject: &str,
    build: &str,
    version: &str,
    manifest: &str,
    with_http2: bool,
) -> Result<Option<Conformance>, Fault> {
    if build.is_empty() {
        return Ok(None);
    }
    let sql = "SELECT conformance.run, entry FROM run_conformance AS conformance
               JOIN run_entry ON run_entry.run = conformance.run AND place = entry
               WHERE name = ?1 AND build = ?2 AND version = ?3
                 AND ?4 IN (SELECT text FROM run_file WHERE run_file.run = conformance.run
                            AND path = 'subjects/' || name || '/subject.toml')
               ORDER BY conformance.run DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let owners = statement
        .query_map((subject, build, version, manifest), |row| Ok([row.get(0)?, row.get(1)?]))?;
    for owner in owners {
        let owner: [i64; 2] = owner?;
        // A damaged check is no reason to stop the search.
        let found = one(connection, owner, subject).ok().flatten();
        // A result of HTTP/1.1 alone says nothing of HTTP/2.
        let is_wanted =
            |found: &Conformance| found.is_lasting() && (!with_http2 || found.has_http2());
        if let Some(found) = found.filter(is_wanted) {
            return Ok(u64::try_from(owner[0]).ok().map(|run| found.taken_over(run)));
        }
    }
    Ok(None)
}
