//! The flags of `dyno serve` that say what it speaks: versions of HTTP, and TLS.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use lab::amounts;
use oracle::{Delay, HttpVersions, Oracle, StreamTimes, TlsConfig, TlsVersions};

use crate::shell::Refusal;
use archive::keep;
use requests::file;

#[derive(Args)]
pub(super) struct ProtocolFlags {
    /// Speak this version of HTTP only, 1.1 or 2 [both]
    #[arg(long, value_name = "VERSION", value_parser = http)]
    http: Option<HttpVersions>,
    /// HTTP/2: streams that may be open on a connection [250]
    #[arg(long, value_name = "N", value_parser = streams)]
    streams: Option<u32>,
    /// HTTP/2: how much of a body may come on a stream before more is allowed [1MiB]
    #[arg(long, value_name = "SIZE", value_parser = window)]
    h2_window: Option<u32>,
    /// HTTP/2: write when each stream's request and answer ended, as CSV, at the end
    #[arg(long, value_name = "FILE")]
    stream_log: Option<PathBuf>,
    /// Serve within TLS, of this version only if one is named: 1.2 or 1.3
    #[arg(long, value_name = "VERSION", num_args = 0..=1, default_missing_value = "any", value_parser = tls)]
    tls: Option<TlsVersions>,
    /// Write the certificate of the authority that a client must trust, made at the start
    #[arg(long, value_name = "FILE", requires = "tls", conflicts_with = "cert")]
    ca_out: Option<PathBuf>,
    /// Use this chain of certificates (PEM) in place of one that is made at the start
    #[arg(long, value_name = "FILE", requires_all = ["tls", "key"])]
    cert: Option<PathBuf>,
    /// The key of --cert (PEM)
    #[arg(long, value_name = "FILE", requires_all = ["tls", "cert"])]
    key: Option<PathBuf>,
    /// Tickets for resuming that each connection gets; with 0, no session is resumed
    #[arg(long, value_name = "N", requires = "tls", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=100))]
    tls_tickets: u8,
    /// Fill the chain of certificates up to this size
    #[arg(long, value_name = "SIZE", requires = "tls", value_parser = chain)]
    tls_chain: Option<usize>,
    /// The distribution of the time before it answers a ClientHello: as for --delay
    #[arg(long, value_name = "DISTRIBUTION", requires = "tls")]
    tls_delay: Option<Delay>,
}

fn http(text: &str) -> Result<HttpVersions, String> {
    match text {
        "1.1" => Ok(HttpVersions::Http1),
        "2" => Ok(HttpVersions::Http2),
        _ => Err("it is 1.1 or 2; leave it out for both".into()),
    }
}

fn tls(text: &str) -> Result<TlsVersions, String> {
    match text {
        "any" => Ok(TlsVersions::Both),
        "1.2" => Ok(TlsVersions::Tls12),
        "1.3" => Ok(TlsVersions::Tls13),
        _ => Err("it is 1.2 or 1.3; --tls alone is for both".into()),
    }
}

fn streams(text: &str) -> Result<u32, String> {
    let streams = text.parse().ok().filter(|streams| (1..=1_000_000).contains(streams));
    streams.ok_or_else(|| "write a number from 1 to 1000000".into())
}

fn window(text: &str) -> Result<u32, String> {
    let bytes = text.parse().or_else(|_| amounts::bytes(text));
    let window = bytes.ok().filter(|bytes| (1..=i32::MAX as u64).contains(bytes));
    window
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| "write a size from 1 to 2147483647 bytes, like 65535 or 64KiB".into())
}

fn chain(text: &str) -> Result<usize, String> {
    match amounts::bytes(text)? {
        bytes if bytes <= 8 << 20 => Ok(bytes as usize),
        _ => Err("a chain of certificates has at most 8 MiB; 32KiB is long already".into()),
    }
}

impl ProtocolFlags {
    /// Adds what the flags say to the configuration.
    pub(super) fn apply(&self, config: &mut oracle::Config) -> Result<(), Refusal> {
        if let Some(path) = &self.stream_log {
            keep::check("--stream-log", path)?;
        }
        if let Some(path) = &self.ca_out {
            keep::check("--ca-out", path)?;
        }
        config.http = self.http.unwrap_or_default();
        let of_http2 = [
            ("--streams", self.streams.is_some()),
            ("--h2-window", self.h2_window.is_some()),
            ("--stream-log", self.stream_log.is_some()),
        ];
        let idle = of_http2.into_iter().find(|(_, is_given)| *is_given);
        if let (Some(HttpVersions::Http1), Some((flag, _))) = (self.http, idle) {
            return Err(Refusal::new(format!(
                "{flag} is for HTTP/2; leave it out, or leave --http 1.1 out"
            )));
        }
        config.streams = self.streams.unwrap_or(config.streams);
        config.window = self.h2_window.unwrap_or(config.window);
        config.log_streams = self.stream_log.is_some();
        config.tls = self.tls.map(|versions| self.tls(versions)).transpose()?.map(Arc::new);
        Ok(())
    }

    fn tls(&self, versions: TlsVersions) -> Result<TlsConfig, Refusal> {
        let read = |flag, path| file::bytes(flag, path);
        let identity = match (&self.cert, &self.key) {
            (Some(cert), Some(key)) => Some((read("--cert", cert)?, read("--key", key)?)),
            _ => None,
        };
        Ok(TlsConfig {
            identity,
            versions,
            tickets: usize::from(self.tls_tickets),
            chain_bytes: self.tls_chain.unwrap_or(0),
            delay: self.tls_delay,
        })
    }

    /// Why there is no TLS, with the files that it was to be made of.
    pub(super) fn refused(&self, error: &oracle::TlsError) -> Refusal {
        let named = |flag: &str, path: &Option<PathBuf>| {
            path.as_ref().map_or(String::new(), |path| format!("{flag} {} ", path.display()))
        };
        let files = format!("{}{}", named("--cert", &self.cert), named("--key", &self.key));
        Refusal::new(format!(
            "{}: {error}",
            if files.is_empty() { "--tls" } else { files.trim_end() }
        ))
    }

    pub(super) fn is_secured(&self) -> bool {
        self.tls.is_some()
    }

    /// Writes the authority's certificate before anything is served.
    pub(super) fn write_authority(&self, oracle: &Oracle) -> Result<(), Refusal> {
        match (&self.ca_out, oracle.authority_pem()) {
            (Some(path), Some(pem)) => keep::write_for("--ca-out", path, pem),
            _ => Ok(()),
        }
    }

    /// Writes what is known of each stream.
    pub(super) fn write_streams(&self, oracle: &Oracle) -> Result<(), Refusal> {
        match &self.stream_log {
            Some(path) => keep::write_for("--stream-log", path, log(&oracle.streams())),
            None => Ok(()),
        }
    }
}

/// A line for each stream, in the order in which their requests ended; those whose request did not end come first.
fn log(streams: &[StreamTimes]) -> String {
    let mut streams = streams.to_vec();
    streams
        .sort_unstable_by_key(|stream| (stream.request_ended_ns, stream.peer_port, stream.stream));
    let mut text = "client_port,stream,request_ended_ns,answer_ended_ns\n".to_owned();
    for StreamTimes { peer_port, stream, request_ended_ns, answer_ended_ns } in streams {
        let ended = |ns: Option<u64>| ns.map_or(String::new(), |ns| ns.to_string());
        let (request, answer) = (ended(request_ended_ns), ended(answer_ended_ns));
        // A string takes everything.
        let _ = writeln!(text, "{peer_port},{stream},{request},{answer}");
    }
    text
}
