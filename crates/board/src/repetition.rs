//! What a run is for the one that it says it repeats: whether it counts, and how many rows were repeated.

use analysis::Gate;
use public::{PACKED_MAX, PublicRun, Repetition, counts_as_repetition};
use report::run::{Compared, Side, repeated_in_short};

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
        (pair.each_ref().map(RunSummary::signer), pair.each_ref().map(|run| &*run.class.label));
    Ok(match counts_as_repetition(&original, &repetition, signers, classes) {
        Repetition::No(why) => format!("this is no repetition: {why}"),
        kind => format!("{}: {}", kind.says(), rows(&original, &repetition)),
    })
}

fn rows(original: &PublicRun, repetition: &PublicRun) -> String {
    let (original, repetition) = (original.findings(), repetition.findings());
    let [a, b] = [&original, &repetition].map(|findings| Side { findings, subject: None });
    let rows = Compared::of(a, b, Gate { tolerance: 0.0, figure: None }).repeated();
    repeated_in_short(&rows)
}
