//! What one server's lines and functions cost: their shares of the samples, of the measured CPU time of an answer.

use std::collections::BTreeMap;

use profile::{Profile, Side};

use super::amount::Amount;
use super::sampling::Sampling;
use super::spread::Spread;
use super::{
    CallRate, CallRates, FunctionCost, LineCost, Micros, Sampled, ServerCosts, Sides, doubts,
};
use crate::difference::ALPHA;
use crate::student;

/// So many of a server's functions are listed.
const FUNCTIONS_MAX: usize = 100;

pub(super) const SIDES: [Side; 3] = [Side::Program, Side::Kernel, Side::NotNamed];

/// A server whose samples are counted.
pub(super) struct Server<'p> {
    sampled: Sampled<'p>,
    pub(super) sampling: Sampling<'p>,
    spread: Spread,
}

impl Sides {
    pub(super) fn of(micros: impl Fn(Side) -> Micros) -> Sides {
        let [program, kernel, not_named] = SIDES.map(micros);
        Sides { program, kernel, not_named }
    }
}

impl<'p> Server<'p> {
    pub(super) fn of(sampled: &Sampled<'p>, hides_kernel: bool) -> Server<'p> {
        let sampling = Sampling::of(sampled.trials, hides_kernel);
        let spread = Spread::of(&sampling);
        Server { sampled: *sampled, sampling, spread }
    }

    pub(super) fn name(&self) -> &str {
        self.sampled.server
    }

    /// All CPU time of an answer, as the rounds measured it.
    pub(super) fn whole_us(&self) -> f64 {
        self.sampled.measured.value
    }

    pub(super) fn has_samples(&self) -> bool {
        0.0 < self.sampling.total.iter().sum()
    }

    /// The share of all samples that these are.
    pub(super) fn share(&self, blocks: &[f64]) -> f64 {
        let whole: f64 = self.sampling.total.iter().sum();
        if 0.0 < whole { blocks.iter().sum::<f64>() / whole } else { 0.0 }
    }

    /// What these samples stand for.
    pub(super) fn amount(&self, blocks: &[f64]) -> Amount {
        let (whole_us, share) = (self.whole_us(), self.share(blocks));
        let errors = self.measured_error().map(|error| {
            let of_share = whole_us.powi(2) * self.spread.variance(blocks, &self.sampling.total);
            let rounds = self.sampled.measured.rounds as f64;
            vec![(of_share, self.spread.freedom), ((share * error).powi(2), rounds - 1.0)]
        });
        Amount { us: whole_us * share, errors }
    }

    fn cost(&self, blocks: &[f64]) -> Micros {
        let found = self.amount(blocks).micros(ALPHA);
        Micros { low_us: found.low_us.map(|low| low.max(0.0)), ..found }
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
        // None where it could not be read in every trial: it is never nothing.
        let is_known = trials.iter().all(|trial| 0 < trial.cpu_ns);
        let sampled_cpu_us = us_an_answer(|trial| trial.cpu_ns).filter(|_| is_known);
        let nameless = self.share(&self.sampling.of_side(Side::NotNamed));
        let calls = calls(trials);
        let mut why_unknown = trials.iter().filter_map(|trial| trial.calls.as_ref().err());
        ServerCosts {
            server: server.into(),
            cpu: Micros {
                us: measured.value,
                low_us: measured.low,
                high_us: measured.high,
                outside: ALPHA,
            },
            sides: Sides::of(|side| self.cost(&self.sampling.of_side(side))),
            lines: self.line_costs(),
            functions: self.function_costs(),
            calls_unknown: if calls.is_some() { None } else { why_unknown.next().cloned() },
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

    fn line_costs(&self) -> Vec<LineCost> {
        let lines = self.sampling.lines.iter();
        let mut costs: Vec<LineCost> = lines
            .map(|(line, blocks)| LineCost { line: line.clone(), cpu: self.cost(blocks) })
            .collect();
        costs.sort_by(|one, other| {
            one.line.side.cmp(&other.line.side).then(other.cpu.us.total_cmp(&one.cpu.us))
        });
        costs
    }

    fn function_costs(&self) -> Vec<FunctionCost> {
        let functions = self.sampling.functions.iter().zip(self.sampling.by_function());
        let mut dearest: Vec<(&str, f64, Vec<f64>)> =
            functions.map(|(name, blocks)| (*name, self.share(&blocks), blocks)).collect();
        dearest.sort_by(|(name, share, _), (other_name, other, _)| {
            other.total_cmp(share).then(name.cmp(other_name))
        });
        let cost = |(name, _, blocks): (&str, f64, Vec<f64>)| FunctionCost {
            name: name.into(),
            cpu: self.cost(&blocks),
        };
        dearest.into_iter().take(FUNCTIONS_MAX).map(cost).collect()
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
    let rate = |(name, count): (&str, u64)| CallRate {
        name: name.into(),
        per_answer: count as f64 / answers as f64,
    };
    let mut by_name: Vec<CallRate> = counts.into_iter().map(rate).collect();
    let total = by_name.iter().map(|call| call.per_answer).sum();
    by_name.sort_by(|one, other| other.per_answer.total_cmp(&one.per_answer));
    (0 < answers).then_some(CallRates { total, by_name })
}
