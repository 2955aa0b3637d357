//! Shares of functions, and how stacks and names of files are found.

use std::fs;
use std::process::Command;

use profile::Side;

use crate::open_probes::open_probes;
use crate::worker::{
    NEW_NAME, OLD_NAME, Worker, by_function, copy, has_shares, sample, sampled, sampler, start_as,
    total,
};

crate::tests![
    a_function_has_its_share_by_frame_pointers,
    a_stack_by_dwarf_reaches_the_program_s_main,
    an_event_that_is_open_is_seen,
    a_program_that_was_replaced_while_it_runs_has_its_own_names,
    a_stripped_program_has_no_names_and_ends_nothing,
    a_map_of_compiled_code_that_is_written_anew_says_what_is_true_at_the_end,
    a_process_in_a_namespace_is_known_by_its_number_there,
];

fn a_function_has_its_share_by_frame_pointers() {
    let worker = Worker::start("alone");
    let Some(folded) = sampled(worker.pid(), None, 600) else { return };
    has_shares(&folded);
    let is_own = |line: &profile::Line| line.side == Side::Program && line.name == "crate it";
    assert!(folded.lines.iter().any(is_own), "{:?}", folded.lines);
}

fn a_stack_by_dwarf_reaches_the_program_s_main() {
    let worker = Worker::start("alone");
    let Some(folded) = sampled(worker.pid(), Some(8192), 600) else { return };
    has_shares(&folded);
    let all = by_function(&folded);
    let main = all.get("it::main").copied().unwrap_or(0);
    assert!(0.9 * total(&folded) as f64 <= main as f64, "{all:?}");
}

/// What the tests of whole runs look for.
fn an_event_that_is_open_is_seen() {
    let own = std::process::id();
    assert_eq!(open_probes(own), [""; 0]);
    let Some(sampler) = sampler(own, None) else { return };
    assert!(open_probes(own).iter().all(|name| name.contains("perf_event")));
    assert_ne!(open_probes(own), [""; 0]);
    drop(sampler);
    let Ok(counter) = profile::CallCounter::open() else { return };
    assert!(open_probes(own).iter().any(|name| name.contains("bpf")), "{:?}", open_probes(own));
    drop(counter);
    assert_eq!(open_probes(own), [""; 0]);
}

fn a_program_that_was_replaced_while_it_runs_has_its_own_names() {
    let program = copy("replaced");
    let worker = start_as(&program, "alone");
    let Some(mut sampler) = sampler(worker.pid(), None) else { return };
    sampler.start().unwrap();
    sample(&mut sampler, 20);
    fs::remove_file(&program).unwrap();
    // What is there now is another file.
    fs::copy("/bin/true", &program).unwrap();
    sample(&mut sampler, 320);
    sampler.stop().unwrap();
    let folded = sampler.folded(&[], "/nowhere");
    fs::remove_file(&program).unwrap();
    match rustix::process::geteuid().is_root() {
        true => has_shares(&folded),
        false => println!("SKIPPED: only root may open what a name no longer leads to"),
    }
}

fn a_stripped_program_has_no_names_and_ends_nothing() {
    let program = copy("stripped");
    if !Command::new("strip").arg(&program).status().is_ok_and(|status| status.success()) {
        return println!("SKIPPED: there is no strip");
    }
    let worker = start_as(&program, "alone");
    let found = sampled(worker.pid(), None, 200);
    fs::remove_file(&program).unwrap();
    let Some(folded) = found else { return };
    let of_program = by_function(&folded);
    let nameless = of_program.iter().find(|(name, _)| name.starts_with("? (stripped-"));
    assert!(180 <= nameless.map_or(0, |(_, samples)| *samples), "{of_program:?}");
    assert!(folded.lines.iter().any(|line| line.side == Side::NotNamed), "{:?}", folded.lines);
}

fn a_map_of_compiled_code_that_is_written_anew_says_what_is_true_at_the_end() {
    let mut worker = Worker::start("mapped");
    assert!(worker.is_ready());
    check_map(&mut worker, |worker| Some(worker.pid()));
    let path = format!("/tmp/perf-{}.map", worker.pid());
    assert!(!fs::exists(path).unwrap(), "it is removed");
}

fn a_process_in_a_namespace_is_known_by_its_number_there() {
    let program = std::env::current_exe().unwrap();
    let mut unshare = Command::new("unshare");
    unshare.args(["--pid", "--fork", "--kill-child"]).arg(program).args(["work", "mapped"]);
    let mut worker = Worker::of(&mut unshare);
    if !worker.is_ready() {
        return println!("SKIPPED: no namespace can be made here");
    }
    check_map(&mut worker, |worker| {
        let pid = worker.pid();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        children.trim().parse().ok()
    });
    assert!(!fs::exists("/tmp/perf-1.map").unwrap(), "it is removed");
}

/// The worker writes its map anew while it is sampled.
#[track_caller]
fn check_map(worker: &mut Worker, pid: impl Fn(&Worker) -> Option<u32>) {
    let Some(mut sampler) = sampler(pid(worker).unwrap(), None) else { return };
    sampler.start().unwrap();
    worker.go();
    sample(&mut sampler, 200);
    sampler.stop().unwrap();
    let folded = sampler.folded(&[], "/nowhere");
    let all = by_function(&folded);
    assert!(80 <= all.get(NEW_NAME).copied().unwrap_or(0), "{all:?}");
    assert_eq!(all.get(OLD_NAME), None);
}
