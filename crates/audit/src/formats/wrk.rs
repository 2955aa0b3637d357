//! What wrk and wrk2 print, once or several times in one file.

use crate::row::{Limit, NoLimit, Row, place_of};
use crate::text::{first_number, number_after, number_before, seconds, time};

pub(crate) fn rows(name: &str, text: &str) -> Vec<Row> {
    match text.lines().any(is_beginning) {
        true => super::runs(name, text, is_beginning, "", row),
        false => Vec::new(),
    }
}

/// `Running 10s test @ http://…`
fn is_beginning(line: &str) -> bool {
    line.trim_start().starts_with("Running ") && line.contains(" test @ ")
}

fn row(name: &str, text: &str) -> Row {
    let mut row = Row::new(name, "", Limit::Unknown(NoLimit::Connections));
    // wrk2 counts times from a schedule, and prints how it calibrated itself.
    let is_scheduled = text.contains("HdrHistogram") || text.contains("Thread calibration");
    // With -U it also prints the times counted from when a request was sent, as a second list.
    let mut is_uncorrected = false;
    let (mut broken, mut late, mut refused) = (0.0, 0.0_f64, 0.0);
    for line in text.lines().map(str::trim) {
        if line.contains(" threads and ") || line.contains(" thread and ") {
            row.connections = number_before(line, " connection");
        } else if line.starts_with("Latency") && !line.contains("Distribution") {
            let mut words = line.split_whitespace().skip(1);
            let mean = row.printed(words.next());
            row.mean = row.time("mean latency", mean);
            row.sd = words.next().and_then(time).map(|(time, _)| time);
            let max = words.next().and_then(time).map(|(time, _)| time);
            row.percentile("longest latency", 1.0, max);
        } else if line.starts_with("Latency Distribution") {
            is_uncorrected = line.contains("Uncorrected");
        } else if let Some((percent, rest)) = line.split_once('%').filter(|_| !is_uncorrected) {
            let words: Vec<&str> = rest.split_whitespace().collect();
            if let (Ok(percent), [word]) = (percent.trim().parse::<f64>(), &words[..]) {
                let share = percent / 100.0;
                let found = row.printed(Some(word));
                row.percentile(&format!("p{percent}"), share, found);
            }
        } else if line.contains(" requests in ") {
            row.samples = number_before(line, " requests in ");
            let behind = line.split(" requests in ").nth(1).and_then(|it| it.split(',').next());
            row.counted = row.samples.zip(behind.and_then(seconds));
        } else if line.starts_with("Socket errors:") {
            let failures = |kind| number_after(line, kind).unwrap_or(0.0);
            (broken, late) =
                (failures("connect") + failures("read") + failures("write"), failures("timeout"));
        } else if line.starts_with("Non-2xx") {
            refused = line.rsplit(':').next().and_then(first_number).unwrap_or(0.0);
        } else if let Some(rate) = line.strip_prefix("Requests/sec:") {
            row.rate_per_s = row.above_zero("Requests/sec", rate.trim().parse().ok());
        }
    }
    // Its requests are the answers, late ones among them; a late one may be a refusal, too.
    row.failed = Some(broken + late.max(refused));
    row.unclear = late.min(refused);
    row.requests = row.samples.map(|answers| answers + broken);
    row.ended_with(row.connections.unwrap_or(0.0));
    row.limit = match (is_scheduled, row.connections) {
        (true, _) => Limit::Unknown(NoLimit::Schedule),
        (false, Some(connections)) => Limit::UnderWay(connections),
        (false, None) => Limit::Unknown(NoLimit::Connections),
    };
    row.place = place_of(row.connections);
    row
}
