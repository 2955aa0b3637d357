//! What a subject speaks, and the command that starts it for each protocol.

use toml::Spanned;

use super::{Manifest, Reader, command};
use crate::manner::{Protocol, unknown_protocol};
use crate::source_file::ConfigError;
use crate::subject::unlisted::spoken_where_found;
use crate::subject::{RUN_HOLES, Starts, TLS_HOLES};

impl Reader<'_> {
    /// The commands of a server that is built: each protocol that it speaks has one.
    pub(super) fn starts(&self, run: &Spanned<String>) -> Result<Starts, ConfigError> {
        let (source, manifest) = (self.source, self.manifest);
        let protocols = self.protocols()?;
        let has = |wanted: fn(&Protocol) -> bool| protocols.iter().any(wanted);
        let secured = manifest.protocols.iter().find(|it| is_secured(it.get_ref()));
        match (secured, &manifest.run_tls) {
            (Some(name), None) => {
                let says = format!(
                    "`{}` needs the key `run_tls`, the command that starts the server with {{cert}} and {{key}}",
                    name.get_ref()
                );
                return Err(source.wrong_here(name, says));
            }
            (None, Some(idle)) => {
                let says = "no protocol within TLS is declared; add it to `protocols`, or leave `run_tls` out";
                return Err(source.wrong_here(idle, says));
            }
            _ => {}
        }
        if let Some(idle) = manifest.run_h2c.as_ref().filter(|_| !has(|it| *it == Protocol::H2c)) {
            let says = "`protocols` does not name h2c; add it, or leave `run_h2c` out";
            return Err(source.wrong_here(idle, says));
        }
        Ok(Starts {
            run: source.text(run, |text| command(text, &RUN_HOLES))?,
            run_h2c: source.some_text(&manifest.run_h2c, |text| command(text, &RUN_HOLES))?,
            run_tls: source.some_text(&manifest.run_tls, |text| command(text, &TLS_HOLES))?,
        })
    }

    /// What it speaks: HTTP/1.1, if it says nothing. A server that runs already speaks what can be spoken where it is
    /// reached, and one that is started as its user starts it may speak anything: a run finds out.
    pub(super) fn protocols(&self) -> Result<Vec<Protocol>, ConfigError> {
        let manifest = self.manifest;
        let mut protocols = Vec::new();
        for name in &manifest.protocols {
            let protocol = Protocol::named(name.get_ref())
                .ok_or_else(|| self.source.wrong_here(name, unknown_protocol(name.get_ref())))?;
            if protocols.contains(&protocol) {
                return Err(self.source.wrong_here(name, format!("`{protocol}` is given twice")));
            }
            if !possible(manifest).contains(&protocol) {
                return Err(self.source.wrong_here(name, impossible(protocol, possible(manifest))));
            }
            protocols.push(protocol);
        }
        let is_built = manifest.run.is_some() && manifest.within.is_none();
        Ok(match (protocols.is_empty(), is_built) {
            (false, _) => protocols,
            (true, true) => vec![Protocol::Http1],
            (true, false) => possible(manifest).to_vec(),
        })
    }
}

/// What can be spoken with a server at all.
fn possible(manifest: &Manifest) -> &'static [Protocol] {
    match (&manifest.url, &manifest.site) {
        (None, None) => &Protocol::ALL,
        (None, Some(site)) => spoken_where_found(site.get_ref().tls.as_ref()),
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

fn is_secured(name: &str) -> bool {
    Protocol::named(name).is_some_and(Protocol::is_secured)
}
