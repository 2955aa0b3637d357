//! How each kind of carrier is started.

use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::child::plain;
use crate::allow::Allowed;
use crate::identity::{OWN_PROGRAM, machine_name};
use crate::place::Nats;

/// A carrier that can be started.
pub(crate) enum Start {
    /// A process of this machine, with these flags beside those of every agent here.
    Local {
        program: PathBuf,
        flags: &'static [&'static str],
    },
    /// With the flags that the agent gets where ssh may start any command.
    Ssh {
        host: String,
        digest: String,
        flags: String,
    },
    Slurm {
        program: PathBuf,
        node: String,
        targets: Vec<SocketAddr>,
    },
    Nats {
        program: PathBuf,
        nats: Nats,
    },
}

/// A host that does not answer is given up, and a line that is dead is noticed; no password is asked for.
const SSH_OPTIONS: [&str; 5] = [
    "-T",
    "-oBatchMode=yes",
    "-oConnectTimeout=10",
    "-oServerAliveInterval=2",
    "-oServerAliveCountMax=3",
];
/// How long agents and a broker may let themselves be waited for, seconds.
const NATS_WAIT: &str = "30";

impl Start {
    pub(super) fn ssh(host: &str, digest: &str, targets: &[SocketAddr]) -> Start {
        let flags = targets
            .iter()
            .map(|&target| format!(" --allow \"{}\"", Allowed::only(target)))
            .collect();
        Start::Ssh { host: host.into(), digest: digest.into(), flags }
    }

    /// An agent that runs servers; it trusts what it is sent, as this side could start any command there.
    pub(crate) fn ssh_servers(host: &str, digest: &str) -> Start {
        let flags = " --servers --trust-all".into();
        Start::Ssh { host: host.into(), digest: digest.into(), flags }
    }

    /// The command, with its pipes.
    pub(super) fn command(&self) -> Command {
        let mut command = match self {
            Start::Local { program, flags } => {
                let mut command = Command::new(program);
                command.args(["agents", "run", "--stdio", "--local"]).args(*flags);
                command
            }
            Start::Ssh { host, digest, flags } => ssh(host, &run_script(digest, flags)),
            Start::Slurm { program, node, targets } => {
                let mut command = Command::new("srun");
                command.args(["--overlap", "-N1", "-n1", "--unbuffered", "--cpu-bind=none"]);
                command.args(["--kill-on-bad-exit=0", "--wait=0", "-w", node]);
                command.arg(program).args(["agents", "run", "--stdio"]);
                for &target in targets {
                    command.arg("--allow").arg(Allowed::only(target).to_string());
                }
                command
            }
            Start::Nats { program, nats } => {
                let mut command = Command::new(program);
                command.args(["coordinator", "--url", &nats.url, "--lab", &nats.lab]);
                command.args(["--agents", &nats.agents.join(","), "--wait", NATS_WAIT]);
                let files =
                    [("--keys", &nats.keys), ("--key-file", &nats.key_file), ("--ca", &nats.ca)];
                for (flag, path) in files {
                    path.iter().for_each(|path| {
                        command.arg(flag).arg(path);
                    });
                }
                command
            }
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A terminal's Ctrl-C would end ssh and srun, and with them what they carry, before dyno has its results.
        if !matches!(self, Start::Local { .. }) {
            command.process_group(0);
        }
        command
    }

    /// Why it could not be started.
    pub(super) fn unstarted(&self, error: &io::Error) -> String {
        let (program, need) = match self {
            Start::Local { program, .. } => (program.display().to_string(), ""),
            Start::Ssh { .. } => ("ssh".into(), "; install an ssh client"),
            Start::Slurm { .. } => ("srun".into(), "; this is not a node of a Slurm cluster"),
            Start::Nats { program, .. } => {
                (program.display().to_string(), "; dyno-nats belongs beside dyno")
            }
        };
        format!("{program} cannot be started: {error}{need}")
    }

    /// How its process ended, with what it complained of. ssh has an exit status for what itself could not do.
    pub(super) fn ended(&self, how: &str, complaint: &str, was_heard: bool) -> String {
        let is_unreached = !was_heard && how.ends_with("exit status 255");
        match (self, complaint) {
            (_, "") => how.into(),
            (Start::Ssh { .. }, says) if is_unreached => {
                format!("ssh did not reach it: {}", says.strip_prefix("ssh: ").unwrap_or(says))
            }
            (_, says) => format!("{how}: {says}"),
        }
    }

    /// What copies this program to a host that has none of its hash.
    pub(super) fn copy(&self, system: &str, machine: &str) -> Result<Command, String> {
        let Start::Ssh { host, digest, .. } = self else {
            return Err("it has no dyno".into());
        };
        if (system, machine) != ("Linux", &machine_name()) {
            return Err(format!(
                "it is {} on {}, and this dyno is for Linux on {}: use a host of the same kind",
                plain(system),
                plain(machine),
                machine_name()
            ));
        }
        let failed = |error: io::Error| not_copied(&error.to_string());
        let program = File::open(OWN_PROGRAM).map_err(failed)?;
        let length = program.metadata().map_err(failed)?.len();
        let mut command = ssh(host, &copy_script(digest, length));
        command.process_group(0);
        command.stdin(program).stdout(Stdio::null()).stderr(Stdio::piped());
        Ok(command)
    }
}

pub(super) fn not_copied(why: &str) -> String {
    format!("dyno cannot be copied to it: {why}")
}

fn ssh(host: &str, script: &str) -> Command {
    let mut command = Command::new("ssh");
    // Whatever shell the user has there, this is for a POSIX shell. It has no apostrophe.
    command.args(SSH_OPTIONS).arg("--").arg(host).arg(format!("exec sh -c '{script}'"));
    command
}

const FOLDER: &str = "d=${XDG_CACHE_HOME:-$HOME/.cache}/dyno/agent";

/// Becomes the dyno of this hash, or says what the host is.
fn run_script(digest: &str, flags: &str) -> String {
    format!(
        "{FOLDER}; f=$d/{digest}; if [ -x \"$f\" ]; then exec \"$f\" agents run --stdio{flags}; fi; \
         echo dyno-agent missing $(uname -s) $(uname -m)"
    )
}

/// Writes standard input to a file, and gives it its name only if all of it is there.
fn copy_script(digest: &str, length: u64) -> String {
    format!(
        "umask 077; {FOLDER}; t=$d/.{digest}.$$; mkdir -p \"$d\" && cat >\"$t\" && \
         [ $(wc -c <\"$t\") -eq {length} ] && chmod 700 \"$t\" && mv -f \"$t\" \"$d/{digest}\" || \
         {{ rm -f \"$t\"; exit 1; }}"
    )
}

/// The nodes of the Slurm job in which this runs, without its own.
pub(crate) fn nodes_of_job() -> Result<Vec<String>, String> {
    if std::env::var_os("SLURM_JOB_ID").is_none() {
        return Err("slurm: this is not a job of Slurm; `dyno agents slurm` writes one".into());
    }
    let listed = Command::new("scontrol").args(["show", "hostnames"]).output();
    let listed = listed.map_err(|error| format!("slurm: scontrol cannot be started: {error}"))?;
    let own = std::env::var("SLURMD_NODENAME").unwrap_or_default();
    let text = String::from_utf8_lossy(&listed.stdout);
    let names = text.lines().map(str::trim).filter(|name| !name.is_empty() && *name != own);
    match names.map(String::from).collect::<Vec<_>>() {
        names if names.is_empty() => {
            Err("slurm: the job has no node beside this one; ask for one more with --nodes".into())
        }
        names => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_runs_is_for_any_shell_and_names_only_what_is_ours() {
        let targets = ["10.0.0.1:80".parse().unwrap(), "[fd00::1]:443".parse().unwrap()];
        let command = Start::ssh("me@desk2", "abc", &targets).command();
        let words: Vec<_> = command.get_args().map(|word| word.to_string_lossy()).collect();
        let [.., dashes, host, script] = &words[..] else { panic!("{words:?}") };
        assert_eq!((dashes.as_ref(), host.as_ref()), ("--", "me@desk2"));
        assert_eq!(script.matches('\'').count(), 2, "{script}");
        assert!(script.starts_with("exec sh -c '"), "{script}");
        let flags =
            r#" agents run --stdio --allow "10.0.0.1/32:80-80" --allow "[fd00::1]/128:443-443";"#;
        assert!(script.contains(flags), "{script}");
        let ssh = Start::ssh("desk2", "", &[]);
        let ended = |says, was_heard| ssh.ended("it ended: exit status 255", says, was_heard);
        assert_eq!(ended("ssh: no such host", false), "ssh did not reach it: no such host");
        assert_eq!(ended("ssh: lost", true), "it ended: exit status 255: ssh: lost");
        assert_eq!(ended("", false), "it ended: exit status 255");
        assert_eq!(copy_script("abc", 7).matches('\'').count(), 0);
    }
}
