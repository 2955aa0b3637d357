//! Turns the trials of a run into findings. It uses no file, no clock and no chance but that of a constant seed.

mod alarm;
mod assembly;
mod board;
mod capacity;
mod ceiling;
mod compare;
mod conduct;
mod conformance;
mod cpu_shares;
mod detail;
mod difference;
mod doubt;
mod dunnett;
mod estimate;
mod fairness;
mod figures;
#[cfg(test)]
mod figures_page_tests;
pub mod gate;
mod held;
mod judge;
mod judgement;
mod other_load;
mod price;
mod remark;
mod remarks;
mod requirement;
pub mod rule;
mod scatter;
pub mod search;
mod standing;
mod student;
pub mod trend;
mod unmet;
mod until;
mod verdict;
pub mod why;
mod worth;

pub use alarm::Alarm;
pub use assembly::StatedLoad;
pub use board::{Board, JudgedTrial, Peak, Row, Table};
pub use capacity::Capacity;
pub use compare::{
    COMPARED, Gate, GateAnswer, Gated, Pair, RoundsOfRun, Sides, Single, Unsure, Versus,
    against_first, compared_runs, groups_of_runs,
};
pub use conduct::{Conduct, Faults, Tolerated, Ways};
pub use conformance::{Conformity, Incomparable, Score, Turned, conformities, failures, turned};
pub use cpu_shares::{CpuShares, Limit};
pub use detail::{
    Bin, Cell, Closeup, Column, Detail, HEAT_BINS, HeldCourse, Moment, ProbeTrack, Reading, Role,
    Slowest, Spectrum, Spread, Step, Strip, ThenNow, ThenNowRow, Track, courses, details, then_now,
};
pub use difference::{Change, Comparison, Why};
pub use doubt::{
    By, Definition, Doubt, Drifting, NOT_MEASURED, OWN_FAILURES, Ordered, SAMPLES_FOR_P99, Steady,
    agents_lost, doubts, doubts_table, most_seen, none_held, of_agents, of_holding, of_load,
    of_recording, overflowed, steady,
};
pub use estimate::Estimate;
pub use fairness::{Answers, Fairness, Observed, Variant, Variants, Wire};
pub use figures::{Figures, PlateauFigure};
pub use held::{
    After, Basis, Cause, FirstFailure, HeldSubject, LossCount, Memory, Plateau, Price, Ramps,
    Round, RoundPlateau, Slope, Sums,
};
pub use judgement::{Breach, Judgement, Unranked};
pub use lab::figure::generator::{
    generator_busy, generator_cpu, generator_cpu_per_request_ns, generator_on_cpu,
    generator_polled, smallest_difference,
};
pub use lab::figure::rates::{
    KEPT_UP, OnTime, measured_s, offered_per_s, on_time, silent_share, throughput_per_s,
};
pub use lab::figure::{Better, Number, Terms};
pub use lab::named;
pub use price::{LeftOut, MannerPrice, PaidFor};
pub use remark::{Remark, remarks_table};
pub use requirement::{
    JudgedRequirement, Relation, Required, Requirement, RequirementAnswer, Statistic, TimeOf,
    WhyUnknown,
};
pub use scatter::{Scatter, steps};
pub use standing::Placed;
pub use until::{Rounds, Stopped, WhyStopped};
pub use verdict::{Gravity, Verdict};
pub use worth::{Reason, Worth};

#[cfg(test)]
mod fixture;
