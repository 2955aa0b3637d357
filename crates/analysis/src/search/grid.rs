//! The rates that a search may try: each is the one before it times a fixed ratio, so that a rate that is tried again is
//! the same rate.

/// So many steps of the grid are as wide as the bracket may be. A bracket is decided by its two ends; a finer grid lets
/// both of them lie away from the capacity, where a decision takes few trials.
pub(super) const STEPS: i32 = 4;

/// The rates, numbered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    ratio: f64,
    /// The numbers of the lowest and of the highest rate.
    pub bottom: i32,
    pub top: i32,
}

impl Grid {
    #[must_use]
    pub fn new(width: f64, least: f64, most: f64) -> Grid {
        let ratio = width.ln_1p() / f64::from(STEPS);
        let bottom = (least.ln() / ratio - 1e-9).ceil() as i32;
        let top = (most.ln() / ratio + 1e-9).floor() as i32;
        Grid { ratio, bottom, top: top.max(bottom) }
    }

    /// Whether one of its rates is within the range. Where none is, the only one that the grid has is too high.
    #[must_use]
    pub fn has_any_up_to(&self, most: f64) -> bool {
        f64::from(self.bottom) * self.ratio <= most.ln() + 1e-9
    }

    /// A rate, with as many digits as the grid needs.
    #[must_use]
    pub fn rate(&self, number: i32) -> f64 {
        let rate = (f64::from(number) * self.ratio).exp();
        // Rounding moves a rate by no more than a fortieth of a step.
        let digits = (20.0 / self.ratio).log10().ceil();
        let unit = 10_f64.powf(rate.log10().floor() - digits);
        let rounded = (rate / unit).round();
        // A power of ten below 1 is not exact, and what it divides is.
        if unit < 1.0 { rounded / (1.0 / unit).round() } else { rounded * unit }
    }

    /// The number of the rate that is nearest to this one.
    #[must_use]
    pub fn nearest(&self, rate: f64) -> i32 {
        self.clipped((rate.ln() / self.ratio).round() as i32)
    }

    #[must_use]
    pub fn clipped(&self, number: i32) -> i32 {
        number.clamp(self.bottom, self.top)
    }

    /// By so many steps a rate doubles.
    #[must_use]
    pub fn doubling(&self) -> i32 {
        (2_f64.ln() / self.ratio).round().max(1.0) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_whole_where_they_can_be_and_never_equal() {
        for width in [0.01, 0.02, 0.05, 0.2] {
            let grid = Grid::new(width, 10.0, 1e6);
            let rates: Vec<f64> =
                (grid.bottom..=grid.top).map(|number| grid.rate(number)).collect();
            for (at, pair) in rates.windows(2).enumerate() {
                let step = pair[1] / pair[0] - 1.0;
                let wanted = (1.0 + width).powf(0.25) - 1.0;
                assert!((step / wanted - 1.0).abs() < 0.2, "{width} {pair:?}");
                assert_eq!(grid.nearest(pair[0]), grid.bottom + at as i32);
            }
            let apart = rates[STEPS as usize] / rates[0] - 1.0;
            assert!((apart / width - 1.0).abs() < 0.1, "{apart}");
        }
        let grid = Grid::new(0.05, 10.0, 1e5);
        assert_eq!(grid.rate(grid.nearest(1_500.0)).fract(), 0.0);
    }

    #[test]
    fn the_range_holds_only_what_it_is_given() {
        let grid = Grid::new(0.05, 10.0, 1_000.0);
        assert!(9.9 < grid.rate(grid.bottom) && grid.rate(grid.top) < 1_001.0);
        assert_eq!(grid.nearest(1.0), grid.bottom);
        assert_eq!(grid.nearest(1e9), grid.top);
        let one = Grid::new(0.05, 100.0, 50.0);
        assert_eq!(one.bottom, one.top);
        assert!(grid.has_any_up_to(1_000.0) && !one.has_any_up_to(50.0));
        // A range that lies between two rates of the grid.
        assert!(!Grid::new(0.05, 1_499.0, 1_500.0).has_any_up_to(1_500.0));
        assert!(Grid::new(0.05, 1_499.0, 1_520.0).has_any_up_to(1_520.0));
    }
}
