//! What dyno's own threads took to generate a load.

use load::{LaneReport, Nanos, Recording};

/// CPU time of all threads, user and system.
#[must_use]
pub fn generator_cpu(lanes: &[LaneReport]) -> Nanos {
    lanes.iter().map(|lane| lane.cpu_time).sum()
}

/// CPU time of the threads for each request that ended.
#[must_use]
pub fn generator_cpu_per_request_ns(recording: &Recording) -> Option<f64> {
    let done = recording.total.correct + recording.total.failed_in_all();
    (0 < done).then(|| generator_cpu(&recording.lanes) as f64 / done as f64)
}

/// The share of their time in which the threads had something to do.
#[must_use]
pub fn generator_busy(lanes: &[LaneReport]) -> Option<f64> {
    let idle: Nanos = lanes.iter().map(|lane| lane.idle.min(lane.wall)).sum();
    of_wall(wall(lanes) - idle, lanes)
}

/// The share of their time in which the threads polled instead of sleeping.
#[must_use]
pub fn generator_polled(lanes: &[LaneReport]) -> Option<f64> {
    of_wall(lanes.iter().map(|lane| lane.polled.min(lane.wall)).sum(), lanes)
}

/// The share of their time in which the threads had a CPU.
#[must_use]
pub fn generator_on_cpu(lanes: &[LaneReport]) -> Option<f64> {
    of_wall(generator_cpu(lanes), lanes)
}

fn wall(lanes: &[LaneReport]) -> Nanos {
    lanes.iter().map(|lane| lane.wall).sum()
}

fn of_wall(part: Nanos, lanes: &[LaneReport]) -> Option<f64> {
    let wall = wall(lanes);
    (0 < wall).then(|| part as f64 / wall as f64)
}

/// The mean of the medians of runs that were all alike, and the smallest difference between two means of so many
/// medians that is not due to chance: twice the standard error of that difference.
#[must_use]
pub fn smallest_difference(medians: &[Nanos]) -> (f64, f64) {
    let count = medians.len() as f64;
    let mean = medians.iter().sum::<Nanos>() as f64 / count.max(1.0);
    let squares = medians.iter().map(|&median| (median as f64 - mean).powi(2));
    let deviation = (squares.sum::<f64>() / (count - 1.0).max(1.0)).sqrt();
    (mean, 2.0 * deviation * (2.0 / count.max(1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_difference_is_twice_the_standard_error_of_a_difference() {
        let (mean, difference) = smallest_difference(&[98_000, 100_000, 102_000, 100_000]);
        // s = √(8/3) µs; 2·s·√(2/4)
        let expected = 2.0 * (8.0_f64 / 3.0).sqrt() * 0.5_f64.sqrt() * 1_000.0;
        assert!((difference - expected).abs() < 1e-6);
        assert_eq!(mean, 100_000.0);
        assert_eq!(smallest_difference(&[5; 6]).1, 0.0);
    }
}
