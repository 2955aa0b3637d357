//! Fetches the peers that ordinary package clients have. If one fails, that is reported and the
//! rest go on.

use crate::rig::Rig;
use anyhow::{Context, Result, bail};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const DEBIAN: &[&str] = &[
    "wrk",
    "apache2-utils",
    "nghttp2-client",
    "httperf",
    "hey",
    "nginx-light",
    "h2o",
    "openssl",
    "strace",
];

/// Installs all of them, one after the other.
pub(crate) fn all(rig: &Rig) {
    let steps: [(&str, &dyn Fn() -> Result<()>); 5] = [
        ("Debian's packages", &debian),
        ("oha", &|| oha(rig)),
        ("k6", &|| go(rig, "k6", "go.k6.io/k6@latest")),
        // The last version whose dependencies the module proxy has.
        ("fortio", &|| go(rig, "fortio", "fortio.org/fortio@v1.65.0")),
        ("JMeter", &|| jmeter(rig)),
    ];
    for (name, step) in steps {
        match step() {
            Ok(()) => eprintln!("install: {name}: there"),
            Err(error) => eprintln!("install: {name}: FAILED: {error:#}"),
        }
    }
}

// One by one: a package that is missing from an archive must not prevent the others.
fn debian() -> Result<()> {
    let mut failed = Vec::new();
    for package in DEBIAN {
        let mut apt = Command::new("apt-get");
        if run(apt.args(["install", "-y", "--no-install-recommends", package])).is_err() {
            failed.push(*package);
        }
    }
    if !failed.is_empty() {
        bail!("apt-get install {} (run `apt-get update` first?)", failed.join(" "));
    }
    Ok(())
}

fn oha(rig: &Rig) -> Result<()> {
    if rig.program("oha").is_some() {
        return Ok(());
    }
    let mut cargo = Command::new("cargo");
    run(cargo.args(["install", "oha", "--locked", "--root"]).arg(&rig.cache))
}

fn go(rig: &Rig, program: &str, module: &str) -> Result<()> {
    if rig.program(program).is_some() {
        return Ok(());
    }
    let mut go = Command::new("go");
    run(go.args(["install", module]).env("GOBIN", rig.cache.join("bin")))
}

fn jmeter(rig: &Rig) -> Result<()> {
    if rig.program("jmeter").is_some() {
        return Ok(());
    }
    let home = rig.cache.join("jmeter");
    fs::create_dir_all(home.join("lib/ext"))?;
    fs::write(home.join("pom.xml"), include_str!("../assets/jmeter.pom.xml"))?;
    let mut maven = Command::new("mvn");
    maven.args(["-q", "-B", "dependency:copy-dependencies"]);
    run(maven.arg(format!("-DoutputDirectory={}", home.join("lib").display())).current_dir(&home))?;
    unpack_properties(&home)?;
    write_launcher(&home, &rig.cache.join("bin/jmeter"))
}

// The artifact with JMeter's properties keeps them under bin/, where JMeter looks for them.
fn unpack_properties(home: &Path) -> Result<()> {
    let mut jars = fs::read_dir(home.join("lib"))?.filter_map(|entry| Some(entry.ok()?.path()));
    let config = jars
        .find(|jar| jar.to_string_lossy().contains("ApacheJMeter_config"))
        .context("Maven brought no ApacheJMeter_config")?;
    run(Command::new("jar").arg("xf").arg(config).arg("bin").current_dir(home))
}

fn write_launcher(home: &Path, launcher: &Path) -> Result<()> {
    let script = include_str!("../assets/jmeter.sh").replace("{home}", &home.to_string_lossy());
    fs::create_dir_all(launcher.parent().context("a launcher lies in a directory")?)?;
    fs::write(launcher, script)?;
    Ok(fs::set_permissions(launcher, fs::Permissions::from_mode(0o755))?)
}

fn run(command: &mut Command) -> Result<()> {
    eprintln!("install: {command:?}");
    let status = command.status().context("cannot be started")?;
    if !status.success() {
        bail!("{command:?}: {status}");
    }
    Ok(())
}
