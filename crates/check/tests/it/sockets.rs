//! Known WebSocket servers: the oracle, servers without a page, and servers that do the same whatever they receive.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use check::{Case, CaseVerdict, Protocol, Report, Target, VerdictCounts, case, catalogue, check};
use sha1::{Digest, Sha1};

use crate::controls::{Control, always, assert_low, serve};
use crate::script::{Act, answer, play};
use crate::scripted::Scripted;
use crate::{Revives, oracle, plan, points, run, some, websocket};

fn cases() -> Vec<&'static Case> {
    catalogue().iter().filter(|case| case.protocol() == Protocol::Socket).collect()
}

fn target(address: SocketAddr, get: &str, socket: &str) -> Target {
    Target { get: get.into(), socket: Some(socket.into()), ..Target::at(address) }
}

fn counts(report: &Report) -> VerdictCounts {
    for finding in report.findings.iter().filter(|it| it.verdict != CaseVerdict::NotTestable) {
        println!("{} {} {}", finding.id, finding.verdict.name(), finding.why);
    }
    points(report);
    VerdictCounts::of(&report.findings)
}

fn verdict(report: &Report, id: &str) -> CaseVerdict {
    report.findings.iter().find(|finding| finding.id == id).unwrap().verdict
}

#[test]
fn a_socket_that_speaks_of_its_own_and_gives_nothing_back_can_be_asked_most() {
    let (_oracle, address) = oracle();
    let plan = plan(target(address, "/hello", "/wspoll/0.02"), cases(), 1);
    let tally = counts(&run(&plan));
    assert_eq!(tally.pass + tally.not_applicable, cases().len());
    assert!(tally.pass >= 40, "{tally}");
}

#[test]
fn a_server_without_a_page_is_alive_if_it_opens_sockets() {
    let (_oracle, address) = oracle();
    let plan = plan(target(address, "/no-such-page", "/wsecho"), cases(), 1);
    let report = run(&plan);
    assert_eq!(counts(&report).pass, cases().len());
}

#[test]
fn a_server_without_a_page_that_dies_has_crashed() {
    let (_oracle, address) = oracle();
    let deadly = case("WS-F04").unwrap();
    let server = Scripted::mortal(address, deadly, Box::new(|_| &[]), 0);
    let target = Target { get: "/no-such-page".into(), ..server.target() };
    let plan = plan(target, some(&["WS-B01", "WS-F04"]), 1);
    let report = check(&plan, &Revives(|| server.revive()), &mut |_| {});
    assert_eq!(verdict(&report, "WS-B01"), CaseVerdict::Pass);
    assert_eq!(verdict(&report, "WS-F04"), CaseVerdict::Crash);
    assert!(report.findings[1].why.contains("a handshake was not answered any more"));
}

/// What a control scores that answers a plain GET, accepts any handshake, and then does this.
fn asked(treat: fn(TcpStream)) -> Report {
    let target = target(serve(treat), "/hello", "/socket");
    run(&plan(target, cases(), 1))
}

/// Opens a WebSocket, if one is requested; else it answers, and that was all.
fn opened(client: &mut TcpStream) -> bool {
    let mut head = Vec::new();
    let mut octet = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if client.read(&mut octet).unwrap_or(0) == 0 {
            return false;
        }
        head.push(octet[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    if !head.contains("Upgrade: websocket") {
        play(&[Act::Last(200, "hello")], client);
        return false;
    }
    let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "));
    let hash = Sha1::new()
        .chain_update(key.unwrap_or_default())
        .chain_update("258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    let accept = STANDARD.encode(hash.finalize());
    let head = format!(
        "HTTP/1.1 101 So\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    client.write_all(head.as_bytes()).is_ok()
}

/// The next frame, however it is formed: its first octet and its payload.
fn frame(client: &mut TcpStream) -> Option<(u8, Vec<u8>)> {
    let mut header = [0; 2];
    client.read_exact(&mut header).ok()?;
    let mut more = vec![0; if header[1] & 0x7f == 126 { 2 } else { 8 }];
    let len = match header[1] & 0x7f {
        126 | 127 => {
            client.read_exact(&mut more).ok()?;
            more.iter().fold(0, |sum: u64, octet| sum << 8 | u64::from(*octet))
        }
        short => short.into(),
    };
    let mut mask = [0; 4];
    if header[1] & 0x80 != 0 {
        client.read_exact(&mut mask).ok()?;
    }
    let mut payload = Vec::new();
    client.take(len).read_to_end(&mut payload).ok()?;
    payload.iter_mut().enumerate().for_each(|(index, octet)| *octet ^= mask[index % 4]);
    (payload.len() as u64 == len).then_some((header[0], payload))
}

fn send(client: &mut TcpStream, first: u8, payload: &[u8]) -> Option<()> {
    client.write_all(&websocket::frame(first, None, payload)).ok()
}

/// Until something else than a ping comes.
fn answer_pings(client: &mut TcpStream) {
    while let Some((0x89, payload)) = frame(client) {
        let _ = send(client, 0x8a, &payload);
    }
}

const SWITCHES: &[u8] = b"HTTP/1.1 101 So\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// Opens a socket and plays this.
fn opens_and(mut client: TcpStream, acts: &[Act]) {
    if opened(&mut client) {
        play(acts, &mut client);
    }
}

#[test]
fn a_server_that_does_the_same_with_each_socket_gets_nothing() {
    const REFUSAL: &str = "Sec-WebSocket-Version: 13\r\n";
    let controls: [Control; 6] = [
        ("drops every socket", 5.0, |mut client| _ = opened(&mut client)),
        ("opens and then says nothing", 5.0, |client| opens_and(client, &[])),
        ("gives octets back", 5.0, |client| opens_and(client, &[Act::Mirror])),
        ("switches whatever it is asked", 5.0, |client| always(client, SWITCHES)),
        ("refuses whatever it is asked", 5.0, |client| always(client, &answer(426, "", REFUSAL))),
        ("answers one ping and drops all else", 5.0, |mut client| {
            if opened(&mut client)
                && let Some((0x89, payload)) = frame(&mut client)
            {
                let _ = send(&mut client, 0x8a, &payload);
                let _ = frame(&mut client);
            }
        }),
    ];
    assert_low(&controls, |treat| counts(&asked(treat)).points());
}

/// A server that accepts no data earns nothing for refusing it.
#[test]
fn a_server_that_answers_pings_and_drops_all_else_is_not_taken_for_strict() {
    let report = asked(|mut client| {
        if opened(&mut client) {
            answer_pings(&mut client);
        }
    });
    counts(&report);
    for id in ["WS-F04", "WS-F05", "WS-F09", "WS-F10"] {
        assert_eq!(verdict(&report, id), CaseVerdict::NotTestable, "{id}");
    }
    assert!(VerdictCounts::of(&report.findings).points() <= 50.0);
}

/// Opens, answers pings, sends data frames back as they are and Closes, too; it objects to nothing.
fn easygoing(client: &mut TcpStream) {
    if !opened(client) {
        return;
    }
    let _ = send(client, 0x81, b"welcome");
    while let Some((first, payload)) = frame(client) {
        let back = if first & 0x0f == 9 { 0x8a } else { first };
        if send(client, back, &payload).is_none() || first & 0x0f == 8 {
            return;
        }
    }
}

#[test]
fn a_server_that_minds_nothing_gets_half() {
    let report = asked(|mut client| easygoing(&mut client));
    let tally = counts(&report);
    assert!((20.0..=60.0).contains(&tally.points()));
    for id in ["WS-F04", "WS-F05", "WS-F06", "WS-F07", "WS-F09", "WS-F10", "WS-F11", "WS-F15"] {
        assert_eq!(verdict(&report, id), CaseVerdict::Fail, "{id}");
    }
}

/// Each case passes, but a frame is wrong in a way that none of them is about.
#[test]
fn frames_that_no_case_is_about_are_judged_too() {
    let report = asked(|mut client| {
        if opened(&mut client) {
            let _ = send(&mut client, 0x81, b"\xc3\x28");
            answer_pings(&mut client);
        }
    });
    assert_eq!(verdict(&report, "WS-B01"), CaseVerdict::Pass);
    assert_eq!(verdict(&report, "WS-V01"), CaseVerdict::Fail);
    let is_it = |finding: &&check::Finding| finding.id == "WS-V01";
    let finding = report.findings.iter().find(is_it).unwrap();
    assert!(finding.why.contains("a text that is not UTF-8"), "{}", finding.why);
}
