//! Whether a trial, or a load, is a measurement at all, and was carried through to its end.

use lab::record::OutcomeKind;
use load::{End, Failure, Holding, Recording};
use tls::TlsFault;
use units::time;

use super::definition::family;
use crate::rates::measured_s;
use crate::verdict::Gravity;

family! {
    /// It is no measurement, or did not go on to its end.
    EndingDoubt;

    /// It is not a measurement: no figure includes it.
    Unmeasured { kind: OutcomeKind }
    id: "not_measured",
    gravity: Gravity::Invalid,
    when: "the trial ended in any other way than `measured` ([outcomes](experiments.md#a-trial))",
    because: "it is in no figure, and the figures are those of the others",
    says: format!("this trial is no measurement, and is in no figure: {}", outcome_in_words(*kind)),
    way_out: "see what it left behind",
    examples: [{ kind: OutcomeKind::Died }],

    /// It was stopped before its end: what was measured until then is valid for its time.
    Halted {
        /// How long it was measured, seconds.
        after_s: f64,
    }
    id: "halted",
    gravity: Gravity::Note,
    when: "it was stopped before its end (Ctrl-C)",
    because: "what was measured until then is valid for its time; the length is in the sentence",
    says: format!("it was stopped after {}; the figures are of that time", time(after_s * 1e9)),
    way_out: "let it run to its end to measure all that was ordered",
    examples: [{ after_s: 12.0 }],

    /// It gave up, because there were only failures.
    Stopped
    id: "stopped",
    gravity: Gravity::Invalid,
    when: "the load gave up, because there were only failures",
    because: "what was ordered was not measured",
    says: "the load gave up before its end",
    way_out: "see whether the server runs, and at this address",
    examples: [{}],

    /// A load that stands alone ended by itself, because there were only failures.
    GaveUp { failure: Failure }
    id: "gave_up",
    gravity: Gravity::Invalid,
    when: "for `dyno load`, in place of `stopped`: there were only failures, and it ended by itself",
    because: "no server was reached",
    says: format!("it gave up: nothing but failures, mostly {failure} ({})", failure.meaning()),
    way_out: of_nothing_but(*failure),
    examples: [{ failure: Failure::ConnectRefused }],
}

/// How a trial ended, as it reads after "not measured:".
#[must_use]
pub fn outcome_in_words(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Measured => "measured",
        OutcomeKind::Skipped => "skipped",
        OutcomeKind::NotReady => "no right answer in time",
        OutcomeKind::Wrong => "wrong answer",
        OutcomeKind::Died => "died",
        OutcomeKind::WrongServer => "another server on its port",
        OutcomeKind::Unable => "dyno was unable to",
        OutcomeKind::Interrupted => "interrupted",
    }
}

/// What to do where nothing worked, mostly because of this failure.
pub(super) fn of_nothing_but(failure: Failure) -> &'static str {
    match failure {
        Failure::Tls(TlsFault::Certificate) => {
            "give --ca FILE with the authority that signed its certificate, or -k"
        }
        Failure::Tls(_) => {
            "see whether this is the server's port for TLS, and whether it takes what the flags offer"
        }
        over_2 if over_2.is_unreached() && over_2.name().starts_with("h2.") => {
            "see whether the server speaks HTTP/2 at this address, or leave out --http2"
        }
        _ => "see whether the server runs, and at this address",
    }
}

pub(super) fn of_outcome(kind: OutcomeKind) -> Option<EndingDoubt> {
    (kind != OutcomeKind::Measured).then_some(EndingDoubt::Unmeasured { kind })
}

pub(super) fn of_recording(recording: &Recording) -> Option<EndingDoubt> {
    match recording.end {
        End::Done => None,
        End::Halted => Some(EndingDoubt::Halted { after_s: measured_s(recording) }),
        End::GaveUp(_) => Some(EndingDoubt::Stopped),
    }
}

/// Of a load that stands alone it is said why it gave up, in place of `Stopped`.
pub(super) fn of_load(recording: &Recording) -> Option<EndingDoubt> {
    match recording.end {
        End::Done | End::Halted => None,
        End::GaveUp(failure) => Some(EndingDoubt::GaveUp { failure }),
    }
}

pub(super) fn of_holding(holding: &Holding) -> Option<EndingDoubt> {
    let after_s = holding.closed_at as f64 / 1e9;
    holding.was_halted.then_some(EndingDoubt::Halted { after_s })
}
