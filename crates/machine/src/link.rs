//! The link over which this machine reaches an address: its speed, and what has passed over it.

use std::fs;
use std::io::Result;
use std::net::IpAddr;

use crate::proc::{counter, number};
use crate::sockets::netlink::{ACK, DUMP, Netlink, field};

/// `RTM_GETROUTE`, `RTM_GETLINK`, `RTM_GETQDISC`.
const GET_ROUTE: u16 = 26;
const GET_LINK: u16 = 18;
const GET_SHAPER: u16 = 38;
/// `RTA_DST` and `RTA_OIF`.
const DESTINATION: u16 = 1;
const INTERFACE: u16 = 4;
/// `IFLA_IFNAME`, `IFLA_MTU`, `IFLA_STATS64`.
const NAME: u16 = 3;
const MTU: u16 = 4;
const COUNTS: u16 = 23;
/// `TCA_KIND`, `TCA_OPTIONS`; of a token bucket `TCA_TBF_PARMS` and `TCA_TBF_RATE64`.
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
const BUCKET: u16 = 1;
const BUCKET_RATE: u16 = 4;
/// The bytes of `rtmsg`, `ifinfomsg` and `tcmsg`.
const ROUTE_HEAD: usize = 12;
const LINK_HEAD: usize = 16;
const SHAPER_HEAD: usize = 20;

/// A network interface, and what it has carried since it was set up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    pub name: String,
    /// Bits a second that it can send: the card's speed, or its shaper's if that is lower; none where neither is known.
    pub speed: Option<u64>,
    pub mtu: u32,
    /// Octets.
    pub sent: u64,
    pub received: u64,
    /// Segments of TCP, of all interfaces of this network.
    pub segments_sent: u64,
    /// Segments that were sent again; `segments_sent` counts them, too.
    pub retransmitted: u64,
}

/// The link towards an address, in the network of the calling thread. None where there is no way to it, or it is not known.
#[must_use]
pub fn toward(address: IpAddr) -> Option<Link> {
    let mut netlink = Netlink::open(None).ok()?;
    let index = interface(&mut netlink, address).ok()??;
    let mut link = counted(&mut netlink, index).ok()??;
    let shaped = shaper(&mut netlink, index).ok().flatten();
    let card = card_speed(&link.name);
    link.speed = [card, shaped].into_iter().flatten().min();
    let snmp = fs::read_to_string("/proc/thread-self/net/snmp").unwrap_or_default();
    let count = |name| counter(&snmp, "Tcp:", name).unwrap_or(0);
    (link.segments_sent, link.retransmitted) = (count("OutSegs"), count("RetransSegs"));
    Some(link)
}

fn interface(netlink: &mut Netlink, address: IpAddr) -> Result<Option<i32>> {
    let (family, octets) = match address {
        IpAddr::V4(address) => (2, address.octets().to_vec()),
        IpAddr::V6(address) => (10, address.octets().to_vec()),
    };
    let mut question = vec![family, 8 * octets.len() as u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    question.extend((4 + octets.len() as u16).to_ne_bytes());
    question.extend(DESTINATION.to_ne_bytes());
    question.extend(octets);
    let mut found = None;
    netlink.ask(GET_ROUTE, ACK, &question, |answer| {
        found = attribute(answer.get(ROUTE_HEAD..).unwrap_or_default(), INTERFACE)
            .and_then(|value| field(value, 0))
            .map(i32::from_ne_bytes);
    })?;
    Ok(found)
}

fn counted(netlink: &mut Netlink, index: i32) -> Result<Option<Link>> {
    let mut question = vec![0; LINK_HEAD];
    question[4..8].copy_from_slice(&index.to_ne_bytes());
    let mut found = None;
    netlink.ask(GET_LINK, ACK, &question, |answer| found = read_link(answer))?;
    Ok(found)
}

fn read_link(answer: &[u8]) -> Option<Link> {
    let attributes = answer.get(LINK_HEAD..)?;
    let name = attribute(attributes, NAME)?;
    let name = name.split(|&octet| octet == 0).next().unwrap_or_default();
    let counts = attribute(attributes, COUNTS)?;
    let count = |number: usize| field(counts, 8 * number).map(u64::from_ne_bytes);
    Some(Link {
        name: String::from_utf8_lossy(name).into_owned(),
        mtu: attribute(attributes, MTU)
            .and_then(|value| field(value, 0))
            .map_or(0, u32::from_ne_bytes),
        received: count(2)?,
        sent: count(3)?,
        ..Link::default()
    })
}

/// The rate of a token bucket that shapes what the interface sends, in bits a second.
fn shaper(netlink: &mut Netlink, index: i32) -> Result<Option<u64>> {
    let mut question = vec![0; SHAPER_HEAD];
    question[4..8].copy_from_slice(&index.to_ne_bytes());
    let mut least: Option<u64> = None;
    // The kernel lists those of all interfaces.
    netlink.ask(GET_SHAPER, DUMP, &question, |answer| {
        let is_its = field(answer, 4).map(i32::from_ne_bytes) == Some(index);
        if let Some(rate) = bucket(answer).filter(|_| is_its) {
            least = Some(least.map_or(rate, |other| other.min(rate)));
        }
    })?;
    Ok(least)
}

fn bucket(answer: &[u8]) -> Option<u64> {
    let attributes = answer.get(SHAPER_HEAD..)?;
    attribute(attributes, KIND).filter(|kind| kind.starts_with(b"tbf\0"))?;
    let options = attribute(attributes, OPTIONS)?;
    let wide = attribute(options, BUCKET_RATE).and_then(|value| field(value, 0));
    let octets = match wide.map(u64::from_ne_bytes) {
        Some(rate) => rate,
        // The last field of the first `tc_ratespec`.
        None => u64::from(u32::from_ne_bytes(field(attribute(options, BUCKET)?, 8)?)),
    };
    octets.checked_mul(8)
}

/// The value of the first attribute of this kind.
fn attribute(mut attributes: &[u8], kind: u16) -> Option<&[u8]> {
    loop {
        let len = usize::from(u16::from_ne_bytes(field(attributes, 0)?));
        // The two highest bits say how the value is written.
        let found = u16::from_ne_bytes(field(attributes, 2)?) & 0x3fff;
        let value = attributes.get(4..len)?;
        if found == kind {
            return Some(value);
        }
        attributes = attributes.get(len.next_multiple_of(4)..)?;
    }
}

/// What the driver says; a card without a cable, or a virtual one, may say nothing.
fn card_speed(name: &str) -> Option<u64> {
    let megabits: u64 = number(format!("/sys/class/net/{name}/speed"))?;
    let megabits = Some(megabits).filter(|speed| 0 < *speed)?;
    megabits.checked_mul(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut bytes = (4 + value.len() as u16).to_ne_bytes().to_vec();
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn the_way_to_oneself_is_the_loopback() {
        let link = toward("127.0.0.1".parse().unwrap()).unwrap();
        assert_eq!((link.name.as_str(), link.speed), ("lo", None));
        assert!(1_500 <= link.mtu, "{link:?}");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        drop(std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap());
        let later = toward("127.0.0.1".parse().unwrap()).unwrap();
        assert!(link.sent < later.sent && link.received < later.received, "{link:?} {later:?}");
        assert!(link.segments_sent < later.segments_sent);
    }

    #[test]
    fn the_rate_of_a_token_bucket_is_read_in_both_its_widths() {
        let parameters = [&[0; 8][..], &1_250_000_u32.to_ne_bytes()].concat();
        let narrow = written(BUCKET, &parameters);
        let wide =
            [narrow.clone(), written(BUCKET_RATE, &5_000_000_000_u64.to_ne_bytes())].concat();
        let answer = |options: &[u8], kind: &[u8]| {
            [vec![0; SHAPER_HEAD], written(KIND, kind), written(OPTIONS | 0x8000, options)].concat()
        };
        assert_eq!(bucket(&answer(&narrow, b"tbf\0")), Some(10_000_000));
        assert_eq!(bucket(&answer(&wide, b"tbf\0")), Some(40_000_000_000));
        assert_eq!(bucket(&answer(&wide, b"fq\0")), None);
    }

    #[test]
    fn an_answer_that_is_cut_off_anywhere_is_no_answer_and_no_panic() {
        let counts: Vec<u8> = (0..24_u64).flat_map(u64::to_ne_bytes).collect();
        let answer =
            [vec![0; LINK_HEAD], written(NAME, b"eth0\0"), written(COUNTS, &counts)].concat();
        let link = read_link(&answer).unwrap();
        assert_eq!((link.name.as_str(), link.received, link.sent), ("eth0", 2, 3));
        for len in 0..answer.len() {
            assert_eq!(read_link(&answer[..len]), None, "{len}");
        }
        // A length of nothing must not be read for ever.
        assert_eq!(attribute(&[0; 64], NAME), None);
    }
}
