//! What of the sampler a process has open: also for the tests of whole runs.

/// Its events and BPF objects, by the names of its descriptors.
pub(crate) fn open_probes(pid: u32) -> Vec<String> {
    let folder = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let targets = folder.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let names = targets.map(|target| target.display().to_string());
    names.filter(|name| name.contains("perf_event") || name.contains("bpf")).collect()
}
