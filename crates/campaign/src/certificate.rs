//! What the subjects present within TLS: one certificate for all of them.

use std::sync::Arc;

use lab::Refusal;
use lab::build::BuildCache;
use lab::experiment::Experiment;
use lab::identity::Identity;
use lab::manner::Protocol;
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
    // Like a trial's folder, so that the next start removes it if this process is killed; no trial has this number.
    let folder = cache.state.join("work").join(Marker::new(u32::MAX).to_string());
    Identity::make(&folder).map_err(|error| Refusal::new(format!("{}: {error}", folder.display())))
}
