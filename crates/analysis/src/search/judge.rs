//! Whether a rate holds, by all trials of it: by how many of them kept the aim, and by what all of them lost together.

use lab::named;

use super::aim::{Aim, Criterion, Evidence};
use crate::student;

named! {
    /// What the trials of a rate say.
    pub enum Word {
        /// Half of the trials or more kept the aim, and what all of them lost together is less than may be, whatever chance
        /// has done.
        Holds = "holds",
        /// More is lost than may be, whatever chance has done; or more trials broke the aim than chance explains.
        Breaks = "breaks",
        /// Neither is known.
        Open = "undecided",
    }
}

/// All trials of one rate, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub word: Word,
    /// By criterion.
    pub pooled: Vec<Pooled>,
    /// How many trials kept the aim, of how many.
    pub kept: usize,
    pub of: usize,
    /// So many of them ended early.
    pub ended_early: usize,
}

/// The losses of several trials together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pooled {
    pub criterion: Criterion,
    /// All lost requests, of all that were due.
    pub loss: f64,
    /// Trials ended early: more may have been lost.
    pub is_bound: bool,
    /// Its interval: Student's t over the trials, on the scale of the logit; by the binomial law at least. None for one
    /// trial in which something was lost. Of a bound it reaches up to all.
    pub interval: Option<(f64, f64)>,
}

/// The probability that the true loss is outside of an interval: it may be above it in 35 of 1,000 cases, and below it in as
/// many. Simulated searches hold the capacity between their ends more often than in 95 of 100 cases, because an end is
/// seldom so near to it that this matters.
const OUTSIDE: f64 = 0.07;
/// The probability that so many trials break the aim at a rate at which only half of them would.
const MAJORITY_BY_CHANCE: f64 = 0.01;
/// A rate has at least so many trials before anything is said of it.
pub(crate) const TRIALS_LEAST: usize = 5;

impl Judged {
    /// Of at least one trial.
    #[must_use]
    pub fn of(aim: &Aim, trials: &[&Evidence]) -> Judged {
        let pooled: Vec<Pooled> = aim
            .criteria()
            .into_iter()
            .enumerate()
            .map(|(place, criterion)| Pooled::of(criterion, place, trials))
            .collect();
        let (kept, of) = (trials.iter().filter(|trial| trial.keeps(aim)).count(), trials.len());
        let holds = |pooled: &Pooled| {
            pooled.interval.is_some_and(|(_, high)| high <= pooled.criterion.allowed)
        };
        let breaks = |pooled: &Pooled| {
            pooled.interval.is_some_and(|(low, _)| pooled.criterion.allowed < low)
        };
        let mostly_breaks = half_or_more(of - kept, of) <= MAJORITY_BY_CHANCE;
        let word = if of < TRIALS_LEAST {
            Word::Open
        } else if pooled.iter().any(breaks) || mostly_breaks {
            Word::Breaks
        } else if pooled.iter().all(holds) && of <= 2 * kept {
            Word::Holds
        } else {
            Word::Open
        };
        let ended_early = trials.iter().filter(|trial| trial.is_cut).count();
        Judged { word, pooled, kept, of, ended_early }
    }

    /// The criterion that is exceeded most, or kept least well.
    #[must_use]
    pub fn worst(&self) -> Option<&Pooled> {
        self.pooled.iter().max_by(|one, other| one.beyond().total_cmp(&other.beyond()))
    }

    /// How far the losses are beyond what may be lost, on the scale of the logit: below 0 the rate is kept.
    #[must_use]
    pub fn beyond(&self) -> f64 {
        let far = |pooled: &Pooled| pooled.beyond();
        self.pooled.iter().map(far).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl Pooled {
    fn of(criterion: Criterion, place: usize, trials: &[&Evidence]) -> Pooled {
        let lost_in = |trial: &Evidence| trial.lost.get(place).copied().unwrap_or(trial.due) as f64;
        let due: f64 = trials.iter().map(|trial| trial.due as f64).sum();
        let lost: f64 = trials.iter().map(|trial| lost_in(trial)).sum();
        let loss = if 0.0 < due { lost / due } else { 1.0 };
        let is_bound = trials.iter().any(|trial| trial.is_cut && lost_in(trial) < trial.due as f64);
        let pooled = |interval: Option<(f64, f64)>| {
            let interval = interval.map(|(low, high)| (low, if is_bound { 1.0 } else { high }));
            Pooled { criterion, loss, is_bound, interval }
        };
        if lost == 0.0 {
            let high = 1.0 - (OUTSIDE / 2.0).powf(1.0 / due.max(1.0));
            return pooled(Some((0.0, high)));
        }
        if due <= lost {
            let low = (OUTSIDE / 2.0).powf(1.0 / due.max(1.0));
            return pooled(Some((low, 1.0)));
        }
        let count = trials.len() as f64;
        if count < 2.0 {
            return pooled(None);
        }
        // The spread of a ratio of two sums.
        let off = |trial: &&Evidence| (lost_in(trial) - loss * trial.due as f64).powi(2);
        let among = trials.iter().map(off).sum::<f64>() * count / (count - 1.0);
        let by_law = loss * (1.0 - loss) * due;
        let error = among.max(by_law).sqrt() / due;
        // On the scale of the logit, which has no ends.
        let half = student::point(OUTSIDE, count - 1.0) * error / (loss * (1.0 - loss));
        let middle = logit(loss);
        pooled(Some((unlogit(middle - half), unlogit(middle + half))))
    }

    fn beyond(&self) -> f64 {
        // A loss of nothing, or of everything, has no logit.
        let within = |share: f64| share.clamp(1e-6, 1.0 - 1e-6);
        logit(within(self.loss)) - logit(within(self.criterion.allowed))
    }
}

fn logit(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

fn unlogit(value: f64) -> f64 {
    1.0 / (1.0 + (-value).exp())
}

/// The probability of so many of these or more, if each happens once in two times.
fn half_or_more(many: usize, of: usize) -> f64 {
    let ways = |count: usize| -> f64 {
        (0..count).map(|at| (of - at) as f64 / (count - at) as f64).product()
    };
    (many..=of).map(ways).sum::<f64>() * 0.5_f64.powi(of as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::MS;

    fn aim(percent: f64) -> Aim {
        crate::search::tests::aim(percent, 10 * MS)
    }

    fn trial(lost: u64) -> Evidence {
        Evidence { due: 10_000, lost: vec![lost, 0], ..Evidence::default() }
    }

    fn judged(trials: &[Evidence]) -> Judged {
        Judged::of(&aim(99.0), &trials.iter().collect::<Vec<_>>())
    }

    fn word(lost: &[u64]) -> Word {
        judged(&lost.iter().map(|&lost| trial(lost)).collect::<Vec<_>>()).word
    }

    #[test]
    fn a_rate_is_judged_by_what_is_lost_and_by_how_many_trials_kept_the_aim() {
        assert_eq!(word(&[20, 25, 30, 22]), Word::Open, "four trials are too few");
        assert_eq!(word(&[20, 25, 30, 22, 26]), Word::Holds);
        assert_eq!(word(&[0, 0, 0, 0, 0]), Word::Holds);
        assert_eq!(word(&[180, 220, 260, 200, 190]), Word::Breaks);
        assert_eq!(word(&[10_000; 5]), Word::Breaks);
        assert_eq!(word(&[60, 80, 110, 70, 95]), Word::Open);
        // What is lost is well known, and a trial more or less would not change it.
        assert_eq!(word(&[99, 99, 98, 99, 98, 99]), Word::Open, "the binomial law is wider");
        // Half of the trials lose everything: the mean is far above what may be.
        assert_eq!(word(&[0, 10_000, 0, 10_000, 0, 10_000]), Word::Breaks);
        // A little too much in nearly every trial.
        assert_eq!(word(&[101, 102, 103, 101, 104, 102, 101]), Word::Breaks, "seven of seven");
    }

    #[test]
    fn any_criterion_that_is_broken_breaks_the_aim() {
        let judged = judged(&vec![Evidence { lost: vec![20, 300], ..trial(0) }; 5]);
        assert_eq!((judged.word, judged.kept), (Word::Breaks, 0));
        assert!((judged.pooled[1].loss - 0.03).abs() < 1e-12);
        assert!(0.0 < judged.beyond());
    }

    #[test]
    fn losses_that_may_be_are_exact() {
        let criteria = aim(99.9).criteria();
        assert_eq!((criteria[0].allowed, criteria[1].allowed), (0.001, 0.01));
        let edge = Evidence { due: 10_000, lost: vec![10, 0], ..Evidence::default() };
        assert!(edge.keeps(&aim(99.9)), "99.9 % are within the limit");
        assert!(!Evidence { lost: vec![11, 0], ..edge }.keeps(&aim(99.9)));
        assert!(!Evidence::default().keeps(&aim(99.9)), "nothing was due");
    }

    /// The rest of a trial that ended early may have been lost, too.
    #[test]
    fn what_trials_lost_that_ended_early_is_a_bound_which_breaks_a_rate_and_never_holds_it() {
        let cut = |lost| Evidence { is_cut: true, ..trial(lost) };
        let broken = judged(&[cut(400), cut(410), cut(420), trial(390), trial(405)]);
        assert_eq!((broken.word, broken.ended_early), (Word::Breaks, 3));
        let [late, failed] = &broken.pooled[..] else { panic!("{broken:?}") };
        assert!(late.is_bound && failed.is_bound, "a cut trial says no more of its failures");
        assert_eq!(late.interval.unwrap().1, 1.0);
        let mut many = vec![trial(2); 29];
        assert_eq!(judged(&many).word, Word::Holds);
        many.push(cut(410));
        assert_eq!(judged(&many).word, Word::Open);
        // A server that lost everything can lose no more.
        let dead = judged(&[Evidence::nothing(&aim(99.0), 10_000), trial(2)]);
        assert!(!dead.pooled[0].is_bound && dead.ended_early == 1, "{dead:?}");
    }
}
