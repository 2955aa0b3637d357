//! A site, made of a folder: first the runs are read one by one, then each page is written.

use std::collections::BTreeMap;
use std::sync::Mutex;

use public::{PublicRun, verify_found};

use crate::changes::changes;
use crate::folder::{Known, Reader, for_each, signature};
use crate::pages::runs::Around;
use crate::pages::{File, beside, first, machines, method, rounds, runs, servers, workloads};
use crate::place::Place;
use crate::ranking::{Shown, newest};
use crate::repetition::add_repetitions;
use crate::settings::{Refused, Written};
use crate::summary::RunSummary;
use crate::{badge, data, feed};

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
    build(place, Reader { parse: PublicRun::read, verify: verify_found })
}

pub(crate) fn build(place: &dyn Place, reader: Reader) -> Result<Built, String> {
    let mut paths = place.paths()?;
    paths.sort();
    let written = Written::read(place, &paths)?;
    let folder = Folder { place, reader, paths: &paths, sizes: Mutex::default() };
    let is_run = |path: &&String| path.starts_with("runs/") && path.ends_with(".dyno");
    let files: Vec<&String> = paths.iter().filter(is_run).collect();
    let around = Around { written: &written, known: None };
    let taken = for_each(&files, |path| folder.take(&around, path));
    let mut found = Vec::new();
    for (path, taken) in files.into_iter().zip(taken) {
        found.push((path.clone(), taken?));
    }
    let (mut known, twice) = Known::of(written, found);
    add_repetitions(&mut known, place, reader);
    // Their pages name other runs, which were not known yet; or two files have written the page.
    let is_again = |run: &&RunSummary| known.has_kin(run) || twice.contains(&run.short);
    let again: Vec<&RunSummary> = known.runs.iter().filter(is_again).collect();
    let around = Around { written: &known.written, known: Some(&known) };
    for (run, taken) in again.iter().zip(for_each(&again, |run| folder.take(&around, &run.file))) {
        taken?.map_err(|why| format!("{}: {why}", run.file))?;
    }
    folder.write(pages(&known)?)?;
    let sizes = folder.sizes.lock().expect("no thread panics");
    let rounds = known.written.rounds.iter().filter(|(_, round)| round.sentences.is_empty());
    Ok(Built {
        runs: known.runs.len(),
        rows: known.runs.iter().map(|run| run.rows.len()).sum(),
        files: sizes.len(),
        bytes: sizes.values().map(|size| *size as u64).sum(),
        unfrozen: rounds
            .map(|(name, round)| (name.clone(), rounds::answer(&known, round)))
            .collect(),
        refused: known.refused,
    })
}

/// The folder that is read, in order.
struct Folder<'f> {
    place: &'f dyn Place,
    reader: Reader,
    paths: &'f [String],
    /// Of the files that were written.
    sizes: Mutex<BTreeMap<String, usize>>,
}

impl Folder<'_> {
    /// Reads a run and writes its page, its file, and its signature if there is one; or why the file is refused. The
    /// error is that of a site that cannot be written.
    fn take(&self, around: &Around<'_>, path: &str) -> Result<Result<RunSummary, String>, String> {
        Ok(match self.made(around, path) {
            Ok((summary, files)) => self.write(files).map(|()| Ok(summary))?,
            Err(why) => Err(why),
        })
    }

    fn write(&self, files: Vec<File>) -> Result<(), String> {
        files.into_iter().try_for_each(|(path, bytes)| {
            self.place.write(&path, &bytes)?;
            self.sizes.lock().expect("no thread panics").insert(path, bytes.len());
            Ok(())
        })
    }

    fn made(&self, around: &Around<'_>, path: &str) -> Result<(RunSummary, Vec<File>), String> {
        let bytes = self.place.read(path, public::PACKED_MAX)?;
        let run = (self.reader.parse)(&bytes)?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if run.id.len() != 64 || !run.id.bytes().all(is_digit) {
            return Err("its id is not one".into());
        }
        let findings = run.findings();
        let verified = (self.reader.verify)(&run, &findings);
        let signature = signature(path);
        let has_signature = self.paths.binary_search(&signature).is_ok();
        let summary = RunSummary::of(path, &run, &verified, &findings)?;
        let signed = has_signature.then(|| self.place.signed(path));
        let summary = RunSummary { signed, ..summary };
        let name = format!("r/{}/{}", summary.short, runs::file_name(&summary));
        let mut files = vec![runs::of_run(around, &summary, &findings), (name.clone(), bytes)];
        if has_signature {
            const SIGNATURE_MOST: usize = 64 * 1_024;
            let bytes = self.place.read(&signature, SIGNATURE_MOST);
            let bytes = bytes.map_err(|why| format!("{signature}: {why}"))?;
            files.push((crate::folder::signature(&name), bytes));
        }
        Ok((summary, files))
    }
}

/// Every page but those of runs.
fn pages(known: &Known) -> Result<Vec<File>, String> {
    let changes = changes(known);
    let mut all = vec![
        first::first(known, &changes),
        workloads::list(known),
        servers::list(known),
        rounds::list(known),
        machines::machines(known),
        method::method(known),
        beside::any(known),
        data::index(known)?,
        feed::feed(known, &changes),
    ];
    all.extend(runs::lists(known));
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
