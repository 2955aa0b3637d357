//! What a gate decides by.

use analysis::{Turned, turned};
use clap::ValueEnum;
use lab::figure::Figure;
use lab::record::RunRecord;

use super::gate_run::{BASE, HEAD};

/// One thing that can be gated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Wanted {
    /// Correct answers per second in a closed loop
    Throughput,
    /// CPU time for 1,000 answers at a fixed rate
    Cpu,
    /// Clauses of the RFCs that the head newly breaks
    Conformance,
    /// The p99 of the response time at that rate
    P99,
    /// The peak memory in the closed loop
    Memory,
}

impl Wanted {
    fn figure(self) -> Option<Figure> {
        match self {
            Wanted::Throughput => Some(Figure::Throughput),
            Wanted::Cpu => Some(Figure::CpuPerThousand),
            Wanted::Conformance => None,
            Wanted::P99 => Some(Figure::ResponseP99),
            Wanted::Memory => Some(Figure::RssPeak),
        }
    }

    /// Whether it is measured at a fixed rate, and not in a closed loop.
    pub(super) fn is_at_a_rate(self) -> bool {
        matches!(self, Wanted::Cpu | Wanted::P99)
    }

    /// The figures of these that are measured at a rate, or in a closed loop.
    pub(super) fn figures(wanted: &[Wanted], at_a_rate: bool) -> Vec<Figure> {
        let all = Wanted::value_variants().iter().copied();
        let of_load = all.filter(|it| it.is_at_a_rate() == at_a_rate && wanted.contains(it));
        of_load.filter_map(Wanted::figure).collect()
    }

    /// All figures of these.
    pub(super) fn gated(wanted: &[Wanted]) -> Vec<Figure> {
        [false, true].into_iter().flat_map(|at_a_rate| Wanted::figures(wanted, at_a_rate)).collect()
    }

    /// The figures that are only shown.
    pub(super) fn others(wanted: &[Wanted], at_a_rate: bool) -> Vec<Figure> {
        let all = Wanted::value_variants().iter().copied();
        let of_load = all.filter(|it| it.is_at_a_rate() == at_a_rate && !wanted.contains(it));
        of_load.filter_map(Wanted::figure).collect()
    }
}

/// How many figures share the probability of a false alarm; at least one.
pub(super) fn count(wanted: &[Wanted]) -> usize {
    Wanted::gated(wanted).len().max(1)
}

/// The cases that the head breaks and the base keeps, in each of their rounds; or why that is not known.
pub(super) fn newly_broken(run: &RunRecord) -> Result<Vec<String>, String> {
    let checked = |name: &str| run.conformance.iter().find(|found| found.subject == name);
    let is_new =
        |it: &Turned<'_>| it.is_newly_broken() && !it.a.is_unstable() && !it.b.is_unstable();
    match turned(checked(BASE), checked(HEAD)) {
        Ok(found) => {
            let new = found.iter().filter(|it| is_new(it));
            Ok(new.map(|it| format!("{} ({})", it.b.id, it.b.title)).collect())
        }
        Err(analysis::Incomparable::Unchecked(sides)) => {
            let says = sides.iter().map(|(side, why)| {
                format!("{}: {why}", if *side == "A" { "base" } else { "head" })
            });
            Err(says.collect::<Vec<_>>().join("; "))
        }
        Err(analysis::Incomparable::Catalogues(..)) => {
            Err("base and head were checked by different catalogues".into())
        }
    }
}
