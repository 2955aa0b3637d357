//! Signs that several charts use, and the legend that names them: a chart makes it of what it draws itself.

use analysis::{Row, Verdict};
use lab::figure::Unit;

use super::Spot;
use crate::number_format::number;

/// How far a value can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Trust {
    #[default]
    Full,
    /// Drawn hollow.
    Doubtful,
    /// It is no valid value: drawn hollow and crossed out. Without a number it stands at the bottom.
    Invalid,
}

impl Trust {
    pub(crate) fn of(verdict: Option<Verdict>) -> Trust {
        match verdict {
            Some(Verdict::Suspect) => Trust::Doubtful,
            Some(Verdict::Invalid) => Trust::Invalid,
            Some(Verdict::Valid) | None => Trust::Full,
        }
    }

    pub(crate) fn of_row(row: &Row) -> Trust {
        Trust::of(row.verdict().filter(|_| 0 < row.measured()))
    }

    /// In doubt at least, if this holds.
    pub(crate) fn or_doubtful(self, is_doubtful: bool) -> Trust {
        match self {
            Trust::Full if is_doubtful => Trust::Doubtful,
            Trust::Full | Trust::Doubtful | Trust::Invalid => self,
        }
    }
}

/// These parts, and what the marks of such values mean.
pub(super) fn legend(
    parts: impl Iterator<Item = String>,
    drawn: impl Iterator<Item = Trust>,
) -> String {
    let drawn: Vec<Trust> = drawn.collect();
    let marks = [
        (Trust::Doubtful, "hollow: in doubt"),
        (Trust::Invalid, "crossed: invalid, or not measured"),
    ];
    let marks = marks.into_iter().filter(|(trust, _)| drawn.contains(trust));
    let parts = parts.filter(|part| !part.is_empty()).chain(marks.map(|(_, says)| says.into()));
    parts.collect::<Vec<_>>().join(" · ")
}

/// What the machine and the instrument reach with a server that does nothing.
#[derive(Clone, Debug)]
pub(crate) struct Ceiling {
    /// That server.
    pub(crate) by: String,
    /// Place by place; there is one at least.
    pub(crate) spots: Vec<Spot>,
}

impl Ceiling {
    /// Where the axis reaches it.
    pub(super) fn below(&self, high: f64) -> impl Iterator<Item = &Spot> {
        self.spots.iter().filter(move |spot| spot.value <= high)
    }

    /// What the legend says of it on an axis that ends here.
    pub(super) fn says(&self, unit: Unit, high: f64) -> String {
        if self.below(high).next().is_some() {
            return format!("grey: the ceiling, by {}", self.by);
        }
        let most = self.spots.iter().map(|spot| spot.value).fold(0.0, f64::max);
        format!("the ceiling, {} by {}, lies beyond the axis", number(unit, most), self.by)
    }
}

/// Where its line would leave everything else flat, it is stated in words instead: beyond so many times the values.
pub(super) const NEAR: f64 = 1.6;

/// What the arrow at the end of an interval means.
pub(super) const BEYOND: &str = "arrow: the interval goes beyond the axis";
