//! Signatures of files: `ssh-keygen -Y` checks them, without a shell and with an environment of its own. dyno itself has no
//! cryptography for them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use units::visible;

/// What a signature is valid for: one that was made for another purpose is none of a run.
const NAMESPACE: &str = "dyno";
const PROGRAM: &str = "ssh-keygen";
/// A check takes so long at most.
const CHECK: Duration = Duration::from_secs(10);
/// Neither a signature nor a list of signers is larger, and of the names that a key has so many are tried.
const SIGNATURE_MAX: u64 = 64 << 10;
const SIGNERS_MAX: u64 = 4 << 20;
const NAMES_MAX: usize = 20;

/// Who vouches for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Signed {
    /// There is no signature beside it.
    No,
    /// The name that the signers' file gives the key.
    By(String),
    /// The signature is right, and its key, of which this is the fingerprint, is not in the signers' file.
    ByUnknown(String),
    /// It is not a signature of this file.
    Bad(String),
    /// It could not be checked: why.
    Unchecked(String),
}

impl Signed {
    /// In a sentence without its end.
    pub(crate) fn says(&self) -> String {
        match self {
            Signed::No => "not signed".into(),
            Signed::By(name) => format!("signed by {}", visible(name)),
            Signed::ByUnknown(key) => {
                format!("signed by a key that is not among the signers: {}", visible(key))
            }
            Signed::Bad(why) => format!("its signature is wrong: {}", visible(why)),
            Signed::Unchecked(why) => format!("its signature was not checked: {}", visible(why)),
        }
    }
}

/// The file of a file's signature.
pub(crate) fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".sig");
    name.into()
}

/// Who signed a file, by the signature beside it and the keys in a file of signers, as ssh-keygen reads one.
pub(crate) fn signature(file: &Path, signers: Option<&Path>) -> Signed {
    signature_by(OsStr::new(PROGRAM), file, signers)
}

fn signature_by(program: &OsStr, file: &Path, signers: Option<&Path>) -> Signed {
    let beside = beside(file);
    if fs::symlink_metadata(&beside).is_err() {
        return Signed::No;
    }
    if !is_file_of(&beside, SIGNATURE_MAX) {
        return Signed::Bad("it is not a file, or too large".into());
    }
    let signature = beside.as_os_str();
    let check = |verb: &str, more: &[&OsStr], read: Option<&Path>| {
        let words = ["-Y", verb, "-s"].map(OsStr::new).into_iter();
        let words: Vec<_> = words.chain([signature]).chain(more.iter().copied()).collect();
        ended(program, &words, read)
    };
    let purpose = ["-n", NAMESPACE].map(OsStr::new);
    let key = match check("check-novalidate", &purpose, Some(file)) {
        Ok(Ok(says)) => {
            says.split_once("with ").map_or(says.clone(), |(_, key)| key.trim().to_string())
        }
        Ok(Err(says)) => return Signed::Bad(says),
        Err(error) => return Signed::Unchecked(unstarted(&error)),
    };
    let Some(signers) = signers else { return Signed::ByUnknown(key) };
    if !is_file_of(signers, SIGNERS_MAX) {
        return Signed::Unchecked(format!("{} is not a file, or too large", signers.display()));
    }
    let list = [OsStr::new("-f"), signers.as_os_str()];
    let names = match check("find-principals", &list, None) {
        Ok(Ok(names)) => names,
        Ok(Err(_)) => return Signed::ByUnknown(key),
        Err(error) => return Signed::Unchecked(unstarted(&error)),
    };
    // The file may say for which purposes and times a key is valid.
    let is_valid = |name: &&str| {
        let words = [list[0], list[1], purpose[0], purpose[1], OsStr::new("-I"), OsStr::new(name)];
        matches!(check("verify", &words, Some(file)), Ok(Ok(_)))
    };
    match names
        .lines()
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .take(NAMES_MAX)
        .find(is_valid)
    {
        Some(name) => Signed::By(name.into()),
        None => Signed::ByUnknown(key),
    }
}

fn is_file_of(path: &Path, most: u64) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= most)
}

fn unstarted(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("{PROGRAM} is missing; it is part of OpenSSH"),
        _ => format!("{PROGRAM}: {error}"),
    }
}

/// What the program printed; or, where it failed, why. It is killed where it takes too long.
fn ended(
    program: &OsStr,
    words: &[&OsStr],
    read: Option<&Path>,
) -> io::Result<Result<String, String>> {
    let input = read.map_or_else(|| Ok(Stdio::null()), |path| File::open(path).map(Stdio::from))?;
    let passed = ["PATH", "HOME"].into_iter();
    let passed = passed.filter_map(|name| Some((name, std::env::var_os(name)?)));
    let mut child = Command::new(program)
        .args(words)
        .env_clear()
        .envs(passed)
        .env("LC_ALL", "C")
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let began = Instant::now();
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if CHECK < began.elapsed() => {
                child.kill()?;
                child.wait()?;
                let says = format!("it did not end within {} s", CHECK.as_secs());
                return Err(io::Error::other(says));
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    let (mut printed, mut says) = (String::new(), String::new());
    if let Some(out) = child.stdout {
        out.take(SIGNATURE_MAX).read_to_string(&mut printed)?;
    }
    if let Some(err) = child.stderr {
        err.take(SIGNATURE_MAX).read_to_string(&mut says)?;
    }
    Ok(match status.success() {
        true => Ok(printed),
        false => {
            Err(says.lines().next().unwrap_or("it failed and says nothing").trim().to_string())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with keys of alice and eve, made anew, and a file that alice has signed.
    fn signed(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("dyno-signing-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        for who in ["alice", "eve"] {
            let words = ["-q", "-t", "ed25519", "-N", "", "-f"];
            let made = Command::new(PROGRAM).args(words).arg(folder.join(who)).status().unwrap();
            assert!(made.success());
            let key = fs::read_to_string(folder.join(format!("{who}.pub"))).unwrap();
            fs::write(folder.join(format!("{who}.signers")), format!("{who}@example {key}"))
                .unwrap();
        }
        fs::write(folder.join("run"), "content").unwrap();
        let words = ["-Y", "sign", "-q", "-n", NAMESPACE, "-f"];
        let mut command = Command::new(PROGRAM);
        let signed = command.args(words).args([folder.join("alice"), folder.join("run")]).status();
        assert!(signed.unwrap().success());
        folder
    }

    #[test]
    fn a_signature_names_its_signer_where_the_signers_know_the_key() {
        let folder = signed("names");
        let (run, alice) = (folder.join("run"), folder.join("alice.signers"));
        assert_eq!(signature(&run, Some(&alice)), Signed::By("alice@example".into()));
        for signers in [None, Some(folder.join("eve.signers"))] {
            let found = signature(&run, signers.as_deref());
            let Signed::ByUnknown(key) = &found else { panic!("{found:?}") };
            assert!(key.starts_with("ED25519 key SHA256:"), "{key}");
        }
        // A key that may sign for another purpose only is no signer.
        let text = fs::read_to_string(&alice).unwrap();
        let limited = text.replace("@example ", "@example namespaces=\"git\" ");
        fs::write(&alice, limited).unwrap();
        assert!(matches!(signature(&run, Some(&alice)), Signed::ByUnknown(_)));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_changed_file_and_a_missing_signature_or_program_are_told_apart() {
        let folder = signed("changed");
        let (run, alice) = (folder.join("run"), folder.join("alice.signers"));
        let missing = signature_by(OsStr::new("/nowhere/ssh-keygen"), &run, Some(&alice));
        assert!(
            matches!(&missing, Signed::Unchecked(why) if why.contains("is missing")),
            "{missing:?}"
        );
        fs::write(&run, "contents").unwrap();
        assert!(matches!(signature(&run, Some(&alice)), Signed::Bad(_)));
        fs::write(beside(&run), "no signature").unwrap();
        assert!(matches!(signature(&run, Some(&alice)), Signed::Bad(_)));
        fs::remove_file(beside(&run)).unwrap();
        assert_eq!(signature(&run, Some(&alice)), Signed::No);
        fs::remove_dir_all(folder).unwrap();
    }
}
