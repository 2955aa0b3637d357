//! `dyno runs repeat`: a stranger's run, built from its public file alone and measured here.

mod checked;

use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::BuildHasher;
use std::io::{self, BufRead, IsTerminal, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use ::report::dry_run;
use ::report::run::{Compared, RowRepeated, Side, repeated_in_short};
use analysis::Gate;
use archive::keep;
use archive::kept::{findings, kept};
use campaign::project::Project;
use campaign::{Admitted, Campaign, Ended};
use clap::Args;
use lab::build::give_to_caller;
use lab::probe::Probe;
use machine::owned::WorkFolder;
use machine::process::Marker;
use public::{PublicRun, REPEATS};
use sha2::{Digest, Sha256};
use store::RunId;
use terminal::progress;
use units::{counted, duration, visible};

use super::publishing::public_run;
use crate::commands::run::dry;
use crate::session::{Session, StorePlace, fact, interrupted_early, weighed};
use crate::shell::{ExitStatus, Found, Refusal, print, status};
use crate::stores::StoreFlag;

/// Build the servers of a public file from the file alone, run its experiment here, and compare
///
/// The file's commands run on this machine, as you, without a sandbox: --show prints them all and runs none.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RepeatFlags {
    /// A file that `dyno runs export --public` wrote
    file: PathBuf,
    /// Print every command, and every file with its hash, and run nothing
    #[arg(long)]
    show: bool,
    /// Run its commands without asking: the id of the file whose commands you have read
    #[arg(long, value_name = "ID", conflicts_with = "show")]
    i_have_read: Option<String>,
    /// Run its commands as root
    #[arg(long)]
    as_root: bool,
    /// Write the repetition into a public file, too
    #[arg(short, long, value_name = "FILE", conflicts_with = "show")]
    output: Option<PathBuf>,
    #[command(flatten)]
    store: StoreFlag,
}

const AFTER_HELP: &str = "\
The files of the run are written into a folder of their own, its servers are built there, and the experiment is run with \
a new seed; the folder is removed at the end. Nothing is installed, and only servers that dyno started are loaded. A row \
is repeated if neither throughput, nor p99, nor CPU time for each answer is shown to differ. At a terminal the first \
eight digits of the file's id are asked for before anything runs.

Examples:
  # every command and file; nothing is run
  dyno runs repeat run.dyno --show
  # without a terminal: the id is that of the file that was read
  dyno runs repeat run.dyno --i-have-read ID -o repetition.dyno

Exit codes:
  0    every row was repeated
  1    a row was not repeated
  2    it cannot be repeated from this file or on this machine, or a row could not be compared
  130  interrupted";

pub(super) fn run(flags: &RepeatFlags) -> Result<ExitStatus, Refusal> {
    if let Some(output) = &flags.output {
        keep::check("--output", output)?;
        if fs::symlink_metadata(output).is_ok() {
            let says =
                format!("--output {}: it is there already; name a new file", output.display());
            return Err(Refusal::new(says));
        }
    }
    let file = &flags.file;
    let run = super::verify::read(file)?;
    let within = |refusal: Refusal| Refusal::new(format!("{}: {refusal}", file.display()));
    let around = Project::find()?;
    let folder = folder(&around)?;
    let campaign = campaign(&run, folder.path(), &around).map_err(within)?;
    let shown = shown(&run, &campaign)?;
    if flags.show {
        return print(&shown);
    }
    if rustix::process::geteuid().is_root() && !flags.as_root {
        return Err(Refusal::new(
            "the commands of a stranger's file would run as root; run this as another user, or give --as-root",
        ));
    }
    agreed(&run, flags.i_have_read.as_deref(), || typed(&summary(&run, &campaign)))?;
    repeat(flags, &run, &campaign)
}

/// A folder that only this user may enter, and that the next dyno removes if this one is killed.
fn folder(around: &Project) -> Result<WorkFolder, Refusal> {
    let parent = around.work().join("work");
    private_folder(&parent).map_err(|error| Refusal::at(&parent, error))
}

fn private_folder(parent: &Path) -> io::Result<WorkFolder> {
    lab::build::make_folder(parent)?;
    let folder = WorkFolder::create(parent, &Marker::unique())?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700))?;
    Ok(folder)
}

/// The run's experiment with another seed, in a project of the run's files.
fn campaign(run: &PublicRun, root: &Path, around: &Project) -> Result<Campaign, Refusal> {
    let seed = loop {
        let seed = RandomState::new().hash_one(std::process::id()) >> 32;
        if seed != run.record.seed {
            break seed;
        }
    };
    let experiment = checked::experiment(&run.record, seed)?;
    checked::write(&run.record, root)?;
    let project = Project::in_folder(root.to_path_buf(), around);
    give_to_caller(&project.cache()?.variables, root).map_err(|error| Refusal::at(root, error))?;
    let is_unchecked = run.record.facts.iter().any(|it| it.name == lab::conformance::LEFT_OUT);
    let campaign = Campaign::read(project, experiment)
        .map_err(|refusal| checked::not_from_this_file(refusal.to_string()))?;
    checked::refuse_foreign(&run.record, &campaign)?;
    Ok(if is_unchecked { campaign.without_check() } else { campaign })
}

/// Every command, and every file with its hash.
fn shown(run: &PublicRun, campaign: &Campaign) -> Result<String, Refusal> {
    let resources = weighed(campaign)?;
    let mut dry = dry(campaign, &resources);
    // The folder is another one each time.
    dry.members.iter_mut().for_each(|member| member.folder = None);
    let mut text = format!("id {}\n\n{}", run.id, dry_run::text(&dry));
    let subjects = campaign.members.iter().filter_map(|member| member.subject.as_ref().ok());
    let probes: BTreeSet<&str> = subjects.filter_map(|subject| subject.probe.as_deref()).collect();
    for name in probes {
        let probe = Probe::read(&campaign.project.root, name)?;
        let commands =
            probe.plan.commands.iter().map(|command| format!("    build    {command}\n"));
        let variables =
            probe.env.iter().map(|(name, value)| format!("    gives    {name}={value}\n"));
        let lines: String = commands.chain(variables).collect();
        text.push_str(&format!("\nProbe {name}\n{}", visible(&lines)));
    }
    text.push_str("\nFiles: SHA-256, bytes and path\n");
    for (path, content) in &run.record.files {
        let hash = units::hex(&Sha256::digest(content));
        text.push_str(&format!("  {hash} {:>7} {}\n", content.len(), visible(path)));
    }
    Ok(text)
}

/// What the user is asked to agree to.
fn summary(run: &PublicRun, campaign: &Campaign) -> String {
    let servers: Vec<&str> = campaign.members.iter().map(|member| member.name.as_str()).collect();
    let time = checked::time(&campaign.experiment, servers.len()).as_secs().max(1);
    format!(
        "this builds and runs what a stranger's file says, as you, without a sandbox; --show prints every command:\n  \
         `{}`: {}; trials of about {}\nid {}\ntype the first 8 digits of the id to go on, anything else to run nothing:",
        campaign.experiment.name,
        servers.join(", "),
        duration(Duration::from_secs(time)),
        run.id,
    )
}

/// Asks at the terminal, if there is one, for the start of the id.
fn typed(summary: &str) -> Option<String> {
    if !io::stdin().is_terminal() || !terminal::stderr_is_live() {
        return None;
    }
    terminal::notice(summary);
    let mut line = String::new();
    let read = io::BufReader::new(io::stdin().lock().take(200)).read_line(&mut line);
    read.ok().map(|_| line.trim().to_string())
}

/// Refuses unless somebody has agreed to run what this file says: by its id, whole or as far as addresses carry it, or by
/// what they typed.
fn agreed(
    run: &PublicRun,
    read: Option<&str>,
    typed: impl FnOnce() -> Option<String>,
) -> Result<(), Refusal> {
    let says = match read {
        Some(id) if id == run.id || id == run.short_id() => return Ok(()),
        Some(_) => {
            "--i-have-read: this file has another id; read what it runs with --show, which prints its id"
        }
        None => match typed() {
            Some(typed) if typed == run.id[..8] => return Ok(()),
            Some(_) => "these are not the first 8 digits of its id: nothing was run",
            None => {
                "its commands run on this machine, and there is no terminal to ask at; read them with --show, and give \
                 the id that it prints: --i-have-read ID"
            }
        },
    };
    Err(Refusal::new(says))
}

/// No repetition takes longer than twice what its trials are expected to take, and so much for builds and checks.
const BESIDES: Duration = Duration::from_secs(2 * 3_600);

fn repeat(
    flags: &RepeatFlags,
    run: &PublicRun,
    campaign: &Campaign,
) -> Result<ExitStatus, Refusal> {
    let place = StorePlace::of(&campaign.project, flags.store.named());
    let mut session = Session::open(&campaign.project, place)?;
    let most = checked::time(&campaign.experiment, campaign.members.len()) * 2 + BESIDES;
    let halt = Arc::clone(&session.halt);
    thread::spawn(move || {
        thread::sleep(most);
        terminal::notice(
            "dyno: the repetition takes far longer than its trials should: it is ended",
        );
        halt.ask();
    });
    let by = weighed(campaign)?;
    let admitted = Admitted::of(campaign, by, &session.halt, &mut progress::admitting)?;
    let Some(admitted) = admitted else { return Ok(interrupted_early()) };
    let mut record = admitted.record(campaign);
    record.facts.push(fact(REPEATS, &run.id));
    if record.plan.is_empty() {
        return Err(Refusal::new(
            "no server of the file could be built here (see above): it cannot be repeated on this machine",
        ));
    }
    let id = session.keeping.begin(&record)?;
    terminal::notice(&format!(
        "run {id} repeats `{}`, with seed {}: {}",
        visible(&record.name),
        record.seed,
        counted(record.plan.len() as u64, "trial", "trials")
    ));
    match session.measure(campaign, &admitted, (&record, id))? {
        Ended::Interrupted => {
            terminal::notice(&format!(
                "dyno: interrupted; what run {id} has measured is kept, and it cannot be continued"
            ));
            return Ok(ExitStatus::Interrupted);
        }
        Ended::Done => {}
    }
    if let Some(output) = &flags.output {
        let (repetition, _) = public_run(session.store(), id, Some(&campaign.project))?;
        let bytes =
            repetition.write(false).map_err(|says| Refusal::new(format!("run {id}: {says}")))?;
        keep::write_for("--output", output, bytes)?;
    }
    compared(&session, run, id)
}

/// Says row by row whether it was repeated.
fn compared(session: &Session, run: &PublicRun, id: RunId) -> Result<ExitStatus, Refusal> {
    let loaded = kept(session.store(), id)?;
    let (original, repetition) = (run.findings(), findings(session.store(), id, &loaded));
    let [a, b] = [&original, &repetition].map(|findings| Side { findings, subject: None });
    // Any difference counts, in either direction.
    let rows = Compared::of(a, b, Gate { tolerance: 0.0, figure: None }).repeated();
    let shown = |kind| match kind {
        RowRepeated::Yes => "repeated",
        RowRepeated::No => "not repeated",
        RowRepeated::CannotTell => "cannot tell",
    };
    let mut text = String::from(
        "Each figure of the repetition, divided by that of the file, with the interval that decides:\n",
    );
    for (kind, says) in &rows {
        text.push_str(&format!("  {}: {}\n", shown(*kind), visible(says)));
    }
    let (all, option) = (repeated_in_short(&rows), session.store_option());
    text.push_str(&format!("{all}; `dyno report {id}{option}` shows the repetition\n"));
    print(&text)?;
    Ok(status(Found {
        is_interrupted: false,
        has_failed: rows.iter().any(|(kind, _)| *kind == RowRepeated::No),
        is_unknown: rows.is_empty() || rows.iter().any(|(kind, _)| *kind != RowRepeated::Yes),
    }))
}

#[cfg(test)]
mod tests;
