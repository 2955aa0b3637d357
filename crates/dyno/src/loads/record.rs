//! Loads as the record of a run: one subject, the URL; one row; and a trial for each load. Its experiment and its
//! workload are made of the flags, as a race's are.

use campaign::race::label::{Label, labels};
use campaign::race::procedure;
use campaign::race::side::Side;
use lab::experiment::{Experiment, Point, Promised};
use lab::manner::Manner;
use lab::record::{
    AGENTS, AGENTS_LOST, AGENTS_LOST_SHARE, Entry, Fact, LOAD, LoadRecord, QUEUE_BACKLOG,
    QUEUE_OVERFLOWS, REQUEST, RunRecord, TrialKey, TrialRecord,
};
use lab::workload::Workload;
use load::{Arrivals, Load, Order};
use report::load::FinishedLoad;
use requests::RequestSource;
use wire::BodyRule;

use crate::order::flags::LoadFlags;
use crate::order::{self, Plan};
use crate::shell::{Refusal, command_line};

/// The run that these flags make, before its first load. A load that is only shown on a page needs no experiment: one of a
/// list of times, for example, is none.
pub(crate) fn of_run(
    flags: &LoadFlags,
    plan: &Plan,
    needs_experiment: bool,
    began_unix_ms: i64,
) -> Result<RunRecord, Refusal> {
    let labels = labels(&[Side::Found(plan.url.clone())], &[])?;
    let (experiment, files) = match asked(flags, plan, &labels) {
        Err(refusal) if needs_experiment => return Err(refusal),
        asked => asked.unwrap_or_default(),
    };
    let fact = |name: &str, value: String| Fact { name: name.into(), value };
    let mut facts = machine::facts::read();
    facts.push(fact(LOAD, command_line()));
    facts.push(fact(REQUEST, plan.asked.identity()));
    facts.extend(report::load::terms::of(&plan.order));
    let Label { title, name } = labels.into_iter().next().unwrap_or_default();
    let keys = (0..flags.keeping.loads()).map(|number| {
        TrialKey::new(number, &name, procedure::LOAD, point(&plan.order.load), number)
    });
    let keys = keys.collect();
    Ok(RunRecord {
        name: procedure::LOAD.into(),
        experiment,
        files,
        seed: plan.order.seed,
        began_unix_ms,
        dyno: campaign::version(),
        facts,
        entries: vec![Entry {
            name: name.clone(),
            title,
            processes: "unstated".into(),
            tier: "default".into(),
            ..Entry::default()
        }],
        plan: keys,
        ..RunRecord::default()
    })
}

/// Names of files, with their texts.
type Texts = Vec<(String, String)>;

/// The experiment and the text of the workload, which say what a store keeps of the flags.
fn asked(
    flags: &LoadFlags,
    plan: &Plan,
    labels: &[Label],
) -> Result<(Option<Experiment>, Texts), Refusal> {
    let Order { load, stop, warmup, timeout, keep_alive, seed, .. } = &plan.order;
    let asked = Experiment {
        name: procedure::LOAD.into(),
        question: plan.asked.identity(),
        // Steps have lengths of their own.
        duration: match load.arrivals() {
            Some(Arrivals::Steps(_)) => None,
            Some(_) | None => stop.duration,
        },
        total: stop.total,
        warmup: *warmup,
        timeout: *timeout,
        keep_alive: *keep_alive,
        vary: plan.order.asks.are_varied(),
        // A load that is kept says in facts of its own what was spoken.
        manners: vec![Manner::default()],
        repeat: flags.keeping.loads(),
        seed: *seed,
        promise: Promised::of(flags.on_time, Some(flags.max_failures)),
        ..Experiment::default()
    };
    let experiment = procedure::experiment(labels, procedure::LOAD, load, asked)?;
    let mut files = Vec::new();
    // Requests of a file or of a curl command are named by a fact of the run, as they are no workload.
    if let (RequestSource::Flags { .. }, Some(url)) = (&plan.asked.source, &flags.url) {
        let mut asked =
            order::workload::request(&flags.asking, url.target.clone(), procedure::LOAD)?;
        if let (true, Some(ask)) = (flags.same_body, plan.order.asks.iter().next())
            && matches!(asked.expect.body, BodyRule::Any)
        {
            // That of the first answer, by its hash.
            asked.expect.body = match &ask.expect.body {
                BodyRule::Exactly(body) => {
                    BodyRule::Sha256(wire::sha256(body.constant().unwrap_or_default()))
                }
                rule => rule.clone(),
            };
        }
        let workload = Workload::stated(procedure::LOAD, &asked).map_err(Refusal::new)?;
        files.push((workload.source.name, workload.source.text));
    }
    Ok((Some(experiment), files))
}

/// The row's place on the axis: the peak of a load that changes.
fn point(load: &Load) -> Point {
    match load {
        Load::Closed { connections } => Point::Connections(*connections as u32),
        Load::Open { arrivals, .. } => Point::Requests(arrivals.peak().as_f64()),
        Load::Sessions { arrivals, .. } => Point::Sessions(arrivals.peak().as_f64()),
    }
}

/// A load as a trial: its recording, and what its verdict is made of besides.
pub(crate) fn of_trial(key: &TrialKey, load: &FinishedLoad) -> TrialRecord {
    let mut trial = TrialRecord::new(key.clone(), load.began_unix_ms);
    let mut note = |name: &str, value: String| {
        trial.conditions.push(Fact { name: name.into(), value });
    };
    if let Some(queue) = load.queue {
        note(QUEUE_OVERFLOWS, queue.overflows.to_string());
        if let Some(backlog) = queue.backlog {
            note(QUEUE_BACKLOG, backlog.to_string());
        }
    }
    if !load.agents.is_empty() {
        note(AGENTS, load.agents.len().to_string());
        note(AGENTS_LOST, load.lost.len().to_string());
        let share: f64 = load.lost.iter().map(|lost| lost.share).sum();
        note(AGENTS_LOST_SHARE, share.to_string());
    }
    if !load.order.cpus.is_empty() {
        note("cpus.load", order::conditions::numbers(&load.order.cpus));
    }
    let (recording, agents) = (load.recording.clone(), load.agents.clone());
    trial.loaded = Some(LoadRecord { began: 0, in_turns: None, agents, recording });
    trial
}
