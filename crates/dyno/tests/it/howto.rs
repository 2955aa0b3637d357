//! The examples of docs/howto.md and docs/start.md work as they stand there: every ```sh block is run.
//!
//! A block of howto.md stands alone, and runs in an empty folder; those of start.md are one session. `localhost:8080`
//! is an oracle, `localhost:8443` another one with TLS, whose authority is in `ca.pem`; and a load takes 300 ms. A
//! command must end with exit code 0, or with what its comment says: `# exit code 1`, or `# exit code 0 or 2` where it
//! depends on the machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use oracle::{Config, Delay};

use crate::faults::complaints;
use crate::folder::Folder;
use crate::install::{commands, commands_of};
use crate::lab_rig::not_tested;
use crate::rig::Rig;

const LONGEST_SECONDS: &str = "100";
/// What a `-d` of some seconds becomes.
const SHORT: &str = "300ms";
/// So that no example takes the whole machine.
const ANSWERS_AFTER: Duration = Duration::from_millis(5);

/// What an example calls that not every machine has, and how to see whether this one has it.
const NEEDS: [(&str, &str); 8] = [
    ("node ", "command -v node"),
    ("jq ", "command -v jq"),
    ("curl ", "command -v curl"),
    ("python3 ", "command -v python3"),
    ("import pandas", "python3 -c 'import pandas'"),
    ("git ", "command -v git"),
    ("openssl ", "command -v openssl"),
    ("ssh-keygen ", "command -v ssh-keygen"),
];

/// What a script says of a command that does not end as it should.
const WRONG: &str = "echo \"line $line ended with exit code $code\" >&2";

/// Commands, and flags of commands, that need no example in howto.md, because other pages explain them. Whatever is new
/// and not here needs one.
const ELSEWHERE: [(&str, &str); 29] = [
    (
        "agents run",
        "--allow --allow-file --ca --key-file --lab --max-connections --max-duration --max-rate --name \
         --servers --stdio --trust --trust-all --via --wait run",
    ),
    ("agents check", "--i-may-load-this-target --json --listen-on --target"),
    ("agents key", "--allow-file --dyno --max-connections --max-duration --servers"),
    ("agents trust", "trust"),
    (
        "agents slurm",
        "--account --allow --constraint --dyno --dyno-nats --lab --nats --partition --qos --shared",
    ),
    (
        "agents k8s",
        "--agents --allow --cpus --deadline --image --keys --lab --memory --namespace --nats-image k8s",
    ),
    ("agents nats", "--keys --lab --listen --tls-cert --tls-key --without-tls nats"),
    (
        "capacity",
        "--arrivals --body --body-file --connections --expect-body --expect-header --expect-status --max-failures --header \
         --http2 --i-may-load-this-target --isolate --max-time --listen-on --load-cpus --load-on --max-connections --method \
         --max-rate --no-keepalive --p50 --p90 --p95 --p99.9 --p99.99 --percentile --protocol --ready --resume --seed --store \
         --streams --server-cpus --timeout --vary --warmup --ca --ciphers --groups --insecure --tls --tls-resume",
    ),
    (
        "check",
        "--all --area --i-may-probe-this-target --list --post --slow --socket \
         --full",
    ),
    ("compare", "--full --store"),
    (
        "gate",
        "--aa --rounds --alpha --base --body --body-file --connections --control --expect-body --expect-header --expect-status \
         --gate --head --header --http2 --i-may-load-this-target --isolate --load-cpus --method \
         --no-keepalive --path --protocol --ready --seed --store --streams --server --server-cpus --timeout --vary --warmup \
         --builds --ca --ciphers --groups --history --insecure --listen-on --load-on --no-why --tls --tls-resume",
    ),
    (
        "hold",
        "--interval --broadcast --connections --load-cpus --echo --events --every --header --i-may-load-this-target \
          --load-on --no-live --no-reopen --rate --seed --settle --dry-run --silence --source --step \
         --text --timeout hold",
    ),
    ("servers list", "--json list"),
    ("runs list", "--all --json --store list"),
    (
        "load",
        "--body --body-file --calls --connections --expect-header --expect-status --header \
         --http1.0 --i-may-load-this-target --lenient --max-connections --method --no-live \
         --on-time --rate --seed --sessions --source --spin --timeout --unix --warmup --calibrate --quick --origin",
    ),
    (
        "race",
        "--arrivals --body --body-file --calls --check --expect-body --expect-header --expect-status \
         --header --i-may-load-this-target --isolate --max-time --listen-on --load-on --max-connections \
         --method --no-ceiling --rate --ready --same --seed --sessions --slices --store --timeout --until \
         --vary --warmup --total --why",
    ),
    ("report", "--full --store --workload"),
    (
        "run",
        "--full --listen-on --load-cpus --load-on --no-check --quick --resume --dry-run \
         --store --server-cpus --server-on run --i-may-load-this-target --vary --why",
    ),
    (
        "serve",
        "--backlog --collapse --cpus --dataset --fault --fault-rate --files --json --late --list-faults --lottery \
         --rate-limit --reply --root --seed --servers --service --stall --tell-delay --threads",
    ),
    ("servers setup", "--all --yes setup"),
    ("view", "--port --store view"),
    ("audit", "--connections --times-in"),
    ("servers new", "--method --header --body --expect-status"),
    ("runs rm", "--dry-run --store"),
    ("runs prune", "--unfinished --store"),
    ("runs export", "--store --why"),
    ("runs verify", "--signers"),
    ("runs repeat", "--as-root --i-have-read --show --store repeat"),
    ("trend", "--run --store"),
];

/// What an example has started ends with it, even where the example went wrong.
const ENDED: &str = "kill $(jobs -p) 2>/dev/null || true";

/// One ```sh block. Its lines keep their numbers.
#[derive(Clone, Debug)]
struct Block {
    heading: String,
    lines: Vec<(usize, String)>,
}

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn blocks(page: &str) -> Vec<Block> {
    let (mut blocks, mut heading, mut fence) = (Vec::<Block>::new(), String::new(), None);
    for (number, line) in page.lines().enumerate().map(|(index, line)| (index + 1, line)) {
        match (fence, line.strip_prefix("```")) {
            (None, Some(language)) => {
                fence = Some(language == "sh");
                if language == "sh" {
                    blocks.push(Block { heading: heading.clone(), lines: Vec::new() });
                }
            }
            (Some(_), Some(_)) => fence = None,
            (Some(true), None) => blocks.last_mut().unwrap().lines.push((number, line.into())),
            (Some(false), None) => {}
            (None, None) if line.starts_with('#') => {
                heading = line.trim_start_matches(['#', ' ']).into();
            }
            (None, None) => {}
        }
    }
    blocks
}

impl Block {
    fn is_empty(&self) -> bool {
        self.lines.iter().all(|(_, line)| line.trim().is_empty() || line.trim().starts_with('#'))
    }

    fn text(&self) -> String {
        self.lines.iter().map(|(_, line)| format!("{line}\n")).collect()
    }

    /// What it needs and this machine lacks.
    fn lacks(&self) -> Option<&'static str> {
        let text = self.text();
        let needed = NEEDS.iter().filter(|(word, _)| text.contains(word));
        needed.map(|(word, probe)| (word.trim(), *probe)).find_map(|(word, probe)| {
            let mut probed = Command::new("sh");
            probed.args(["-c", probe]).stdout(Stdio::null()).stderr(Stdio::null());
            (!probed.status().unwrap().success()).then_some(word)
        })
    }

    /// A script whose lines have the numbers that they have in the page.
    fn script(&self, address: &str, secured: &str) -> String {
        let mut script =
            format!("set -e; trap 'code=$?; line=$LINENO; {WRONG}' ERR; trap '{ENDED}' EXIT");
        let (mut written, mut open) = (1, None);
        let mut lines: Vec<String> = self.lines.iter().map(|(_, line)| shorter(line)).collect();
        for index in 0..lines.len() {
            let start = open.take().unwrap_or(index);
            if let Some((command, codes)) = lines[index].split_once("# exit code ") {
                let are = codes.split([' ', ',']).filter(|word| word.parse::<u8>().is_ok());
                let (are, line) = (are.collect::<Vec<_>>().join("|"), self.lines[index].0);
                let judge = format!(
                    "code=$?; line={line}; set -e; case $code in {are}) ;; *) {WRONG}; exit 1; esac"
                );
                lines[index] = format!("{}; {judge}", command.trim_end());
                lines[start] = format!("trap - ERR; set +e; {}", lines[start]);
            } else if lines[index].ends_with('\\') {
                open = Some(start);
            }
        }
        for ((number, _), line) in self.lines.iter().zip(lines) {
            script.push_str(&"\n".repeat(number - written));
            script.push_str(&line);
            written = *number;
        }
        script.replace("localhost:8080", address).replace("localhost:8443", secured)
    }
}

/// The line, with a load that is soon over, that is soon counted, and that does not take the whole machine.
fn shorter(line: &str) -> String {
    let is_time =
        |word: &str| word.ends_with('s') && word.starts_with(|first: char| first.is_ascii_digit());
    let words: Vec<&str> = line.split(' ').collect();
    let words = words.iter().enumerate().map(|(index, word)| {
        let is_after = 0 < index && ["-d", "--duration"].contains(&words[index - 1]);
        if is_after && is_time(word) { SHORT } else { *word }
    });
    let mut line = words.collect::<Vec<_>>().join(" ").replace("--no-ceiling ", "");
    line = line
        .replace("dyno race ", "dyno race --warmup 100ms --no-ceiling ")
        .replace("127.0.0.1:{port}", "127.0.0.1:{port} --delay constant:2ms")
        .replace("--delay constant:2ms --delay", "--delay");
    if !line.contains(" -d ") {
        line = line.replace("dyno run demo ", &format!("dyno run demo -d {SHORT} "));
    }
    line
}

/// What is wrong with it, if anything is.
fn fault(name: &str, block: &Block) -> Option<String> {
    let place = format!("docs/{name}, line {}: {}", block.lines.first()?.0, block.heading);
    if let Some(word) = block.lacks() {
        not_tested(&place, word);
        return None;
    }
    let config = Config { delay: Some(Delay::Constant(ANSWERS_AFTER)), ..Config::default() };
    let (rig, folder) = (Rig::oracle(config.clone()), Folder::new());
    let address = rig.url("").replace("http://", "");
    let secured = Rig::oracle(Config { tls: Some(Arc::default()), ..config });
    folder.write("here/ca.pem", secured.authority());
    let secured = secured.url("").replace("https://127.0.0.1", "localhost");
    folder.write("script", block.script(&address, &secured));
    let dyno = Path::new(env!("CARGO_BIN_EXE_dyno")).parent().unwrap().display();
    let path = format!("{dyno}:{}", std::env::var("PATH").unwrap());
    let ran = Command::new("timeout")
        .args(["--kill-after=5", LONGEST_SECONDS, "bash"])
        .arg(folder.path("script"))
        .current_dir(folder.path("here"))
        .env("PATH", path)
        .env("HOME", &folder.root)
        .env_remove("COLUMNS")
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("XDG_DATA_HOME")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&ran.stdout), text(&ran.stderr));
    let says = format!("{place}\n{}\n{stdout}\n{stderr}", ran.status);
    (!crate::rig::is_done(ran.status.code(), &says)).then_some(says)
}

#[track_caller]
fn run_all(name: &str, blocks: &[Block]) {
    let empty: Vec<&str> =
        blocks.iter().filter(|block| block.is_empty()).map(|block| &*block.heading).collect();
    assert!(empty.is_empty(), "docs/{name}: a block is empty: {empty:?}");
    assert!(!blocks.is_empty(), "docs/{name} has no ```sh block");
    let faults = complaints(blocks, |block| fault(name, block));
    let (wrong, all) = (faults.len(), blocks.len());
    assert!(faults.is_empty(), "{wrong} of {all} blocks:\n{}", faults.join("\n"));
}

#[test]
fn every_example_of_howto_works() {
    let page = page("howto.md");
    let blocks = blocks(&page);
    run_all("howto.md", &blocks);
    let with_example: BTreeSet<&str> = blocks.iter().map(|block| &*block.heading).collect();
    for heading in page.lines().filter_map(|line| line.strip_prefix("## ")) {
        assert!(with_example.contains(heading), "docs/howto.md: `{heading}` has no ```sh block");
    }
}

/// Each step uses what those before it left behind.
#[test]
fn the_tutorial_works_from_its_first_line_to_its_last() {
    let steps = blocks(&page("start.md"));
    assert!(steps.iter().all(|step| !step.is_empty()), "a block of docs/start.md is empty");
    let lines = steps.iter().flat_map(|step| step.lines.clone()).collect();
    run_all("start.md", &[Block { heading: "all steps".into(), lines }]);
}

/// The names of a flag, `-c` and `--connections`, as they stand in a command's help.
fn flags(command: &str) -> Vec<Vec<String>> {
    let ran = Command::new(env!("CARGO_BIN_EXE_dyno"))
        .args(command.split(' '))
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(ran.stdout).unwrap();
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let names = lines.map(|line| {
        let words = line.split([' ', ',', '[', '=']).filter(|word| !word.is_empty());
        words.take_while(|word| word.starts_with('-')).map(String::from).collect::<Vec<_>>()
    });
    names
        .filter(|names| names.iter().all(|name| !["--help", "-", "--version"].contains(&&**name)))
        .collect()
}

/// The commands of the examples, continued lines joined, comments left out.
fn examples(page: &str) -> Vec<String> {
    let text: String = blocks(page).iter().map(Block::text).collect();
    let lines = text.replace("\\\n", " ");
    let lines = lines.lines().map(|line| line.split(" # ").next().unwrap().to_string());
    lines.filter(|line| line.contains("dyno ")).collect()
}

/// Flags that mean the same for every command that has a result: an example of one command shows them all.
const OF_RESULTS: [&str; 4] = ["--format", "--json", "--markdown", "--output"];

/// Commands whose flags of these names are their own.
const OWN: [&str; 5] = ["agents check", "runs export", "runs list", "serve", "servers list"];

/// All commands that have flags: `load`, `runs rm`.
fn leaves() -> Vec<String> {
    let below = |command: String| match commands_of(&[&command]) {
        names if names.is_empty() => vec![command],
        names => names.iter().map(|name| format!("{command} {name}")).collect(),
    };
    commands().into_iter().flat_map(below).collect()
}

#[test]
fn every_command_and_every_flag_has_an_example_in_howto_or_is_explained_elsewhere() {
    let examples = examples(&page("howto.md"));
    let shows = |command: &str, names: &[String]| {
        let calls = examples.iter().filter(|line| line.contains(&format!("dyno {command}")));
        let mut words = calls.flat_map(|line| line.split([' ', '=', ')', '"']));
        words.any(|word| names.iter().any(|name| name == word))
    };
    let mut wrong = Vec::new();
    for command in leaves() {
        let name = command.split(' ').next_back().unwrap().to_string();
        let entry = ELSEWHERE.iter().find(|(name, _)| *name == command);
        let others: BTreeSet<&str> =
            entry.map_or("", |(_, flags)| flags).split_whitespace().collect();
        let mut unknown = others.clone();
        let is_shared = |flag: &str| OF_RESULTS.contains(&flag) && !OWN.contains(&&*command);
        for names in flags(&command).into_iter().chain([vec![name]]) {
            let long = names.last().unwrap().as_str();
            unknown.remove(long);
            let by = if is_shared(long) { "" } else { command.as_str() };
            if !others.contains(long) && !shows(by, &names) {
                wrong.push(format!("`dyno {command}` has no example of {long}"));
            }
        }
        wrong.extend(unknown.iter().map(|flag| format!("`dyno {command}` has no {flag}")));
    }
    assert!(wrong.is_empty(), "docs/howto.md:\n{}", wrong.join("\n"));
}
