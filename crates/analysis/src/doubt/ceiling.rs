//! Whether a rate may be the limit of dyno or of the machine: a reference shows it.

use units::rate;

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::Number;
use crate::verdict::Gravity::Suspect;

/// If a reference achieves less than so many times as much, the limit may be something other than the subject.
const CLEARLY_MORE: f64 = 1.15;

pub(super) const ALL: &[Definition] = &[CEILING];

/// A reference, which does almost nothing, achieves hardly more with the same load: this may be the limit of dyno or
/// of the machine, or of the agents and the network if the load came from there.
pub(crate) const CEILING: Definition = Definition::new("ceiling", Suspect)
    .when("for a row: dyno's own server under the same load achieved less than {} × as much; where the rate is given \
        by a \
        schedule, only tested where both were behind it")
    .thresholds(&[Number(CLEARLY_MORE)])
    .because("dyno's own server does next to nothing: the rate may be dyno's or the machine's limit, not the server's. \
        With `--load-on` the same agents load dyno's own server: it may be the limit of their machines, or of the \
        network \
        between")
    .way_out("give dyno more CPUs, or another machine; or report the rate as a lower bound");

const WITH_AGENTS: &str = "let the load come from more machines, or over a faster link; or report the rate as a \
    lower bound";

/// A doubt if the best reference is hardly ahead.
pub(crate) fn near(by_agents: bool, ceiling_per_s: f64, throughput_per_s: f64) -> Option<Doubt> {
    let limit = if by_agents {
        "the limit of the machines that the load came from, or of the network between"
    } else {
        "dyno's or the machine's limit"
    };
    let found = CEILING.found(format!(
        "it achieved {}/s, and dyno's own server, which does next to nothing, reaches {}/s with this load: this may be \
         {limit}, not the server's",
        rate(throughput_per_s.round()),
        rate(ceiling_per_s.round())
    ));
    let found = if by_agents { found.with_way_out(WITH_AGENTS) } else { found };
    (ceiling_per_s < CLEARLY_MORE * throughput_per_s).then_some(found)
}
