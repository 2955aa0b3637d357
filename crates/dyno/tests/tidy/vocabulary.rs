//! What users read has one word for one thing: the help of all commands, the pages, the sentences in code, and the
//! outputs that tests expect.

use std::process::Command;

use super::{code, files, has_words, is_test, read, root, sentences, shown};

/// Words that no user reads any more, and what stands in their place. Code may keep them, and so do keys of TOML,
/// names in JSON and names of files, which are quoted or written as code.
const OLD: [(&str, &str); 29] = [
    ("subject", "server"),
    ("subjects", "servers"),
    ("a side", "a server, or of a gate a version"),
    ("the side", "the server"),
    ("each side", "each server"),
    ("all sides", "all servers"),
    ("two sides", "two servers"),
    ("a side's", "a server's"),
    ("load level", "load"),
    ("load levels", "loads"),
    ("at each place", "under each load"),
    ("at a place", "under a load"),
    ("place of the axis", "load"),
    ("place on the axis", "load"),
    ("lane", "thread"),
    ("lanes", "threads"),
    ("promise", "limit"),
    ("promises", "limits"),
    ("aim", "limit"),
    ("aims", "limits"),
    ("under way", "in flight, or in progress"),
    ("beat", "interval, or message"),
    ("beats", "intervals, or messages"),
    ("oracle", "dyno's own server"),
    ("oracles", "dyno's own servers"),
    ("a reference", "dyno's own server"),
    ("the reference", "dyno's own server"),
    ("the instrument itself", "dyno itself"),
    ("blocked", "waited for a connection"),
];

/// What may be read all the same.
const ALLOWED: [(&str, &str); 5] = [
    ("tests/it/", "names of dyno's tests"),
    ("promise to push", "PUSH_PROMISE of RFC 9113"),
    ("padding, promises", "PUSH_PROMISE of RFC 9113"),
    ("blocked (note)", "the name of a doubt, as it stands in JSON"),
    ("tier `reference`", "a value of TOML"),
];

/// A text that users read, and where it stands.
struct Text {
    place: String,
    text: String,
}

impl Text {
    fn old_words(&self) -> Vec<String> {
        let text = ALLOWED.iter().fold(self.text.clone(), |text, (it, _)| text.replace(it, ""));
        let text = prose(&text).to_lowercase();
        let found = OLD.iter().filter(|(word, _)| has_words(&text, word));
        found.map(|(word, new)| format!("{}: `{word}`; say {new}", self.place)).collect()
    }
}

/// The line without what is written as code, the targets of links, and names of files.
fn prose(line: &str) -> String {
    let is_file = |word: &str| [".md", ".toml", "/"].iter().any(|it| word.contains(it));
    let outside = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let outside: Vec<&str> = outside.split_whitespace().filter(|it| !is_file(it)).collect();
    let outside = outside.join(" ");
    let mut parts = outside.split("](");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |text, rest| text + " " + rest.split_once(')').map_or("", |(_, after)| after))
}

/// The help of `dyno`, and of each command below it.
fn helps() -> Vec<Text> {
    let (mut texts, mut commands) = (Vec::new(), vec![String::new()]);
    while let Some(command) = commands.pop() {
        let mut dyno = Command::new(env!("CARGO_BIN_EXE_dyno"));
        let help = dyno.args(command.split_whitespace()).arg("--help").output().unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        assert!(help.contains("Usage:"), "dyno {command} --help");
        let listed = help.lines().skip_while(|line| !["Measure:", "Commands:"].contains(line));
        let listed = listed.take_while(|line| *line != "Options:");
        let listed = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names = listed.filter_map(|line| line.split_whitespace().next());
        commands.extend(names.filter(|it| *it != "help").map(|name| format!("{command} {name}")));
        let lines = help.lines().map(|line| Text {
            place: format!("dyno{command} --help: {}", line.trim()),
            text: line.into(),
        });
        texts.extend(lines);
    }
    texts
}

/// The pages, without commands, files and queries: a fence that names a language.
fn pages() -> Vec<Text> {
    let mut texts = Vec::new();
    let mut all = files(&root().join("docs"), ".md");
    all.push(root().join("README.md"));
    // Results as they were recorded.
    all.retain(|page| !["bench.md", "conformance.md"].iter().any(|name| page.ends_with(name)));
    for page in all {
        let mut fence: Option<bool> = None;
        for (number, line) in read(&page).lines().enumerate() {
            match (fence, line.trim_start().strip_prefix("```")) {
                (None, Some(language)) => fence = Some(language.is_empty()),
                (Some(_), Some(_)) => fence = None,
                (Some(false), None) => {}
                (None | Some(true), None) => texts.push(Text {
                    place: format!("{}:{}", shown(&page), number + 1),
                    text: line.into(),
                }),
            }
        }
    }
    texts
}

/// The sentences in code, and what tests expect to be printed.
fn outputs() -> Vec<Text> {
    let mut texts = Vec::new();
    for path in files(&root().join("crates"), ".rs") {
        // The catalogue of `check` and the faults of `serve` speak of what servers do wrong.
        let is_read = shown(&path).contains("/src/")
            && !["crates/check/", "crates/oracle/", "crates/store/"]
                .iter()
                .any(|room| shown(&path).starts_with(room));
        if !is_read {
            continue;
        }
        let source = read(&path);
        let found = if is_test(&path) {
            expected(&source)
        } else {
            [sentences(&code(&source).replace("\\\"", "'")), expected(&source)].concat()
        };
        texts.extend(found.into_iter().flat_map(|text| {
            let place = |line: &str| format!("{}: {}", shown(&path), line.trim());
            let lines = text.lines().map(|line| Text { place: place(line), text: line.into() });
            lines.collect::<Vec<_>>()
        }));
    }
    texts
}

/// The texts that stand after `expect!`.
fn expected(source: &str) -> Vec<String> {
    let texts = source.split("expect![").skip(1).filter_map(|rest| {
        let (before, text) = rest.split_once('"')?;
        match before.ends_with('#') {
            true => text.split_once("\"#").map(|(text, _)| text.to_string()),
            false => text.replace("\\\"", "'").split_once('"').map(|(text, _)| text.to_string()),
        }
    });
    texts.collect()
}

#[test]
fn what_users_read_has_no_old_words() {
    let (helps, pages, outputs) = (helps(), pages(), outputs());
    assert!(1_000 < helps.len() && 3_000 < pages.len() && 2_000 < outputs.len());
    let all = helps.iter().chain(&pages).chain(&outputs);
    let found: Vec<String> = all.flat_map(Text::old_words).collect();
    assert!(found.is_empty(), "{}:\n{}", found.len(), found.join("\n"));
}

#[test]
fn an_old_word_is_found_in_prose_and_not_in_code() {
    let of = |text: &str| Text { place: String::new(), text: text.into() }.old_words().len();
    assert_eq!(of("Each subject has two lanes, and what is under way"), 3);
    assert_eq!(of("`subject` in [a file](subjects.md), subject.toml and 12 planes"), 0);
    assert_eq!(of("beside a sidecar: a promise to push"), 0);
}
