//! What an agent reports with one figure changed: what can be known to be wrong is refused, and what cannot is listed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::MILLI;
use super::rig::{Run, open};
use super::shares::{parts, uneven};
use crate::SECOND;
use crate::part::Parts;
use crate::strange_json::leaves;

/// The figures of which a changed one may be taken, and why it cannot be known. A number of their way is left out.
const UNKNOWABLE: [(&str, &str); 27] = [
    ("/began_late", "only the agent knows when it began"),
    ("/begun_before", "counted once"),
    ("/quiet/gaps", "the silences are kept once"),
    ("/quiet/stalls", "only the agent knows when it was not running"),
    ("/reports/wall", "only the agent knows how long its lanes were there"),
    ("/total/answers/largest_bytes", "one size may be any that the sum allows"),
    ("/total/answers/smallest_bytes", "the same"),
    ("/total/answers/bytes", "the same, where sizes differ"),
    (
        "/total/answers/statuses",
        "a status or a wrong answer more or less, up to all that were attempted",
    ),
    ("/total/carried_in", "an answer at the border of the measured time may be on either side"),
    ("/total/correct_inside", "the same"),
    ("/total/connect/sum", "within the resolution of the histogram"),
    ("/total/first_byte/sum", "the same"),
    ("/total/late/sum", "the same"),
    ("/total/blocked/sum", "the same"),
    ("/total/receipt", "when the bytes of an answer came is not counted twice"),
    ("/total/connections", "counted once"),
    ("/total/evidence", "which exchange it was"),
    ("/total/flight", "computed twice, and a difference raises a doubt"),
    ("/total/forms", "a form that no request had, or a failure of one, up to all that there were"),
    ("/total/in_flight_area", "less than the window in which the measured time ends has"),
    ("/total/received_inside", "the same"),
    ("/total/cpu", "the same"),
    ("/total/last_due", "only the agent knows when its last request was due"),
    ("/total/last_done", "at any time before its last window ends"),
    ("/total/notes", "counted once"),
    ("/total/slowest", "which exchange it was, and when within the measured time"),
];
/// Windows may be changed by less than the one in which the measured time ends has, and those that are not measured.
const WINDOWS: &str = "/windows/all";

#[test]
fn a_changed_figure_is_refused_wherever_it_can_be_known_to_be_wrong() {
    let run = Run { vary: true, until: 300 * MILLI, timeout: SECOND, ..open(8, 200) };
    let part = parts(&run, &[1], uneven).remove(0);
    let right = serde_json::to_value(&part).unwrap();
    let order = run.order();
    let add = |value: &Value| {
        let part = serde_json::from_value(value.clone()).map_err(|error| error.to_string())?;
        Parts::new(&order).add(part)
    };
    assert_eq!(add(&right), Ok(()));
    let (mut tried, mut accepted) = (0, BTreeMap::new());
    for way in leaves(&right) {
        let Some(figure) = right.pointer(&way).and_then(Value::as_u64) else { continue };
        for lie in [figure + 1, figure.saturating_sub(1), 2 * figure + 1_000, 0] {
            let mut wrong = right.clone();
            *wrong.pointer_mut(&way).unwrap() = lie.into();
            tried += u64::from(lie != figure);
            if lie != figure && add(&wrong).is_ok() {
                accepted.entry(way.clone()).or_insert_with(Vec::new).push((figure, lie));
            }
        }
    }
    let is_listed = |way: &str| {
        let named = way.split('/').filter(|part| part.parse::<u32>().is_err());
        let named = named.collect::<Vec<_>>().join("/");
        named.starts_with(WINDOWS) || UNKNOWABLE.iter().any(|(it, _)| named.starts_with(it))
    };
    let wrong: Vec<_> = accepted.iter().filter(|(way, _)| !is_listed(way)).collect();
    assert!(230 < tried && wrong.is_empty(), "{tried} tried, and these were taken: {wrong:#?}");
}
