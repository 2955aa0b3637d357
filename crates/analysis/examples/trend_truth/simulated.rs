//! Series by chance, always from a seed, in which no level changes.

/// What the logarithms of a figure are like from run to run, in units of about one standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    Normal,
    /// Student's t with 3 degrees of freedom.
    HeavyTails,
    /// One in ten runs is three times as far off.
    OneInTen,
    /// One run, anywhere, is ten standard deviations off.
    Spike,
    /// The last run is ten standard deviations off.
    LastSpike,
    /// Each run has this correlation with the one before.
    Correlated(f64),
}

impl Law {
    /// All of them, with their names in the tables.
    pub(crate) const ALL: [(Law, &str); 5] = [
        (Law::Normal, "normal"),
        (Law::HeavyTails, "Student's t, 3 degrees"),
        (Law::OneInTen, "one in ten × 3"),
        (Law::Spike, "normal, one run 10 standard deviations off"),
        (Law::LastSpike, "normal, the last run 10 standard deviations off"),
    ];
    /// Laws for which a permutation test is not made, as their runs may not be put in another order.
    pub(crate) const CORRELATED: [(Law, &str); 2] = [
        (Law::Correlated(0.2), "normal, neighbours correlated by 0.2"),
        (Law::Correlated(0.5), "normal, neighbours correlated by 0.5"),
    ];
}

/// Numbers by chance: SplitMix64.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((mixed ^ (mixed >> 31)) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let angle = std::f64::consts::TAU * self.share();
        (-2.0 * self.share().ln()).sqrt() * angle.cos()
    }
}

/// So many runs of this law.
pub(crate) fn series(law: Law, chance: &mut Chance, runs: usize) -> Vec<f64> {
    let mut values: Vec<f64> = (0..runs).map(|_| value(law, chance)).collect();
    if let Law::Correlated(by) = law {
        let kept = (1.0 - by * by).sqrt();
        (1..runs).for_each(|run| values[run] = by * values[run - 1] + kept * values[run]);
    }
    let place = match law {
        Law::Spike => Some((chance.share() * runs as f64) as usize),
        Law::LastSpike => runs.checked_sub(1),
        Law::Normal | Law::HeavyTails | Law::OneInTen | Law::Correlated(_) => None,
    };
    if let Some(value) = place.and_then(|place| values.get_mut(place)) {
        *value += 10.0;
    }
    values
}

fn value(law: Law, chance: &mut Chance) -> f64 {
    match law {
        Law::Normal | Law::Spike | Law::LastSpike | Law::Correlated(_) => chance.normal(),
        Law::HeavyTails => {
            let squares: f64 = (0..3).map(|_| chance.normal().powi(2)).sum();
            chance.normal() / (squares / 3.0).sqrt()
        }
        Law::OneInTen => {
            let factor = if chance.share() < 0.1 { 3.0 } else { 1.0 };
            factor * chance.normal()
        }
    }
}
