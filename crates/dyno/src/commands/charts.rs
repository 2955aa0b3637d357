//! The charts of `dyno report`: one workload's, or all of them in a folder.

use clap::{Args, ValueEnum};

use crate::shell::Refusal;
use report::run::{Drawn, Findings};

/// Which chart, and in which colours.
#[derive(Args)]
pub(super) struct ChartFlags {
    /// For charts: only those of this workload [default: the first; all, if --output is a folder]
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// For charts: their colours [default: auto]
    #[arg(long, value_enum)]
    theme: Option<Theme>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Theme {
    /// As the reader's system setting says
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
        Err(Refusal::new(format!("{flag} is for charts; add `-o FILE.svg`, or leave it out")))
    }

    /// Chooses which charts are drawn of a run.
    pub(super) fn choose(&self, findings: &mut Findings<'_>) -> Result<(), Refusal> {
        let names = findings.workloads_drawn();
        if names.is_empty() {
            return Err(Refusal::new(format!(
                "run {} has no trials, so there is no chart",
                findings.id
            )));
        }
        if let Some(asked) = self.workload.as_ref().filter(|asked| !names.contains(&asked.as_str()))
        {
            let (odd, known) = (asked.escape_debug(), names.join(", "));
            let known = known.escape_debug();
            return Err(Refusal::new(format!("--workload {odd}: this run has {known}")));
        }
        let theme = match self.theme {
            None | Some(Theme::Auto) => report::Theme::Auto,
            Some(Theme::Light) => report::Theme::Light,
            Some(Theme::Dark) => report::Theme::Dark,
        };
        findings.drawn = Drawn { workload: self.workload.clone(), theme };
        Ok(())
    }
}
