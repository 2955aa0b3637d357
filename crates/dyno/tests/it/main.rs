//! The whole program, as sentences.

#![expect(clippy::unwrap_used, reason = "in a test that is how it fails")]

#[path = "../../../load/tests/again/mod.rs"]
mod again;
mod asking;
mod audit;
mod browser;
mod browser_rig;
mod calibrate;
mod ceiling;
mod check;
mod check_repeat;
mod compare;
mod conformance;
mod doubts_for_real;
mod embedded;
mod faults;
mod feed;
mod held;
mod hold;
mod howto;
mod install;
mod json;
mod keep;
mod kept_runs;
mod lab_rig;
mod list;
mod load;
mod new;
mod old_kernel;
mod older_stores;
mod race;
mod real;
mod refusals;
mod report;
mod requests;
mod require;
mod rig;
mod run;
mod run_changed;
mod run_faults;
mod run_refusals;
mod run_resume;
mod run_room;
mod run_slices;
mod run_store;
mod run_url;
mod schema;
mod secured;
mod secured_rig;
mod serve;
mod terminal;
mod torture;
mod truth;
mod validity;
mod view;
