//! The charts of `dyno report`: one workload's, or all of them in a folder.

use clap::Args;

use crate::one_of::one_of;
use crate::shell::Refusal;
use report::Theme;
use report::run::{Drawn, Findings};

/// Which chart, and in which colours.
#[derive(Args)]
pub(super) struct ChartFlags {
    /// For charts: only those of this workload [default: the first; all, if --output is a folder]
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// For charts: their colours [default: auto]
    #[arg(long, value_name = "THEME", value_parser = one_of(Theme::ALL, Theme::name, Theme::meaning))]
    theme: Option<Theme>,
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
        let theme = self.theme.unwrap_or_default();
        findings.drawn = Drawn { workload: self.workload.clone(), theme };
        Ok(())
    }
}
