//! The page of a run of held connections: the made-up servers over two workloads, with an article about them.

use lab::experiment::Point;
use lab::record::{Entry, RunRecord, TrialKey, TrialRecord};
use load::{HoldWindow, SECOND};

use crate::render::Shown;
use crate::run::held::fixture::{self, trials};
use crate::run::{Findings, fixture::reread};
use crate::svg;

const WORKLOADS: &str = r#"workload = ["poll", "wspoll"]
article = "Lossy vs. Quick (Author, 2013)"
history = "ramps-2013.csv""#;

const HISTORY: &str = "# Two servers <b>, 2013\n# Quick took about 25 % less memory.\n\
                       subject,workload,point,figure,value,note\n\
                       quick,poll,3000,failed_percent,4,\"1-4 %, <i>estimated\"\n\
                       quick,wspoll,3000,rss_peak_bytes,200000000,made up\n";

/// A run of these servers; one that is not known is like the first that is.
fn run(subjects: &[&str]) -> RunRecord {
    let mut run = fixture::run(2);
    run.files[0].1 = run.files[0].1.replace("workload = \"wspoll\"", WORKLOADS);
    run.files.push(("experiments/history/ramps-2013.csv".into(), HISTORY.into()));
    reread(&mut run);
    let known = std::mem::take(&mut run.entries);
    run.plan.clear();
    for &name in subjects {
        let like =
            |title: &str| Entry { name: name.into(), title: title.into(), ..known[0].clone() };
        let found = known.iter().find(|entry| entry.name == name).cloned();
        run.entries.push(found.unwrap_or_else(|| like(name)));
    }
    for repeat in 0..2 {
        for (workload, name) in
            ["poll", "wspoll"].iter().flat_map(|it| subjects.iter().map(move |name| (it, name)))
        {
            let number = run.plan.len() as u32;
            run.plan.push(TrialKey::new(number, name, workload, Point::Held(3_000), repeat));
        }
    }
    run
}

#[test]
fn held_connections_have_a_price_list_and_pictures() {
    let run = run(&["quick", "lossy", "oracle"]);
    let trials = trials(&run);
    let findings = Findings::of(&7, &run, &trials, Vec::new());
    let page = findings.page();
    for said in [
        "</dfn> costs</h2>",
        "memory of a connection",
        "until TCP is connected",
        "BEAM schedulers in use",
        "lost, recv.reset",
        "article&#39;s figures, 2013 and now",
        "Quick took about 25 % less memory.",
        "Quick · wspoll",
        "A whole ramp along its time",
        "Every step of wspoll in numbers",
    ] {
        assert!(page.contains(said), "{said}");
    }
    // The oracle has a row, but no price in a picture; nothing about it is empty.
    assert_eq!(page.matches("class=\"strip\"").count(), 6);
    assert!(!page.contains("No server was measured") && !page.contains("<h2>poll</h2>"));
    for odd in ["<b>", "<i>", "\"NaN", "src=", "@import"] {
        assert!(!page.replace("<b>Every", "").replace("</svg><b>", "").contains(odd), "{odd}");
    }
    assert!(page.len() < 350_000, "{} bytes", page.len());
    let chart = svg(&findings, "wspoll", crate::Theme::Auto).expect("it was held");
    assert!(chart.contains("open connections") && chart.contains(">Quick · wspoll<"), "{chart}");
}

#[test]
fn a_crowd_that_holds_connections_has_a_page_that_stays_small() {
    let names: Vec<String> = (0..27).map(|n| format!("quick-{n}")).collect();
    let crowd = run(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut trials = trials(&crowd);
    for trial in &mut trials {
        slow_down(trial);
    }
    let page = Findings::found((crowd, trials)).page();
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

/// It takes ten times as long, with ten times the readings.
fn slow_down(trial: &mut TrialRecord) {
    let holding = &mut trial.held.as_mut().expect("it was held").holding;
    for times in holding.plateaus.iter_mut().map(|plateau| &mut plateau.times) {
        (times.from, times.measured_from) = (times.from * 10, times.measured_from * 10);
        times.until *= 10;
    }
    holding.closed_at *= 10;
    let window = |second: u64| HoldWindow {
        from: second * SECOND,
        until: (second + 1) * SECOND,
        ..holding.windows[second as usize / 10].clone()
    };
    holding.windows = (0..300).map(window).collect();
    for series in &mut trial.series {
        let wobble = if series.unit == "bytes" { 1e4 } else { 0.0 };
        let readings = |&(at, value): &(u64, f64)| {
            (0..10).map(move |n| (at * 10 + n * SECOND, value + n as f64 * wobble))
        };
        series.points = series.points.iter().flat_map(readings).collect();
    }
}

#[test]
fn a_line_is_never_of_two_kinds_of_memory() {
    let run = run(&["quick"]);
    let chart = |kept: &dyn Fn(u64) -> bool| {
        let mut trials = trials(&run);
        let series = trials.iter_mut().flat_map(|trial| &mut trial.series);
        for pss in series.filter(|series| series.name == "subject.memory.pss") {
            pss.points.retain(|(at, _)| kept(at / SECOND));
        }
        let findings = Findings::of(&7, &run, &trials, Vec::new());
        (svg(&findings, "wspoll", crate::Theme::Auto), findings.page().contains(" RSS <span"))
    };
    let (none, sparse, whole) =
        (chart(&|_| false), chart(&|second| !(11..23).contains(&second)), chart(&|_| true));
    assert!(none.1 && sparse.1 && !whole.1);
    assert!(none.0 == sparse.0, "where one plateau has no PSS, none of the line is of it");
    assert!(none.0 != whole.0);
}
