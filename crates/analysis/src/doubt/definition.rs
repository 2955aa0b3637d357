//! How a doubt is defined: once, with its data, its name, its gravity, its sentence, the ways out and its row of
//! docs/validity.md. A family is an enum of doubts, and stands in one file with the checks that raise them.

use units::{TIMES, chosen, fitting};

use super::Doubt;
use crate::verdict::Gravity;

/// Defines a family of doubts. An entry begins with the data of a doubt, whose fields its sentence, its gravity and its
/// way out may use; `when` and `because` are for docs/validity.md; the examples are what tests and that page are made of.
macro_rules! family {
    ($(#[$about:meta])* $family:ident; $(
        $(#[$doc:meta])*
        $name:ident $({ $($(#[$field_doc:meta])* $field:ident: $type:ty),+ $(,)? })?
        id: $id:expr,
        gravity: $gravity:expr,
        when: $when:expr,
        because: $because:expr,
        says: $says:expr,
        way_out: $way_out:expr,
        examples: [$({ $($example:tt)* }),+ $(,)?],
    )+) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $family {
            $($(#[$doc])* $name $({ $($(#[$field_doc])* $field: $type),+ })?,)+
        }

        #[allow(unused_variables)] // An entry uses of its fields what it needs.
        impl $family {
            pub(crate) fn id(&self) -> &'static str {
                match self {
                    $($family::$name { .. } => $id,)+
                }
            }

            pub(crate) fn weight(&self) -> $crate::doubt::definition::Weight {
                match self {
                    $($family::$name $({ $($field),+ })? => $gravity.into(),)+
                }
            }

            pub(crate) fn says(&self) -> String {
                match self {
                    $($family::$name $({ $($field),+ })? => String::from($says),)+
                }
            }

            pub(crate) fn ways_out(&self) -> $crate::doubt::definition::WaysOut {
                match self {
                    $($family::$name $({ $($field),+ })? => $way_out.into(),)+
                }
            }

            pub(crate) fn when_and_why(&self) -> [String; 2] {
                match self {
                    $($family::$name { .. } => [String::from($when), String::from($because)],)+
                }
            }

            pub(crate) fn examples() -> Vec<$family> {
                vec![$($($family::$name { $($example)* }),+),+]
            }
        }
    };
}

/// The families, each with its doubts.
macro_rules! families {
    ($($(#[$doc:meta])* $name:ident($family:ident),)+) => {
        /// One reason to doubt a trial, by its family.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Doubt {
            $($(#[$doc])* $name($family),)+
        }

        impl Doubt {
            /// Its stable name.
            #[must_use]
            pub fn id(&self) -> &'static str {
                match self {
                    $(Doubt::$name(found) => found.id(),)+
                }
            }

            /// It in a sentence, with its figures.
            #[must_use]
            pub fn says(&self) -> String {
                match self {
                    $(Doubt::$name(found) => found.says(),)+
                }
            }

            fn weight(&self) -> definition::Weight {
                match self {
                    $(Doubt::$name(found) => found.weight(),)+
                }
            }

            fn ways_out(&self) -> definition::WaysOut {
                match self {
                    $(Doubt::$name(found) => found.ways_out(),)+
                }
            }

            fn when_and_why(&self) -> [String; 2] {
                match self {
                    $(Doubt::$name(found) => found.when_and_why(),)+
                }
            }

            /// Every doubt, some with several sets of data.
            fn examples() -> Vec<Doubt> {
                let mut all = Vec::new();
                $(all.extend($family::examples().into_iter().map(Doubt::from));)+
                all
            }
        }

        $(impl From<$family> for Doubt {
            fn from(found: $family) -> Doubt {
                Doubt::$name(found)
            }
        })+
    };
}

pub(super) use families;
pub(crate) use family;

/// Where the remedy is applied: in the files of an experiment, or by the flags of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Experiment,
    Flags,
}

/// What to do about a doubt, or why nothing can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WaysOut {
    pub(crate) flags: &'static str,
    pub(crate) experiment: &'static str,
}

/// The same by flags and in an experiment.
impl From<&'static str> for WaysOut {
    fn from(text: &'static str) -> WaysOut {
        WaysOut { flags: text, experiment: text }
    }
}

/// How grave a doubt is, and how the page says it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Weight {
    Always(Gravity),
    /// Graver where a part is a larger share of the whole than this; `of` says of what.
    ByShare {
        usual: Gravity,
        graver: Gravity,
        part: f64,
        whole: f64,
        bound: f64,
        of: &'static str,
    },
    /// As grave as its data say, and in which words the page says so.
    ByData(Gravity, &'static str),
}

impl From<Gravity> for Weight {
    fn from(gravity: Gravity) -> Weight {
        Weight::Always(gravity)
    }
}

impl Weight {
    fn gravity(self) -> Gravity {
        match self {
            Weight::Always(gravity) | Weight::ByData(gravity, _) => gravity,
            Weight::ByShare { usual, graver, part, whole, bound, .. } => {
                if part <= bound * whole {
                    usual
                } else {
                    graver
                }
            }
        }
    }

    fn words(self) -> String {
        match self {
            Weight::Always(gravity) => gravity.name().into(),
            Weight::ByData(_, words) => words.into(),
            Weight::ByShare { usual, graver, bound, of, .. } => {
                format!("{}; {} above {} {of}", usual.name(), graver.name(), in_percent(bound))
            }
        }
    }
}

/// `1 %`: a threshold, with no more digits than it has.
pub(crate) fn in_percent(bound: f64) -> String {
    format!("{} %", chosen(bound * 100.0))
}

/// `5 ms`: a threshold, with no more digits than it has.
pub(crate) fn duration(ns: f64) -> String {
    let (scale, unit) = fitting(ns, &TIMES);
    format!("{} {unit}", chosen(ns / scale))
}

impl Doubt {
    /// How it affects the verdict.
    #[must_use]
    pub fn gravity(&self) -> Gravity {
        self.weight().gravity()
    }

    /// What to do about it.
    #[must_use]
    pub fn way_out(&self, by: By) -> &'static str {
        match by {
            By::Flags => self.ways_out().flags,
            By::Experiment => self.ways_out().experiment,
        }
    }
}

/// The table of all doubts in docs/validity.md.
#[must_use]
pub fn doubts_table() -> String {
    let mut table =
        String::from("| doubt | gravity | is raised when | because |\n|---|---|---|---|\n");
    let mut all = Doubt::examples();
    all.dedup_by_key(|doubt| doubt.id());
    for doubt in all {
        let [when, because] = doubt.when_and_why();
        let (id, gravity) = (doubt.id(), doubt.weight().words());
        table += &format!("| `{id}` | {gravity} | {when} | {because} |\n");
    }
    table
}

#[cfg(test)]
mod tests;
