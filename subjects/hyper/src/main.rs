//! dyno's subject for hyper: HTTP/1 and HTTP/2 on tokio's usual runtime, a task for each connection.
//!
//!     server ADDRESS:PORT [h2c | CHAIN KEY]

mod files;
mod items;

use std::convert::Infallible;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use files::Files;
use futures_util::SinkExt;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_tungstenite::HyperWebsocket;
use hyper_tungstenite::tungstenite::{self, Message};
use hyper_util::rt::{TokioExecutor, TokioIo};
use items::Item;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::time::{interval, sleep};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::IntervalStream;

type Body = UnsyncBoxBody<Bytes, Error>;
type Error = Box<dyn std::error::Error + Send + Sync>;

/// What the answers are made of.
#[derive(Clone)]
struct Content {
    items: Arc<[Item]>,
    files: Option<Files>,
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (address, acceptor, is_http2) = match arguments.as_slice() {
        [address] => (address, None, false),
        [address, "h2c"] => (address, None, true),
        [address, chain, key] => (address, Some(acceptor(chain, key)?), false),
        _ => return Err("usage: server ADDRESS:PORT [h2c | CHAIN KEY]".into()),
    };
    let items = match std::env::var_os("DATASET") {
        Some(path) => items::read(Path::new(&path))?,
        None => Vec::new(),
    };
    let files = std::env::var_os("FILES").map(|folder| Files::of(Path::new(&folder)));
    let content = Content { items: items.into(), files };
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        if is_http2 || acceptor.is_some() {
            // Otherwise the first answer waits for the client's ACK of what left before it.
            stream.set_nodelay(true)?;
        }
        let content = content.clone();
        let Some(acceptor) = acceptor.clone() else {
            tokio::spawn(serve(stream, is_http2, content));
            continue;
        };
        tokio::spawn(async move {
            // A handshake that failed is the client's affair.
            if let Ok(stream) = acceptor.accept(stream).await {
                let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                serve(stream, is_http2, content).await;
            }
        });
    }
}

fn acceptor(chain: &str, key: &str) -> Result<TlsAcceptor, Error> {
    let chain = CertificateDer::pem_file_iter(chain)?.collect::<Result<_, _>>()?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    is_http2: bool,
    content: Content,
) {
    let stream = TokioIo::new(stream);
    let service = service_fn(move |request| answer(request, content.clone()));
    // How a connection ended is the client's affair.
    let _ = if is_http2 {
        http2::Builder::new(TokioExecutor::new()).serve_connection(stream, service).await
    } else {
        http1::Builder::new().serve_connection(stream, service).with_upgrades().await
    };
}

async fn answer(request: Request<Incoming>, content: Content) -> Result<Response<Body>, Error> {
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
        (&Method::GET, ["delay", ms]) => match ms.parse::<u16>() {
            Ok(ms) => delay(ms).await,
            Err(_) => not_found(),
        },
        (&Method::GET, ["header"]) => match request.headers().get("x-request-id") {
            Some(value) => text(full(Bytes::copy_from_slice(value.as_bytes()))),
            None => with_status(StatusCode::BAD_REQUEST),
        },
        (&Method::GET, ["json", count]) => match count.parse() {
            Ok(count) => list(&content.items, count, request.uri().query())?,
            Err(_) => not_found(),
        },
        (&Method::GET, ["static", ..]) => match content.files {
            Some(files) => files.answer(request, "/static/").await?,
            None => not_found(),
        },
        (&Method::POST, ["sum"]) => sum(&request.into_body().collect().await?.to_bytes())?,
        (&Method::POST, ["echo"]) => {
            let body = request.into_body().collect().await?.to_bytes();
            with_type("application/octet-stream", full(body))
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

async fn delay(ms: u16) -> Response<Body> {
    sleep(Duration::from_millis(ms.into())).await;
    text(full(ms.to_string()))
}

fn list(items: &[Item], count: usize, query: Option<&str>) -> Result<Response<Body>, Error> {
    let mut pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let m = pairs.find(|(name, _)| name == "m").and_then(|(_, m)| m.parse().ok());
    let Some(m) = m else { return Ok(with_status(StatusCode::BAD_REQUEST)) };
    items::list(items, count, m).map_or_else(|| Ok(not_found()), |list| json(&list))
}

#[derive(Deserialize)]
struct Numbers {
    values: Vec<i64>,
}

#[derive(Serialize)]
struct Sum {
    sum: i64,
    count: usize,
}

fn sum(body: &[u8]) -> Result<Response<Body>, Error> {
    match serde_json::from_slice::<Numbers>(body) {
        Ok(Numbers { values }) => json(&Sum { sum: values.iter().sum(), count: values.len() }),
        Err(_) => Ok(with_status(StatusCode::BAD_REQUEST)),
    }
}

/// A beat at once and then every so often.
fn ticks(every: Duration) -> Body {
    let beats = IntervalStream::new(interval(every));
    StreamBody::new(beats.map(|_| Ok(Frame::data(Bytes::from_static(b"tick\n"))))).boxed_unsync()
}

fn poll_socket(request: Request<Incoming>, every: Duration) -> Result<Response<Body>, Error> {
    let (response, socket) = hyper_tungstenite::upgrade(request, None)?;
    tokio::spawn(async move {
        // How a WebSocket ended is the client's affair.
        let _ = beat(socket, every).await;
    });
    Ok(response.map(boxed))
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
    Ok(response.map(boxed))
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

fn json(value: &impl Serialize) -> Result<Response<Body>, Error> {
    Ok(with_type("application/json", full(serde_json::to_vec(value)?)))
}

fn with_type(media_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// A body that cannot fail.
fn boxed(body: impl hyper::body::Body<Data = Bytes, Error = Infallible> + Send + 'static) -> Body {
    body.map_err(|never| match never {}).boxed_unsync()
}

fn full(content: impl Into<Bytes>) -> Body {
    boxed(Full::new(content.into()))
}

fn not_found() -> Response<Body> {
    with_status(StatusCode::NOT_FOUND)
}

fn with_status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(boxed(Empty::new()));
    *response.status_mut() = status;
    response
}

fn period(seconds: &str) -> Option<Duration> {
    seconds.parse::<NonZeroU64>().ok().map(|seconds| Duration::from_secs(seconds.get()))
}
