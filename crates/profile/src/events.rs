//! The kernel's sampler: `perf_event_open` with the CPU clock, and the ring through which samples come.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::profile::{Method, Target};

/// Pages of a ring, beside its first, which has its ends. A power of two, and within what a user may lock.
const RING_PAGES: usize = 128;
/// Where the kernel keeps, in a ring's first page, how far it has written and how far we have read.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

/// Registers of the user's code that unwinding needs, as bits of `perf_regs`: all general ones of this machine.
#[cfg(target_arch = "x86_64")]
const USER_REGISTERS: u64 = 0xff_0fff;
#[cfg(target_arch = "aarch64")]
const USER_REGISTERS: u64 = 0x1_ffff_ffff;
pub(crate) const REGISTERS: usize = USER_REGISTERS.count_ones() as usize;

/// `struct perf_event_attr`.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    frequency: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config_1: u64,
    config_2: u64,
    branches: u64,
    user_registers: u64,
    user_stack: u32,
    clock: i32,
    interrupt_registers: u64,
    aux_watermark: u32,
    max_stack: u16,
    reserved_2: u16,
}

const SOFTWARE: u32 = 1;
const CPU_CLOCK: u64 = 0;
/// Instruction, thread, time, stack.
const SAMPLE_TYPE: u64 = 1 | 2 | 4 | 0x20;
const WITH_REGISTERS_AND_STACK: u64 = 1 << 12 | 1 << 13;
/// Disabled at first; without idle time; mappings, names and forks are reported; `frequency` is one.
const FLAGS: u64 = 1 | 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 23;
const INHERIT: u64 = 1 << 1;
const NO_KERNEL: u64 = 1 << 5 | 1 << 6;
const NO_USER_STACK: u64 = 1 << 22;
const MAX_STACK: u16 = 127;
const CLOSE_ON_EXEC: u64 = 8;

const ENABLE: u64 = 0x2400;
const DISABLE: u64 = 0x2401;
const SET_OUTPUT: u64 = 0x2405;
const PERIOD: u64 = 0x4008_2404;
/// More than any trial takes.
const NO_SAMPLE: Duration = Duration::from_nanos(1 << 50);

impl Method {
    /// An event for a thread on a CPU; for all that runs on the CPU if there is no thread.
    pub(crate) fn open(self, thread: Option<u32>, cpu: usize) -> io::Result<OwnedFd> {
        let dwarf = self.dwarf_bytes;
        let flags = [
            // Of threads: with all that they start.
            (self.target == Target::Threads, INHERIT),
            (self.user_only, NO_KERNEL),
            (dwarf.is_some(), NO_USER_STACK),
        ];
        let attributes = Attributes {
            kind: SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: CPU_CLOCK,
            frequency: self.hz.into(),
            sample_type: SAMPLE_TYPE | dwarf.map_or(0, |_| WITH_REGISTERS_AND_STACK),
            flags: flags
                .iter()
                .filter(|(is_set, _)| *is_set)
                .fold(FLAGS, |all, (_, bit)| all | bit),
            user_registers: dwarf.map_or(0, |_| USER_REGISTERS),
            user_stack: dwarf.unwrap_or(0),
            max_stack: MAX_STACK,
            ..Attributes::default()
        };
        let thread = thread.map_or(-1, |thread| thread as i32);
        #[allow(unsafe_code)]
        // SAFETY: the attributes are a whole `perf_event_attr` of the size that they state, and outlive the call.
        let opened = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                thread,
                cpu as i32,
                -1,
                CLOSE_ON_EXEC,
            )
        };
        if opened < 0 {
            return Err(io::Error::last_os_error());
        }
        #[allow(unsafe_code)]
        // SAFETY: the kernel has just opened this descriptor for us, and nothing else has it.
        Ok(unsafe { OwnedFd::from_raw_fd(opened as i32) })
    }
}

/// Whether the kernel lets this process sample at least itself. If not, it refuses every server.
#[must_use]
pub fn is_permitted() -> bool {
    let method = Method { hz: 1, target: Target::Threads, user_only: true, dwarf_bytes: None };
    method.open(Some(0), rustix::thread::sched_getcpu()).is_ok()
}

pub(crate) fn enable(event: &OwnedFd) -> io::Result<()> {
    control(event, ENABLE, 0)
}

pub(crate) fn disable(event: &OwnedFd) -> io::Result<()> {
    control(event, DISABLE, 0)
}

/// Of CPUs: no more samples come, and processes that begin are still reported.
pub(crate) fn end_samples(event: &OwnedFd) -> io::Result<()> {
    set_period(event, NO_SAMPLE)
}

/// The next sample comes so long after now, and each one so long after the one before it.
pub(crate) fn set_period(event: &OwnedFd, period: Duration) -> io::Result<()> {
    let ns = period.as_nanos() as u64;
    control(event, PERIOD, (&raw const ns).addr() as u64)
}

/// Of a thread: how long it and all that it started have run.
pub(crate) fn ran_ns(event: &OwnedFd) -> io::Result<u64> {
    let mut count = [0; 8];
    rustix::io::read(event, &mut count)?;
    Ok(u64::from_ne_bytes(count))
}

fn control(event: &OwnedFd, request: u64, argument: u64) -> io::Result<()> {
    #[allow(unsafe_code)]
    // SAFETY: these requests of an event take a number, or read one at an address that is valid during the call.
    match unsafe { libc::ioctl(event.as_raw_fd(), request as _, argument) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The ring of one CPU: the kernel writes records, we read them.
#[derive(Debug)]
pub(crate) struct Ring {
    base: *mut u8,
    page: usize,
}

// SAFETY: the mapping belongs to this value alone, and may be used by any one thread at a time.
#[allow(unsafe_code)]
unsafe impl Send for Ring {}

impl Ring {
    pub(crate) fn of(event: &OwnedFd) -> io::Result<Ring> {
        let page = rustix::param::page_size();
        let length = (RING_PAGES + 1) * page;
        #[allow(unsafe_code)]
        // SAFETY: a new mapping where the kernel chooses.
        let base = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                length,
                rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE,
                rustix::mm::MapFlags::SHARED,
                event,
                0,
            )
        }?;
        Ok(Ring { base: base.cast(), page })
    }

    /// What comes to this event goes into the ring of another one.
    pub(crate) fn share(owner: &OwnedFd, event: &OwnedFd) -> io::Result<()> {
        control(event, SET_OUTPUT, owner.as_raw_fd() as u64)
    }

    /// Hands over every record that has come: its kind, and its bytes after the header.
    pub(crate) fn drain(&mut self, record: &mut Vec<u8>, mut take: impl FnMut(u32, &[u8])) {
        let head = self.end(HEAD_AT).load(Ordering::Acquire);
        let mut tail = self.end(TAIL_AT).load(Ordering::Relaxed);
        while tail < head {
            self.copy(tail, 8, record);
            let kind = u32::from_ne_bytes([record[0], record[1], record[2], record[3]]);
            let size = usize::from(u16::from_ne_bytes([record[6], record[7]]));
            // No record is shorter than its header: the ring would be damaged.
            if size < 8 {
                tail = head;
                break;
            }
            self.copy(tail, size, record);
            take(kind, &record[8..]);
            tail += size as u64;
        }
        self.end(TAIL_AT).store(tail, Ordering::Release);
    }

    fn end(&self, at: usize) -> &AtomicU64 {
        #[allow(unsafe_code)]
        // SAFETY: both offsets are aligned and within the first page, which is mapped as long as `self` lives.
        unsafe {
            &*self.base.add(at).cast::<AtomicU64>()
        }
    }

    fn copy(&self, from: u64, length: usize, into: &mut Vec<u8>) {
        let size = RING_PAGES * self.page;
        let at = (from % size as u64) as usize;
        let first = length.min(size - at);
        into.clear();
        #[allow(unsafe_code)]
        // SAFETY: both pieces are within the ring, and the kernel writes nothing between tail and head.
        unsafe {
            let data = self.base.add(self.page);
            into.extend_from_slice(std::slice::from_raw_parts(data.add(at), first));
            into.extend_from_slice(std::slice::from_raw_parts(data, length - first));
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        #[allow(unsafe_code)]
        // SAFETY: this is the mapping that `of` made, and no reference into it is left.
        let _ = unsafe { rustix::mm::munmap(self.base.cast(), (RING_PAGES + 1) * self.page) };
    }
}

/// The kernel's level of protection; none where it does not say.
pub(crate) fn paranoid() -> Option<i32> {
    std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}
