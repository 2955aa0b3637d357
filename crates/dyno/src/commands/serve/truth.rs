//! What the oracle did, as text and as JSON.

use hdrhistogram::Histogram;
use load::Distribution;
use oracle::Truth;
use report::chart::bars;
use report::json::DistributionJson;
use serde::Serialize;

#[derive(Serialize)]
struct TruthJson<'t> {
    schema: &'static str,
    #[serde(flatten)]
    truth: &'t Truth,
    imposed: DistributionJson,
    drawn: DistributionJson,
    waited: DistributionJson,
    late: DistributionJson,
}

/// The table, and the histogram of the served times.
pub(super) fn text(truth: &Truth) -> String {
    let is_coloured = terminal::stdout_is_coloured();
    let mut text = truth.to_string();
    let bins = bars::lines(&distribution(&truth.served_ns));
    if !bins.is_empty() {
        text.push_str("\n\nserved: number of answers in each range\n");
    }
    for line in bins {
        text.push_str(line.shown(is_coloured).trim_end());
        text.push('\n');
    }
    text
}

pub(super) fn json(truth: &Truth) -> String {
    let json = TruthJson {
        schema: "dyno.truth/1",
        truth,
        imposed: (&distribution(&truth.served_ns)).into(),
        drawn: (&distribution(&truth.drawn_ns)).into(),
        waited: (&distribution(&truth.waited_ns)).into(),
        late: (&distribution(&truth.late_ns)).into(),
    };
    serde_json::to_string_pretty(&json).expect("numbers and names are JSON") + "\n"
}

/// The oracle shares no code with what is tested against it, and so has histograms of its own. Of these times none was given
/// up, and the sum is not kept: the mean is that of the middles of the ranges that are distinguished.
fn distribution(histogram: &Histogram<u64>) -> Distribution {
    let mut all = Distribution::new(histogram.high());
    for at in histogram.iter_recorded() {
        let middle = histogram.median_equivalent(at.value_iterated_to());
        all.record_many(middle, at.count_at_value());
    }
    all
}
