//! Which parts a sentence about a whole names: the largest first, until what is left is small.

use super::{Differences, LineCost, LineGap, ServerCosts};

/// What may be left of the whole.
const LEFT: f64 = 0.2;
/// A sentence with more parts is not read.
const PARTS_MAX: usize = 5;

impl Differences {
    /// The lines that the sentence about the difference names: of those that are shown, the largest first, also where the
    /// second server costs less, until what they leave is at most a fifth of the whole difference.
    #[must_use]
    pub fn leading_lines(&self) -> Vec<&LineGap> {
        let shown = self.lines.iter().filter(|line| line.is_shown);
        leading(shown.map(|line| (line.gap.us, line)), self.cpu.us)
    }
}

impl ServerCosts {
    /// The lines that the sentence about a single server names.
    #[must_use]
    pub fn leading_lines(&self) -> Vec<&LineCost> {
        leading(self.lines.iter().map(|line| (line.cpu.us, line)), self.cpu.us)
    }
}

fn leading<T>(parts: impl Iterator<Item = (f64, T)>, whole: f64) -> Vec<T> {
    let mut parts: Vec<(f64, T)> = parts.collect();
    parts.sort_by(|(one, _), (other, _)| other.abs().total_cmp(&one.abs()));
    let mut left = whole;
    let takes = |(us, part): (f64, T)| {
        let is_enough = left.abs() <= LEFT * whole.abs();
        left -= us;
        (!is_enough).then_some(part)
    };
    parts.into_iter().map_while(takes).take(PARTS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::leading;

    fn check(parts: &[f64], whole: f64, expected: &[f64]) {
        assert_eq!(leading(parts.iter().map(|us| (*us, *us)), whole), expected);
    }

    #[test]
    fn parts_are_named_until_little_is_left() {
        check(&[5.0, 30.0, 12.0, 9.0, 4.0], 60.0, &[30.0, 12.0, 9.0]);
        check(&[50.0, 10.0], 60.0, &[50.0]);
        // What is less is named, too, where the difference cannot be understood without it.
        check(&[5.0, -4.0, 0.1], 1.0, &[5.0, -4.0]);
        check(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 7.0, &[1.0; 5]);
        check(&[], 3.0, &[]);
    }
}
