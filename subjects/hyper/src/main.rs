//! dyno's subject for hyper: HTTP/1 on tokio's usual runtime, a task for each connection.
//!
//!     server ADDRESS:PORT

use std::convert::Infallible;
use std::num::NonZeroU64;
use std::time::Duration;

use futures_util::SinkExt;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_tungstenite::HyperWebsocket;
use hyper_tungstenite::tungstenite::{self, Message};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::time::interval;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::IntervalStream;

type Body = BoxBody<Bytes, Infallible>;
type Error = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let address = std::env::args().nth(1).expect("usage: server ADDRESS:PORT");
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            let connection =
                http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer));
            // How a connection ended is the client's affair.
            let _ = connection.with_upgrades().await;
        });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Body>, Error> {
    let path = request.uri().path().to_owned();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    Ok(match (request.method(), parts.as_slice()) {
        (&Method::GET, [""]) => echo(request.uri().query()),
        (&Method::GET, ["hello"]) => text(full("Hello, world!")),
        (&Method::GET, ["user", id]) if !id.is_empty() => text(full(id.to_string())),
        (&Method::POST, ["user"]) => text(full(request.into_body().collect().await?.to_bytes())),
        (&Method::GET, ["poll", seconds]) => match period(seconds) {
            Some(every) => text(ticks(every)),
            None => not_found(),
        },
        (&Method::GET, ["wspoll", seconds]) => match period(seconds) {
            Some(every) if hyper_tungstenite::is_upgrade_request(&request) => {
                poll_socket(request, every)?
            }
            _ => not_found(),
        },
        (&Method::GET, ["wsecho"]) if hyper_tungstenite::is_upgrade_request(&request) => {
            echo_socket(request)?
        }
        _ => not_found(),
    })
}

fn echo(query: Option<&str>) -> Response<Body> {
    let Some(query) = query else {
        return Response::new(full(""));
    };
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let answer = match pairs.find(|(name, _)| name == "value") {
        Some((_, value)) => format!("<http_test><value>{value}</value></http_test>"),
        None => "<http_test><error>no value specified</error></http_test>".into(),
    };
    with_type("text/xml", full(answer))
}

/// A beat at once and then every so often.
fn ticks(every: Duration) -> Body {
    let beats = IntervalStream::new(interval(every));
    StreamBody::new(beats.map(|_| Ok(Frame::data(Bytes::from_static(b"tick\n"))))).boxed()
}

fn poll_socket(request: Request<Incoming>, every: Duration) -> Result<Response<Body>, Error> {
    let (response, socket) = hyper_tungstenite::upgrade(request, None)?;
    tokio::spawn(async move {
        // How a WebSocket ended is the client's affair.
        let _ = beat(socket, every).await;
    });
    Ok(response.map(BodyExt::boxed))
}

async fn beat(socket: HyperWebsocket, every: Duration) -> tungstenite::Result<()> {
    let mut socket = socket.await?;
    let mut beats = interval(every);
    loop {
        tokio::select! {
            _ = beats.tick() => socket.send(Message::text("tick")).await?,
            // Pings and closes are answered only while somebody reads.
            received = socket.next() => match received {
                Some(message) => drop(message?),
                None => return Ok(()),
            }
        }
    }
}

fn echo_socket(request: Request<Incoming>) -> Result<Response<Body>, Error> {
    let (response, socket) = hyper_tungstenite::upgrade(request, None)?;
    tokio::spawn(async move {
        // How a WebSocket ended is the client's affair.
        let _ = give_back(socket).await;
    });
    Ok(response.map(BodyExt::boxed))
}

async fn give_back(socket: HyperWebsocket) -> tungstenite::Result<()> {
    let mut socket = socket.await?;
    while let Some(message) = socket.next().await {
        let message = message?;
        if message.is_text() || message.is_binary() {
            socket.send(message).await?;
        }
    }
    Ok(())
}

fn text(body: Body) -> Response<Body> {
    with_type("text/plain", body)
}

fn with_type(media_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

fn full(content: impl Into<Bytes>) -> Body {
    Full::new(content.into()).boxed()
}

fn not_found() -> Response<Body> {
    let mut response = Response::new(Empty::new().boxed());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn period(seconds: &str) -> Option<Duration> {
    seconds.parse::<NonZeroU64>().ok().map(|seconds| Duration::from_secs(seconds.get()))
}
