//! What one server's lines and functions cost: their shares of the samples, of the measured CPU time of an answer.

use std::collections::BTreeMap;

use profile::{Line, Profile, Side};

use super::sampling::{Blocks, Sampling};
use super::spread::Spread;
use super::{
    CallRate, CallRates, Cost, FUNCTIONS_MAX, FunctionCost, LineCost, Sampled, ServerCosts,
    SideCost, doubts,
};
use crate::difference::ALPHA;
use crate::student;

/// The sides, in the order of the table.
pub(super) const SIDES: [Side; 3] = [Side::Program, Side::Kernel, Side::NotNamed];

/// A server whose samples are counted.
pub(super) struct Server<'p> {
    sampled: Sampled<'p>,
    pub(super) sampling: Sampling<'p>,
    spread: Spread,
}

/// µs of an answer, and what they are uncertain by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    pub(super) us: f64,
    /// The share's, and that of the measured mean; none where a single round was measured.
    pub(super) errors: Option<[Variance; 2]>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Variance {
    pub(super) variance: f64,
    pub(super) freedom: f64,
}

impl Variance {
    /// The standard error of a sum of these, and its degrees of freedom after Welch and Satterthwaite.
    pub(super) fn together(parts: &[Variance]) -> (f64, f64) {
        let sum: f64 = parts.iter().map(|part| part.variance).sum();
        let squares: f64 = parts.iter().map(|part| part.variance.powi(2) / part.freedom).sum();
        (sum.sqrt(), if 0.0 < squares { sum.powi(2) / squares } else { 1.0 })
    }
}

impl Amount {
    fn cost(self) -> Cost {
        let half = self.errors.map(|errors| {
            let (error, freedom) = Variance::together(&errors);
            student::point(ALPHA, freedom) * error
        });
        Cost {
            us: self.us,
            low_us: half.map(|half| (self.us - half).max(0.0)),
            high_us: half.map(|half| self.us + half),
        }
    }
}

impl<'p> Server<'p> {
    pub(super) fn of(sampled: &Sampled<'p>, hides_kernel: bool) -> Server<'p> {
        let sampling = Sampling::of(sampled.trials, hides_kernel);
        let spread = Spread::of(&sampling);
        Server { sampled: *sampled, sampling, spread }
    }

    pub(super) fn has_samples(&self) -> bool {
        0.0 < self.sampling.total.iter().sum()
    }

    /// The share of all samples that these are.
    pub(super) fn share(&self, blocks: &[f64]) -> f64 {
        let whole: f64 = self.sampling.total.iter().sum();
        if 0.0 < whole { blocks.iter().sum::<f64>() / whole } else { 0.0 }
    }

    /// All CPU time of an answer.
    pub(super) fn whole(&self) -> Amount {
        self.amount(&self.sampling.total)
    }

    /// What these samples stand for.
    pub(super) fn amount(&self, blocks: &[f64]) -> Amount {
        let (whole_us, share) = (self.sampled.measured.value, self.share(blocks));
        let of_share = Variance {
            variance: whole_us.powi(2) * self.spread.variance(blocks, &self.sampling.total),
            freedom: self.spread.freedom,
        };
        let errors = self.measured_error().map(|error| {
            let variance = (share * error).powi(2);
            [of_share, Variance { variance, freedom: self.sampled.measured.rounds as f64 - 1.0 }]
        });
        Amount { us: whole_us * share, errors }
    }

    /// The standard error of the measured mean, from its interval.
    fn measured_error(&self) -> Option<f64> {
        let measured = &self.sampled.measured;
        let freedom = measured.rounds.checked_sub(1).filter(|freedom| 0 < *freedom)?;
        let half = (measured.high? / measured.value).ln();
        Some(measured.value * half / student::point(ALPHA, freedom as f64))
    }

    pub(super) fn costs(&self) -> ServerCosts {
        let Sampled { server, trials, measured } = self.sampled;
        let answers: u64 = trials.iter().map(|trial| trial.answers).sum();
        let us_an_answer = |ns: fn(&Profile) -> u64| {
            let sum: u64 = trials.iter().map(ns).sum();
            (0 < answers).then(|| sum as f64 / answers as f64 / 1e3)
        };
        let sampled_cpu_us = us_an_answer(|trial| trial.cpu_ns);
        let nameless = self.share(&self.sampling.of_side(Side::NotNamed));
        let calls = calls(trials);
        ServerCosts {
            server: server.into(),
            cpu: Cost { us: measured.value, low_us: measured.low, high_us: measured.high },
            sides: SIDES.map(|side| self.side_cost(side)).into(),
            lines: self.line_costs(),
            functions: self.function_costs(),
            calls_unknown: if calls.is_some() { None } else { why_unknown(trials) },
            calls,
            waited_for_cpu_us: us_an_answer(|trial| trial.waited_for_cpu_ns),
            sampled_cpu_us,
            trials: trials.len(),
            samples: trials.iter().map(Profile::samples).sum(),
            method: trials.first().map(|trial| trial.method),
            nameless,
            doubts: doubts::of(trials, nameless, sampled_cpu_us, &measured),
        }
    }

    fn side_cost(&self, side: Side) -> SideCost {
        SideCost { side, cpu: self.amount(&self.sampling.of_side(side)).cost() }
    }

    fn line_costs(&self) -> Vec<LineCost> {
        let cost = |(line, blocks): (&Line, &Blocks)| LineCost {
            line: line.clone(),
            cpu: self.amount(blocks).cost(),
        };
        let mut costs: Vec<LineCost> = self.sampling.lines.iter().map(cost).collect();
        costs.sort_by(|one, other| {
            one.line.side.cmp(&other.line.side).then(other.cpu.us.total_cmp(&one.cpu.us))
        });
        costs
    }

    fn function_costs(&self) -> Vec<FunctionCost> {
        let blocks = self.sampling.by_function();
        let mut costs: Vec<FunctionCost> = self
            .sampling
            .functions
            .iter()
            .zip(blocks)
            .map(|(name, blocks)| FunctionCost {
                name: (*name).into(),
                cpu: self.amount(&blocks).cost(),
            })
            .collect();
        costs.sort_by(|one, other| {
            other.cpu.us.total_cmp(&one.cpu.us).then_with(|| one.name.cmp(&other.name))
        });
        costs.truncate(FUNCTIONS_MAX);
        costs
    }
}

/// System calls of an answer, by all trials in which they were counted.
fn calls(trials: &[Profile]) -> Option<CallRates> {
    let counted = || trials.iter().filter_map(|trial| trial.calls.as_ref().ok());
    let answers: u64 = counted().map(|calls| calls.answers).sum();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (name, count) in counted().flat_map(|calls| &calls.counts) {
        *counts.entry(name).or_default() += count;
    }
    let total = counts.values().sum::<u64>() as f64 / answers as f64;
    let mut by_name: Vec<CallRate> = counts
        .into_iter()
        .map(|(name, count)| CallRate {
            name: name.into(),
            per_answer: count as f64 / answers as f64,
        })
        .collect();
    by_name.sort_by(|one, other| other.per_answer.total_cmp(&one.per_answer));
    (0 < answers).then_some(CallRates { total, by_name })
}

fn why_unknown(trials: &[Profile]) -> Option<String> {
    trials.iter().find_map(|trial| trial.calls.as_ref().err()).cloned()
}
