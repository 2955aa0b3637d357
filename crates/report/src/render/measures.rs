//! Figures by themselves, for programs that follow them from commit to commit: the Bencher Metric Format, and the custom
//! format of github-action-benchmark, which has a file for each direction.

use lab::figure::{Better, Figure};
use serde_json::{Map, Value, json};

use super::{Format, Shown};

/// A figure of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The server, what was requested of it, and under which load.
    pub of: String,
    pub figure: Figure,
    pub value: f64,
    /// The 95 % interval, as far as it is known.
    pub ends: [Option<f64>; 2],
    /// What the row is worth.
    pub verdict: &'static str,
    pub rounds: usize,
}

pub(super) static BMF: Format = Format {
    name: "bmf",
    about: "Figures with their intervals, in the Bencher Metric Format",
    ending: "bmf",
    media_type: "application/json",
    make: |shown, _| {
        let mut document: Map<String, Value> = Map::new();
        for measure in measures(shown)? {
            let [low, high] = measure.ends;
            let metric = json!({ "value": measure.value, "lower_value": low, "upper_value": high });
            let of = document.entry(measure.of).or_insert_with(|| json!({}));
            of[measure.figure.name()] = metric;
        }
        written(&Value::Object(document))
    },
};

pub(super) static BIGGER: Format = Format {
    name: "customBiggerIsBetter",
    about: "Figures of which more is better, for github-action-benchmark",
    ending: "bigger",
    media_type: "application/json",
    make: |shown, _| listed(shown, Better::Higher),
};

pub(super) static SMALLER: Format = Format {
    name: "customSmallerIsBetter",
    about: "Figures of which less is better, for github-action-benchmark",
    ending: "smaller",
    media_type: "application/json",
    make: |shown, _| listed(shown, Better::Lower),
};

fn measures(shown: &dyn Shown) -> Result<Vec<Measure>, String> {
    shown.measures().ok_or_else(|| "it has no figures of servers".into())
}

fn listed(shown: &dyn Shown, better: Better) -> Result<String, String> {
    let all = measures(shown)?.into_iter().filter(|measure| measure.figure.better() == better);
    written(&Value::Array(all.map(|measure| listed_one(&measure)).collect()))
}

fn listed_one(measure: &Measure) -> Value {
    let range = match measure.ends {
        [Some(low), Some(high)] => json!(format!("{low}–{high}")),
        _ => Value::Null,
    };
    let rounds = units::counted(measure.rounds as u64, "round", "rounds");
    json!({
        "name": format!("{} · {}", measure.of, measure.figure.name()),
        "unit": unit(measure.figure),
        "value": measure.value,
        "range": range,
        "extra": format!("{}, {rounds}; the range is a 95 % interval", measure.verdict),
    })
}

/// The unit that the figure's name has.
fn unit(figure: Figure) -> &'static str {
    let units = [("_per_s", "1/s"), ("_ms", "ms"), ("_us", "µs"), ("_bytes", "B")];
    units.iter().find(|(part, _)| figure.name().contains(part)).map_or("", |(_, unit)| unit)
}

fn written(value: &Value) -> Result<String, String> {
    crate::json::written(value).map_err(|error| error.to_string())
}
