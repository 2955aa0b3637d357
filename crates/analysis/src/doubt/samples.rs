//! Whether anything was measured, and enough of it.

use load::{Holding, Loss, Plateau, Recording, Tally};
use units::{count, counted};

use super::Doubt;
use super::definition::Definition;
use super::definition::Threshold::Count;
use super::ending::{UNREACHED, of_nothing_but};
use super::failures::explained;
use crate::conduct::Ways;
use crate::held::gone;
use crate::verdict::Gravity::{Invalid, Note};

/// A p99 with ten samples beyond it needs so many, …
pub const SAMPLES_FOR_P99: u64 = 1_000;
/// … and a p99.9 so many.
const SAMPLES_FOR_P999: u64 = 10_000;

pub(super) const ALL: &[Definition] = &[NOTHING_MEASURED, TOO_FEW_SAMPLES];

pub(crate) const NOTHING_MEASURED: Definition = Definition::new("nothing_measured", Invalid)
    .when("nothing was due, no held connection was begun; for `dyno hold` also: not one was opened, or none was left \
        at the end; for `dyno load` also: not one request was answered as expected")
    .because("there is no sample from which a figure could be computed")
    .way_out("offer more, or measure for longer");

/// There are so few samples that a p99 means nothing, or, of a load that stands alone, a p99.9.
pub(crate) const TOO_FEW_SAMPLES: Definition = Definition::new("too_few_samples", Note)
    .graver_as_found("note; suspect for `dyno load`")
    .when("fewer than {} samples; for `dyno load` a note below {}, which a p99.9 needs")
    .thresholds(&[Count(SAMPLES_FOR_P99), Count(SAMPLES_FOR_P999)])
    .because("so many are needed for ten samples beyond the p99")
    .way_out("measure for longer")
    .by_flags(RUN_LONGER);

/// A load that stands alone has flags.
pub(super) const RUN_LONGER: &str = "let it run longer (-d, -n)";

pub(super) const ASK_BY_HAND: &str = "ask once by hand (curl -v) and compare with what is expected";

pub(super) fn of_recording(recording: &Recording) -> Option<Doubt> {
    let samples = recording.total.response.count();
    if recording.total.attempted == 0 {
        return Some(NOTHING_MEASURED.found("not one request was due in the measured time"));
    }
    (samples < SAMPLES_FOR_P99).then(|| too_few(samples, "a p99", SAMPLES_FOR_P99))
}

fn too_few(samples: u64, figure: &str, takes: u64) -> Doubt {
    let samples = counted(samples, "sample is", "samples are");
    let takes = count(takes);
    TOO_FEW_SAMPLES.found(format!("{samples} too few for {figure}, which needs {takes}"))
}

/// What is said of a load that stands alone, besides: that nothing was right, and that there are too few samples for a
/// p99.9. Too few even for the p99 are reported of any load.
pub(super) fn of_load(recording: &Recording) -> [Option<Doubt>; 2] {
    let total = &recording.total;
    let samples = total.response.count();
    let is_supported = total.response.quantile(0.999).is_none_or(|p999| p999.is_supported);
    let is_few = SAMPLES_FOR_P99 <= samples && !is_supported;
    [
        (total.correct == 0).then(|| none_right(total)),
        is_few.then(|| too_few(samples, "p99.9", SAMPLES_FOR_P999).with_way_out(RUN_LONGER)),
    ]
}

fn none_right(total: &Tally) -> Doubt {
    let mostly = Ways::of(total, |_| true).says(total.attempted, explained);
    match total.attempted {
        0 => NOTHING_MEASURED.found("nothing was attempted in the measured time"),
        attempted => {
            let attempts = count(attempted);
            let says = format!("not one of {attempts} attempts was answered as expected{mostly}");
            NOTHING_MEASURED.found(says).with_way_out(ASK_BY_HAND)
        }
    }
}

pub(super) fn of_holding(holding: &Holding) -> Option<Doubt> {
    let is_any = holding.plateaus.iter().any(|plateau| 0 < plateau.begun);
    (!is_any).then(|| NOTHING_MEASURED.found("not one connection was begun"))
}

/// A doubt if connections were begun, and not one was opened, or none is left.
#[must_use]
pub fn none_held(holding: &Holding) -> Option<Doubt> {
    let sum = |of: fn(&Plateau) -> u64| holding.plateaus.iter().map(of).sum::<u64>();
    let (begun, opened) = (sum(|plateau| plateau.begun), sum(|plateau| plateau.opened));
    let plateaus: Vec<&Plateau> = holding.plateaus.iter().collect();
    let mostly = gone(&plateaus).first().map(|gone| gone.loss);
    let reason = mostly.map_or(String::new(), |loss| format!(": mostly, {}", loss.meaning()));
    let says = match holding.plateaus.last()?.open {
        _ if begun == 0 => return None,
        _ if opened == 0 => {
            format!("not one of {} attempts opened a connection{reason}", count(begun))
        }
        0 => {
            let opened = counted(opened, "connection that was", "connections that were");
            format!("of {opened} opened, none was held to the end{reason}")
        }
        _ => return None,
    };
    let way_out = match mostly {
        Some(Loss::Failure(failure)) => of_nothing_but(failure),
        None => UNREACHED,
        Some(_) => ASK_BY_HAND,
    };
    Some(NOTHING_MEASURED.found(says).with_way_out(way_out))
}
