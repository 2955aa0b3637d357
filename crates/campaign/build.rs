//! Makes the table of the files that every dyno carries: the subjects, experiments, workloads, probes and services of this tree.

use std::fmt::Write;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 5] = ["experiments", "probes", "services", "subjects", "workloads"];
/// What tools leave in a folder when something is built there by hand. Hidden files are not carried either.
const LEFT_BY_TOOLS: [&str; 7] =
    ["target", "node_modules", "__pycache__", "_build", "deps", "build", "vendor"];

fn main() {
    let crate_folder = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let root = crate_folder.join("../..").canonicalize().expect("the crate lies in its workspace");
    let mut files = Vec::new();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    let mut table = String::from("pub static FILES: &[EmbeddedFile] = &[\n");
    for file in files {
        let bytes = fs::read(&file).expect("it was there a moment ago");
        let mode = fs::metadata(&file).expect("it was there a moment ago").permissions().mode();
        let is_executable = mode & 0o111 != 0;
        let path = file.strip_prefix(&root).expect("it lies below").to_str().expect("UTF-8");
        hasher.write(path.as_bytes());
        hasher.write_u8(is_executable.into());
        hasher.write_usize(bytes.len());
        hasher.write(&bytes);
        writeln!(
            table,
            "    EmbeddedFile {{ path: {path:?}, bytes: include_bytes!({file:?}), is_executable: {is_executable} }},"
        )
        .expect("a String takes all");
    }
    writeln!(
        table,
        "];\n/// Changes with any of the files.\nconst STAMP: &str = \"{:016x}\";",
        hasher.finish()
    )
    .expect("a String takes all");
    let output = Path::new(&variable("OUT_DIR")).join("embedded_files.rs");
    fs::write(output, table).expect("Cargo's own folder can be written");
}

fn variable(name: &str) -> String {
    std::env::var(name).expect("Cargo sets it")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the tree") {
        let entry = entry.expect("a folder of the tree");
        let name = entry.file_name();
        let name = name.to_str().expect("UTF-8");
        let kind = entry.file_type().expect("it was there a moment ago");
        if name.starts_with('.') || kind.is_dir() && LEFT_BY_TOOLS.contains(&name) {
            continue;
        }
        match kind.is_dir() {
            true => collect(&entry.path(), files),
            false => files.push(entry.path()),
        }
    }
}
