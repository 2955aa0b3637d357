//! Times of answers that are equal are put into a window's distributions together.

use crate::Nanos;
use crate::tally::Tally;

/// Answers with equal times, as all have that left in one write and came with one read.
#[derive(Default)]
pub(crate) struct EqualTimes {
    /// From intended, from sent, and from sent to the first byte.
    times: [Nanos; 3],
    answers: u64,
}

impl EqualTimes {
    pub(crate) fn add(&mut self, window: &mut Tally, times: [Nanos; 3]) {
        if self.times != times {
            self.flush(window);
            self.times = times;
        }
        self.answers += 1;
    }

    /// Gives the window what it lacks.
    pub(crate) fn flush(&mut self, window: &mut Tally) {
        let answers = std::mem::take(&mut self.answers);
        if 0 < answers {
            let [response, service, first_byte] = self.times;
            window.response.record_many(response, answers);
            window.service.record_many(service, answers);
            window.first_byte.record_many(first_byte, answers);
        }
    }
}
