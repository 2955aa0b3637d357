//! System calls by process and number, counted by a program of the kernel's (BPF) at each of them.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Instant;

use crate::sampler::Sampler;

/// Counts between `start` and `pause`. A switch that the kernel's program reads begins and ends the count of all calls at
/// one instant; to attach and to detach the program takes the kernel milliseconds.
#[derive(Debug)]
pub struct CallCounter {
    switch: OwnedFd,
    counts: OwnedFd,
    /// Detaches the program when it is closed.
    _link: OwnedFd,
    cpus: usize,
}

const ARRAY: u32 = 2;
const HASH_PER_CPU: u32 = 5;
const RAW_TRACEPOINT: u32 = 17;
const MOST_PAIRS: u32 = 65_536;
/// The helpers of this program need no licence.
const LICENCE: &[u8] = b"Dual MIT/GPL\0";
const EVERY_CALL: &[u8] = b"sys_enter\0";

#[derive(Clone, Copy)]
enum Command {
    CreateMap = 0,
    Look = 1,
    Update = 2,
    NextKey = 4,
    LoadProgram = 5,
    OpenTracepoint = 17,
}

/// `union bpf_attr`, of which each command reads a part.
#[repr(C)]
struct Attributes([u64; 16]);

impl Attributes {
    fn of(words: &[u64]) -> Attributes {
        let mut all = [0; 16];
        all[..words.len()].copy_from_slice(words);
        Attributes(all)
    }
}

fn pair(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

fn bpf(command: Command, attributes: &mut Attributes) -> io::Result<i32> {
    #[allow(unsafe_code)]
    // SAFETY: the attributes are whole, and every address in them is of memory that the caller holds for the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            command as i32,
            &raw mut attributes.0,
            size_of::<Attributes>() as u32,
        )
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(done as i32) }
}

fn opened(command: Command, attributes: &mut Attributes) -> io::Result<OwnedFd> {
    let descriptor = bpf(command, attributes)?;
    #[allow(unsafe_code)]
    // SAFETY: the kernel has just opened this descriptor for us, and nothing else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

impl CallCounter {
    /// Makes ready to count the calls of all processes; or says why they cannot be counted.
    pub fn open() -> Result<CallCounter, String> {
        // The kernel's program sees the numbers that processes have in its first namespace, which is always this one.
        let is_outermost = std::fs::read_link("/proc/self/ns/pid")
            .is_ok_and(|namespace| namespace.as_os_str() == "pid:[4026531836]");
        if !is_outermost {
            return Err("dyno is in a PID namespace, as in a container".into());
        }
        CallCounter::attached().map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => "only root may count them (CAP_BPF)".into(),
            _ => format!("this kernel does not count them: {error}"),
        })
    }

    fn attached() -> io::Result<CallCounter> {
        let map = [pair(HASH_PER_CPU, 8), pair(8, MOST_PAIRS)];
        let counts = opened(Command::CreateMap, &mut Attributes::of(&map))?;
        let switch = [pair(ARRAY, 4), pair(8, 1)];
        let switch = opened(Command::CreateMap, &mut Attributes::of(&switch))?;
        let program = program(switch.as_raw_fd(), counts.as_raw_fd());
        let load = [
            pair(RAW_TRACEPOINT, program.len() as u32),
            program.as_ptr().addr() as u64,
            LICENCE.as_ptr().addr() as u64,
        ];
        let loaded = opened(Command::LoadProgram, &mut Attributes::of(&load))?;
        let open = [EVERY_CALL.as_ptr().addr() as u64, pair(loaded.as_raw_fd() as u32, 0)];
        let link = opened(Command::OpenTracepoint, &mut Attributes::of(&open))?;
        Ok(CallCounter { switch, counts, _link: link, cpus: possible_cpus() })
    }

    /// Begins to count, at this instant.
    pub fn start(&self) -> Instant {
        self.set(1)
    }

    /// Ends the count, at this instant.
    pub fn pause(&self) -> Instant {
        self.set(0)
    }

    fn set(&self, value: u64) -> Instant {
        let (key, map) = (0_u32, self.switch.as_raw_fd() as u64);
        let [key, value] = [(&raw const key).addr() as u64, (&raw const value).addr() as u64];
        // It cannot fail: the map has this one place, and is ours.
        let _ = bpf(Command::Update, &mut Attributes::of(&[map, key, value]));
        Instant::now()
    }

    /// The calls by name of the server whose samples have ended, processes that began meanwhile included; or why they
    /// are not known.
    pub fn stop(self, sampler: &mut Sampler) -> Result<Vec<(String, u64)>, String> {
        sampler.drain();
        let found = self.read();
        if !sampler.knows_all() || MOST_PAIRS as usize <= found.len() {
            return Err("more processes began meanwhile than dyno can follow".into());
        }
        let mut by_number = BTreeMap::<u32, u64>::new();
        for (key, calls) in found.into_iter().filter(|(key, _)| sampler.processes.has(*key as u32))
        {
            *by_number.entry((key >> 32) as u32).or_default() += calls;
        }
        let named = by_number.into_iter().map(|(number, calls)| (name(number), calls));
        let mut named: Vec<(String, u64)> = named.collect();
        named.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
        Ok(named)
    }

    /// All counts so far, by process and number.
    fn read(&self) -> BTreeMap<u64, u64> {
        let mut found = BTreeMap::new();
        let mut key: Option<u64> = None;
        let mut next = 0_u64;
        let map = self.counts.as_raw_fd() as u64;
        for _ in 0..MOST_PAIRS {
            let from = key.as_ref().map_or(0, |key| (&raw const *key).addr() as u64);
            let into = (&raw mut next).addr() as u64;
            if bpf(Command::NextKey, &mut Attributes::of(&[map, from, into])).is_err() {
                break;
            }
            let mut values = vec![0_u64; self.cpus];
            let into = values.as_mut_ptr().addr() as u64;
            let from = (&raw const next).addr() as u64;
            if bpf(Command::Look, &mut Attributes::of(&[map, from, into])).is_ok() {
                found.insert(next, values.iter().sum());
            }
            key = Some(next);
        }
        found
    }
}

/// How many CPUs the kernel keeps values for.
fn possible_cpus() -> usize {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit([',', '-']).next().and_then(|last| last.parse::<usize>().ok());
    last.map_or(1024, |last| last + 1)
}

/// At each call, where the switch is on: one more for this process and this number.
fn program(switch: i32, map: i32) -> Vec<u64> {
    const CALL: u8 = 0x85;
    const MOVE: u8 = 0xbf;
    const ADD: u8 = 0x07;
    const STORE: u8 = 0x7b;
    const LOAD: u8 = 0x79;
    /// So many steps follow the last test of the switch, before the end.
    const TO_END: i16 = 24;
    // The map, as its descriptor, and where its key is: 8 bytes below the end of the stack.
    let map_and_key =
        [step(0x18, 1, 1, 0, map), 0, step(MOVE, 2, 10, 0, 0), step(ADD, 2, 0, 0, -8)];
    let mut steps = vec![
        step(MOVE, 6, 1, 0, 0),
        // The switch: the only place of its map. If it is off, to the end.
        step(0x62, 10, 0, -4, 0),
        step(0x18, 1, 1, 0, switch),
        0,
        step(MOVE, 2, 10, 0, 0),
        step(ADD, 2, 0, 0, -4),
        step(CALL, 0, 0, 0, 1),
        step(0x15, 0, 0, TO_END + 2, 0),
        step(LOAD, 0, 0, 0, 0),
        step(0x15, 0, 0, TO_END, 0),
        // The key: the process, which is the upper half of what is returned, and the call's number.
        step(CALL, 0, 0, 0, 14),
        step(0x77, 0, 0, 0, 32),
        step(0x63, 10, 0, -8, 0),
        step(LOAD, 3, 6, 8, 0),
        step(0x63, 10, 3, -4, 0),
    ];
    steps.extend(map_and_key);
    // Looks it up; if it is there, eight steps ahead.
    steps.extend([step(CALL, 0, 0, 0, 1), step(0x55, 0, 0, 10, 0), step(0x7a, 10, 0, -16, 1)]);
    steps.extend(map_and_key);
    steps.extend([
        step(MOVE, 3, 10, 0, 0),
        step(ADD, 3, 0, 0, -16),
        step(0xb7, 4, 0, 0, 0),
        step(CALL, 0, 0, 0, 2),
        step(0x05, 0, 0, 3, 0),
        step(LOAD, 1, 0, 0, 0),
        step(ADD, 1, 0, 0, 1),
        step(STORE, 0, 1, 0, 0),
        step(0xb7, 0, 0, 0, 0),
        step(0x95, 0, 0, 0, 0),
    ]);
    steps
}

/// An instruction: what it does, its registers, an offset and a constant.
fn step(code: u8, to: u8, from: u8, offset: i16, value: i32) -> u64 {
    let registers = to | from << 4;
    u64::from(code)
        | u64::from(registers) << 8
        | u64::from(offset as u16) << 16
        | u64::from(value as u32) << 32
}

macro_rules! numbered {
    ($($name:ident)*) => { [$((libc::$name, stringify!($name))),*] };
}

/// A call's name, as the manual has it; its number for one that servers seldom make.
fn name(number: u32) -> String {
    #[cfg(target_arch = "x86_64")]
    let of_this_machine = numbered![
        SYS_open SYS_stat SYS_lstat SYS_poll SYS_select SYS_epoll_wait SYS_getpgrp SYS_time
        SYS_alarm SYS_pause SYS_access SYS_readlink SYS_arch_prctl
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let of_this_machine: [(libc::c_long, &str); 0] = [];
    let everywhere = numbered![
        SYS_read SYS_write SYS_close SYS_fstat SYS_newfstatat SYS_statx SYS_lseek SYS_mmap
        SYS_mprotect SYS_munmap SYS_brk SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigreturn
        SYS_ioctl SYS_pread64 SYS_pwrite64 SYS_readv SYS_writev SYS_preadv SYS_pwritev SYS_pipe2
        SYS_sched_yield SYS_mremap SYS_madvise SYS_dup SYS_nanosleep SYS_getpid SYS_gettid
        SYS_getppid SYS_getuid SYS_sendfile SYS_socket SYS_connect SYS_accept SYS_accept4 SYS_sendto
        SYS_recvfrom SYS_sendmsg SYS_recvmsg SYS_sendmmsg SYS_recvmmsg SYS_shutdown SYS_bind
        SYS_listen SYS_getsockname SYS_getpeername SYS_setsockopt SYS_getsockopt SYS_clone
        SYS_clone3 SYS_execve SYS_exit SYS_wait4 SYS_kill SYS_tgkill SYS_fcntl SYS_ftruncate
        SYS_getdents64 SYS_openat SYS_readlinkat SYS_faccessat SYS_gettimeofday SYS_clock_gettime
        SYS_clock_nanosleep SYS_getrandom SYS_futex SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2
        SYS_ppoll SYS_pselect6 SYS_eventfd2 SYS_timerfd_settime SYS_setitimer SYS_splice SYS_io_uring_enter
        SYS_membarrier SYS_prctl SYS_sched_getaffinity SYS_getcpu SYS_exit_group SYS_restart_syscall
        SYS_fsync SYS_fdatasync SYS_flock SYS_sigaltstack SYS_getrusage
    ];
    let mut all = of_this_machine.iter().chain(&everywhere);
    let found = all.find(|(other, _)| *other == number as libc::c_long);
    found.map_or_else(|| format!("call {number}"), |(_, name)| name["SYS_".len()..].to_owned())
}
