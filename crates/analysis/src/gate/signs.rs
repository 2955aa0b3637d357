//! What the pairs would say if their signs were chance: if base and head are equal code, they are.

use load::Chance;

use super::{Answer, MOST, Rule, decided, most};

/// The probability that signs by chance make the mean at least so bad: exact, over all of them.
#[must_use]
pub fn flipped_p(differences: &[f64]) -> f64 {
    let few = &differences[..differences.len().min(MOST)];
    let sum: f64 = few.iter().sum();
    // Sums of the same numbers in another order differ by their rounding.
    let slack = 1e-9 * few.iter().map(|it| it.abs()).sum::<f64>();
    let all = 1_u64 << few.len();
    let mut flipped = sum;
    let mut signs = vec![1.0; few.len()];
    let mut as_bad = 1_u64;
    // One sign changes from each to the next.
    for step in 1..all {
        let which = step.trailing_zeros() as usize;
        flipped -= 2.0 * signs[which] * few[which];
        signs[which] = -signs[which];
        as_bad += u64::from(sum - slack <= flipped);
    }
    as_bad as f64 / all as f64
}

/// How often the rule calls equal code worse on this machine's own noise: pairs of equal code, with their signs flipped
/// by chance, so many times. Longer series are begun at any of their pairs.
#[must_use]
pub fn false_alarms(differences: &[f64], rule: Rule, level: f64, times: u32) -> f64 {
    let used = differences.len().min(most(rule.builds));
    // Pairs of one build have one sign.
    let units = rule.builds.unwrap_or(MOST);
    let starts = (differences.len() - used + 1) as u64;
    let mut chance = Chance::new(0x6761_7465);
    let mut worse = 0_u32;
    let mut flipped = vec![0.0; used];
    for _ in 0..times {
        let start = (chance.draw() % starts) as usize;
        let signs = chance.draw();
        for (at, to) in flipped.iter_mut().enumerate() {
            let sign = if signs >> (at % units) & 1 == 0 { 1.0 } else { -1.0 };
            *to = sign * differences[start + at];
        }
        let found = decided(&flipped, rule, level).map(|found| found.answer);
        worse += u32::from(found == Some(Answer::Worse));
    }
    f64::from(worse) / f64::from(times.max(1))
}
