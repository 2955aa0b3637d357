use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;
use crate::fixture::Folder;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What git knows of these folders, or would add, and what is in it: generated files and caches are ignored there.
#[test]
fn what_is_embedded_is_the_tree_on_disk() {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    git.args(["subjects", "experiments", "workloads", "probes", "services"]).current_dir(root());
    let listed = match git.output() {
        Ok(ran) if ran.status.success() => String::from_utf8(ran.stdout).unwrap(),
        other => return eprintln!("NOT TESTED: the embedded tree, for want of git: {other:?}"),
    };
    let paths = listed.split('\0').filter(|path| !path.is_empty() && root().join(path).exists());
    let on_disk: BTreeMap<&str, Vec<u8>> =
        paths.map(|path| (path, fs::read(root().join(path)).unwrap())).collect();
    let embedded: BTreeMap<&str, Vec<u8>> =
        FILES.iter().map(|file| (file.path, file.bytes.to_vec())).collect();
    let names =
        |files: &BTreeMap<&str, Vec<u8>>| files.keys().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&embedded), names(&on_disk));
    assert!(embedded == on_disk, "the same files, with other contents");
    for file in FILES {
        assert!(file.is_at(&root().join(file.path)), "{}: its mode", file.path);
    }
    assert!(100 < FILES.len(), "{}", FILES.len());
}

#[test]
fn a_tree_is_unpacked_once_and_left_alone_then() {
    let folder = Folder::new();
    let tree = unpack(&folder.0).unwrap();
    assert!(tree.join("subjects/oracle/subject.toml").is_file());
    let changed = |path: &str| fs::metadata(tree.join(path)).unwrap().modified().unwrap();
    let before = changed("workloads/hello.toml");
    assert_eq!(unpack(&folder.0).unwrap(), tree);
    assert_eq!(changed("workloads/hello.toml"), before);
}

#[test]
fn a_damaged_tree_is_repaired() {
    let folder = Folder::new();
    let tree = unpack(&folder.0).unwrap();
    let elsewhere = folder.0.join("elsewhere");
    fs::write(&elsewhere, "kept").unwrap();
    fs::remove_file(tree.join("workloads/hello.toml")).unwrap();
    fs::create_dir(tree.join("workloads/hello.toml")).unwrap();
    fs::write(tree.join("workloads/empty.toml"), "cut").unwrap();
    fs::remove_dir_all(tree.join("probes")).unwrap();
    fs::remove_dir_all(tree.join("subjects/express")).unwrap();
    fs::write(tree.join("subjects/express"), "a file").unwrap();
    fs::create_dir(tree.join("subjects/foreign")).unwrap();
    fs::write(tree.join("subjects/foreign/subject.toml"), "title = 'x'").unwrap();
    symlink(&elsewhere, tree.join("experiments/link.toml")).unwrap();
    assert!(!is_whole(&tree).unwrap());
    assert_eq!(unpack(&folder.0).unwrap(), tree);
    assert!(is_whole(&tree).unwrap());
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "kept");
}

#[test]
fn many_unpack_at_once() {
    let folder = Folder::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert!(is_whole(&unpack(&folder.0).unwrap()).unwrap()));
        }
    });
}
