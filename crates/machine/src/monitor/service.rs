//! What works beside the subject, such as a database: its processes, summed as those of the subject are.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use super::log::Tick;
use super::subject::Subject;
use crate::conditions::Readings;

/// The processes below a root, which is the service's warden, and the cgroup in which it was started.
#[derive(Clone, Debug)]
pub struct ServiceWatch {
    pub root: u32,
    pub readings: Option<Readings>,
}

/// What is read of it, under the names that such readings have of the subject, and its own.
const READINGS: [(&str, &str); 4] = [
    ("subject.cpu.total", "service.cpu.total"),
    ("subject.memory.rss", "service.memory.rss"),
    ("subject.memory.pss", "service.memory.pss"),
    ("subject.processes", "service.processes"),
];

#[derive(Debug)]
pub(super) struct Service(Subject);

impl Service {
    pub(super) fn new(watch: &ServiceWatch) -> Service {
        let root = Arc::new(AtomicU32::new(watch.root));
        Service(Subject::new(root, Vec::new(), watch.readings.clone()))
    }

    pub(super) fn read(&mut self, tick: &mut Tick, is_last: bool) {
        let mut own = Tick::at(Duration::ZERO);
        self.0.read(&mut own, is_last);
        for (of_subject, name) in READINGS {
            tick.put_some(name, own.value(of_subject));
        }
    }
}
