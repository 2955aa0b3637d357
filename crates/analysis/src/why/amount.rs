//! µs of an answer with all that they are uncertain by, and differences of such.

use super::Micros;
use crate::student;

#[derive(Clone, Debug)]
pub(super) struct Amount {
    pub(super) us: f64,
    /// Variances with their degrees of freedom: that of the share and that of the measured mean, of a difference those
    /// of both; none where a single round was measured.
    pub(super) errors: Option<Vec<(f64, f64)>>,
}

impl Amount {
    pub(super) fn minus(self, other: Amount) -> Amount {
        let errors = self.errors.zip(other.errors).map(|(of, others)| [of, others].concat());
        Amount { us: self.us - other.us, errors }
    }

    /// The standard error and its degrees of freedom.
    fn error(&self) -> Option<(f64, f64)> {
        self.errors.as_deref().map(student::welch)
    }

    /// The probability of a difference at least this large among equals.
    pub(super) fn p(&self) -> f64 {
        match self.error() {
            Some((error, freedom)) if 0.0 < error => {
                student::two_sided(self.us.abs() / error, freedom)
            }
            Some(_) | None => 1.0,
        }
    }

    /// With the interval that does not hold the truth with this probability.
    pub(super) fn micros(&self, outside: f64) -> Micros {
        let half = self.error().map(|(error, freedom)| student::point(outside, freedom) * error);
        let (low_us, high_us) = (half.map(|half| self.us - half), half.map(|half| self.us + half));
        Micros { us: self.us, low_us, high_us, outside }
    }
}
