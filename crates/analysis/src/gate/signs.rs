//! What the pairs would say if their signs were chance: if base and head are equal code, they are.

use load::Chance;

use super::{Answer, MOST, Rule, decided, most};

/// The probability that signs by chance make the mean at least so bad: exact, over all of them.
#[must_use]
pub fn flipped_p(differences: &[f64]) -> f64 {
    let few = &differences[..differences.len().min(MOST)];
    // Sums of the same numbers in another order differ by their rounding.
    let slack = 1e-9 * few.iter().map(|it| it.abs()).sum::<f64>();
    let least = few.iter().sum::<f64>() - slack;
    // For each sum of one half, how many of the other half's make it as bad.
    let (one, other) = few.split_at(few.len() / 2);
    let mut others = signed_sums(other);
    others.sort_by(f64::total_cmp);
    let as_bad = signed_sums(one)
        .into_iter()
        .map(|sum| others.len() - others.partition_point(|other| sum + other < least));
    as_bad.sum::<usize>() as f64 / (1_u64 << few.len()) as f64
}

/// The sums of these values with all their signs.
fn signed_sums(values: &[f64]) -> Vec<f64> {
    let both = |sums: Vec<f64>, value: &f64| {
        sums.into_iter().flat_map(|sum| [sum + value, sum - value]).collect()
    };
    values.iter().fold(vec![0.0], both)
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
