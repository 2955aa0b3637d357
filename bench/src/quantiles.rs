//! What generators report about response times: one reader for each format.

use serde_json::Value;

/// Milliseconds; a quantile that a tool does not report is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Quantiles {
    pub(crate) p50_ms: Option<f64>,
    pub(crate) p90_ms: Option<f64>,
    pub(crate) p99_ms: Option<f64>,
    pub(crate) p99_9_ms: Option<f64>,
}

impl Quantiles {
    /// In rising order.
    pub(crate) fn all(&self) -> [Option<f64>; 4] {
        [self.p50_ms, self.p90_ms, self.p99_ms, self.p99_9_ms]
    }

    /// From a function that knows a quantile by its percentage.
    pub(crate) fn from_fn(at: impl Fn(f64) -> Option<f64>) -> Quantiles {
        let [p50_ms, p90_ms, p99_ms, p99_9_ms] = [50.0, 90.0, 99.0, 99.9].map(at);
        Quantiles { p50_ms, p90_ms, p99_ms, p99_9_ms }
    }
}

/// Reads what a tool printed, or what was written to its log.
pub(crate) type Read = fn(stdout: &str, log: &str) -> Quantiles;

/// The JSON in a text that may have other lines around it; null when there is none.
pub(crate) fn json(text: &str) -> Value {
    let from = text.find('{').unwrap_or(0);
    let mut values = serde_json::Deserializer::from_str(&text[from..]).into_iter();
    values.next().and_then(Result::ok).unwrap_or(Value::Null)
}

/// dyno, its oracle and our floors: JSON with nanoseconds.
pub(crate) fn ours(stdout: &str, _: &str) -> Quantiles {
    our_quantiles(&json(stdout)["response"])
}

/// The object that contains `p50_ns` and so on in the output of dyno, its oracle and our floors.
pub(crate) fn our_quantiles(object: &Value) -> Quantiles {
    Quantiles::from_fn(|percent| {
        let key = format!("p{}_ns", percent.to_string().replace('.', "_"));
        Some(object[&key].as_f64()? / 1e6)
    })
}

/// The streams of HTTP/2 that a server recorded, each with the instants at which its request came and its answer left.
pub(crate) fn recorded_streams(csv: &str) -> Vec<(u64, u64)> {
    let instants = |line: &str| {
        let mut numbers = line.split(',').skip(2).map(|number| number.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    csv.lines().filter_map(instants).collect()
}

/// When answers left, since their requests were due on a schedule. Requests leave in their turn: the n-th that came was
/// due n periods after the first, and that was, at the latest, when the most punctual of them came, less its own delay.
pub(crate) fn of_schedule(streams: &[(u64, u64)], rate: u32) -> Quantiles {
    let mut streams = streams.to_vec();
    streams.sort_unstable();
    let due = |n: usize| n as u64 * 1_000_000_000 / u64::from(rate);
    let Some(began) = streams.iter().enumerate().map(|(n, (came, _))| came - due(n)).min() else {
        return Quantiles::default();
    };
    let waited = streams.iter().enumerate().map(|(n, (_, left))| left - began - due(n));
    of_samples(waited.map(|ns| ns as f64 / 1e6).collect())
}

/// What wrk2, hey and oha print, as `dyno audit` reads it.
pub(crate) fn audited(stdout: &str, _: &str) -> Quantiles {
    let found = audit::read("", stdout.as_bytes(), audit::Stated::default());
    let row = found.ok().and_then(|source| source.rows.into_iter().next());
    Quantiles::from_fn(|percent| Some(row.as_ref()?.at(percent / 100.0)?.value / 1e6))
}

/// Of each request: start in microseconds, status, response time in microseconds.
pub(crate) fn h2load(_: &str, log: &str) -> Quantiles {
    let us = |line: &str| line.split('\t').nth(2)?.trim().parse::<f64>().ok();
    of_samples(log.lines().filter_map(us).map(|us| us / 1e3).collect())
}

/// JSON with seconds.
pub(crate) fn fortio(stdout: &str, _: &str) -> Quantiles {
    let report = json(stdout);
    let percentiles = report["DurationHistogram"]["Percentiles"].as_array();
    Quantiles::from_fn(|percent| {
        let entry = percentiles?.iter().find(|entry| entry["Percentile"] == percent)?;
        Some(entry["Value"].as_f64()? * 1e3)
    })
}

/// The values of one metric as JSON, in milliseconds.
pub(crate) fn k6(stdout: &str, _: &str) -> Quantiles {
    let values = json(stdout);
    Quantiles::from_fn(|percent| values[format!("p({percent})")].as_f64())
}

/// CSV with the milliseconds of every request.
pub(crate) fn jmeter(_: &str, log: &str) -> Quantiles {
    let mut lines = log.lines();
    let header = lines.next().unwrap_or("");
    let Some(column) = header.split(',').position(|name| name == "elapsed") else {
        return Quantiles::default();
    };
    of_samples(lines.filter_map(|line| line.split(',').nth(column)?.parse().ok()).collect())
}

fn of_samples(mut samples: Vec<f64>) -> Quantiles {
    samples.sort_by(f64::total_cmp);
    Quantiles::from_fn(|percent| {
        let rank = (percent / 100.0 * samples.len() as f64).ceil() as usize;
        samples.get(rank.saturating_sub(1)).copied()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(read: Read, stdout: &str, log: &str, expected: [Option<f64>; 4]) {
        assert_eq!(read(stdout, log).all(), expected, "{stdout}{log}");
    }

    #[test]
    fn each_tool_is_understood() {
        check(
            ours,
            r#"{"response": {"p50_ns": 200000, "p90_ns": 1000000, "p99_9_ns": 2500000}}"#,
            "",
            [Some(0.2), Some(1.0), None, Some(2.5)],
        );
        check(
            h2load,
            "",
            "1700000000000000\t200\t1500\n1700000000000010\t200\t500\n",
            [Some(0.5), Some(1.5), Some(1.5), Some(1.5)],
        );
        check(
            audited,
            "Summary:\n  Requests/sec: 9.0\n\nLatency distribution:\n  50% in 0.0018 secs\n  90%% in 0.0045 secs",
            "",
            [Some(1.8), Some(4.5), None, None],
        );
        check(
            fortio,
            r#"{"DurationHistogram": {"Percentiles": [{"Percentile": 99.9, "Value": 0.25}]}}"#,
            "",
            [None, None, None, Some(250.0)],
        );
        check(k6, r#"{"p(50)": 0.25, "p(99.9)": 3}"#, "", [Some(0.25), None, None, Some(3.0)]);
        check(
            jmeter,
            "",
            "timeStamp,elapsed,label\n1,7,a\n2,9,a\n",
            [Some(7.0), Some(9.0), Some(9.0), Some(9.0)],
        );
    }

    #[test]
    fn a_schedule_begins_with_its_most_punctual_request() {
        let csv = "client_port,stream,request_ended_ns,answer_ended_ns\n\
            9,3,1002500000,1012000000\n9,1,1001000000,1001500000\n9,5,,\n9,7,1003000000,\n";
        let streams = recorded_streams(csv);
        assert_eq!(streams, [(1_002_500_000, 1_012_000_000), (1_001_000_000, 1_001_500_000)]);
        // The second was due 1 ms after the first, and left 0.5 ms late.
        let waited = of_schedule(&streams, 1_000);
        assert_eq!((waited.p50_ms, waited.p99_ms), (Some(0.5), Some(10.0)));
        assert_eq!(of_schedule(&[], 1_000), Quantiles::default());
    }

    #[test]
    fn json_is_found_among_other_lines() {
        assert_eq!(json("listening\n{\"a\": 1}\nbye")["a"], 1);
        assert_eq!(json("nothing here"), Value::Null);
    }

    #[test]
    fn a_tool_that_printed_nothing_has_no_quantiles() {
        for read in [ours as Read, audited, jmeter] {
            check(read, "", "", [None; 4]);
        }
    }
}
