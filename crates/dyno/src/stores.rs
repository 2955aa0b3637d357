//! `--store` of the commands: the file that keeps the runs.

use std::path::{Path, PathBuf};

use archive::kept::store_of;
use campaign::project::Project;
use clap::Args;

use crate::session::StorePlace;
use crate::shell::Refusal;

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args, Default)]
pub(crate) struct StoreFlag {
    /// The file that keeps the runs [default: .dyno/runs.sqlite of the project, else ~/.local/state/dyno/runs.sqlite]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// The help of `--store` where what is measured is of no project.
pub(crate) const OF_USER: &str =
    "The file that keeps what is measured [default: dyno/runs.sqlite in the user's state folder]";

impl StoreFlag {
    pub(crate) fn named(&self) -> Option<&Path> {
        self.store.as_deref()
    }

    /// The flag, if it is given, with its file.
    pub(crate) fn given(&self) -> Option<(&'static str, &Path)> {
        self.named().map(|path| ("--store", path))
    }

    /// The store that is named, or the user's own.
    pub(crate) fn of_user(&self) -> Result<StorePlace, Refusal> {
        Ok(StorePlace::of(&Project::of_user()?, self.named()))
    }

    /// The store that is named, or the project's own, of which the folder is made.
    pub(crate) fn to_write(&self) -> Result<PathBuf, Refusal> {
        if let Some(path) = &self.store {
            return Ok(path.clone());
        }
        Ok(StorePlace::of(&Project::find()?, None).made()?.path)
    }

    /// The store's path, and the project that it is of, if there is one here.
    pub(crate) fn find(&self) -> Result<(Option<Project>, PathBuf), Refusal> {
        store_of(self.named())
    }
}
