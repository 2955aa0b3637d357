//! dyno's subject for axum: a router, served on tokio's usual runtime.
//!
//!     server ADDRESS:PORT [h2c | CHAIN KEY]

mod database;
mod items;

use std::collections::HashMap;
use std::convert::Infallible;
use std::num::NonZeroU64;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use items::Item;
use serde::{Deserialize, Serialize};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{interval, sleep};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::IntervalStream;
use tower_http::compression::CompressionLayer;
use tower_http::services::ServeDir;

const TEXT: (axum::http::HeaderName, &str) = (CONTENT_TYPE, "text/plain");
const XML: (axum::http::HeaderName, &str) = (CONTENT_TYPE, "text/xml");

type Error = Box<dyn std::error::Error + Send + Sync>;
type Items = Arc<[Item]>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let items = match std::env::var_os("DATASET") {
        Some(path) => items::read(FilePath::new(&path))?,
        None => Vec::new(),
    };
    let mut app = Router::new()
        .route("/", get(echo))
        .route("/hello", get(async || "Hello, world!"))
        .route("/user", post(give_back))
        .route("/user/{id}", get(async |Path(id): Path<String>| id))
        .route("/poll/{seconds}", get(poll))
        .route("/wspoll/{seconds}", any(poll_socket))
        .route("/wsecho", any(echo_socket))
        .route("/delay/{ms}", get(delay))
        .route("/header", get(header))
        .route("/json/{count}", get(list))
        .route("/sum", post(sum))
        .route("/echo", post(give_octets_back))
        .with_state(Items::from(items))
        .merge(static_files());
    if let Ok(url) = std::env::var("DATABASE_URL") {
        app = app.merge(database::routes(url)?);
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [address] => axum::serve(TcpListener::bind(address).await?, app).await?,
        [address, "h2c"] => {
            let listener = TcpListener::bind(address).await?;
            axum::serve(listener.tap_io(send_at_once), app).await?;
        }
        [address, chain, key] => {
            serve_tls(TcpListener::bind(address).await?, app, chain, key).await?
        }
        _ => return Err("usage: server ADDRESS:PORT [h2c | CHAIN KEY]".into()),
    }
    Ok(())
}

/// What FILES has, compressed while it is sent.
fn static_files() -> Router {
    match std::env::var_os("FILES") {
        Some(folder) => Router::new()
            .nest_service("/static", ServeDir::new(folder))
            .layer(CompressionLayer::new()),
        None => Router::new(),
    }
}

/// Otherwise the first answer of a connection waits for the client's ACK of what left before it.
fn send_at_once(stream: &mut TcpStream) {
    let _ = stream.set_nodelay(true);
}

/// What `axum::serve` does, with TLS around it.
async fn serve_tls(
    listener: TcpListener,
    app: Router,
    chain: &str,
    key: &str,
) -> Result<(), Error> {
    let chain = CertificateDer::pem_file_iter(chain)?.collect::<Result<_, _>>()?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_file(key)?)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    loop {
        let (mut stream, _) = listener.accept().await?;
        send_at_once(&mut stream);
        let (acceptor, service) = (acceptor.clone(), TowerToHyperService::new(app.clone()));
        tokio::spawn(async move {
            // How a connection ended is the client's affair, and so is how its handshake did.
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let mut builder = Builder::new(TokioExecutor::new());
            builder.http2().enable_connect_protocol();
            let _ = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).await;
        });
    }
}

async fn echo(Query(query): Query<HashMap<String, String>>) -> Response {
    if query.is_empty() {
        return StatusCode::OK.into_response();
    }
    let answer = match query.get("value") {
        Some(value) => format!("<http_test><value>{value}</value></http_test>"),
        None => "<http_test><error>no value specified</error></http_test>".into(),
    };
    ([XML], answer).into_response()
}

async fn give_back(body: Bytes) -> impl IntoResponse {
    ([TEXT], body)
}

async fn delay(Path(ms): Path<u16>) -> String {
    sleep(Duration::from_millis(ms.into())).await;
    ms.to_string()
}

async fn header(headers: HeaderMap) -> Result<String, StatusCode> {
    let value = headers.get("x-request-id").and_then(|value| value.to_str().ok());
    value.map(str::to_owned).ok_or(StatusCode::BAD_REQUEST)
}

#[derive(Deserialize)]
struct Multiplier {
    m: u32,
}

async fn list(
    State(items): State<Items>,
    Path(count): Path<usize>,
    Query(Multiplier { m }): Query<Multiplier>,
) -> Result<Response, StatusCode> {
    let list = items::list(&items, count, m).ok_or(StatusCode::NOT_FOUND)?;
    Ok(Json(list).into_response())
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

async fn sum(Json(Numbers { values }): Json<Numbers>) -> Json<Sum> {
    Json(Sum { sum: values.iter().sum(), count: values.len() })
}

async fn give_octets_back(body: Bytes) -> Bytes {
    body
}

async fn poll(period: Period) -> Result<impl IntoResponse, StatusCode> {
    let beats = IntervalStream::new(interval(seconds(period)?));
    let ticks = beats.map(|_| Ok::<_, Infallible>("tick\n"));
    Ok(([TEXT], Body::from_stream(ticks)))
}

async fn poll_socket(upgrade: WebSocketUpgrade, period: Period) -> Result<Response, StatusCode> {
    let every = seconds(period)?;
    Ok(upgrade.on_upgrade(move |socket| beat(socket, every)))
}

/// Sends a beat at once and then every so often, until the client is gone.
async fn beat(mut socket: WebSocket, every: Duration) {
    let mut beats = interval(every);
    loop {
        tokio::select! {
            _ = beats.tick() => {
                if socket.send(Message::text("tick")).await.is_err() {
                    return;
                }
            }
            // Pings and closes are answered only while somebody reads.
            received = socket.recv() => {
                if !matches!(received, Some(Ok(_))) {
                    return;
                }
            }
        }
    }
}

async fn echo_socket(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(give_messages_back)
}

async fn give_messages_back(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        let is_content = matches!(message, Message::Text(_) | Message::Binary(_));
        if is_content && socket.send(message).await.is_err() {
            return;
        }
    }
}

type Period = Result<Path<NonZeroU64>, PathRejection>;

fn seconds(period: Period) -> Result<Duration, StatusCode> {
    let Path(seconds) = period.map_err(|_| StatusCode::NOT_FOUND)?;
    Ok(Duration::from_secs(seconds.get()))
}
