//! Times in which no right answer came, though requests were wanted.
//!
//! Each lane lists its own gaps between right answers. A time is silent only if it lies in a gap of every lane: the lists
//! of all lanes and processes are intersected, so the figures do not depend on how the load was divided.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::bounds::INSTANT_MAX;
use crate::part::{Stretches, no_more, true_or};
use crate::pause::Pause;
use crate::tally::Tally;
use crate::{Nanos, SECOND};

/// No shorter time is a silence.
const SHORTEST: Nanos = SECOND / 10;
/// Nor one that lasts for less than so many times the mean time between correct answers.
const MEANS: f64 = 10.0;
/// Shorter times in which a lane was not running are not subtracted.
const STALL: Nanos = SECOND / 100;
/// A gap is kept if it is no shorter than this part of the load so far, so that memory does not grow with time: gaps of
/// 100 ms are kept for 27 minutes.
const PARTS: u64 = 1 << 14;

/// The silences of a load: times without a correct answer that are longer than 100 ms, than ten times the mean time
/// between correct answers, than twice the median of service, and than the p99 of service outside of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    pub longest: Nanos,
    /// When the longest began, on the run's clock.
    pub from: Nanos,
    /// All of them together.
    pub sum: Nanos,
    pub times: u64,
}

/// A time without a right answer, over one lane or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Gap {
    from: Nanos,
    /// Since when in it a request was due and not answered; in no case before `from` if this is later.
    wanted: Nanos,
    until: Nanos,
}

/// Where lanes had no right answers, and where they were not running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Quiet {
    /// In their order, apart from one another.
    gaps: Vec<Gap>,
    /// In their order, apart from one another.
    stalls: Vec<Range<Nanos>>,
}

/// What a lane notes of its gaps.
pub(crate) struct GapLog {
    /// The last right answer, or the beginning of the measured time.
    since: Nanos,
    /// Since when a request has been due that was not answered rightly, or failed.
    wanted: Option<Nanos>,
    unanswered: u64,
    noted: Quiet,
}

impl GapLog {
    pub(crate) fn new(measured_from: Nanos) -> GapLog {
        GapLog { since: measured_from, wanted: None, unanswered: 0, noted: Quiet::none() }
    }

    pub(crate) fn due(&mut self, at: Nanos) {
        self.unanswered += 1;
        self.wanted.get_or_insert(at);
    }

    /// A right answer came.
    pub(crate) fn answered(&mut self, at: Nanos) {
        self.ended();
        self.note_gap(at);
        self.since = self.since.max(at);
        self.wanted = (0 < self.unanswered).then_some(at);
    }

    /// A request has failed, or was left at the end: it is still wanted.
    pub(crate) fn ended(&mut self) {
        self.unanswered -= 1;
    }

    /// The lane was not running.
    pub(crate) fn stalled(&mut self, time: Range<Nanos>) {
        if STALL <= time.end.saturating_sub(time.start) {
            self.noted.stalls.push(time);
        }
    }

    /// A turn, and the sleep after it, are over.
    pub(crate) fn looked_up(&mut self, pause: &Pause) {
        let slept = &pause.slept;
        self.stalled(slept.from - pause.long_worked..slept.from);
        self.stalled(slept.until - pause.overslept..slept.until);
    }

    /// What was noted since the last time.
    pub(crate) fn take(&mut self, is_last: bool) -> Quiet {
        if is_last {
            self.note_gap(INSTANT_MAX);
        }
        std::mem::replace(&mut self.noted, Quiet::none())
    }

    /// Allocates at most once in 100 ms, and only after no answer has come for as long.
    fn note_gap(&mut self, until: Nanos) {
        if SHORTEST <= until.saturating_sub(self.since) {
            let wanted = self.wanted.unwrap_or(INSTANT_MAX);
            self.noted.gaps.push(Gap { from: self.since, wanted, until });
        }
    }
}

impl Quiet {
    /// Of a lane that has just begun.
    pub(crate) fn none() -> Quiet {
        Quiet { gaps: Vec::new(), stalls: Vec::new() }
    }

    /// Of no lane at all.
    pub(crate) fn always() -> Quiet {
        let gaps = vec![Gap { from: 0, wanted: INSTANT_MAX, until: INSTANT_MAX }];
        Quiet { gaps, stalls: Vec::new() }
    }

    /// Adds what the same lane noted next; the load has lasted for so long.
    pub(crate) fn append(&mut self, next: Quiet, lasted: Nanos) {
        self.gaps.extend(next.gaps);
        self.stalls.extend(next.stalls);
        if 2 * PARTS as usize <= self.gaps.len().max(self.stalls.len() / 10) {
            self.bound(lasted);
        }
    }

    /// Drops what is too short to be kept after so long.
    pub(crate) fn bound(&mut self, lasted: Nanos) {
        let least = SHORTEST.max(lasted / PARTS);
        self.gaps.retain(|gap| least <= gap.until.saturating_sub(gap.from));
        self.stalls.retain(|stall| least / 10 <= stall.end - stall.start);
    }

    /// Where neither had answers, and where one of them was not running.
    pub(crate) fn and(&self, other: &Quiet) -> Quiet {
        let mut gaps = Vec::new();
        let (mut mine, mut theirs) = (self.gaps.iter().peekable(), other.gaps.iter().peekable());
        while let (Some(one), Some(another)) = (mine.peek(), theirs.peek()) {
            let from = one.from.max(another.from);
            let until = one.until.min(another.until);
            if SHORTEST <= until.saturating_sub(from) {
                gaps.push(Gap { from, wanted: one.wanted.min(another.wanted), until });
            }
            if one.until < another.until {
                mine.next()
            } else {
                theirs.next()
            };
        }
        let mut stalls: Vec<Range<Nanos>> = Vec::new();
        let mut all = [self.stalls.as_slice(), other.stalls.as_slice()].concat();
        all.sort_by_key(|stall| stall.start);
        for stall in all {
            match stalls.last_mut() {
                Some(last) if stall.start <= last.end => last.end = last.end.max(stall.end),
                Some(_) | None => stalls.push(stall),
            }
        }
        // Elsewhere they change nothing.
        stalls.retain(|stall| {
            let next = gaps.partition_point(|gap| gap.until <= stall.start);
            gaps.get(next).is_some_and(|gap| gap.from < stall.end)
        });
        Quiet { gaps, stalls }
    }

    /// Says why lanes cannot have noted this.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Quiet { gaps, stalls } = self;
        no_more("gaps", &[gaps.len() as u64, stalls.len() as u64 / 10], 2 * PARTS)?;
        let are_apart = gaps.windows(2).all(|pair| pair[0].until <= pair[1].from)
            && gaps.iter().all(|gap| gap.from <= gap.until && gap.until <= INSTANT_MAX)
            && gaps.iter().all(|gap| gap.wanted <= INSTANT_MAX)
            && stalls.windows(2).all(|pair| pair[0].end <= pair[1].start)
            && stalls.iter().all(|stall| stall.start <= stall.end && stall.end <= INSTANT_MAX);
        true_or(are_apart, "its gaps between answers are not in order")
    }

    /// The silences of a measured time.
    pub(crate) fn silence(
        &self,
        measured: Range<Nanos>,
        total: &Tally,
        windows: &Stretches,
    ) -> Silence {
        let mean = (measured.end - measured.start) as f64 / total.correct_inside.max(1) as f64;
        let least = SHORTEST.max((MEANS * mean) as Nanos);
        // Connections that are answered together are silent for as long as an answer takes. Whatever is longer than twice
        // what half of the answers took may be a silence: most answers came outside of all these.
        let service = &total.service;
        let usual = service.quantile(0.5).map_or(0, |p50| 2 * p50.value);
        let longer_than = |least: Nanos| move |&(_, lasted): &(Range<Nanos>, Nanos)| least < lasted;
        let clipped = self.gaps.iter().map(|gap| self.silent(gap, &measured));
        let possible: Vec<_> = clipped.filter(longer_than(least.max(usual))).collect();
        if possible.is_empty() {
            return Silence::default();
        }
        let touches = |from: Nanos, until: Nanos| {
            // Those that have waited through a silence are answered as soon as it is over.
            possible.iter().any(|(time, _)| time.start < until && from < time.end + SHORTEST)
        };
        let outside = windows.service_where(|window| !touches(window.from, window.until));
        let p99 = outside.as_ref().unwrap_or(service).quantile(0.99).map_or(0, |p99| p99.value);
        let silences = possible.into_iter().filter(longer_than(p99));
        silences.fold(Silence::default(), |mut all, (time, lasted)| {
            if all.longest < lasted {
                (all.longest, all.from) = (lasted, time.start);
            }
            all.sum += lasted;
            all.times += 1;
            all
        })
    }

    /// When in this gap requests of the measured time were wanted, and for how long of that all lanes were running.
    fn silent(&self, gap: &Gap, measured: &Range<Nanos>) -> (Range<Nanos>, Nanos) {
        let time = gap.from.max(gap.wanted).max(measured.start)..gap.until.min(measured.end);
        let common = |stall: &Range<Nanos>| {
            stall.end.min(time.end).saturating_sub(stall.start.max(time.start))
        };
        let first = self.stalls.partition_point(|stall| stall.end <= time.start);
        let inside = self.stalls[first..].iter().take_while(|stall| stall.start < time.end);
        let stalled: Nanos = inside.map(common).sum();
        (time.clone(), time.end.saturating_sub(time.start).saturating_sub(stalled))
    }
}
