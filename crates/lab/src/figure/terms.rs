//! The parts of an experiment that are needed to interpret its trials' numbers.

use load::{Nanos, Recording};

use super::rates::{self, OnTime, measured_s, on_time};
use crate::experiment::{Experiment, Point, Shape};

/// What all trials of a run have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How many calls a session makes; 1 where there are no sessions.
    pub calls: u32,
    /// A request of a schedule is on time if it is answered within this; none: within the time-out.
    pub on_time_within: Option<Nanos>,
    /// Each trial is a load of `dyno load`, which is judged as one that stands alone.
    pub is_load: bool,
}

/// Random arrivals do not take so much longer than the schedule says.
const LONGER: f64 = 1.1;

impl Terms {
    /// The terms of an experiment, as far as it can be read.
    #[must_use]
    pub fn of(experiment: Option<&Experiment>) -> Terms {
        let calls = match experiment.map(|experiment| experiment.shape) {
            Some(Shape::Sessions { calls, .. }) => calls,
            Some(Shape::Closed | Shape::Open { .. } | Shape::Held(_)) | None => 1,
        };
        let within = experiment.and_then(Experiment::on_time_within);
        let on_time_within = within.map(|limit| limit.as_nanos() as Nanos);
        Terms { calls, on_time_within, is_load: false }
    }

    /// The terms of loads of `dyno load`, whose recordings have the limit within which an answer is on time.
    #[must_use]
    pub fn of_loads(self) -> Terms {
        Terms { on_time_within: None, is_load: true, ..self }
    }

    /// How many of a trial's requests were on time: none for a closed loop, which waits for the server.
    #[must_use]
    pub fn on_time(self, recording: &Recording, point: Point) -> Option<OnTime> {
        match point {
            Point::Connections(_) | Point::Held(_) => None,
            Point::Requests(_) | Point::Sessions(_) => {
                Some(on_time(recording, self.on_time_within))
            }
        }
    }

    /// The rate that the schedule of a trial offered: none for a closed loop.
    #[must_use]
    pub fn offered_per_s(self, recording: &Recording, point: Point) -> Option<f64> {
        match point {
            Point::Connections(_) | Point::Held(_) => None,
            Point::Requests(_) | Point::Sessions(_) => {
                rates::offered_per_s(recording).or_else(|| self.older_offer(recording, point))
            }
        }
    }

    /// The same for a recording of an older dyno. A session's calls wait for one another, so the number that was
    /// attempted only shows what was answered. Where a number of requests was ordered, an overloaded server was
    /// measured for longer than the requests took to arrive.
    fn older_offer(self, recording: &Recording, point: Point) -> Option<f64> {
        let seconds = measured_s(recording);
        match point {
            Point::Connections(_) | Point::Held(_) => None,
            Point::Requests(rate) => {
                let scheduled_s = recording.total.attempted as f64 / rate;
                let went_on = LONGER * scheduled_s < seconds && 0.0 < scheduled_s;
                let seen = (0.0 < seconds).then(|| recording.total.attempted as f64 / seconds);
                if went_on { Some(rate) } else { seen }
            }
            Point::Sessions(rate) => Some(rate * f64::from(self.calls)),
        }
    }
}
