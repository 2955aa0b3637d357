//! The charts of `dyno report --format svg`: one workload's, or all of them in a folder.

use std::path::Path;

use archive::keep;
use clap::{Args, ValueEnum};

use crate::shell::{Refusal, print};
use report::run::{self, Findings};

/// Which chart, and in which colours.
#[derive(Args, Default)]
pub(super) struct ChartFlags {
    /// With --format svg: this workload's chart [default: the first; all, if --output is a folder]
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// With --format svg: its colours [default: auto]
    #[arg(long, value_enum)]
    theme: Option<Theme>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Theme {
    /// As the reader's system is set
    Auto,
    /// Dark on white
    Light,
    /// Light on black
    Dark,
}

impl ChartFlags {
    /// Other formats have neither.
    pub(super) fn check_unused(&self) -> Result<(), Refusal> {
        let flag = match (&self.workload, self.theme) {
            (Some(_), _) => "--workload",
            (None, Some(_)) => "--theme",
            (None, None) => return Ok(()),
        };
        Err(Refusal::new(format!("{flag} is for charts; add `--format svg`, or leave it out")))
    }

    fn theme(&self) -> report::Theme {
        match self.theme {
            None | Some(Theme::Auto) => report::Theme::Auto,
            Some(Theme::Light) => report::Theme::Light,
            Some(Theme::Dark) => report::Theme::Dark,
        }
    }
}

/// Refuses a path that cannot be written to.
pub(super) fn check(output: &Path) -> Result<(), Refusal> {
    match output.is_dir() {
        true => keep::check("--output", &output.join("dyno.svg")),
        false => keep::check("--output", output),
    }
}

/// Writes the requested chart, or all of them into a folder.
pub(super) fn write(
    findings: &Findings<'_>,
    flags: &ChartFlags,
    output: Option<&Path>,
) -> Result<(), Refusal> {
    let names = run::workloads(findings);
    if names.is_empty() {
        return Err(Refusal::new(format!(
            "run {} has no trials, so there is no chart",
            findings.id
        )));
    }
    let asked = match &flags.workload {
        None => None,
        Some(asked) => Some(*names.iter().find(|name| *name == asked).ok_or_else(|| {
            let (odd, known) = (asked.escape_debug(), names.join(", ").escape_debug().to_string());
            Refusal::new(format!("--workload {odd}: this run has {known}"))
        })?),
    };
    let chart = |name: &str| report::svg(findings, name, flags.theme()).unwrap_or_default();
    let kept = |path: &Path, name: &str| keep::write_for("--output", path, &chart(name));
    match output {
        None => print(&chart(asked.unwrap_or(names[0]))).map(drop),
        Some(folder) if folder.is_dir() => {
            let wanted = asked.map_or(names, |name| vec![name]);
            wanted.into_iter().try_for_each(|name| kept(&folder.join(file(findings, name)), name))
        }
        Some(path) => kept(path, asked.unwrap_or(names[0])),
    }
}

/// A file's name; a workload's name is one already, unless the store was tampered with.
fn file(findings: &Findings<'_>, workload: &str) -> String {
    let safe = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let workload: String = workload.chars().map(safe).take(80).collect();
    let run: String = findings.id.chars().map(safe).collect();
    format!("run-{run}-{workload}.svg")
}
