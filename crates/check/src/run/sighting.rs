//! One run of one case: its result, cut to what is kept.

use crate::case::{Case, Scheduling};
use crate::finding::{CaseVerdict, Evidence, KEPT};
use crate::flaw::Flaw;
use crate::frame::{Slip, slips};
use crate::h2::Breach;
use crate::judge::judge;
use crate::observation::{End, Observation};
use crate::script::joined;

/// One run of one case.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    /// Whether the case was run at all.
    pub is_asked: bool,
    /// What its rules say, before its twin and the server's survival are considered.
    pub verdict: CaseVerdict,
    /// What the server did.
    pub why: String,
    /// What was wrong first with the form of its answers.
    pub flaw: Option<Flaw>,
    /// What was wrong with its frames; none if there were no frames.
    pub slips: Option<Vec<Slip>>,
    /// What was wrong with its frames of HTTP/2; none if there were none.
    pub breaches: Option<Vec<Breach>>,
    /// Whether no connection could be made.
    pub is_unconnected: bool,
    /// Whether it ended because our patience did.
    pub has_waited: bool,
    /// Whether the server closed before it had sent all that it owed.
    pub was_cut_off: bool,
    /// What went over the wire.
    pub evidence: Evidence,
}

impl Sighting {
    pub(crate) fn of(case: &Case, seen: &Observation) -> Sighting {
        let mut answers = seen.reading.interim.iter().chain(&seen.reading.finals);
        let mut why = seen.says();
        // Growth of less than one MiB is reported only for alone and slow cases.
        let is_told = |grew: &u64| *grew >= 1 << 20 || case.scheduling != Scheduling::Together;
        if let Some(grew) = seen.grew.filter(is_told) {
            why += &format!("; its memory grew by {:.1} MiB", grew as f64 / f64::from(1 << 20));
        }
        let verdict = match seen.end {
            End::Unconnected => CaseVerdict::Fail,
            // A server that sends back what it received does not flood.
            End::Flooded if seen.sent_len < seen.received.len() as u64 => CaseVerdict::Fail,
            End::Flooded | End::Open | End::Closed | End::Reset => judge(case, seen),
        };
        if verdict == CaseVerdict::NotApplicable {
            why = format!(
                "it needs {}, which the server did not send: {why}",
                joined(case.applies, ", or ")
            );
        }
        let frames = seen.frames();
        let is_undecided = seen.is_switched() && seen.end == End::Open && !seen.goes_on();
        let is_unanswered = is_undecided && verdict == CaseVerdict::Fail;
        let heard = seen.heard.as_ref();
        let is_silent = match heard {
            Some(_) => seen.is_owed && verdict == CaseVerdict::Fail,
            None if seen.greeting.is_some() => seen.is_owed,
            None => seen.first().is_none() && seen.end == End::Open,
        };
        let is_cut_off = match heard {
            Some(heard) => !heard.has_spoken(),
            None if seen.greeting.is_some() => false,
            None => seen.first().is_none() || seen.is_switched() && seen.closes().is_empty(),
        };
        Sighting {
            is_asked: true,
            verdict,
            why,
            flaw: answers.find_map(|answer| answer.flaws.first().copied()),
            is_unconnected: seen.end == End::Unconnected,
            slips: (!frames.is_empty()).then(|| slips(&frames)),
            breaches: heard.filter(|heard| heard.frames > 0).map(|heard| heard.breaches.clone()),
            has_waited: is_unanswered || is_silent,
            was_cut_off: seen.is_closed() && is_cut_off,
            evidence: Evidence {
                sent: seen.sent[..seen.sent.len().min(KEPT)].to_vec(),
                sent_len: seen.sent_len,
                received: seen.received[..seen.received.len().min(KEPT)].to_vec(),
                received_len: seen.received.len() as u64,
            },
        }
    }

    /// Nothing can be said, since the case was not run.
    pub(crate) fn untestable(why: impl Into<String>) -> Sighting {
        Sighting {
            is_asked: false,
            verdict: CaseVerdict::NotTestable,
            why: why.into(),
            flaw: None,
            slips: None,
            breaches: None,
            is_unconnected: false,
            has_waited: false,
            was_cut_off: false,
            evidence: Evidence::default(),
        }
    }
}
