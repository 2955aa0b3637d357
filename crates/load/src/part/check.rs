//! Whether a part can be one of a load. It comes from another machine: what it claims must fit the order and add up, and
//! no figure in it may be so large that sums overflow.

use wire::{Compared, EARLY_ALLOWED_NS, RequestForm};

use super::stretches::{STRETCHES_MAX, Stretches};
use super::{Part, Parts, identities};
use crate::Nanos;
use crate::bounds::{CPUS_MAX, INSTANT_MAX};
use crate::distribution::{Distribution, Folded};
use crate::evidence::{EVIDENCE_KEPT, Evidence};
use crate::failure::Failure;
use crate::form_counts::FormCounts;
use crate::http2::Http2;
use crate::recording::{Connections, LaneReport, Notes, Recording, Sessions, Slow, Window};
use crate::section::Section;
use crate::security::{Agreed, Counts, Security};
use crate::silence::Silence;
use crate::tally::{Flight, Receipt, SLOWEST_KEPT, Still, Tally, Waited, add};

/// No count of a part is higher.
pub(crate) const COUNT_MAX: u64 = 1 << 50;
pub(crate) const BYTES_MAX: u64 = 1 << 51;
/// Products of counts and times.
const AREA_MAX: u128 = 1 << 110;
/// Different names that are counted, and octets of each.
const NAMES_MAX: usize = 64;
const NAME_MAX: usize = 4 << 10;
/// Octets of what was expected, in words.
const EXPECTED_MAX: usize = 1 << 20;
const COARSENESS_MAX: u64 = 1 << 32;

/// What a tally may hold.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// Latencies up to this one are distinguished; none: that is not known.
    pub(crate) longest: Option<Nanos>,
    /// No sum of times is larger.
    pub(crate) times: Nanos,
}

pub(crate) fn true_or(is_so: bool, says: &str) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(says.into()) }
}

pub(crate) fn no_more(what: &str, values: &[u64], most: u64) -> Result<(), String> {
    match values.iter().max() {
        Some(found) if most < *found => Err(format!("{what}: {found} is too many")),
        _ => Ok(()),
    }
}

impl Recording {
    /// Says why no figure can be computed of this: it holds what no load measures. Anybody may have written it.
    pub fn check(&self) -> Result<(), String> {
        let times = INSTANT_MAX.saturating_mul(self.lanes.len().max(1) as u64);
        let bounds = Bounds { longest: None, times };
        true_or(self.lanes.len() <= CPUS_MAX, "it has too many threads")?;
        check_tally(&self.total, bounds)?;
        let Recording { measured_from, measured_until, ended, timeout, .. } = *self;
        let instants = [measured_from, measured_until, ended, timeout, self.on_time_within];
        no_more("instants", &instants, INSTANT_MAX)?;
        no_more("the schedule's end", &[self.scheduled_until.unwrap_or(0)], INSTANT_MAX)?;
        true_or(measured_from <= measured_until, "its measured time ends before it begins")?;
        self.windows.iter().try_for_each(|window| check_counts_of(window, bounds))?;
        let ascend = self.windows.is_sorted_by_key(|window| window.from);
        true_or(ascend, "its windows are not in order")?;
        self.sections.iter().try_for_each(check_section)?;
        let Silence { longest, from, sum, times } = self.silence;
        no_more("silences", &[longest, from, sum], bounds.times)?;
        no_more("silences", &[times], COUNT_MAX)?;
        self.lanes.iter().try_for_each(check_lane)
    }

    /// Says where its counts contradict each other.
    pub fn check_sums(&self) -> Result<(), String> {
        check_books(&self.total)?;
        check_sums(&self.total, &self.windows)
    }
}

/// The counts of a window, wherever it lies.
fn check_counts_of(window: &Window, bounds: Bounds) -> Result<(), String> {
    true_or(
        window.from < window.until && window.until <= INSTANT_MAX,
        "a window lies where none may be",
    )?;
    no_more("a window's counts", &[window.attempted, window.correct], COUNT_MAX)?;
    no_more("a window's failures", &window.failed, COUNT_MAX)?;
    no_more("a window's octets", &[window.bytes_sent, window.bytes_received], BYTES_MAX)?;
    no_more("a window's CPU time", &[window.cpu], bounds.times)?;
    true_or(window.in_flight_area <= AREA_MAX, "a window has too many in flight")?;
    [&window.response, &window.service].into_iter().try_for_each(|it| check_folded(it, bounds))
}

fn check_section(section: &Section) -> Result<(), String> {
    let Section { from, until, due, correct, on_time, failed, .. } = *section;
    no_more("a section's times", &[from, until], INSTANT_MAX)?;
    true_or(from <= until, "a section ends before it begins")?;
    let counts = [due, correct, on_time, failed, section.correct_inside];
    no_more("a section's counts", &counts, COUNT_MAX)?;
    check_distribution(&section.response, Bounds { longest: None, times: 0 })
}

fn check_lane(report: &LaneReport) -> Result<(), String> {
    let meaning = report.meaning.unwrap_or(0);
    let times = [report.cpu_time, report.wall, report.idle, report.polled, meaning];
    no_more("a thread's times", &times, 2 * INSTANT_MAX)?;
    true_or(report.cpu.is_none_or(|cpu| cpu < CPUS_MAX), "a thread has an impossible CPU")?;
    check_still(report.still, 2 * INSTANT_MAX)
}

impl Parts {
    /// Says why this cannot be a part that is missing.
    pub(crate) fn check(&self, part: &Part) -> Result<(), String> {
        self.check_share(part)?;
        let own = self.plan.own_of(part.share.first, part.lanes);
        true_or(part.reports.len() == own.len(), "it has other threads than it says")?;
        true_or(part.width == self.plan.times.width, "its windows have another length")?;
        let planned = self.plan.times.measured.end;
        let was_stopped = part.was_halted || part.gave_up.is_some();
        let is_end_right = if was_stopped { part.until <= planned } else { part.until == planned };
        true_or(is_end_right, "it ended at another time than was planned")?;
        let is_alone = part.lanes == part.share.of;
        true_or(is_alone || part.gave_up.is_none(), "a part does not give up on its own")?;

        let bounds = Bounds {
            longest: Some(self.plan.times.longest),
            times: INSTANT_MAX.saturating_mul(part.lanes as u64),
        };
        check_tally(&part.total, bounds)?;
        check_books(&part.total)?;
        check_connections(part.begun_before)?;
        no_more("late beginning", &[part.began_late], INSTANT_MAX)?;
        self.check_windows(&part.windows, bounds)?;
        check_sums(&part.total, &part.windows.all)?;
        identities::check(part, &self.facts, self.plan.times.measured.start)?;
        self.check_sections(&part.sections, own.is_empty())?;
        part.quiet.check()?;
        part.reports.iter().try_for_each(check_lane)
    }

    fn check_share(&self, part: &Part) -> Result<(), String> {
        let ordered = self.whole.lanes;
        if part.share.of != ordered {
            return Err(format!(
                "it is of {} threads, where {ordered} were ordered",
                part.share.of
            ));
        }
        part.share.check(part.lanes)?;
        true_or(0 < part.lanes, "it has no threads")?;
        let (first, end) = (part.share.first, part.share.first + part.lanes);
        match self.have.range(..end).next_back() {
            Some((other, lanes)) if first < other + lanes => {
                Err(format!("thread {} has come before", first.max(*other)))
            }
            _ => Ok(()),
        }
    }

    fn check_windows(&self, windows: &Stretches, bounds: Bounds) -> Result<(), String> {
        let Stretches { coarseness, all } = windows;
        let is_power = coarseness.is_power_of_two() && *coarseness <= COARSENESS_MAX;
        true_or(is_power && all.len() < STRETCHES_MAX, "its windows are cut in another way")?;
        let wide = self.plan.times.width.saturating_mul(*coarseness);
        let ascend = all.windows(2).all(|pair| pair[0].place(wide) < pair[1].place(wide));
        true_or(ascend, "its windows are not in order")?;
        all.iter().try_for_each(|window| self.check_window(window, wide, bounds))
    }

    fn check_window(&self, window: &Window, wide: Nanos, bounds: Bounds) -> Result<(), String> {
        let Window { from, until, is_warmup, .. } = *window;
        let (width, measured_from) = (self.plan.times.width, self.plan.times.measured.start);
        let is_cut_right = from.is_multiple_of(width)
            && until.is_multiple_of(width)
            && from < until
            && until <= INSTANT_MAX
            && until - from <= wide
            && is_warmup == (from < measured_from)
            && (!is_warmup || until <= measured_from);
        true_or(is_cut_right, "a window lies where none may be")?;
        check_counts_of(window, bounds)
    }

    fn check_sections(&self, sections: &[Section], is_without_lanes: bool) -> Result<(), String> {
        if sections.is_empty() && is_without_lanes {
            return Ok(());
        }
        let planned = self.plan.times.sections.iter();
        let is_planned = sections.len() == self.plan.times.sections.len()
            && planned.zip(sections).all(|(it, one)| (it.start, it.end) == (one.from, one.until));
        true_or(is_planned, "the load does not change where it says")?;
        sections.iter().try_for_each(|section| {
            check_section(section)?;
            let bounds = Bounds { longest: Some(self.plan.times.longest), times: 0 };
            check_distribution(&section.response, bounds)
        })
    }
}

/// What was counted window by window is what was counted.
fn check_sums(total: &Tally, windows: &[Window]) -> Result<(), String> {
    let measured = || windows.iter().filter(|window| !window.is_warmup);
    let sum = |count: fn(&Window) -> u64| measured().map(count).sum::<u64>();
    // Of what came before the measured time, the bytes that opened a pool count.
    let is_between = |bytes: fn(&Window) -> u64, counted: u64| {
        (sum(bytes)..=windows.iter().map(bytes).sum()).contains(&counted)
    };
    let mut failed = [0; Failure::COUNT];
    measured().for_each(|window| add(&mut failed, &window.failed));
    let adds_up = sum(|window| window.attempted) == total.attempted + total.warmup_attempted
        && sum(|window| window.correct) == total.answered
        && is_between(|window| window.bytes_sent, total.bytes_sent)
        && is_between(|window| window.bytes_received, total.bytes_received)
        && failed == total.failed;
    true_or(adds_up, "its windows do not add up to what it counted")
}

/// Each exchange is counted once.
fn check_books(total: &Tally) -> Result<(), String> {
    let failed = total.failed_in_all();
    let FormCounts { untimed, untimed_given_up, .. } = total.forms.unwrap_or_default();
    let balances = total.attempted == total.correct + failed + total.under_way
        && total.attempted <= total.due
        && total.on_time <= total.correct
        && total.carried_in <= total.correct_inside
        && total.correct_inside <= total.answered
        && total.response.count() + untimed == total.correct + total.response.censored()
        && total.response.censored() + untimed_given_up <= failed + total.under_way
        && total.sessions.complete + total.sessions.failed <= total.sessions.attempted
        && total.sessions.cut.sessions <= total.sessions.failed
        && total.attempted + total.sessions.cut.unreached <= total.due;
    true_or(balances, "its counts do not add up")?;
    true_or(are_forms_right(total), "its forms are not those of its requests")
}

/// Whether no figure is so large, or contradicts another so, that computing with it could go wrong.
pub(crate) fn check_tally(tally: &Tally, bounds: Bounds) -> Result<(), String> {
    let counts = [
        tally.attempted,
        tally.due,
        tally.correct,
        tally.on_time,
        tally.correct_inside,
        tally.carried_in,
        tally.under_way,
        tally.answered,
        tally.warmup_attempted,
        tally.warmup_failed,
    ];
    no_more("counts", &counts, COUNT_MAX)?;
    no_more("failures", &tally.failed, COUNT_MAX)?;
    let octets = [tally.bytes_sent, tally.bytes_received, tally.received_inside];
    no_more("octets", &octets, BYTES_MAX)?;
    true_or(tally.answers.are_within(COUNT_MAX, BYTES_MAX), "there are too many answers")?;
    no_more("times", &[tally.cpu, tally.idle, tally.polled], bounds.times)?;
    no_more("last time", &[tally.last_due, tally.last_done], INSTANT_MAX)?;
    check_still(tally.still, bounds.times)?;
    let Receipt { longest, given_up } = tally.receipt.unwrap_or_default();
    no_more("receipts", &[longest], INSTANT_MAX)?;
    true_or(given_up <= tally.first_byte.count(), "more answers were given up than had begun")?;
    if let Some(Waited { answers, early, early_by, shortest }) = tally.waited {
        let is_right = early <= answers && answers <= tally.correct && early_by <= EARLY_ALLOWED_NS;
        true_or(is_right, "its answers that were to wait are impossible")?;
        no_more("waits", &[shortest], INSTANT_MAX)?;
    }
    let Compared { by_bytes, by_meaning, meaning_ns } = tally.compared.unwrap_or_default();
    no_more("bodies", &[by_bytes, by_meaning], COUNT_MAX)?;
    no_more("the time for bodies", &[meaning_ns], bounds.times)?;
    let rows = tally.rows.unwrap_or_default();
    let counts = [rows.answers, rows.rows, rows.repeated, rows.queries, rows.changed];
    no_more("rows", &[&counts[..], &[rows.equal_pairs]].concat(), COUNT_MAX)?;
    if !rows.expected_pairs.is_finite() {
        return Err("the expected pairs of rows are no number".into());
    }
    let forms = tally.forms.unwrap_or_default();
    no_more("forms", &[forms.sent, forms.failed].concat(), COUNT_MAX)?;
    no_more("untimed requests", &[forms.untimed, forms.untimed_given_up], COUNT_MAX)?;
    no_more("files", &tally.delivered.unwrap_or_default().counts(), COUNT_MAX)?;
    let Flight { area, correct, failed, unsent } = tally.flight;
    let is_small = |area: &u128| *area <= AREA_MAX;
    let areas = [tally.in_flight_area, area, correct, failed, unsent];
    true_or(areas.iter().all(is_small), "there are too many in flight")?;
    for distribution in tally.all_distributions() {
        check_distribution(distribution, bounds)?;
    }
    check_connections(tally.connections)?;
    let Sessions { attempted, complete, failed, cut } = tally.sessions;
    let sessions = [attempted, complete, failed, cut.sessions, cut.unreached];
    no_more("sessions", &sessions, COUNT_MAX)?;
    let Notes { stale_retries, refused, idle_closed, surplus, unsolicited, .. } = tally.notes;
    let Notes { announced_closes, unlike_bodies, .. } = tally.notes;
    let notes = [stale_retries, refused, idle_closed, surplus, unsolicited];
    no_more("notes", &notes, COUNT_MAX)?;
    no_more("notes of answers", &[announced_closes, unlike_bodies], COUNT_MAX)?;
    tally.security.as_deref().map_or(Ok(()), |security| check_security(security, bounds))?;
    tally.http2.as_deref().map_or(Ok(()), |http2| check_http2(http2, bounds))?;
    check_slowest(&tally.slowest)?;
    check_evidence(&tally.evidence)
}

/// Each form is that of a request, and each request has one.
fn are_forms_right(total: &Tally) -> bool {
    let counts = total.forms.unwrap_or_default();
    counts.sent.iter().sum::<u64>() <= total.attempted
        && counts.failed.iter().sum::<u64>() <= total.failed_in_all()
        && RequestForm::ALL.map(|form| counts.of(form)).iter().all(|(sent, failed)| failed <= sent)
        && counts.untimed + counts.untimed_given_up <= counts.of(RequestForm::Segments).0
}

pub(crate) fn check_distribution(
    distribution: &Distribution,
    bounds: Bounds,
) -> Result<(), String> {
    check_values(distribution.count(), distribution.sum(), distribution.high(), bounds)
}

pub(crate) fn check_folded(folded: &Folded, bounds: Bounds) -> Result<(), String> {
    check_values(folded.count(), folded.sum(), folded.high(), bounds)
}

fn check_values(count: u64, sum: u128, high: Nanos, bounds: Bounds) -> Result<(), String> {
    let is_range_right = bounds.longest.is_none_or(|longest| high == longest.max(2));
    true_or(is_range_right, "a distribution has another range than was ordered")?;
    no_more("values", &[count], COUNT_MAX)?;
    let most = u128::from(count) * u128::from(INSTANT_MAX);
    true_or(sum <= most, "the sum of a distribution is too large for its values")
}

pub(crate) fn check_still(still: Still, most: Nanos) -> Result<(), String> {
    let Still { sum, overslept, kept_waiting } = still;
    no_more("stillness", &[sum, overslept, kept_waiting], most)
}

fn check_connections(connections: Connections) -> Result<(), String> {
    let Connections { begun, established, failed } = connections;
    no_more("connections", &[begun, established, failed], COUNT_MAX)
}

fn check_slowest(slowest: &[Slow]) -> Result<(), String> {
    let is_possible = |slow: &Slow| {
        let times = [slow.intended, slow.sent, slow.first_byte, slow.done, INSTANT_MAX];
        times.is_sorted()
    };
    let is_sorted = slowest.is_sorted_by_key(Slow::rank);
    let is_right = slowest.len() <= SLOWEST_KEPT && is_sorted && slowest.iter().all(is_possible);
    true_or(is_right, "a slow exchange is impossible")
}

fn check_evidence(all: &[Evidence]) -> Result<(), String> {
    let mut kept = [0; Failure::COUNT];
    all.iter().for_each(|one| kept[one.failure.index()] += 1);
    let is_little = kept.iter().all(|kept| *kept <= EVIDENCE_KEPT) && all.iter().all(is_short);
    true_or(is_little && all.is_sorted_by_key(|one| one.at), "there is too much of a failure")
}

fn is_short(evidence: &Evidence) -> bool {
    evidence.at <= INSTANT_MAX
        && evidence.request.len() <= Evidence::BYTES_MAX
        && evidence.received.len() <= 4 * Evidence::BYTES_MAX
        && evidence.expected.len() <= EXPECTED_MAX
        && evidence.reason.as_ref().is_none_or(|reason| reason.len() <= 4 * Evidence::BYTES_MAX)
}

fn check_names(what: &str, all: &[&Counts]) -> Result<(), String> {
    for counts in all {
        let sorted = counts.sorted();
        let is_short = |(name, _): &(&str, u64)| name.len() <= NAME_MAX;
        let is_little = sorted.len() <= NAMES_MAX && sorted.iter().all(is_short);
        true_or(is_little, "there are too many names")?;
        sorted.iter().try_for_each(|(_, count)| no_more(what, &[*count], COUNT_MAX))?;
    }
    Ok(())
}

pub(crate) fn check_security(security: &Security, bounds: Bounds) -> Result<(), String> {
    check_distribution(&security.handshake, bounds)?;
    let Agreed { full, retried, resumed, meant_to_resume, tickets, .. } = &security.agreed;
    no_more("handshakes", &[*full, *retried, *resumed, *meant_to_resume, *tickets], COUNT_MAX)?;
    let Agreed { chain_bytes_min, chain_bytes_max, .. } = &security.agreed;
    let sizes = [chain_bytes_min.unwrap_or(0), chain_bytes_max.unwrap_or(0)];
    no_more("certificates' octets", &sizes, COUNT_MAX)?;
    let Agreed { versions, suites, groups, alpn, certificates, reasons, .. } = &security.agreed;
    check_names("handshakes", &[versions, suites, groups, alpn, certificates, reasons])
}

fn check_http2(http2: &Http2, bounds: Bounds) -> Result<(), String> {
    http2.ready.as_ref().map_or(Ok(()), |ready| check_distribution(ready, bounds))?;
    true_or(http2.settings.len() <= wire::h2::SETTINGS_MAX, "there are too many SETTINGS")?;
    let connections: Vec<u64> =
        http2.settings.iter().map(|(_, connections)| *connections).collect();
    no_more("connections", &connections, COUNT_MAX)?;
    let traffic = &http2.traffic;
    let counts = [
        http2.wanted.connections,
        http2.wanted.streams,
        http2.wanted.server_cpus.unwrap_or(0),
        traffic.answers,
        traffic.reads_with_answers,
        traffic.resets_sent,
        traffic.calm_after_resets,
        traffic.refused,
        traffic.window_updates_sent,
        traffic.own_window.times,
        traffic.peer_window.times,
        traffic.heads.blocks,
        traffic.heads.octets,
        traffic.heads.list_octets,
    ];
    no_more("HTTP/2", &counts, COUNT_MAX)?;
    no_more("waits", &[traffic.own_window.longest, traffic.peer_window.longest], INSTANT_MAX)?;
    check_names("HTTP/2", &[&traffic.frames, &traffic.goaways, &traffic.resets_received])
}
