//! The provider on loopback: answers like the ledger of the lab, slows down who asks too fast.

use super::incident::Incident;
use super::ledger::{Book, Entry};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::Instant;

/// How many requests a second are answered before a 429.
const RATE_PER_SECOND: usize = 400;
/// The most entries of one page.
const PAGE_ENTRIES_MAX: usize = 100;
/// Entries of a page when nobody says.
const PAGE_ENTRIES: usize = 10;

/// A running provider; it ends with the program.
#[derive(Debug)]
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
}

struct Shared {
    incident: Arc<Incident>,
    token: String,
    recent: Mutex<Vec<Instant>>,
}

impl Server {
    /// Begins to answer on a free port of the loopback address.
    ///
    /// # Errors
    /// No port is free.
    pub async fn start(incident: &Arc<Incident>, token: String) -> io::Result<Self> {
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let shared =
            Arc::new(Shared { incident: Arc::clone(incident), token, recent: Mutex::new(Vec::new()) });
        tokio::spawn(async move {
            // An accept that fails (no file handles left) is tried again with the next connection.
            loop {
                if let Ok((stream, _)) = listener.accept().await {
                    let shared = Arc::clone(&shared);
                    tokio::spawn(async move {
                        let service = service_fn(move |request| {
                            let answer = shared.answer(&request);
                            async move { Ok::<_, Infallible>(answer) }
                        });
                        let connection = hyper::server::conn::http1::Builder::new();
                        // Whoever hangs up in the middle is no trouble of a demo's.
                        drop(connection.serve_connection(TokioIo::new(stream), service).await);
                    });
                }
            }
        });
        Ok(Self { address })
    }
}

impl Shared {
    fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        if request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok())
            != Some(&format!("Bearer {}", self.token))
        {
            return reply(StatusCode::UNAUTHORIZED, &json!({ "error": { "type": "authentication_error" } }));
        }
        if self.is_too_fast() {
            let mut answer =
                reply(StatusCode::TOO_MANY_REQUESTS, &json!({ "error": { "type": "rate_limit" } }));
            answer.headers_mut().insert(RETRY_AFTER, hyper::header::HeaderValue::from_static("1"));
            return answer;
        }
        let parts: Vec<&str> = request.uri().path().split('/').filter(|part| !part.is_empty()).collect();
        let book = match (request.method(), parts.as_slice()) {
            (&Method::GET, ["v1", "charges", ..]) => Book::Charges,
            (&Method::GET, ["v1", "emails", ..]) => Book::Emails,
            _ => {
                return reply(
                    StatusCode::NOT_FOUND,
                    &json!({ "error": { "type": "invalid_request_error" } }),
                );
            }
        };
        let query: HashMap<String, String> =
            url::form_urlencoded::parse(request.uri().query().unwrap_or("").as_bytes())
                .into_owned()
                .collect();
        match parts.get(2) {
            None => reply(StatusCode::OK, &self.list(book, &query)),
            Some(id) => match self.incident.ledger.list(book, None).into_iter().find(|entry| entry.id == *id)
            {
                Some(entry) => reply(StatusCode::OK, &public(book, entry)),
                None => reply(StatusCode::NOT_FOUND, &json!({ "error": { "type": "not_found" } })),
            },
        }
    }

    fn is_too_fast(&self) -> bool {
        let now = Instant::now();
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|at| now.duration_since(*at) < Duration::from_secs(1));
        recent.push(now);
        recent.len() > RATE_PER_SECOND
    }

    fn list(&self, book: Book, query: &HashMap<String, String>) -> Value {
        let reference = query.get(reference_field(book)).map(String::as_str);
        let shown = self.incident.ledger.list(book, reference);
        let after = query.get("starting_after").and_then(|id| shown.iter().position(|entry| entry.id == *id));
        let limit = query
            .get("limit")
            .and_then(|text| text.parse().ok())
            .unwrap_or(PAGE_ENTRIES)
            .clamp(1, PAGE_ENTRIES_MAX);
        let rest = shown.get(after.map_or(0, |at| at + 1)..).unwrap_or_default();
        let page: Vec<Value> = rest.iter().take(limit).map(|entry| public(book, entry)).collect();
        json!({ "object": "list", "data": page, "has_more": rest.len() > limit })
    }
}

fn reference_field(book: Book) -> &'static str {
    match book {
        Book::Charges => "reference",
        Book::Emails => "message_key",
    }
}

fn public(book: Book, entry: &Entry) -> Value {
    let mut shown = json!({
        "id": entry.id, "status": entry.status, "created": entry.created, reference_field(book): entry.reference,
    });
    if let Some(amount) = entry.amount {
        shown["amount"] = json!(amount);
        shown["currency"] = json!("brl");
    }
    shown
}

fn reply(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(Bytes::from(body.to_string())));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    answer
}
