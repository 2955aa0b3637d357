//! The machine, as far as it shapes a measurement.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rustix::process::{Resource, getrlimit};

use crate::Fact;

/// Sysctls that affect how a server performs, by their paths below `/proc/sys`.
const SYSCTLS: [&str; 22] = [
    "net/core/somaxconn",
    "net/core/netdev_max_backlog",
    "net/core/rmem_max",
    "net/core/wmem_max",
    "net/core/busy_poll",
    "net/core/busy_read",
    "net/core/default_qdisc",
    "net/ipv4/tcp_max_syn_backlog",
    "net/ipv4/tcp_syncookies",
    "net/ipv4/tcp_abort_on_overflow",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/tcp_tw_reuse",
    "net/ipv4/tcp_fin_timeout",
    "net/ipv4/tcp_max_tw_buckets",
    "net/ipv4/tcp_mem",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_slow_start_after_idle",
    "kernel/pid_max",
    "fs/file-max",
    "vm/swappiness",
];

/// Files that hold one value each, by the name of the fact.
const FILES: [(&str, &str); 7] = [
    ("cpu.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
    ("cpu.driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"),
    ("cpu.smt", "/sys/devices/system/cpu/smt/active"),
    ("clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("memory.huge-pages", "/sys/kernel/mm/transparent_hugepage/enabled"),
    ("machine.product", "/sys/class/dmi/id/product_name"),
    ("load-average", "/proc/loadavg"),
];

/// Facts that change from moment to moment.
const PASSING: [&str; 2] = ["load-average", "memory.available"];

/// Facts that the kernel computes anew, from the free memory, each time the machine starts; and the shell's limit,
/// which dyno raises for itself.
const OF_A_START: [&str; 11] = [
    "memory",
    "swap",
    "kernel.command-line",
    "limit.processes",
    "limit.files.soft",
    "fs.file-max",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_max_tw_buckets",
    "net.ipv4.tcp_max_syn_backlog",
];

/// A fact that has different values in two readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference<'a> {
    /// The fact's name.
    pub name: &'a str,
    /// The one value, and the other.
    pub values: [&'a str; 2],
}

/// The name of a fact of another machine that takes part in a run.
#[must_use]
pub fn fact_of_host(host: &str, name: &str) -> String {
    format!("{host}{OF_HOST}{name}")
}

/// Between the name of a machine and that of its fact.
const OF_HOST: &str = ": ";

/// The machine that a fact is of, and the name that it has there; none of a fact of this machine.
#[must_use]
pub fn of_host(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once(OF_HOST)
}

/// The name that a fact has on its own machine.
fn own_name(name: &str) -> &str {
    of_host(name).map_or(name, |(_, own)| own)
}

/// Where two machines, or one machine at two times, differ. Facts of a moment do not count, nor facts that only one
/// has.
#[must_use]
pub fn differences<'a>(one: &'a [Fact], other: &'a [Fact]) -> Vec<Difference<'a>> {
    let difference = |fact: &'a Fact| {
        let there = other.iter().find(|there| there.name == fact.name)?;
        let values = [&fact.value[..], &there.value];
        (fact.value != there.value).then_some(Difference { name: &fact.name, values })
    };
    let lasting = one.iter().filter(|fact| !PASSING.contains(&own_name(&fact.name)));
    lasting.filter_map(difference).collect()
}

/// Where two machines differ, without the facts that may differ after one and the same machine has been started again.
#[must_use]
pub fn differences_beyond_a_start<'a>(one: &'a [Fact], other: &'a [Fact]) -> Vec<Difference<'a>> {
    let mut found = differences(one, other);
    found.retain(|difference| !OF_A_START.contains(&own_name(difference.name)));
    found
}

/// Everything that is known about the machine. A fact that cannot be read is missing.
#[must_use]
pub fn read() -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut add = |name: &str, value: Option<String>| {
        let value = value.map(|value| value.trim().to_string()).filter(|value| !value.is_empty());
        facts.extend(value.map(|value| Fact { name: name.to_string(), value }));
    };
    let cpuinfo = text("/proc/cpuinfo").unwrap_or_default();
    add("cpu.model", cpu_model(&cpuinfo));
    add("cpu.online", text("/sys/devices/system/cpu/online"));
    add("cpu.turbo", turbo());
    add("cpu.mitigations", mitigations(Path::new("/sys/devices/system/cpu/vulnerabilities")));
    let release = text("/proc/sys/kernel/osrelease");
    add("kernel", release.map(|release| format!("Linux {release}")));
    add("architecture", text("/proc/sys/kernel/arch"));
    add("kernel.command-line", text("/proc/cmdline").map(|line| without_addresses(&line)));
    add("distribution", text("/etc/os-release").and_then(|text| distribution(&text)));
    let meminfo = text("/proc/meminfo").unwrap_or_default();
    add("memory", keyed(&meminfo, "MemTotal:"));
    add("memory.available", keyed(&meminfo, "MemAvailable:"));
    add("swap", keyed(&meminfo, "SwapTotal:"));
    for (name, path) in FILES {
        add(name, text(path));
    }
    add("virtualisation", virtualisation(&cpuinfo));
    add("cgroup", cgroup(&text("/proc/self/mounts").unwrap_or_default()));
    for path in SYSCTLS {
        add(&path.replace('/', "."), text(&format!("/proc/sys/{path}")).as_deref().map(one_line));
    }
    let files = getrlimit(Resource::Nofile);
    add("limit.files.soft", Some(limit(files.current)));
    add("limit.files.hard", Some(limit(files.maximum)));
    add("limit.processes", Some(limit(getrlimit(Resource::Nproc).current)));
    facts
}

fn text(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn one_line(text: &str) -> String {
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

fn limit(limit: Option<u64>) -> String {
    limit.map_or("unlimited".to_string(), |limit| limit.to_string())
}

/// What follows a key of `/proc/meminfo`: `16384 kB`.
fn keyed(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix(key)).map(|value| value.trim().to_string())
}

/// `model name : …`; machines that are not x86 say less.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |key: &str| {
        let mut pairs = cpuinfo.lines().filter_map(|line| line.split_once(':'));
        pairs.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_string())
    };
    value("model name").or_else(|| value("Model")).or_else(|| value("CPU part"))
}

fn turbo() -> Option<String> {
    let intel = text("/sys/devices/system/cpu/intel_pstate/no_turbo");
    let off = intel.map(|no| no.trim() == "1");
    let on = text("/sys/devices/system/cpu/cpufreq/boost").map(|on| on.trim() == "1");
    let is_on = off.map(|off| !off).or(on)?;
    Some(if is_on { "on" } else { "off" }.to_string())
}

/// Which mitigations are active: `meltdown spectre_v2`; the others say `Not affected` or `Vulnerable`.
fn mitigations(folder: &Path) -> Option<String> {
    let mut at_work = BTreeSet::new();
    let mut vulnerable = BTreeSet::new();
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let state = fs::read_to_string(entry.path()).unwrap_or_default();
        if state.starts_with("Mitigation") {
            at_work.insert(name);
        } else if state.starts_with("Vulnerable") {
            vulnerable.insert(name);
        }
    }
    let listed = |names: BTreeSet<String>| match names.is_empty() {
        true => "none".to_string(),
        false => names.into_iter().collect::<Vec<_>>().join(" "),
    };
    Some(format!("at work: {}; vulnerable: {}", listed(at_work), listed(vulnerable)))
}

fn distribution(os_release: &str) -> Option<String> {
    let name = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_string())
}

/// A hint only: a careful host hides that it is one.
fn virtualisation(cpuinfo: &str) -> Option<String> {
    let mut flags = cpuinfo.lines().filter(|line| line.starts_with("flags"));
    let has_hypervisor = flags.next()?.split(' ').any(|flag| flag == "hypervisor");
    let mut hints = Vec::new();
    if has_hypervisor {
        hints.push("a virtual machine".to_string());
        hints.extend(text("/sys/class/dmi/id/sys_vendor").map(|vendor| vendor.trim().to_string()));
        hints.extend(text("/sys/hypervisor/type").map(|kind| kind.trim().to_string()));
    }
    let containers = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    let inside = containers.into_iter().filter(|(path, _)| Path::new(path).exists());
    hints.extend(inside.map(|(_, name)| format!("a container ({name})")));
    Some(if hints.is_empty() { "none seen".to_string() } else { hints.join(", ") })
}

fn cgroup(mounts: &str) -> Option<String> {
    let has = |kind: &str| mounts.lines().any(|line| line.split(' ').nth(2) == Some(kind));
    let says = match (has("cgroup"), has("cgroup2")) {
        (true, true) => "v1 and v2",
        (true, false) => "v1",
        (false, true) => "v2",
        (false, false) => "none",
    };
    Some(says.to_string())
}

/// The kernel's command line may name disks, hosts and keys: only what shapes speed is kept.
fn without_addresses(line: &str) -> String {
    const KEPT: [&str; 16] = [
        "mitigations",
        "isolcpus",
        "nohz",
        "nohz_full",
        "rcu_nocbs",
        "nosmt",
        "nosmp",
        "maxcpus",
        "intel_idle.max_cstate",
        "processor.max_cstate",
        "idle",
        "intel_pstate",
        "amd_pstate",
        "clocksource",
        "tsc",
        "transparent_hugepage",
    ];
    let words = line.split_ascii_whitespace();
    let kept = words.filter(|word| KEPT.contains(&word.split('=').next().unwrap_or(word)));
    kept.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_most_is_known_of_every_machine() {
        let facts = read();
        for name in ["kernel", "memory", "cgroup", "net.core.somaxconn", "limit.files.soft"] {
            assert!(facts.iter().any(|fact| fact.name == name), "{name}: {facts:#?}");
        }
        let names: BTreeSet<&str> = facts.iter().map(|fact| fact.name.as_str()).collect();
        assert_eq!(names.len(), facts.len(), "a name twice");
        for fact in &facts {
            assert!(!fact.value.contains('\n') && fact.value.len() < 500, "{fact:?}");
        }
    }

    #[test]
    fn what_passes_on_another_machine_is_no_difference_either() {
        let of = |load: &str, memory: &str, kernel: &str| {
            let facts = [("load-average", load), ("memory", memory), ("kernel", kernel)];
            let fact = |(name, value): (&str, &str)| Fact {
                name: fact_of_host("me@desk3", name),
                value: value.into(),
            };
            facts.map(fact).to_vec()
        };
        let (one, other) = (of("0.1", "16 kB", "Linux 6"), of("9.9", "15 kB", "Linux 7"));
        let names = |found: Vec<Difference<'_>>| -> Vec<String> {
            found.iter().map(|it| it.name.to_string()).collect()
        };
        let found = names(differences(&one, &other));
        assert_eq!(found, ["me@desk3: memory", "me@desk3: kernel"]);
        assert_eq!(names(differences_beyond_a_start(&one, &other)), ["me@desk3: kernel"]);
    }

    #[test]
    fn texts_are_read() {
        assert_eq!(
            cpu_model("processor\t: 0\nmodel name\t: A  B @ 3 GHz\n"),
            Some("A  B @ 3 GHz".into())
        );
        assert_eq!(cpu_model("CPU part\t: 0xd0c\n"), Some("0xd0c".into()));
        assert_eq!(distribution("ID=x\nPRETTY_NAME=\"A Linux 1\"\n"), Some("A Linux 1".into()));
        assert_eq!(
            keyed("MemTotal:   16 kB\nSwapTotal: 0 kB\n", "SwapTotal:"),
            Some("0 kB".into())
        );
        assert_eq!(cgroup("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"), Some("v2".into()));
        let line = "root=/dev/sda1 mitigations=off quiet key=secret isolcpus=2-3 idle=poll";
        assert_eq!(without_addresses(line), "mitigations=off isolcpus=2-3 idle=poll");
    }
}
