//! A subject whose use of resources is known.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

/// `worker LINE WORD…`: does what the words say, writes `ready …` to the line, and waits for ever.
pub(crate) fn work(arguments: &[String]) -> i32 {
    let mut line = OpenOptions::new().write(true).open(&arguments[0]).unwrap();
    let mut held: Vec<Box<dyn std::any::Any>> = Vec::new();
    let mut answer = String::from("ready");
    let mut words = arguments[1..].iter().map(String::as_str);
    while let Some(word) = words.next() {
        let mut amount = || words.next().unwrap().parse::<usize>().unwrap();
        match word {
            "burn-ms" => {
                let until = used() + Duration::from_millis(amount() as u64);
                while used() < until {}
            }
            "memory-mib" => held.push(Box::new(vec![7_u8; amount() << 20])),
            "files" => {
                let open = |_| File::open("/dev/null").unwrap();
                held.push(Box::new((0..amount()).map(open).collect::<Vec<_>>()));
            }
            "threads" => {
                for _ in 0..amount() {
                    std::thread::spawn(std::thread::park);
                }
            }
            "listen" => {
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                answer += &format!(" {}", listener.local_addr().unwrap().port());
                held.push(Box::new(listener));
            }
            "print-mib" => {
                let part = [b'x'; 1 << 20];
                (0..amount()).for_each(|_| std::io::stdout().write_all(&part).unwrap());
            }
            "limits" => {
                let files = getrlimit(Resource::Nofile);
                answer += &format!(" files={:?}/{:?}", files.current, files.maximum);
                let cpus = machine::conditions::Cpus::available().unwrap();
                answer += &format!(" cpus={cpus} cwd={:?}", std::env::current_dir().unwrap());
                let status = std::fs::read_to_string("/proc/self/status").unwrap();
                answer += if status.contains("NoNewPrivs:\t1") { " no-new-privs" } else { "" };
                let mut names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                names.sort();
                answer += &format!(" env={}", names.join(","));
                let open = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
                let mut open: Vec<String> =
                    open.map(|entry| entry.file_name().into_string().unwrap()).collect();
                open.sort();
                // The line itself, and the folder that was just read, are two of them.
                answer += &format!(" open={}", open.len());
                let mut input = Vec::new();
                std::io::stdin().read_to_end(&mut input).unwrap();
                answer += &format!(" input={}", input.len());
            }
            "exit" => {
                println!("the last words");
                return i32::try_from(amount()).unwrap();
            }
            other => panic!("unknown word {other}"),
        }
    }
    writeln!(line, "{answer}").unwrap();
    loop {
        std::thread::park();
    }
}

/// CPU time so far.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}
