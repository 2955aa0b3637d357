//! What holds between the figures of every part, because each of them was counted twice. A part in which it does not hold
//! was changed on its way, or its agent lies.

use super::Part;
use super::parts::Facts;
use super::true_or;
use crate::Nanos;
use crate::distribution::{Distribution, Folded};
use crate::recording::Window;
use crate::recording::{LaneReport, Sessions};
use crate::tally::{Still, Tally};

/// Says which of them does not hold, in a part that measured from this instant on.
pub(super) fn check(part: &Part, facts: &Facts, measured_from: Nanos) -> Result<(), String> {
    let Part { total, windows, .. } = part;
    let possible = total.all_distributions().into_iter().all(Distribution::is_sum_possible);
    true_or(possible, "the sum of a distribution is none of its values")?;
    check_on_time(total, facts)?;
    check_kind(total, facts)?;
    check_answers(total)?;
    check_slowest(total, measured_from)?;
    let measured: Vec<&Window> = windows.all.iter().filter(|window| !window.is_warmup).collect();
    check_windows(part, &measured)?;
    let ended = windows.all.last().map_or(0, |window| window.until);
    true_or(total.last_done <= ended, "its last exchange ended after its last window")?;
    // An early end moves the border between what is measured and what comes after it.
    let was_stopped = part.was_halted || part.gave_up.is_some();
    true_or(was_stopped || are_of_lanes(part), "its threads' times are not its own")
}

/// Right answers on time, by the count and by the histogram, whose resolution is a thousandth.
fn check_on_time(total: &Tally, facts: &Facts) -> Result<(), String> {
    let within = facts.on_time_within;
    // An answer without a time is on time.
    let untimed = total.forms.map_or(0, |forms| forms.untimed);
    let surely = untimed + total.response.known_within(within.saturating_sub(within / 500 + 1));
    let perhaps = untimed + total.response.known_within(within);
    let is_right = (surely..=perhaps).contains(&total.on_time);
    true_or(is_right, "its answers on time are not those of its response times")
}

/// Only a session has calls that it does not reach.
fn check_kind(total: &Tally, facts: &Facts) -> Result<(), String> {
    let has_none = total.sessions == Sessions::default() && total.due == total.attempted;
    true_or(facts.counts_sessions || has_none, "it counts sessions that were not ordered")?;
    let counted = if facts.counts_sessions { total.sessions.attempted } else { total.attempted };
    let is_within = facts.total.is_none_or(|most| counted <= most);
    true_or(is_within, "it counts more than was ordered")?;
    let has_warmed = total.warmup_failed <= total.warmup_attempted;
    true_or(has_warmed, "more of its warm-up failed than was attempted")
}

fn is_status(status: u16) -> bool {
    (100..=999).contains(&status)
}

fn check_answers(total: &Tally) -> Result<(), String> {
    let answers = &total.answers;
    let is_right = (total.correct..=total.attempted).contains(&answers.total())
        && answers.statuses().iter().all(|(status, _)| is_status(*status))
        && answers.are_sizes_possible();
    true_or(is_right, "its answers are not those that it counted")
}

fn check_slowest(total: &Tally, measured_from: Nanos) -> Result<(), String> {
    let longest = total.response.extremes().map_or(0, |(_, longest)| longest);
    let are_possible = total.slowest.iter().all(|slow| {
        let took = slow.done - slow.intended;
        measured_from <= slow.intended
            && slow.done <= total.last_done
            && (took <= longest || total.response.high() <= took)
            && is_status(slow.status)
    });
    true_or(are_possible, "a slow exchange is none of those that it counted")
}

/// The windows of the measured time, and those after it, are what was measured.
fn check_windows(part: &Part, measured: &[&Window]) -> Result<(), String> {
    let total = &part.total;
    let sums = |folded: fn(&Window) -> &Folded| {
        let all = measured.iter().map(|window| folded(window));
        all.fold((0, 0), |(count, sum), it| (count + it.count(), sum + it.sum()))
    };
    let is_same = sums(|it| &it.response) == (total.response.count(), total.response.sum())
        && sums(|it| &it.service) == (total.service.count(), total.service.sum());
    true_or(is_same, "the distributions of its windows are not those of all")?;
    // A window may end after the measured time.
    let is_between = |figure: fn(&Window) -> u128, counted: u128| {
        let inside = measured.iter().filter(|window| window.until <= part.until);
        let inside: u128 = inside.map(|window| figure(window)).sum();
        (inside..=measured.iter().map(|window| figure(window)).sum()).contains(&counted)
    };
    let is_right = is_between(|it| it.in_flight_area, total.in_flight_area)
        && is_between(|it| it.cpu.into(), total.cpu.into())
        && is_between(|it| it.bytes_received.into(), total.received_inside.into());
    true_or(is_right, "its windows do not add up to what it measured")
}

fn are_of_lanes(part: &Part) -> bool {
    let total = &part.total;
    let sum = |time: fn(&LaneReport) -> Nanos| part.reports.iter().map(time).sum::<Nanos>();
    let mut still = Still::default();
    part.reports.iter().for_each(|report| still.merge(report.still));
    (sum(|it| it.cpu_time), sum(|it| it.idle), sum(|it| it.polled), still)
        == (total.cpu, total.idle, total.polled, total.still)
}
