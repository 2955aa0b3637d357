//! The charts of `dyno report`: one workload's, a flame graph, or all of them in a folder.

use clap::{Args, ValueEnum};

use crate::shell::Refusal;
use report::render::Shown;
use report::run::{Drawn, Findings};

/// Which chart, and in which colours.
#[derive(Args)]
pub(super) struct ChartFlags {
    /// For charts: only those of this workload [default: the first; all, if --output is a folder]
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// For charts: only the flame graph of this server, which was sampled (--why)
    #[arg(long, value_name = "SERVER")]
    flame: Option<String>,
    /// With --flame: how it differs from the flame graph of this server
    #[arg(long, value_name = "SERVER", requires = "flame")]
    against: Option<String>,
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
        let flag = match (&self.workload, &self.flame, self.theme) {
            (Some(_), ..) => "--workload",
            (None, Some(_), _) => "--flame",
            (None, None, Some(_)) => "--theme",
            (None, None, None) => return Ok(()),
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
        let flame = self.flame.clone().map(|server| (server, self.against.clone()));
        let workload = self.workload.clone();
        findings.drawn = Drawn { workload, flame, theme };
        match &self.flame {
            Some(server) if findings.charts().next().is_none() => {
                Err(self.no_flame(server, findings))
            }
            _ => Ok(()),
        }
    }

    fn no_flame(&self, server: &str, findings: &Findings<'_>) -> Refusal {
        let id = &findings.id;
        let sampled = findings.sampled().into_iter().collect::<Vec<_>>().join(", ");
        if sampled.is_empty() {
            return Refusal::new(format!(
                "--flame: run {id} has no samples; `--why` of `dyno run` and `dyno race` takes them"
            ));
        }
        let against = self.against.as_ref().map(|other| format!(" --against {other}"));
        let asked = format!("--flame {server}{}", against.unwrap_or_default());
        Refusal::new(format!(
            "{}: no load of run {id} has such samples; it has those of {}",
            asked.escape_debug(),
            sampled.escape_debug()
        ))
    }
}
