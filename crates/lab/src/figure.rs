//! The figures: every number that dyno measures, each defined once, in `table.rs`. What shows, writes, compares or
//! requires figures derives from their entries there.

mod definition;
pub mod generator;
mod kind;
pub mod rates;
pub mod readings;
mod slope;
mod source;
mod table;
mod terms;

pub use kind::Kind;
pub use load::Number;
pub use slope::{Line, line, line_of_steps};
pub use source::{Step, Trial};
pub use table::{DISTRIBUTIONS, Figure};
pub use terms::Terms;

use units::{named, nearest};

named! {
    pub enum Unit {
        PerSecond = "per_s" => "per second",
        Count = "count" => "a number",
        Percent = "percent" => "percent",
        Milliseconds = "ms" => "milliseconds",
        Bytes = "bytes" => "bytes",
        KibPerSecond = "kib_per_s" => "units of 1,024 bytes per second",
    }
}

/// Which way a figure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither is better.
    Neither,
}

/// How the rounds of a figure become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// It is above zero, and rounds differ by factors: the geometric mean of the rounds.
    Factors,
    /// It may be zero: the arithmetic mean of the rounds.
    Amounts,
    /// It is between 0 and 100: the arithmetic mean of the rounds.
    Shares,
    /// It may be negative: the arithmetic mean of the rounds.
    Differences,
    /// It is the least of something: the least of all rounds, without an interval.
    Least,
    /// It is the greatest of something: the greatest of all rounds, without an interval.
    Greatest,
}

/// Its place in the tables of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A column of its own. Where room is short, the one with the highest number is left out first; 0 always stays.
    Main(u8),
    /// A column that is shown on demand, in this order.
    More(u8),
    /// In no table: in CSV and JSON only, unless an experiment names it under `columns`.
    Nowhere,
}

impl Unit {
    /// How the rounds become one number, as a rule.
    #[must_use]
    pub fn fold(self) -> Fold {
        match self {
            Unit::PerSecond | Unit::Milliseconds | Unit::Bytes | Unit::KibPerSecond => {
                Fold::Factors
            }
            Unit::Count => Fold::Amounts,
            Unit::Percent => Fold::Shares,
        }
    }
}

impl TryFrom<String> for Figure {
    type Error = String;

    fn try_from(name: String) -> Result<Figure, String> {
        Figure::named(&name)
    }
}

impl From<Figure> for &'static str {
    fn from(figure: Figure) -> &'static str {
        figure.name()
    }
}

impl Figure {
    /// The figure of a load or of a trial of requests with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Figure> {
        Figure::OF_TRIALS.into_iter().find(|figure| figure.name() == name)
    }

    /// The figure with this name, or what is wrong with the name.
    pub fn named(text: &str) -> Result<Figure, String> {
        let names = Figure::OF_TRIALS.map(Figure::name);
        Figure::from_name(text).ok_or_else(|| {
            let odd = text.escape_debug();
            match nearest(text, names.into_iter()) {
                Some(near) => format!("unknown figure `{odd}`; did you mean `{near}`?"),
                None => format!("unknown figure `{odd}`; known are {}", names.join(", ")),
            }
        })
    }

    /// Its stable name: in results, in CSV, in `experiments/history/`, under `columns` and in `--require`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.definition().key
    }

    #[must_use]
    pub fn heading(self) -> &'static str {
        self.definition().heading
    }

    #[must_use]
    pub fn unit(self) -> Unit {
        self.definition().unit
    }

    /// What it is in one round.
    #[must_use]
    pub fn kind(self) -> Kind {
        self.definition().kind
    }

    /// What it is, in words that follow its heading.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.definition().meaning
    }

    /// The requests, connections, messages or readings that it is made of.
    #[must_use]
    pub fn population(self) -> &'static str {
        self.definition().population
    }

    /// The time over which it is measured.
    #[must_use]
    pub fn time(self) -> &'static str {
        self.definition().time
    }

    #[must_use]
    pub fn better(self) -> Better {
        self.definition().better
    }

    /// How its rounds become one number.
    #[must_use]
    pub fn fold(self) -> Fold {
        self.definition().fold.unwrap_or(self.unit().fold())
    }

    #[must_use]
    pub fn column(self) -> Column {
        self.definition().column
    }

    /// Its value for a load or a trial, if that has it.
    #[must_use]
    pub fn of_trial(self, trial: &Trial<'_>) -> Option<Number> {
        (self.definition().trial)(trial)
    }

    /// Its value for a step of held connections, if that has it.
    #[must_use]
    pub fn of_step(self, step: &Step<'_>) -> Option<Number> {
        (self.definition().step)(step)
    }

    /// The figure of a step of held connections that answers the same question.
    #[must_use]
    pub fn at_step(self) -> Option<Figure> {
        self.definition().at_step
    }
}

#[cfg(test)]
mod tests;
