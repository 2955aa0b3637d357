//! The parts of an experiment that are needed to interpret its trials' numbers.

use load::Recording;

use super::rates::{self, OnTime, on_time};
use crate::experiment::{Experiment, Point, Shape};

/// What all trials of a run have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How many calls a session makes; 1 where there are no sessions.
    pub calls: u32,
    /// Each trial is a load of `dyno load`, which is judged as one that stands alone.
    pub is_load: bool,
}

impl Terms {
    /// The terms of an experiment, as far as it can be read.
    #[must_use]
    pub fn of(experiment: Option<&Experiment>) -> Terms {
        let calls = match experiment.map(|experiment| experiment.shape) {
            Some(Shape::Sessions { calls, .. }) => calls,
            Some(Shape::Closed | Shape::Open { .. } | Shape::Held(_)) | None => 1,
        };
        Terms { calls, is_load: false }
    }

    /// The terms of loads of `dyno load`.
    #[must_use]
    pub fn of_loads(self) -> Terms {
        Terms { is_load: true, ..self }
    }

    /// How many of a trial's requests were on time: none for a closed loop, which waits for the server.
    #[must_use]
    pub fn on_time(self, recording: &Recording, point: Point) -> Option<OnTime> {
        match point {
            Point::Connections(_) | Point::Held(_) => None,
            Point::Requests(_) | Point::Sessions(_) => Some(on_time(recording, None)),
        }
    }

    /// The rate that the schedule of a trial offered: none for a closed loop.
    #[must_use]
    pub fn offered_per_s(self, recording: &Recording, point: Point) -> Option<f64> {
        match point {
            Point::Connections(_) | Point::Held(_) => None,
            Point::Requests(_) | Point::Sessions(_) => rates::offered_per_s(recording),
        }
    }
}
