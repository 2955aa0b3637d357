//! What is known of one load: all of one that has just ended, and of one that was kept what its store has.

use std::borrow::Cow;

use agents::AgentFacts;
use analysis::{By, Conduct, Faults, Tolerated};
use lab::experiment::Point;
use lab::record::{AGENTS_LOST_SHARE, QUEUE_BACKLOG, QUEUE_OVERFLOWS, TrialRecord, fact};
use load::{Load, Recording};

use super::{Costs, FinishedLoad, Queue, answers, order_text, terms};
use crate::Findings;
use crate::verdict::ExplainedVerdict;

pub(crate) struct KnownLoad<'t> {
    pub(super) recording: &'t Recording,
    pub(super) kind: Kind,
    /// Where the server was, for one that was not there.
    pub(super) server: String,
    pub(super) conduct: Conduct,
    pub(super) verdict: Cow<'t, ExplainedVerdict>,
    pub(super) agents: &'t [AgentFacts],
    /// The share of the load that was lost with its agents.
    pub(super) lost: f64,
    pub(super) queue: Option<Queue>,
    pub(super) costs: Costs,
    /// Statuses that came instead of the expected ones.
    pub(super) instead: String,
    pub(super) is_unverified: bool,
}

/// What was ordered, as far as it is said.
pub(super) enum Kind {
    Closed { connections: u64 },
    Open,
    Sessions { calls: u64 },
}

impl<'t> KnownLoad<'t> {
    /// A load of this run, which has just ended or was kept.
    pub(crate) fn of(findings: &'t Findings<'_>, trial: &'t TrialRecord) -> Option<KnownLoad<'t>> {
        let place = findings.trials.iter().position(|other| std::ptr::eq(other, trial));
        match place.and_then(|place| findings.ended.get(place)) {
            Some(load) => Some(KnownLoad::ended(load)),
            None => KnownLoad::kept(findings, trial),
        }
    }

    pub(super) fn ended(run: &'t FinishedLoad) -> KnownLoad<'t> {
        KnownLoad {
            recording: &run.recording,
            kind: match run.order.load {
                Load::Closed { connections } => Kind::Closed { connections: connections as u64 },
                Load::Open { .. } => Kind::Open,
                Load::Sessions { calls, .. } => Kind::Sessions { calls: calls.into() },
            },
            server: order_text::address(&run.order.target),
            conduct: Conduct::of(Faults::of([&run.recording.total]), run.tolerated),
            verdict: Cow::Borrowed(&run.verdict),
            agents: &run.agents,
            lost: run.lost.iter().map(|lost| lost.share).sum(),
            queue: run.queue,
            costs: run.costs,
            instead: answers::instead(run),
            is_unverified: terms::is_unverified(&terms::of(&run.order)),
        }
    }

    fn kept(findings: &'t Findings<'_>, trial: &'t TrialRecord) -> Option<KnownLoad<'t>> {
        let noted = |name: &str| fact(&trial.conditions, name);
        let count = |name: &str| noted(name)?.parse::<u64>().ok();
        let backlog = count(QUEUE_BACKLOG).and_then(|backlog| backlog.try_into().ok());
        let loaded = trial.loaded.as_ref()?;
        let row = findings.board.tables.first()?.rows.first()?;
        let tolerated = Tolerated::by(findings.run.experiment.as_ref());
        Some(KnownLoad {
            recording: &loaded.recording,
            kind: match trial.key.point {
                Point::Connections(connections) => Kind::Closed { connections: connections.into() },
                Point::Requests(_) => Kind::Open,
                Point::Sessions(_) => Kind::Sessions { calls: findings.calls() as u64 },
                Point::Held(_) => return None,
            },
            server: findings.title(&row.subject).into(),
            conduct: Conduct::of(Faults::of([&loaded.recording.total]), tolerated),
            verdict: Cow::Owned(ExplainedVerdict::of_row(row, By::Flags)),
            agents: &loaded.agents,
            lost: noted(AGENTS_LOST_SHARE).and_then(|share| share.parse().ok()).unwrap_or(0.0),
            queue: count(QUEUE_OVERFLOWS).map(|overflows| Queue { backlog, overflows }),
            costs: Costs::default(),
            instead: String::new(),
            is_unverified: terms::is_unverified(&findings.run.facts),
        })
    }
}
