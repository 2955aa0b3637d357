//! A server that no manifest describes: a command or an address, as a race is given them.

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use tls::{HTTP_2, TlsOrder};
use wire::{Ask, Expect, Request};

use super::{Processes, Serving, Site, Subject, Tier};
use crate::build::BuildPlan;
use crate::command::Command;
use crate::manner::Protocol;
use crate::source_file::SourceFile;

impl Subject {
    /// The user's own command, run in this folder.
    pub fn own(name: &str, title: &str, command: &str, folder: &Path) -> Result<Subject, String> {
        let command = Command::parse(command)?;
        let shown = folder.to_str().ok_or_else(|| {
            format!("{}: its name is not UTF-8; begin in another folder", folder.display())
        })?;
        let kept = json!({ "title": title, "run": command.words(), "in": shown });
        let serving = Serving::Own(command, folder.into());
        Ok(Subject::made((name, title), serving, &Protocol::ALL, kept.to_string()))
    }

    /// A server that runs already.
    pub fn found(name: &str, title: &str, site: Site) -> Result<Subject, String> {
        let target = site.target.as_deref().unwrap_or("/");
        // Whether a request can be made of it is known as soon as one is.
        Ask::new(&Request::get(&site.host, target), Expect::default())
            .map_err(|error| error.to_string())?;
        let Site { address, host, target, tls } = &site;
        let kept = json!({ "title": title, "address": address, "host": host, "target": target, "tls": tls });
        let protocols = spoken_where_found(site.tls.as_ref());
        Ok(Subject::made((name, title), Serving::Found(site), protocols, kept.to_string()))
    }

    fn made(
        (name, title): (&str, &str),
        serving: Serving,
        protocols: &[Protocol],
        text: String,
    ) -> Subject {
        Subject {
            name: name.into(),
            folder: Path::new("/subjects").join(name),
            from: None,
            source: SourceFile { name: format!("subjects/{name}/subject.json"), text },
            title: title.into(),
            language: String::new(),
            home: String::new(),
            processes: Processes::Unstated,
            tier: Tier::Default,
            takes_chunks: true,
            dwarf_bytes: None,
            speaks: Vec::new(),
            protocols: protocols.to_vec(),
            plan: BuildPlan::default(),
            debian: Vec::new(),
            advice: None,
            serving,
            version: None,
            probe: None,
            ready: Duration::from_secs(30),
            notes: String::new(),
            settings: Vec::new(),
        }
    }
}

/// What can be spoken with a server that runs already, whose connections are secured so, or not at all.
pub(super) fn spoken_where_found(tls: Option<&TlsOrder>) -> &'static [Protocol] {
    match tls {
        Some(order) if order.offer.alpn == HTTP_2 => &[Protocol::H2],
        // The sides of a race may be reached in different ways: what is then compared is called HTTP/1.1.
        Some(_) => &[Protocol::Http1Tls, Protocol::Http1],
        None => &[Protocol::Http1, Protocol::H2c],
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn whatever_is_typed_is_taken_as_it_is() {
        let odd = "a \"b\" \\ \n\t\u{7f}\u{1b} é ' # { port }";
        let folder = Path::new("/tmp/a b");
        let subject = Subject::own("x", odd, "sh -c 'a \"b\"'", folder).unwrap();
        assert_eq!(subject.title, odd);
        let Serving::Own(command, at) = subject.serving else { panic!("its own") };
        assert_eq!(
            (command.words(), at.as_path()),
            (&["sh", "-c", "a \"b\""].map(String::from)[..], folder)
        );
        assert!(Subject::own("x", "x", "sh -c 'a", folder).is_err());
        let unreadable = Path::new(OsStr::from_bytes(b"/tmp/\xff"));
        assert!(Subject::own("x", "x", "sh", unreadable).unwrap_err().contains("not UTF-8"));
        let address = "127.0.0.1:81".parse().unwrap();
        let site = |target: &str| Site {
            address,
            host: "h:81".into(),
            target: Some(target.into()),
            tls: None,
        };
        let found = Subject::found("h", "h", site("/x?y")).unwrap();
        assert_eq!(found.serving, Serving::Found(site("/x?y")));
        assert_eq!(found.protocols, [Protocol::Http1, Protocol::H2c]);
        assert!(Subject::found("h", "h", site("a b")).is_err());
    }
}
