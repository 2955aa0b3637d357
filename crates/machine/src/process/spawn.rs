//! The start of a subject's process: the warden first sets for itself what the process is to inherit, and undoes it
//! afterwards.

use std::fs;
use std::io::{self, PipeReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::marker::{VARIABLE, pid};
use super::{Membership, Spec};

/// Why no process was started.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) raw: Option<i32>,
    pub(super) says: String,
}

impl Failure {
    pub(super) fn of(what: &str, error: &io::Error) -> Failure {
        Failure { raw: error.raw_os_error(), says: format!("{what}: {error}") }
    }
}

/// Starts the process; returns its number and its output.
pub(super) fn spawn(spec: &Spec) -> Result<(Pid, PipeReader), Failure> {
    let Some((program, arguments)) = spec.argv.split_first() else {
        return Err(Failure { raw: None, says: "no command to run".to_string() });
    };
    if !spec.cwd.is_dir() {
        let says = format!("{}: no such folder to run in", spec.cwd.display());
        return Err(Failure { raw: None, says });
    }
    limit_open_files(spec)?;
    let failed = |error: io::Error| Failure::of(program, &error);
    let (output, output_end) = io::pipe().map_err(failed)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .env(VARIABLE, &spec.marker)
        .current_dir(&spec.cwd)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(output_end.try_clone().map_err(failed)?)
        .stderr(output_end);
    if let Some((user, group)) = spec.user {
        // Without groups of its own, the standard library drops root's.
        command.uid(user).gid(group);
    }
    let own_cpus = put_on(spec)?;
    let spawned = command.spawn();
    take_off(spec, own_cpus.as_ref());
    let child = spawned.map_err(failed)?.id();
    // This is early enough: what the process starts inherits it, and it had no time to fill the memory.
    let _ = fs::write(format!("/proc/{child}/oom_score_adj"), spec.oom_score_adj.to_string());
    let child = pid(child).ok_or_else(|| failed(io::Error::other("no process id")))?;
    Ok((child, output))
}

fn limit_open_files(spec: &Spec) -> Result<(), Failure> {
    let Some(asked) = spec.open_files else { return Ok(()) };
    let both = |limit| Rlimit { current: Some(limit), maximum: Some(limit) };
    if setrlimit(Resource::Nofile, both(asked)).is_ok() {
        return Ok(());
    }
    // Only root may raise the hard limit. The process gets what is possible.
    let most = getrlimit(Resource::Nofile).maximum.unwrap_or(asked).min(asked);
    setrlimit(Resource::Nofile, both(most))
        .map_err(|error| Failure::of("the limit of open files", &error.into()))
}

fn put_on(spec: &Spec) -> Result<Option<CpuSet>, Failure> {
    for file in spec.membership.iter().flat_map(|member| &member.join) {
        let joined = fs::write(file, "0");
        joined.map_err(|error| Failure::of(&format!("{}", file.display()), &error))?;
    }
    let Some(cpus) = &spec.cpus else { return Ok(None) };
    let own = sched_getaffinity(None).ok();
    sched_setaffinity(None, &cpus.as_set())
        .map_err(|error| Failure::of(&format!("CPUs {cpus}"), &error.into()))?;
    Ok(own)
}

fn take_off(spec: &Spec, own_cpus: Option<&CpuSet>) {
    for file in spec.membership.iter().flat_map(|member| &member.leave) {
        // If it fails, the warden stays a member: a little more memory is charged to the group.
        let _ = fs::write(file, "0");
    }
    if let Some(own) = own_cpus {
        let _ = sched_setaffinity(None, own);
    }
}

/// Kills all members of its cgroups at once, where the kernel can (cgroup v2, Linux 5.14).
pub(super) fn kill_members(membership: &Membership) {
    for file in &membership.join {
        let switch = file.with_file_name("cgroup.kill");
        if switch.exists() {
            let _ = fs::write(switch, "1");
        }
    }
}
