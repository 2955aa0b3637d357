//! What the subjects present within TLS: one certificate for all of them.

use std::sync::Arc;

use lab::Refusal;
use lab::build::BuildCache;
use lab::experiment::Experiment;
use lab::identity::Identity;
use lab::manner::Protocol;
use machine::owned::WorkFolder;
use machine::process::Marker;

/// The certificate of all subjects, where TLS is spoken with any.
pub(super) fn identity(
    cache: &BuildCache,
    experiment: &Experiment,
) -> Result<Option<Arc<Identity>>, Refusal> {
    let is_secured = experiment.protocols().into_iter().any(Protocol::is_secured);
    is_secured.then(|| new_identity(cache).map(Arc::new)).transpose()
}

/// A certificate for the servers that this process starts.
pub fn new_identity(cache: &BuildCache) -> Result<Identity, Refusal> {
    let folder = cache.state.join("work");
    WorkFolder::create(&folder, &Marker::unique())
        .and_then(Identity::make)
        .map_err(|error| Refusal::at(&folder, error))
}
