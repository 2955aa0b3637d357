//! A subject as it takes part: under another name, or where its URL leads.

use std::net::SocketAddr;

use super::{Serving, Site, Subject};
use crate::source_file::SourceFile;

impl Subject {
    /// The subject under another name and title, answering this workload.
    #[must_use]
    pub fn racing(self, name: &str, title: &str, workload: &str) -> Subject {
        let mut speaks = self.speaks;
        speaks.push(workload.into());
        let path = format!("subjects/{name}/subject.toml");
        let source = SourceFile { name: path, ..self.source };
        Subject { name: name.into(), title: title.into(), speaks, source, ..self }
    }

    /// The subject once it is known where its URL leads. What dyno cannot do for it stands in its notes.
    #[must_use]
    pub fn found_at(self, address: SocketAddr) -> Subject {
        let Serving::ByUrl(location) = self.serving else { return self };
        let says = format!(
            "runs already, at {address}: the same processes answer in all rounds, with no CPUs and no limit of dyno's"
        );
        let notes = [self.notes, says].into_iter().filter(|text| !text.is_empty());
        let notes = notes.collect::<Vec<_>>().join("; ");
        let site = Site { address, host: location.authority, target: None, tls: None };
        Subject { serving: Serving::Found(site), notes, ..self }
    }
}
