//! To come.
crate::tests![];
