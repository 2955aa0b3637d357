//! Why the head is worse: when that is settled, base and head are sampled, if an answer of the head costs more CPU time.
//! Neither the answer nor the exit code depends on anything here.

use std::time::Duration;

use analysis::gate::Weighing;
use archive::kept::{Loaded, findings, kept};
use archive::page;
use store::RunId;

use super::gate_run::GateRun;
use super::{GateFlags, LoadRun};

/// All sampled trials together take no longer, but for the end of the last one.
const MOST: Duration = Duration::from_secs(55);

/// The run whose servers were sampled; or a sentence that says why they were not. None: no figure is worse, or `--no-why`
/// was given.
pub(super) fn sampled(
    flags: &GateFlags,
    gate_run: &mut GateRun<'_>,
    runs: &[LoadRun],
    weighing: &Weighing,
) -> Option<Result<(RunId, Loaded), String>> {
    if flags.no_why || !weighing.is_worse_by_figures() {
        return None;
    }
    if flags.at.generators.is_given() {
        return Some(Err(
            "Base and head were not sampled, because the load came from agents.".into()
        ));
    }
    // The load at a rate comes first: it is the one whose CPU time the table shows.
    let shows = |(measured, ..): &&LoadRun| measured.course.shows_more_cpu(weighing.rule);
    let Some((measured, ..)) = runs.iter().rev().find(shows) else {
        let says = "An answer of the head is not shown to cost more CPU time, so no profile of CPU time can say why \
                    it is worse.";
        return Some(Err(says.into()));
    };
    let session = &mut gate_run.session;
    terminal::notice(
        "the head is worse, and its answers cost more CPU time: both sides are sampled, for up to a minute",
    );
    let run = (&measured.run, measured.id);
    let taken = session.sample(&measured.campaign, &measured.admitted, run, MOST);
    let loaded = taken.and_then(|()| Ok(kept(session.store(), measured.id)?));
    Some(match loaded {
        Ok(loaded) if loaded.0.profiles.is_empty() => {
            Err("Base and head were not sampled: that was interrupted.".into())
        }
        Ok(loaded) => {
            // The run's page, whose place was printed before, is written again with the profiles.
            let _ = page::leave(&findings(session.store(), measured.id, &loaded), &session.pages);
            Ok((measured.id, loaded))
        }
        Err(refusal) => Err(format!("Base and head were not sampled: {refusal}.")),
    })
}
