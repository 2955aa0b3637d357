//! The files below a folder, compressed while they are sent: tower-http's service, called by path.

use std::path::Path;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::http::uri::PathAndQuery;
use hyper::{Request, Response, Uri};
use tower::ServiceExt;
use tower_http::compression::Compression;
use tower_http::services::ServeDir;

use crate::{Body, Error};

#[derive(Clone)]
pub struct Files(Compression<ServeDir>);

impl Files {
    pub fn of(folder: &Path) -> Files {
        Files(Compression::new(ServeDir::new(folder)))
    }

    /// The file that the path names after its prefix.
    pub async fn answer(
        &self,
        mut request: Request<Incoming>,
        prefix: &str,
    ) -> Result<Response<Body>, Error> {
        let name = request.uri().path().strip_prefix(prefix).unwrap_or_default();
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::try_from(format!("/{name}"))?);
        *request.uri_mut() = Uri::from_parts(parts)?;
        let response = self.0.clone().oneshot(request).await?;
        Ok(response.map(|body| body.map_err(Error::from).boxed_unsync()))
    }
}
