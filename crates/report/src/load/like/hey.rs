//! The shape of hey's output.

use analysis::{measured_s, steps, throughput_per_s};
use load::{Distribution, Failure};

use crate::load::FinishedLoad;

/// The longest bar of the histogram has so many squares.
const BAR: u64 = 40;

pub(super) fn text(run: &FinishedLoad) -> String {
    let (recording, total) = (&run.recording, &run.recording.total);
    let (fastest, slowest) = total.response.extremes().unwrap_or_default();
    let mut text = format!(
        "\nSummary:\n  Total:\t{:.4} secs\n  Slowest:\t{}\n  Fastest:\t{}\n  Average:\t{}\n  Requests/sec:\t{:.4}\n",
        measured_s(recording),
        secs(slowest as f64),
        secs(fastest as f64),
        secs(total.response.mean()),
        throughput_per_s(recording).unwrap_or(0.0)
    );
    let answers = &total.answers;
    let size = answers.mean_bytes().unwrap_or(0.0);
    // Whole answers, be they right or wrong.
    let data = size * answers.total() as f64;
    text += &format!(
        "\n  Total data:\t{data:.0} bytes\n  Size/request:\t{size:.0} bytes\n\nResponse time histogram:\n"
    );
    let steps = steps(&total.response, 10);
    let most = steps.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    for (until, count) in steps {
        let bar = "■".repeat((count * BAR / most) as usize);
        text += &format!("  {:.3} [{count}]\t|{bar}\n", until / 1e9);
    }
    text += "\n\nLatency distribution:\n";
    for (percent, q) in
        [(10, 0.1), (25, 0.25), (50, 0.5), (75, 0.75), (90, 0.9), (95, 0.95), (99, 0.99)]
    {
        let value = total.response.quantile(q).map_or(0, |quantile| quantile.value);
        text += &format!("  {percent}% in {}\n", secs(value as f64));
    }
    text += "\nDetails (average, fastest, slowest):\n";
    text += &detail("DNS+dialup", &total.connect);
    text += &detail("resp wait", &total.first_byte);
    text += "\nStatus code distribution:\n";
    for (status, times) in answers.statuses() {
        text += &format!("  [{status}]\t{times} responses\n");
    }
    text + &errors(run)
}

fn detail(name: &str, times: &Distribution) -> String {
    let (fastest, slowest) = times.extremes().unwrap_or_default();
    let times = [times.mean(), fastest as f64, slowest as f64].map(secs);
    format!("  {name}:\t{}\n", times.join(", "))
}

fn errors(run: &FinishedLoad) -> String {
    let total = &run.recording.total;
    // hey has answers with 4xx and 5xx among the statuses alone.
    let is_refusal = |(status, _): &&(u16, u64)| 400 <= *status;
    let refusals = total.answers.statuses().iter().filter(is_refusal).map(|(_, times)| times);
    let refusals: u64 = if run.asked.status.starts_with('2') { refusals.sum() } else { 0 };
    let all = Failure::ALL.into_iter().map(|failure| {
        let seen = if failure.is_about_status() { refusals } else { 0 };
        (failure, total.failures(failure).saturating_sub(seen))
    });
    let lines = all.filter(|(_, times)| 0 < *times).map(|(failure, times)| {
        format!("  [{times}]\t{}: {failure}: {}\n", run.asked.words(), failure.meaning())
    });
    let lines: String = lines.collect();
    if lines.is_empty() { String::new() } else { format!("\nError distribution:\n{lines}") }
}

fn secs(ns: f64) -> String {
    format!("{:.4} secs", ns / 1e9)
}
