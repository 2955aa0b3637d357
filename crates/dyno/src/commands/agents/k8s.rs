//! `dyno agents k8s`: manifests, in which agents are the pods of one Job and dial a broker. dyno never talks to Kubernetes.

use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::Args;

use super::keys::{self, Keys};
use super::nats::config;
use super::values::{
    Label, agent_names, allowed, argument, fill, lab, label, load_on, machines, word,
};
use crate::shell::{ExitStatus, Refusal, print};

/// Print manifests for Kubernetes: a NATS broker, agents as an Indexed Job, and a coordinator
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct K8sFlags {
    /// How many pods load; each needs a node of its own
    #[arg(long, value_name = "N", value_parser = machines)]
    agents: u32,
    /// The public keys: a line `NAME KEY` for `coordinator` and for load-0, load-1 and so on
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
    /// What agents may load: ADDRESS[/BITS]:PORT[-PORT]; may be given again
    #[arg(long, value_name = "TARGET", required = true, value_parser = allowed)]
    allow: Vec<String>,
    /// An image with dyno and dyno-nats, as the Dockerfile of dyno's source makes one
    #[arg(long, value_name = "IMAGE", value_parser = word)]
    image: String,
    /// An image with nats-server as its entry point
    #[arg(long, value_name = "IMAGE", default_value = "nats:2.10-alpine", value_parser = word)]
    nats_image: String,
    /// The lab's name, with which the names of all objects begin
    #[arg(long, value_name = "LAB", default_value = "dyno", value_parser = lab)]
    lab: Label,
    /// The namespace [the current one]
    #[arg(long, value_name = "NAME", value_parser = label)]
    namespace: Option<Label>,
    /// CPUs of each agent
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=1024))]
    cpus: u32,
    /// Memory of each agent, in MiB
    #[arg(long, value_name = "MIB", default_value = "1024", value_parser = clap::value_parser!(u32).range(64..=4_194_304))]
    memory: u32,
    /// After how many seconds Kubernetes ends the Jobs, whatever they do
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = clap::value_parser!(u32).range(60..=604_800))]
    deadline: u32,
    /// What dyno is to do, without --load-on
    #[arg(last = true, required = true, value_name = "COMMAND", value_parser = argument)]
    command: Vec<String>,
}

const AFTER_HELP: &str = "\
The secrets with the keys and the broker's certificate are made by you; the first lines of what is printed say how. The \
manifests were checked against Kubernetes' schema, and not tried in a cluster.

Examples:
  for name in coordinator load-0 load-1; do dyno-nats key \"$name\"; done > agents.keys
  dyno agents k8s --agents 2 --keys agents.keys --allow 10.96.0.10:80 --image dyno:1 -- load http://10.96.0.10/ > lab.yaml
  kubectl create -f lab.yaml

Exit codes:
  0    printed
  2    a flag does not fit, or a key is missing";

pub(super) fn run(flags: &K8sFlags) -> Result<ExitStatus, Refusal> {
    let mut keys = keys::read(&flags.keys)?;
    let names = agent_names(flags.agents);
    if let Some(missing) =
        names.iter().find(|name| !keys.agents.keys().any(|it| it.as_str() == **name))
    {
        return Err(Refusal::new(format!(
            "--keys {}: it has no key of {missing}; `dyno-nats key {missing}` makes one, and prints the line",
            flags.keys.display()
        )));
    }
    keys.agents.retain(|name, _| names.iter().any(|it| it == name.as_str()));
    print(&manifests(flags, &keys))
}

fn manifests(pods: &K8sFlags, keys: &Keys) -> String {
    let lab = pods.lab.as_str();
    let (mut namespace, mut within) = (String::new(), String::new());
    if let Some(name) = &pods.namespace {
        namespace = format!("  namespace: {name}\n");
        within = format!(" -n {name}");
    }
    let tls = Some(("/etc/dyno-tls/tls.crt", "/etc/dyno-tls/tls.key"));
    let listen = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 4222));
    let conf = config(&pods.lab, keys, listen, tls);
    let mut indented = String::new();
    for line in conf.lines() {
        let _ = writeln!(indented, "{}{line}", if line.is_empty() { "" } else { "    " });
    }
    let values = [
        ("LAB", lab),
        ("AGENTS", &pods.agents.to_string()),
        ("IN", &within),
        ("NAMESPACE", &namespace),
        ("LAST", &(pods.agents - 1).to_string()),
        ("NATS_CONF", &indented),
        ("NATS_IMAGE", &pods.nats_image),
        ("IMAGE", &pods.image),
        ("CPUS", &pods.cpus.to_string()),
        ("MEMORY", &format!("{}Mi", pods.memory)),
        ("DEADLINE", &pods.deadline.to_string()),
        ("AGENT_ARGS", &strings(&agent_arguments(pods, keys))),
        ("COORDINATOR_ARGS", &strings(&coordinator_arguments(pods))),
    ];
    fill(include_str!("k8s.yaml"), &values)
}

/// What an agent is started with. `$(INDEX)` is filled by Kubernetes.
fn agent_arguments(pods: &K8sFlags, keys: &Keys) -> Vec<String> {
    let lab = pods.lab.as_str();
    let via = format!("tls://{lab}-nats:4222");
    let mut arguments: Vec<String> = [
        "agents",
        "run",
        "--via",
        &via,
        "--lab",
        lab,
        "--name",
        "load-$(INDEX)",
        "--key-file",
        "/keys/agent",
        "--ca",
        "/authority/ca.crt",
        "--trust",
        &keys.coordinator,
        "--wait",
        "300",
    ]
    .map(String::from)
    .into();
    for target in &pods.allow {
        arguments.extend(["--allow".to_string(), target.clone()]);
    }
    arguments
}

fn coordinator_arguments(pods: &K8sFlags) -> Vec<String> {
    let lab = pods.lab.as_str();
    let files = [
        ("keys", "/keys/agents.keys"),
        ("key-file", "/keys/coordinator"),
        ("ca", "/authority/ca.crt"),
        ("wait", "300"),
    ];
    let names = agent_names(pods.agents).join(",");
    let load_on = load_on(&format!("tls://{lab}-nats:4222"), lab, &names, &files);
    // Kubernetes would fill `$(NAME)`; doubled, it is what was given.
    let mut arguments: Vec<String> =
        pods.command.iter().map(|word| word.replace("$(", "$$(")).collect();
    arguments.extend(["--load-on".to_string(), load_on]);
    arguments
}

/// Strings of YAML, which takes those of JSON.
fn strings(words: &[String]) -> String {
    let quoted = words.iter().map(|word| serde_json::Value::from(word.as_str()).to_string());
    quoted.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::values;
    use super::*;

    fn text(command: &[&str]) -> String {
        let key = format!("U{}", "A".repeat(55));
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        let keys = Keys {
            coordinator: key.clone(),
            agents: agent_names(3).iter().map(|it| (label(it).unwrap(), key.clone())).collect(),
        };
        let flags = K8sFlags {
            agents: 3,
            keys: PathBuf::new(),
            allow: vec!["10.0.0.7:80".into()],
            image: "dyno:1".into(),
            nats_image: "nats:2.10-alpine".into(),
            lab: values::lab("lab").unwrap(),
            namespace: Some(label("load").unwrap()),
            cpus: 2,
            memory: 1024,
            deadline: 600,
            command,
        };
        manifests(&flags, &keys)
    }

    #[test]
    fn agents_are_as_many_as_completions_and_none_is_replaced() {
        let text = text(&["load", "http://10.0.0.7/"]);
        for part in [
            "completions: 3\n  parallelism: 3\n  backoffLimit: 0\n",
            "completionMode: Indexed",
            "restartPolicy: Never",
            "podAntiAffinity",
            "clusterIP: None",
            "  name: lab-load\n  namespace: load\n",
            "\"--name\", \"load-$(INDEX)\"",
            "\"--allow\", \"10.0.0.7:80\"",
            "\"--load-on\", \"tls://lab-nats:4222/lab?agents=load-0,load-1,load-2&keys=",
            "      # load-2\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert_eq!(text.matches("restartPolicy: Never").count(), 2);
    }

    #[test]
    fn arguments_stay_what_they_are_within_yaml_and_kubernetes() {
        let text = text(&["load", "a\"b", "$(INDEX)", "#x", "@LAB@", "\\"]);
        let args = "args: [\"load\", \"a\\\"b\", \"$$(INDEX)\", \"#x\", \"@LAB@\", \"\\\\\", \"--load-on\"";
        assert!(text.contains(args), "{text}");
    }
}
