//! Whether a rate may be the limit of dyno or of the machine: a reference shows it.

use units::rate;

use super::definition::family;
use crate::verdict::Gravity;

/// If a reference achieves less than so many times as much, the limit may be something other than the subject.
const CLEARLY_MORE: f64 = 1.15;

family! {
    /// About a row, not about a trial.
    CeilingDoubt;

    /// A reference, which does almost nothing, achieves hardly more with the same load: this may be the limit of dyno or
    /// of the machine, or of the agents and the network if the load came from there.
    Ceiling {
        by_agents: bool,
        /// The reference's rate, each second.
        ceiling_per_s: f64,
        /// The row's rate, each second.
        throughput_per_s: f64,
    }
    id: "ceiling",
    gravity: Gravity::Suspect,
    when: format!(
        "for a row: a reference at the same place achieved less than {CLEARLY_MORE} × as much; where the rate is given by a \
         schedule, only tested where both were behind it"
    ),
    because: "the reference does next to nothing: the rate may be dyno's or the machine's limit, not the subject's. With \
        `--load-on` the same agents load the reference: it may be the limit of their machines, or of the network between",
    says: format!(
        "it achieved {}/s, and the reference, which does next to nothing, reaches {}/s with this load: this may be {}, not \
         the subject's",
        rate(throughput_per_s.round()),
        rate(ceiling_per_s.round()),
        if *by_agents {
            "the limit of the machines that the load came from, or of the network between"
        } else {
            "dyno's or the machine's limit"
        }
    ),
    way_out: if *by_agents {
        "let the load come from more machines, or over a faster link; or say that it is at least so fast"
    } else {
        "give dyno more CPUs, or another machine; or say that it is at least so fast"
    },
    examples: [
        { by_agents: false, ceiling_per_s: 31_000.0, throughput_per_s: 30_000.0 },
        { by_agents: true, ceiling_per_s: 31_000.0, throughput_per_s: 30_000.0 },
    ],
}

/// A doubt if the best reference is hardly ahead.
pub(crate) fn near(
    by_agents: bool,
    ceiling_per_s: f64,
    throughput_per_s: f64,
) -> Option<CeilingDoubt> {
    let is_near = ceiling_per_s < CLEARLY_MORE * throughput_per_s;
    is_near.then_some(CeilingDoubt::Ceiling { by_agents, ceiling_per_s, throughput_per_s })
}
