//! The site as a whole: what stands on its pages, and that nothing else decides over it than the folder.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use lab::experiment::Point;

use crate::fixture::{Memory, READER, id, summary};
use crate::ranking::{Shown, ranked};
use crate::slug::slug;

const BOARD: &str = r#"
title = "A board"
question = "Which server is fast?"
base_url = "https://example.org/board/"
own_machines = ["amd-epyc-2cpu-24gb-linux-6.18"]
presets = [
    { title = "Which says hello fastest?", workload = "hello" },
    { title = "Quick or slow?", compare = ["quick", "slow"] },
]
"#;
const FIRST: &str = "began 1761000000000\nserver quick 1.0 9000 Quick\nserver slow 2.0 5000 Slow\n";
const SECOND: &str = "began 1795884212469\nserver quick 1.1 9900 Quick\nserver slow 2.0 5010 Slow\n\
                      server other 3 5000 Other\n";
const STRANGER: &str = "began 1795884212470\ncpu Intel Xeon\nserver quick 1.1 20000 Quick\n";
const EVIL: &str = "began 1795884212471\ncpu <script>alert(1)</script>\ndyno \"><img src=x onerror=alert(1)>\n\
                    workload ../../<b>\nserver ../../../etc/passwd <i> 7000 </title><script>alert(1)</script>\n";

/// A board with two of its own runs, a stranger's and a hostile one.
fn files() -> Vec<(&'static str, String)> {
    let round = |date: &str, of: &str, sentences: &str| {
        format!("title = \"Round {date}\"\ndate = \"{date}\"\nruns = [\"{}\"]\n{sentences}", id(of))
    };
    vec![
        ("board.toml", BOARD.into()),
        ("runs/2025/10/a.dyno", FIRST.into()),
        ("runs/2026/11/b.dyno", SECOND.into()),
        ("runs/2026/11/b.dyno.sig", "a signature".into()),
        ("runs/2026/11/c.dyno", STRANGER.into()),
        ("runs/2026/11/evil.dyno", EVIL.into()),
        ("runs/2026/11/bad.dyno", "no run".into()),
        (
            "servers/quick.toml",
            "links = [\"https://example.org/quick\", \"javascript:alert(1)\"]".into(),
        ),
        (
            "rounds/0.toml",
            round("2025-10-20", FIRST, "sentences = [\"Quick led.\", \"By far.\", \"Yes.\"]"),
        ),
        ("rounds/1.toml", round("2026-11-28", SECOND, "")),
        ("CHANGES.md", "# 2026-11\n\nThe warm-up is longer.\n".into()),
    ]
}

/// The board of these files; its site is built once for all tests.
static USUAL: LazyLock<Memory> = LazyLock::new(|| board(&files()));

fn board(files: &[(&str, String)]) -> Memory {
    let memory = Memory::of(files);
    memory.built();
    memory
}

const OWN: &str = "amd-epyc-2cpu-24gb-linux-6.18";

#[test]
fn the_order_of_files_is_no_matter() {
    let mut files = files();
    files.reverse();
    assert_eq!(*USUAL.site.lock().unwrap(), *board(&files).site.lock().unwrap());
}

#[test]
fn what_cannot_be_read_is_listed_and_the_rest_is_built() {
    let built = USUAL.built();
    assert_eq!((built.runs, built.refused.len()), (4, 1));
    assert_eq!(built.refused[0].file, "runs/2026/11/bad.dyno");
}

/// A copy under a name that comes first does not take the place of the file that somebody signed.
#[test]
fn of_two_files_of_a_run_the_signed_one_stands() {
    let mut files = files();
    files.push(("runs/2026/11/a.dyno", SECOND.into()));
    let refused = board(&files).built().refused;
    let copy = refused.iter().find(|it| it.why == "runs/2026/11/b.dyno is the same run");
    assert_eq!(copy.map(|it| &*it.file), Some("runs/2026/11/a.dyno"), "{refused:?}");
}

/// The addresses in a page, without those within it.
fn addresses(page: &str) -> impl Iterator<Item = &str> {
    let all = page.split(" href=\"").skip(1).chain(page.split(" src=\"").skip(1));
    let all = all.filter_map(|rest| rest.split('"').next());
    all.map(|address| address.split('#').next().unwrap_or_default())
        .filter(|address| !address.is_empty() && !address.starts_with("https://example.org/"))
}

/// The file that an address on a page means.
fn target(page: &str, address: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in address.split('/') {
        match part {
            ".." => drop(parts.pop().expect("it stays within the site")),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn every_link_leads_to_a_file_of_the_site() {
    let site = USUAL.site.lock().unwrap();
    let mut seen = BTreeSet::new();
    for (path, bytes) in site.iter().filter(|(path, _)| path.ends_with(".html")) {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let text = text.split("<script>").next().unwrap();
        for address in addresses(text).filter(|it| !it.starts_with("data:")) {
            let target = target(path, address);
            assert!(site.contains_key(&target), "{path}: {address}");
            seen.insert(target);
        }
    }
    let is_page = |path: &&String| path.ends_with(".html") && *path != "index.html";
    let unseen: Vec<&String> =
        site.keys().filter(is_page).filter(|it| !seen.contains(*it)).collect();
    assert!(unseen.is_empty(), "no page leads to {unseen:?}");
}

#[test]
fn nothing_in_a_file_becomes_markup_or_a_path() {
    let site = USUAL.site.lock().unwrap();
    for (path, bytes) in site.iter() {
        let parts = path.split('/');
        let is_safe = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        assert!(
            parts.clone().all(|part| !part.starts_with('.') && part.chars().all(is_safe)),
            "{path}"
        );
        if path.ends_with(".dyno") {
            continue;
        }
        let text = String::from_utf8(bytes.clone()).unwrap();
        // In JSON lines no text is markup.
        if !path.ends_with(".jsonl") {
            assert!(!text.contains("<script>alert") && !text.contains("<img"), "{path}");
        }
        assert!(!text.contains("href=\"javascript"), "{path}");
    }
    assert!(
        site.keys().any(|path| path.starts_with(&format!("s/{}", slug("../../../etc/passwd"))))
    );
}

#[test]
fn a_strangers_machine_is_in_no_default_table_of_the_first_page() {
    let page = USUAL.page("index.html");
    let table = page.split("<section id=").nth(1).unwrap();
    assert!(table.contains(OWN) && !table.contains("intel-xeon"), "{table}");
    assert!(page.contains("intel-xeon"), "it has a table of its own");
}

#[test]
fn rows_that_cannot_be_compared_have_no_number() {
    let mut files = files();
    files[2].1 = SECOND.replace("server other", "server liar").replace("0.1.0", "");
    files
        .push(("runs/x.dyno", "began 1795884212480\ndyno liar\nserver liar 9 99000 Liar\n".into()));
    files.push(("runs/y.dyno", "began 1795884212490\nquick\nserver hasty 9 99000 Hasty\n".into()));
    let page = board(&files).page(&format!("w/hello/{OWN}/index.html"));
    let line_of = |name: &str| {
        let rows = page.split("<tr").filter(|row| row.contains(&format!("/{name}/index.html\"")));
        rows.map(str::to_string).next().unwrap_or_else(|| panic!("{name}: {page}"))
    };
    assert!(line_of("quick").contains(">1</td>"), "{}", line_of("quick"));
    // Rates of 5,010 and 5,000 with rounds that differ as much are one group.
    assert!(
        line_of("slow").contains(">2–3</td>") && line_of("liar").contains(">2–3</td>"),
        "{page}"
    );
    assert!(line_of("hasty").contains("a quick run"), "{}", line_of("hasty"));
}

#[test]
fn rows_of_one_run_have_the_numbers_that_the_run_gives_them() {
    let words =
        "began 1795884212469\nserver quick 1 5060 Q\nserver slow 2 5010 S\nserver other 3 5000 O\n";
    let run = (READER.parse)(words.as_bytes()).unwrap();
    let findings = run.findings();
    let placed = findings.board.tables[0].at(Point::Connections(64)).into_iter();
    let own: Vec<_> = placed.map(|it| (it.row.subject.clone(), it.rank)).collect();
    let summary = summary(&run);
    let rows = summary.rows.iter().map(|row| Shown { place: 0, run: &summary, row });
    let ranked = ranked(&rows.collect::<Vec<_>>()).into_iter();
    let here: Vec<_> = ranked.map(|it| (it.shown.row.server.clone(), it.rank)).collect();
    assert_eq!(here, own);
    assert_eq!(own[0].1, Some((1, 1)), "it is shown to be ahead");
    assert_eq!(own[1].1, Some((2, 3)), "these are not shown to differ");
}

#[test]
fn a_line_of_versions_ends_where_the_machine_or_dyno_changed() {
    let mut files = files();
    files.push((
        "runs/z.dyno",
        "began 1795884213000\ndyno 0.2.0\nserver quick 1.2 9900 Quick\n".into(),
    ));
    let page = board(&files).page("s/quick/index.html");
    let chart = page.split("<figure>").nth(1).unwrap().split("</figure>").next().unwrap();
    assert!(chart.contains("1.0") && chart.contains(">dyno<"), "{chart}");
    assert!(page.contains("quick --port 8080"), "how it was started: {page}");
    assert!(page.contains("href=\"https://example.org/quick\""), "{page}");
}

#[test]
fn a_superseded_run_keeps_its_page_and_leaves_the_tables() {
    let mut files = files();
    let superseded =
        format!("run = \"{}\"\nby = \"{}\"\nreason = \"a wrong disk\"", id(FIRST), id(SECOND));
    files.push(("superseded/a.toml", superseded));
    let memory = board(&files);
    let page = memory.page(&format!("r/{}/index.html", &id(FIRST)[..32]));
    assert!(page.contains("This run is superseded:</b> a wrong disk"), "{page}");
    assert!(!memory.page("s/slow/index.html").contains(&id(FIRST)[..8]), "in no table");
    assert!(memory.page("round/0/index.html").contains(&id(FIRST)[..8]), "but in its round's");
}

#[test]
fn a_runs_page_is_the_reports_below_what_is_said_of_its_file() {
    let path = format!("r/{}", &id(SECOND)[..32]);
    let page = USUAL.page(&format!("{path}/index.html"));
    let run = (READER.parse)(SECOND.as_bytes()).unwrap();
    let whole = report::render::Shown::page(&run.findings());
    let main =
        |page: &str| page[page.find("<main>").unwrap()..page.find("</main>").unwrap()].to_string();
    assert_eq!(main(&page), main(&whole));
    assert_eq!(USUAL.page(&format!("{path}/{}.dyno.sig", &id(SECOND)[..32])), "a signature");
    assert_eq!(USUAL.page(&format!("{path}/{}.dyno", &id(SECOND)[..32])), SECOND);
}

#[test]
fn a_round_without_sentences_is_given_the_answers_of_all_its_runs() {
    assert_eq!(USUAL.built().unfrozen.len(), 1, "the other one has its sentences");
    let runs = format!("runs = [\"{}\", \"{}\"]", id(FIRST), id(SECOND));
    let memory = board(&[
        ("board.toml", BOARD.into()),
        ("runs/a.dyno", FIRST.into()),
        ("runs/b.dyno", SECOND.into()),
        ("rounds/2.toml", format!("title = \"Both\"\ndate = \"2026-11-29\"\n{runs}\n")),
    ]);
    let [(_, answers)] = &memory.built().unfrozen[..] else { panic!("one round") };
    assert!(answers.iter().all(|it| it.starts_with("two: Quick is fastest")), "{answers:?}");
    assert_eq!(answers.len(), 2);
}

#[test]
fn data_has_every_row_and_its_schema_every_field() {
    let lines = USUAL.page("data/rows.jsonl");
    let schema: serde_json::Value = serde_json::from_str(&USUAL.page("data/schema.json")).unwrap();
    let known: BTreeSet<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(lines.lines().count(), 7);
    for line in lines.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let fields: BTreeSet<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(fields, known);
    }
    let index = USUAL.page("data/index.js");
    let index = index.strip_prefix("window.dynoIndex=").unwrap().trim_end().trim_end_matches(';');
    let index: serde_json::Value = serde_json::from_str(index).unwrap();
    assert_eq!(index["rows"].as_array().unwrap().len(), 7);
}

#[test]
fn a_folder_that_is_none_is_refused_with_the_way_out() {
    let refusal =
        |files: &[(&str, String)]| crate::site::build(&Memory::of(files), READER).unwrap_err();
    assert!(refusal(&[]).contains("it has no board.toml"));
    let wrong = refusal(&[("board.toml", "title = \"x\"\nquestions = 1\n".into())]);
    assert!(wrong.starts_with("board.toml: line 2: unknown field `questions`"), "{wrong}");
}

/// What a reader sees of a page: a line for each cell, paragraph and heading.
fn shown(page: &str) -> String {
    let body = page.split("<body>").nth(1).unwrap().split("<script>").next().unwrap();
    let mut text = String::new();
    for part in body.split('<').skip(1) {
        let (tag, rest) = part.split_once('>').unwrap();
        let is_block =
            ["p", "h1", "h2", "h3", "td", "th", "li", "tr", "svg", "dd", "dt", "pre", "text"];
        if is_block.contains(&tag.split(' ').next().unwrap()) {
            text.push('\n');
        }
        text.push_str(rest);
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn each_kind_of_page_is_as_it_was() {
    let mut files = files();
    // Pages of strangers' texts are tests of their own.
    files.retain(|(path, _)| !path.contains("evil"));
    files.push((
        "superseded/a.toml",
        format!("run = \"{}\"\nreason = \"a wrong disk\"", id(STRANGER)),
    ));
    let memory = board(&files);
    for (path, name) in [
        ("index.html", "first"),
        (&format!("w/hello/{OWN}/index.html"), "workload"),
        ("w/index.html", "workloads"),
        ("s/quick/index.html", "server"),
        ("s/index.html", "servers"),
        ("r/index.html", "runs"),
        ("round/index.html", "rounds"),
        ("round/0/index.html", "round"),
        (&format!("r/{}/index.html", &id(SECOND)[..32]), "run"),
        ("m/index.html", "machines"),
        ("method/index.html", "method"),
        ("c/quick/slow/index.html", "pair"),
        ("c/index.html", "compare"),
    ] {
        let golden = format!("{}/src/golden/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        let page = memory.page(path);
        // What is below it on a run's page is the report's.
        let page = if name == "run" { page.split("<main>").next().unwrap() } else { &page };
        expect_test::expect_file![golden].assert_eq(&shown(page));
    }
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/src/golden/");
    expect_test::expect_file![format!("{golden}badge.svg")]
        .assert_eq(&memory.page("b/quick/hello.svg"));
    expect_test::expect_file![format!("{golden}feed.xml")].assert_eq(&memory.page("feed.xml"));
}

#[test]
fn a_repetition_is_weighed_and_stands_on_both_pages() {
    let first =
        "began 1795884212469\ndone\nserver quick 1.1 9000 Quick\nserver slow 2.0 5000 Slow\n";
    let again = format!(
        "began 1795884999999\ndone\nseed 8\nrepeats {}\nserver quick 1.1 9001 Quick\nserver slow 2.0 2500 Slow\n",
        id(first)
    );
    let signature = || String::from("a signature");
    let files = [
        ("board.toml", BOARD.to_string()),
        ("runs/a.dyno", first.into()),
        ("runs/a.dyno.sig", signature()),
        ("runs/b.dyno", again.clone()),
        ("runs/b.dyno.sig", signature()),
    ];
    let site = board(&files);
    let both = [first, again.as_str()];
    for page in both.map(|words| site.page(&format!("r/{}/index.html", &id(words)[..32]))) {
        let says = "repeated by the same: 1 row repeated, 1 not repeated, 0 not decided";
        assert!(page.contains(says), "{page}");
    }
    // What has the seed of the original is none.
    let files = files.map(|(path, text)| (path, text.replace("seed 8\n", "")));
    let page = board(&files).page(&format!("r/{}/index.html", &id(first)[..32]));
    assert!(page.contains("this is no repetition: it has the seed of the original"), "{page}");
}
