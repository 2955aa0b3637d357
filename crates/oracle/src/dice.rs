//! A seeded random generator: xoshiro256++, the same throws for the same seed on every machine.

/// A stream of throws.
#[derive(Debug)]
pub(crate) struct Dice([u64; 4]);

impl Dice {
    pub(crate) fn seeded(seed: u64) -> Dice {
        // splitmix64 spreads a small seed over the whole state, as xoshiro's authors advise.
        let mut state = seed;
        Dice([(); 4].map(|()| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = state;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^ (word >> 31)
        }))
    }

    fn throw(&mut self) -> u64 {
        let Dice(s) = self;
        let thrown = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        thrown
    }

    /// Uniform over [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.throw() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// True in this share of the throws.
    pub(crate) fn happens(&mut self, share: f64) -> bool {
        share >= 1.0 || self.unit() < share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_throws_the_same() {
        let throws = |seed| {
            let mut dice = Dice::seeded(seed);
            [(); 8].map(|()| dice.throw())
        };
        assert_eq!(throws(7), throws(7));
        assert_ne!(throws(7), throws(8));
    }
}
