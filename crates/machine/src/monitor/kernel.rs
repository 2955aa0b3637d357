//! The kernel's side of TCP, in the network of the thread that watches: what was dropped or retransmitted, what
//! lingers, and how many connections wait to be accepted.

use super::log::Tick;
use crate::proc::{Reread, Units, cell, column, worded};
use crate::sockets::{Diag, Side, State};

/// Counters of `/proc/net/netstat`.
const NETSTAT: [(&str, &str); 5] = [
    ("kernel.tcp.listen_overflows", "ListenOverflows"),
    ("kernel.tcp.listen_drops", "ListenDrops"),
    ("kernel.tcp.request_queue_full", "TCPReqQFullDrop"),
    ("kernel.tcp.timeouts", "TCPTimeouts"),
    ("kernel.tcp.syn_retransmitted", "TCPSynRetrans"),
];

/// The network of a thread.
#[derive(Debug)]
pub(super) struct Kernel {
    page_bytes: u64,
    netstat: Option<Reread>,
    /// The positions of the counters in it.
    columns: Vec<(&'static str, usize)>,
    snmp: Option<Reread>,
    retransmitted: Option<usize>,
    sockstat: Option<Reread>,
    listener: Option<(Diag, u16)>,
    buffer: Vec<u8>,
}

impl Kernel {
    /// Of the calling thread.
    pub(super) fn new(port: Option<u16>) -> Kernel {
        // The thread's own folder: `/proc/net` is that of the process.
        let open = |name| Reread::open(&format!("/proc/thread-self/net/{name}"));
        let mut kernel = Kernel {
            page_bytes: Units::of_this_machine().page_bytes,
            netstat: open("netstat"),
            columns: Vec::new(),
            snmp: open("snmp"),
            retransmitted: None,
            sockstat: open("sockstat"),
            listener: port.and_then(|port| Some((Diag::open().ok()?, port))),
            buffer: Vec::new(),
        };
        if let Some(text) = text(kernel.netstat.as_ref(), &mut kernel.buffer) {
            let place = |(name, head)| Some((name, column(text, "TcpExt:", head)?));
            kernel.columns = NETSTAT.into_iter().filter_map(place).collect();
        }
        let snmp = text(kernel.snmp.as_ref(), &mut kernel.buffer);
        kernel.retransmitted = snmp.and_then(|text| column(text, "Tcp:", "RetransSegs"));
        kernel
    }

    pub(super) fn read(&mut self, tick: &mut Tick) {
        if let Some(text) = text(self.netstat.as_ref(), &mut self.buffer) {
            for (name, column) in &self.columns {
                tick.put_some(name, cell(text, "TcpExt:", *column).map(|count| count as f64));
            }
        }
        if let Some(text) = text(self.snmp.as_ref(), &mut self.buffer) {
            let count = self.retransmitted.and_then(|column| cell(text, "Tcp:", column));
            tick.put_some("kernel.tcp.retransmitted", count.map(|count| count as f64));
        }
        if let Some(text) = text(self.sockstat.as_ref(), &mut self.buffer) {
            let count = |word| worded(text, "TCP:", word).map(|count| count as f64);
            tick.put_some("kernel.tcp.in_use", count("inuse"));
            tick.put_some("kernel.tcp.time_wait", count("tw"));
            let bytes = count("mem").map(|pages| pages * self.page_bytes as f64);
            tick.put_some("kernel.tcp.memory", bytes);
        }
        if let Some((diag, port)) = &mut self.listener
            && let Ok(listeners) = diag.sockets(*port, Side::Local, State::Listening)
            && !listeners.is_empty()
        {
            let waiting: u64 = listeners.iter().map(|listener| u64::from(listener.waiting)).sum();
            tick.put("kernel.tcp.accept_queue", waiting as f64);
        }
    }
}

fn text<'a>(file: Option<&Reread>, buffer: &'a mut Vec<u8>) -> Option<&'a str> {
    std::str::from_utf8(file?.text(buffer)?).ok()
}
