//! The outputs in README.md and docs/start.md are those of kept runs: `make readme-output` records them, and a test renders
//! the kept runs to the same text, or with UPDATE_EXPECT writes it anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::folder::Folder;
use crate::public::shown_store;

/// What a page shows of a run, between two comments that name it.
struct Shown {
    name: &'static str,
    page: &'static str,
    command: &'static str,
    /// Whether the command stands above its output.
    has_command: bool,
    /// The parts that are shown: how each begins, and its most lines. An empty line ends it sooner.
    parts: &'static [(&'static str, usize)],
}

const SHOWN: [Shown; 3] = [
    Shown {
        name: "race",
        page: "README.md",
        command: "dyno race 'node a.js --port {port}' 'node b.js --port {port}' -c 16 -d 2s --warmup 2s",
        has_command: true,
        parts: &[("checked: ", 1), ("rank ", 4), ("in short", WHOLE)],
    },
    Shown {
        name: "first-load",
        page: "docs/start.md",
        command: "dyno load localhost:8080/hello -c 10 -d 10s",
        has_command: false,
        parts: &[
            ("GET ", WHOLE),
            ("throughput/s ", WHOLE),
            ("response: ", WHOLE),
            ("in short", WHOLE),
        ],
    },
    Shown {
        name: "first-race",
        page: "docs/start.md",
        command: "dyno race 'dyno serve --listen 127.0.0.1:{port} --delay constant:1ms' \
                  'dyno serve --listen 127.0.0.1:{port} --delay constant:2ms' \
                  --name before --name after --path /hello -c 10 -d 3s",
        has_command: false,
        parts: &[("checked: ", 1), ("server     ", 5), ("in short", WHOLE)],
    },
];

/// What stands for lines that are left out.
const LEFT_OUT: &str = "[…]";

/// A part that only an empty line ends.
const WHOLE: usize = usize::MAX;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Shown {
    fn kept(&self) -> PathBuf {
        root().join(format!("docs/shown/{}.sqlite.gz", self.name))
    }

    /// The parts of a report, with a mark between parts that are not neighbours.
    fn of(&self, report: &str) -> Vec<String> {
        let lines: Vec<&str> = report.lines().collect();
        let (mut text, mut shown_until) = (Vec::new(), 0);
        for (beginning, lines_max) in self.parts {
            let is_it = |line: &&str| line.trim_start().starts_with(beginning);
            let skipped = lines[shown_until..].iter().position(is_it);
            let skipped = skipped.unwrap_or_else(|| panic!("{}: no `{beginning}`", self.name));
            let first = shown_until + skipped;
            let part = lines[first..].iter().take_while(|line| !line.is_empty());
            let count = part.take(*lines_max).count();
            match skipped {
                0 => {}
                1 if lines[shown_until].is_empty() => text.push(String::new()),
                _ => text.push(LEFT_OUT.into()),
            }
            text.extend(lines[first..first + count].iter().map(|line| line.trim_end().to_string()));
            shown_until = first + count;
        }
        text
    }

    /// The text between the comments: the output, then when and where it was recorded.
    fn block(&self, report: &str, recorded: &str) -> String {
        let (language, command) = match self.has_command {
            true => ("console", format!("$ {}\n", self.command)),
            false => ("text", String::new()),
        };
        let output = self.of(report).join("\n");
        format!("```{language}\n{command}{output}\n```\n\n*{recorded}*\n")
    }

    /// What stands before the comments, between them, and after them.
    fn split<'t>(&self, page: &'t str) -> Option<[&'t str; 3]> {
        let begin = format!("<!-- make readme-output: {} -->\n", self.name);
        let from = page.find(&begin)? + begin.len();
        let until = from + page[from..].find("<!-- /make readme-output -->")?;
        Some([&page[..from], &page[from..until], &page[until..]])
    }
}

fn run(command: &mut Command) -> String {
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

/// The report of a kept run, as wide as a page of text.
fn report(dyno: &Path, store: &Path) -> String {
    let mut command = Command::new(dyno);
    run(command.args(["report", "--store"]).arg(store).env("COLUMNS", "100"))
}

#[test]
fn outputs_in_readme_and_the_tutorial_are_those_of_the_kept_runs() {
    let folder = Folder::new();
    for shown in SHOWN {
        let page = fs::read_to_string(root().join(shown.page)).unwrap();
        let [before, block, after] =
            shown.split(&page).unwrap_or_else(|| panic!("{}: no comments", shown.page));
        let store = folder.root.join(shown.name);
        let joined = page.replace(" \\\n  ", " ");
        assert!(joined.contains(shown.command), "{}: {}", shown.page, shown.command);
        folder.write(shown.name, shown_store(shown.name));
        let recorded = block.trim_end().rsplit_once("\n*").expect("when it was recorded").1;
        let rendered = shown.block(
            &report(Path::new(env!("CARGO_BIN_EXE_dyno")), &store),
            recorded.trim_end_matches('*'),
        );
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(root().join(shown.page), format!("{before}{rendered}{after}")).unwrap();
            continue;
        }
        assert_eq!(block, rendered, "{}: {}", shown.page, shown.name);
    }
}

/// Repeats each command (with `ONLY`, those whose name has it) until its result is valid, for `MINUTES` in all at the
/// most, and writes output and run into the tree. What has not become valid stays as it was, and is named.
#[test]
#[ignore = "make readme-output"]
fn record() {
    let dyno = PathBuf::from(std::env::var("DYNO_PROGRAM").expect("the optimised dyno"))
        .canonicalize()
        .unwrap();
    let minutes = std::env::var("MINUTES").ok().and_then(|it| it.parse().ok()).unwrap_or(120);
    let each = Duration::from_secs(60 * minutes / SHOWN.len() as u64);
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut missing = Vec::new();
    for shown in SHOWN.iter().filter(|shown| shown.name.contains(&only)) {
        let folder =
            std::env::temp_dir().join(format!("dyno-record-{}-{}", shown.name, std::process::id()));
        let began = Instant::now();
        let why = loop {
            let Err(why) = recorded(shown, &dyno, &folder) else { break None };
            if each < began.elapsed() {
                break Some(format!("{}: {why}", shown.name));
            }
        };
        missing.extend(why);
        fs::remove_dir_all(folder).unwrap();
    }
    assert!(missing.is_empty(), "no result was valid; the last ones:\n{}", missing.join("\n\n"));
}

/// Runs the command once. If its result is valid, it is in the tree now; else this is what dyno said.
fn recorded(shown: &Shown, dyno: &Path, folder: &Path) -> Result<(), String> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    for server in ["a.js", "b.js"] {
        fs::copy(root().join("docs/shown").join(server), folder.join(server)).unwrap();
    }
    let path = format!("{}:{}", dyno.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let script = match shown.command.contains(":8080") {
        true => format!(
            "dyno serve --delay constant:1ms >/dev/null & sleep 1; {} --keep --store runs; kill %1",
            shown.command
        ),
        false => format!("{} --store runs", shown.command),
    };
    let mut command = Command::new("bash");
    let ran = command.args(["-c", &script]).current_dir(folder).env("PATH", path).output().unwrap();
    let store = folder.join("runs");
    if !store.exists() {
        return Err(String::from_utf8_lossy(&ran.stderr).into_owned());
    }
    let text = report(dyno, &store);
    if !text.lines().any(|line| line.starts_with("verdict: valid")) {
        return Err(text);
    }
    let exported = folder.join("run");
    run(Command::new(dyno)
        .args(["runs", "export", "1", "--store"])
        .arg(&store)
        .arg("-o")
        .arg(&exported));
    let packed = Command::new("gzip").args(["-9nc"]).arg(&exported).output().unwrap();
    fs::write(shown.kept(), packed.stdout).unwrap();
    let machine = text
        .lines()
        .find(|line| line.contains("CPUs "))
        .unwrap_or("")
        .split(" · dyno")
        .next()
        .unwrap();
    let day = run(Command::new("date").arg("+%-d %B %Y"));
    let said = format!("Recorded on {}: {}.", day.trim(), machine.replace(" · ", ", "));
    let place = root().join(shown.page);
    let page = fs::read_to_string(&place).unwrap();
    let [before, _, after] = shown.split(&page).expect("the page has the comments");
    fs::write(place, format!("{before}{}{after}", shown.block(&text, &said))).unwrap();
    Ok(())
}
