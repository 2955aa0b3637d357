//! Results for programs: everything, with units in the names.

use super::Format;

pub static JSON: Format = Format {
    name: "json",
    about: "Everything; docs/json.md explains the fields",
    ending: "json",
    media_type: "application/json",
    make: |shown, _| shown.json().map_err(|error| error.to_string()),
};
