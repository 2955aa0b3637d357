//! Figures by their names, as JSON: which there may be, and what they are, is read from their table.

use std::borrow::Cow;
use std::collections::BTreeMap;

use analysis::{Figures, Number};
use lab::figure::Figure;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

/// What there is of each figure of a load or a trial, by its name.
#[derive(Serialize)]
pub struct ByFigure<T>(BTreeMap<&'static str, T>);

/// Those that a load or a trial has.
pub fn figure_values(figures: &Figures) -> ByFigure<Number> {
    ByFigure::of(|figure| figures.get(figure))
}

impl<T> ByFigure<T> {
    /// Those of which there is any.
    pub fn of(found: impl Fn(Figure) -> Option<T>) -> ByFigure<T> {
        let named = |figure: Figure| Some((figure.name(), found(figure)?));
        ByFigure(Figure::OF_TRIALS.into_iter().filter_map(named).collect())
    }
}

impl<T: JsonSchema> JsonSchema for ByFigure<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}_by_figure", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let each = generator.subschema_for::<T>();
        let mut properties: Map<String, Value> = Map::new();
        for figure in Figure::OF_TRIALS {
            let mut schema = each.clone();
            let description = format!("*{}*: {}", figure.heading(), figure.meaning());
            schema.insert("description".into(), description.into());
            properties.insert(figure.name().to_string(), schema.to_value());
        }
        json_schema!({
            "type": "object",
            "description": "Figures by their names in figures.md. One that was not measured is not there.",
            "properties": properties,
            "additionalProperties": false
        })
    }
}

#[cfg(test)]
mod tests {
    use analysis::Figures;
    use lab::figure::Figure;
    use serde_json::Value;

    use crate::load::fixture::{MS, answer_after, finished, healthy, open};

    #[test]
    fn a_load_s_figures_are_those_of_the_table_and_the_same_as_elsewhere_in_it() {
        let mut recording = healthy();
        answer_after(&mut recording.total, &[(19_000, MS), (1_000, 30 * MS)]);
        (0..500).for_each(|_| recording.total.response.record_censored(5_000 * MS));
        (recording.total.failed[0], recording.total.attempted) = (500, 20_500);
        recording.total.due = 20_500;
        let found = Figures::of_load(&recording);
        let json = crate::load::json(&finished(open(), recording), &[]).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        let mut seen = 0;
        for figure in Figure::OF_TRIALS {
            let written = &json["figures"][figure.name()];
            let Some(number) = found.get(figure) else {
                assert!(written.is_null(), "{figure:?}");
                continue;
            };
            assert_eq!(written["value"], number.value, "{figure:?}");
            assert_eq!(written["is_bound"], number.is_bound, "{figure:?}");
            assert_eq!(written["is_supported"], number.is_supported, "{figure:?}");
            seen += 1;
        }
        assert_eq!(json["figures"].as_object().unwrap().len(), seen);
        for (name, elsewhere, scale) in [
            ("throughput_per_s", &json["rate"]["throughput_per_s"], 1.0),
            ("offered_per_s", &json["rate"]["offered_per_s"], 1.0),
            ("on_time_percent", &json["rate"]["on_time"]["share"], 100.0),
            ("attempted", &json["books"]["attempted"], 1.0),
            ("failed", &json["books"]["failed"], 1.0),
            ("response_p99_ms", &json["response"]["p99_ns"], 1e-6),
            ("response_mean_ms", &json["response"]["mean_ns"], 1e-6),
            ("service_p50_ms", &json["service"]["p50_ns"], 1e-6),
        ] {
            let (value, other) = (&json["figures"][name]["value"], elsewhere.as_f64().unwrap());
            let value = value.as_f64().unwrap();
            assert!((value - other * scale).abs() <= value.abs() * 1e-12, "{name}: {value}");
        }
        assert_eq!(json["figures"]["response_p99_ms"]["is_bound"], true);
    }
}
