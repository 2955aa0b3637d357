//! TLS, seen by a client of rustls that trusts the oracle's own authority and nothing else.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect_file;
use oracle::{Config, Fault, Oracle, Protocol, StartError, TlsConfig, TlsError, TlsVersions};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, HandshakeKind, ProtocolVersion, RootCertStore, StreamOwned,
};
use units::rfc9113::PREFACE;

use crate::frames::{frame, get};
use crate::{connect, log, start};

/// Faults that would take forever; a client gives up after this.
const IMPATIENCE: Duration = Duration::from_millis(300);

pub(crate) type Secured = StreamOwned<ClientConnection, TcpStream>;

fn serve(tls: TlsConfig, fault: Option<Fault>) -> Oracle {
    start(Config { threads: 1, tls: Some(Arc::new(tls)), fault, ..Config::default() })
}

pub(crate) fn client(oracle: &Oracle, protocols: &[&str]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let pem = oracle.authority_pem().expect("its certificate was made at the start");
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Arc::new(config)
}

pub(crate) fn secured(oracle: &Oracle, config: &Arc<ClientConfig>) -> Secured {
    let name = ServerName::try_from("localhost").unwrap();
    let session = ClientConnection::new(Arc::clone(config), name).unwrap();
    StreamOwned::new(session, connect(oracle))
}

/// All that HTTP/1.1 answers to a request that ends the connection.
pub(crate) fn said(secured: &mut Secured, target: &str) -> std::io::Result<String> {
    secured.write_all(
        format!("GET {target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").as_bytes(),
    )?;
    let mut text = Vec::new();
    secured.read_to_end(&mut text)?;
    Ok(crate::undated(&text))
}

#[test]
fn http_1_1_is_served_within_tls_and_ends_with_close_notify() {
    let oracle = serve(TlsConfig::default(), None);
    for protocols in [&["http/1.1"][..], &[]] {
        let mut secured = secured(&oracle, &client(&oracle, protocols));
        // Without close_notify reading to the end would be an error.
        assert!(said(&mut secured, "/hello").unwrap().ends_with("\r\n\r\nHello, world!"));
        assert_eq!(secured.conn.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    }
    let mut secured = secured(&oracle, &client(&oracle, &["http/1.1"]));
    let body: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    let head = format!(
        "POST /echo HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    secured.write_all(&[head.as_bytes(), &body].concat()).unwrap();
    let mut answer = Vec::new();
    secured.read_to_end(&mut answer).unwrap();
    assert!(answer.ends_with(&body), "{} bytes", answer.len());
    let truth = oracle.stop();
    assert_eq!((truth.handshakes_full, truth.handshakes_failed, truth.answers), (3, 0, 3));
}

#[test]
fn http_2_is_served_to_a_client_that_offers_it() {
    let oracle = serve(TlsConfig::default(), None);
    let mut secured = secured(&oracle, &client(&oracle, &["h2", "http/1.1"]));
    let requests = [PREFACE, &frame(4, 0, 0, b""), &frame(1, 5, 1, &get("/hello"))].concat();
    secured.write_all(&requests).unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(b"Hello, world!") {
        let mut buffer = [0; 1000];
        let count = secured.read(&mut buffer).unwrap();
        assert!(count > 0, "{}", seen.escape_ascii());
        seen.extend_from_slice(&buffer[..count]);
    }
    assert_eq!(secured.conn.alpn_protocol(), Some(&b"h2"[..]));
    assert!(seen.starts_with(&[0, 0, 18, 4]), "SETTINGS come first: {}", seen.escape_ascii());
}

/// What TLS has sealed and the kernel has not taken has not left.
#[test]
fn the_log_of_streams_is_as_true_within_tls() {
    let tls = Some(Arc::new(TlsConfig::default()));
    let oracle = log::generous(Config { tls, ..Config::default() });
    let mut secured = secured(&oracle, &client(&oracle, &["h2"]));
    log::receives_little(&secured.sock);
    log::answers_leave_when_there_is_room(&oracle, &mut secured);
}

#[test]
fn a_websocket_within_tls_echoes() {
    let oracle = serve(TlsConfig::default(), None);
    let mut secured = secured(&oracle, &client(&oracle, &["http/1.1"]));
    let fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    secured
        .write_all(format!("GET /wsecho HTTP/1.1\r\nHost: h\r\n{fields}\r\n").as_bytes())
        .unwrap();
    secured.write_all(b"\x81\x82\0\0\0\0Hi").unwrap();
    let mut seen = Vec::new();
    while !seen.ends_with(b"\x81\x02Hi") {
        let mut byte = [0];
        secured.read_exact(&mut byte).unwrap();
        seen.push(byte[0]);
    }
}

#[test]
fn sessions_are_resumed_as_often_as_there_are_tickets() {
    let kinds = |tickets| {
        let oracle = serve(TlsConfig { tickets, ..TlsConfig::default() }, None);
        let config = client(&oracle, &["http/1.1"]);
        let mut kinds = Vec::new();
        for _ in 0..2 {
            let mut secured = secured(&oracle, &config);
            said(&mut secured, "/hello").unwrap();
            assert_eq!(secured.conn.tls13_tickets_received() as usize, tickets);
            kinds.push(secured.conn.handshake_kind().unwrap());
        }
        let truth = oracle.stop();
        (kinds, truth.handshakes_full, truth.handshakes_resumed)
    };
    let (full, resumed) = (HandshakeKind::Full, HandshakeKind::Resumed);
    assert_eq!(kinds(0), (vec![full, full], 2, 0));
    assert_eq!(kinds(1), (vec![full, resumed], 1, 1));
    assert_eq!(kinds(4), (vec![full, resumed], 1, 1));
}

#[test]
fn versions_chains_and_delays_are_as_ordered() {
    let oracle = serve(TlsConfig { versions: TlsVersions::Tls12, ..TlsConfig::default() }, None);
    let mut older = secured(&oracle, &client(&oracle, &[]));
    assert!(said(&mut older, "/hello").unwrap().ends_with("Hello, world!"));
    assert_eq!(older.conn.protocol_version(), Some(ProtocolVersion::TLSv1_2));
    let delay = Some("constant:50ms".parse().unwrap());
    let oracle = serve(TlsConfig { chain_bytes: 20_000, delay, ..TlsConfig::default() }, None);
    let begun = std::time::Instant::now();
    let mut long = secured(&oracle, &client(&oracle, &[]));
    assert!(said(&mut long, "/hello").unwrap().ends_with("Hello, world!"));
    assert!(begun.elapsed() >= Duration::from_millis(50));
    let chain: usize = long.conn.peer_certificates().unwrap().iter().map(|one| one.len()).sum();
    assert!((20_000..20_300).contains(&chain), "{chain}");
}

#[test]
fn a_certificate_from_outside_is_used_and_one_without_its_key_refused() {
    let refused = |chain: &[u8], key: &[u8]| {
        let identity = Some((chain.to_vec(), key.to_vec()));
        let tls = Some(Arc::new(TlsConfig { identity, ..TlsConfig::default() }));
        match Oracle::start(Config { threads: 1, tls, ..Config::default() }) {
            Err(StartError::Tls(error)) => Some(error),
            Err(error) => panic!("{error}"),
            Ok(_) => None,
        }
    };
    let pair = || {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        (
            pem("CERTIFICATE", params.self_signed(&key).unwrap().der()),
            pem("PRIVATE KEY", &key.serialize_der()),
        )
    };
    let ((one, key), (other, _)) = (pair(), pair());
    assert_eq!(refused(&one, &key), None);
    assert!(matches!(refused(&other, &key), Some(TlsError::Pair)));
    assert!(matches!(refused(b"nothing", &key), Some(TlsError::Certificate(_))));
    assert!(matches!(refused(&one, b"nothing"), Some(TlsError::Key(_))));
}

fn pem(name: &str, der: &[u8]) -> Vec<u8> {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN {name}-----\n{text}\n-----END {name}-----\n").into_bytes()
}

#[test]
fn a_fault_that_no_client_could_meet_is_refused() {
    let refused = |fault: &str, http| {
        let fault = Some(fault.parse().unwrap());
        let started = Oracle::start(Config { threads: 1, fault, http, ..Config::default() });
        started.map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused("tls-expired", oracle::HttpVersions::Both).contains("TLS"));
    assert!(refused("h2-mute", oracle::HttpVersions::Http1).contains("HTTP/2"));
    assert!(refused("cut-body", oracle::HttpVersions::Http2).contains("HTTP/1.1"));
}

/// Faults of which nothing more comes, ever.
const SILENT: [&str; 4] = ["tls-silent", "tls-silent-finished", "tls-drip", "tls-drip-hello"];

/// How a fault ends a request: as rustls says it.
fn outcome(oracle: &Oracle, name: &str) -> String {
    let config = client(oracle, &["http/1.1"]);
    let mut secured = secured(oracle, &config);
    if SILENT.contains(&name) {
        secured.sock.set_read_timeout(Some(IMPATIENCE)).unwrap();
    }
    let request = b"GET /hello HTTP/1.1\r\nHost: h\r\n\r\n";
    let mut text = Vec::new();
    let ended = secured.write_all(request).and_then(|()| secured.flush()).and_then(|()| {
        let mut buffer = [0; 4096];
        loop {
            let count = secured.read(&mut buffer)?;
            text.extend_from_slice(&buffer[..count]);
            if count == 0 || text.ends_with(b"Hello, world!") {
                return Ok(count);
            }
        }
    });
    // A reset may come before or after what was sent last.
    let reset = |error: &std::io::Error| {
        matches!(error.kind(), std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::BrokenPipe)
    };
    let ended = match ended {
        Ok(0) => "end".to_owned(),
        Ok(_) if name == "tls-no-close-notify" => {
            format!("answered, then {}", secured.read(&mut [0; 10]).unwrap_err())
        }
        Ok(_) if text.ends_with(b"Hello, world!") => "answered".to_owned(),
        Ok(_) => "not the answer".to_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => "silence".to_owned(),
        Err(error) if reset(&error) => "reset".to_owned(),
        Err(error) => error.to_string(),
    };
    let version =
        secured.conn.protocol_version().map_or(String::new(), |version| format!("{version:?} "));
    let protocol = secured
        .conn
        .alpn_protocol()
        .map_or("no protocol".into(), |name| name.escape_ascii().to_string());
    format!("{version}{protocol}: {ended}")
}

#[test]
fn each_fault_of_tls_is_as_described() {
    let mut text = String::new();
    for fault in Fault::all().iter().filter(|fault| fault.protocol() == Protocol::Tls) {
        let oracle = serve(TlsConfig::default(), Some(*fault));
        let mut outcome = outcome(&oracle, fault.name);
        // A time or an address of more to read follows.
        for end in ["certificate expired", "without sending TLS close_notify"] {
            if let Some(at) = outcome.find(end) {
                outcome.truncate(at + end.len());
            }
        }
        writeln!(text, "{}: {}\n    {outcome}", fault.name, fault.about).unwrap();
        assert_eq!(oracle.stop().faults, 1, "{}", fault.name);
    }
    expect_file!["tls/faults.txt"].assert_eq(&text);
}

#[test]
fn a_struck_connection_leaves_the_others_alone() {
    let fault = Some("tls-endless-handshake".parse().unwrap());
    let tls = Some(Arc::new(TlsConfig::default()));
    let config = Config { threads: 1, tls, fault, fault_rate: 0.5, seed: 3, ..Config::default() };
    let oracle = start(config);
    let config = client(&oracle, &["http/1.1"]);
    let answered =
        (0..40).filter(|_| said(&mut secured(&oracle, &config), "/hello").is_ok()).count();
    let truth = oracle.stop();
    assert_eq!(truth.faults, 40 - answered as u64);
    assert!((8..32).contains(&answered), "{answered}");
}
