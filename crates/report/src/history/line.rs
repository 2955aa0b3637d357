//! A line of a history, `dyno.history/1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::origin::{MadeBy, Side, wrong_flag};

pub(super) const SCHEMA: &str = "dyno.history/1";

/// One figure of one row of one run: a line of the file that `--history` names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "history")]
pub struct Line {
    /// which document this is
    #[schemars(extend("const" = SCHEMA))]
    pub(super) schema: String,
    #[serde(flatten)]
    pub(super) run: Measurement,
    /// the machine: a hash of `machine_facts`
    pub(super) machine: String,
    /// what makes this machine another one
    pub(super) machine_facts: BTreeMap<String, String>,
    /// its kernel, which does not
    pub(super) kernel: Option<String>,
    /// the dyno that measured
    pub(super) dyno_version: String,
    /// the command that measured: run, load or race
    pub(super) made_by: MadeBy,
    /// the experiment's name, the race's servers, or what the load requested
    pub(super) experiment: String,
    /// a hash of the experiment's file and of its workloads', or of what the flags of a load or a race mean: figures of
    /// different plans are not alike
    pub(super) plan: String,
    /// whether times and rounds were shortened
    pub(super) is_quick: bool,
    /// the workload, and in which manner it was requested
    pub(super) workload: String,
    /// the server's name
    pub(super) subject: String,
    /// what its version command printed
    pub(super) version: String,
    /// the hash of what was built
    pub(super) build: String,
    /// the load: so many connections, or requests each second
    pub(super) point: f64,
    /// which of these
    pub(super) point_unit: String,
    /// the figure's name in figures.md
    pub(super) figure: String,
    /// its unit
    pub(super) unit: String,
    /// its value in each round
    pub(super) rounds: Vec<f64>,
    /// the row's value: what figures.md says of several rounds
    pub(super) value: f64,
    /// whether the true value is no less: requests were given up
    pub(super) is_bound: bool,
    /// dyno's own server in the same run, under the same load; null: there was none
    pub(super) reference: Option<String>,
    /// the same figure of that
    pub(super) reference_value: Option<f64>,
    /// of a race: its first server, if this is another one
    pub(super) first_side: Option<String>,
    /// the figure divided by that of the first server, as the race compares them: the geometric mean of the rounds'
    /// ratios
    pub(super) ratio_to_first: Option<f64>,
    /// of a race: how its command line named this server
    pub(super) side: Option<Side>,
    /// of a load or a race: the flags that make the same load; `…` stands for what is not written here
    pub(super) flags: Vec<String>,
    /// what the row is worth: valid, suspect or invalid
    #[schemars(extend("enum" = ["valid", "suspect", "invalid"]))]
    pub(super) verdict: String,
}

/// When a run measured, and what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct Measurement {
    /// when the run began: milliseconds since 1970
    pub(super) began_unix_ms: i64,
    /// the commit of the project's repository when the run began or was continued; null: it is in none
    pub(super) commit: Option<String>,
    /// whether the files of the repository differed from that commit
    pub(super) is_dirty: Option<bool>,
}

/// No text of a line is longer.
const LONGEST: usize = 1_000;

impl Line {
    /// What is wrong with it, although it is JSON with these fields.
    pub(super) fn wrong(&self) -> Option<String> {
        if self.schema != SCHEMA {
            return Some(format!(
                "its schema is `{}`, and not `{SCHEMA}`",
                self.schema.escape_debug()
            ));
        }
        let texts = [
            &self.machine,
            &self.dyno_version,
            &self.experiment,
            &self.plan,
            &self.workload,
            &self.subject,
            &self.build,
            &self.point_unit,
            &self.figure,
            &self.unit,
            &self.verdict,
        ];
        let texts =
            texts.into_iter().chain(&self.flags).chain(self.side.as_ref().map(|it| &it.text));
        let optional = [&self.run.commit, &self.kernel, &self.reference, &self.first_side];
        let facts = self.machine_facts.iter().flat_map(|(name, value)| [name, value]);
        let mut all = texts.chain(optional.into_iter().flatten()).chain(facts);
        if all.any(|text| LONGEST < text.len()) {
            return Some(format!("a text in it is longer than {LONGEST} bytes"));
        }
        let commit = self.run.commit.as_deref().unwrap_or_default();
        if !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Some(format!("`{}` is not a commit", commit.escape_debug()));
        }
        if !["valid", "suspect", "invalid"].contains(&self.verdict.as_str()) {
            return Some(format!("`{}` is not a verdict", self.verdict.escape_debug()));
        }
        wrong_flag(&self.flags)
    }

    /// Its place in the order of a history: by time, and where that is equal always the same.
    pub(super) fn order(&self) -> (i64, String) {
        (self.run.began_unix_ms, serde_json::to_string(self).unwrap_or_default())
    }
}
