//! Held connections of one command as text and as JSON: what was held, how late messages were, and what broke.

pub(crate) mod json;

use ::agents::{AgentFacts, LostAgent};
use lab::experiment::Point;
use lab::record::{Entry, HeldRecord, RunRecord, TrialKey, TrialRecord};
use load::{HoldOrder, HoldWindow, Holding};
use units::{count, counted, nanos, seconds};

use crate::document::{Depth, Document, Section};
use crate::json::written;
use crate::load::terms;
use crate::render::Shown;
use crate::run::held::of_one_ramp;
use crate::security::TlsOrderJson;
use crate::verdict::{self, ExplainedVerdict};
use crate::{Findings, agents, held};

/// What was held, and how.
pub struct FinishedHold {
    pub order: HoldOrder,
    /// The header fields that were asked for.
    pub headers: Vec<(String, String)>,
    /// The addresses of the server.
    pub addresses: Vec<String>,
    /// The agents that held the connections, each a process.
    pub agents: Vec<AgentFacts>,
    pub holding: Holding,
    pub lost: Vec<LostAgent>,
    pub verdict: ExplainedVerdict,
}

impl Shown for FinishedHold {
    /// Its only ramp, as a run shows it.
    fn document(&self) -> Document {
        let is_elsewhere = self.agents.iter().any(|agent| !agent.has_our_clock);
        let origin = agents::section(&self.agents).filter(|_| is_elsewhere);
        let (answer, mut sections) =
            with_findings(self, |findings| (sentence(findings), of_one_ramp(findings)));
        sections.push(agents::lost(&self.lost));
        sections.extend(origin.map(|section| Section { depth: Depth::Brief, ..section }));
        sections.push(verdict::section(self.verdict.entries("").collect()));
        Document {
            label: "held connections".into(),
            title: title(&self.order),
            answer: vec![answer],
            verdict: self.verdict.word,
            sections,
            ..Document::default()
        }
    }

    fn json(&self) -> serde_json::Result<String> {
        written(&json::HoldDocument::from(self))
    }
}

/// `1,000 connections to 127.0.0.1:8080/poll/1`
pub fn title(order: &HoldOrder) -> String {
    let connections = counted(order.ramp.connections as u64, "connection", "connections");
    let request = order.what.ask().made_from();
    format!("{connections} to {}{}", request.host, request.target)
}

/// While it runs: a line a second.
pub fn second(window: &HoldWindow) -> String {
    let mut says = format!(
        "{:>5}  {:>9} open",
        format!("{} s", seconds(window.until / 100_000_000 * 100_000_000)),
        count(window.open)
    );
    if 0 < window.opening {
        says.push_str(&format!(", {} opening", count(window.opening)));
    }
    if 0 < window.failed + window.lost {
        says.push_str(&format!(", {} failed, {} lost", count(window.failed), count(window.lost)));
    }
    says.push_str(&format!("  {} messages", count(window.messages)));
    if let Some(late) = window.late.unfold().quantile(0.99) {
        says.push_str(&format!(", late p99 {}", nanos(late.value)));
    }
    says
}

fn sentence(findings: &Findings<'_>) -> String {
    let mut ramps = findings.board.ramps.iter().flat_map(|ramps| &ramps.subjects);
    ramps.next().map_or(String::new(), |ramp| held::sentence("The server", ramp))
}

/// A ramp is a run of one server with one round.
fn with_findings<T>(held: &FinishedHold, show: impl FnOnce(&Findings<'_>) -> T) -> T {
    let FinishedHold { order, holding, agents, .. } = held;
    let request = order.what.ask().made_from();
    let key = TrialKey::new(
        0,
        &request.host,
        &request.target,
        Point::Held(u32::try_from(order.ramp.connections).unwrap_or(u32::MAX)),
        0,
    );
    let tls = order.tls.as_ref().map(|client| TlsOrderJson::from(client.order()));
    let run = RunRecord {
        facts: terms::facts(None, "", tls.as_ref()),
        entries: vec![Entry { name: request.host.clone(), ..Entry::default() }],
        plan: vec![key.clone()],
        ..RunRecord::default()
    };
    let record = HeldRecord { began: 0, agents: agents.clone(), holding: holding.clone() };
    let trial = TrialRecord { held: Some(record), ..TrialRecord::new(key, 0) };
    let trials = [trial];
    show(&Findings::of(&"–", &run, &trials, Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_named_by_its_end() {
        let shown = |until| second(&HoldWindow::new(2_000_000_000, until));
        assert_eq!(shown(3_000_000_000), "  3 s          0 open  0 messages");
        assert_eq!(shown(2_540_000_000), "2.5 s          0 open  0 messages");
    }
}
