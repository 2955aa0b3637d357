//! The whole program, as sentences.
