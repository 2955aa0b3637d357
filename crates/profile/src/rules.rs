//! Which line a sample belongs to: rules are data, and the first one that fits counts.

use serde::Deserialize;

use crate::pattern::Pattern;

/// Lines of the kernel by the functions between the system call and where the sample was taken: names of old and new
/// kernels. What wakes and delivers comes first, since both happen within a `send`.
pub(crate) const KERNEL: [(&str, &str); 9] = [
    ("wake the client", "sock_def_readable"),
    (
        "deliver to the client",
        "__do_softirq handle_softirqs do_softirq do_softirq.part.0 net_rx_action",
    ),
    (
        "send",
        "tcp_sendmsg tcp_sendmsg_locked __sys_sendto __sys_sendmsg do_sendfile \
         sock_write_iter sock_sendmsg",
    ),
    (
        "receive",
        "tcp_recvmsg sock_recvmsg inet_recvmsg sock_read_iter __sys_recvfrom __sys_recvmsg \
         tcp_cleanup_rbuf",
    ),
    (
        "wait for events",
        "do_epoll_wait ep_poll do_epoll_pwait __x64_sys_epoll_wait __arm64_sys_epoll_pwait \
         do_sys_poll __x64_sys_poll do_select __do_sys_io_uring_enter",
    ),
    (
        "connections and their options",
        "__sys_accept4 do_accept tcp_close __fput __sys_setsockopt __sys_getsockopt \
         do_epoll_ctl __x64_sys_close __sys_shutdown",
    ),
    (
        "threads: futex, sleep, yield, switch",
        "do_futex __x64_sys_futex hrtimer_nanosleep common_nsleep __x64_sys_sched_yield \
         do_sched_yield kernel_clone do_exit",
    ),
    (
        "memory",
        "exc_page_fault do_user_addr_fault handle_mm_fault do_madvise do_mmap __x64_sys_mmap \
         __x64_sys_munmap __vm_munmap do_mprotect_pkey",
    ),
    ("files", "vfs_read vfs_write do_sys_openat2 vfs_statx vfs_fstatat filemap_read"),
];
/// Of what no rule names, a switch between threads is one of threads.
const SWITCH: &str = "schedule";
pub(crate) const OTHER: &str = "other";
/// Where the kernel hides the names of its functions.
pub(crate) const UNSEEN: &str = "all of the kernel: it hides the names of its functions";

/// The line of a stack within the kernel, by the names of its functions.
pub(crate) fn kernel_line(names: &[&str]) -> &'static str {
    if names.is_empty() {
        return UNSEEN;
    }
    let threads = KERNEL[6].0;
    let fits = |(_, wanted): &&(&str, &str)| wanted.split(' ').any(|it| names.contains(&it));
    match KERNEL.iter().find(fits) {
        Some((line, _)) => line,
        None if names.contains(&SWITCH) => threads,
        None => OTHER,
    }
}

/// Lines of any program, by its innermost function: libraries that many servers share.
const INNERMOST: [(&str, &str); 3] = [
    (
        "allocation",
        "malloc, free, cfree, calloc, realloc, _int_malloc, _int_free*, __libc_malloc*, \
         __libc_free*, malloc_consolidate*, unlink_chunk*, operator new*, operator delete*, \
         je_*, mi_malloc*, mi_free*, tc_malloc*, __rust_alloc*, __rust_dealloc*, __rdl_*, \
         ngx_palloc*, ngx_pnalloc*, ngx_pcalloc*",
    ),
    ("TLS", "rustls::*, ring::*, ring_core_*, crypto/*, SSL_*, EVP_*, bssl::*"),
    (
        "HTTP parsing",
        "llhttp_*, http_parser_*, node::*Parser*, ngx_http_parse_*, phr_*, httparse::*, \
         *HttpObjectDecoder*, *HttpParser*, mochiweb_http:*, decode_packet*",
    ),
];
const TLS_LIBRARIES: &str = "libssl.so*, libcrypto.so*, libgnutls.so*, libtcnative*";
const C_LIBRARIES: &str = "libc.so*, libc-2.*, libm.so*, libpthread*, libstdc++.so*, libgcc_s*, ld-linux*, [vdso], ld-musl*";

/// What a runtime's probe says of its functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runtime {
    /// Executables that it is about.
    pub executables: Vec<Pattern>,
    /// A function that the executable must have, where its name says nothing.
    pub symbol: Option<String>,
    /// Lines by any function of the stack: garbage collection, compiling.
    pub anywhere: Vec<LineRule>,
    /// Lines by the innermost function.
    pub innermost: Vec<LineRule>,
    /// Lines by the name of the thread.
    pub threads: Vec<LineRule>,
    /// How a function is called, and which package it belongs to.
    pub names: Vec<NameRule>,
}

impl Runtime {
    /// Whether it may be about an executable of this name.
    #[must_use]
    pub fn is_named(&self, executable: &str) -> bool {
        self.executables.iter().any(|pattern| pattern.fits(executable))
    }
}

/// A line, and the names that belong to it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineRule {
    pub line: String,
    #[serde(rename = "match")]
    pub patterns: Vec<Pattern>,
}

/// The first one that fits a function's name says its name and package.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NameRule {
    #[serde(rename = "match")]
    pub pattern: Pattern,
    /// With what the pattern kept: `{function} ({package})`; none: the name as it is.
    pub function: Option<String>,
    pub package: Option<String>,
}

/// A function of a stack, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Function {
    pub(crate) name: Option<String>,
    /// The file that it is in; `compiled code` for what a runtime made.
    pub(crate) place: String,
    /// `package express`, or the file.
    pub(crate) package: String,
}

/// The line of a stack of the program; the innermost function first.
pub(crate) fn program_line(
    runtimes: &[&Runtime],
    thread: &str,
    stack: &[&Function],
) -> Option<String> {
    let find = |rules: &[LineRule], name: &str| {
        let fits = |rule: &&LineRule| rule.patterns.iter().any(|it| it.fits(name));
        rules.iter().find(fits).map(|rule| rule.line.clone())
    };
    let names = || stack.iter().filter_map(|function| function.name.as_deref());
    let by_thread = || runtimes.iter().find_map(|runtime| find(&runtime.threads, thread));
    let anywhere = || {
        runtimes.iter().find_map(|runtime| names().find_map(|name| find(&runtime.anywhere, name)))
    };
    if let Some(line) = by_thread().or_else(anywhere) {
        return Some(line);
    }
    let innermost = stack.first()?;
    if one_of(TLS_LIBRARIES, &innermost.place) {
        return Some("TLS".into());
    }
    let name = innermost.name.as_deref()?;
    if let Some(line) = runtimes.iter().find_map(|runtime| find(&runtime.innermost, name)) {
        return Some(line);
    }
    if let Some((line, _)) = INNERMOST.iter().find(|(_, names)| one_of(names, name)) {
        return Some((*line).into());
    }
    if one_of(C_LIBRARIES, &innermost.place) {
        return Some("C library".into());
    }
    Some(innermost.package.clone())
}

/// Patterns of this file end in `*`, begin with it, or are the whole name.
fn one_of(patterns: &str, name: &str) -> bool {
    patterns.split(", ").any(|pattern| match pattern.contains('*') {
        false => pattern == name,
        true => Pattern::parse(pattern).is_ok_and(|pattern| pattern.fits(name)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_from_the_system_call_decides_the_kernels_line() {
        let line = |names: &str| kernel_line(&names.split(' ').collect::<Vec<_>>());
        assert_eq!(
            line("try_to_wake_up sock_def_readable tcp_sendmsg do_syscall_64"),
            "wake the client"
        );
        assert_eq!(line("tcp_v4_rcv net_rx_action tcp_sendmsg"), "deliver to the client");
        assert_eq!(line("copy_from_iter tcp_sendmsg_locked tcp_sendmsg"), "send");
        assert_eq!(line("schedule do_epoll_wait"), "wait for events");
        assert_eq!(line("schedule exit_to_user_mode"), "threads: futex, sleep, yield, switch");
        assert_eq!(line("entry_SYSCALL_64"), "other");
        assert_eq!(kernel_line(&[]), UNSEEN);
    }

    /// The names of the rules are the kernel's own: of each line at least one is a function of this kernel.
    #[test]
    fn this_kernel_has_a_function_of_each_line() {
        let text = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
        let own: std::collections::BTreeSet<&str> =
            text.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
        if own.is_empty() {
            println!("skipped: this kernel shows no names of its functions");
            return;
        }
        for (line, names) in KERNEL {
            assert!(names.split(' ').any(|name| own.contains(name)), "{line}");
        }
        assert!(own.contains(SWITCH));
    }

    fn function(name: Option<&str>, place: &str) -> Function {
        let package = place.to_owned();
        Function { name: name.map(str::to_owned), place: place.into(), package }
    }

    #[test]
    fn a_runtime_says_first_then_shared_libraries_then_the_package() {
        let rule = |line: &str, pattern: &str| LineRule {
            line: line.into(),
            patterns: vec![Pattern::parse(pattern).expect("a pattern")],
        };
        let collector = Runtime {
            anywhere: vec![rule("garbage collection", "*Scavenge*")],
            threads: vec![rule("compiling", "C2 *")],
            ..Runtime::default()
        };
        let line = |stack: &[&Function], thread: &str| program_line(&[&collector], thread, stack);
        let (free, app) = (function(Some("free"), "libc.so.6"), function(Some("handle"), "app"));
        let scavenge = function(Some("v8::Scavenger::ScavengePage"), "node");
        assert_eq!(line(&[&free, &scavenge], "node").as_deref(), Some("garbage collection"));
        assert_eq!(line(&[&free, &app], "C2 Compiler").as_deref(), Some("compiling"));
        assert_eq!(line(&[&free, &app], "node").as_deref(), Some("allocation"));
        assert_eq!(line(&[&app], "node").as_deref(), Some("app"));
        let memcpy = function(Some("memcpy"), "libc.so.6");
        assert_eq!(line(&[&memcpy], "").as_deref(), Some("C library"));
        assert_eq!(line(&[&function(None, "libc.so.6")], ""), None);
        assert_eq!(line(&[&function(None, "libcrypto.so.3")], "").as_deref(), Some("TLS"));
        assert_eq!(line(&[], ""), None);
    }
}
