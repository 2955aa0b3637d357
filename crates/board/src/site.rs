//! A site, made of a folder: first the runs are read one by one, then each page is written.

use std::collections::BTreeMap;

use public::{PublicRun, verify};

use crate::changes::changes;
use crate::folder::{FILE_MOST, Known, Reader, for_each, signature};
use crate::pages::{File, beside, first, machines, method, rounds, runs, servers, workloads};
use crate::place::Place;
use crate::ranking::{Shown, newest};
use crate::summary::RunSummary;
use crate::{badge, data, feed};

/// A file that is not a part of the site, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refused {
    pub file: String,
    pub why: String,
}

impl From<&(String, String)> for Refused {
    fn from((file, why): &(String, String)) -> Refused {
        Refused { file: file.clone(), why: why.clone() }
    }
}

/// What was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    pub runs: usize,
    pub rows: usize,
    pub files: usize,
    pub bytes: u64,
    pub refused: Vec<Refused>,
    /// Names of rounds without `sentences`, each with the answer that its runs give now.
    pub unfrozen: Vec<(String, Vec<String>)>,
}

/// Builds the site of a folder.
pub fn site(place: &dyn Place) -> Result<Built, String> {
    build(place, Reader { parse: PublicRun::read, verify })
}

pub(crate) fn build(place: &dyn Place, reader: Reader) -> Result<Built, String> {
    let known = Known::read(place, reader)?;
    let mut sizes = Vec::new();
    for written in for_each(&known.runs, |run| write_run(place, reader, &known, run)) {
        sizes.extend(written?);
    }
    for (path, bytes) in pages(&known)? {
        place.write(&path, &bytes)?;
        sizes.push(bytes.len());
    }
    let rounds = known.written.rounds.iter().filter(|(_, round)| round.sentences.is_empty());
    Ok(Built {
        runs: known.runs.len(),
        rows: known.runs.iter().map(|run| run.rows.len()).sum(),
        files: sizes.len(),
        bytes: sizes.iter().map(|size| *size as u64).sum(),
        unfrozen: rounds
            .map(|(name, round)| (name.clone(), rounds::answer(&known, round)))
            .collect(),
        refused: known.refused,
    })
}

/// The page of a run, its file, and its signature if there is one; the sizes of all.
fn write_run(
    place: &dyn Place,
    reader: Reader,
    known: &Known,
    summary: &RunSummary,
) -> Result<Vec<usize>, String> {
    let says = |why: String| format!("{}: {why}", summary.file);
    let bytes = place.read(&summary.file, FILE_MOST).map_err(says)?;
    let run = (reader.parse)(&bytes).map_err(says)?;
    if run.id != summary.id {
        return Err(says("it changed while the site was built".into()));
    }
    let folder = format!("r/{}", summary.short);
    let name = format!("{folder}/{}", runs::file_name(summary));
    let mut files = vec![runs::of_run(known, summary, &run), (name.clone(), bytes)];
    if summary.has_signature {
        const SIGNATURE_MOST: usize = 64 * 1_024;
        let from = signature(&summary.file);
        let bytes = place.read(&from, SIGNATURE_MOST).map_err(|why| format!("{from}: {why}"))?;
        files.push((signature(&name), bytes));
    }
    let mut sizes = Vec::new();
    for (path, bytes) in files {
        place.write(&path, &bytes)?;
        sizes.push(bytes.len());
    }
    Ok(sizes)
}

/// Every page but those of runs.
fn pages(known: &Known) -> Result<Vec<File>, String> {
    let changes = changes(known);
    let mut all = vec![
        first::first(known, &changes),
        workloads::list(known),
        servers::list(known),
        runs::list(known),
        rounds::list(known),
        machines::machines(known),
        method::method(known),
        beside::any(known),
        data::index(known)?,
        feed::feed(known, &changes),
    ];
    all.extend(data::lines(known)?);
    all.extend(beside::pairs(known));
    for ((workload, class), loads) in workloads::by_class(known) {
        all.push(workloads::of_class(known, workload, class, &loads));
    }
    let mut of_servers: BTreeMap<&str, Vec<Shown<'_>>> =
        servers::names(known).into_iter().map(|name| (name, Vec::new())).collect();
    for shown in known.rows() {
        of_servers.entry(&shown.row.server).or_default().push(shown);
    }
    for (server, rows) in &of_servers {
        all.push(servers::of_server(known, server, rows));
        all.extend(badges(known, rows));
    }
    for (name, round) in &known.written.rounds {
        all.push(rounds::of(known, name, round));
    }
    // Two common questions may be about the same servers.
    Ok(all.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect())
}

/// A server's newest row of each workload on the board's own machines.
fn badges(known: &Known, rows: &[Shown<'_>]) -> Vec<File> {
    let mut of_workloads: BTreeMap<&str, Vec<Shown<'_>>> = BTreeMap::new();
    for shown in rows.iter().filter(|shown| known.written.is_own(shown.class())) {
        of_workloads.entry(&shown.row.workload).or_default().push(*shown);
    }
    let badge = |(workload, rows): (&str, Vec<Shown<'_>>)| {
        let shown = newest(rows).into_iter().next()?;
        let path = badge::address(&shown.row.server, workload);
        Some((path, badge::badge(shown).into_string().into_bytes()))
    };
    of_workloads.into_iter().filter_map(badge).collect()
}
