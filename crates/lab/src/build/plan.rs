//! How something is built, and what comes of it.

use std::path::PathBuf;

use crate::command::Command;
use crate::need::Need;

/// How something is built, and in which environment.
#[derive(Clone, Debug, Default)]
pub struct BuildPlan {
    /// What must be there before it can be built and run.
    pub needs: Vec<Need>,
    /// Run once, in a copy of the folder.
    pub commands: Vec<Command>,
    /// Variables for these commands, and for a subject's others.
    pub env: Vec<(String, String)>,
    /// The user's variables that are passed on.
    pub passes: Vec<String>,
    /// What makes this build of it lie elsewhere than others, where there are several.
    pub salt: Option<String>,
}

/// A finished build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// Where it is, and where its commands run.
    pub folder: PathBuf,
    /// The hash that identifies it.
    pub hash: String,
}
