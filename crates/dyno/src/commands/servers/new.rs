//! `dyno servers new`: writes a subject's file, and what it takes to measure it.

use std::fs;
use std::path::{Path, PathBuf};

use archive::keep;
use archive::page::near;
use campaign::project::{Project, unknown};
use campaign::race::side;
use clap::Args;
use lab::experiment::Experiment;
use lab::source_file::{ConfigError, SourceFile};
use lab::subject::{Location, Subject, is_file_name};
use lab::workload::Workload;
use requests::answer;
use wire::{BodyRule, StatusRule};

use crate::shell::{ExitStatus, Refusal, print};
use crate::sides::here;

/// Write a server of yours into the project: its subject.toml, its workload and an experiment
///
/// Where there is no project, the current folder becomes one. Nothing is overwritten, and nothing is run.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct NewFlags {
    /// The server's name: a-z, 0-9 and -
    name: String,
    /// The command that starts the server, in quotes; `{port}` in it is replaced by a free port
    #[arg(long, value_name = "COMMAND", conflicts_with = "url")]
    cmd: Option<String>,
    /// Where the server runs already, instead of a command: http://host:port
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// A workload of the project that it answers [a new one is written]
    #[arg(long, value_name = "NAME", conflicts_with_all = OF_A_NEW_WORKLOAD)]
    workload: Option<String>,
    /// The path that is requested
    #[arg(long, value_name = "PATH", default_value = "/")]
    path: String,
    /// The request's method [GET, or POST if there is a body]
    #[arg(short, long, value_name = "METHOD")]
    method: Option<String>,
    /// A header field of the request, 'Name: value'; may be given again
    #[arg(short = 'H', long, value_name = "FIELD", value_parser = answer::field)]
    header: Vec<(String, String)>,
    /// The request's body
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,
    /// The right status, or any [2xx]
    #[arg(long, value_name = "STATUS", value_parser = answer::status)]
    expect_status: Option<StatusRule>,
    /// The expected body: TEXT (with placeholders), @FILE, length:N or sha256:HEX
    #[arg(long, value_name = "BODY", allow_hyphen_values = true)]
    expect_body: Option<String>,
}

/// What a workload that is there already states itself.
const OF_A_NEW_WORKLOAD: [&str; 6] =
    ["path", "method", "header", "body", "expect_status", "expect_body"];

const AFTER_HELP: &str = "\
The command runs as you, in the current folder, with your environment, and without a shell, as in a race. That folder is \
written relative to the project, so that a copy of the project runs what lies in the copy. Every key of the files is in \
docs/subjects.md and docs/experiments.md.

Examples:
  dyno servers new my-server --cmd 'node server.js --port {port}' --path /hello
  dyno run my-server
  # a second server for the same requests; the experiment has all that answer them
  dyno servers new other --cmd './other -p {port}' --workload my-server
  # one that runs already
  dyno servers new staging --url http://10.0.0.7:8080 --workload my-server

Exit codes:
  0    written
  2    a file is there already, a flag does not fit, or the folder cannot be written to";

pub(super) fn run(flags: &NewFlags) -> Result<ExitStatus, Refusal> {
    let name = &flags.name;
    if !is_file_name(name) {
        let name = name.escape_debug();
        return Err(Refusal::new(format!("`{name}` is not a name; names are of a-z, 0-9 and -")));
    }
    let here = here()?;
    let project = Project::around();
    let is_new = project.is_none();
    let root = project.as_ref().map_or_else(|| here.clone(), |project| project.root.clone());
    if is_new {
        refuse_home(&here)?;
    }
    let files = files(flags, &root, &here, project.as_ref())?;
    write(&root, &files)?;
    print(&says(flags, &root, &files, is_new))
}

/// A project there would be in the way of all folders below it.
fn refuse_home(here: &Path) -> Result<(), Refusal> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match here.parent().is_none() || home.as_deref() == Some(here) {
        false => Ok(()),
        true => Err(Refusal::new(format!(
            "{}: in all folders below, this project would take the place of dyno's own servers; make a folder for \
             it: mkdir bench && cd bench",
            here.display()
        ))),
    }
}

/// The files to be written, each as its reader accepts it.
fn files(
    flags: &NewFlags,
    root: &Path,
    here: &Path,
    project: Option<&Project>,
) -> Result<Vec<SourceFile>, Refusal> {
    let name = &flags.name;
    let workload = flags.workload.as_ref().unwrap_or(name);
    let known = project.map(Project::workloads).unwrap_or_default();
    if flags.workload.is_some() && !known.contains(workload) {
        return Err(unknown("workload", workload, &known, "leave --workload out to write one"));
    }
    let refused = |error: ConfigError| Refusal::new(error.says());
    let text = manifest(flags, workload, (root, here))?;
    let subject = SourceFile { name: format!("subjects/{name}/subject.toml"), text };
    Subject::parse(root, name, &subject).map_err(refused)?;
    let mut files = vec![subject];
    if flags.workload.is_none() {
        let text = new_workload(flags)?;
        let made = SourceFile { name: format!("workloads/{name}.toml"), text };
        Workload::parse(name, made.clone()).map_err(refused)?;
        let text = experiment(name);
        let experiment = SourceFile { name: format!("experiments/{name}.toml"), text };
        Experiment::parse(name, experiment.clone()).map_err(refused)?;
        files.extend([made, experiment]);
    } else {
        Workload::read(root, workload)?;
    }
    Ok(files)
}

fn manifest(
    flags: &NewFlags,
    workload: &str,
    (root, here): (&Path, &Path),
) -> Result<String, Refusal> {
    let serving = match (&flags.cmd, &flags.url) {
        (Some(command), _) => {
            let refused = |says: &str| {
                let command = command.escape_debug();
                Err(Refusal::new(format!("--cmd '{command}': {says}")))
            };
            if side::is_address(command) || Path::new(command).is_dir() {
                return refused(
                    "this starts no server; write a command, or the address of a server that runs already as --url",
                );
            }
            if let Err(says) = side::command(command) {
                return refused(&format!("{says}; write what you would type to start the server"));
            }
            // Below the project, so that a copy of it runs what lies in the copy.
            let below = here.strip_prefix(root).unwrap_or(here);
            let below = if below.as_os_str().is_empty() { Path::new(".") } else { below };
            let below = below.to_str().ok_or_else(|| {
                Refusal::new("the current folder's name is not UTF-8; go to another folder")
            })?;
            format!(
                "# The command runs in this folder of the project, with all of your environment. {{port}} is a free port.\n\
                 in = {}\nrun = {}\n",
                quoted(below),
                quoted(command)
            )
        }
        (None, None) => {
            return Err(Refusal::new(format!(
                "new {0}: where is the server that is to be called `{0}`? Write how to start it, --cmd 'node server.js \
                 --port {{port}}', or where it runs already, --url http://localhost:8080",
                flags.name
            )));
        }
        (None, Some(url)) => {
            Location::parse(url).map_err(|says| Refusal::new(format!("--url {says}")))?;
            format!("# It runs already: dyno neither starts nor stops it.\nurl = {}\n", quoted(url))
        }
    };
    Ok(format!("title = {}\nspeaks = [{}]\n{serving}", quoted(&flags.name), quoted(workload)))
}

fn new_workload(flags: &NewFlags) -> Result<String, Refusal> {
    let body = flags.expect_body.as_deref();
    let expect = answer::expect(flags.expect_status, &[], body)?;
    let usual = if flags.body.is_some() { "POST" } else { "GET" };
    let method = flags.method.as_deref().unwrap_or(usual);
    let path = &flags.path;
    let path = if path.starts_with('/') { path.clone() } else { format!("/{path}") };
    let mut text = format!("title = {}\n\n[[ask]]\n", quoted(&format!("{method} {path}")));
    text += &format!("request = {}\n", quoted(&format!("{method} {path} HTTP/1.1")));
    if !flags.header.is_empty() {
        let fields = flags.header.iter();
        let fields: Vec<String> =
            fields.map(|(name, value)| format!("{} = {}", quoted(name), quoted(value))).collect();
        text += &format!("send_header = {{ {} }}\n", fields.join(", "));
    }
    if let Some(sent) = flags.body.as_ref().filter(|sent| !sent.is_empty()) {
        text += &format!("send = {}\n", quoted(sent));
    }
    text += &match expect.status {
        StatusRule::Success => String::new(),
        StatusRule::Any => "status = \"any\"\n".into(),
        StatusRule::Exactly(status) => format!("status = {status}\n"),
    };
    text += &match (&expect.body, body.filter(|text| !text.starts_with('@'))) {
        (BodyRule::Any | BodyRule::Meaning(_) | BodyRule::File(_), _) => String::new(),
        (BodyRule::Length(length), _) => format!("body_length = {length}\n"),
        (BodyRule::Sha256(digest), _) => format!("body_sha256 = \"{}\"\n", units::hex(digest)),
        (BodyRule::Exactly(_), Some(body)) => {
            format!("body = {}\n", quoted(body.strip_prefix("text:").unwrap_or(body)))
        }
        // Of a file, which need not be a text.
        (BodyRule::Exactly(file), None) => {
            let digest = wire::sha256(file.constant().unwrap_or_default());
            format!("body_sha256 = \"{}\"\n", units::hex(&digest))
        }
    };
    Ok(text)
}

/// A text as TOML writes it: as JSON does, except for one character.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

fn experiment(name: &str) -> String {
    format!(
        "question = {}\n# All servers that answer the workload; or name them: [\"{name}\", \"…\"]\nsubjects = \"all\"\n\
         workload = {}\n\n[load]\nclosed = {{ connections = 50 }}\nduration = \"10s\"\n\n[trials]\nrepeat = 5\n",
        quoted(&format!("How fast is {name}?")),
        quoted(name)
    )
}

/// Writes all of them, or none.
fn write(root: &Path, files: &[SourceFile]) -> Result<(), Refusal> {
    let paths: Vec<PathBuf> = files.iter().map(|file| root.join(&file.name)).collect();
    if let Some(there) = paths.iter().find(|path| fs::symlink_metadata(path).is_ok()) {
        return Err(Refusal::new(format!(
            "{} is there already, and nothing is overwritten; choose another name, or change that file",
            near(there)
        )));
    }
    let files = files.iter().map(|file| (file.name.as_str(), file.text.as_bytes(), false));
    keep::create(root, files)
        .map_err(|(path, error)| Refusal::new(format!("{}: {error}", near(&root.join(path)))))
}

fn says(flags: &NewFlags, root: &Path, files: &[SourceFile], is_new: bool) -> String {
    let mut text = String::from("written:\n");
    for file in files {
        text += &format!("  {}\n", near(&root.join(&file.name)));
    }
    if is_new {
        text += "this folder is a project now: here and below, dyno uses its servers instead of dyno's own (`dyno servers init \
                 DIR` writes those out)\n";
    }
    text += &match &flags.workload {
        None => format!("next: dyno run {}\n", flags.name),
        Some(workload) => format!(
            "next: dyno run EXPERIMENT --only {}, of an experiment with the workload {workload}\n",
            flags.name
        ),
    };
    text
}
