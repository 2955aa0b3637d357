//! How far pairs spread, from earlier gates.

/// So many degrees of freedom know a spread: to between 0.7 and 1.8 times what it is, in 19 of 20 cases. Three pairs have
/// two, and know it to between 0.5 and 6.3 times.
pub const ENOUGH: usize = 10;

/// The spread within gates: whatever each head did to all of its pairs is in none of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pooled {
    /// The standard deviation of pairs around the mean of their gate.
    pub spread: f64,
    pub pairs: usize,
    pub gates: usize,
    /// Each gate has one less than it has pairs.
    pub freedom: usize,
}

impl Pooled {
    /// The spread of the pairs of several gates; none where no gate has two of them.
    #[must_use]
    pub fn of(gates: &[&[f64]]) -> Option<Pooled> {
        let (mut squares, mut pairs, mut count) = (0.0, 0, 0);
        for differences in gates.iter().filter(|it| 2 <= it.len()) {
            let (_, spread) = super::mean_and_spread(differences);
            squares += spread.powi(2) * (differences.len() - 1) as f64;
            pairs += differences.len();
            count += 1;
        }
        let freedom = pairs - count;
        let spread = (squares / freedom.max(1) as f64).sqrt();
        (0 < freedom).then_some(Pooled { spread, pairs, gates: count, freedom })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::simulated::{Law, noise};
    use super::super::{MOST, Rule, decided};
    use super::*;
    use load::Chance;

    #[test]
    fn a_head_that_is_worse_in_all_pairs_adds_nothing_to_their_spread() {
        let (one, other) = ([0.51, 0.49, 0.51, 0.49], [-0.01, 0.01]);
        let found = Pooled::of(&[&one, &other, &[7.0], &[]]).unwrap();
        assert_eq!((found.pairs, found.gates, found.freedom), (6, 2, 4));
        // Squares: four of 0.01 and two of 0.01, over 3 + 1.
        assert!((found.spread - (6e-4_f64 / 4.0).sqrt()).abs() < 1e-12, "{}", found.spread);
        assert_eq!(Pooled::of(&[&[0.1], &[]]), None);
    }

    /// Gates end when they have an answer, and pairs that lie near one another have it sooner.
    #[test]
    fn that_gates_end_when_they_have_an_answer_hardly_changes_what_they_spread_by() {
        let rule = Rule::usual();
        for (law, off) in [(Law::Normal, 0.05), (Law::OneInTen, 0.07)] {
            for (truth, spread) in [(0.0, 0.01), (0.0, 0.03), (0.025, 0.03), (0.05, 0.03)] {
                let mut chance = Chance::new(31);
                let ended = |_: usize| -> Vec<f64> {
                    let noise = noise(law, &mut chance, MOST);
                    let pairs: Vec<f64> = noise.iter().map(|it| truth + spread * it).collect();
                    let used = decided(&pairs, rule, rule.alpha).unwrap().pairs;
                    pairs[..used].to_vec()
                };
                let gates: Vec<Vec<f64>> = (0..4_000).map(ended).collect();
                let gates: Vec<&[f64]> = gates.iter().map(Vec::as_slice).collect();
                let found = Pooled::of(&gates).unwrap();
                let off_by = found.spread / spread - 1.0;
                assert!(off_by.abs() < off, "{law:?} {truth} {spread}: {}", found.spread);
            }
        }
    }
}
