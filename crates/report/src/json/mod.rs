//! What all documents for programs share: the words, the units, the histograms. docs/json.md and the schemas beside it
//! are made from these types.

mod conformance;
mod distribution;
pub(crate) mod typed;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Serialize;

pub use conformance::{AreaJson, CatalogueJson, FindingJson, ProtocolJson, TallyJson, escaped};
pub use distribution::{DistributionJson, encoded};
pub(crate) use typed::json_type;

/// The document as text, with a line end.
pub fn written(document: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(document).map(|text| text + "\n")
}

/// What a document may contain, and nothing else.
pub fn schema<T: JsonSchema>() -> Schema {
    let closed = schemars::transform::RecursiveTransform(|schema: &mut Schema| {
        let is_struct = schema.get("properties").is_some();
        if is_struct && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".into(), false.into());
        }
    });
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(closed);
    settings.into_generator().into_root_schema_for::<T>()
}
