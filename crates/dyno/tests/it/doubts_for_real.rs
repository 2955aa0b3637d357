//! Servers with deliberate defects, run for real: the defects are found.

use std::path::Path;
use std::process::Command;

#[test]
fn planted_troubles_are_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/trouble");
    let mut command = Command::new("python3");
    command.arg(folder.join("run")).arg(env!("CARGO_BIN_EXE_dyno"));
    let ran = command.output().expect("the tests need python3");
    let shown = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{shown}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(shown.lines().filter(|line| line.starts_with("found ")).count() >= 5, "{shown}");
}
