//! A search under way: from a first guess over short trials to full ones at two ends, which move until they lie as near to
//! each other as they may.

use std::collections::{BTreeMap, BTreeSet};

use super::aim::Evidence;
use super::answer::{Answer, Conclusion};
use super::grid::{Grid, STEPS};
use super::judge::{Judged, TRIALS_LEAST, Word};
use super::noise::Noise;
use super::{Found, Press, PressKind, Progress, Search, Step, Tried};

/// A rate has no more full trials than this.
const TRIALS_MOST: usize = 30;
/// The last trial is so many steps above the bracket.
const FAR: i32 = 4 * STEPS;
/// After so many trials in a row that say nothing of the server, the search ends.
const UNFIT_MOST: usize = 3;
/// It ends after so many, where the load was on time at such a rate before: what disturbs it may pass.
const DISTURBED_MOST: usize = 12;
/// The closed loop at the beginning, in seconds.
const FIRST_S: f64 = 3.0;
const SHORT_S: f64 = 5.0;
const FULL_S: f64 = 10.0;
/// A short trial and a full one have at least so many requests that may be lost, as far as the longest allow.
const MAY_BE_LOST: (f64, f64) = (5.0, 10.0);
const LONGEST_S: (f64, f64) = (10.0, 60.0);

/// All that follows from the trials so far.
pub(super) struct Course<'s> {
    pub(super) search: &'s Search,
    pub(super) grid: Grid,
    pub(super) closed_per_s: Option<f64>,
    pub(super) short: Vec<(i32, Evidence)>,
    pub(super) full: BTreeMap<i32, Vec<Evidence>>,
    pub(super) beyond: Option<(i32, Evidence)>,
    /// What a full trial at a rate takes in all, as far as a trial there has shown that.
    pub(super) takes_s: BTreeMap<i32, f64>,
    /// The two ends at which full trials are made.
    pub(super) ends: Option<(i32, i32)>,
    /// How far apart these were at first.
    first_span: Option<i32>,
    pub(super) trials: usize,
    pub(super) spent_s: f64,
    /// What a trial takes besides its load, in all.
    around_s: f64,
    unfit: Option<Unfit>,
    /// What disturbed trials, one after the other.
    pub(super) noise: Vec<Noise>,
    /// Where a full trial broke the aim that was disturbed.
    pub(super) doubted: BTreeSet<i32>,
}

/// The trials since the last one that was evidence.
struct Unfit {
    in_a_row: usize,
    /// Why the last one was none, and at how many in a row the search ends.
    says: String,
    most: usize,
}

impl<'s> Course<'s> {
    pub(super) fn new(search: &'s Search) -> Course<'s> {
        Course {
            search,
            grid: Grid::new(search.width, search.least, search.top(None)),
            closed_per_s: None,
            short: Vec::new(),
            full: BTreeMap::new(),
            beyond: None,
            takes_s: BTreeMap::new(),
            ends: None,
            first_span: None,
            trials: 0,
            spent_s: 0.0,
            around_s: 0.0,
            unfit: None,
            noise: Vec::new(),
            doubted: BTreeSet::new(),
        }
    }

    /// Takes the trial that was made as ordered.
    pub(super) fn add(&mut self, press: &Press, tried: &Tried) {
        self.trials += 1;
        self.spent_s += tried.took_s;
        self.around_s += (tried.took_s - press.seconds).clamp(0.0, 60.0);
        let number = press.rate.map(|rate| self.grid.nearest(rate));
        match (&tried.found, press.kind, number) {
            (Found::Unfit(says), ..) => return self.add_unfit(says, UNFIT_MOST),
            (Found::Disturbed { noise, is_broken }, kind, _) => {
                self.noise.push(*noise);
                if *is_broken && kind == PressKind::Full {
                    self.doubted.extend(number);
                }
                let may_pass = number.is_some_and(|number| self.has_measured(number));
                let most = if may_pass { DISTURBED_MOST } else { UNFIT_MOST };
                return self.add_unfit(&noise.says(), most);
            }
            (Found::Closed { per_s }, ..) => {
                self.closed_per_s = Some(*per_s);
                let top = self.search.top(self.closed_per_s);
                self.grid = Grid::new(self.search.width, self.search.least, top);
            }
            (Found::Open(found), PressKind::Short, Some(number)) => {
                let longer = self.press(PressKind::Full, number).seconds / press.seconds;
                if found.is_cut {
                    self.takes_s.insert(number, longer * tried.took_s);
                }
                self.short.push((number, found.clone()));
            }
            (Found::Open(found), PressKind::Full, Some(number)) => {
                self.takes_s.insert(number, tried.took_s);
                self.full.entry(number).or_default().push(found.clone());
                self.settle();
            }
            (Found::Open(found), PressKind::Beyond, Some(number)) => {
                self.beyond = Some((number, found.clone()));
            }
            (Found::Open(_), ..) => {}
        }
        self.unfit = None;
        if self.ends.is_none() {
            self.ends = self.coarse();
            self.first_span = self.ends.map(|_| self.span());
        }
    }

    fn add_unfit(&mut self, says: &str, most: usize) {
        let before = self.unfit.as_ref().map_or(0, |unfit| unfit.in_a_row);
        self.unfit = Some(Unfit { in_a_row: before + 1, says: says.into(), most });
    }

    /// The short trials of all rates, also of those above the ceiling.
    pub(super) fn all_short(&self) -> impl Iterator<Item = &(i32, Evidence)> {
        self.short.iter().chain(&self.beyond)
    }

    /// Whether a trial at this rate or a higher one was evidence.
    fn has_measured(&self, number: i32) -> bool {
        let short = self.all_short().map(|(number, _)| *number);
        short.chain(self.full.keys().copied()).any(|other| number <= other)
    }

    /// What comes next.
    pub(super) fn step(&self) -> Step {
        if let Some(Unfit { in_a_row, says, most }) = &self.unfit
            && most <= in_a_row
        {
            return self.done(Conclusion::CannotTell { says: says.clone(), in_a_row: *in_a_row });
        }
        let press = match self.wanted() {
            Ok(press) => press,
            Err(conclusion) => return self.done(conclusion),
        };
        let is_out_of_time = self.search.limit_s < self.spent_s + press.seconds + self.around();
        match (is_out_of_time, press.kind) {
            (false, _) => Step::Press(press),
            (true, PressKind::Beyond) => self.done(Conclusion::Found),
            (true, _) => self.done(Conclusion::OutOfTime { needed_s: self.progress().seconds }),
        }
    }

    fn done(&self, conclusion: Conclusion) -> Step {
        Step::Done(Box::new(Answer::of(self, conclusion)))
    }

    /// What a trial takes besides its load, on average.
    pub(super) fn around(&self) -> f64 {
        if self.trials == 0 { 0.0 } else { self.around_s / self.trials as f64 }
    }

    fn wanted(&self) -> Result<Press, Conclusion> {
        if let Some(kept) = self.collapsed() {
            return Err(Conclusion::Collapsed { kept });
        }
        let Some(closed) = self.closed_per_s else {
            let seconds = FIRST_S.min(self.search.limit_s / 4.0);
            return Ok(Press { kind: PressKind::First, rate: None, seconds });
        };
        let Some(ends) = self.ends else {
            return Ok(self.press(PressKind::Short, self.next_short(closed)));
        };
        if let Some(number) = self.last_end(ends) {
            return Ok(self.press(PressKind::Full, number));
        }
        match self.next_full(ends)? {
            Some(number) => Ok(self.press(PressKind::Full, number)),
            None => {
                let far = self.grid.clipped(ends.1 + FAR);
                let is_there = self.beyond.is_some() || far <= ends.1 + STEPS;
                if is_there {
                    Err(Conclusion::Found)
                } else {
                    Ok(self.press(PressKind::Beyond, far))
                }
            }
        }
    }

    /// A rate that a server which is not started anew kept at first, and has not kept since: neither it nor a lower one.
    fn collapsed(&self) -> Option<f64> {
        let aim = &self.search.aim;
        if self.search.is_fresh {
            return None;
        }
        let place = self.short.iter().position(|(_, found)| found.keeps(aim))?;
        let kept = self.short[place].0;
        let later = self.short[place + 1..].iter().filter(|(number, _)| *number <= kept);
        let full = self.full.range(..=kept).flat_map(|(_, trials)| trials);
        let all: Vec<&Evidence> = later.map(|(_, found)| found).chain(full).collect();
        let is_far = |found: &&Evidence| found.is_cut || 2.0 < Judged::of(aim, &[*found]).beyond();
        let is_collapsed = TRIALS_LEAST <= all.len() && all.iter().all(is_far);
        is_collapsed.then(|| self.grid.rate(kept))
    }

    pub(super) fn press(&self, kind: PressKind, number: i32) -> Press {
        let rate = self.grid.rate(number);
        let enough = |may: f64| may / (self.search.aim.finest() * rate);
        let seconds = match kind {
            PressKind::Full => enough(MAY_BE_LOST.1).clamp(FULL_S, LONGEST_S.1),
            PressKind::First | PressKind::Short | PressKind::Beyond => {
                enough(MAY_BE_LOST.0).clamp(SHORT_S, LONGEST_S.0)
            }
        };
        Press { kind, rate: Some(rate), seconds: seconds.ceil() }
    }

    /// The lowest rate that a short trial broke, and the highest below it that one kept.
    pub(super) fn range(&self) -> (Option<i32>, Option<i32>) {
        let aim = &self.search.aim;
        let short = || self.short.iter().filter(|(number, found)| !self.is_refuted(*number, found));
        let broken = short().filter(|(_, found)| !found.keeps(aim));
        let high = broken.map(|(number, _)| *number).min();
        let is_below = |number: &i32| high.is_none_or(|high| *number < high);
        let kept = short().filter(|(_, found)| found.keeps(aim));
        (kept.map(|(number, _)| *number).filter(is_below).max(), high)
    }

    fn next_short(&self, closed: f64) -> i32 {
        let doubling = self.grid.doubling();
        match self.range() {
            (None, None) => self.grid.nearest((closed / 2.0).max(self.search.least)),
            (Some(low), None) => self.grid.clipped(low + doubling),
            (None, Some(high)) => self.grid.clipped(high - doubling),
            (Some(low), Some(high)) => i32::midpoint(low, high),
        }
    }

    /// The first two ends, once short trials have come near enough.
    fn coarse(&self) -> Option<(i32, i32)> {
        let grid = &self.grid;
        match self.range() {
            (Some(low), None) if low == grid.top => Some((grid.clipped(low - self.span()), low)),
            (None, Some(high)) if high == grid.bottom => {
                Some((high, grid.clipped(high + self.span())))
            }
            (Some(low), Some(high)) if high - low <= self.span() => {
                let span = self.span();
                Some(self.pair(i32::midpoint(low, high) - span / 2, span))
            }
            _ => None,
        }
    }

    /// Two ends so far apart, within the grid.
    fn pair(&self, low: i32, span: i32) -> (i32, i32) {
        let low = low.clamp(self.grid.bottom, (self.grid.top - span).max(self.grid.bottom));
        (low, self.grid.clipped(low + span))
    }

    /// How far apart two ends are to be: once there is some bracket, or plenty of time, as far as they may be in the end.
    fn span(&self) -> i32 {
        match self.bracket() {
            (Some(_), Some(_)) => STEPS,
            _ => self.first_span.unwrap_or_else(|| self.span_by_time()),
        }
    }

    pub(super) fn judged(&self, number: i32) -> Option<Judged> {
        let trials: Vec<&Evidence> = self.full.get(&number)?.iter().collect();
        Some(Judged::of(&self.search.aim, &trials))
    }

    pub(super) fn word(&self, number: i32) -> Word {
        self.judged(number).map_or(Word::Open, |judged| judged.word)
    }

    pub(super) fn count(&self, number: i32) -> usize {
        self.full.get(&number).map_or(0, Vec::len)
    }

    /// The highest rate that holds below all that break, and the lowest that breaks.
    pub(super) fn bracket(&self) -> (Option<i32>, Option<i32>) {
        let with = |word: Word| self.full.keys().copied().filter(move |it| self.word(*it) == word);
        let high = with(Word::Breaks).min();
        let low = with(Word::Holds).filter(|low| high.is_none_or(|high| *low < high)).max();
        (low, high)
    }

    /// The rate whose full trial comes next; none when both ends are decided.
    fn next_full(&self, (low, high): (i32, i32)) -> Result<Option<i32>, Conclusion> {
        let grid = &self.grid;
        let words = (self.word(low), self.word(high));
        match words {
            (_, Word::Holds) if high == grid.top => return Err(Conclusion::AtLeast),
            (Word::Breaks, _) if low == grid.bottom => return Err(Conclusion::NotMet),
            (Word::Holds, Word::Breaks) if high - low <= STEPS => return Ok(None),
            _ => {}
        }
        // The rates at the ends of the range are the only ones that can be tried there.
        let (low_first, high_first) =
            (grid.bottom == low, grid.top == high && self.range().1.is_none());
        let is_needed =
            |number: i32| self.word(number) == Word::Open && self.count(number) < TRIALS_MOST;
        let below = is_needed(low).then_some(low);
        let above = is_needed(high).then_some(high);
        match (below, above) {
            (Some(low), Some(_)) if low_first && self.range().0.is_none() => Ok(Some(low)),
            (Some(_), Some(high)) if high_first => Ok(Some(high)),
            (Some(low), Some(high)) => Ok(Some(self.first_of(low, high))),
            (Some(one), None) | (None, Some(one)) => Ok(Some(one)),
            (None, None) => Err(Conclusion::Wider),
        }
    }

    /// The one with fewer trials; of two with as many, one by chance.
    pub(super) fn first_of(&self, low: i32, high: i32) -> i32 {
        let chance = load::Chance::new(self.search.seed ^ self.trials as u64).unit() < 0.5;
        match self.count(low).cmp(&self.count(high)) {
            std::cmp::Ordering::Less => low,
            std::cmp::Ordering::Greater => high,
            std::cmp::Ordering::Equal if chance => low,
            std::cmp::Ordering::Equal => high,
        }
    }

    /// Moves the ends to where the last trial says that they must be.
    fn settle(&mut self) {
        // Each turn moves the ends past a rate that is decided, or to the middle: there are few of them.
        for _ in 0..64 {
            let Some(ends) = self.ends else { return };
            let moved = self.moved(ends);
            self.ends = Some(moved);
            if moved == ends {
                return;
            }
        }
    }

    fn moved(&self, (low, high): (i32, i32)) -> (i32, i32) {
        let (holds, breaks) = self.bracket();
        match (self.word(low), self.word(high)) {
            (Word::Breaks, _) => return self.beside((None, Some(low)), holds),
            (_, Word::Holds) => return self.beside((Some(high), None), breaks),
            (Word::Holds, Word::Breaks) if high - low <= STEPS => return (low, high),
            (Word::Holds, Word::Breaks) => {}
            (Word::Open, _) | (_, Word::Open) => {
                let is_known = |number: i32| {
                    self.word(number) != Word::Open || TRIALS_LEAST <= self.count(number)
                };
                if !is_known(low) || !is_known(high) {
                    return (low, high);
                }
            }
        }
        let Some(middle) = self.crossing((low, high)) else { return (low, high) };
        let now = f64::midpoint(f64::from(low), f64::from(high));
        let is_worn =
            |number: i32| self.word(number) == Word::Open && TRIALS_MOST <= self.count(number);
        let span = self.span();
        let is_near = (middle - now).abs() < 0.75 && high - low <= span;
        if is_near && !is_worn(low) && !is_worn(high) {
            return (low, high);
        }
        let centred = (middle - f64::from(span) / 2.0).round() as i32;
        let least = holds.unwrap_or(i32::MIN);
        let most = breaks.map_or(i32::MAX, |breaks| breaks - span);
        let (mut low, mut high) = self.pair(centred.min(most).max(least), span);
        // A rate that stays undecided is left between the ends.
        while is_worn(low) && self.grid.bottom < low {
            low -= 1;
        }
        while is_worn(high) && high < self.grid.top {
            high += 1;
        }
        (low, high)
    }

    /// The two ends next to a rate that turned out to be on the other side: no farther than what is decided there.
    fn beside(&self, (low, high): (Option<i32>, Option<i32>), decided: Option<i32>) -> (i32, i32) {
        let span = self.span();
        match (low, high, decided) {
            (_, Some(high), Some(low)) if low < high => (low.max(high - span), high),
            (_, Some(high), _) => (self.grid.clipped(high - span), high),
            (Some(low), _, Some(high)) if low < high => (low, high.min(low + span)),
            (Some(low), ..) => (low, self.grid.clipped(low + span)),
            (None, None, _) => (self.grid.bottom, self.grid.top),
        }
    }

    /// Where the losses cross what may be lost, as a number of the grid: by a line through the losses near these ends, on
    /// the scale of the logit.
    pub(super) fn crossing(&self, (low, high): (i32, i32)) -> Option<f64> {
        let near = (low - 2 * STEPS)..=(high + 2 * STEPS);
        let point = |number: i32| {
            let judged = self.judged(number)?;
            Some((f64::from(number), judged.beyond().clamp(-3.0, 3.0), judged.of as f64))
        };
        let numbers = self.full.keys().copied().filter(|number| near.contains(number));
        let points: Vec<(f64, f64, f64)> = numbers.filter_map(point).collect();
        let weight: f64 = points.iter().map(|(.., weight)| weight).sum();
        let mean = |of: &dyn Fn(&(f64, f64, f64)) -> f64| {
            points.iter().map(|point| of(point) * point.2).sum::<f64>() / weight
        };
        let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
        let square = mean(&|point| (point.0 - x).powi(2));
        let slope = mean(&|point| (point.0 - x) * (point.1 - y)) / square;
        let (least, most) = (f64::from(low - STEPS), f64::from(high + STEPS));
        (1e-9 < square && 1e-3 < slope).then(|| (x - y / slope).clamp(least, most))
    }

    pub(super) fn progress(&self) -> Progress {
        let rate = |number: Option<i32>| number.map(|number| self.grid.rate(number));
        let (low, high) = self.range();
        let (holds, breaks) = self.bracket();
        // What full trials say outweighs what short ones did.
        let low = low.filter(|low| breaks.is_none_or(|breaks| *low < breaks));
        let high = high.filter(|high| holds.is_none_or(|holds| holds < *high));
        let (mut trials, mut seconds) = (0, 0.0);
        if self.ends.is_none() {
            let left = match (low, high) {
                (Some(low), Some(high)) => {
                    f64::from((high - low) / self.span()).max(2.0).log2().ceil()
                }
                _ => 6.0,
            };
            trials += left as usize + 2 * TRIALS_LEAST;
            seconds += left * SHORT_S + 2.0 * TRIALS_LEAST as f64 * FULL_S;
        }
        for number in self.ends.into_iter().flat_map(|(low, high)| [low, high]) {
            let is_open = self.word(number) == Word::Open;
            let left = match self.count(number) {
                count if count < TRIALS_LEAST => TRIALS_LEAST - count,
                count => self.trials_to_decide(number).min(TRIALS_MOST.saturating_sub(count)),
            };
            let left = if is_open { left } else { 0 };
            trials += left;
            seconds += left as f64 * self.press(PressKind::Full, number).seconds;
        }
        seconds += trials as f64 * self.around();
        let left_s = (self.search.limit_s - self.spent_s).max(0.0);
        let (holds, breaks) = (rate(holds.or(low)), rate(breaks.or(high)));
        Progress { holds, breaks, trials, seconds, left_s }
    }

    /// How many more trials a rate needs by what is known of it: an interval narrows with the root of their number.
    pub(super) fn trials_to_decide(&self, number: i32) -> usize {
        let Some(judged) = self.judged(number) else { return TRIALS_LEAST };
        let needed = judged.pooled.iter().filter_map(|pooled| {
            let (low, high) = pooled.interval?;
            let allowed = pooled.criterion.allowed;
            let half = (high - low) / 2.0;
            let off = (pooled.loss - allowed).abs().max(half / 3.0);
            (low <= allowed && allowed < high)
                .then(|| (judged.of as f64 * ((half / off).powi(2) - 1.0)).ceil().max(1.0) as usize)
        });
        needed.max().unwrap_or(1)
    }
}
