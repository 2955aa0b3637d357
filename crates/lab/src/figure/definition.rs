//! What an entry of the table of figures says, and how the table is made of its entries.

use load::Number;

use super::source::{Step, Trial};
use super::table::Figure;
use super::{Better, Column, Fold, Kind, Unit};

/// What a figure is.
pub(super) struct Definition {
    /// Its stable name: in results, in CSV, in `experiments/history/`, under `columns` and in `--require`.
    pub(super) key: &'static str,
    /// The heading of its column.
    pub(super) heading: &'static str,
    pub(super) unit: Unit,
    pub(super) better: Better,
    /// What it is in one round.
    pub(super) kind: Kind,
    pub(super) column: Column,
    /// What it is, in words that follow its heading.
    pub(super) meaning: &'static str,
    /// The requests, connections, messages or readings that it is made of.
    pub(super) population: &'static str,
    /// The time over which it is measured.
    pub(super) time: &'static str,
    /// How the rounds become one number, where that does not follow from the unit.
    pub(super) fold: Option<Fold>,
    /// Its value for a load or a trial of requests.
    pub(super) trial: fn(&Trial<'_>) -> Option<Number>,
    /// Its value for a step of held connections.
    pub(super) step: fn(&Step<'_>) -> Option<Number>,
    /// The figure of a step that answers the same question, for which an article may state it.
    pub(super) at_step: Option<Figure>,
}

/// What an entry need not say.
pub(super) const OTHERWISE: Definition = Definition {
    key: "",
    heading: "",
    unit: Unit::Count,
    better: Better::Neither,
    kind: Kind::Count,
    column: Column::Nowhere,
    meaning: "",
    population: "",
    time: "",
    fold: None,
    trial: |_| None,
    step: |_| None,
    at_step: None,
};

/// Makes the list of figures, and the table of what they are.
macro_rules! figures {
    (
        trials { $($Trial:ident { $($trial:tt)+ })+ }
        steps { $($Step:ident { $($step:tt)+ })+ }
    ) => {
        /// A number that a load, a trial or a step of held connections has.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        #[serde(try_from = "String", into = "&'static str")]
        #[allow(missing_docs)] // the entry of each says what it is, in the words that people read
        pub enum Figure {
            $($Trial,)+
            $($Step,)+
        }

        impl Figure {
            /// Those of a load or a trial of requests, in the order of the results.
            pub const OF_TRIALS: [Figure; [$(stringify!($Trial)),+].len()] = [$(Figure::$Trial),+];

            /// Those of a step of held connections, in the order of the results.
            pub const OF_STEPS: [Figure; [$(stringify!($Step)),+].len()] = [$(Figure::$Step),+];

            pub const COUNT: usize = Figure::OF_TRIALS.len() + Figure::OF_STEPS.len();

            /// All of them.
            pub const ALL: [Figure; Figure::COUNT] = [$(Figure::$Trial,)+ $(Figure::$Step),+];

            pub(super) fn definition(self) -> &'static Definition {
                &TABLE[self as usize]
            }
        }

        static TABLE: [Definition; Figure::COUNT] = [
            $(definition! { $($trial)+ },)+
            $(definition! { $($step)+ },)+
        ];
    };
}

/// An entry: what every figure has to say comes first, in this order.
macro_rules! definition {
    (
        key: $key:expr, heading: $heading:expr, unit: $unit:expr, better: $better:expr, kind: $kind:expr, column: $column:expr,
        meaning: $meaning:expr,
        population: $population:expr, time: $time:expr,
        $($field:ident: $value:expr),+ $(,)?
    ) => {
        Definition {
            key: $key,
            heading: $heading,
            unit: $unit,
            better: $better,
            kind: $kind,
            column: $column,
            meaning: $meaning,
            population: $population,
            time: $time,
            $($field: $value,)+
            ..OTHERWISE
        }
    };
}

pub(super) use {definition, figures};
