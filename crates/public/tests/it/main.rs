//! Public files of a kept run: what is in them, what is not, and what a verification finds of changes.

#![allow(clippy::unwrap_used)]

mod campaigns;
mod changed_files;
mod repetitions;

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use changed_files::lines_of;
use flate2::read::GzDecoder;
use lab::experiment::Point;
use lab::plan::{Runner, plan};
use lab::record::{Entry, Fact, ProfileRecord, RunRecord, TrialRecord};
use public::{Level, Lineage, PublicRun, Words, verify};
use serde_json::{Value, json};
use store::{Extent, Kept, RunEnd, Store};

type Loaded = (RunRecord, Vec<TrialRecord>, Option<(i64, RunEnd)>);

fn loaded() -> Loaded {
    SHOWN.clone()
}

/// A run that the documentation shows, of which a kept store is in the tree.
static SHOWN: LazyLock<Loaded> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let packed = root.join("docs/shown/race.sqlite.gz");
    let path = scratch("store");
    io::copy(&mut GzDecoder::new(File::open(packed).unwrap()), &mut File::create(&path).unwrap())
        .unwrap();
    let store = Store::open_to_read(&path).unwrap();
    let summary = store.runs().unwrap().pop().unwrap();
    let run = store.run(summary.id).unwrap();
    let trials = store.trials(summary.id, Extent::Whole).unwrap().into_iter();
    let whole = |kept| match kept {
        Kept::Whole(trial) => *trial,
        Kept::Damaged(damage) => panic!("{}", damage.says),
    };
    let loaded = (run, trials.map(whole).collect(), summary.ended);
    std::fs::remove_file(&path).unwrap();
    loaded
});

/// What is published of it.
static PUBLISHED: LazyLock<PublicRun> = LazyLock::new(|| published(loaded()));

/// The lines of its file.
fn published_lines() -> Vec<String> {
    lines_of(&PUBLISHED.write(false).unwrap())
}

fn scratch(name: &str) -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id());
    let digits: String = thread.chars().filter(char::is_ascii_digit).collect();
    std::env::temp_dir().join(format!("dyno-public-{name}-{}-{digits}", std::process::id()))
}

fn words() -> Words {
    Words {
        home: "/srv/people/alice".into(),
        project: "/srv/work/thing".into(),
        user: "alicegold".into(),
        host: "hephaestus".into(),
    }
}

fn published((run, trials, ended): Loaded) -> PublicRun {
    PublicRun::of(run, trials, ended, Lineage { finished: 3, unfinished: 1 }, &words()).unwrap().0
}

#[test]
fn a_run_comes_back_under_the_same_id_and_is_consistent() {
    let run = &PUBLISHED;
    let bytes = run.write(true).unwrap();
    assert_eq!(bytes, run.write(true).unwrap());
    let back = PublicRun::read(&bytes).unwrap();
    assert_eq!((&back.id, back.lineage), (&run.id, Lineage { finished: 3, unfinished: 1 }));
    let found = verify(&back);
    assert_eq!(
        found.level,
        Level::Consistent,
        "{:#?} {:#?}",
        found.differences,
        found.unrecomputed
    );
    // Exported once more, elsewhere: other words, another lineage, no other content.
    let (other, notes) = PublicRun::of(
        back.record,
        back.trials,
        back.ended,
        Lineage::default(),
        &Words {
            home: "/home/bob".into(),
            project: "/opt/x".into(),
            user: "bobsilver".into(),
            host: "ares".into(),
        },
    )
    .unwrap();
    assert_eq!((&other.id, notes.len()), (&run.id, 0));
}

#[test]
fn dates_and_times_that_contradict_each_other_are_found() {
    type Change = fn(&mut Loaded);
    let changes: [(&str, Change); 6] = [
        ("trial ", |(run, ..)| run.began_unix_ms += 86_400_000),
        ("trial ", |(_, trials, _)| trials[0].began_unix_ms -= 86_400_000),
        ("the end", |(_, _, ended)| ended.as_mut().unwrap().0 -= 86_400_000),
        ("the end", |(_, trials, _)| trials[1].began_unix_ms += 86_400_000),
        ("CPU time of a thread", |(_, trials, _)| {
            trials[0].loaded.as_mut().unwrap().recording.lanes[0].cpu_time *= 100;
        }),
        ("CPU time of the server", |(_, trials, _)| {
            let mut all = trials[0].series.iter_mut();
            let series = all.find(|series| series.name == "subject.cpu.total").unwrap();
            series.points.last_mut().unwrap().1 += 1e12;
            trials.iter_mut().for_each(|trial| trial.loaded.as_mut().unwrap().in_turns = None);
        }),
    ];
    for (at, change) in changes {
        let mut changed = loaded();
        change(&mut changed);
        let found = verify(&published(changed));
        let differences = &found.differences;
        assert!(differences.iter().any(|it| it.at.contains(at)), "{at}: {differences:?}");
    }
}

/// One round of the run's servers, and of a reference that dyno added.
fn with_one_round((run, trials, ended): &mut Loaded) {
    let added = Entry { name: "added".into(), tier: "reference".into(), ..run.entries[0].clone() };
    run.entries.push(added);
    let experiment = run.experiment.as_mut().unwrap();
    experiment.repeat = 1;
    let runners = run.entries.iter().map(|entry| Runner {
        subject: entry.name.clone(),
        asked: experiment.workloads.clone(),
        protocols: experiment.protocols(),
        is_extra: entry.tier == "reference",
    });
    run.plan = plan(experiment, &runners.collect::<Vec<_>>());
    trials.truncate(run.plan.len());
    trials.iter_mut().zip(&run.plan).for_each(|(trial, key)| trial.key = key.clone());
    ended.as_mut().unwrap().0 += 600_000;
}

/// A gate that needed fewer pairs than were planned.
fn with_fewer_pairs((run, trials, _): &mut Loaded) {
    let pairs = json!({
        "detect": 0.1, "level": 0.01, "missed": 0.1, "figures": [], "most": 3, "builds": null
    });
    run.experiment.as_mut().unwrap().pairs = Some(serde_json::from_value(pairs).unwrap());
    trials.retain(|trial| trial.key.repeat < 3);
}

/// A search, whose loads are not those of its plan.
fn with_another_load((run, trials, _): &mut Loaded) {
    let (name, value) = (lab::record::CAPACITY_SEARCH.into(), "p99 <= 20 ms".into());
    run.facts.push(Fact { name, value });
    trials[0].key.point = Point::Connections(7);
}

#[test]
fn runs_that_their_own_data_end_and_single_rounds_beside_a_reference_have_no_differences() {
    for change in [with_one_round, with_fewer_pairs, with_another_load] {
        let mut changed = loaded();
        change(&mut changed);
        assert_eq!(verify(&published(changed)).differences, []);
    }
}

#[test]
fn what_is_left_out_changes_no_figure_and_no_verdict() {
    let (run, trials, _) = &*SHOWN;
    let whole = report::run::Findings::of(&1, run, trials, Vec::new());
    let whole: Value = serde_json::from_str(&report::render::Shown::json(&whole).unwrap()).unwrap();
    assert_eq!(PUBLISHED.claims["verdict"], whole["verdict"]);
    for (claimed, whole) in rows(&PUBLISHED.claims).into_iter().zip(rows(&whole)) {
        assert_eq!(claimed["figures"], whole["figures"]);
        let doubts = |row: &Value| {
            let doubts = row["verdict"]["doubts"].as_array().unwrap();
            doubts.iter().map(|doubt| doubt["id"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(doubts(claimed), doubts(whole));
    }
}

fn rows(document: &Value) -> Vec<&Value> {
    let tables = document["tables"].as_array().unwrap();
    tables.iter().flat_map(|table| table["rows"].as_array().unwrap()).collect()
}

/// What is private, in every form that the pass knows, around a mark.
const SECRETS: &str = "MARK /srv/people/alice/MARK1 /home/mark2/x /Users/mark3 alicegold\nhephaestus\n\
    https://mark4:mark5@example.org/\n10.9.8.7 192.168.77.1:80 fd00::77:1\n/home/mark7\n\
    Authorization: Bearer mark6\nX-Auth-Token = \"mark8\"\nhost=10.1.2.3 me@mark9.example";
const FOUND: [&str; 17] = [
    "mark8",
    "mark9",
    "10.1.2.3",
    "mark7",
    "hunter2",
    "/srv/people",
    "mark2",
    "mark3",
    "alicegold",
    "hephaestus",
    "mark4",
    "mark5",
    "10.9.8.7",
    "192.168.77.1",
    "fd00::77",
    "mark6",
    "/srv/work",
];

fn plant(text: &mut String) {
    text.push_str(&format!(" {SECRETS}\n/srv/work/thing/y"));
}

fn plant_bytes(bytes: &mut Vec<u8>) {
    bytes.extend(SECRETS.bytes().chain([0xff, 0xfe]));
}

/// A run with secrets in every text of it and of its trials.
fn planted() -> PublicRun {
    let (mut run, mut trials, ended) = loaded();
    plant(&mut run.name);
    plant(&mut run.dyno);
    let mut secrets = String::new();
    plant(&mut secrets);
    let in_json = json!(secrets).to_string();
    for (_, text) in &mut run.files {
        *text = text.replace("\"run\":[", "\"run\":[\"--password=hunter2\",");
        *text = text.replace("\"title\":", &format!("\"notes\":{in_json},\"title\":"));
    }
    run.files.push(("subjects/alicegold/MARK".into(), secrets.clone()));
    for fact in &mut run.facts {
        plant(&mut fact.value);
        if fact.name == lab::record::RACE {
            fact.value.push_str(" --password 'hunter2'");
        }
    }
    run.entries[0].skipped = Some(secrets.clone());
    for entry in &mut run.entries {
        // A badge has the first letters of it.
        entry.title.insert_str(0, "MARK alicegold ");
        let texts = [
            &mut entry.title,
            &mut entry.language,
            &mut entry.notes,
            &mut entry.version,
            &mut entry.build,
        ];
        texts.into_iter().for_each(plant);
    }
    trials.iter_mut().for_each(plant_trial);
    published((run, trials, ended))
}

fn plant_trial(trial: &mut TrialRecord) {
    plant(&mut trial.outcome.says);
    plant(&mut trial.ending.exit);
    plant_bytes(&mut trial.ending.output_tail);
    trial.conditions.iter_mut().for_each(|fact| plant(&mut fact.value));
    if let Some(launch) = &mut trial.launch {
        launch.command.iter_mut().for_each(plant);
        launch.command.push("hunter2".into());
    }
    for check in &mut trial.checks {
        plant(&mut check.ask);
        check.wrong.iter_mut().for_each(plant);
        plant_bytes(&mut check.request);
        plant_bytes(&mut check.response);
    }
    for spot in &mut trial.spots {
        plant(&mut spot.why);
    }
    trial.series.iter_mut().for_each(|series| plant(&mut series.unit));
    let evidence = json!({
        "class": "content.mismatch", "at_s": 1.0, "seq": 1, "request": "", "expected": SECRETS, "received": "",
        "lacks_beginning": false, "is_cut": false, "stream": null, "reason": SECRETS
    });
    if let Some(loaded) = &mut trial.loaded {
        let all = &mut loaded.recording.total.evidence;
        all.push(serde_json::from_value(evidence).unwrap());
        plant_bytes(&mut all[0].request);
        plant_bytes(&mut all[0].received);
    }
}

/// A run with secrets in every text of a check of the RFCs, and of profiles.
fn planted_check() -> PublicRun {
    let PublicRun { record: mut run, ended, .. } = first_board();
    let key = run.plan[0].clone();
    run.plan.clear();
    let secrets = format!("{SECRETS} /srv/work/thing/y");
    for setting in run.entries.iter_mut().flat_map(|entry| &mut entry.settings) {
        plant(&mut setting.name);
        setting.default.iter_mut().chain(&mut setting.change).for_each(plant);
    }
    for check in &mut run.conformance {
        let Ok(report) = &mut check.found else { continue };
        for finding in report.findings.iter_mut().filter(|finding| !finding.why.is_empty()).take(5)
        {
            let texts = [
                &mut finding.title,
                &mut finding.clause,
                &mut finding.why,
                &mut finding.demand,
                &mut finding.doubt,
                &mut finding.expected,
            ];
            texts.into_iter().for_each(plant);
            plant_bytes(&mut finding.evidence.sent);
            plant_bytes(&mut finding.evidence.received);
        }
    }
    let profile = json!({
        "method": { "hz": 997, "target": "cpus", "user_only": false, "dwarf_bytes": null },
        "lines": [{ "side": "program", "name": &secrets }], "functions": [&secrets],
        "stacks": [{ "line": 0, "functions": [0], "counts": [[0, 1]] }],
        "sampled_ns": 1, "cpu_ns": 1, "user_cpu_ns": null, "answers": 1, "waited_for_cpu_ns": 0, "lost": 0,
        "calls": { "Err": &secrets }, "with_flags": false
    });
    let found = Ok(serde_json::from_value(profile.clone()).unwrap());
    run.profiles =
        vec![ProfileRecord { key: key.clone(), found }, ProfileRecord { key, found: Err(secrets) }];
    // Files of version 1 have these keys, and are compared with what would be written.
    assert_eq!(serde_json::to_value(run.profiles[0].found.as_ref().unwrap()).unwrap(), profile);
    published((run, Vec::new(), ended))
}

/// Each function of what is explained has a place for every block of every trial.
#[test]
fn more_sampled_trials_than_fit_into_memory_are_refused() {
    let mut public = planted_check();
    let mut lines = lines_of(&public.write(true).unwrap());
    let place = lines.iter().position(|line| line.starts_with("{\"profiles\"")).unwrap();
    let mut all: Value = serde_json::from_str(&lines[place]).unwrap();
    let one = all["profiles"][0].clone();
    all["profiles"] = json!(vec![one; 101]);
    lines[place] = format!("{all}\n");
    let says = PublicRun::read(&changed_files::resealed(lines)).unwrap_err();
    assert!(says.contains("more than 100 sampled trials of one server"), "{says}");
    public.record.profiles = vec![public.record.profiles[0].clone(); 101];
    assert!(public.write(false).is_ok());
    assert!(public.write(true).unwrap_err().contains("export it without --why"));
}

/// Texts in which nothing is planted: digests, and words of which there is a closed number or that name things.
const UNPLANTED: [&str; 29] = [
    "run_conformance catalogue_hash",
    "run_conformance catalogue_version",
    "run_conformance cut_short",
    "run_end how",
    "run_entry name",
    "run_entry processes",
    "run_entry tier",
    "run_fact name",
    "run_finding area",
    "run_finding case_id",
    "run_finding level",
    "run_finding rounds",
    "run_finding tags",
    "run_finding verdict",
    "run_plan point_unit",
    "run_plan subject",
    "run_plan workload",
    "trial outcome",
    "trial output_tail",
    "trial point_unit",
    "trial subject",
    "trial workload",
    "trial_body part",
    "trial_check digest",
    "trial_check phase",
    "trial_condition name",
    "trial_detail body",
    "trial_detail part",
    "trial_series name",
];

#[test]
fn a_secret_is_planted_in_every_column_of_texts() {
    let hex: String = "MARK".bytes().map(|byte| format!("{byte:02x}")).collect();
    let (mut marked, mut unmarked) = (BTreeSet::new(), BTreeSet::new());
    for public in [planted(), planted_check()] {
        let lines = lines_of(&public.write(true).unwrap());
        let mut name = "";
        for line in lines[1..].iter().take_while(|line| !line.starts_with("{\"claims\"")) {
            if let Some((_, column)) = line.split_once(' ').filter(|_| line.starts_with("{\"")) {
                name = column.split('"').next().unwrap();
            } else if line.contains("MARK") || line.contains(&hex) {
                marked.insert(name.to_string());
            } else if line.contains('"') {
                unmarked.insert(name.to_string());
            }
        }
    }
    let unplanted: BTreeSet<&str> = unmarked.difference(&marked).map(String::as_str).collect();
    assert_eq!(unplanted, UNPLANTED.into());
}

#[test]
fn no_secret_is_in_a_file_or_in_the_site_of_its_board() {
    for public in [planted(), planted_check()] {
        assert_no_secret(&public);
    }
}

/// Neither the file of a run nor any file of its board's site has anything of what is private.
fn assert_no_secret(public: &PublicRun) {
    let mut text = String::new();
    io::Read::read_to_string(&mut GzDecoder::new(&*public.write(true).unwrap()), &mut text)
        .unwrap();
    // Their bodies are compressed within the file.
    let profiles = format!("{:?}", public.record.profiles);
    let hex = |word: &str| word.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let mut all = site(public);
    all.extend([("the file".into(), text), ("a profile".into(), profiles)]);
    let loaded = public.trials.iter().filter_map(|trial| trial.loaded.as_ref());
    for evidence in loaded.flat_map(|loaded| &loaded.recording.total.evidence) {
        let bytes = [&evidence.request[..], &evidence.received].concat();
        all.push(("a failure".into(), String::from_utf8_lossy(&bytes).into_owned()));
    }
    let words = FOUND.iter().flat_map(|word| [word.to_string(), hex(word)]);
    let found = words.flat_map(|word| {
        let with = all.iter().filter(move |(_, text)| text.contains(&word));
        with.map(|(name, _)| name)
    });
    assert_eq!(found.collect::<BTreeSet<_>>(), BTreeSet::new());
    let is_marked = |end: &str| {
        let mut texts = all.iter().filter(|(name, _)| name.ends_with(end));
        texts.any(|(_, text)| text.contains("MARK"))
    };
    assert!(is_marked("the file"), "nothing was planted");
    for end in [".html", ".svg", "feed.xml", ".jsonl"] {
        assert!(public.trials.is_empty() || is_marked(end), "nothing was planted in {end}");
    }
}

/// The files of the site of a board that has this run alone, in a round.
fn site(public: &PublicRun) -> Vec<(String, String)> {
    let folder = scratch("board");
    let class = public::MachineClass::of(&public.record).label;
    let board = format!(
        "title = 't'\nquestion = 'q'\nbase_url = 'https://example.org/b/'\nown_machines = ['{class}']\n"
    );
    let round = format!("title = 'r'\ndate = '2026-11-29'\nruns = ['{}']\n", public.short_id());
    let file = public.write(true).unwrap();
    for (path, text) in [
        ("board.toml", board.as_bytes()),
        ("rounds/0.toml", round.as_bytes()),
        ("runs/a.dyno", &file),
    ] {
        std::fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
        std::fs::write(folder.join(path), text).unwrap();
    }
    let site = folder.join("site");
    let signed = |_: &Path, _: &Path| String::new();
    let built = board::site(&board::Disk { folder: folder.clone(), site: site.clone(), signed });
    assert_eq!(built.unwrap().refused, []);
    let mut found = Vec::new();
    let mut open = vec![site];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_none_or(|it| it != "dyno") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path.strip_prefix(&folder).unwrap().display().to_string(), text));
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    found
}

/// A run of the first board, which has checks of the RFCs; its content stands in lines.
const FIRST: &str = "3cc39fe4146359e2f84c2af06870d879";

fn first_board() -> PublicRun {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../board/runs/2026");
    PublicRun::read(&std::fs::read(file.join(format!("{FIRST}.dyno"))).unwrap()).unwrap()
}

#[test]
fn a_file_in_columns_has_the_id_of_one_in_lines_and_at_most_12_kb_a_trial() {
    let run = first_board();
    assert_eq!(run.short_id(), FIRST);
    let file = run.write(false).unwrap();
    let again = PublicRun::read(&file).unwrap();
    assert_eq!(again.write(false).unwrap(), file);
    assert_eq!((&again.id, &again.claims), (&run.id, &run.claims));
    let each = file.len() / run.trials.len();
    assert!(each <= 12_000, "{each} bytes a trial");
    let words = Words::default();
    let (again, notes) =
        PublicRun::of(run.record, run.trials, run.ended, run.lineage, &words).unwrap();
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(again.id, run.id);
}
