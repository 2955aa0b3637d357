//! Servers that are named on a command line, made into subjects: those of a race, or the one whose capacity is searched
//! for.

use std::time::Duration;

use campaign::project::Project;
use campaign::race::label::Label;
use campaign::race::side::Side;
use lab::manner::Protocol;
use lab::subject::{Site, Subject};
use lab::workload::Workload;
use requests::reach;
use requests::url::Endpoint;

use crate::order::flags::AskingFlags;
use crate::order::protocol::alpn;
use crate::order::tls::TlsFlags;
use crate::shell::Refusal;

/// What the flags want of every side.
pub(crate) struct Wanted<'f> {
    pub(crate) path: Option<&'f str>,
    pub(crate) asking: &'f AskingFlags,
    pub(crate) tls: &'f TlsFlags,
    /// How long a command may take until its first right answer.
    pub(crate) ready: Duration,
}

impl Wanted<'_> {
    /// The workload that subjects of a project have in common, where nothing else is asked for.
    pub(crate) fn standard(
        &self,
        sides: &[Side],
        project: Option<&Project>,
    ) -> Result<Option<Workload>, Refusal> {
        let Some(project) = project.filter(|_| self.path.is_none() && self.asking.is_usual())
        else {
            return Ok(None);
        };
        let refused = |error: lab::source_file::ConfigError| Refusal::new(error.to_string());
        let mut common = project.workloads();
        // `hello` is the one that nearly all subjects are made for.
        common.sort_by_key(|name| name != "hello");
        for side in sides {
            let Side::Named(name) = side else { return Ok(None) };
            let subject = Subject::read(&project.root, name).map_err(refused)?;
            common.retain(|workload| subject.answers(workload));
        }
        for name in common {
            let workload = Workload::read(&project.root, &name).map_err(refused)?;
            if !workload.is_held() && !workload.is_echo() {
                return Ok(Some(workload));
            }
        }
        Ok(None)
    }

    /// The path that is requested.
    pub(crate) fn target(&self) -> String {
        let path = self.path.unwrap_or_default();
        if path.starts_with('/') { path.into() } else { format!("/{path}") }
    }

    /// What takes part for this side.
    pub(crate) fn subject(
        &self,
        protocol: Protocol,
        (side, label): (&Side, &Label),
        workload: &str,
        project: Option<&Project>,
    ) -> Result<Subject, Refusal> {
        let refused = |error: lab::source_file::ConfigError| Refusal::new(error.to_string());
        let subject = match side {
            Side::Own { text, .. } => {
                let here = std::env::current_dir()
                    .map_err(|error| Refusal::new(format!("the current folder: {error}")))?;
                Subject::own(&label.name, &label.title, text, &here).map_err(Refusal::new)?
            }
            Side::Found(url) => {
                let Endpoint::Host(host, port) = &url.endpoint else {
                    return Err(Refusal::new("a server needs a port here; name http://host:port/"));
                };
                let address = reach::find(host, *port, self.asking.i_may_load_this_target)?;
                let target = if url.target == "/" { self.target() } else { url.target.clone() };
                let tls = match url.is_secure {
                    true => self.tls.offering(url, alpn(protocol))?,
                    false => None,
                };
                let site = Site {
                    address,
                    host: url.host_field.clone(),
                    target: Some(target),
                    tls: tls.map(|client| client.order().clone()),
                };
                Subject::found(&label.name, &label.title, site).map_err(Refusal::new)?
            }
            Side::Named(name) => {
                let root = project.map(|project| project.root.clone()).unwrap_or_default();
                Subject::read(&root, name).map_err(refused)?
            }
            Side::Folder(folder) => Subject::read_folder(folder).map_err(refused)?,
        };
        let subject = reach::located(subject, self.asking.i_may_load_this_target)?;
        Ok(match side {
            Side::Own { .. } => {
                Subject { ready: self.ready, speaks: vec![workload.into()], ..subject }
            }
            Side::Found(_) => Subject { speaks: vec![workload.into()], ..subject },
            Side::Named(_) | Side::Folder(_) => subject.racing(&label.name, &label.title, workload),
        })
    }
}

/// A command is to present dyno's certificate, so it must say where it takes the files.
pub(crate) fn refuse_without_files(sides: &[Side], protocol: Protocol) -> Result<(), Refusal> {
    let lacks = |text: &str| !text.contains("{cert}") || !text.contains("{key}");
    let command = sides.iter().find_map(|side| match side {
        Side::Own { text, .. } if lacks(text) => Some(text),
        Side::Own { .. } | Side::Found(_) | Side::Folder(_) | Side::Named(_) => None,
    });
    match command.filter(|_| protocol.is_secured()) {
        None => Ok(()),
        Some(text) => Err(Refusal::new(format!(
            "`{}`: to speak {} it must present the certificate that dyno makes; write {{cert}} and {{key}} where it takes \
             the two files",
            text.escape_debug(),
            protocol.title()
        ))),
    }
}
