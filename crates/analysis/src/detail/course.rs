//! A held trial over time: how many connections were open, how late messages were, what the monitors read, and what was
//! released.

use lab::figure::Number;
use lab::probe::ProbeReading;
use lab::record::{HeldRecord, OutcomeKind, TrialRecord};
use load::{Distribution, HoldWindow, Nanos};

use super::spread::quantile_ms;
use super::strip::{ProbeTrack, Track, probe_tracks, seconds, tracks};
use crate::figures::merged;

/// A picture has room for so many columns; if there are more windows, they are folded.
const COLUMNS: usize = 160;
/// More pictures than this would make a heavy page: each then has fewer columns.
const MANY: usize = 12;
/// The number of columns in that case.
const FEW_COLUMNS: usize = 48;

/// One round of a subject that held connections.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldCourse {
    pub workload: String,
    pub subject: String,
    /// The round, from 0: the first that was measured, or otherwise the first that held anything.
    pub repeat: u32,
    pub ended: OutcomeKind,
    /// From the start of the first connection to the last reading, in the order of time.
    pub moments: Vec<Moment>,
    /// When all connections that were left were closed, seconds since the first was begun.
    pub closed_s: f64,
    pub tracks: Vec<Track>,
    /// The readings of its probe.
    pub probe: Vec<ProbeTrack>,
}

/// A stretch of time. After the close, only readings are left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// Seconds since the first connection was begun.
    pub from_s: f64,
    /// Its end, on the same clock.
    pub until_s: f64,
    /// Connections over which messages may arrive, at its end.
    pub open: u64,
    /// Connections that never opened, or are no longer open.
    pub gone: u64,
    /// Messages a second.
    pub messages_per_s: f64,
    /// How late messages were how late: the p99.
    pub late_p99: Option<Number>,
}

/// A round of every subject and workload that held connections, in the order of the trials.
#[must_use]
pub fn courses(trials: &[TrialRecord], readings: &[ProbeReading]) -> Vec<HeldCourse> {
    let mut shown: Vec<(&TrialRecord, &HeldRecord)> = Vec::new();
    for trial in trials {
        let Some(held) = trial.held.as_ref().filter(|held| !held.holding.windows.is_empty()) else {
            continue;
        };
        let is_same = |(other, _): &&mut (&TrialRecord, &HeldRecord)| {
            other.key.subject == trial.key.subject && other.key.workload == trial.key.workload
        };
        match shown.iter_mut().find(is_same) {
            None => shown.push((trial, held)),
            Some(kept) if rank(trial) < rank(kept.0) => *kept = (trial, held),
            Some(_) => {}
        }
    }
    let columns = if shown.len() <= MANY { COLUMNS } else { FEW_COLUMNS };
    shown.into_iter().map(|(trial, held)| HeldCourse::of(trial, held, columns, readings)).collect()
}

/// Measured rounds first, then the earlier ones.
fn rank(trial: &TrialRecord) -> (bool, u32) {
    (trial.outcome.kind != OutcomeKind::Measured, trial.key.repeat)
}

impl HeldCourse {
    fn of(
        trial: &TrialRecord,
        held: &HeldRecord,
        columns: usize,
        readings: &[ProbeReading],
    ) -> HeldCourse {
        let windows = &held.holding.windows;
        let each = windows.len().div_ceil(columns).max(1);
        let mut moments: Vec<Moment> = windows.chunks(each).map(moment).collect();
        let width = windows.iter().take(each).map(|window| window.until - window.from).sum();
        let last = windows.last().map_or(0, |window| window.until);
        let read = trial.series.iter().filter_map(|series| series.points.last());
        let end = read.map(|(at, _)| at.saturating_sub(held.began)).max().unwrap_or(last);
        moments.extend(after(last, end, width, columns));
        let spans: Vec<(Nanos, Nanos)> = moments.iter().map(|at| span(at, held.began)).collect();
        HeldCourse {
            workload: trial.key.workload.clone(),
            subject: trial.key.subject.clone(),
            repeat: trial.key.repeat,
            ended: trial.outcome.kind,
            moments,
            closed_s: seconds(held.holding.closed_at),
            tracks: tracks(trial, &spans),
            probe: probe_tracks(trial, &spans, readings),
        }
    }
}

fn moment(windows: &[HoldWindow]) -> Moment {
    let from = windows.first().map_or(0, |window| window.from);
    let until = windows.last().map_or(from, |window| window.until).max(from + 1);
    let unfolded: Vec<Distribution> = windows.iter().map(|window| window.late.unfold()).collect();
    let sum = |count: fn(&HoldWindow) -> u64| windows.iter().map(count).sum::<u64>();
    Moment {
        from_s: seconds(from),
        until_s: seconds(until),
        open: windows.last().map_or(0, |window| window.open),
        gone: sum(|window| window.failed + window.lost),
        messages_per_s: sum(|window| window.messages) as f64 / seconds(until - from),
        late_p99: quantile_ms(&merged(unfolded.iter()), 0.99),
    }
}

/// The time after the last window, in pieces as wide as the others; in at most a third of the columns.
fn after(from: Nanos, end: Nanos, width: Nanos, columns: usize) -> Vec<Moment> {
    let width = width.max(end.saturating_sub(from) / (columns as Nanos / 3)).max(1);
    let nothing = |place: Nanos| Moment {
        from_s: seconds(from + place * width),
        until_s: seconds(from + (place + 1) * width),
        ..Moment::default()
    };
    (0..end.saturating_sub(from) / width).map(nothing).collect()
}

/// The start and the end of a moment on the trial's clock.
fn span(moment: &Moment, began: Nanos) -> (Nanos, Nanos) {
    let nanos = |seconds: f64| began.saturating_add((seconds * 1e9).round() as Nanos);
    (nanos(moment.from_s), nanos(moment.until_s).max(nanos(moment.from_s) + 1))
}

#[cfg(test)]
mod tests {
    use super::super::strip::Reading;
    use super::*;
    use crate::fixture::{MS, healthy, series};
    use load::{Folded, Holding, SECOND};

    fn courses(trials: &[TrialRecord]) -> Vec<HeldCourse> {
        super::courses(trials, &[])
    }

    fn window(place: u64) -> HoldWindow {
        let mut late = Distribution::new(100 * SECOND);
        late.record_many((place + 1) * MS, 2_000);
        HoldWindow {
            open: (place + 1) * 100,
            begun: 100,
            opened: 100,
            failed: 1,
            lost: 2,
            messages: 50,
            late: Folded::of(&late),
            ..HoldWindow::new(place * SECOND, (place + 1) * SECOND)
        }
    }

    /// A ramp of so many seconds that begins at second 1 of the trial, and ten seconds of monitoring after it.
    fn trial(windows: u64) -> TrialRecord {
        let end = 1e6 * (1 + windows) as f64;
        let memory = [(0, 0.0), ((1 + windows) * SECOND, end)];
        let after = ((11 + windows) * SECOND, end);
        TrialRecord {
            loaded: None,
            held: Some(HeldRecord {
                agents: Vec::new(),
                began: SECOND,
                holding: Holding {
                    plateaus: Vec::new(),
                    windows: (0..windows).map(window).collect(),
                    closed_at: windows * SECOND,
                    was_halted: false,
                },
            }),
            series: vec![series("subject.memory.rss", "bytes", &[&memory[..], &[after]].concat())],
            ..healthy()
        }
    }

    #[test]
    fn a_course_goes_from_the_first_connection_to_the_last_reading() {
        let all = courses(&[trial(8)]);
        let (course, moments) = (&all[0], &all[0].moments);
        assert_eq!((moments.len(), course.closed_s), (18, 8.0));
        let counts = |place: usize| (moments[place].open, moments[place].gone);
        assert_eq!((counts(0), counts(7), counts(8)), ((100, 3), (800, 3), (0, 0)));
        let late = |place: usize| moments[place].late_p99.map(|late| late.value.round());
        assert_eq!((late(0), late(4), late(8)), (Some(1.0), Some(5.0), None));
        let memory = &course.tracks[0];
        assert_eq!(memory.reading, Reading::Rss);
        let value = |place: usize| memory.values[place].map(|value| (value / 1e5).round());
        // One megabyte more each second of the trial; and the same from the close on.
        assert_eq!((value(0), value(3), value(12)), (Some(15.0), Some(45.0), Some(90.0)));
    }

    #[test]
    fn long_ramps_are_folded_and_their_rates_stay_rates() {
        let moments = &courses(&[trial(3_200)])[0].moments;
        assert_eq!((moments[0].until_s, moments.len()), (20.0, 160));
        let first = &moments[0];
        assert_eq!((first.messages_per_s, first.gone, first.open), (50.0, 60, 2_000));
    }

    #[test]
    fn many_courses_are_folded_further() {
        let named = |n: usize| TrialRecord {
            key: lab::record::TrialKey { subject: format!("s{n}"), ..trial(1).key },
            ..trial(120)
        };
        let most = |count: usize| {
            let trials: Vec<TrialRecord> = (0..count).map(named).collect();
            courses(&trials).iter().map(|course| course.moments.len()).max()
        };
        assert_eq!((most(12), most(13)), (Some(130), Some(43)));
    }

    #[test]
    fn a_measured_round_stands_for_its_subject_and_one_that_held_nothing_is_not_there() {
        let (mut died, mut whole) = (trial(2), trial(3));
        died.outcome.kind = OutcomeKind::Died;
        whole.key.repeat = 1;
        let repeats = |trials: &[TrialRecord]| -> Vec<u32> {
            courses(trials).iter().map(|course| course.repeat).collect()
        };
        assert_eq!(repeats(&[died.clone(), whole.clone()]), [1]);
        assert_eq!(repeats(&[whole, died.clone()]), [1]);
        died.held = None;
        assert!(repeats(&[died, healthy()]).is_empty());
    }
}
