//! Whether a trial, or a load, is a measurement at all, and was carried through to its end.

use lab::record::OutcomeKind;
use load::{End, Failure, Holding, Recording};
use tls::TlsFault;
use units::time;

use super::Doubt;
use super::definition::Definition;
use super::samples::ASK_BY_HAND;
use crate::verdict::Gravity::{Invalid, Note};
use lab::figure::rates::measured_s;

pub(super) const ALL: &[Definition] = &[NOT_MEASURED, HALTED, STOPPED, GAVE_UP];

/// It is not a measurement: no figure includes it.
pub const NOT_MEASURED: Definition = Definition::new("not_measured", Invalid)
    .when("the trial ended in any other way than `measured` ([outcomes](experiments.md#a-trial))")
    .because("it is not in any figure; the figures are those of the other trials")
    .way_out("see its output and its evidence");

/// It was stopped before its end: what was measured until then is valid for its time.
pub(crate) const HALTED: Definition = Definition::new("halted", Note)
    .when("it was stopped before its end (Ctrl-C)")
    .because("what was measured until then is valid; the sentence says how long it is")
    .way_out("let it run to its end to measure all that was ordered");

/// It gave up, because there were only failures.
pub(crate) const STOPPED: Definition = Definition::new("stopped", Invalid)
    .when("the load gave up, because there were only failures")
    .because("what was ordered was not measured")
    .way_out("check that the server runs, and that it listens on this address");

/// A load that stands alone ended by itself, because there were only failures.
pub(crate) const GAVE_UP: Definition = Definition::new("gave_up", Invalid)
    .when(
        "for `dyno load`, in place of `stopped`: there were only failures, and it ended by itself",
    )
    .because("no server was reached")
    .way_out(UNREACHED);

pub(super) const UNREACHED: &str =
    "check that the server runs, and that it listens on this address";

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
        other if other.is_unreached() => UNREACHED,
        _ => ASK_BY_HAND,
    }
}

pub(super) fn of_outcome(kind: OutcomeKind) -> Option<Doubt> {
    (kind != OutcomeKind::Measured).then(|| {
        NOT_MEASURED.found(format!(
            "this trial is not a measurement, and not in any figure: {}",
            kind.meaning()
        ))
    })
}

pub(super) fn of_recording(recording: &Recording) -> Option<Doubt> {
    match recording.end {
        End::Done => None,
        End::Halted => Some(halted(measured_s(recording))),
        End::GaveUp(_) => Some(STOPPED.found("the load gave up before its end")),
    }
}

fn halted(after_s: f64) -> Doubt {
    HALTED
        .found(format!("it was stopped after {}; the figures cover that time", time(after_s * 1e9)))
}

/// Of a load that stands alone it is said why it gave up, in place of `stopped`.
pub(super) fn of_load(recording: &Recording) -> Option<Doubt> {
    match recording.end {
        End::Done | End::Halted => None,
        End::GaveUp(failure) => {
            let is_all = recording.total.failures(failure) == recording.total.attempted;
            let says = format!(
                "dyno gave up, because every request failed{} with {failure} ({})",
                if is_all { "" } else { ", mostly" },
                failure.meaning()
            );
            Some(GAVE_UP.found(says).with_way_out(of_nothing_but(failure)))
        }
    }
}

pub(super) fn of_holding(holding: &Holding) -> Option<Doubt> {
    holding.was_halted.then(|| halted(holding.closed_at as f64 / 1e9))
}
