//! Rounds that are pairs: of a base and a head, whose difference decides whether there are more of them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::amounts::time_text;
use crate::figure::Figure;

/// When pairs suffice. The first subject is the base, the second the head; a third is the base once more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pairs {
    /// A head that is worse by so much is to be found: 0.05 is 5 %.
    pub detect: f64,
    /// The probability that a figure of equal code is called worse.
    pub level: f64,
    /// The probability that a head which is worse by that is called no worse.
    pub missed: f64,
    /// What is compared.
    pub figures: Vec<Figure>,
    /// The most pairs that count.
    pub most: u32,
    /// So many builds of each side take turns from pair to pair; none: all pairs are of one build.
    pub builds: Option<u32>,
    /// No new pair begins after the pairs have taken so long.
    #[serde(default, with = "time_text")]
    pub limit: Option<Duration>,
}

impl Pairs {
    /// The most rounds: a pair that was disturbed is repeated, and a third of all may have been.
    #[must_use]
    pub fn rounds_max(&self) -> u32 {
        self.most + self.most.div_ceil(2)
    }
}
