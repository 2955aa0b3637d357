//! The ceiling of a race: dyno's own server gives the sides' answer, and shows how far the load and the machine come.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use campaign::Campaign;
use lab::command::shown;
use lab::record::Check;
use lab::subject::{Subject, Tier};
use machine::owned::WorkFolder;
use machine::process::Marker;
use wire::{BodyRule, Expect};

use crate::shell::Refusal;

/// The file that the server answers with, in a folder of its own; both are removed in the end.
pub(crate) struct Ceiling {
    _folder: WorkFolder,
    pub(crate) subject: Subject,
}

/// No more of an answer is kept than this, so that a longer one is not known.
const KEPT: u64 = 64 << 10;

/// Whether each answer must have this same body.
pub(crate) fn is_fixed(expect: &Expect) -> bool {
    match &expect.body {
        BodyRule::Any | BodyRule::Length(_) | BodyRule::Meaning(_) | BodyRule::File(_) => false,
        BodyRule::Exactly(template) => template.constant().is_some(),
        BodyRule::Sha256(_) => true,
    }
}

impl Ceiling {
    /// A server that gives this answer to every request; none if the answer is not whole, or has no body.
    /// It listens on this address, as the sides that dyno starts do.
    pub(crate) fn of(
        campaign: &Campaign,
        first: &Check,
        address: IpAddr,
    ) -> Result<Option<Ceiling>, Refusal> {
        if KEPT <= first.head_len + first.rest_len || first.head_len == 0 {
            return Ok(None);
        }
        let head = &first.response[..first.head_len as usize];
        let reply = [head, &first.content()].concat();
        if oracle::Reply::parse(&reply).is_err() {
            return Ok(None);
        }
        let work = campaign.project.work().join("work");
        let refused = |error: std::io::Error| Refusal::at(&work, error);
        let folder = WorkFolder::create(&work, &Marker::unique()).map_err(refused)?;
        let path = folder.path().join("reply");
        fs::write(&path, reply).map_err(refused)?;
        let is_secured = campaign.experiment.manners[0].protocol.is_secured();
        let command = command(&campaign.cache.dyno, &path, is_secured, address);
        let Some(command) = command else { return Ok(None) };
        // No side has such a name: see `label`.
        let (name, title) = ("dyno--oracle", "dyno's own server");
        let subject = Subject::own(name, title, &command, Path::new("/")).map_err(Refusal::new)?;
        let speaks = vec![campaign.workloads[0].name.clone()];
        let subject = Subject { tier: Tier::Reference, speaks, ..subject };
        Ok(Some(Ceiling { _folder: folder, subject }))
    }
}

/// As a manifest writes it; none if a path is no text.
fn command(dyno: &Path, reply: &Path, is_secured: bool, address: IpAddr) -> Option<String> {
    // A command that is no subject of a project has no `{address}`.
    let listen = match address {
        IpAddr::V4(address) => format!("{address}:{{port}}"),
        IpAddr::V6(address) => format!("[{address}]:{{port}}"),
    };
    let plain = [dyno.to_str()?, "serve", "--listen", &listen, "--reply", reply.to_str()?];
    let secured = ["--tls", "--cert", "{cert}", "--key", "{key}"];
    let secured = if is_secured { &secured[..] } else { &[] };
    let words: Vec<String> = plain.iter().chain(secured).map(|&word| word.into()).collect();
    Some(shown(&words))
}
