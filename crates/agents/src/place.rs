//! Where load may come from, as `--load-on` says it.

use std::path::PathBuf;

/// The most agents of this machine, and the most of a list.
const LOCAL_MAX: usize = 512;
const LISTED_MAX: usize = 1_000;

/// Where load comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// So many processes of this machine.
    Local(usize),
    Ssh(Vec<SshHost>),
    /// A step on each of these nodes; none: on all nodes of the job but this one.
    Slurm(Vec<String>),
    Nats(Nats),
}

/// A host that ssh knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshHost {
    /// `[user@]host`, as ssh takes it.
    pub name: String,
    /// The CPUs that its lanes get; none: all that the agent may use.
    pub cpus: Vec<usize>,
}

/// Agents at a NATS broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nats {
    /// `nats://HOST[:PORT]` or `tls://HOST[:PORT]`.
    pub(crate) url: String,
    pub(crate) lab: String,
    pub(crate) agents: Vec<String>,
    /// The agents' public keys, this side's key, and the authority of the broker's certificate.
    pub(crate) keys: Option<PathBuf>,
    pub(crate) key_file: Option<PathBuf>,
    pub(crate) ca: Option<PathBuf>,
}

const FORMS: &str = "write ssh:HOST,HOST (other machines), local:N (so many processes of this one), slurm, or \
                     nats://HOST/LAB?agents=NAME,NAME";

impl Place {
    /// Reads a place, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Place, String> {
        if text.starts_with("nats://") || text.starts_with("tls://") {
            return nats(text).map(Place::Nats);
        }
        match text.split_once(':') {
            Some(("local", count)) => local(count),
            Some(("ssh", hosts)) => ssh(hosts),
            Some(("slurm", nodes)) => listed("nodes", nodes, is_host).map(Place::Slurm),
            None if text == "slurm" => Ok(Place::Slurm(Vec::new())),
            Some(_) | None => Err(format!("load cannot come from `{text}`; {FORMS}")),
        }
    }

    /// How many agents there are; none: that is known when they are met.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        match self {
            Place::Local(count) => Some(*count),
            Place::Ssh(hosts) => Some(hosts.len()),
            Place::Slurm(nodes) => (!nodes.is_empty()).then_some(nodes.len()),
            Place::Nats(nats) => Some(nats.agents.len()),
        }
    }

    /// Whether all agents are processes of this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        matches!(self, Place::Local(_))
    }
}

fn local(count: &str) -> Result<Place, String> {
    match count.parse() {
        Ok(count) if (1..=LOCAL_MAX).contains(&count) => Ok(Place::Local(count)),
        _ => Err(format!("local:{count}: give a number of processes from 1 to {LOCAL_MAX}")),
    }
}

fn ssh(hosts: &str) -> Result<Place, String> {
    let hosts: Vec<SshHost> = hosts.split(',').map(ssh_host).collect::<Result<_, _>>()?;
    match hosts.len() {
        length if LISTED_MAX < length => Err(format!("ssh: at most {LISTED_MAX} hosts")),
        _ => Ok(Place::Ssh(hosts)),
    }
}

fn ssh_host(text: &str) -> Result<SshHost, String> {
    let (name, rest) = match text.split_once(':') {
        Some((name, rest)) => (name, Some(rest)),
        None => (text, None),
    };
    if !is_host(name) {
        return Err(format!(
            "ssh: `{name}` is no [USER@]HOST; ports and the like belong to ~/.ssh/config"
        ));
    }
    let cpus = match rest.map(|rest| rest.strip_prefix("cpus=")) {
        None => Vec::new(),
        Some(Some(list)) => cpus(list).ok_or_else(|| {
            format!(
                "ssh: `{list}` is not a list of CPUs; write {name}:cpus=0-3 or {name}:cpus=0+2+4"
            )
        })?,
        Some(None) => {
            return Err(format!(
                "ssh: after {name}: only cpus=LIST may follow; a port belongs to ~/.ssh/config"
            ));
        }
    };
    Ok(SshHost { name: name.into(), cpus })
}

/// A name that no shell and no ssh takes for anything else.
pub(crate) fn is_host(name: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@%[]".contains(&byte);
    !name.is_empty() && name.len() <= 255 && !name.starts_with('-') && name.bytes().all(is_usual)
}

/// `0-3+6`
fn cpus(list: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in list.split('+') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || 1_024 < last {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

fn listed(what: &str, names: &str, is_name: fn(&str) -> bool) -> Result<Vec<String>, String> {
    let names: Vec<String> = names.split(',').map(String::from).collect();
    if let Some(bad) = names.iter().find(|name| !is_name(name)) {
        return Err(format!("{what}: `{bad}` is not a name"));
    }
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("{what}: {} is named twice", pair[0]));
    }
    match names.len() {
        length if LISTED_MAX < length => Err(format!("{what}: at most {LISTED_MAX}")),
        _ => Ok(names),
    }
}

/// `nats://HOST[:PORT]/LAB?agents=A,B[&keys=FILE][&key-file=FILE][&ca=FILE]`
fn nats(text: &str) -> Result<Nats, String> {
    let fault = || format!("`{text}`: write nats://HOST[:PORT]/LAB?agents=NAME,NAME");
    let (scheme, rest) = text.split_once("://").ok_or_else(fault)?;
    let (broker, rest) = rest.split_once('/').ok_or_else(fault)?;
    let (lab, query) = rest.split_once('?').ok_or_else(fault)?;
    if broker.is_empty() || !is_label(lab) {
        return Err(fault());
    }
    let mut nats = Nats {
        url: format!("{scheme}://{broker}"),
        lab: lab.into(),
        agents: Vec::new(),
        keys: None,
        key_file: None,
        ca: None,
    };
    for part in query.split('&') {
        let (key, value) = part.split_once('=').ok_or_else(fault)?;
        let file = match key {
            "agents" => {
                nats.agents = listed("agents", value, is_label)?;
                continue;
            }
            "keys" => &mut nats.keys,
            "key-file" => &mut nats.key_file,
            "ca" => &mut nats.ca,
            _ => {
                return Err(format!("{text}: `{key}` is not agents, keys, key-file or ca"));
            }
        };
        *file = Some(value.into());
    }
    if nats.agents.is_empty() { Err(fault()) } else { Ok(nats) }
}

/// Letters, digits and hyphens: what a subject of NATS may have, and the name of a pod.
fn is_label(name: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&name.len()) && name.bytes().all(is_usual) && !name.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_are_written() {
        assert_eq!(Place::parse("local:4"), Ok(Place::Local(4)));
        assert_eq!(Place::parse("slurm"), Ok(Place::Slurm(Vec::new())));
        assert_eq!(Place::parse("slurm:n1,n2"), Ok(Place::Slurm(vec!["n1".into(), "n2".into()])));
        let host = |name: &str, cpus: &[usize]| SshHost { name: name.into(), cpus: cpus.to_vec() };
        let hosts = vec![host("desk2", &[]), host("me@desk3", &[0, 1, 2, 6])];
        assert_eq!(Place::parse("ssh:desk2,me@desk3:cpus=0-2+6"), Ok(Place::Ssh(hosts)));
        let Ok(Place::Nats(nats)) =
            Place::parse("tls://broker:4222/lab?agents=load-0,load-1&keys=a.keys&ca=/c.pem")
        else {
            panic!("it is NATS");
        };
        assert_eq!((nats.url.as_str(), nats.lab.as_str()), ("tls://broker:4222", "lab"));
        assert_eq!(nats.agents, ["load-0", "load-1"]);
        assert_eq!((nats.keys, nats.ca), (Some("a.keys".into()), Some("/c.pem".into())));
        assert!(Place::parse("local:1").unwrap().is_local());
    }

    #[test]
    fn what_is_wrong_with_a_place_is_said() {
        let refused = |text: &str, says: &str| {
            let error = Place::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        };
        refused("", "write ssh:HOST");
        refused("desk2", "ssh:HOST");
        refused("http://x", "load cannot come from `http://x`");
        refused("local:0", "from 1 to 512");
        refused("local:many", "from 1 to 512");
        refused("ssh:", "no [USER@]HOST");
        refused("ssh:-oProxyCommand=x", "no [USER@]HOST");
        refused("ssh:a b", "no [USER@]HOST");
        refused("ssh:a,", "no [USER@]HOST");
        refused("ssh:a;rm", "no [USER@]HOST");
        refused("ssh:desk2:22", "~/.ssh/config");
        refused("ssh:desk2:cpus=3-1", "not a list of CPUs");
        refused("slurm:a,a", "named twice");
        refused("nats://broker", "agents=NAME");
        refused("nats://broker/lab", "agents=NAME");
        refused("nats://broker/lab?agents=", "not a name");
        refused("nats://broker/lab?agents=A", "not a name");
        refused("nats://broker/lab?agents=a&x=1", "`x` is not");
        refused("nats://broker/LAB?agents=a", "agents=NAME");
    }
}
