//! How each doubt affects the verdict.

use super::Doubt;
use crate::verdict::{Gravity, Verdict};

/// If dyno's own failures are a larger share, the rest is not a sample of what was ordered.
const OWN_FAILURES: f64 = 0.01;
/// If a larger share of a load that stands alone failed, its latencies are mostly those of the others.
const FAILURES: f64 = 0.01;
/// Likewise, of the time in which dyno stood still.
const STILL: f64 = 0.01;
/// Likewise, of the time in which the server gave no right answer.
const SILENT: f64 = 0.1;
/// If a smaller share is under way at the end, no printed p99 depends on it.
const UNDER_WAY: f64 = 0.001;
/// A throughput that exceeds what was requested by more than this is not the server's own.
const EXCESS: f64 = 0.01;
/// If a smaller share of connections is closed without notice, no rate depends on it.
const RECONNECTS: f64 = 0.01;

impl Doubt {
    /// Whether it means that the server did not keep up with its schedule.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        match self {
            Doubt::NotOnTime { .. } | Doubt::Growing { .. } => true,
            Doubt::Stated { ids, .. } => {
                ids.iter().any(|id| id == "not_on_time" || id == "growing")
            }
            _ => false,
        }
    }

    /// How it affects the verdict. docs/validity.md gives the reasons.
    #[must_use]
    pub fn gravity(&self) -> Gravity {
        match *self {
            Doubt::Unmeasured(_)
            | Doubt::Books { .. }
            | Doubt::Connections { .. }
            | Doubt::AgentsLost { .. }
            | Doubt::Stopped
            | Doubt::GaveUp(_)
            | Doubt::NoneRight { .. }
            | Doubt::Nothing => Gravity::Invalid,
            Doubt::Failures { faults, .. } => {
                let is_small = faults.all() as f64 <= FAILURES * faults.of as f64;
                if is_small { Gravity::Note } else { Gravity::Suspect }
            }
            Doubt::Stated { verdict, .. } => match verdict {
                Verdict::Valid => Gravity::Note,
                Verdict::Suspect => Gravity::Suspect,
                Verdict::Invalid => Gravity::Invalid,
            },
            Doubt::OwnFailures { failed, attempted }
            | Doubt::OwnLosses { own: failed, begun: attempted } => {
                let is_small = failed as f64 <= OWN_FAILURES * attempted as f64;
                if is_small { Gravity::Suspect } else { Gravity::Invalid }
            }
            Doubt::Tls(ref doubt) => doubt.gravity(),
            Doubt::Http2(ref doubt) => doubt.gravity(),
            Doubt::Agents(ref doubt) => doubt.gravity(),
            Doubt::StoodStill { share, .. } => {
                if share <= STILL {
                    Gravity::Suspect
                } else {
                    Gravity::Invalid
                }
            }
            Doubt::Silence { share, .. } => {
                if share <= SILENT {
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
            | Doubt::ReceivedLate { .. }
            | Doubt::Busy { .. }
            | Doubt::Starved { .. }
            | Doubt::Surplus { .. }
            | Doubt::UnlikeBodies { .. }
            | Doubt::Overflows { .. }
            | Doubt::SynRetries { .. }
            | Doubt::DelayedAck { .. }
            | Doubt::Drift { .. }
            | Doubt::WarmupTooShort { .. }
            | Doubt::Steal { .. }
            | Doubt::OtherPrograms { .. }
            | Doubt::ProcessesEnded { .. }
            | Doubt::MemoryKills { .. }
            | Doubt::LeftCgroup { .. }
            | Doubt::MeanAboveP99 { .. }
            | Doubt::Ceiling { .. }
            | Doubt::ClockStep { .. }
            | Doubt::TwinBusy { .. }
            | Doubt::ShortSlices { .. }
            | Doubt::FewAlone { .. }
            | Doubt::ConformanceUnderLoad { .. } => Gravity::Suspect,
            // Findings about the subject; an early end, since what was measured until then is valid for its time; another
            // dyno, whose CPU time is judged separately; and percentiles, which are marked one by one if they are not
            // supported.
            Doubt::NotOnTime { .. }
            | Doubt::Growing { .. }
            | Doubt::NotKept { .. }
            | Doubt::NotOpened { .. }
            | Doubt::Silent { .. }
            | Doubt::OtherDyno { .. }
            | Doubt::Halted { .. }
            | Doubt::FewForTail { .. }
            | Doubt::Blocked { .. }
            | Doubt::FewSamples { .. } => Gravity::Note,
        }
    }
}
