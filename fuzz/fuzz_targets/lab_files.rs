//! No text makes a reader of the lab's files panic, hang or take memory without end.
#![no_main]

use std::path::Path;

use lab::experiment::Experiment;
use lab::history::PublishedFigures;
use lab::manner::Protocol;
use lab::plan::{Runner, plan};
use lab::probe::Probe;
use lab::source_file::SourceFile;
use lab::subject::Subject;
use lab::workload::Workload;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let page = || SourceFile { name: "x".into(), text: text.into() };
    let _ = Subject::parse(Path::new("/nowhere"), "x", &page());
    let _ = Probe::parse(Path::new("/nowhere"), "x", page());
    let _ = Workload::parse("x", page());
    let _ = PublishedFigures::parse(&page());
    if let Ok(experiment) = Experiment::parse("x", page()) {
        let experiment = experiment.quickened();
        for &point in &experiment.points {
            let _ = (experiment.load(point), experiment.load_time(point));
        }
        if experiment.repeat * (experiment.points.len() * experiment.tasks().count()) as u32
            <= 1_000
        {
            let speaks = experiment.workloads.clone();
            let _ = plan(
                &experiment,
                &[Runner {
                    subject: "a".into(),
                    asked: speaks,
                    protocols: Protocol::ALL.to_vec(),
                    is_extra: false,
                }],
            );
        }
    }
});
