//! Turns the trials of a run into findings. It uses no file, no clock and no chance but that of a constant seed.

mod alarm;
mod board;
mod capacity;
mod capped;
mod ceiling;
mod compare;
mod conduct;
mod conformance;
mod definition;
mod detail;
mod doubt;
mod estimate;
mod fairness;
mod figures;
pub mod gate;
mod generator;
mod held;
mod judgement;
mod leading;
mod price;
mod rates;
mod readings;
mod remark;
mod requirement;
pub mod rule;
mod scatter;
pub mod search;
mod standing;
mod student;
mod terms;
pub mod trend;
mod unresumed;
mod until;
mod verdict;

pub use alarm::Alarm;
pub use board::{Board, JudgedTrial, Peak, Row, StatedLoad, Table};
pub use capacity::{Capacity, capacity};
pub use compare::{
    Better, COMPARED, Change, Comparison, Gate, GateAnswer, Gated, Pair, Sides, Single, Unsure,
    Versus, Why, better, compare, ranks,
};
pub use conduct::{Conduct, Faults, Tolerated};
pub use conformance::{Conformity, Incomparable, Score, Turned, conformities, failures, turned};
pub use definition::{Definition, Kind, OF_LOAD, estimator, figures_page, of_held, of_requests};
pub use detail::{
    Bin, Cell, Closeup, Column, Course, Detail, HEAT_BINS, Moment, ProbeTrack, Reading, Role,
    Slowest, Spectrum, Spread, Step, Strip, ThenNow, ThenNowRow, Track, courses, details, then_now,
};
pub use doubt::{
    AgentsDoubt, AnswersDoubt, BooksDoubt, BusyThreads, By, CeilingDoubt, Doubt, DriftDoubt,
    Drifting, EndingDoubt, FailuresDoubt, GeneratorDoubt, HeldDoubt, Http2Doubt, LateSender,
    MachineDoubt, Nothing, Ordered, QueueDoubt, RateDoubt, SAME_TLS, SAMPLES_FOR_P99, SamplesDoubt,
    ShapeDoubt, SpotsDoubt, StatedDoubt, Steady, SteadyDoubt, SubjectDoubt, TlsDoubt, agents_lost,
    doubts, doubts_table, most_seen, none_held, of_agents, of_holding, of_load, of_recording,
    outcome_in_words, overflowed, steady,
};
pub use estimate::Estimate;
pub use fairness::{Answers, Fairness, Observed, Variant, Variants, Wire};
pub use figures::{Figures, Number};
pub use generator::{
    generator_busy, generator_cpu, generator_cpu_per_request_ns, generator_polled,
    smallest_difference,
};
pub use held::{
    After, Basis, Cause, FirstFailure, HeldFigure, HeldNumbers, HeldSubject, LossCount, Memory,
    Plateau, PlateauFigure, Price, Ramps, Round, RoundPlateau, Slope, Sums, gone,
};
pub use judgement::{Breach, Judgement, Promise, Unranked};
pub use leading::{Lead, Leader, Leading};
pub use price::{LeftOut, MannerPrice, PaidFor};
pub use rates::{
    KEPT_UP, OnTime, measured_s, offered_per_s, on_time, silent_share, throughput_per_s,
};
pub use remark::Remark;
pub use requirement::{
    JudgedRequirement, Relation, Required, Requirement, RequirementAnswer, Statistic, TimeOf,
    WhyUnknown,
};
pub use scatter::{Scatter, steps};
pub use standing::Placed;
pub use terms::Terms;
pub use until::{Rounds, Stopped, WhyStopped};
pub use verdict::{Gravity, Reason, Verdict, Worth};

#[cfg(test)]
mod fixture;
