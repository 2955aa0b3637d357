//! Results for programs: everything, with units in the names.

use super::Format;

pub static JSON: Format = Format {
    name: "json",
    about: "Everything, as docs/json.md says",
    ending: "json",
    media_type: "application/json",
    make: |shown, _| shown.json().map_err(|error| error.to_string()),
};
