//! Which resource a path names.

use std::time::Duration;

/// The resource that a path names, and the parameters that it needs.
pub(super) enum Route<'a> {
    Server,
    Root,
    Echo,
    Hello,
    User(&'a [u8]),
    Users,
    Poll(Duration),
    WsPoll(Duration),
    WsEcho,
    WsRoom,
    Nowhere,
}

pub(super) fn route(path: &[u8]) -> Route<'_> {
    match path {
        b"/" => Route::Root,
        b"/hello" => Route::Hello,
        b"/echo" => Route::Echo,
        b"/user" => Route::Users,
        b"*" => Route::Server,
        b"/wsecho" => Route::WsEcho,
        b"/wsroom" => Route::WsRoom,
        _ => match path.strip_prefix(b"/user/") {
            Some(id) if !id.is_empty() && !id.contains(&b'/') => Route::User(id),
            Some(_) => Route::Nowhere,
            None => {
                let every = |beginning: &[u8]| path.strip_prefix(beginning).and_then(period);
                let polled = every(b"/poll/").map(Route::Poll);
                polled.or(every(b"/wspoll/").map(Route::WsPoll)).unwrap_or(Route::Nowhere)
            }
        },
    }
}

/// Seconds, fractions allowed, from a millisecond to a day.
fn period(text: &[u8]) -> Option<Duration> {
    let digits = text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let seconds: f64 = std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()?;
    (0.001..=86_400.0).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

pub(super) fn allowed(route: &Route<'_>) -> &'static str {
    match route {
        Route::Hello | Route::User(_) | Route::Poll(_) => "Allow: GET, HEAD, OPTIONS\r\n",
        Route::Root | Route::Echo | Route::Server | Route::Nowhere => {
            "Allow: GET, HEAD, POST, OPTIONS\r\n"
        }
        Route::Users => "Allow: POST, OPTIONS\r\n",
        Route::WsPoll(_) | Route::WsEcho | Route::WsRoom => "Allow: GET, OPTIONS\r\n",
    }
}
