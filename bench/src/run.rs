//! What one run of a generator showed.

use crate::measure::Measured;
use crate::quantiles::Quantiles;
use std::time::Duration;

/// The result of one run.
pub(crate) struct Run {
    /// Counted at the server.
    pub(crate) requests: u64,
    /// Of the generator.
    pub(crate) measured: Measured,
    pub(crate) wall: Duration,
    pub(crate) server_cpu: Duration,
    pub(crate) imposed: Quantiles,
    /// What the requests on the schedule waited, by the server's own record.
    pub(crate) scheduled: Quantiles,
    /// Of the handshakes that the server counted, those that resumed a session.
    pub(crate) resumed_share: Option<f64>,
    pub(crate) reported: Quantiles,
}

impl Run {
    /// Microseconds of the generator's CPU for each request the server counted.
    pub(crate) fn cpu_us(&self) -> Option<f64> {
        self.per_request(self.measured.spent.cpu())
    }

    /// Microseconds of the server's CPU for each request.
    pub(crate) fn server_cpu_us(&self) -> Option<f64> {
        self.per_request(self.server_cpu)
    }

    /// Highest resident size of the generator.
    pub(crate) fn peak_mb(&self) -> Option<f64> {
        Some(self.measured.spent.peak_rss_bytes as f64 / 1e6)
    }

    fn per_request(&self, cpu: Duration) -> Option<f64> {
        (self.requests > 0).then(|| cpu.as_secs_f64() * 1e6 / self.requests as f64)
    }
}
