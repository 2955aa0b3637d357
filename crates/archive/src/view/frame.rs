//! The frame of the pages of `dyno view`, and what a browser may do with them.

use host::{Response, Status};
use report::markup::{Markup, markup};

/// Our own style, our own forms, the script for the reader's own time, nothing else.
const FORM_POLICY: &str =
    "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'";
/// Allows nothing.
const NO_POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'";

/// A whole page around its body.
pub(super) fn framed(status: Status, title: &str, body: &Markup) -> Response {
    let page = markup!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{} · dyno</title>\n\
         <link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n<body>\n<header><a href=\"/\">dyno</a></header>\n\
         <main>\n{}</main>\n</body>\n</html>\n",
        title,
        body
    );
    Response::page(status, FORM_POLICY, page.into_string())
}

/// The policy in the head of a report's page, which the server sends once more as a header field.
pub(super) fn policy_of(page: &str) -> &str {
    const BEFORE: &str = "http-equiv=\"Content-Security-Policy\" content=\"";
    let policy = page.split_once(BEFORE).and_then(|(_, rest)| rest.split_once('"'));
    policy.map_or(NO_POLICY, |(policy, _)| policy)
}
