//! Which process listens on a port, and a network of a thread's own.

use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::Command;

use machine::namespace;
use machine::process::launch;
use machine::sockets::{Ownership, PORTS, free_port, is_free, listeners, owner_is_among};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};

use crate::folder::{Doomed, Line, eventually, warden, worker};

crate::tests![
    the_wrong_server_is_distinguished_from_the_right_one,
    one_stranger_among_the_listeners_is_enough,
    a_backlog_and_what_waits_in_it_are_seen,
    a_port_is_free_when_nothing_of_it_is_left,
    a_port_that_lingers_is_not_free,
    ports_are_drawn_by_chance_and_never_in_a_row,
    a_network_of_its_own_has_nothing_but_lo,
];

fn port_of(listener: &TcpListener) -> u16 {
    listener.local_addr().unwrap().port()
}

fn the_wrong_server_is_distinguished_from_the_right_one() {
    let (folder, mut line) = Line::with_folder();
    let running = launch(&warden(), &worker(&folder, &["listen"])).unwrap();
    let port: u16 = line.hear().strip_prefix("ready ").unwrap().parse().unwrap();
    assert_eq!(owner_is_among(port, &running.tree()).unwrap(), Ownership::Theirs);
    let strangers = [std::process::id()];
    let Ownership::Another(holder, name) = owner_is_among(port, &strangers).unwrap() else {
        panic!("it was not noticed")
    };
    assert_eq!(holder, Some(running.pid()));
    assert!(name.starts_with("it-"), "{name}");
    let _ = running.stop();
    assert_eq!(owner_is_among(port, &strangers).unwrap(), Ownership::NoListener);
}

/// A listener that shares its port with others.
fn sharing(port: u16) -> OwnedFd {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
    sockopt::set_socket_reuseport(&socket, true).unwrap();
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)).unwrap();
    listen(&socket, 16).unwrap();
    socket
}

fn one_stranger_among_the_listeners_is_enough() {
    let port = free_port(PORTS).unwrap();
    let _ours = sharing(port);
    // As its standard input: the other listener is now that process's, and no longer this one's.
    let stranger = Command::new("sleep").arg("1000").stdin(sharing(port)).spawn();
    let stranger = Doomed(stranger.unwrap());
    assert_eq!(listeners(port).unwrap().len(), 2);
    let own = std::process::id();
    let another = Ownership::Another(Some(stranger.0.id()), "sleep".to_string());
    // A new process gets its name a little after it was started.
    eventually("its name", || owner_is_among(port, &[own]).unwrap() == another);
    assert_eq!(owner_is_among(port, &[own, stranger.0.id()]).unwrap(), Ownership::Theirs);
    drop(stranger);
    assert_eq!(owner_is_among(port, &[own]).unwrap(), Ownership::Theirs);
}

fn a_backlog_and_what_waits_in_it_are_seen() {
    let socket = sharing(0);
    listen(&socket, 7).unwrap();
    let listener = TcpListener::from(socket);
    let port = port_of(&listener);
    let _waiting = [0; 3].map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap());
    let found = || {
        let [found] = listeners(port).unwrap()[..] else { panic!("one listener") };
        (found.backlog, found.waiting)
    };
    // On a busy machine, the kernel may handle a connection's last step later.
    eventually("three that wait", || found() == (Some(7), 3));
    let _accepted = listener.accept().unwrap();
    assert_eq!(found(), (Some(7), 2));
}

/// A listener on a port that the kernel gives to no other test, even when this one has left it.
fn listener_of_its_own() -> TcpListener {
    let drawn = || TcpListener::bind(("127.0.0.1", free_port(PORTS).unwrap())).ok();
    (0..100).find_map(|_| drawn()).expect("a port that no other process takes in between")
}

fn a_port_is_free_when_nothing_of_it_is_left() {
    let listener = listener_of_its_own();
    let port = port_of(&listener);
    assert!(!is_free(port).unwrap(), "a server listens");
    let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let (server, _) = listener.accept().unwrap();
    drop(listener);
    assert!(!is_free(port).unwrap(), "a client is connected");
    // A reset leaves nothing behind.
    let reset = Some(std::time::Duration::ZERO);
    sockopt::set_socket_linger(&server, reset).unwrap();
    drop((server, client));
    eventually("that the port is free", || is_free(port).unwrap());
    let flags = SocketFlags::CLOEXEC;
    let bound = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
    bind(&bound, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)).unwrap();
    assert!(!is_free(port).unwrap(), "a socket is bound to it");
}

fn a_port_that_lingers_is_not_free() {
    let listener = listener_of_its_own();
    let port = port_of(&listener);
    let client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let (server, _) = listener.accept().unwrap();
    drop(server);
    drop(client);
    drop(listener);
    assert!(!is_free(port).unwrap());
    assert_eq!(owner_is_among(port, &[]).unwrap(), Ownership::NoListener);
}

fn ports_are_drawn_by_chance_and_never_in_a_row() {
    let ports: Vec<u16> = (0..16).map(|_| free_port(PORTS).unwrap()).collect();
    assert!(ports.iter().all(|port| PORTS.contains(port)), "{ports:?}");
    // It fails by chance less than once in 10^40 runs.
    assert!(ports.windows(2).any(|pair| 8 < pair[0].abs_diff(pair[1])), "{ports:?}");
    let _taken = TcpListener::bind(("127.0.0.1", ports[0])).unwrap();
    assert_ne!(free_port(ports[0]..=ports[0] + 1).ok(), Some(ports[0]));
}

fn a_network_of_its_own_has_nothing_but_lo() {
    let (folder, mut line) = Line::with_folder();
    let outer = std::fs::read_link("/proc/thread-self/ns/net").unwrap();
    let before = outer.clone();
    let inside = std::thread::spawn(move || {
        let entered = namespace::enter();
        let answer = namespace::fact(&entered).value;
        if let Err(error) = entered {
            eprintln!("SKIPPED: {error}");
            return;
        }
        assert_eq!(answer, "of its own");
        assert_ne!(std::fs::read_link("/proc/thread-self/ns/net").unwrap(), outer);
        let devices = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
        let devices: Vec<&str> = devices.lines().skip(2).map(str::trim).collect();
        assert!(matches!(devices[..], [lo] if lo.starts_with("lo:")), "{devices:?}");
        let running = launch(&warden(), &worker(&folder, &["listen"])).unwrap();
        let port: u16 = line.hear().strip_prefix("ready ").unwrap().parse().unwrap();
        assert_eq!(owner_is_among(port, &running.tree()).unwrap(), Ownership::Theirs);
        TcpStream::connect(("127.0.0.1", port)).unwrap();
        std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", "40000 40003").unwrap();
        let outgoing = TcpStream::connect(("127.0.0.1", port)).unwrap();
        assert!((40_000..=40_003).contains(&outgoing.local_addr().unwrap().port()));
        let _ = running.stop();
    });
    inside.join().unwrap();
    assert_eq!(std::fs::read_link("/proc/thread-self/ns/net").unwrap(), before);
}
