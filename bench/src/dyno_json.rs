//! The only place that knows the names in the output of `dyno load --json`; the quantiles, which
//! the floors and the oracle print in the same way, are read in `quantiles`.

use crate::quantiles::json;
use crate::run::Run;
use serde_json::Value;

/// More failures than this make a run worthless: failed answers are not what is measured.
const FAILED_SHARE_MAX: f64 = 0.001;

/// Why a run of dyno must not be counted; none if its answers were correct.
pub(crate) fn objection(stdout: &str) -> Option<String> {
    let report = json(stdout);
    let number = |key: &str| report["books"][key].as_f64();
    let (Some(attempted), Some(failed)) = (number("attempted"), number("failed")) else {
        return Some("dyno printed no books".to_owned());
    };
    let worthless = failed > attempted * FAILED_SHARE_MAX;
    let sentence = report["sentence"].as_str().unwrap_or("most answers failed");
    worthless.then(|| format!("dyno says: {sentence}"))
}

/// Requests it began.
pub(crate) fn attempted(run: &Run) -> Option<f64> {
    json(&run.measured.stdout)["books"]["attempted"].as_f64()
}

/// Requests that were answered as expected.
pub(crate) fn correct(run: &Run) -> Option<f64> {
    json(&run.measured.stdout)["books"]["correct"].as_f64()
}

/// How late it sent, at the median. The floor that sends on a schedule prints it in the same way.
pub(crate) fn late_p50_us(run: &Run) -> Option<f64> {
    Some(late(run)["p50_ns"].as_f64()? / 1e3)
}

/// How late it sent, at the 99th percentile.
pub(crate) fn late_p99_us(run: &Run) -> Option<f64> {
    Some(late(run)["p99_ns"].as_f64()? / 1e3)
}

fn late(run: &Run) -> Value {
    json(&run.measured.stdout)["late"].clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_wrong_answers_is_objected_to() {
        let books = |failed| {
            format!(
                r#"{{"sentence": "Another body.", "books": {{"attempted": 9000, "failed": {failed}}}}}"#
            )
        };
        assert_eq!(objection(&books(9)), None);
        assert_eq!(objection(&books(10)).as_deref(), Some("dyno says: Another body."));
        assert_eq!(objection("{}").as_deref(), Some("dyno printed no books"));
    }
}
