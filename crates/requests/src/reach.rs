//! From a name to one address that dyno may load.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use lab::Refusal;
use lab::subject::{Serving, Subject};

/// The kind of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// This machine.
    Loopback,
    /// A network that is not the Internet.
    Private,
    /// Any other address, which has an owner.
    Public,
    /// Where clouds keep credentials: never.
    Metadata,
}

/// Resolves a name once. If there are several addresses, it takes the first that accepts a connection.
pub fn find(host: &str, port: u16, may_be_public: bool) -> Result<SocketAddr, Refusal> {
    let found: Vec<SocketAddr> = match (host, port).to_socket_addrs() {
        Ok(found) => found.collect(),
        Err(error) => {
            return Err(Refusal::new(format!(
                "the name `{host}` cannot be resolved ({error}); check its spelling, or write an \
                 address"
            )));
        }
    };
    for address in &found {
        guard(address.ip(), may_be_public)?;
    }
    let Some(&first) = found.first() else {
        return Err(Refusal::new(format!("the name `{host}` has no address; write an address")));
    };
    let accepts =
        |address: &&SocketAddr| TcpStream::connect_timeout(address, Duration::from_secs(1)).is_ok();
    match found.len() {
        1 => Ok(first),
        _ => Ok(found.iter().find(accepts).copied().unwrap_or(first)),
    }
}

/// A subject that runs already, with the address to which its URL leads; refused if dyno may not load it.
pub fn located(subject: Subject, may_be_public: bool) -> Result<Subject, Refusal> {
    match &subject.serving {
        Serving::ByUrl(location) => {
            let address = find(&location.host, location.port, may_be_public)?;
            Ok(subject.found_at(address))
        }
        Serving::Found(site) => guard(site.address.ip(), may_be_public).map(|()| subject),
        Serving::Built(_) | Serving::Own(..) => Ok(subject),
    }
}

/// Refuses an address that dyno may not load.
pub fn guard(address: IpAddr, may_be_public: bool) -> Result<(), Refusal> {
    match reach(address) {
        Reach::Loopback | Reach::Private => Ok(()),
        Reach::Public if may_be_public || is_own(address) => Ok(()),
        Reach::Public => Err(Refusal::new(format!(
            "{address} is neither this machine nor a private network; if its owner agrees to \
             the load, add --i-may-load-this-target"
        ))),
        Reach::Metadata => Err(Refusal::new(format!(
            "{address} is a cloud's metadata address and dyno sends it no request; name another target"
        ))),
    }
}

/// Whether an interface of this machine has this address. To bind a socket to it would be no proof: `ip_nonlocal_bind`
/// allows any.
fn is_own(address: IpAddr) -> bool {
    let read = |name| fs::read_to_string(name).unwrap_or_default();
    match address.to_canonical() {
        IpAddr::V4(address) => is_own_v4(address, &read("/proc/net/fib_trie")),
        IpAddr::V6(address) => is_own_v6(address, &read("/proc/net/if_inet6")),
    }
}

/// In the kernel's table of routes the line after the address says what it is.
fn is_own_v4(address: Ipv4Addr, routes: &str) -> bool {
    let leaf = format!("|-- {address}");
    let pairs = routes.lines().zip(routes.lines().skip(1));
    pairs.map(|(at, is)| (at.trim(), is.trim())).any(|it| it == (&*leaf, "/32 host LOCAL"))
}

/// Each line begins with an address, as 32 digits.
fn is_own_v6(address: Ipv6Addr, addresses: &str) -> bool {
    addresses.lines().any(|line| line.starts_with(&format!("{:032x} ", address.to_bits())))
}

/// Whether this address is on this machine, where harmful requests are allowed.
pub fn is_this_machine(address: IpAddr) -> bool {
    reach(address) == Reach::Loopback
}

fn reach(address: IpAddr) -> Reach {
    match address.to_canonical() {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    if address == Ipv4Addr::new(169, 254, 169, 254) {
        Reach::Metadata
    } else if address.is_loopback() || address.is_unspecified() {
        Reach::Loopback
    } else if address.is_private() || address.is_link_local() {
        Reach::Private
    } else {
        Reach::Public
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    // fd00:ec2::254 is the same service over IPv6.
    if address == Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254) {
        Reach::Metadata
    } else if address.is_loopback() || address.is_unspecified() {
        Reach::Loopback
    } else if address.is_unique_local() || address.is_unicast_link_local() {
        Reach::Private
    } else {
        Reach::Public
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: Reach, addresses: &[&str]) {
        for text in addresses {
            assert_eq!(reach(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn addresses_are_distinguished_by_whose_they_are() {
        check(Reach::Loopback, &["127.0.0.1", "127.9.9.9", "0.0.0.0", "::1", "::ffff:127.0.0.1"]);
        let private = ["10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.1.1", "fd12::1"];
        check(Reach::Private, &private);
        check(Reach::Private, &["fe80::1", "::ffff:10.0.0.1"]);
        check(Reach::Public, &["8.8.8.8", "172.32.0.1", "100.64.0.1", "2001:db8::1"]);
        check(Reach::Public, &["192.0.2.1", "224.0.0.1", "::ffff:8.8.8.8"]);
        let metadata = ["169.254.169.254", "::ffff:169.254.169.254", "fd00:ec2::254"];
        check(Reach::Metadata, &metadata);
    }

    #[test]
    fn an_address_of_an_interface_is_this_machines() {
        let routes = "Main:\n  |-- 192.0.2.0\n     /24 link UNICAST\n  |-- 192.0.2.2\n     /32 host LOCAL\n  |-- 192.0.2.255\n\
                      \u{20}    /32 link BROADCAST\n  |-- 198.51.100.0\n     /24 host LOCAL\n";
        let own = |text: &str| is_own_v4(text.parse().unwrap(), routes);
        assert!(own("192.0.2.2"));
        let others = ["192.0.2.1", "192.0.2.0", "192.0.2.22", "192.0.2.255", "198.51.100.0"];
        assert!(!others.into_iter().any(own));
        let listed = "20010db8000000000000000000000002 04 40 00 82     eth0\n";
        let own = |text: &str| is_own_v6(text.parse().unwrap(), listed);
        assert!(own("2001:db8::2") && !own("2001:db8::1") && !own("::"));
    }

    #[test]
    fn an_address_of_another_machine_needs_permission() {
        assert!(guard("192.0.2.1".parse().unwrap(), true).is_ok());
        let refusal = guard("192.0.2.1".parse().unwrap(), false).unwrap_err().to_string();
        assert!(refusal.ends_with("add --i-may-load-this-target"), "{refusal}");
        assert!(guard("169.254.169.254".parse().unwrap(), true).is_err());
    }
}
