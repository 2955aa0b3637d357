//! `dyno agents slurm`: a job script, in which dyno runs on the first node of an allocation and loads from the others.

use std::fmt::Write;

use clap::Args;
use lab::command::in_shell;

use super::values::{Label, agent_names, allowed, argument, fill, lab, load_on, machines, word};
use crate::shell::{ExitStatus, Refusal, print};

/// With more nodes than this, a step for each of them would be a burden for Slurm: they meet at a broker.
const MOST_STEPS: u32 = 32;

/// Print a job script for Slurm: load from the nodes of one allocation
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct SlurmFlags {
    /// The nodes that load; the job has one more, on which dyno runs and starts servers
    #[arg(long, value_name = "N", value_parser = machines)]
    nodes: u32,
    /// The lab's name, which the job gets, too
    #[arg(long, value_name = "LAB", default_value = "dyno", value_parser = lab)]
    lab: Label,
    /// How long the job may take, as Slurm writes it: minutes, hours:minutes:seconds or days-hours
    #[arg(long, value_name = "TIME", default_value = "01:00:00", value_parser = time)]
    time: String,
    /// The partition
    #[arg(long, value_name = "NAME", value_parser = word)]
    partition: Option<String>,
    /// The account
    #[arg(long, value_name = "NAME", value_parser = word)]
    account: Option<String>,
    /// The quality of service
    #[arg(long, value_name = "NAME", value_parser = word)]
    qos: Option<String>,
    /// Features that the nodes must have
    #[arg(long, value_name = "FEATURES", value_parser = word)]
    constraint: Option<String>,
    /// Share nodes with the jobs of others, who then take part in the figures
    #[arg(long)]
    shared: bool,
    /// Let agents meet at a NATS broker on the first node [with more than 32 nodes]
    #[arg(long)]
    nats: bool,
    /// With a broker, what agents may load: ADDRESS[/BITS]:PORT[-PORT] [the first node]; may be given again
    #[arg(long, value_name = "TARGET", value_parser = allowed)]
    allow: Vec<String>,
    /// dyno, a path that is the same on all nodes
    #[arg(long, value_name = "PATH", default_value = "dyno", value_parser = word)]
    dyno: String,
    /// dyno-nats, a path that is the same on all nodes
    #[arg(long, value_name = "PATH", default_value = "dyno-nats", value_parser = word)]
    dyno_nats: String,
    /// What dyno is to do, without --load-on
    #[arg(last = true, required = true, value_name = "COMMAND", value_parser = argument)]
    command: Vec<String>,
}

const AFTER_HELP: &str = "\
Files and programs must be on a file system that all nodes of the job have. Up to 32 nodes, Slurm itself carries what dyno \
and its agents say to each other; with more, a `nats-server` that must be installed on the first node.

Examples:
  dyno agents slurm --nodes 4 -- run my-experiment > job.sh
  sbatch job.sh
  dyno agents slurm --nodes 64 --partition short --allow 10.1.0.0/16:8080 -- load http://10.1.0.9:8080/ -r 1000000 > job.sh

Exit codes:
  0    printed
  2    a flag does not fit";

pub(super) fn run(flags: &SlurmFlags) -> Result<ExitStatus, Refusal> {
    print(&script(flags))
}

/// The lines by which Slurm is told what the job needs.
fn directives(flags: &SlurmFlags) -> String {
    let directives = [
        ("partition", &flags.partition),
        ("account", &flags.account),
        ("qos", &flags.qos),
        ("constraint", &flags.constraint),
    ];
    let mut lines = String::new();
    for (name, value) in directives {
        if let Some(value) = value {
            let _ = writeln!(lines, "#SBATCH --{name}={value}");
        }
    }
    if !flags.shared {
        lines.push_str("#SBATCH --exclusive\n");
    }
    lines
}

fn script(job: &SlurmFlags) -> String {
    let (nodes, all) = (job.nodes.to_string(), (job.nodes + 1).to_string());
    // Braces and commas mean something to bash, so more is quoted than is shown elsewhere.
    let command = in_shell(&job.command, b"-_./:@%+");
    let allow = match &*job.allow {
        [] => "--allow \"$address/32:1-65535\"".to_string(),
        given => given.iter().map(|it| format!("--allow '{it}'")).collect::<Vec<_>>().join(" "),
    };
    let files = [("keys", "$work/agents.keys"), ("key-file", "$work/coordinator"), ("wait", "60")];
    let names = agent_names(job.nodes).join(",");
    let load_on = load_on("nats://$address:$port", job.lab.as_str(), &names, &files);
    let values = [
        ("LAB", job.lab.as_str()),
        ("NODES", &nodes),
        ("ALL", &all),
        ("LAST", &(job.nodes - 1).to_string()),
        ("TIME", &job.time),
        ("DIRECTIVES", &directives(job)),
        ("DYNO", &job.dyno),
        ("DYNO_NATS", &job.dyno_nats),
        ("COMMAND", &command),
        ("ALLOW", &allow),
        ("LOAD_ON", &load_on),
    ];
    let has_broker = job.nats || MOST_STEPS < job.nodes;
    let body = if has_broker { include_str!("job_nats.sh") } else { include_str!("job_stdio.sh") };
    fill(include_str!("job.sh"), &values) + &fill(body, &values)
}

/// A time as Slurm writes it.
fn time(text: &str) -> Result<String, String> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(days), rest),
        None => (None, text),
    };
    let is_number = |part: &str| {
        (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let parts: Vec<&str> = rest.split(':').collect();
    if parts.len() <= 3 && days.is_none_or(is_number) && parts.iter().all(|part| is_number(part)) {
        return Ok(text.to_string());
    }
    Err("give minutes, hours:minutes:seconds, or days-hours".into())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::values;
    use super::*;

    fn job(nodes: u32, has_broker: bool, command: &[&str]) -> String {
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        script(&SlurmFlags {
            nodes,
            lab: values::lab("lab").unwrap(),
            time: "10".into(),
            partition: None,
            account: None,
            qos: None,
            constraint: None,
            shared: false,
            nats: has_broker,
            allow: Vec::new(),
            dyno: "/opt/dyno".into(),
            dyno_nats: "dyno-nats".into(),
            command,
        })
    }

    #[test]
    fn a_job_has_a_node_more_than_load_and_bash_understands_it() {
        for has_broker in [false, true] {
            let script = job(4, has_broker, &["run", "my experiment"]);
            assert!(script.starts_with("#!/bin/bash\n"));
            let marks =
                ["@LAB@", "@NODES@", "@DYNO@", "@ALLOW@", "@LOAD_ON@", "@COMMAND@", "@LAST@"];
            assert!(!marks.iter().any(|mark| script.contains(mark)), "{script}");
            assert!(script.contains("#SBATCH --nodes=5\n#SBATCH --ntasks-per-node=1\n"));
            assert!(script.contains("\"$dyno\" run 'my experiment' --load-on "));
            let read = Command::new("bash").args(["-n", "-c", &script]).output().unwrap();
            assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
        }
    }

    /// Slurm reads its lines only until the first command.
    #[test]
    fn all_lines_for_slurm_stand_before_the_first_command() {
        let script = job(1, false, &["run", "x"]);
        let end = script.find("\nset -euo").unwrap();
        assert!(!script[end..].contains("#SBATCH") && 7 <= script.matches("#SBATCH").count());
    }

    #[test]
    fn arguments_arrive_as_they_were_given() {
        let words = [
            "load",
            "http://h/?a=1&b=2",
            "$(touch x)",
            "it's",
            "",
            "{a,b}",
            "*",
            "~",
            "-x",
            "a\\b",
        ];
        let script = job(1, false, &words);
        let line = script.lines().last().unwrap().replace("\"$dyno\"", "printf '%s\\n'");
        let said = Command::new("bash").args(["-c", &line]).output().unwrap();
        let said = String::from_utf8(said.stdout).unwrap();
        let expected = [&words[..], &["--load-on", "slurm"]].concat();
        assert_eq!(said.split_terminator('\n').collect::<Vec<_>>(), expected);
    }

    #[test]
    fn times_are_slurm_s() {
        for good in ["10", "10:00", "01:00:00", "2-12", "2-12:30:00"] {
            assert!(time(good).is_ok(), "{good}");
        }
        for bad in ["", "1h", "1:2:3:4", "-1", "1-", "1 0", "1\n#SBATCH --uid=0", "99999"] {
            assert!(time(bad).is_err(), "{bad:?}");
        }
    }
}
