//! m. What the client's sleep costs the server: its CPU time for an answer, where dyno sleeps, polls before a request is
//! due, or never sleeps.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Section;
use super::slices::{self, column};
use crate::rig::Rig;
use crate::table::Table;

const CONNECTIONS: u32 = 20;
const ROUNDS: u32 = 4;
/// Pairs of a slow server and a fast one, of one language or one kind.
const PAIRS: [[&str; 2]; 2] = [["express", "node-http"], ["go-net-http", "hyper"]];
/// The values of `load.spin`; the second one is the default.
const SPINS: [&str; 3] = ["never", "due", "always"];

pub(crate) fn measure(rig: &Rig) -> Section {
    let mut columns = vec!["load.spin"];
    columns.extend(PAIRS.iter().flat_map(|[slow, fast]| [*slow, *fast, "ratio"]));
    let title =
        format!("µs of the server's CPU for an answer (closed loop, {CONNECTIONS} connections)");
    let mut table = Table::new(title, &columns);
    for spin in SPINS {
        eprintln!("  {spin}");
        match row(rig, spin) {
            Ok(row) => table.rows.push(row),
            Err(error) => table.notes.push(format!("{spin}: {error:#}")),
        }
    }
    table.notes.push(format!(
        "medians of {ROUNDS} rounds of 2 s after 0.5 s of warm-up, each of a fresh process; in brackets the range. A closed \
         loop has no instants at which requests are due: `due` sleeps as `never` does"
    ));
    Section { tables: vec![table], ..Section::default() }
}

fn row(rig: &Rig, spin: &str) -> Result<Vec<String>> {
    let csv = run(rig, spin)?;
    let mut cells = vec![spin.to_owned()];
    for pair in PAIRS {
        let [slow, fast] = pair.map(|subject| column(&csv, subject, "cpu_ms_per_1000"));
        let (slow, fast) = (slow?, fast?);
        let both = slow.iter().filter_map(|(round, slow)| {
            let (_, fast) = fast.iter().find(|(other, _)| other == round)?;
            Some(slow / fast)
        });
        let values = |of: &[(u32, f64)]| of.iter().map(|(_, value)| *value).collect();
        cells.extend([values(&slow), values(&fast), both.collect()].map(ranged));
    }
    Ok(cells)
}

/// The median, and the range.
fn ranged(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    match (values.first(), values.last()) {
        (Some(least), Some(most)) => {
            format!("{:.2} ({least:.2}–{most:.2})", values[values.len() / 2])
        }
        _ => "–".to_owned(),
    }
}

/// Runs the servers, and returns the figures of each round.
fn run(rig: &Rig, spin: &str) -> Result<PathBuf> {
    let root = rig.scratch.join("sleep");
    fs::create_dir_all(&root)?;
    for folder in ["subjects", "workloads"] {
        if !root.join(folder).exists() {
            symlink(
                Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder),
                root.join(folder),
            )?;
        }
    }
    let subjects = PAIRS.concat().join("', '");
    let experiment = format!(
        "question = 'What does the sleep of the client cost?'\nsubjects = ['{subjects}']\nworkload = 'hello'\n\
         load = {{ closed = {{ connections = {CONNECTIONS} }}, duration = '2s', warmup = '500ms', spin = '{spin}' }}\n\
         [trials]\nrepeat = {ROUNDS}\nceiling = false\ncheck = false\n"
    );
    slices::run(rig, &root, &experiment)
}
