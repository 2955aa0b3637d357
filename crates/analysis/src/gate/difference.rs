//! What a pair shows, and what it leaves open where a time of it is a bound.

/// The difference of a pair: a logarithm of a ratio, above zero where the head is worse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    pub value: f64,
    pub bounds: Bounds,
}

/// On which side of a difference the true one may lie, as far as anybody knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The head's time is a bound: its true one is no less.
    pub may_be_worse: bool,
    /// The base's is.
    pub may_be_better: bool,
}

impl From<f64> for Difference {
    fn from(value: f64) -> Difference {
        Difference { value, bounds: Bounds::default() }
    }
}

impl Difference {
    /// The difference with base and head exchanged.
    #[must_use]
    pub(super) fn reversed(self) -> Difference {
        let Bounds { may_be_worse, may_be_better } = self.bounds;
        let bounds = Bounds { may_be_worse: may_be_better, may_be_better: may_be_worse };
        Difference { value: -self.value, bounds }
    }
}

/// The values, and what their mean leaves open: whatever one of them does.
pub(super) fn split<D: Copy + Into<Difference>>(differences: &[D]) -> (Vec<f64>, Bounds) {
    let all = || differences.iter().map(|&it| -> Difference { it.into() });
    let bounds = Bounds {
        may_be_worse: all().any(|it| it.bounds.may_be_worse),
        may_be_better: all().any(|it| it.bounds.may_be_better),
    };
    (all().map(|it| it.value).collect(), bounds)
}
