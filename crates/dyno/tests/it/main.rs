//! The whole program, as sentences.

#![expect(clippy::unwrap_used, reason = "in a test that is how it fails")]

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
mod held;
mod hold;
mod howto;
mod install;
mod json;
mod lab_rig;
mod list;
mod load;
mod old_kernel;
mod older_stores;
mod race;
mod real;
mod refusals;
mod report;
mod rig;
mod run;
mod run_faults;
mod run_refusals;
mod run_resume;
mod run_room;
mod run_slices;
mod run_store;
mod schema;
mod serve;
mod terminal;
mod torture;
mod truth;
mod validity;
mod view;
