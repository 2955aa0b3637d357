//! What a subject speaks, and the command that starts it for each protocol.

use super::{Manifest, Reader};
use crate::command::Command;
use crate::manner::Protocol;
use crate::source_file::ConfigError;
use crate::subject::unlisted::spoken_where_found;
use crate::subject::{RUN_HOLES, Starts, TLS_HOLES};

impl Reader<'_> {
    /// The commands of a server that is built: each protocol that it speaks has one.
    pub(super) fn starts(&self, run: &Command) -> Result<Starts, ConfigError> {
        let (source, Manifest { protocols, run_h2c, run_tls, .. }) = (self.source, self.manifest);
        let secured = protocols.iter().position(|it| it.is_secured());
        match (secured, run_tls) {
            (Some(at), None) => {
                let says = format!(
                    "`{}` needs the key `run_tls`, the command that starts the server with {{cert}} and {{key}}",
                    protocols[at]
                );
                return Err(source.wrong_at(&[&format!("protocols.{at}")], says));
            }
            (None, Some(_)) => {
                let says = "no protocol within TLS is declared; add it to `protocols`, or leave `run_tls` out";
                return Err(source.wrong_at(&["run_tls"], says));
            }
            _ => {}
        }
        if run_h2c.is_some() && !protocols.contains(&Protocol::H2c) {
            let says = "`protocols` does not name h2c; add it, or leave `run_h2c` out";
            return Err(source.wrong_at(&["run_h2c"], says));
        }
        source.check("run", [run], |command| command.has_only(&RUN_HOLES))?;
        source.check("run_h2c", run_h2c, |command| command.has_only(&RUN_HOLES))?;
        source.check("run_tls", run_tls, |command| command.has_only(&TLS_HOLES))?;
        Ok(Starts { run: run.clone(), run_h2c: run_h2c.clone(), run_tls: run_tls.clone() })
    }

    /// What it speaks: HTTP/1.1, if it says nothing. A server that runs already speaks what can be spoken where it is
    /// reached, and one that is started as its user starts it may speak anything: a run finds out.
    pub(super) fn protocols(&self) -> Result<Vec<Protocol>, ConfigError> {
        let Manifest { protocols, run, within, .. } = self.manifest;
        let possible = possible(self.manifest);
        for (at, protocol) in protocols.iter().enumerate() {
            let wrong =
                |says: String| Err(self.source.wrong_at(&[&format!("protocols.{at}")], says));
            if protocols[..at].contains(protocol) {
                return wrong(format!("`{protocol}` is given twice"));
            }
            if !possible.contains(protocol) {
                return wrong(impossible(*protocol, possible));
            }
        }
        let is_built = run.is_some() && within.is_none();
        Ok(match (protocols.is_empty(), is_built) {
            (false, _) => protocols.clone(),
            (true, true) => vec![Protocol::Http1],
            (true, false) => possible.to_vec(),
        })
    }
}

/// What can be spoken with a server at all.
fn possible(manifest: &Manifest) -> &'static [Protocol] {
    match (&manifest.url, &manifest.site) {
        (None, None) => &Protocol::ALL,
        (None, Some(site)) => spoken_where_found(site.tls.as_ref()),
        (Some(_), _) => &[Protocol::Http1, Protocol::H2c],
    }
}

/// Why this protocol cannot be spoken with a server that runs already.
fn impossible(protocol: Protocol, possible: &[Protocol]) -> String {
    let names: Vec<_> = possible.iter().map(ToString::to_string).collect();
    format!(
        "`{protocol}` cannot be spoken with this server, which runs already: where it is reached, {} can; a server that \
         `run` starts may speak any",
        names.join(" or ")
    )
}
