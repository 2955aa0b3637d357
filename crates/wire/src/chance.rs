//! Seeded random numbers, the same on every machine and in every version: SplitMix64.

/// A sequence of random numbers, determined by its seed.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    #[must_use]
    pub const fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    /// 64 random bits.
    pub const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// At least 0, and below 1.
    pub fn unit(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `limit`, or 0.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.draw()) * limit as u128) >> 64) as usize
    }

    /// Puts items in a random order: the Fisher-Yates shuffle.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Spreads bits: inputs that differ in one bit give outputs that differ in about half of theirs.
#[must_use]
pub const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_list_has_the_same_items() {
        let all: Vec<u32> = (0..30).collect();
        let mut shuffled = all.clone();
        Chance::new(1).shuffle(&mut shuffled);
        assert_ne!(shuffled, all);
        shuffled.sort_unstable();
        assert_eq!(shuffled, all);
    }

    #[test]
    fn it_is_split_mix_64() {
        // The first values of the published algorithm for the seed 1234567.
        let mut chance = Chance::new(1_234_567);
        let known =
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([chance.draw(), chance.draw(), chance.draw()], known);
    }

    #[test]
    fn numbers_are_below_their_limit_and_spread() {
        let mut chance = Chance::new(1);
        let mut seen = [0; 7];
        for _ in 0..7_000 {
            seen[chance.below(7)] += 1;
            assert!((0.0..1.0).contains(&chance.unit()));
        }
        assert!(seen.iter().all(|times| (850..1_150).contains(times)), "{seen:?}");
        assert_eq!(chance.below(0), 0);
    }
}
