//! Key files: an nkey's seed on one line, as `nk` of NATS writes them; and the lists of names and public keys.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nkeys::{KeyPair, KeyPairType};

use crate::frame::Nonce;
use crate::name::{COORDINATOR, Name, shortened};

/// No list is longer: some 15,000 agents.
const LONGEST_LIST: u64 = 2 << 20;

/// Makes a key and its file, which only its owner may read; an existing file stays.
pub(crate) fn make(path: &Path) -> Result<KeyPair, String> {
    let keys = KeyPair::new_user();
    let seed = keys.seed().map_err(|error| error.to_string())?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(format!("{seed}\n").as_bytes()));
    written.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(keys)
}

/// The key in a file that others cannot read.
pub(crate) fn read(path: &Path) -> Result<KeyPair, String> {
    let refused = |why: String| format!("{}: {why}", path.display());
    let file = File::open(path).map_err(|error| refused(error.to_string()))?;
    let mode = file.metadata().map_err(|error| refused(error.to_string()))?.mode();
    if mode & 0o037 != 0 {
        let mode = mode & 0o777;
        return Err(refused(format!(
            "others may read or change this key (mode {mode:o}); chmod 600 it, or make a new one"
        )));
    }
    let mut seed = String::new();
    file.take(200).read_to_string(&mut seed).map_err(|error| refused(error.to_string()))?;
    let keys = KeyPair::from_seed(seed.trim());
    match keys {
        Ok(keys) if keys.key_pair_type() == KeyPairType::User => Ok(keys),
        _ => Err(refused("it has no seed of a user's nkey; `dyno-nats key FILE` makes one".into())),
    }
}

/// A public key, as nkeys write those of users.
pub(crate) fn public(text: &str) -> Result<String, String> {
    match KeyPair::from_public_key(text) {
        Ok(keys) if keys.key_pair_type() == KeyPairType::User => Ok(text.to_string()),
        _ => Err(format!(
            "`{}` is no public key of a user; they begin with U and have 56 characters",
            shortened(text)
        )),
    }
}

/// The agents' public keys in a file with lines `NAME KEY`; the coordinator's own line is passed over.
pub(crate) fn list(path: &Path) -> Result<BTreeMap<Name, String>, String> {
    let refused = |why: String| format!("{}: {why}", path.display());
    let mut text = String::new();
    let file = File::open(path).map(|file| file.take(LONGEST_LIST + 1));
    let length = file.and_then(|mut file| file.read_to_string(&mut text));
    if LONGEST_LIST < length.map_err(|error| refused(error.to_string()))? as u64 {
        return Err(refused("it is too long for a list of keys, which may have 2 MiB".into()));
    }
    parse_list(&text).map_err(refused)
}

fn parse_list(text: &str) -> Result<BTreeMap<Name, String>, String> {
    let mut keys = BTreeMap::new();
    for (place, line) in text.lines().enumerate() {
        let at = |why: String| format!("line {}: {why}", place + 1);
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (name, key) = line.split_once(' ').ok_or_else(|| at("it is not `NAME KEY`".into()))?;
        let key = public(key.trim()).map_err(at)?;
        if name == COORDINATOR {
            continue;
        }
        let name = Name::of_agent(name).map_err(at)?;
        if keys.insert(name.clone(), key).is_some() {
            return Err(at(format!("{name} has two keys")));
        }
    }
    Ok(keys)
}

/// The nonce of this process, from the system's random numbers.
pub(crate) fn draw_nonce() -> Result<Nonce, String> {
    let mut nonce = [0; 16];
    let drawn = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut nonce));
    drawn.map_err(|error| format!("/dev/urandom: {error}"))?;
    Ok(Nonce(nonce))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;

    /// A path of the test's own, in a folder that is new.
    fn path(name: &str) -> PathBuf {
        let nonce = draw_nonce().unwrap().0;
        let folder =
            std::env::temp_dir().join(format!("dyno-nats-{:x}", u128::from_be_bytes(nonce)));
        fs::create_dir(&folder).unwrap();
        folder.join(name)
    }

    #[test]
    fn a_key_file_is_for_its_owner_alone_and_is_never_overwritten() {
        let path = path("desk3");
        let made = make(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(read(&path).unwrap().public_key(), made.public_key());
        assert!(make(&path).unwrap_err().contains("exists"));
        for mode in [0o604, 0o620, 0o644, 0o666] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert!(read(&path).unwrap_err().contains("others may read"), "{mode:o}");
        }
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn what_has_no_seed_is_refused_and_not_shown() {
        let path = path("key");
        for text in ["", "secret", "SUAAA", &KeyPair::new_account().seed().unwrap()] {
            let _ = fs::remove_file(&path);
            let mut file = OpenOptions::new();
            let mut file = file.write(true).create_new(true).mode(0o600).open(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            let why = read(&path).unwrap_err();
            assert!(why.contains("no seed") && (text.is_empty() || !why.contains(text)), "{why}");
        }
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_list_has_a_name_and_a_key_in_a_line() {
        let key = KeyPair::new_user().public_key();
        let good = format!("# keys\n\ncoordinator {key}\ndesk2  {key}\nload-0 {key}\n");
        let names: Vec<Name> = parse_list(&good).unwrap().into_keys().collect();
        assert_eq!(names.iter().map(Name::as_str).collect::<Vec<_>>(), ["desk2", "load-0"]);
        let server = KeyPair::new_server().public_key();
        for (bad, why) in [
            ("desk2".to_string(), "NAME KEY"),
            (format!("Desk {key}"), "is no name"),
            ("desk2 U123".to_string(), "no public key"),
            (format!("desk2 {server}"), "no public key"),
            (format!("desk2 {key}\ndesk2 {key}"), "two keys"),
        ] {
            let said = parse_list(&bad).unwrap_err();
            assert!(said.starts_with("line ") && said.contains(why), "{said}");
        }
    }
}
