//! What a run is for the one that it says it repeats: whether it counts, and how many rows were repeated.

use analysis::Gate;
use public::{PACKED_MAX, PublicRun, Repetition, counts_as_repetition};
use report::run::{Compared, RowRepeated, Side};
use units::counted;

use crate::folder::{Known, Reader, for_each};
use crate::place::Place;
use crate::summary::RunSummary;

/// Says it of every run whose original is here, too. Two runs are in memory at once, on each of two threads.
pub(crate) fn add_repetitions(known: &mut Known, place: &dyn Place, reader: Reader) {
    let is_pair = |run: &RunSummary| known.run(run.repeats.as_ref()?).cloned();
    let pairs = known.runs.iter().enumerate();
    let pairs: Vec<(usize, [RunSummary; 2])> =
        pairs.filter_map(|(at, run)| Some((at, [is_pair(run)?, run.clone()]))).collect();
    let found = for_each(&pairs, |(_, pair)| compared(pair, place, reader));
    for ((at, _), says) in pairs.iter().zip(found) {
        known.runs[*at].repetition = says.ok();
    }
}

fn compared(pair: &[RunSummary; 2], place: &dyn Place, reader: Reader) -> Result<String, String> {
    let read = |run: &RunSummary| (reader.parse)(&place.read(&run.file, PACKED_MAX)?);
    let [original, repetition] = [read(&pair[0])?, read(&pair[1])?];
    let (signers, classes) =
        (pair.each_ref().map(signer), pair.each_ref().map(|run| &*run.class.label));
    Ok(match counts_as_repetition(&original, &repetition, signers, classes) {
        Repetition::No(why) => format!("this is no repetition: {why}"),
        kind => format!("{}: {}", kind.says(), rows(&original, &repetition)),
    })
}

/// The name of who signed its file, if that is one of the signers of the board.
fn signer(run: &RunSummary) -> Option<&str> {
    let name = run.signed.as_deref()?.strip_prefix("signed by ")?;
    (!name.starts_with("a key that is not among")).then_some(name)
}

fn rows(original: &PublicRun, repetition: &PublicRun) -> String {
    let (original, repetition) = (original.findings(), repetition.findings());
    let [a, b] = [&original, &repetition].map(|findings| Side { findings, subject: None });
    let rows = Compared::of(a, b, Gate { tolerance: 0.0, figure: None }).repeated();
    let many = |kind| rows.iter().filter(|(found, _)| *found == kind).count();
    let (yes, no) = (many(RowRepeated::Yes), many(RowRepeated::No));
    format!(
        "{} repeated, {no} not repeated, {} not decided",
        counted(yes as u64, "row", "rows"),
        rows.len() - yes - no
    )
}
