use super::*;
use crate::figure::{Fold, Unit};

const HEAD: &str = "title = \"A virtual machine\"\nenv = {}\n";

/// A manifest with readings, from line 3 on.
fn page(readings: &str) -> SourceFile {
    SourceFile { name: manifest("jvm"), text: format!("{HEAD}{readings}") }
}

fn parse(readings: &str) -> Result<Probe, ConfigError> {
    Probe::parse(Path::new("/nowhere"), "jvm", page(readings))
}

fn refused(readings: &str) -> String {
    parse(readings).unwrap_err().to_string()
}

/// A reading whose keys are at lines 4 to 6, and others from line 7 on.
fn reading(name: &str, fold: &str, more: &str) -> String {
    format!("[[reading]]\nname = {name:?}\ntitle = \"a title\"\nfold = {fold}\n{more}\n")
}

fn shipped() -> Vec<(String, String)> {
    let beam = include_str!("../../../../probes/beam/probe.toml");
    vec![
        ("subjects/a/subject.toml".into(), "probe = \"beam\"".into()),
        (manifest("beam"), beam.into()),
    ]
}

#[test]
fn figures_are_named_by_their_reading_its_fold_and_its_unit() {
    use Unit::{Bytes, Count, KibPerSecond, Milliseconds, PerSecond, Percent};
    let per = "per = { name = 'jvm.threads', one = 'thread' }";
    for (name, fold, more, figure, unit, scale) in [
        ("jvm.heap.used_bytes", "'mean'", "", "jvm_heap_used_mean_bytes", Bytes, 1.0),
        ("jvm.heap.used_bytes", "'max'", "", "jvm_heap_used_max_bytes", Bytes, 1.0),
        ("jvm.threads", "'mean'", "", "jvm_threads_mean", Count, 1.0),
        ("jvm.gc.count", "'growth'", "", "jvm_gc_count_per_s", PerSecond, 1.0),
        ("jvm.gc_ns", "'growth'", "", "jvm_gc_percent", Percent, 1e-7),
        ("jvm.pause_ns", "'max'", "", "jvm_pause_max_ms", Milliseconds, 1e-6),
        ("jvm.load", "'mean'", "unit = 'ratio'", "jvm_load_mean_percent", Percent, 100.0),
        ("jvm.stacks_bytes", "'mean'", per, "jvm_stacks_bytes_per_thread", Bytes, 1.0),
        (
            "jvm.out_bytes",
            "'growth'",
            "figure = 'jvm_sent'",
            "jvm_sent_kib_per_s",
            KibPerSecond,
            1.0 / 1_024.0,
        ),
    ] {
        let readings = parse(&reading(name, fold, more)).unwrap().readings;
        let [found] = &readings[0].figures[..] else { panic!("{name}") };
        let found = (found.name.as_str(), found.unit, found.scale);
        assert_eq!(found, (figure, unit, scale), "{name}");
    }
}

#[test]
fn a_share_of_the_time_may_be_more_than_one_cpu() {
    assert_eq!(ProbeFold::Growth.rounds(Unit::Percent), Fold::Amounts);
    assert_eq!(ProbeFold::Mean.rounds(Unit::Percent), Fold::Shares);
}

#[test]
fn what_cannot_be_declared_is_refused_with_its_line_and_the_way_out() {
    let bytes = "jvm.heap_bytes";
    let mean = "\"mean\"";
    let twice = reading(bytes, mean, "") + &reading(bytes, mean, "");
    let alike = reading(bytes, mean, "") + &reading("jvm.heap", mean, "unit = \"bytes\"");
    let many: String = (0..33).map(|n| reading(&format!("jvm.n{n}"), mean, "")).collect();
    for (text, expected) in [
        (reading("Heap", mean, ""), "4: a probe cannot send `Heap`; docs/readings.md says"),
        (reading("subject.cpu", mean, ""), "4: a probe cannot send `subject.cpu`; "),
        (reading(bytes, "\"median\"", ""), "6: expected \"mean\", \"max\" or "),
        (reading(bytes, "\"maxi\"", ""), "6: expected \"mean\", \"max\" or "),
        (reading(bytes, "3", ""), "6: expected \"mean\", \"max\" or "),
        (reading(bytes, "[]", ""), "6: no fold; name `mean`, "),
        (reading(bytes, "[\"mean\", \"mean\"]", ""), "6: the same fold twice; "),
        (reading(bytes, "[\"mean\", \"growth\"]", ""), "6: what grows has neither a mean nor "),
        (reading("jvm.load_ratio", "\"growth\"", ""), "6: what is a ratio does not grow; "),
        (reading(bytes, mean, "unit = \"ns\""), "7: the reading's name ends in `_bytes`, "),
        (reading(bytes, mean, "unit = \"byte\""), "7: unknown word `byte`; did you mean `bytes`?"),
        (reading(bytes, mean, "figure = \"Heap\""), "7: `Heap` is not a part of a figure's name; "),
        (
            reading(bytes, mean, "figure = \"heap\""),
            "7: figures of `jvm.heap_bytes` begin with `jvm`, ",
        ),
        (
            reading("rss.all_bytes", mean, ""),
            "4: dyno has figures of its own that begin with `rss`; ",
        ),
        (reading(bytes, mean, "heading = \"\""), "7: a line of 1 to 20 letters is expected here"),
        (
            reading(bytes, mean, "heading = \"a\\nb\""),
            "7: a line of 1 to 20 letters is expected here",
        ),
        (
            reading(bytes, "\"max\"", "per = { name = \"jvm.threads\", one = \"thread\" }"),
            "6: `per` divides a mean; ",
        ),
        (
            reading(bytes, mean, "per = { name = \"jvm.threads\", one = \"a thread\" }"),
            "7: `a thread` is not a part of a figure's name; ",
        ),
        (reading(bytes, mean, "folds = 1"), "7: unknown key `folds`; did you mean `fold`?"),
        (twice, "9: another reading has `jvm.heap_bytes` already; "),
        (alike, "9: another reading has `jvm_heap_mean_bytes` already; "),
        (many, "164: a probe declares at most 32 readings"),
    ] {
        let says = refused(&text);
        let expected = format!("probes/jvm/probe.toml:{expected}");
        assert!(says.starts_with(&expected), "{says}\n  and not {expected}");
    }
    let untitled = "[[reading]]\nname = \"jvm.x\"\nfold = \"mean\"\n";
    assert!(refused(untitled).contains("the key `title` is missing"));
}

#[test]
fn the_readings_of_a_run_are_those_of_the_probes_that_its_subjects_name() {
    let names = |files: &[(String, String)]| -> Vec<String> {
        declared(files).into_iter().map(|reading| reading.name).collect()
    };
    let subject =
        |name: &str, text: &str| (format!("subjects/{name}/subject.toml"), text.to_string());
    let mut files = shipped();
    assert_eq!(names(&files).len(), 7);
    files.push((manifest("jvm"), page(&reading("jvm.threads", "\"mean\"", "")).text));
    assert_eq!(names(&files).len(), 7, "no server names the other");
    files.push(subject("b", "title = \"B\"\nprobe = \"jvm\"\n"));
    files.push(subject("c", "probe = \"jvm\""));
    assert_eq!(names(&files)[7..], ["jvm.threads"]);
    // What cannot be read, and what has a name that is there already, is not there.
    let other = HEAD.to_string()
        + &reading("beam.run_queue", "\"max\"", "")
        + &reading("jvm.heap_bytes", "\"mean\"", "");
    files[2].1 = other;
    assert_eq!(names(&files)[7..], ["jvm.heap_bytes"]);
    files[2].1 = "title = ".into();
    assert_eq!(names(&files).len(), 7);
    assert!(names(&[subject("a", "title = \"A\"")]).is_empty());
    assert!(names(&[subject("a", "probe = 3"), subject("b", "probe")]).is_empty());
}

#[test]
fn the_figures_of_the_probe_that_dyno_carries_keep_their_names() {
    let files = shipped();
    assert!(declared(&files[..1]).is_empty(), "without its manifest");
    let figures = declared(&files).into_iter().flat_map(|reading| reading.figures);
    let names: Vec<String> = figures.map(|figure| figure.name).collect();
    assert_eq!(
        names,
        [
            "beam_utilisation_mean_percent",
            "beam_utilisation_max_percent",
            "beam_memory_mean_bytes",
            "beam_memory_max_bytes",
            "beam_bytes_per_process",
            "beam_run_queue_mean",
            "beam_run_queue_max",
            "beam_in_kib_per_s",
            "beam_out_kib_per_s",
        ]
    );
}

#[test]
fn the_example_of_the_docs_declares_the_figures_that_they_name() {
    let docs = include_str!("../../../../docs/subjects.md");
    let (_, example) = docs.split_once("# probes/jvm/probe.toml\n").unwrap();
    let (text, after) = example.split_once("```").unwrap();
    let page = SourceFile { name: manifest("jvm"), text: text.into() };
    let probe = Probe::parse(Path::new("/nowhere"), "jvm", page).unwrap();
    let figures = probe.readings.iter().flat_map(|reading| &reading.figures);
    let missing: Vec<&str> = figures
        .map(|figure| figure.name.as_str())
        .filter(|name| !after.contains(&format!("`{name}`")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
