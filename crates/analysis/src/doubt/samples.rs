//! Whether anything was measured, and enough of it.

use load::{Failure, Holding, Loss, Plateau, Recording};
use units::count;

use super::definition::{WaysOut, Weight, family};
use super::ending::of_nothing_but;
use super::failures::most_seen;
use crate::held::gone;
use crate::verdict::Gravity;

/// A p99 with ten samples beyond it needs so many, …
pub const SAMPLES_FOR_P99: u64 = 1_000;
/// … and a p99.9 so many.
const SAMPLES_FOR_P999: u64 = 10_000;

/// In which way nothing was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nothing {
    /// No request was due in the measured time.
    Due,
    /// No held connection was begun.
    Begun,
    /// Not one request was answered as expected; the class of failure that was seen most.
    Right { attempted: u64, mostly: Option<Failure> },
    /// Not one held connection was opened; why most of them were not.
    Opened { begun: u64, mostly: Option<Loss> },
    /// Not one held connection was left at the end; why most of them were not.
    Held { opened: u64, mostly: Option<Loss> },
}

family! {
    /// There are no samples, or few.
    SamplesDoubt;

    Nothing { nothing: Nothing }
    id: "nothing_measured",
    gravity: Gravity::Invalid,
    when: "nothing was due, no held connection was begun; for `dyno hold` also: not one was opened, or none was left at \
        the end; for `dyno load` also: not one request was answered as expected",
    because: "there is no sample to make a figure of",
    says: nothing_says(*nothing),
    way_out: nothing_way_out(*nothing),
    examples: [
        { nothing: Nothing::Due },
        { nothing: Nothing::Begun },
        { nothing: Nothing::Right { attempted: 0, mostly: None } },
        { nothing: Nothing::Right { attempted: 7, mostly: Some(Failure::Deadline) } },
        { nothing: Nothing::Opened { begun: 9, mostly: Some(Loss::Failure(Failure::ConnectRefused)) } },
        { nothing: Nothing::Held { opened: 9, mostly: None } },
    ],

    /// There are so few samples that a p99 means nothing, or, of a load that stands alone, a p99.9.
    TooFew { samples: u64, is_alone: bool }
    id: "too_few_samples",
    gravity: if *is_alone && *samples < SAMPLES_FOR_P99 {
        Weight::ByData(Gravity::Suspect, FEW)
    } else {
        Weight::ByData(Gravity::Note, FEW)
    },
    when: format!(
        "fewer than {}; for `dyno load` a note below {}, which a p99.9 takes",
        count(SAMPLES_FOR_P99),
        count(SAMPLES_FOR_P999)
    ),
    because: "ten samples beyond the p99 take so many",
    says: if *samples < SAMPLES_FOR_P99 {
        format!(
            "{} samples are too few for a p99, which takes {}",
            count(*samples),
            count(SAMPLES_FOR_P99)
        )
    } else {
        format!(
            "{} samples are too few for p99.9, which takes {}",
            count(*samples),
            count(SAMPLES_FOR_P999)
        )
    },
    way_out: WaysOut {
        flags: "let it run longer (-d, -n)",
        experiment: "measure for longer",
    },
    examples: [
        { samples: 10, is_alone: false },
        { samples: 10, is_alone: true },
        { samples: 2_000, is_alone: true },
    ],
}

const FEW: &str = "note; suspect for `dyno load`";

fn nothing_says(nothing: Nothing) -> String {
    match nothing {
        Nothing::Due => "not one request was due in the measured time".into(),
        Nothing::Begun => "not one connection was begun".into(),
        Nothing::Right { attempted: 0, .. } => "nothing was attempted in the measured time".into(),
        Nothing::Right { attempted, mostly } => {
            let mostly = mostly
                .map_or(String::new(), |most| format!(", mostly {most} ({})", most.meaning()));
            format!("not one of {} attempts was answered as expected{mostly}", count(attempted))
        }
        Nothing::Opened { begun, .. } => {
            format!("not one of {} attempts opened a connection", count(begun))
        }
        Nothing::Held { opened, .. } => {
            format!("of {} connections that were opened, none was held to the end", count(opened))
        }
    }
}

fn nothing_way_out(nothing: Nothing) -> &'static str {
    match nothing {
        Nothing::Due | Nothing::Begun => "offer more, or measure for longer",
        Nothing::Right { .. } => "ask once by hand (curl -v) and compare with what is expected",
        Nothing::Opened { mostly, .. } | Nothing::Held { mostly, .. } => match mostly {
            Some(Loss::Failure(failure)) => of_nothing_but(failure),
            _ => "see whether the server runs, and at this address",
        },
    }
}

pub(super) fn of_recording(recording: &Recording) -> Option<SamplesDoubt> {
    let samples = recording.total.response.count();
    if recording.total.attempted == 0 {
        return Some(SamplesDoubt::Nothing { nothing: Nothing::Due });
    }
    (samples < SAMPLES_FOR_P99).then_some(SamplesDoubt::TooFew { samples, is_alone: false })
}

/// What is said of a load that stands alone, besides: that nothing was right, and that there are too few samples for a
/// p99.9. Too few even for the p99 are reported of any load.
pub(super) fn of_load(recording: &Recording) -> [Option<SamplesDoubt>; 2] {
    let total = &recording.total;
    let mostly = most_seen(total, |_| true).map(|(most, _)| most);
    let none_right = Nothing::Right { attempted: total.attempted, mostly };
    let samples = total.response.count();
    let is_supported = total.response.quantile(0.999).is_none_or(|p999| p999.is_supported);
    let is_few = SAMPLES_FOR_P99 <= samples && !is_supported;
    [
        (total.correct == 0).then_some(SamplesDoubt::Nothing { nothing: none_right }),
        is_few.then_some(SamplesDoubt::TooFew { samples, is_alone: true }),
    ]
}

pub(super) fn of_holding(holding: &Holding) -> Option<SamplesDoubt> {
    let is_any = holding.plateaus.iter().any(|plateau| 0 < plateau.begun);
    (!is_any).then_some(SamplesDoubt::Nothing { nothing: Nothing::Begun })
}

/// A doubt if connections were begun, and not one was opened, or none is left.
#[must_use]
pub fn none_held(holding: &Holding) -> Option<SamplesDoubt> {
    let sum = |of: fn(&Plateau) -> u64| holding.plateaus.iter().map(of).sum::<u64>();
    let (begun, opened) = (sum(|plateau| plateau.begun), sum(|plateau| plateau.opened));
    let plateaus: Vec<&Plateau> = holding.plateaus.iter().collect();
    let mostly = gone(&plateaus).first().map(|gone| gone.loss);
    let nothing = match holding.plateaus.last()?.open {
        _ if begun == 0 => return None,
        _ if opened == 0 => Nothing::Opened { begun, mostly },
        0 => Nothing::Held { opened, mostly },
        _ => return None,
    };
    Some(SamplesDoubt::Nothing { nothing })
}
