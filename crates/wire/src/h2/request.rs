//! The fields of a request as HTTP/2 has them.

use serde::{Deserialize, Serialize};
use units::named;

use crate::ask::{AskError, Request, has};
use crate::template::Template;

named! {
    /// How a server is reached, as requests say it.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Scheme {
        Http = "http",
        Https = "https",
    }
}

/// The fields of a request that is sound for HTTP/1.1, in the order in which they are sent; `length` is that of a body
/// that is always the same.
pub(crate) fn fields(
    request: &Request,
    scheme: Scheme,
    length: Option<u64>,
) -> Result<Vec<(String, Template)>, AskError> {
    // RFC 9113, 8.5: CONNECT has no path, and its answer no end.
    if request.method == "CONNECT" {
        return Err(AskError::NotHttp2(request.method.clone()));
    }
    // RFC 9113, 8.3.1: a path, never a whole URL.
    if !request.target.starts_with('/') && request.target != "*" {
        return Err(AskError::Target(request.target.clone()));
    }
    let host = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let pseudo = [
        (":method", request.method.as_str()),
        (":scheme", scheme.name()),
        (":authority", host.map_or(request.host.as_str(), |(_, host)| host)),
        (":path", &request.target),
    ];
    let mut fields = Vec::new();
    for (name, value) in pseudo {
        fields.push((name.to_string(), Template::parse(value.as_bytes())?));
    }
    for (name, value) in &request.headers {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            // It is the `:authority`; and these are about a connection of HTTP/1.1.
            "host" | "connection" | "keep-alive" | "proxy-connection" => {}
            "transfer-encoding" | "upgrade" => return Err(AskError::NotHttp2(name)),
            // RFC 9113, 8.2.2: of transfer codings, only trailers are left.
            "te" if !value.trim().eq_ignore_ascii_case("trailers") => {
                return Err(AskError::NotHttp2(name));
            }
            // RFC 9113, 8.2.1: no blank stands before or after a value.
            _ => fields.push((name, Template::parse(value.trim().as_bytes())?)),
        }
    }
    if let Some(length) = length.filter(|_| !has(request, "content-length")) {
        fields.push(("content-length".into(), Template::literal(length.to_string())));
    }
    Ok(fields)
}
