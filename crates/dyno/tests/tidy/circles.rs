//! Files that import each other in a circle can only be read together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{code, files, is_test, read, root};

/// As many files may be in a circle.
const MOST: usize = 4;

/// What a file imports from its room. Parts of a path are modules, and at the end maybe an item.
fn imports(source: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = ["crate::", "super::"].iter().filter_map(|it| rest.find(it)).min() {
        let is_whole = !rest[..at].ends_with(|it: char| it.is_alphanumeric() || it == '_');
        rest = &rest[at..];
        let in_path = |it: char| it.is_alphanumeric() || it == '_' || it == ':';
        let mut end = rest.find(|it| !in_path(it)).unwrap_or(rest.len());
        if rest[..end].ends_with("::") && rest[end..].starts_with('{') {
            end += closing(&rest[end..]);
        }
        if is_whole {
            expand(&[], &rest[..end], &mut found);
        }
        rest = &rest[end..];
    }
    found
}

/// Where what begins with a brace is closed again.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    let is_closed = |(_, letter): &(usize, char)| {
        depth += i32::from(*letter == '{') - i32::from(*letter == '}');
        depth == 0
    };
    text.char_indices().find(is_closed).map_or(text.len(), |(at, _)| at + 1)
}

/// Adds the paths of `a::{b, c::{d, e}}` behind others.
fn expand(before: &[String], tree: &str, into: &mut Vec<Vec<String>>) {
    let parts = |path: &str| -> Vec<String> {
        let path = path.split_whitespace().next().unwrap_or_default();
        path.split("::").filter(|part| !part.is_empty()).map(String::from).collect()
    };
    let Some((path, list)) = tree.split_once('{') else {
        return into.push([before, &parts(tree)].concat());
    };
    let (before, mut depth) = ([before, &parts(path)].concat(), 0);
    let list = list.trim_end().strip_suffix('}').unwrap_or(list);
    let items = list.split(|letter| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    });
    items
        .filter(|item| !item.trim().is_empty())
        .for_each(|item| expand(&before, item.trim(), into));
}

/// The module that a file is, by its path below `src`.
fn module(path: &Path) -> Vec<String> {
    let path = path.with_extension("");
    let parts = path.iter().map(|part| part.to_string_lossy().into_owned());
    parts.filter(|part| !["mod", "lib", "main"].contains(&part.as_str())).collect()
}

/// Which modules each one names, but for those below itself.
fn named(sources: &BTreeMap<Vec<String>, String>) -> BTreeMap<&[String], BTreeSet<&[String]>> {
    let imported = |(own, source): (&Vec<String>, &String)| -> BTreeSet<&[String]> {
        let files = imports(source).into_iter().filter_map(|path| {
            let ups = path.iter().take_while(|part| *part == "super").count();
            let kept = if ups == 0 { 0 } else { own.len().saturating_sub(ups) };
            let full = [&own[..kept], &path[ups.max(1)..]].concat();
            (0..=full.len()).rev().find_map(|len| sources.get_key_value(&full[..len]))
        });
        files.map(|(file, _)| &file[..]).filter(|file| !file.starts_with(own)).collect()
    };
    sources.iter().map(|source| (&source.0[..], imported(source))).collect()
}

/// All that a module names, also by way of others.
fn reached<'a>(
    from: &'a [String],
    named: &BTreeMap<&'a [String], BTreeSet<&'a [String]>>,
) -> BTreeSet<&'a [String]> {
    let (mut found, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(module) = next.pop() {
        next.extend(named[module].iter().filter(|it| found.insert(**it)).copied());
    }
    found
}

/// The largest circle of these files.
fn largest(sources: &BTreeMap<Vec<String>, String>) -> Vec<String> {
    let named = named(sources);
    let reached: BTreeMap<&[String], _> =
        named.keys().map(|from| (*from, reached(from, &named))).collect();
    let circle = |from: &&[String]| -> Vec<String> {
        let both = reached[*from].iter().filter(|to| reached[**to].contains(*from));
        both.map(|module| module.join("/")).collect()
    };
    named.keys().map(circle).max_by_key(Vec::len).unwrap_or_default()
}

#[test]
fn no_more_than_four_files_of_a_room_import_each_other_in_a_circle() {
    let mut found = 0;
    for room in fs::read_dir(root().join("crates")).unwrap() {
        let src = room.unwrap().path().join("src");
        let product = files(&src, ".rs").into_iter().filter(|path| !is_test(path));
        let sources: BTreeMap<Vec<String>, String> = product
            .map(|path| (module(path.strip_prefix(&src).unwrap()), code(&read(&path))))
            .collect();
        let circle = largest(&sources);
        found = found.max(circle.len());
        assert!(circle.len() <= MOST, "{}: {}", src.display(), circle.join(" "));
    }
    assert!(1 < found, "no circle is found at all");
}

#[test]
fn a_circle_is_found_by_way_of_lists_and_of_parents() {
    let circle = |own: &str| {
        let sources = [
            ("a", "use crate::{b::{self, C}, d};"),
            ("b", "fn f() { crate::d::e::g() }"),
            ("d", "mod e;"),
            ("d/e", own),
        ];
        let sources = sources.map(|(path, text)| (module(Path::new(path)), text.to_string()));
        largest(&sources.into())
    };
    assert_eq!(circle("use super::super::a::{A};"), ["a", "b", "d/e"]);
    assert_eq!(circle("use super::h; use other_crate::a;"), [""; 0]);
}
