//! Capacities as intervals, and which server is ahead of which.

use super::{Answer, Conclusion, End};

/// Between these two rates a capacity lies, each of which full trials decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// It is held; none: not even the lowest rate, or none is known.
    pub lower: Option<f64>,
    /// It is not held; none: the highest rate is held, or none is known.
    pub upper: Option<f64>,
}

impl Answer {
    /// The interval of the capacity; none where the search says nothing of it.
    #[must_use]
    pub fn bracket(&self) -> Option<Bracket> {
        let decided =
            |end: &Option<End>| end.as_ref().filter(|end| end.is_decided()).map(|it| it.rate);
        match self.conclusion {
            Conclusion::Collapsed { .. } | Conclusion::CannotTell { .. } => None,
            Conclusion::Found
            | Conclusion::Wider
            | Conclusion::AtLeast
            | Conclusion::NotMet
            | Conclusion::OutOfTime { .. }
            | Conclusion::Unfinished { .. } => {
                let bracket = Bracket { lower: decided(&self.lower), upper: decided(&self.upper) };
                (bracket != Bracket { lower: None, upper: None }).then_some(bracket)
            }
        }
    }
}

impl Bracket {
    /// Whether it lies wholly above another: what is held here is not held there.
    #[must_use]
    pub fn is_ahead_of(self, other: Bracket) -> bool {
        self.lower.zip(other.upper).is_some_and(|(held, broken)| broken <= held)
    }
}

/// First and last place of each: those that are ahead of it come before, those that it is ahead of after, and how it
/// stands to the others is not known. None where nothing is known of it.
#[must_use]
pub fn ranks(all: &[Option<Bracket>]) -> Vec<Option<(usize, usize)>> {
    let known: Vec<Bracket> = all.iter().copied().flatten().collect();
    let place = |one: Bracket| {
        let before = known.iter().filter(|other| other.is_ahead_of(one)).count();
        let after = known.iter().filter(|other| one.is_ahead_of(**other)).count();
        (before + 1, known.len() - after)
    };
    all.iter().map(|one| one.map(place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lower: f64, upper: f64) -> Option<Bracket> {
        let known = |rate: f64| (rate.is_finite() && 0.0 < rate).then_some(rate);
        Some(Bracket { lower: known(lower), upper: known(upper) })
    }

    const OPEN: f64 = f64::INFINITY;

    #[test]
    fn a_server_is_ahead_only_if_its_bracket_lies_wholly_above() {
        let all = [of(100.0, 110.0), of(200.0, 210.0), of(205.0, 220.0), None];
        assert_eq!(ranks(&all), [Some((3, 3)), Some((1, 2)), Some((1, 2)), None]);
        // What one holds and the other does not settles it, however near the brackets lie.
        assert_eq!(ranks(&[of(100.0, 110.0), of(110.0, 120.0)]), [Some((2, 2)), Some((1, 1))]);
        // Overlapping is not handed on: the middle one ties with both, which do not tie with each other.
        let chain = [of(100.0, 120.0), of(110.0, 140.0), of(130.0, 150.0)];
        assert_eq!(ranks(&chain), [Some((2, 3)), Some((1, 3)), Some((1, 2))]);
    }

    #[test]
    fn at_least_ties_with_everything_above_it_and_a_missed_aim_is_behind_all_that_is_held() {
        let all = [of(500.0, OPEN), of(900.0, 950.0), of(100.0, 110.0), of(0.0, 10.0)];
        assert_eq!(ranks(&all), [Some((1, 2)), Some((1, 2)), Some((3, 3)), Some((4, 4))]);
        // One of which only the upper end is known is ahead of nothing.
        assert_eq!(ranks(&[of(0.0, 700.0), of(100.0, 110.0)]), [Some((1, 2)), Some((1, 2))]);
        assert_eq!(ranks(&[None, None]), [None, None]);
        assert_eq!(ranks(&[]), []);
    }
}
