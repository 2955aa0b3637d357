//! Kernels older than this one: a filter answers "no such system call" for all that came later.

use std::thread;

use crate::lab_rig::{Lab, SHORT};
use crate::rig::Rig;

/// The numbers of system calls are the same on all machines from 424 on, and grow with the kernel's versions.
/// 434 is `pidfd_open`, the last of Linux 5.3 that dyno needs; `epoll_pwait2` is 441, of Linux 5.11.
const FIRST_AFTER_LINUX_5_3: u32 = 435;
const FIRST_AFTER_LINUX_5_2: u32 = 434;

/// Runs this on a thread for which system calls from this number on do not exist. Programs that it starts inherit that.
fn without_calls_from<T: Send>(first_missing: u32, body: impl FnOnce() -> T + Send) -> T {
    with_filter(libc::BPF_JGE, first_missing, libc::ENOSYS, body)
}

/// Runs this on a thread for which this system call fails with this error, and with it what it starts.
pub(crate) fn refusing<T: Send>(
    call: libc::c_long,
    error: i32,
    body: impl FnOnce() -> T + Send,
) -> T {
    with_filter(libc::BPF_JEQ, call as u32, error, body)
}

fn with_filter<T: Send>(is: u32, call: u32, error: i32, body: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            deny(is, call, error);
            body()
        });
        thread.join().expect("the test says why")
    })
}

/// Denies this thread the system calls whose number compares to this one in this way.
#[allow(unsafe_code)]
fn deny(is: u32, call: u32, error: i32) {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let mut program = [
        // The number of the call is the first field of what a filter sees.
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        libc::sock_filter { jf: 1, ..statement(libc::BPF_JMP | is | libc::BPF_K, call) },
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | error as u32),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    rustix::thread::set_no_new_privs(true).unwrap();
    // SAFETY: the program outlives the call, which copies it; it binds the calling thread and its children only.
    let done = unsafe {
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter, 0, 0)
    };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn a_load_on_an_old_kernel_waits_exactly_all_the_same() {
    let rig = Rig::new();
    // A request is due every 1.43 ms. If waits were rounded up to milliseconds, half of the requests would be late by
    // 0.6 ms and more, in every attempt; a busy machine is not so late in all of them.
    let flags = ["load", "{url}/hello", "-r", "700", "-d", "300ms", "--spin", "never", "--json"];
    let is_exact = (0..20).any(|_| {
        let json = without_calls_from(FIRST_AFTER_LINUX_5_3, || rig.dyno(&flags)).status(0).json();
        assert_eq!(
            (&json["books"]["attempted"], &json["books"]["correct"]),
            (&210.into(), &210.into())
        );
        json["late"]["p50_ns"].as_u64().unwrap() < 300_000
    });
    assert!(is_exact);
}

#[test]
fn held_connections_are_held_on_an_old_kernel() {
    let rig = Rig::new();
    let flags = ["hold", "{url}/poll/0.1", "-c", "5", "--every", "1s", "--settle", "100ms"];
    without_calls_from(FIRST_AFTER_LINUX_5_3, || rig.dyno(&flags)).status(0);
}

#[test]
fn an_experiment_runs_on_the_oldest_kernel_that_dyno_supports() {
    let lab = Lab::new().oracle("a", "--delay constant:300us").experiment("x", &["a"], SHORT, "");
    without_calls_from(FIRST_AFTER_LINUX_5_3, || lab.dyno(&["run", "x"]))
        .measured()
        .stdout_has("valid");
}

#[test]
fn a_kernel_that_cannot_end_servers_for_certain_is_refused_before_one_is_started() {
    let lab = Lab::one(SHORT, "");
    without_calls_from(FIRST_AFTER_LINUX_5_2, || lab.dyno(&["run", "x"]))
        .status(2)
        .stderr_has("dyno needs Linux 5.3 or newer to run servers");
    assert!(!lab.has(".dyno"), "nothing was begun");
}
