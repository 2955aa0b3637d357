//! Which targets an agent may load: addresses and ports.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// What an agent may load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allow {
    /// Whatever its coordinator may: both are of one user on one machine.
    All,
    These(Vec<Allowed>),
}

/// Addresses with their first bits in common, and ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    address: IpAddr,
    bits: u8,
    ports: RangeInclusive<u16>,
}

impl Allow {
    /// This machine, on every port.
    #[must_use]
    pub fn loopback() -> Allow {
        let any = |address: IpAddr, bits| Allowed { address, bits, ports: 1..=u16::MAX };
        Allow::These(vec![
            any(Ipv4Addr::new(127, 0, 0, 0).into(), 8),
            any(Ipv6Addr::LOCALHOST.into(), 128),
        ])
    }

    /// Reads a file that has one of them on each line; `#` begins a remark.
    pub fn of_text(text: &str) -> Result<Vec<Allowed>, String> {
        let mut all = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                let read = line.parse();
                all.push(read.map_err(|says: String| format!("line {}: {says}", number + 1))?);
            }
        }
        Ok(all)
    }

    /// The first of its rules, as they are written; none if there are no bounds.
    #[must_use]
    pub fn rules(&self, most: usize) -> Option<Vec<String>> {
        match self {
            Allow::All => None,
            Allow::These(these) => Some(these.iter().take(most).map(Allowed::to_string).collect()),
        }
    }

    #[must_use]
    pub fn has(&self, target: SocketAddr) -> bool {
        match self {
            Allow::All => true,
            Allow::These(these) => these.iter().any(|one| one.has(target)),
        }
    }
}

impl Allowed {
    /// Exactly this target; with port 0 every port of its address, because servers are yet to be given theirs.
    #[must_use]
    pub fn only(target: SocketAddr) -> Allowed {
        let bits = if target.is_ipv4() { 32 } else { 128 };
        let ports = match target.port() {
            0 => 1..=u16::MAX,
            port => port..=port,
        };
        Allowed { address: target.ip(), bits, ports }
    }

    fn has(&self, target: SocketAddr) -> bool {
        // ::ffff:10.0.0.1 is 10.0.0.1.
        let address = target.ip().to_canonical();
        self.ports.contains(&target.port()) && self.is_prefix_of(address)
    }

    fn is_prefix_of(&self, address: IpAddr) -> bool {
        let (mine, theirs, width) = match (self.address, address) {
            (IpAddr::V4(mine), IpAddr::V4(theirs)) => {
                (u128::from(mine.to_bits()), u128::from(theirs.to_bits()), 32)
            }
            (IpAddr::V6(mine), IpAddr::V6(theirs)) => (mine.to_bits(), theirs.to_bits(), 128),
            _ => return false,
        };
        let rest = u32::from(u8::saturating_sub(width, self.bits));
        (mine ^ theirs).checked_shr(rest).unwrap_or(0) == 0
    }
}

impl FromStr for Allowed {
    type Err = String;

    /// `10.0.0.0/24:8080`, `10.0.0.7:80-90` or `[fd00::]/8:80`.
    fn from_str(text: &str) -> Result<Allowed, String> {
        let fault = || {
            format!(
                "`{text}` is no ADDRESS[/BITS]:PORT[-PORT]; write 10.0.0.0/24:8080 or [fd00::7]:80-90"
            )
        };
        let (place, ports) = text.rsplit_once(':').ok_or_else(fault)?;
        let (address, bits) = match place.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (place, None),
        };
        let six = address.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        let (address, most): (IpAddr, u8) = match six {
            Some(six) => (six.parse::<Ipv6Addr>().map_err(|_| fault())?.into(), 128),
            None => (address.parse::<Ipv4Addr>().map_err(|_| fault())?.into(), 32),
        };
        let bits = bits.map_or(Some(most), |bits| bits.parse().ok()).filter(|bits| *bits <= most);
        let (first, last) = ports.split_once('-').unwrap_or((ports, ports));
        let ports = first.parse().ok().zip(last.parse().ok());
        let ports = ports.filter(|(first, last): &(u16, u16)| 0 < *first && first <= last);
        match bits.zip(ports) {
            Some((bits, (first, last))) => Ok(Allowed { address, bits, ports: first..=last }),
            None => Err(fault()),
        }
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.ports.start(), self.ports.end());
        match self.address {
            IpAddr::V4(address) => write!(f, "{address}/{}:{first}-{last}", self.bits),
            IpAddr::V6(address) => write!(f, "[{address}]/{}:{first}-{last}", self.bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(rule: &str, target: &str) -> bool {
        let rule: Allowed = rule.parse().unwrap();
        // What is written is read as the same.
        assert_eq!(rule.to_string().parse(), Ok(rule.clone()));
        Allow::These(vec![rule]).has(target.parse().unwrap())
    }

    #[test]
    fn a_target_is_allowed_by_its_first_bits_and_its_port() {
        for (rule, allowed, others) in [
            ("10.0.0.0/24:8080", "10.0.0.200:8080", &["10.0.1.1:8080", "10.0.0.1:8081"][..]),
            ("10.0.0.7:80-90", "10.0.0.7:90", &["10.0.0.6:90"]),
            ("0.0.0.0/0:1-65535", "192.0.2.1:9", &["[::1]:9"]),
            ("[::]/0:80", "[::1]:80", &["127.0.0.1:80"]),
            ("[fd00::]/8:80", "[fdff::1]:80", &["[fe00::1]:80"]),
            // The same address.
            ("127.0.0.0/8:80", "[::ffff:127.0.0.1]:80", &[]),
        ] {
            assert!(allows(rule, allowed), "{rule}: {allowed}");
            assert!(others.iter().all(|other| !allows(rule, other)), "{rule}: {others:?}");
        }
        let loopback = |target: &str| Allow::loopback().has(target.parse().unwrap());
        assert!(loopback("127.0.0.9:1") && loopback("[::1]:1") && !loopback("10.0.0.1:1"));
        let target: SocketAddr = "[fd00::7]:443".parse().unwrap();
        assert!(Allow::These(vec![Allowed::only(target)]).has(target));
    }

    #[test]
    fn what_is_no_rule_is_named_with_its_line() {
        for bad in [
            "",
            "x:80",
            "10.0.0.1",
            "10.0.0.1:0",
            "10.0.0.0/33:80",
            "10.0.0.1:9-8",
            "::1:80",
            "a/b",
        ] {
            assert!(bad.parse::<Allowed>().unwrap_err().contains("ADDRESS[/BITS]"), "{bad:?}");
        }
        let read = Allow::of_text("# the lab\n\n10.0.0.0/8:80 # all of it\n[::1]:1-2\n").unwrap();
        assert_eq!(read.len(), 2);
        assert!(Allow::of_text("10.0.0.0/8:80\nany\n").unwrap_err().starts_with("line 2: `any`"));
    }
}
