//! Keeps: every run and every trial, in one SQLite file. No arithmetic, no printing.
