//! The counts of a load so far in OpenMetrics' text format, as Prometheus and others read it.

use std::fmt::Write;

use load::{Distribution, Failure, Nanos, Tally};
use requests::RequestSource;

use super::RequestSummary;
use super::slice::Counted;

/// The upper limits of the histogram's buckets, written as OpenMetrics writes numbers, and in nanoseconds.
const BUCKETS: [(&str, Nanos); 21] = [
    ("1e-05", 10_000),
    ("2.5e-05", 25_000),
    ("5e-05", 50_000),
    ("0.0001", 100_000),
    ("0.00025", 250_000),
    ("0.0005", 500_000),
    ("0.001", 1_000_000),
    ("0.0025", 2_500_000),
    ("0.005", 5_000_000),
    ("0.01", 10_000_000),
    ("0.025", 25_000_000),
    ("0.05", 50_000_000),
    ("0.1", 100_000_000),
    ("0.25", 250_000_000),
    ("0.5", 500_000_000),
    ("1.0", 1_000_000_000),
    ("2.5", 2_500_000_000),
    ("5.0", 5_000_000_000),
    ("10.0", 10_000_000_000),
    ("25.0", 25_000_000_000),
    ("50.0", 50_000_000_000),
];

/// What has been counted in the measured time so far.
#[derive(Clone, Debug)]
pub struct Totals {
    counted: Counted,
    measured_s: f64,
    is_over: bool,
}

impl Totals {
    #[must_use]
    pub fn of(total: &Tally, measured_s: f64, is_over: bool) -> Totals {
        Totals { counted: Counted::of(total), measured_s, is_over }
    }

    /// The whole text, up to its `# EOF`. What was given up is in a histogram's last bucket alone, because how long it
    /// would have taken is not known.
    #[must_use]
    pub fn openmetrics(&self, asked: &RequestSummary) -> String {
        let counted = &self.counted;
        let mut page = Page(String::new());
        page.family("dyno_load", "info", "", "The load that these counts are of.");
        let (method, file) = match &asked.source {
            RequestSource::Flags { method } => (method.as_str(), ""),
            RequestSource::File(file) => ("", file.name.as_str()),
        };
        let labels = [
            ("method", method),
            ("requests", file),
            ("url", &asked.url),
            ("address", &asked.address),
            ("version", env!("CARGO_PKG_VERSION")),
        ];
        page.sample("dyno_load_info", &labels, "1");
        page.family("dyno_load_over", "gauge", "", "1 when the load is over, 0 before.");
        page.sample("dyno_load_over", &[], if self.is_over { "1" } else { "0" });
        let says = "The measured time so far, without warm-up.";
        page.family("dyno_measured_seconds", "gauge", "seconds", says);
        page.sample("dyno_measured_seconds", &[], &format!("{:?}", self.measured_s));
        let says = "Requests that were due in the measured time, and begun.";
        page.family("dyno_requests_attempted", "counter", "", says);
        page.count("dyno_requests_attempted", &[], counted.attempted);
        let says = "Requests that have ended: correct, or the class of their failure.";
        page.family("dyno_requests", "counter", "", says);
        page.count("dyno_requests", &[("outcome", "correct")], counted.correct);
        for failure in Failure::ALL {
            let times = counted.failures(failure);
            page.count("dyno_requests", &[("outcome", failure.name())], times);
        }
        page.family("dyno_sent_bytes", "counter", "bytes", "Octets sent.");
        page.count("dyno_sent_bytes", &[], counted.sent_bytes);
        page.family("dyno_received_bytes", "counter", "bytes", "Octets received.");
        page.count("dyno_received_bytes", &[], counted.received_bytes);
        let says = "From when a request was due to the end of its answer; what was given up is in the last bucket, and in the sum with the time until then.";
        page.histogram("dyno_response_seconds", says, &counted.response);
        let says = "From when a request was sent to the first byte of its answer; what was given up is in the last bucket, too.";
        page.histogram("dyno_first_byte_seconds", says, &counted.first_byte);
        page.0.push_str("# EOF\n");
        page.0
    }
}

/// The text as it grows.
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, unit: &str, help: &str) {
        let _ = writeln!(self.0, "# TYPE {name} {kind}");
        if !unit.is_empty() {
            let _ = writeln!(self.0, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.0, "# HELP {name} {}", escaped(help));
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: &str) {
        let label = |(name, text): &(&str, &str)| format!("{name}=\"{}\"", escaped(text));
        let labels: Vec<String> = labels.iter().map(label).collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn count(&mut self, name: &str, labels: &[(&str, &str)], count: u64) {
        self.sample(&format!("{name}_total"), labels, &count.to_string());
    }

    fn histogram(&mut self, name: &str, help: &str, times: &Distribution) {
        self.family(name, "histogram", "seconds", help);
        let bucket = format!("{name}_bucket");
        for (limit, nanos) in BUCKETS {
            self.sample(&bucket, &[("le", limit)], &times.known_within(nanos).to_string());
        }
        let count = times.count().to_string();
        self.sample(&bucket, &[("le", "+Inf")], &count);
        self.sample(&format!("{name}_count"), &[], &count);
        self.sample(&format!("{name}_sum"), &[], &format!("{:?}", times.sum() as f64 / 1e9));
    }
}

/// A label's value or a help text: backslash, quote and line end have an escape each.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::fixture::{MS, fail, healthy};

    fn page(url: &str) -> String {
        let mut recording = healthy();
        fail(&mut recording, Failure::FirstByteTimeout, 7);
        let asked = RequestSummary {
            source: RequestSource::Flags { method: "GET".into() },
            url: url.into(),
            address: "127.0.0.1:80".into(),
            status: "2xx".into(),
            expects: String::new(),
        };
        Totals::of(&recording.total, 10.0, true).openmetrics(&asked)
    }

    #[test]
    fn what_was_given_up_is_in_the_last_bucket_alone() {
        let text = page("http://h/");
        let has = |line: &str| assert!(text.lines().any(|one| one == line), "{line}\n{text}");
        has("dyno_requests_attempted_total 20000");
        has("dyno_requests_total{outcome=\"correct\"} 19993");
        has("dyno_requests_total{outcome=\"recv.first_byte_timeout\"} 7");
        has("dyno_response_seconds_bucket{le=\"0.0005\"} 0");
        has("dyno_response_seconds_bucket{le=\"0.0025\"} 19993");
        has("dyno_response_seconds_bucket{le=\"5.0\"} 19993");
        has("dyno_response_seconds_bucket{le=\"50.0\"} 19993");
        has("dyno_response_seconds_bucket{le=\"+Inf\"} 20000");
        has("dyno_response_seconds_count 20000");
        assert!(text.ends_with("\n# EOF\n"));
        assert_eq!(MS, 1_000_000, "the fixture answers after this time");
    }

    #[test]
    fn labels_cannot_break_their_line() {
        let text = page("http://h/\"\\\nx");
        assert!(text.contains("url=\"http://h/\\\"\\\\\\nx\""), "{text}");
    }
}
