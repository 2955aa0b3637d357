//! The score of a check. It is a figure of its own and never part of a speed.

use std::fmt;

use units::named;

use crate::case::Level;
use crate::finding::{CaseVerdict, Finding};

/// Below this share of decided cases there is no percentage.
const COVERAGE: f64 = 0.8;
/// A server that crashes gets no more than this.
const CRASHED: f64 = 50.0;

/// How many cases had which verdict.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct VerdictCounts {
    /// as the clause requires
    pub pass: usize,
    /// tolerable
    pub warn: usize,
    /// not as the clause requires
    pub fail: usize,
    /// the server was gone afterwards
    pub crash: usize,
    /// the case's well-formed twin was not accepted
    pub not_testable: usize,
    /// the case does not apply to this server
    pub not_applicable: usize,
    /// failures of clauses that oblige
    pub must_broken: usize,
    /// failures of clauses that advise
    pub should_broken: usize,
    /// short ids of failures that an attacker could use
    pub security: Vec<String>,
    /// cases that differed from round to round
    pub unstable: usize,
    #[serde(skip)]
    earned: f64,
    #[serde(skip)]
    weight: f64,
}

impl VerdictCounts {
    /// Counts findings.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> VerdictCounts {
        let mut tally = VerdictCounts::default();
        for finding in findings {
            tally.count(finding);
        }
        tally
    }

    fn count(&mut self, finding: &Finding) {
        let (count, earned) = match finding.verdict {
            CaseVerdict::NotApplicable => {
                self.not_applicable += 1;
                return;
            }
            CaseVerdict::Pass => (&mut self.pass, 1.0),
            // A warning must cost something, or no server would ever be fixed.
            CaseVerdict::Warn => (&mut self.warn, 0.5),
            CaseVerdict::NotTestable => (&mut self.not_testable, 0.0),
            CaseVerdict::Fail => (&mut self.fail, 0.0),
            CaseVerdict::Crash => (&mut self.crash, 0.0),
        };
        *count += 1;
        self.earned += earned * f64::from(finding.weight);
        self.weight += f64::from(finding.weight);
        self.unstable += usize::from(finding.is_unstable());
        if finding.is_broken() {
            match finding.level {
                Level::Must => self.must_broken += 1,
                Level::Should | Level::Ought => self.should_broken += 1,
            }
            if !finding.tags.is_empty() {
                self.security.push(finding.short().to_string());
            }
        }
    }

    /// How many cases apply.
    #[must_use]
    pub fn applicable(&self) -> usize {
        self.pass + self.warn + self.fail + self.crash + self.not_testable
    }

    /// How many were decided.
    #[must_use]
    pub fn tested(&self) -> usize {
        self.applicable() - self.not_testable
    }

    /// The share of the applicable cases that were decided.
    #[must_use]
    pub fn coverage(&self) -> f64 {
        match self.applicable() {
            0 => 0.0,
            applicable => self.tested() as f64 / applicable as f64,
        }
    }

    /// The weighted share of the points that were earned, whatever the coverage.
    #[must_use]
    pub fn points(&self) -> f64 {
        let points = if self.weight > 0.0 { 100.0 * self.earned / self.weight } else { 0.0 };
        if self.crash > 0 { points.min(CRASHED) } else { points }
    }

    /// The weighted share of the points that were earned, unless too few cases were decided.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        (self.coverage() >= COVERAGE).then(|| self.points())
    }

    /// The percentage as a whole number, which is 100 only if all points were earned.
    #[must_use]
    pub fn whole_percent(&self) -> Option<f64> {
        self.percent().map(whole)
    }

    /// The percentage with its coverage, or why there is none: `91 % of the points; 84 of 86 cases decided (98 %)`.
    #[must_use]
    pub fn score(&self) -> String {
        let coverage = 100.0 * self.coverage();
        let decided = |coverage: f64| {
            format!("{} of {} cases decided ({coverage} %)", self.tested(), self.applicable())
        };
        match self.whole_percent() {
            Some(points) => {
                let capped = if self.crash > 0 { ", no more than 50 % after a crash" } else { "" };
                let decided = decided(whole(coverage));
                format!("{points} % of the points{capped}; {decided}")
            }
            None => {
                let decided = decided(coverage.floor());
                format!("no percentage: only {decided}, and it takes {:.0} %", 100.0 * COVERAGE)
            }
        }
    }
}

fn whole(percent: f64) -> f64 {
    if percent < 100.0 { percent.round().min(99.0) } else { percent }
}

/// `74 pass · 6 warn · 5 fail · 1 not testable of 86 | MUST broken 1 | security 4: A05 F09 R06 K07`
impl fmt::Display for VerdictCounts {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(form, "{} pass · {} warn · {} fail", self.pass, self.warn, self.fail)?;
        if self.crash > 0 {
            write!(form, " · {} CRASH", self.crash)?;
        }
        write!(form, " · {} not testable of {}", self.not_testable, self.applicable())?;
        write!(form, " | MUST broken {} | security {}", self.must_broken, self.security.len())?;
        if !self.security.is_empty() {
            write!(form, ": {}", self.security.join(" "))?;
        }
        Ok(())
    }
}

named! {
    /// What makes a check fail.
    pub enum FailOn {
        /// A broken MUST.
        Must = "must",
        /// A broken clause of any level.
        Should = "should",
        /// A failure that an attacker could use.
        Security = "security",
        Never = "never",
    }
}

impl FailOn {
    #[must_use]
    pub fn fails(self, tally: &VerdictCounts) -> bool {
        match self {
            FailOn::Must => tally.must_broken > 0,
            FailOn::Should => tally.must_broken + tally.should_broken > 0,
            FailOn::Security => !tally.security.is_empty(),
            FailOn::Never => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_all_is_not_shown_as_all() {
        let counts = |pass, warn, not_testable, earned| VerdictCounts {
            pass,
            warn,
            not_testable,
            earned,
            weight: 500.0,
            ..VerdictCounts::default()
        };
        assert_eq!(
            counts(212, 1, 0, 499.5).score(),
            "99 % of the points; 213 of 213 cases decided (100 %)"
        );
        assert_eq!(
            counts(299, 0, 1, 500.0).score(),
            "100 % of the points; 299 of 300 cases decided (99 %)"
        );
        assert_eq!(
            counts(239, 0, 61, 500.0).score(),
            "no percentage: only 239 of 300 cases decided (79 %), and it takes 80 %"
        );
    }
}
