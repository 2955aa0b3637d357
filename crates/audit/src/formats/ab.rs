//! What ab prints, once or several times in one file: times in whole milliseconds, and failures by kinds that overlap.

use crate::row::{Limit, NoLimit, Row, Time, place_of};
use crate::text::{first_number, number_after, seconds, time};

pub(crate) fn rows(name: &str, text: &str) -> Vec<Row> {
    let is_ab = text.contains("Complete requests:") && text.contains("Time taken for tests:");
    if !is_ab {
        return Vec::new();
    }
    let begins = |line: &str| line.starts_with("Server Software:");
    super::runs(name, text, begins, "Complete requests:", row)
}

fn row(name: &str, text: &str) -> Row {
    let mut row = Row::new(name, "", Limit::Unknown(NoLimit::Connections));
    let (mut total, mut failed, mut unlike) = (None, 0.0_f64, 0.0);
    for line in text.lines().map(str::trim) {
        let (key, rest) = line.split_once([':', '%']).unwrap_or_default();
        let words: Vec<&str> = rest.split_whitespace().collect();
        match (key, &words[..]) {
            ("Concurrency Level", _) => row.connections = first_number(rest),
            ("Time taken for tests", _) => total = seconds(rest),
            ("Complete requests", _) => row.requests = first_number(rest),
            ("Requests per second", [rate, ..]) => {
                row.rate_per_s = row.above_zero("Requests per second", rate.parse().ok());
            }
            // One request may be of several kinds, so that the kinds do not add up.
            ("(Connect", _) => {
                let failures = |kind| number_after(line, kind).unwrap_or(0.0);
                failed = failed
                    .max(failures("Connect:") + failures("Receive:"))
                    .max(failures("Exceptions:"));
                unlike = failures("Length:");
            }
            ("Non-2xx responses", _) => failed = failed.max(first_number(rest).unwrap_or(0.0)),
            ("Total", [least, mean, sd, ..]) => {
                row.percentile("Total min", 0.0, milliseconds(least));
                row.mean = row.time("Total mean", milliseconds(mean));
                row.sd = milliseconds(sd);
            }
            (percent, [word, ..]) => {
                if let Ok(percent @ 1.0..=100.0) = percent.parse::<f64>() {
                    let figure = format!("p{percent}");
                    row.percentile(&figure, percent / 100.0, milliseconds(word));
                }
            }
            _ => {}
        }
    }
    row.samples = row.requests;
    row.counted = row.requests.zip(total);
    row.failed = row.requests.map(|requests| failed.min(requests));
    row.unclear = row.requests.map_or(0.0, |requests| unlike.min(requests - failed).max(0.0));
    row.limit = row.connections.map_or(row.limit, Limit::UnderWay);
    row.place = place_of(row.connections);
    row
}

fn milliseconds(word: &str) -> Option<Time> {
    time(&format!("{word}ms")).map(|(time, _)| time)
}
