//! Starting, counting and stopping.

use std::io::{Read, Write};
use std::net::{Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use oracle::{Config, Delay, Listen, Oracle, StartError};

use crate::{PATIENCE, connect, plain, said, start, wait_until};

#[test]
fn the_books_balance() {
    let oracle = start(Config { threads: 2, ..Config::default() });
    let request = "GET /hello HTTP/1.1\r\nHost: h\r\n\r\nGET /?value=1 HTTP/1.1\r\nHost: h\r\n\r\nGET /no HTTP/1.1\r\nHost: h\r\n\r\nbad\r\n";
    let mut heard = 0;
    for _ in 0..20 {
        let text = said(&oracle, request);
        heard += text.len()
            + text.matches("HTTP/1.1").count() * "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n".len();
    }
    let truth = oracle.stop();
    assert_eq!((truth.connections, truth.connections_open), (20, 0));
    assert!((1..=20).contains(&truth.connections_peak));
    assert_eq!(truth.bytes_in, 20 * request.len() as u64);
    assert_eq!(truth.bytes_out, heard as u64);
    assert_eq!(truth.requests, 80);
    assert_eq!(truth.resources.iter().map(|(_, count)| count).sum::<u64>(), 80);
    assert_eq!(truth.answers, 80);
    assert_eq!(truth.served_ns.len(), 60, "a refusal is no service");
}

#[test]
fn stopping_takes_no_time_and_closes_everything() {
    let delay = Some(Delay::Constant(Duration::from_secs(3_600)));
    let oracle = start(Config { threads: 3, delay, ..Config::default() });
    let mut held: Vec<TcpStream> = (0..50).map(|_| connect(&oracle)).collect();
    for stream in &mut held[1..] {
        stream.write_all(b"GET /hello HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    }
    wait_until("requests are missing", || 49 <= oracle.truth().requests);
    let Listen::Tcp(address) = oracle.address().clone() else { panic!("TCP was asked") };
    let (sender, stopped) = mpsc::channel();
    thread::spawn(move || drop(sender.send(oracle.stop())));
    // One that waited for the answers would take an hour, and one that waited for the connections would never end.
    let truth = stopped.recv_timeout(PATIENCE).expect("it waits for nothing");
    assert_eq!((truth.requests, truth.answers), (49, 0));
    assert!(TcpStream::connect(address).is_err());
    for mut stream in held {
        // The end, or a reset; but not silence.
        let _ = stream.read_to_end(&mut Vec::new());
    }
}

#[test]
fn dropping_stops_too() {
    let oracle = plain();
    let Listen::Tcp(address) = oracle.address().clone() else { panic!("TCP was asked") };
    drop(oracle);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn ipv6_and_unix_sockets_serve_alike() {
    let listen = Listen::Tcp(SocketAddr::from((Ipv6Addr::LOCALHOST, 0)));
    match Oracle::start(Config { listen, threads: 2, ..Config::default() }) {
        Ok(oracle) => assert!(said(&oracle, "GET /hello HTTP/1.0\r\n\r\n").ends_with("world!")),
        // Some machines have no IPv6.
        Err(StartError::Listen { .. }) => {}
        Err(error) => panic!("{error}"),
    }
    let path = std::env::temp_dir().join(format!("oracle-{}.sock", std::process::id()));
    for _ in 0..2 {
        let listen = Listen::Unix(path.clone());
        let oracle = start(Config { listen, threads: 2, ..Config::default() });
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(b"GET /hello HTTP/1.0\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.ends_with("Hello, world!"));
        let _ = oracle.stop();
        assert!(!path.exists());
    }
}

#[test]
fn an_address_that_is_taken_is_refused_with_the_way_out() {
    for threads in [1, 2] {
        let first = start(Config { threads: 2, ..Config::default() });
        let listen = first.address().clone();
        let second = Oracle::start(Config { listen, threads, ..Config::default() });
        assert!(second.unwrap_err().to_string().ends_with("take another, or port 0 for any"));
    }
}

#[test]
fn a_cpu_that_is_not_there_is_refused() {
    let refused = Oracle::start(Config { cpus: vec![1023], ..Config::default() });
    assert!(matches!(refused, Err(StartError::Pin { cpu: 1023, .. })));
}

#[test]
fn a_thousand_connections_at_once_are_all_served() {
    let delay = Some(Delay::Exponential(Duration::from_millis(1)));
    let oracle = start(Config { threads: 2, delay, ..Config::default() });
    let mut streams: Vec<TcpStream> = (0..1000).map(|_| connect(&oracle)).collect();
    for stream in &mut streams {
        stream.write_all(b"GET /hello HTTP/1.0\r\n\r\n").unwrap();
    }
    for stream in &mut streams {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.ends_with("Hello, world!"));
    }
    let truth = oracle.stop();
    assert_eq!((truth.answers, truth.drawn_ns.len()), (1000, 1000));
}
