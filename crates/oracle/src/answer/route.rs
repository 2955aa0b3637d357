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
    /// A wait of so many milliseconds.
    Delay(u32),
    Header,
    /// So many items.
    Items(usize),
    Sum,
    /// The file of this name.
    File(&'a [u8]),
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
        b"/header" => Route::Header,
        b"/sum" => Route::Sum,
        [b'/', b's', b't', b'a', b't', b'i', b'c', b'/', name @ ..] => Route::File(name),
        _ => match path.strip_prefix(b"/user/") {
            Some(id) if !id.is_empty() && !id.contains(&b'/') => Route::User(id),
            Some(_) => Route::Nowhere,
            None => {
                let every = |beginning: &[u8]| path.strip_prefix(beginning).and_then(period);
                let polled = every(b"/poll/").map(Route::Poll);
                let polled = polled.or(every(b"/wspoll/").map(Route::WsPoll));
                polled.or_else(|| numbered(path)).unwrap_or(Route::Nowhere)
            }
        },
    }
}

/// A route that ends in a number of up to five digits.
fn numbered(path: &[u8]) -> Option<Route<'_>> {
    let number = |beginning: &[u8]| {
        let digits = path.strip_prefix(beginning)?;
        let is_number = (1..=5).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
        std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse::<u32>().ok()
    };
    let waited = number(b"/delay/").map(Route::Delay);
    waited.or_else(|| number(b"/json/").map(|count| Route::Items(count as usize)))
}

/// Seconds, fractions allowed, from a millisecond to a day.
fn period(text: &[u8]) -> Option<Duration> {
    let digits = text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    let seconds: f64 = std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()?;
    (0.001..=86_400.0).contains(&seconds).then(|| Duration::from_secs_f64(seconds))
}

pub(super) fn allowed(route: &Route<'_>) -> &'static str {
    match route {
        Route::Hello
        | Route::User(_)
        | Route::Poll(_)
        | Route::Delay(_)
        | Route::Header
        | Route::Items(_)
        | Route::File(_) => "Allow: GET, HEAD, OPTIONS\r\n",
        Route::Root | Route::Echo | Route::Server | Route::Nowhere => {
            "Allow: GET, HEAD, POST, OPTIONS\r\n"
        }
        Route::Users | Route::Sum => "Allow: POST, OPTIONS\r\n",
        Route::WsPoll(_) | Route::WsEcho | Route::WsRoom => "Allow: GET, OPTIONS\r\n",
    }
}
