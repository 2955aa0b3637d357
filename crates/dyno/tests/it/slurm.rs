//! The job script of `dyno agents slurm` on a real Slurm, whose nodes are namespaces of this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::lab_rig::{Lab, is_root, not_tested};

/// Whether there is a Slurm that can be run here; if not, prints what is left out.
fn has_slurm() -> bool {
    let left_out = "the job script on a Slurm cluster";
    if !is_root(left_out) {
        return false;
    }
    let programs =
        ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged", "/usr/bin/sbatch"];
    if let Some(missing) = programs.iter().find(|path| !Path::new(path).exists()) {
        not_tested(left_out, missing);
        return false;
    }
    let made = Command::new("unshare").args(["--net", "--uts", "--mount", "true"]).output();
    let may = made.is_ok_and(|made| made.status.success());
    if !may {
        not_tested(left_out, "namespaces");
    }
    may
}

/// What stands in for dyno on the nodes: `agents`, but for `agents run`, is dyno's; the rest is written here.
fn stand_in(lab: &Lab, script: &str) -> PathBuf {
    let path = lab.root.join("stand-in");
    let dyno = env!("CARGO_BIN_EXE_dyno");
    let agents = "[ \"$1\" = agents ] && [ \"$2\" != run ] && exec \"$DYNO\" \"$@\"\n";
    fs::write(&path, format!("#!/bin/bash\nDYNO={dyno}\n{agents}{script}")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Writes a job with these flags, runs it on a cluster, and returns its output.
fn job(lab: &Lab, nodes: u32, flags: &[&str]) -> String {
    let written = lab.dyno(&[&["agents", "slurm", "--nodes", &nodes.to_string()], flags].concat());
    fs::write(lab.root.join("job.sh"), written.status(0).stdout).unwrap();
    let cluster = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/slurm/cluster");
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", "170"]).arg(cluster).arg((nodes + 1).to_string());
    command.arg(lab.root.join("slurm")).args(["sbatch", "--wait", "--output=out", "job.sh"]);
    let ran = command.current_dir(&lab.root).output().unwrap();
    let output = fs::read_to_string(lab.root.join("out")).unwrap_or_default();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{}\n{said}\n{output}", ran.status);
    output
}

/// An agent's step is started as dyno starts it.
const STEPS: &str = r#"echo "on $(hostname): $*"
for node in $(scontrol show hostnames "$SLURM_JOB_NODELIST" | grep -vxF "$(hostname)"); do
    echo "line for $node" | srun --overlap -N1 -n1 -w "$node" --unbuffered --kill-on-bad-exit=0 --wait=0 \
        sh -c 'read line && echo "$(hostname) heard: $line"'
done
"#;

#[test]
fn a_job_of_three_nodes_starts_dyno_on_the_first_and_reaches_the_others_by_steps() {
    if !has_slurm() {
        return;
    }
    let lab = Lab::new();
    let dyno = stand_in(&lab, STEPS);
    let flags = ["--dyno", dyno.to_str().unwrap(), "--", "run", "it's \"mine\""];
    let output = job(&lab, 2, &flags);
    assert_eq!(
        output,
        "on n0: run it's \"mine\" --load-on slurm\nn1 heard: line for n1\nn2 heard: line for n2\n"
    );
}

/// dyno-nats carries the lines; what an agent and a coordinator would say is made up.
const BY_BROKER: &str = r#"if [ "$1 $2" = "agents run" ]; then
    shift 2
    flags=()
    while [ $# -gt 0 ]; do
        case $1 in
            --via) flags+=(--url "$2") ;;
            --allow) echo "allowed: $2" ;;
            *) flags+=("$1" "$2") ;;
        esac
        shift 2
    done
    coproc carrier { exec DYNO_NATS agent "${flags[@]}"; }
    read -r line <&"${carrier[0]}"
    echo "$(hostname) heard: $line" >&"${carrier[1]}"
    cat <&"${carrier[0]}" >/dev/null
else
    place=${!#}
    query=${place#*\?}
    value() { tr '&' '\n' <<<"$query" | sed -n "s/^$1=//p"; }
    address=${place%%\?*}
    coproc carrier { exec DYNO_NATS coordinator --url "${address%/*}" --lab "${address##*/}" --agents "$(value agents)" \
        --keys "$(value keys)" --key-file "$(value key-file)" --wait "$(value wait)"; }
    for agent in load-0 load-1; do echo "$agent you are $agent" >&"${carrier[1]}"; done
    for agent in load-0 load-1; do read -r line <&"${carrier[0]}" && echo "$line"; done
fi
"#;

#[test]
fn a_job_with_a_broker_lets_its_agents_meet_there_and_leaves_no_key() {
    if !has_slurm() {
        return;
    }
    let dyno_nats = Path::new(env!("CARGO_BIN_EXE_dyno")).with_file_name("dyno-nats");
    if !dyno_nats.exists() || !Path::new("/usr/sbin/nats-server").exists() {
        return not_tested("a job with a broker", "dyno-nats beside dyno, or nats-server");
    }
    let lab = Lab::new();
    let carrier = dyno_nats.to_str().unwrap();
    let dyno = stand_in(&lab, &BY_BROKER.replace("DYNO_NATS", carrier));
    let flags =
        ["--nats", "--dyno", dyno.to_str().unwrap(), "--dyno-nats", carrier, "--", "run", "x"];
    let output = job(&lab, 2, &flags);
    let lines: Vec<&str> = output.lines().collect();
    for line in [
        "load-0 n1 heard: you are load-0",
        "load-1 n2 heard: you are load-1",
        "allowed: 10.77.0.10/32:1-65535",
    ] {
        assert!(lines.contains(&line), "{output}");
    }
    let left = fs::read_dir(&lab.root).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with(".dyno-")).collect();
    assert!(left.is_empty(), "{left:?}");
}
