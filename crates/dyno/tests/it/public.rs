//! Runs for the public: export, import, verification, figures in the shape of another tool, and a board.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::folder::Folder;
use crate::rig::Rig;

/// A folder with a store that has one race, which the documentation shows.
fn shelf() -> Folder {
    let folder = Folder::new();
    folder.write("runs.sqlite", shown_store("first-race"));
    folder
}

/// The store of a run that the documentation shows.
pub(crate) fn shown_store(name: &str) -> Vec<u8> {
    let shown = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/shown");
    let mut bytes = Vec::new();
    let packed = File::open(format!("{shown}/{name}.sqlite.gz")).unwrap();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

pub(crate) fn unpacked(path: &str) -> String {
    let mut text = String::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// The lines of a file but for its head and what its exporter says of its store.
fn without_lineage(path: &str) -> Vec<String> {
    let text = unpacked(path);
    let lines = text.lines().skip(1).filter(|line| !line.starts_with("{\"lineage\""));
    lines.map(String::from).collect()
}

pub(crate) fn id(text: &str) -> String {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("id "));
    line.unwrap_or_else(|| panic!("no id: {text}")).to_string()
}

#[test]
fn a_public_file_is_shown_written_verified_and_imported_under_one_id() {
    let (rig, shelf) = (Rig::new(), shelf());
    let [store, file, again] = ["runs.sqlite", "a.dyno", "b.dyno"].map(|it| shelf.path(it));
    let export = |rest: &[&str]| rig.dyno(&[&["runs", "export", "1", "--public"], rest].concat());
    let shown = export(&["--show", "--store", &store]).status(0);
    assert!(!shelf.has("a.dyno"));
    let written = export(&["-o", &file, "--store", &store]);
    assert_eq!(id(&written.status(0).stdout), id(&shown.stdout));
    let verified = rig.dyno(&["runs", "verify", &file]).status(0).stdout_has("consistent");
    assert_eq!(id(&verified.stdout), id(&shown.stdout));
    let other = shelf.path("other.sqlite");
    rig.dyno(&["runs", "import", &file, "--store", &other]).status(0);
    rig.dyno(&["runs", "import", &file, "--store", &other]).status(0).stdout_has("here already");
    export(&["-o", &again, "--store", &other]).status(0);
    assert_eq!(without_lineage(&file), without_lineage(&again));
    // Nothing is overwritten.
    export(&["-o", &file, "--store", &other]).status(2);
}

#[test]
fn what_was_changed_in_a_public_file_is_named() {
    let (rig, shelf) = (Rig::new(), shelf());
    let [store, file, changed] = ["runs.sqlite", "a.dyno", "c.dyno"].map(|it| shelf.path(it));
    rig.dyno(&["runs", "export", "1", "--public", "-o", &file, "--store", &store]).status(0);
    let text = unpacked(&file);
    let repacked = |text: &str| {
        let mut packer = GzEncoder::new(File::create(&changed).unwrap(), Compression::fast());
        packer.write_all(text.as_bytes()).unwrap();
        packer.finish().unwrap();
    };
    repacked(&text.replacen("\"attempted", "\"Attempted", 1));
    rig.dyno(&["runs", "verify", &file, &changed])
        .status(2)
        .stdout_has("refused")
        .stdout_has("consistent");
    // A claim with the digest that fits it.
    let mut lines: Vec<String> = text.split_inclusive('\n').map(String::from).collect();
    let at = lines.iter().position(|line| line.starts_with("{\"claims\"")).unwrap();
    let old = sha256(&lines[at]);
    let mut claims: Value = serde_json::from_str(&lines[at]).unwrap();
    claims["claims"]["tables"][0]["rows"][0]["figures"]["throughput_per_s"]["value"] = 1e9.into();
    lines[at] = serde_json::to_string(&claims).unwrap() + "\n";
    let new = sha256(&lines[at]);
    lines[0] = lines[0].replace(&old, &new);
    repacked(&lines.concat());
    let found = rig.dyno(&["runs", "verify", &changed]).status(1);
    found.stdout_has("intact").stdout_has("figures.throughput_per_s.value: claimed 1000000000");
    for (bytes, says) in
        [(&b"no file"[..], "not a public file"), (b"\x1f\x8b", "cannot be unpacked")]
    {
        fs::write(&changed, bytes).unwrap();
        rig.dyno(&["runs", "verify", &changed]).status(2).stdout_has(says);
    }
    rig.dyno(&["runs", "verify", "/nowhere.dyno"]).status(2).stdout_has("/nowhere.dyno");
}

fn sha256(text: &str) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_load_in_the_shape_of_zrk_has_its_figures_and_is_audited() {
    let (rig, shelf) = (Rig::new(), shelf());
    let (own, like) = (shelf.path("own.json"), shelf.path("like.json"));
    let url = rig.url("/hello");
    let flags = ["load", &url, "-c", "4", "-d", "1s", "-r", "500", "--like", "zrk", "-o", &own];
    let ran = rig.dyno(&flags);
    assert!(ran.code().is_some_and(|code| code <= 2), "{}", ran.stderr);
    let zrk = ran.json();
    let own = shelf.json("own.json");
    let value = |name: &str| own["figures"][name]["value"].as_f64().unwrap();
    let is_near = |one: f64, other: f64| (one - other).abs() <= 1e-3 * other.abs() + 1.0;
    assert!(is_near(zrk["achieved_rate"].as_f64().unwrap(), value("throughput_per_s")), "{zrk:#}");
    assert!(is_near(zrk["latency_us"]["p99"].as_f64().unwrap(), 1e3 * value("response_p99_ms")));
    assert!(is_near(zrk["target_rate"].as_f64().unwrap(), 500.0));
    assert!(zrk["latency_histogram"].as_str().unwrap().starts_with("HIST"));
    fs::write(&like, &ran.stdout).unwrap();
    let sound = rig.dyno(&["audit", &like]).stdout_has("the JSON of zrk");
    sound.stdout_lacks("percentiles");
    let impossible = ran.stdout.replace("\"p50\":", "\"p50\": 99999999, \"was\":");
    fs::write(&like, impossible).unwrap();
    rig.dyno(&["audit", &like]).status(1).stdout_has("p50");
}

#[test]
fn the_runs_of_the_first_board_are_consistent_and_make_a_site() {
    let (rig, shelf) = (Rig::new(), shelf());
    let board = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../board");
    let runs = files(&board.join("runs")).len();
    let (board, site) = (board.display().to_string(), shelf.path("site"));
    let ran = rig.dyno(&["publish", &board, "-o", &site]).status(0);
    assert!(!ran.stderr.contains("refused"), "{ran}");
    // Each file is verified where it is published, and its page says how far it can be believed.
    let is_consistent = |page: &&PathBuf| {
        let text = fs::read_to_string(page).unwrap_or_default();
        text.contains("Consistent: all that the file claims was recomputed")
    };
    assert!(0 < runs);
    assert_eq!(files(Path::new(&site)).iter().filter(is_consistent).count(), runs, "{ran}");
    // Neither another folder's files nor a file is taken for a site.
    rig.dyno(&["publish", &board, "-o", &shelf.path(".")]).status(2).stderr_has("-o");
    rig.dyno(&["publish", &shelf.path("."), "-o", &shelf.path("three")])
        .status(2)
        .stderr_has("board.toml");
}

/// Every file below a folder, in one order.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
