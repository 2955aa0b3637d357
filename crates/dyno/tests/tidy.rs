//! The repository keeps its own rules: rooms, imports, words, sizes, links.
#![allow(clippy::unwrap_used)] // a tree that cannot be read is not tidy

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/vocabulary.rs"]
mod vocabulary;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn read(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All files below `folder` with this ending, without what is built.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            found.extend(files(&path, ending));
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

/// A row of ARCHITECTURE.md's table.
struct Room {
    name: String,
    may_import: Vec<String>,
}

fn rooms() -> Vec<Room> {
    let page = read(root().join("ARCHITECTURE.md"));
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        Room {
            name: cells[1].trim_matches('`').to_string(),
            may_import: cells[3].split(", ").map(String::from).collect(),
        }
    })
    .collect()
}

/// The names under a heading of a manifest.
fn names_under(manifest: &str, heading: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| *line != heading).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let entries = lines.filter(|line| line.contains('=') && !line.starts_with('#'));
    entries.map(|line| line.split(['.', ' ', '=']).next().unwrap().to_string()).collect()
}

#[test]
fn rooms_import_what_architecture_says() {
    let rooms = rooms();
    assert!(4 <= rooms.len(), "ARCHITECTURE.md has lost its table");
    let mut here: Vec<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    here.sort();
    let mut listed: Vec<String> = rooms.iter().map(|room| room.name.clone()).collect();
    listed.sort();
    assert_eq!(here, listed, "crates and ARCHITECTURE.md's table");
    for room in rooms {
        let manifest = read(root().join("crates").join(&room.name).join("Cargo.toml"));
        let imports = names_under(&manifest, "[dependencies]");
        assert!(!imports.is_empty() || room.may_import == ["nothing"], "{}", room.name);
        for import in imports {
            assert!(
                room.may_import.contains(&import),
                "{} imports {import}, which ARCHITECTURE.md does not allow",
                room.name
            );
        }
    }
}

/// The paragraphs and list items of a page, without what stands between fences and without tables.
fn paragraphs(page: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    for line in page.split("```").step_by(2).flat_map(str::lines) {
        let begins = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        if line.is_empty() || line.starts_with("- ") || begins.starts_with(". ") {
            found.push(String::new());
        }
        if !line.starts_with('|') {
            *found.last_mut().unwrap() += &format!("{} ", line.trim());
        }
    }
    found
}

/// Whether a source defines something of this name, by one of these keywords.
fn defines(source: &str, keywords: &[&str], name: &str) -> bool {
    keywords.iter().any(|keyword| {
        source.match_indices(&format!("{keyword} {name}")).any(|(at, found)| {
            let rest = &source[at + found.len()..];
            !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
        })
    })
}

/// The file or folder that ARCHITECTURE.md means: below a room's `src`, below the root, or beside the one before it.
fn named_in_architecture(name: &str, folder: Option<&Path>) -> Option<PathBuf> {
    let root = root();
    let (room, rest) = name.split_once('/').unwrap_or(("", name));
    let below_room = root.join("crates").join(room).join("src").join(rest);
    let beside = folder.map(|folder| folder.join(name));
    let places = [Some(below_room), Some(root.join(name)), beside];
    places.into_iter().flatten().find(|path| path.exists())
}

/// A function, written as `name()`, is defined in a file that its paragraph names; a type or a constant anywhere.
#[test]
fn architecture_names_what_exists() {
    let page = read(root().join("ARCHITECTURE.md"));
    assert!(
        page.chars().count() <= 25_000,
        "ARCHITECTURE.md is a map, and no longer than 25,000 letters"
    );
    let sources: Vec<String> = files(&root().join("crates"), ".rs").iter().map(read).collect();
    let (mut wrong, mut seen) = (Vec::new(), [0; 3]);
    for paragraph in paragraphs(&page) {
        let (mut named, mut folder) = (Vec::new(), None);
        for name in paragraph.split('`').skip(1).step_by(2).filter(|name| !name.contains(' ')) {
            let is_upper = name.starts_with(|letter: char| letter.is_ascii_uppercase());
            let is_word = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
            let is_there = if name.contains('/') || name.ends_with(".rs") {
                seen[0] += 1;
                let path = named_in_architecture(name, folder.as_deref());
                if let Some(path) = &path {
                    folder = if path.is_dir() {
                        Some(path.clone())
                    } else {
                        path.parent().map(Path::to_path_buf)
                    };
                }
                named.extend(path.clone().filter(|path| path.is_file()).map(read));
                path.is_some()
            } else if let Some(function) = name.strip_suffix("()") {
                seen[1] += 1;
                named.iter().any(|source| defines(source, &["fn"], function))
            } else if is_upper && is_word {
                seen[2] += 1;
                let keywords = ["struct", "enum", "trait", "type", "const", "static"];
                sources.iter().any(|source| defines(source, &keywords, name))
            } else {
                true
            };
            if !is_there {
                wrong.push(format!("`{name}` in: {paragraph}"));
            }
        }
    }
    assert!(wrong.is_empty(), "ARCHITECTURE.md names what is not there:\n{}", wrong.join("\n"));
    assert!(seen.iter().all(|count| 5 <= *count), "files, functions and types are found: {seen:?}");
}

/// The folders and files right under `dyno/src`, and which of them each names.
fn parts() -> BTreeMap<String, BTreeSet<String>> {
    let src = root().join("crates/dyno/src");
    let part = |path: &Path| {
        let first = path.strip_prefix(&src).unwrap().components().next().unwrap();
        let name = first.as_os_str().to_string_lossy().into_owned();
        name.strip_suffix(".rs").unwrap_or(&name).to_string()
    };
    let sources = files(&src, ".rs");
    let names: BTreeSet<String> = sources.iter().map(|path| part(path)).collect();
    let mut parts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources.iter().filter(|path| !is_test(path)) {
        let (from, code) = (part(path), code(&read(path)));
        let word = |text: &str| -> String {
            text.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
        };
        for after in code.split("crate::").skip(1) {
            let named: Vec<String> = match after.strip_prefix('{') {
                Some(list) => list
                    .split(['}', ';'])
                    .next()
                    .unwrap()
                    .split(',')
                    .map(|it| word(it.trim()))
                    .collect(),
                None => vec![word(after)],
            };
            let known = named.into_iter().filter(|name| names.contains(name) && *name != from);
            parts.entry(from.clone()).or_default().extend(known);
        }
    }
    parts
}

#[test]
fn no_folder_of_dyno_imports_in_a_circle() {
    let parts = parts();
    assert!(parts["commands"].contains("order"), "imports are found");
    for part in parts.keys() {
        let (mut seen, mut next) = (BTreeSet::new(), vec![part]);
        while let Some(name) = next.pop() {
            for import in parts.get(name).into_iter().flatten() {
                assert!(import != part, "{part} imports itself by way of {name}");
                if seen.insert(import) {
                    next.push(import);
                }
            }
        }
    }
}

/// Code without its tests and its comments.
fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let lines = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn is_test(path: &Path) -> bool {
    let path = path.to_string_lossy();
    ["/tests.rs", "/fixture.rs"].iter().any(|end| path.ends_with(end))
        || ["/tests/", "/examples/"].iter().any(|folder| path.contains(folder))
}

#[test]
fn rooms_keep_from_what_is_not_theirs() {
    let forbidden: [(&str, &[&str]); 18] = [
        ("wire", &["std::net", "std::fs", "std::thread", "std::time", "rustix", "std::env"]),
        ("oracle", &["load::", "wire::", "std::env", "std::process", "println!", "SystemTime"]),
        ("load", &["std::fs", "std::process", "std::env", "println!", "SystemTime", "Instant"]),
        ("post", &["std::net", "std::fs", "std::thread", "std::time", "rustix", "std::env"]),
        ("agents", &["println!", "clap", "\"HTTP/1.1 "]),
        ("check", &["std::fs", "std::process", "std::env", "println!", "wire::", "load::"]),
        ("lab", &["rusqlite", "println!", "std::env", "SystemTime"]),
        ("requests", &["println!", "clap", "std::env::var"]),
        ("campaign", &["println!", "clap"]),
        ("archive", &["println!", "clap", "rusqlite"]),
        ("public", &["println!", "clap", "std::env", "std::fs", "std::process", "SystemTime"]),
        ("board", &["println!", "clap", "std::env", "std::process", "SystemTime", "Instant"]),
        ("store", &["println!", "std::env", "SystemTime", "Instant"]),
        ("analysis", &["println!", "std::env", "std::fs", "std::net", "SystemTime", "Instant"]),
        ("audit", &["println!", "std::env", "std::fs", "std::net", "SystemTime", "Instant"]),
        ("report", &["println!", "std::env", "std::fs", "std::net", "SystemTime", "Instant"]),
        ("host", &["println!", "std::env", "std::fs", "std::process", "UNSPECIFIED"]),
        ("dyno", &["rusqlite", "httparse", "epoll", "\"HTTP/1.1 "]),
    ];
    for (room, words) in forbidden {
        let sources = files(&root().join("crates").join(room).join("src"), ".rs");
        for path in sources.iter().filter(|path| !is_test(path)) {
            let code = code(&read(path));
            for word in words {
                assert!(!code.contains(word), "{}: `{word}` is not for {room}", shown(path));
            }
        }
    }
}

/// The compiler keeps unescaped text out of pages only if no other file says how a value is written into markup.
#[test]
fn only_one_file_says_what_is_put_into_markup_unescaped() {
    for path in files(&root().join("crates"), ".rs") {
        let is_allowed = path.ends_with("report/src/markup.rs") || path.ends_with("tidy.rs");
        let code = code(&read(&path));
        let has = ["from_template", "IntoMarkup"].into_iter().find(|word| code.contains(word));
        assert!(has.is_none() || is_allowed, "{}: {has:?}", shown(&path));
    }
}

/// What others wrote reaches a terminal only by `terminal::notice`, `terminal::print` and `report::paint::Line`, which
/// show what a terminal would obey.
#[test]
fn only_the_terminal_room_prints() {
    let others = [
        "terminal/src/lib.rs",
        // Lines between two processes of dyno, and of a feed, which are JSON.
        "dyno/src/commands/agents/run.rs",
        "dyno/src/commands/warden.rs",
        "dyno/src/order/feed.rs",
        // The help of dyno itself.
        "dyno/src/main.rs",
    ];
    let words =
        ["io::stdout", "io::stderr", "print!(", "println!(", "dbg!(", ".print()", "::inherit"];
    for path in files(&root().join("crates"), ".rs").iter().filter(|path| !is_test(path)) {
        let (code, is_other) = (code(&read(path)), others.iter().any(|it| path.ends_with(it)));
        let found = words.iter().find(|word| code.contains(*word));
        let is_other = is_other || path.ends_with("build.rs") && !shown(path).contains("/src/");
        assert!(found.is_none() || is_other, "{}: {found:?}", shown(path));
    }
}

#[test]
fn no_code_knows_a_subject_a_probe_or_a_service_by_name() {
    let names = |folder: &str| {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
    };
    let all = names("subjects").chain(names("probes")).chain(names("services"));
    let all = all.filter(|name| name != "oracle");
    let mut quoted: Vec<String> = all.map(|name| format!("\"{name}\"")).collect();
    assert!(20 <= quoted.len(), "where are the subjects?");
    // The readings of a probe begin with its name.
    quoted.extend(names("probes").map(|name| format!("\"{name}.")));
    for path in files(&root().join("crates"), ".rs").iter().filter(|path| !is_test(path)) {
        let code = code(&read(path));
        let known = quoted.iter().find(|name| code.contains(*name));
        assert!(known.is_none(), "{} knows {known:?}", shown(path));
    }
}

#[test]
fn unsafe_stands_only_where_the_kernel_is_called() {
    let allowed = [
        "crates/load/src/engine/epoll.rs",
        "crates/load/src/engine/wait.rs",
        "crates/load/src/thread.rs",
        "crates/oracle/src/wait.rs",
        "crates/machine/src/process/descriptors.rs",
        "crates/machine/src/namespace.rs",
        "crates/machine/src/resident.rs",
        "crates/profile/src/calls.rs",
        "crates/profile/src/events.rs",
        "crates/dyno/tests/it/old_kernel.rs",
    ];
    for path in files(&root().join("crates"), ".rs") {
        let has = code(&read(&path)).contains("unsafe {");
        let is_tidy_itself = path.ends_with("tidy.rs");
        assert!(
            !has || is_tidy_itself || allowed.contains(&shown(&path).as_str()),
            "{}: unsafe",
            shown(&path)
        );
    }
}

#[test]
fn files_have_nouns_for_names_and_are_not_long() {
    const LONGEST: usize = 700;
    const NO_NOUNS: [&str; 13] = [
        "utils", "util", "common", "helpers", "misc", "words", "says", "stated", "told", "seen",
        "heard", "shown", "made",
    ];
    for path in files(&root(), ".rs") {
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(
            !NO_NOUNS.contains(&stem.as_str()),
            "{} says nothing of what it holds",
            shown(&path)
        );
        let lines = read(&path).lines().count();
        assert!(lines <= LONGEST, "{}: {lines} lines", shown(&path));
    }
}

/// A closure that is bound to a name, as rustfmt writes it.
struct NamedClosure {
    name: String,
    line: usize,
    lines: usize,
    is_test: bool,
}

fn named_closures(source: &str) -> Vec<NamedClosure> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = source.lines().collect();
    let mut found = Vec::new();
    let mut is_test = false;
    for (place, line) in lines.iter().enumerate() {
        is_test |= line.ends_with("mod tests {");
        let Some(bound) = line.trim_start().strip_prefix("let ") else { continue };
        let Some((name, value)) = bound.split_once(" =") else { continue };
        // A long head stands in a line of its own.
        let first = if value.is_empty() { place + 1 } else { place };
        let value = lines.get(first).filter(|_| value.is_empty()).map_or(value, |line| *line);
        let value = value.trim_start();
        if !value.strip_prefix("move ").unwrap_or(value).starts_with('|') {
            continue;
        }
        let ends = |line: &&str| indent(line) <= indent(lines[first]) && line.ends_with(';');
        let name = name.trim_start_matches("mut ").split(':').next().unwrap_or(name).to_string();
        let rest = lines[first..].iter().position(ends).unwrap_or(0);
        found.push(NamedClosure { name, line: place + 1, lines: rest + 1, is_test });
    }
    found
}

#[test]
fn closures_with_names_are_short_and_their_names_say_what_they_compute() {
    const LONGEST: usize = 5;
    const NO_NAMES: [&str; 6] = ["of", "one", "it", "at", "says", "row"];
    // These were there before the rule; there are never to be more.
    const LEFT_IN_TESTS: usize = 255;
    let (mut product, mut tests) = (Vec::new(), Vec::new());
    for path in ["crates", "bench"].into_iter().flat_map(|room| files(&root().join(room), ".rs")) {
        for closure in named_closures(&read(&path)) {
            if LONGEST < closure.lines || NO_NAMES.contains(&closure.name.as_str()) {
                let NamedClosure { name, line, lines, .. } = &closure;
                let says = format!("{}:{line}: {name}, {lines} lines", shown(&path));
                let is_test = closure.is_test || is_test(&path);
                if is_test { tests.push(says) } else { product.push(says) }
            }
        }
    }
    assert!(product.is_empty(), "a function has a name:\n{}", product.join("\n"));
    assert!(tests.len() <= LEFT_IN_TESTS, "a function has a name:\n{}", tests.join("\n"));
}

#[test]
fn every_source_says_what_it_is() {
    for path in files(&root(), ".rs") {
        let source = read(&path);
        let says = source.starts_with("//!") || is_test(&path);
        assert!(says, "{} does not open with what it is", shown(&path));
        let left_over = ["FIXME", "XXX", "HACK"].into_iter().find(|word| source.contains(word));
        assert!(left_over.is_none() || path.ends_with("tidy.rs"), "{}", shown(&path));
    }
}

/// Words that outsiders do not understand, or that make a person of a server.
const RETIRED: [&str; 10] = [
    "whom", "nobody", "told", "dear", "goodbye", "ear", "company", "comes to", "come to", "came to",
];

fn has_words(text: &str, words: &str) -> bool {
    let is_in_name = |character: char| character.is_alphanumeric() || "_-`".contains(character);
    let is_before = |character: char| is_in_name(character) || character == '.';
    text.match_indices(words).any(|(at, found)| {
        !text[..at].ends_with(is_before) && !text[at + found.len()..].starts_with(is_in_name)
    })
}

/// The sentences in code: what stands between quotation marks, has a blank and is no markup. What stands in braces is
/// code again.
fn sentences(code: &str) -> Vec<String> {
    let parts =
        code.split('"').skip(1).step_by(2).filter(|text| text.contains(' ') && !text.contains('<'));
    parts
        .map(|text| {
            let outside = text.split('{').map(|part| part.split_once('}').map_or(part, |it| it.1));
            outside.collect::<Vec<_>>().join(" ").to_lowercase()
        })
        .collect()
}

#[test]
fn retired_words_are_in_no_output_and_no_page() {
    let mut found = Vec::new();
    for page in files(&root(), ".md") {
        // What bench measures is written by bench; quotations of RFCs and of other suites keep their words.
        let is_ours = !["bench", "conformance.md"].iter().any(|name| shown(&page).contains(name));
        for (place, line) in read(&page).to_lowercase().lines().enumerate().filter(|_| is_ours) {
            let words = RETIRED.iter().filter(|words| has_words(line, words));
            found.extend(words.map(|words| format!("{}:{}: {words}", shown(&page), place + 1)));
        }
    }
    for path in files(&root().join("crates"), ".rs") {
        // The words of a case's rules are part of the catalogue's stamp.
        let is_ours = shown(&path).contains("/src/") && !shown(&path).contains("crates/check/");
        if is_ours && !is_test(&path) {
            for sentence in sentences(&code(&read(&path)).replace("\\\"", "'")) {
                let words = RETIRED.iter().filter(|words| has_words(&sentence, words));
                found.extend(words.map(|words| format!("{}: {words}: {sentence}", shown(&path))));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(has_words("is told.", "told") && !has_words("`told` is_told", "told"));
}

/// `make test` names the test programs one by one.
#[test]
fn every_test_program_is_run_by_make_test() {
    let makefile = read(root().join("Makefile"));
    let programs = files(&root().join("crates"), ".rs");
    let programs = programs.iter().filter(|path| path.parent().unwrap().ends_with("tests"));
    let programs: Vec<String> = programs
        .filter(|path| path.parent().unwrap().parent().unwrap().join("Cargo.toml").exists())
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert!(programs.contains(&"tidy".to_string()));
    for program in programs {
        assert!(has_words(&makefile, &format!("--test {program}")), "{program}");
    }
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(page: &str) -> BTreeSet<String> {
    let lines = page.split("\n```").step_by(2).flat_map(str::lines);
    let mut found = BTreeSet::new();
    for line in lines.filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        // Of a link in a heading, its text counts.
        let heading: String = heading
            .split("](")
            .enumerate()
            .map(|(place, part)| {
                if place == 0 { part } else { part.split_once(')').map_or(part, |(_, rest)| rest) }
            })
            .collect();
        let kept =
            heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        let anchor: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        let again = (1..).map(|number| format!("{anchor}-{number}"));
        let name = std::iter::once(anchor.clone()).chain(again).find(|name| !found.contains(name));
        found.extend(name);
    }
    found
}

#[test]
fn links_lead_somewhere() {
    let mut seen = 0;
    for page in files(&root(), ".md") {
        let text = read(&page);
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for link in links.filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link}", shown(&page));
            if !anchor.is_empty() {
                seen += 1;
                let is_there = anchors(&read(&target)).contains(anchor);
                assert!(is_there, "{}: {link} has no such heading", shown(&page));
            }
        }
    }
    assert!(20 <= seen, "links to headings are found");
    assert!(
        anchors("# A *b*: `c`?\n## [D](e.md) f\n")
            .is_superset(&["a-b-c".into(), "d-f".into()].into())
    );
}

#[test]
fn commands_of_the_readme_exist() {
    let readme = read(root().join("README.md"));
    let makefile = read(root().join("Makefile"));
    let mut seen = 0;
    for line in readme.lines() {
        if let Some(goal) = line.trim().trim_start_matches("$ ").strip_prefix("make ") {
            let goal = goal.split_whitespace().next().unwrap();
            assert!(makefile.contains(&format!("\n{goal}:")), "README: make {goal}");
            seen += 1;
        }
    }
    assert!(2 <= seen, "the README shows make demo and make test");
}

#[test]
fn the_oldest_rust_and_the_version_are_the_same_everywhere() {
    let manifest = read(root().join("Cargo.toml"));
    let value = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.trim_start_matches(" = ").trim_matches('"').to_string()
    };
    let (rust, version) = (value("rust-version"), value("version"));
    let places = [
        ("README.md", format!("with Rust ({rust} or later)")),
        ("docs/install.md", format!("Rust {rust} or later")),
        ("Dockerfile", format!("FROM rust:{rust}-")),
        ("CITATION.cff", format!("version: {version}\n")),
        ("carriers/nats/Cargo.toml", format!("rust-version = \"{rust}\"")),
        ("carriers/nats/Cargo.toml", format!("\nversion = \"{version}\"")),
        ("packaging/dyno-http.rb", format!("v{version}.tar.gz")),
    ];
    for (file, says) in places {
        assert!(read(root().join(file)).contains(&says), "{file} does not say: {says}");
    }
}
