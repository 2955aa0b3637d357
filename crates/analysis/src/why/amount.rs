//! µs of an answer with all that they are uncertain by, and differences of such.

use super::Micros;
use crate::student;

#[derive(Clone, Debug)]
pub(super) struct Amount {
    pub(super) us: f64,
    /// That of the share and that of the measured mean, of a difference those of both; none where a single round was
    /// measured.
    pub(super) errors: Option<Vec<Variance>>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Variance {
    pub(super) variance: f64,
    pub(super) freedom: f64,
}

impl Amount {
    pub(super) fn minus(self, other: Amount) -> Amount {
        let errors = self.errors.zip(other.errors).map(|(of, others)| [of, others].concat());
        Amount { us: self.us - other.us, errors }
    }

    /// The standard error and its degrees of freedom, after Welch and Satterthwaite.
    fn error(&self) -> Option<(f64, f64)> {
        let parts = self.errors.as_ref()?;
        let sum: f64 = parts.iter().map(|part| part.variance).sum();
        let squares: f64 = parts.iter().map(|part| part.variance.powi(2) / part.freedom).sum();
        Some((sum.sqrt(), if 0.0 < squares { sum.powi(2) / squares } else { 1.0 }))
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
