//! Rows of PostgreSQL, by tokio-postgres and a pool of deadpool-postgres.

use std::collections::HashMap;
use std::error::Error;

use askama::Template;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use deadpool_postgres::{Config, GenericClient, Pool, PoolConfig, Runtime};
use rand::seq::index;
use serde::Serialize;
use tokio_postgres::NoTls;

const WORLDS: usize = 10_000;

/// The pool connects when a connection is wanted.
pub fn routes(url: String) -> Result<Router, Box<dyn Error + Send + Sync>> {
    let mut config = Config { url: Some(url), ..Config::default() };
    if let Ok(max) = std::env::var("DATABASE_MAX_CONN") {
        config.pool = Some(PoolConfig::new(max.parse()?));
    }
    let pool = config.create_pool(Some(Runtime::Tokio1), NoTls)?;
    Ok(Router::new()
        .route("/db", get(world))
        .route("/queries", get(worlds))
        .route("/updates", get(updates))
        .route("/fortunes", get(fortunes))
        .with_state(pool))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct World {
    id: i32,
    random_number: i32,
}

struct Fortune {
    id: i32,
    message: String,
}

#[derive(Template)]
#[template(path = "fortunes.html")]
struct Page {
    fortunes: Vec<Fortune>,
}

async fn world(State(pool): State<Pool>) -> Result<Json<World>, Failure> {
    let client = pool.get().await?;
    Ok(Json(read(&client, random_number()).await?))
}

async fn worlds(
    State(pool): State<Pool>,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Json<Vec<World>>, Failure> {
    let client = pool.get().await?;
    let mut worlds = Vec::new();
    for _ in 0..count(&query) {
        worlds.push(read(&client, random_number()).await?);
    }
    Ok(Json(worlds))
}

async fn updates(
    State(pool): State<Pool>,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Json<Vec<World>>, Failure> {
    let mut places = index::sample(&mut rand::rng(), WORLDS, count(&query)).into_vec();
    // In order, so that transactions lock rows in the same order.
    places.sort_unstable();
    let mut client = pool.get().await?;
    let transaction = client.transaction().await?;
    let update = "UPDATE world SET randomnumber = $1 WHERE id = $2";
    let update = transaction.prepare_cached(update).await?;
    let mut worlds = Vec::new();
    for place in places {
        let mut world = read(&transaction, place as i32 + 1).await?;
        world.random_number = random_number();
        transaction.execute(&update, &[&world.random_number, &world.id]).await?;
        worlds.push(world);
    }
    transaction.commit().await?;
    Ok(Json(worlds))
}

async fn fortunes(State(pool): State<Pool>) -> Result<Html<String>, Failure> {
    let client = pool.get().await?;
    let select = client.prepare_cached("SELECT id, message FROM fortune").await?;
    let rows = client.query(&select, &[]).await?;
    let mut fortunes: Vec<Fortune> =
        rows.iter().map(|row| Fortune { id: row.get(0), message: row.get(1) }).collect();
    let message = "Additional fortune added at request time.".into();
    fortunes.push(Fortune { id: 0, message });
    fortunes.sort_by(|a, b| a.message.cmp(&b.message));
    Ok(Html(Page { fortunes }.render()?))
}

async fn read(client: &impl GenericClient, id: i32) -> Result<World, tokio_postgres::Error> {
    let select = "SELECT id, randomnumber FROM world WHERE id = $1";
    let select = client.prepare_cached(select).await?;
    let row = client.query_one(&select, &[&id]).await?;
    Ok(World { id: row.get(0), random_number: row.get(1) })
}

/// An id or a value: both are from 1 to 10,000.
fn random_number() -> i32 {
    rand::random_range(1..=WORLDS as i32)
}

fn count(query: &HashMap<String, String>) -> usize {
    let count = query.get("queries").and_then(|text| text.parse::<i64>().ok());
    count.unwrap_or(1).clamp(1, 500) as usize
}

/// What went wrong, whatever it is, is answered with 500.
struct Failure(Box<dyn Error>);

impl<E: Into<Box<dyn Error>>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, self.0.to_string()).into_response()
    }
}
