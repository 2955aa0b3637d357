//! `--history` of a gate: what earlier gates know of this machine's spread, and this gate's own lines.

use ::report::history::{GateOf, Like, differences, gate_line, machine_key, plan_key, read};
use analysis::gate::{ENOUGH, Pooled, Rule, Weighing};
use campaign::{Campaign, RunResources};
use lab::figure::Figure;
use units::counted;

use super::figures::Wanted;
use super::gate_run::GateRun;
use super::{GateFlags, LoadRun};
use crate::shell::Refusal;

/// How far pairs spread, by the earlier gates that are like this one; none if they are too few. Of several figures
/// that of the widest.
pub(super) fn spread(
    gate_run: &GateRun<'_>,
    flags: &GateFlags,
    rule: Rule,
    (campaign, resources): (&Campaign, &RunResources),
) -> Result<Option<Pooled>, Refusal> {
    let Some(path) = flags.history.path().filter(|path| path.exists()) else {
        return Ok(None);
    };
    let history = read(&archive::history::read(&[path.to_path_buf()])?);
    for broken in &history.broken {
        terminal::notice(&format!(
            "dyno: {} line {}: {}; line skipped (the file is unchanged)",
            broken.file, broken.number, broken.why
        ));
    }
    let (machine, _) = machine_key(&resources.facts());
    let plan = plan(gate_run, campaign);
    let like = Like { machine: &machine, plan: &plan, has_builds: rule.builds.is_some() };
    let pooled = |figure: &Figure| Pooled::of(&differences(&history.gates, &like, *figure));
    let known: Vec<Option<Pooled>> = Wanted::gated(&flags.gate).iter().map(pooled).collect();
    let least = known.iter().map(|it| it.map_or(0, |it| it.freedom)).min().unwrap_or(0);
    if least < ENOUGH {
        let known = match least {
            0 => "it has no noise for pairs of this plan on this machine".to_string(),
            least => format!(
                "the pairs of this plan on this machine have {}, and {ENOUGH} are needed to know the noise",
                counted(least as u64, "degree of freedom", "degrees of freedom")
            ),
        };
        terminal::notice(&format!(
            "{}: {known}; it is measured first, with pairs of the base against itself",
            archive::page::near(path)
        ));
        return Ok(None);
    }
    Ok(known.into_iter().flatten().max_by(|one, other| one.spread.total_cmp(&other.spread)))
}

fn plan(gate_run: &GateRun<'_>, campaign: &Campaign) -> String {
    let texts = gate_run.plan(campaign);
    plan_key(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Appends a line for each gated figure.
pub(super) fn append(
    flags: &GateFlags,
    gate_run: &GateRun<'_>,
    runs: &[LoadRun],
    weighing: &Weighing,
) -> Result<(), Refusal> {
    let Rule { alpha, detect, .. } = weighing.rule;
    let plan = plan(gate_run, &runs[0].0.campaign);
    let sides = gate_run.prepared.sides.each_ref();
    let titles = sides.map(|side| side.written.as_str());
    let commits = sides.map(|side| side.commit.as_ref());
    let gate = GateOf { titles, commits, plan: &plan, alpha, detect };
    let mut lines = String::new();
    let mut weighed = weighing.figures.iter();
    for (measured, gated, shown) in runs {
        // The figures of a load follow one another, the gated ones first.
        for of in weighed.by_ref().take(gated.len() + shown.len()).filter(|it| it.is_gated) {
            lines += &gate_line(&gate, &measured.run, &measured.course, of)?;
        }
    }
    if lines.is_empty() { Ok(()) } else { flags.history.append_lines(&lines) }
}
