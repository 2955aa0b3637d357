//! Facts about the machine and the programs on it, without a date.

use crate::generators::{DYNO, FLOOR, Generator, S_TIME, WRK};
use crate::rig::Rig;
use crate::template::words;
use std::process::Command;

/// One sentence for each fact.
pub(crate) fn facts(rig: &Rig) -> Vec<String> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let known = machine::facts::read();
    let fact = |name: &str| {
        let found = known.iter().find(|fact| fact.name == name);
        found.map_or("unknown", |fact| &fact.value)
    };
    let mut facts = vec![
        format!("CPU: {}, {cores} cores", fact("cpu.model")),
        format!("Kernel: {}", fact("kernel")),
        "Servers on CPU 0, generators on CPU 1, loopback, 13-byte bodies.".to_owned(),
    ];
    for (server, asked) in [("nginx", "nginx -v"), ("h2o", "h2o -v")] {
        let version = version_of(rig, server, asked).unwrap_or("not installed".into());
        facts.push(format!("{server}: {version}"));
    }
    let mut seen = Vec::new();
    for generator in [&DYNO, &WRK, &S_TIME].into_iter().chain(rig.peers()) {
        if generator.program != FLOOR.program && !seen.contains(&generator.program) {
            seen.push(generator.program);
            facts.push(format!("{}: {}", generator.program, version(rig, generator)));
        }
    }
    facts
}

fn version(rig: &Rig, generator: &Generator) -> String {
    if rig.program(generator.program).is_none() {
        return format!("not installed ({})", generator.get);
    }
    version_of(rig, generator.program, generator.version).unwrap_or("version unknown".into())
}

fn version_of(rig: &Rig, program: &str, command: &str) -> Option<String> {
    let path = rig.program(program)?;
    let words = words(command, &[]);
    let asked = if words[0] == program { path } else { rig.program(&words[0])? };
    let output = Command::new(asked).args(&words[1..]).output().ok()?;
    let said = [output.stdout, output.stderr].concat();
    version_in(&String::from_utf8_lossy(&said))
}

/// The first word with a digit, a dot and another digit; without surrounding characters.
fn version_in(said: &str) -> Option<String> {
    let word = said.split([' ', '\n', '\t', ',', '/', '(']).find(|word| is_version(word))?;
    Some(word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()).to_owned())
}

fn is_version(word: &str) -> bool {
    let is_digit = |letter: char| letter.is_ascii_digit();
    let mut parts = word.split('.');
    parts.next().is_some_and(|part| part.ends_with(is_digit))
        && parts.next().is_some_and(|part| part.starts_with(is_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_dotted_number() {
        let check = |said, expected: &str| assert_eq!(version_in(said).as_deref(), Some(expected));
        check("wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012", "4.1.0-3+b2");
        check("This is ApacheBench, Version 2.3 <$Revision$>", "2.3");
        check("h2load nghttp2/1.52.0", "1.52.0");
        check("httperf: httperf-0.9.0 compiled without DEBUG", "httperf-0.9.0");
        check("k6 v1.8.1 (go1.26.8, linux/amd64)", "v1.8.1");
        check("nginx version: nginx/1.22.1", "1.22.1");
        assert_eq!(version_in("no version here."), None);
    }
}
