//! How windows come from a lane to the caller's thread.

use std::sync::mpsc::{Receiver, Sender};

use crate::Nanos;
use crate::section::Section;
use crate::silence::Quiet;
use crate::tally::Tally;

/// A lane's window, on its way to the caller's thread.
pub(crate) struct WindowReport {
    pub(crate) lane: usize,
    /// The window's number, from 0.
    pub(crate) index: u64,
    pub(crate) tally: Tally,
    /// Where the lane had no right answers: what it has noted since its last window.
    pub(crate) quiet: Quiet,
    /// When the lane ended, if this is its last window.
    pub(crate) ended: Option<Nanos>,
    /// With the last window: the results of each section's share.
    pub(crate) sections: Vec<Section>,
}

/// Where windows go, and where empty ones come from.
pub(crate) struct Handover {
    pub(crate) full: Sender<WindowReport>,
    pub(crate) empty: Receiver<Tally>,
}
