//! The experiment's file as understood.

/// How hard a trial presses: one place on the experiment's axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Point {
    /// A closed loop of so many connections.
    Connections(u32),
    /// So many requests a second arrive.
    Requests(f64),
    /// So many sessions a second arrive.
    Sessions(f64),
}
