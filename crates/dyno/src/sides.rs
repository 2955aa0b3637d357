//! Servers that are named on a command line, made into subjects: those of a race, or the one whose capacity is searched
//! for.

use std::path::PathBuf;
use std::time::Duration;

use campaign::project::Project;
use campaign::race::label::Label;
use campaign::race::side::Side;
use clap::Args;
use lab::amounts;
use lab::experiment::Experiment;
use lab::manner::{Manner, Protocol};
use lab::subject::{Site, Subject};
use lab::workload::Workload;
use requests::reach;
use requests::url::Endpoint;
use serde::{Deserialize, Serialize};

use crate::generators::GeneratorFlags;
use crate::order;
use crate::order::flags::AskingFlags;
use crate::order::protocol::{ProtocolFlags, alpn};
use crate::order::tls::TlsFlags;
use crate::shell::Refusal;

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args, Serialize, Deserialize)]
pub(crate) struct CpuFlags {
    /// CPUs of the servers: 1,3 or 0-3 [what the experiment says, or half of them]
    #[arg(long, value_name = "LIST", value_parser = amounts::cpus)]
    pub(crate) server_cpus: Option<amounts::Cpus>,
    /// CPUs of the load [what the experiment says, or the other half]
    #[arg(long, value_name = "LIST", value_parser = amounts::cpus)]
    pub(crate) load_cpus: Option<amounts::Cpus>,
}

impl CpuFlags {
    /// The experiment with these CPUs in place of its own.
    pub(crate) fn given_to(&self, mut experiment: Experiment) -> Experiment {
        let conditions = &mut experiment.conditions;
        conditions.subject_cpus = self.server_cpus.clone().or(conditions.subject_cpus.take());
        conditions.load_cpus = self.load_cpus.clone().or(conditions.load_cpus.take());
        experiment
    }
}

// No sentence for readers of the help: clap would take it for the command's own.
#[derive(Args, Serialize, Deserialize)]
#[command(next_help_heading = "The request and the expected answer")]
pub(crate) struct SideFlags {
    /// The path that is requested; a URL may have its own [/; for a server of subjects/, that of its workload]
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    #[command(flatten)]
    pub(crate) asking: AskingFlags,
    /// How long a server may take from its start to its first correct answer
    #[arg(long, value_name = "TIME", value_parser = amounts::time, default_value = "30s")]
    pub(crate) ready: Duration,
    /// Start each server in a network namespace of its own
    #[arg(long)]
    pub(crate) isolate: bool,
    #[command(flatten, next_help_heading = "HTTP/2 and TLS")]
    pub(crate) protocol: ProtocolFlags,
    #[command(flatten)]
    pub(crate) tls: TlsFlags,
    #[command(flatten, next_help_heading = "CPUs and other machines")]
    pub(crate) cpus: CpuFlags,
    #[command(flatten)]
    pub(crate) generators: GeneratorFlags,
}

impl SideFlags {
    /// How the sides are spoken to; flags of TLS are refused where they change nothing.
    pub(crate) fn manner(&self, sides: &[Side]) -> Result<Manner, Refusal> {
        let urls: Vec<_> = sides.iter().filter_map(Side::url).collect();
        let manner = self.protocol.manner(&urls, sides.len(), self.tls.tls_resume.percent())?;
        if urls.is_empty() && manner.protocol.is_secured() {
            self.tls.refuse_for_started()?;
        } else {
            self.tls.refuse_without(&urls)?;
        }
        refuse_without_files(sides, manner.protocol)?;
        Ok(manner)
    }

    /// What is requested: what the flags say, or what the subjects of a project have in common.
    pub(crate) fn workload(
        &self,
        sides: &[Side],
        project: Option<&Project>,
        name: &'static str,
    ) -> Result<Workload, Refusal> {
        match self.standard(sides, project)? {
            Some(workload) => Ok(workload),
            None => order::workload::workload(&self.asking, self.target(), name),
        }
    }

    /// The workload that subjects of a project have in common, where nothing else is asked for.
    fn standard(
        &self,
        sides: &[Side],
        project: Option<&Project>,
    ) -> Result<Option<Workload>, Refusal> {
        let Some(project) = project.filter(|_| self.path.is_none() && self.asking.is_usual())
        else {
            return Ok(None);
        };
        let mut common = project.workloads();
        // `hello` is the one that nearly all subjects are made for.
        common.sort_by_key(|name| name != "hello");
        for side in sides {
            let Side::Named(name) = side else { return Ok(None) };
            let subject = Subject::read(&project.root, name)?;
            common.retain(|workload| subject.answers(workload));
        }
        for name in common {
            let workload = Workload::read(&project.root, &name)?;
            if !workload.is_held() && !workload.is_echo() {
                return Ok(Some(workload));
            }
        }
        Ok(None)
    }

    /// The path that is requested.
    pub(crate) fn target(&self) -> String {
        let path = self.path.as_deref().unwrap_or_default();
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
        let subject = match side {
            Side::Own { text, .. } => {
                Subject::own(&label.name, &label.title, text, &here()?).map_err(Refusal::new)?
            }
            Side::Found(url) => {
                let Endpoint::Host(host, port) = &url.endpoint else {
                    return Err(Refusal::new("a server needs a port here; name http://host:port/"));
                };
                let address = reach::find(host, *port, self.asking.owner.i_may_load_this_target)?;
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
                Subject::read(&root, name)?
            }
            Side::Folder(folder) => Subject::read_folder(folder)?,
        };
        let subject = reach::located(subject, self.asking.owner.i_may_load_this_target)?;
        Ok(match side {
            Side::Own { .. } => {
                Subject { ready: self.ready, speaks: vec![workload.into()], ..subject }
            }
            Side::Found(_) => Subject { speaks: vec![workload.into()], ..subject },
            Side::Named(_) | Side::Folder(_) => subject.racing(&label.name, &label.title, workload),
        })
    }
}

/// The current folder.
pub(crate) fn here() -> Result<PathBuf, Refusal> {
    std::env::current_dir().map_err(|error| Refusal::new(format!("the current folder: {error}")))
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
            protocol.meaning()
        ))),
    }
}
