//! What a side of a race is: a URL, a folder with a subject, a subject's name, or else a command.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use lab::Refusal;
use lab::command::Command;
use lab::subject::is_file_name;
use requests::url::{self, Endpoint, Url};
use units::nearest;

use crate::project::Project;

/// One side, as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// A server that runs already.
    Found(Url),
    /// A folder with subject.toml.
    Folder(PathBuf),
    /// A subject of the project.
    Named(String),
    /// The user's own command, as text and split into its words.
    Own { text: String, words: Vec<String> },
}

impl Side {
    /// The address of a server that runs already.
    pub fn url(&self) -> Option<&Url> {
        match self {
            Side::Found(url) => Some(url),
            Side::Folder(_) | Side::Named(_) | Side::Own { .. } => None,
        }
    }
}

/// Words that only a shell understands.
const OF_A_SHELL: [&str; 8] = ["&&", "||", "|", ";", "&", ">", "<", "2>&1"];

/// Reads a side; names are looked up in the project, if there is one.
pub fn read(text: &str, project: Option<&Project>) -> Result<Side, Refusal> {
    let shown = units::without_password(text);
    let refused = |says: String| Refusal::new(format!("`{}`: {says}", shown.escape_debug()));
    if is_address(text) {
        let url = url::parse(text).map_err(refused)?;
        return match url.endpoint {
            Endpoint::Host(..) => Ok(Side::Found(url)),
            Endpoint::Unix(_) => Err(refused("a race needs a port; name http://host:port/".into())),
        };
    }
    if Path::new(text).is_dir() {
        let folder = fs::canonicalize(text).map_err(|error| refused(error.to_string()))?;
        return match folder.join("subject.toml").is_file() {
            true => Ok(Side::Folder(folder)),
            false => Err(refused(
                "a folder without subject.toml; name the command that starts the server, in quotes"
                    .into(),
            )),
        };
    }
    let known = project.map(Project::subjects).unwrap_or_default();
    if known.iter().any(|name| name == text) {
        return Ok(Side::Named(text.into()));
    }
    if let Some(near) = nearest(text, known.iter().map(String::as_str))
        && !starts_program(text)
    {
        return Err(refused(format!(
            "no server has this name, and no program either; did you mean `{near}`?"
        )));
    }
    let words = command(text).map_err(|says| match is_file_name(text) {
        true => refused(format!(
            "{says}; name a server by a URL, a folder with subject.toml, its name in subjects/, or a command in quotes"
        )),
        false => refused(says),
    })?;
    Ok(Side::Own { text: text.into(), words })
}

fn starts_program(text: &str) -> bool {
    Command::parse(text).is_ok_and(|command| is_program(&command.words()[0]))
}

/// The words of a command that starts a server.
pub fn command(text: &str) -> Result<Vec<String>, String> {
    let words = Command::parse(text)?.words().to_vec();
    if let Some(word) = words.iter().find(|word| OF_A_SHELL.contains(&word.as_str())) {
        return Err(format!(
            "it is run without a shell, and `{word}` means nothing to a program; write \
             sh -c 'exec …' around it"
        ));
    }
    match is_program(&words[0]) {
        true => Ok(words),
        false => {
            let hint = if words[0].contains('=') {
                "; to set a variable, write `env` before it"
            } else if words[0].contains('/') && !Path::new(&words[0]).exists() {
                "; nor is there a folder or a file of this name"
            } else {
                ""
            };
            let program = units::without_password(&words[0]);
            Err(format!("there is no program `{}` to start{hint}", program.escape_debug()))
        }
    }
}

/// `http://…`, `unix:…` or `host:port…`: no program has such a name.
pub fn is_address(text: &str) -> bool {
    if text.contains(char::is_whitespace) {
        return false;
    }
    let authority = text.split('/').next().unwrap_or_default();
    let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
    let has_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    text.contains("://") || text.starts_with("unix:") || has_port
}

/// Whether a word is a program that can be run from here.
fn is_program(word: &str) -> bool {
    let can_run = |path: &Path| {
        let metadata = fs::metadata(path);
        metadata.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if word.contains('/') {
        return can_run(Path::new(word));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| can_run(&folder.join(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(text: &str) -> String {
        read(text, None).unwrap_err().to_string()
    }

    #[test]
    fn an_address_is_told_from_a_command() {
        for text in ["http://h/", "localhost:8001", "[::1]:80/x", "10.0.0.1:1/a?b=c"] {
            assert!(matches!(read(text, None), Ok(Side::Found(_))), "{text}");
        }
        for text in ["sh -c 'echo a:1'", "sh", "env A=b sh"] {
            assert!(matches!(read(text, None), Ok(Side::Own { .. })), "{text}");
        }
    }

    #[test]
    fn what_is_no_side_is_refused_with_the_way_out() {
        assert!(says("unix:/a.sock:/").contains("needs a port"));
        assert!(says("sh a && sh b").contains("sh -c 'exec …'"));
        assert!(says("A=b sh").contains("write `env` before it"));
        assert!(says("no-such-program-here").contains("name a server by a URL"));
        assert!(says("sh 'x").contains("never closed"));
        assert!(says("/").contains("without subject.toml"));
        assert!(says("").contains("empty command"));
    }
}
