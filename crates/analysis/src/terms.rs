//! What an experiment says of the load that its trials' numbers are read by.

use lab::experiment::{Experiment, Point, Shape};
use load::{Nanos, Recording};

use crate::rates::{self, OnTime, measured_s, on_time};

/// What all trials of a run have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// How many calls a session makes; 1 where there are no sessions.
    pub calls: u32,
    /// A request of a schedule is on time if it is answered within this; none: within the time-out.
    pub on_time_within: Option<Nanos>,
}

/// Requests that come at random do not make up so much more time than they should.
const LONGER: f64 = 1.1;

impl Terms {
    /// Those of an experiment, as far as it can be read.
    #[must_use]
    pub fn of(experiment: Option<&Experiment>) -> Terms {
        let calls = match experiment.map(|experiment| experiment.shape) {
            Some(Shape::Sessions { calls, .. }) => calls,
            Some(Shape::Closed | Shape::Open { .. } | Shape::Held(_)) | None => 1,
        };
        let within = experiment.and_then(Experiment::on_time_within);
        let on_time_within = within.map(|limit| limit.as_nanos() as Nanos);
        Terms { calls, on_time_within }
    }

    /// What of a trial's requests was on time: nothing of a closed loop, which waits with the server.
    pub(crate) fn on_time(self, recording: &Recording, point: Point) -> Option<OnTime> {
        match point {
            Point::Connections(_) | Point::Held(_) => None,
            Point::Requests(_) | Point::Sessions(_) => {
                Some(on_time(recording, self.on_time_within))
            }
        }
    }

    /// What the schedule of a trial asked for: nothing of a closed loop.
    pub(crate) fn offered_per_s(self, recording: &Recording, point: Point) -> Option<f64> {
        match point {
            Point::Connections(_) | Point::Held(_) => None,
            Point::Requests(_) | Point::Sessions(_) => {
                rates::offered_per_s(recording).or_else(|| self.older_offer(recording, point))
            }
        }
    }

    /// Of what an older dyno recorded. A session's calls wait for one another, so that their own number says what was
    /// answered. Where a number of requests was ordered, an overloaded server was measured for longer than they took to
    /// come.
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
