//! How a run was measured and on what, and what a reader must know before the first number.

use lab::experiment::Experiment;
use lab::record::{Fact, LOAD, RACE_ANSWERS, RunRecord, TrialRecord, fact};

use super::findings::Findings;
use super::{fairness, origin, searches};
use crate::document::{Block, Depth, Section, Tone};

/// What is said of the servers, the machine and the method, whatever the run was to find.
pub(super) fn servers_and_machine(findings: &Findings<'_>) -> [Section; 4] {
    [
        Section::new("differences", "What differs between them", Depth::Full)
            .with(fairness::blocks(findings)),
        Section::new("entrants", "Which servers took part", Depth::Full)
            .with(fairness::entrants(findings)),
        origin::section(findings),
        method(findings),
    ]
}

/// How it was measured, and on what.
fn method(findings: &Findings<'_>) -> Section {
    let mut texts = vec![
        match &findings.run.experiment {
            _ if findings.is_load() => {
                "`dyno load` made each load on a server that ran already, one after another."
            }
            Some(Experiment { slices: Some(_), .. }) => {
                "Every round starts all servers anew, except those that ran already, verifies their answers, loads them in \
                 slices, in turn, and verifies their answers again."
            }
            Some(_) | None => {
                "Every trial starts its server anew, unless it ran already, verifies its answers, loads it, and verifies \
                 them again. Trials are shuffled by the seed."
            }
        },
        "throughput: correct answers inside the measured time. Response time counts from when a request was due, not from \
         when it was sent; a request that was given up counts at the time-out.",
        "95 % interval: by Student's t over the rounds of this run. It does not include what differs from one run, day \
         or machine to the next. With one round there is no interval.",
    ];
    if !findings.board.ramps.is_empty() {
        texts.push(
            "Held connections: a trial is a whole ramp. Connections are added in steps, and each step is measured once its \
             connections have been begun and have settled. At the end all are closed, and the server is watched \
             while it releases memory.",
        );
        texts.push(
            "A message's lateness counts from when it was due, and includes dyno's own share, which is shown beside it \
             (own p99).",
        );
    }
    if findings.is_search() {
        texts = searches::METHOD.to_vec();
    }
    let mut blocks: Vec<Block> =
        texts.into_iter().map(|says| Block::paragraph(Tone::Plain, says)).collect();
    blocks.push(Block::Heading("The machine".into()));
    let (facts, is_shortened) = origin::facts_that_differ(&findings.run.facts);
    if is_shortened {
        let says =
            "What was read of another machine stands here where it differs; its name is before it.";
        blocks.push(Block::paragraph(Tone::Dim, says));
    }
    let is_shown = |fact: &&Fact| fact.name != LOAD || !findings.is_passing_load();
    let facts =
        facts.into_iter().filter(is_shown).map(|fact| vec![fact.name.clone(), fact.value.clone()]);
    blocks.push(Block::Table(fairness::text_table("facts", &["fact", "as it was read"], facts)));
    Section::new("method", "How it was measured", Depth::Full).with(blocks)
}

/// What a reader must know before the first number.
pub(super) fn warnings(findings: &Findings<'_>) -> Vec<String> {
    let run = findings.run;
    let mut warnings = Vec::new();
    if run.is_quick {
        warnings.push(
            "quick: times and rounds were reduced; for a first look, not to be quoted".into(),
        );
    }
    if let Some(changed) = findings.changed().filter(|changed| !changed.says.is_empty()) {
        let says = changed.says.join(", ");
        warnings.push(format!("not run as its file says; the command line changed it: {says}"));
    }
    warnings.extend(searches::unfinished(findings));
    let planned = findings.board.planned();
    if !findings.is_search() && findings.kept() < planned {
        let least = if findings.is_bound() { " or more" } else { "" };
        let way_out = match findings.is_race() || findings.is_load() {
            true => String::new(),
            false => {
                let Findings { id, store_option, .. } = findings;
                let places = findings.run.place_flags();
                format!("; `dyno run --resume {id}{places}{store_option}` continues it")
            }
        };
        warnings.push(format!(
            "{} of {planned}{least} trials: the run is not finished{way_out}",
            findings.kept()
        ));
    }
    warnings.extend(race_answers(findings).map(String::from));
    warnings.extend(findings.says_of_damage().map(String::from));
    warnings.extend(findings.history_says.clone());
    warnings
}

/// How the sides' first answers differ, a sentence each.
pub(crate) fn race_answers<'t>(findings: &'t Findings<'_>) -> impl Iterator<Item = &'t str> {
    let facts = findings.run.facts.iter().filter(|fact| fact.name == RACE_ANSWERS);
    facts.map(|fact| fact.value.as_str())
}

/// CPU, kernel, cores, which CPUs each side has, the limit of memory, the version of dyno.
pub(crate) fn machine(run: &RunRecord, trials: &[TrialRecord]) -> String {
    let known = |name: &str| fact(&run.facts, name).map(String::from);
    let condition = |name: &str| trials.iter().find_map(|trial| fact(&trial.conditions, name));
    let load_from = origin::load(run, trials);
    let is_here = load_from.is_none();
    let parts = [
        known("cpu.model"),
        known("cpu.online").map(|cpus| format!("CPUs {cpus}")),
        known("kernel"),
        condition("cpus.subject").map(|cpus| format!("server on CPU {cpus}")),
        condition("cpus.service").map(|cpus| format!("service on CPU {cpus}")),
        condition("cpus.load").filter(|_| is_here).map(|cpus| format!("load on CPU {cpus}")),
        condition("cpus.shared").filter(|_| is_here).map(String::from),
        condition(lab::trial::SPIN).map(|spin| format!("polling: {spin}")),
        load_from.map(|from| format!("load from {from}")),
        condition("memory").map(|memory| format!("memory: {memory}")),
        Some(format!("dyno {}", run.dyno)),
        Some(format!("seed {}", run.seed)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}
