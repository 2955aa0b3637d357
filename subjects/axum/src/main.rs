//! dyno's subject for axum: a router, served on tokio's usual runtime.
//!
//!     server ADDRESS:PORT

use std::collections::HashMap;
use std::convert::Infallible;
use std::num::NonZeroU64;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use tokio::net::TcpListener;
use tokio::time::interval;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::IntervalStream;

const TEXT: (axum::http::HeaderName, &str) = (CONTENT_TYPE, "text/plain");
const XML: (axum::http::HeaderName, &str) = (CONTENT_TYPE, "text/xml");

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).expect("usage: server ADDRESS:PORT");
    let app = Router::new()
        .route("/", get(echo))
        .route("/hello", get(async || "Hello, world!"))
        .route("/user", post(give_back))
        .route("/user/{id}", get(async |Path(id): Path<String>| id))
        .route("/poll/{seconds}", get(poll))
        .route("/wspoll/{seconds}", any(poll_socket))
        .route("/wsecho", any(echo_socket));
    let listener = TcpListener::bind(address).await?;
    axum::serve(listener, app).await
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
