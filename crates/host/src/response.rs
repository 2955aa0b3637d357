//! An answer, and its head.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// 200.
    Ok,
    /// 400: the request cannot be parsed.
    Bad,
    /// 403: the request is not allowed.
    Forbidden,
    /// 404.
    NotFound,
    /// 405: only GET and HEAD are allowed.
    NotAllowed,
    /// 408: the request took too long.
    TimedOut,
    /// 421: the Host field names another host.
    Misdirected,
    /// 431: the head is too large.
    TooLarge,
    /// 500: the resource exists but cannot be shown.
    Failed,
    /// 503.
    Unavailable,
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    pub status: Status,
    /// The media type of the bytes, as in `text/csv; charset=utf-8`.
    pub kind: &'static str,
    /// What a browser may do with them: a content security policy.
    pub policy: String,
    /// The name under which a browser saves it instead of showing it.
    pub file_name: Option<String>,
    /// The bytes.
    pub body: Vec<u8>,
}

/// Allows nothing.
const NOTHING: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

impl Status {
    fn line(self) -> &'static str {
        match self {
            Status::Ok => "200 OK",
            Status::Bad => "400 Bad Request",
            Status::Forbidden => "403 Forbidden",
            Status::NotFound => "404 Not Found",
            Status::NotAllowed => "405 Method Not Allowed",
            Status::TimedOut => "408 Request Timeout",
            Status::Misdirected => "421 Misdirected Request",
            Status::TooLarge => "431 Request Header Fields Too Large",
            Status::Failed => "500 Internal Server Error",
            Status::Unavailable => "503 Service Unavailable",
        }
    }
}

impl Response {
    #[must_use]
    pub fn text(status: Status, text: &str) -> Response {
        Response::of(status, "text/plain; charset=utf-8", text)
    }

    /// A text of this media type, which a browser shows and does not obey.
    #[must_use]
    pub fn of(status: Status, kind: &'static str, text: impl Into<String>) -> Response {
        let body = Into::<String>::into(text).into_bytes();
        Response { status, kind, policy: NOTHING.into(), file_name: None, body }
    }

    /// A page, with what it may do besides being shown.
    #[must_use]
    pub fn page(status: Status, policy: &str, html: impl Into<String>) -> Response {
        let policy = format!("{policy}; frame-ancestors 'none'");
        Response { policy, ..Response::of(status, "text/html; charset=utf-8", html) }
    }

    /// The response as a file that is saved under this name.
    #[must_use]
    pub fn saved_as(self, name: String) -> Response {
        Response { file_name: Some(name), ..self }
    }

    pub(crate) fn too_large() -> Response {
        Response::text(Status::TooLarge, "this request is too long\n")
    }

    /// Status line and fields, up to the empty line.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut fields = vec![
            ("Content-Type", self.kind.to_string()),
            ("Content-Length", self.body.len().to_string()),
            ("Content-Security-Policy", self.policy.clone()),
            ("X-Content-Type-Options", "nosniff".into()),
            ("X-Frame-Options", "DENY".into()),
            ("Referrer-Policy", "no-referrer".into()),
            ("Cross-Origin-Opener-Policy", "same-origin".into()),
            ("Cross-Origin-Resource-Policy", "same-origin".into()),
            ("Cache-Control", "no-store".into()),
            ("Connection", "close".into()),
        ];
        if self.status == Status::NotAllowed {
            fields.push(("Allow", "GET, HEAD".into()));
        }
        if let Some(name) = &self.file_name {
            let name = name.replace(['"', '\\'], "_");
            fields.push(("Content-Disposition", format!("attachment; filename=\"{name}\"")));
        }
        let fields: String =
            fields.iter().map(|(name, value)| format!("{name}: {}\r\n", one_line(value))).collect();
        format!("HTTP/1.1 {}\r\n{fields}\r\n", self.status.line()).into_bytes()
    }
}

/// No value of a field can end the field.
fn one_line(value: &str) -> String {
    value.chars().map(|it| if it.is_ascii() && !it.is_control() { it } else { '_' }).collect()
}
