//! One case asked once: what came of it, cut to what is kept.

use crate::case::Case;
use crate::finding::{Evidence, KEPT, Verdict};
use crate::flaw::Flaw;
use crate::judge::{joined, judge};
use crate::seen::{End, Seen};

/// One case, asked once.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    /// What its rules say, before twin and liveness.
    pub verdict: Verdict,
    /// What the server did.
    pub why: String,
    /// What was wrong with the form of its answers.
    pub flaws: Vec<Flaw>,
    /// Whether no connection could be made.
    pub is_unconnected: bool,
    /// Whether it ended by our patience.
    pub has_waited: bool,
    /// What went over the wire.
    pub evidence: Evidence,
}

impl Sighting {
    /// Judges what was seen.
    pub(crate) fn of(case: &Case, seen: &Seen) -> Sighting {
        let answers = seen.reading.interim.iter().chain(&seen.reading.finals);
        let mut why = seen.says();
        if let Some(grew) = seen.grew {
            why += &format!("; its memory grew by {:.1} MiB", grew as f64 / f64::from(1 << 20));
        }
        let verdict = match seen.end {
            End::Unconnected | End::Flooded => Verdict::Fail,
            End::Open | End::Closed | End::Reset => judge(case, seen),
        };
        if verdict == Verdict::NotApplicable {
            why = format!("it needs {}, and there was none: {why}", joined(case.applies, ", or "));
        }
        Sighting {
            verdict,
            why,
            flaws: answers.flat_map(|answer| answer.flaws.iter().copied()).collect(),
            is_unconnected: seen.end == End::Unconnected,
            has_waited: seen.first().is_none() && seen.end == End::Open,
            evidence: Evidence {
                sent: seen.sent[..seen.sent.len().min(KEPT)].to_vec(),
                sent_len: seen.sent_len,
                heard: seen.heard[..seen.heard.len().min(KEPT)].to_vec(),
                heard_len: seen.heard.len() as u64,
            },
        }
    }

    /// Nothing can be said.
    pub(crate) fn untestable(why: impl Into<String>) -> Sighting {
        Sighting {
            verdict: Verdict::NotTestable,
            why: why.into(),
            flaws: Vec::new(),
            is_unconnected: false,
            has_waited: false,
            evidence: Evidence::default(),
        }
    }
}
