//! The cgroup hierarchies that this process sees, and its place in them.

use std::path::{Path, PathBuf};

/// Which of the two interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// A hierarchy for each controller, or for some.
    V1,
    /// One for all.
    V2,
}

/// One hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hierarchy {
    pub(super) version: Version,
    /// `memory`, `cpuacct`, …; empty for version 2, where the group's files list them.
    pub(super) controllers: Vec<String>,
    /// Where it is mounted.
    mount: PathBuf,
    /// This process's group; at or below the mount.
    pub(super) own: PathBuf,
}

impl Hierarchy {
    /// This process's group and all above it, nearest first.
    pub(super) fn line(&self) -> impl Iterator<Item = &Path> {
        self.own.ancestors().take_while(|group| group.starts_with(&self.mount))
    }

    pub(super) fn controls(&self, controller: &str) -> bool {
        self.controllers.iter().any(|name| name == controller)
    }
}

/// All hierarchies that this process sees now.
pub(super) fn all() -> Vec<Hierarchy> {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    parse(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"))
}

/// The files that limit a group's CPU time, in version 2 and 1.
const CPU: &[&str] = &["cpu.max", "cpu.cfs_quota_us"];

/// What the kernel counts of each limit on CPU time that this process is under, its own group's and those above: Docker's
/// `--cpus`, a pod's limit, systemd's `CPUQuota`.
pub(crate) fn limits_of_cpu() -> Vec<PathBuf> {
    let all = all();
    let has_cpu = |it: &&Hierarchy| it.version == Version::V2 || it.controls("cpu");
    let groups = all.iter().filter(has_cpu).flat_map(Hierarchy::line);
    let limited = groups.filter(|group| has_limit(group, CPU));
    limited.map(|group| group.join("cpu.stat")).collect()
}

/// Whether one of these files of a group has a limit. Without one, `cpu.max` says `max 100000`, `cpu.cfs_quota_us` -1,
/// and `cpuset.cpus` nothing.
pub(super) fn has_limit(group: &Path, names: &[&str]) -> bool {
    let mut texts = names.iter().filter_map(|name| std::fs::read_to_string(group.join(name)).ok());
    texts.any(|text| text.starts_with(|first: char| first.is_ascii_digit()))
}

/// From the texts of `/proc/PID/mountinfo` and `/proc/PID/cgroup`.
pub(super) fn parse(mountinfo: &str, cgroup: &str) -> Vec<Hierarchy> {
    mountinfo.lines().filter_map(|line| mounted(line, cgroup)).collect()
}

/// `36 35 98:0 /its-root /where rw,… shared:1 - cgroup cgroup rw,memory`
fn mounted(line: &str, cgroup: &str) -> Option<Hierarchy> {
    let (place, kind) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, mount) = (unescaped(place.next()?), unescaped(place.next()?));
    let mut kind = kind.split(' ');
    let version = match kind.next()? {
        "cgroup" => Version::V1,
        "cgroup2" => Version::V2,
        _ => return None,
    };
    let options = kind.nth(1).unwrap_or_default();
    // `4:memory:/path`, and for version 2 `0::/path`.
    let mut lines = cgroup.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        rest.split_once(':')
    });
    let (controllers, path) = lines.find(|(controllers, _)| match version {
        Version::V1 => {
            let mut names = controllers.split(',');
            names.all(|name| !name.is_empty() && options.split(',').any(|option| option == name))
        }
        Version::V2 => controllers.is_empty(),
    })?;
    // A container sees its own part of the hierarchy: the mount's root is not the hierarchy's.
    let below = Path::new(path).strip_prefix(&root).ok()?;
    let is_hidden = below.components().any(|part| part == std::path::Component::ParentDir);
    let own = if is_hidden { mount.clone() } else { mount.join(below) };
    let controllers = match version {
        Version::V1 => controllers.split(',').map(String::from).collect(),
        Version::V2 => Vec::new(),
    };
    Some(Hierarchy { version, controllers, mount, own })
}

/// Spaces and the like are written as `\040`.
fn unescaped(text: &str) -> PathBuf {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let code = (*byte == b'\\').then(|| after.get(..3)).flatten();
        let code =
            code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 8).ok());
        out.push(code.unwrap_or(*byte));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_found() {
        let mountinfo = "\
22 1 0:20 / /proc rw - proc proc rw
36 35 0:31 / /sys/fs/cgroup/memory rw,nosuid - cgroup cgroup rw,memory
37 35 0:32 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
38 35 0:33 / /sys/fs/cgroup/with\\040space rw - cgroup2 cgroup2 rw
";
        let cgroup = "5:cpu,cpuacct:/\n4:memory:/jobs/one\n1:name=systemd:/\n0::/user.slice/me\n";
        let found = parse(mountinfo, cgroup);
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0].own, Path::new("/sys/fs/cgroup/memory/jobs/one"));
        let line: Vec<_> = found[0].line().map(|group| group.display().to_string()).collect();
        assert_eq!(
            line,
            [
                "/sys/fs/cgroup/memory/jobs/one",
                "/sys/fs/cgroup/memory/jobs",
                "/sys/fs/cgroup/memory"
            ]
        );
        assert!(found[1].controls("cpuacct") && !found[1].controls("memory"));
        assert_eq!(found[2].version, Version::V2);
        assert_eq!(found[2].own, Path::new("/sys/fs/cgroup/with space/user.slice/me"));
    }

    #[test]
    fn a_container_sees_its_part() {
        let mountinfo = "36 35 0:31 /box/17 /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
        assert_eq!(parse(mountinfo, "0::/box/17\n")[0].own, Path::new("/sys/fs/cgroup"));
        assert_eq!(parse(mountinfo, "0::/box/17/a\n")[0].own, Path::new("/sys/fs/cgroup/a"));
        let mountinfo = "36 35 0:31 / /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n";
        assert_eq!(parse(mountinfo, "0::/../..\n")[0].own, Path::new("/sys/fs/cgroup"));
    }

    #[test]
    fn a_group_limits_cpu_time_where_its_file_has_a_number() {
        let group = std::env::temp_dir().join(format!("dyno-limits-{}", std::process::id()));
        std::fs::create_dir_all(&group).unwrap();
        assert!(!has_limit(&group, CPU), "the root has no such file");
        for (name, text, is_limited) in [
            ("cpu.max", "max 100000\n", false),
            ("cpu.max", "150000 100000\n", true),
            ("cpu.cfs_quota_us", "-1\n", false),
            ("cpu.cfs_quota_us", "50000\n", true),
        ] {
            std::fs::write(group.join(name), text).unwrap();
            assert_eq!(has_limit(&group, CPU), is_limited, "{name}: {text}");
            std::fs::remove_file(group.join(name)).unwrap();
        }
        std::fs::remove_dir(&group).unwrap();
    }

    #[test]
    fn what_is_cut_short_is_left_out() {
        let mountinfo = "36 35 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";
        for cut in 0..mountinfo.len() - 1 {
            assert!(parse(&mountinfo[..cut], "4:memory:/\n").is_empty(), "{cut}");
        }
    }
}
