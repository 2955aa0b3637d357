//! Results as test cases, which GitLab, Jenkins and others read.

use super::Format;

pub static JUNIT: Format = Format {
    name: "junit",
    about: "Test cases for a CI server, as JUnit XML",
    ending: "xml",
    media_type: "application/xml",
    make: |shown, _| shown.junit().ok_or_else(|| "it has no test cases".into()),
};
