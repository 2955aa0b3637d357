//! What each doubt does to the verdict.

use super::Doubt;
use crate::verdict::Gravity;

/// More of our own failures than this share, and the rest is no sample of what was ordered.
const OWN_FAILURES: f64 = 0.01;
/// Likewise, of the time in which we stood still.
const STILL: f64 = 0.01;
/// Of fewer that are under way at the end no p99 that is printed depends.
const UNDER_WAY: f64 = 0.001;
/// A throughput of more than was asked for by so much is not the server's own.
const EXCESS: f64 = 0.01;
/// Of fewer connections that are closed without a word, no rate depends.
const RECONNECTS: f64 = 0.01;

impl Doubt {
    /// Whether it says that the server did not keep up with its schedule.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        matches!(self, Doubt::NotOnTime { .. } | Doubt::Growing { .. })
    }

    /// What it does to the verdict. docs/validity.md says why.
    #[must_use]
    pub fn gravity(&self) -> Gravity {
        match *self {
            Doubt::Unmeasured(_)
            | Doubt::Books { .. }
            | Doubt::Connections { .. }
            | Doubt::Stopped
            | Doubt::Nothing => Gravity::Invalid,
            Doubt::OwnFailures { failed, attempted }
            | Doubt::OwnLosses { own: failed, begun: attempted } => {
                let is_small = failed as f64 <= OWN_FAILURES * attempted as f64;
                if is_small { Gravity::Suspect } else { Gravity::Invalid }
            }
            Doubt::StoodStill { share, .. } => {
                if share <= STILL {
                    Gravity::Suspect
                } else {
                    Gravity::Invalid
                }
            }
            Doubt::UnderWay { left, due } => {
                let is_small = left as f64 <= UNDER_WAY * due as f64;
                if is_small { Gravity::Note } else { Gravity::Suspect }
            }
            Doubt::CarriedIn { inside, excess, .. } => {
                let is_small = excess as f64 <= EXCESS * inside as f64;
                if is_small { Gravity::Note } else { Gravity::Suspect }
            }
            Doubt::Reconnects { unannounced, answers, .. } => {
                let is_small = unannounced as f64 <= RECONNECTS * answers as f64;
                if is_small { Gravity::Note } else { Gravity::Suspect }
            }
            Doubt::Late { .. }
            | Doubt::HeardLate { .. }
            | Doubt::Busy { .. }
            | Doubt::Starved { .. }
            | Doubt::Surplus { .. }
            | Doubt::Overflows { .. }
            | Doubt::SynRetries { .. }
            | Doubt::DelayedAck { .. }
            | Doubt::Drift { .. }
            | Doubt::WarmupTooShort { .. }
            | Doubt::Steal { .. }
            | Doubt::OtherPrograms { .. }
            | Doubt::ProcessesEnded { .. }
            | Doubt::MemoryKills { .. }
            | Doubt::MeanAboveP99 { .. }
            | Doubt::Ceiling { .. }
            | Doubt::ClockStep { .. }
            | Doubt::ConformanceUnderLoad { .. } => Gravity::Suspect,
            // Findings about the subject; who is there, whose CPU time is judged apart; and percentiles that are not supported are marked one by one.
            Doubt::NotOnTime { .. }
            | Doubt::Growing { .. }
            | Doubt::NotKept { .. }
            | Doubt::NotOpened { .. }
            | Doubt::Silent { .. }
            | Doubt::OtherDyno { .. }
            | Doubt::FewSamples { .. } => Gravity::Note,
        }
    }
}
