//! Prices as people see them.
