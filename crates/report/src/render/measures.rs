//! Figures by themselves, for programs that follow them from commit to commit: the Bencher Metric Format, and the custom
//! format of github-action-benchmark, which has a file for each direction.

use lab::figure::{Better, Unit};
use serde_json::{Map, Value, json};

use super::{Format, Shown};

/// A figure of a row, or of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The server, what was requested of it, and under which load.
    pub of: String,
    /// The figure, by its name in docs/figures.md.
    pub name: String,
    pub unit: &'static str,
    pub better: Better,
    pub value: f64,
    /// The 95 % interval, as far as it is known.
    pub ends: [Option<f64>; 2],
    /// What it is worth, and what it was computed of.
    pub says: String,
}

impl Measure {
    /// A unit as these programs print it behind a number.
    pub(crate) fn unit(unit: Unit) -> &'static str {
        match unit {
            Unit::PerSecond => "1/s",
            Unit::Count => "",
            Unit::Percent => "%",
            Unit::Milliseconds => "ms",
            Unit::Bytes => "B",
            Unit::KibPerSecond => "KiB/s",
        }
    }
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
            // An end that is not known is left out: the format has no null.
            let numbers =
                [("value", Some(measure.value)), ("lower_value", low), ("upper_value", high)];
            let known = numbers.into_iter().filter_map(|(key, it)| Some((key.into(), json!(it?))));
            let metric = Value::Object(known.collect());
            let of = document.entry(measure.of).or_insert_with(|| json!({}));
            of[measure.name] = metric;
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
    let mut all = shown.measures().ok_or("it has no figures of servers")?;
    all.retain(|measure| measure.value.is_finite());
    Ok(all)
}

fn listed(shown: &dyn Shown, better: Better) -> Result<String, String> {
    let all = measures(shown)?.into_iter().filter(|measure| measure.better == better);
    written(&Value::Array(all.map(entry).collect()))
}

fn entry(measure: Measure) -> Value {
    let range = match measure.ends {
        [Some(low), Some(high)] => Some(format!("{low}–{high}")),
        [Some(low), None] => Some(format!("at least {low}")),
        [None, Some(high)] => Some(format!("at most {high}")),
        [None, None] => None,
    };
    let mut entry = json!({
        "name": format!("{} · {}", measure.of, measure.name),
        "unit": measure.unit,
        "value": measure.value,
    });
    if let Some(range) = range {
        entry["range"] = range.into();
        entry["extra"] = format!("{}; the range is a 95 % interval", measure.says).into();
    } else {
        entry["extra"] = measure.says.into();
    }
    entry
}

fn written(value: &Value) -> Result<String, String> {
    crate::json::written(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::document::Document;
    use crate::render::Screen;

    struct Two;

    impl Shown for Two {
        fn document(&self) -> Document {
            Document::default()
        }

        fn json(&self) -> serde_json::Result<String> {
            Ok(String::new())
        }

        fn measures(&self) -> Option<Vec<Measure>> {
            let rate = Measure {
                of: "brook · hello · 8 connections".into(),
                name: "throughput_per_s".into(),
                unit: "1/s",
                better: Better::Higher,
                value: 1_000.0,
                ends: [Some(990.0), Some(1_010.0)],
                says: "valid, 5 rounds".into(),
            };
            let (name, ends) = ("response_p99_ms".into(), [Some(1.5), None]);
            let late = Measure {
                name,
                better: Better::Lower,
                value: 2.0,
                ends,
                unit: "ms",
                ..rate.clone()
            };
            let none = Measure { name: "cpu".into(), value: f64::NAN, ..late.clone() };
            let alone = Measure { of: "river".into(), ends: [None, None], ..rate.clone() };
            Some(vec![rate, late, none, alone])
        }
    }

    fn check(format: &Format, expected: &Expect) {
        expected.assert_eq(&format.of(&Two, Screen::file(80)).unwrap());
    }

    #[test]
    fn an_end_that_is_not_known_is_left_out_and_no_number_is_no_figure() {
        check(
            &BMF,
            &expect![[r#"
            {
              "brook · hello · 8 connections": {
                "response_p99_ms": {
                  "lower_value": 1.5,
                  "value": 2.0
                },
                "throughput_per_s": {
                  "lower_value": 990.0,
                  "upper_value": 1010.0,
                  "value": 1000.0
                }
              },
              "river": {
                "throughput_per_s": {
                  "value": 1000.0
                }
              }
            }
        "#]],
        );
    }

    #[test]
    fn each_direction_has_its_file() {
        check(
            &BIGGER,
            &expect![[r#"
            [
              {
                "extra": "valid, 5 rounds; the range is a 95 % interval",
                "name": "brook · hello · 8 connections · throughput_per_s",
                "range": "990–1010",
                "unit": "1/s",
                "value": 1000.0
              },
              {
                "extra": "valid, 5 rounds",
                "name": "river · throughput_per_s",
                "unit": "1/s",
                "value": 1000.0
              }
            ]
        "#]],
        );
        check(
            &SMALLER,
            &expect![[r#"
            [
              {
                "extra": "valid, 5 rounds; the range is a 95 % interval",
                "name": "brook · hello · 8 connections · response_p99_ms",
                "range": "at least 1.5",
                "unit": "ms",
                "value": 2.0
              }
            ]
        "#]],
        );
    }
}
