//! Where servers may run, as `--server-on` says it.

use std::fmt;

use crate::place::is_host;

/// A machine on which servers run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServersOn {
    /// Another process of this machine.
    Local,
    /// A host that ssh knows.
    Ssh(String),
}

impl ServersOn {
    /// Reads a place, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<ServersOn, String> {
        match text.split_once(':') {
            None if text == "local" => Ok(ServersOn::Local),
            Some(("ssh", host)) if host.contains(',') => {
                Err("the servers of a run are on one host: name one".into())
            }
            Some(("ssh", host)) if is_host(host) => Ok(ServersOn::Ssh(host.into())),
            Some(("ssh", host)) => Err(format!(
                "ssh: `{host}` is no [USER@]HOST; ports and the like belong to ~/.ssh/config"
            )),
            Some(_) | None => Err(format!(
                "`{text}` is not a place for servers; write ssh:HOST (or local, to try it)"
            )),
        }
    }

    #[must_use]
    pub fn is_local(&self) -> bool {
        *self == ServersOn::Local
    }

    /// As sentences name it.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            ServersOn::Local => "local",
            ServersOn::Ssh(host) => host,
        }
    }
}

impl fmt::Display for ServersOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServersOn::Local => f.write_str("local"),
            ServersOn::Ssh(host) => write!(f, "ssh:{host}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_on_one_host() {
        assert_eq!(ServersOn::parse("local"), Ok(ServersOn::Local));
        let host = ServersOn::parse("ssh:me@server1").unwrap();
        assert_eq!((host.to_string().as_str(), host.name()), ("ssh:me@server1", "me@server1"));
        for (bad, says) in [
            ("ssh:a,b", "on one host"),
            ("ssh:-oProxyCommand=x", "is no [USER@]HOST"),
            ("ssh:", "is no [USER@]HOST"),
            ("ssh:a b", "is no [USER@]HOST"),
            ("local:2", "not a place for servers"),
            ("slurm", "not a place for servers"),
            ("", "not a place for servers"),
        ] {
            assert!(ServersOn::parse(bad).unwrap_err().contains(says), "{bad}");
        }
    }
}
