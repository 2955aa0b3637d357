//! Makes the table of cases of the files in `catalogue`. A file with a mistake does not build.

use std::fs;
use std::path::{Path, PathBuf};

#[allow(dead_code, unreachable_pub)] // The build needs only a part of what the room has.
#[path = "src/h2/frame.rs"]
mod http2_frame;
#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "src/labels.rs"]
mod labels;
#[path = "build/reader.rs"]
mod reader;

fn main() {
    println!("cargo::rerun-if-changed=catalogue");
    let folder = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("catalogue");
    let made = made(&folder).and_then(|table| {
        let path = PathBuf::from(variable("OUT_DIR")).join("catalogue.rs");
        fs::write(&path, table).map_err(|error| format!("{}: {error}", path.display()))
    });
    if let Err(fault) = made {
        println!("cargo::error={fault}");
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// The table of the files that `contents.toml` lists, in its order.
fn made(folder: &Path) -> Result<String, String> {
    let paths = reader::contents(&text(&folder.join("contents.toml"))?)?;
    for protocol in fs::read_dir(folder).map_err(|error| error.to_string())?.flatten() {
        for file in fs::read_dir(protocol.path()).into_iter().flatten().flatten() {
            let path = format!(
                "{}/{}",
                protocol.file_name().to_string_lossy(),
                file.file_name().to_string_lossy()
            );
            if !paths.contains(&path) {
                return Err(format!("crates/check/catalogue/contents.toml does not list {path}"));
            }
        }
    }
    let texts: Vec<String> =
        paths.iter().map(|path| text(&folder.join(path))).collect::<Result<_, _>>()?;
    let sources = paths.iter().zip(&texts);
    let sources: Vec<_> = sources.map(|(path, text)| reader::Source { path, text }).collect();
    reader::table(&sources)
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
