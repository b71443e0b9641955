//! One request and its whole answer, bounded in bytes and time.

use crate::adapters::http::extract::Reply;
use crate::domain::evidence::{Fault, FaultKind};
use crate::domain::text::clean_cut;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Identity, Method, Proxy, Request, Response};
use std::path::Path;
use std::time::Duration;
use url::Url;

/// What we call ourselves.
const USER_AGENT: &str = concat!("unstuck/", env!("CARGO_PKG_VERSION"));
/// The longest that making a connection may take.
const CONNECT_MAX: Duration = Duration::from_secs(10);
const DETAIL_CHARS_MAX: usize = 300;

/// How a client goes out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Way<'settings> {
    /// A proxy; `None` goes straight, whatever the environment says.
    pub proxy: Option<&'settings Url>,
    /// Certificates to trust instead of the machine's; `None` trusts the machine's.
    pub certificates: Option<&'settings Path>,
    /// A certificate and its key to show; `None` shows none.
    pub client_certificate: Option<&'settings Path>,
}

/// Builds a client that follows nothing, repeats nothing and unpacks nothing.
///
/// A plain `http://` address trusts no certificate at all, so that it also works on a machine without any.
///
/// # Errors
/// A sentence: no certificates on the machine, or a file of them that cannot be read.
pub fn build(base: &Url, way: Way<'_>) -> Result<Client, String> {
    install_tls();
    let mut builder = Client::builder()
        .user_agent(USER_AGENT)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy()
        .connect_timeout(CONNECT_MAX);
    if let Some(proxy) = way.proxy {
        let proxy =
            Proxy::all(proxy.as_str()).map_err(|fault| format!("the proxy cannot be used: {fault}"))?;
        builder = builder.proxy(proxy);
    }
    let is_tls = base.scheme() == "https" || way.proxy.is_some_and(|proxy| proxy.scheme() == "https");
    builder = match way.certificates {
        Some(path) => builder.tls_certs_only(read_certificates(path)?),
        None if is_tls => builder,
        None => builder.tls_certs_only(Vec::new()),
    };
    if let Some(path) = way.client_certificate {
        builder = builder.identity(read_identity(path)?);
    }
    builder.build().map_err(|fault| format!("no client for secure connections can be made: {}", told(&fault)))
}

/// Chooses the cryptography once a process; harmless where somebody did already.
pub fn install_tls() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Two threads may come here at once: the second is told so, and both have what they need.
        let _second_comer = rustls::crypto::ring::default_provider().install_default();
    }
}

fn read_certificates(path: &Path) -> Result<Vec<Certificate>, String> {
    let shown = path.display();
    let pem = std::fs::read(path)
        .map_err(|fault| format!("the certificates in {shown} cannot be read: {fault}"))?;
    match Certificate::from_pem_bundle(&pem) {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(format!("there are no certificates in {shown}")),
        Err(fault) => Err(format!("the certificates in {shown} cannot be read: {fault}")),
    }
}

fn read_identity(path: &Path) -> Result<Identity, String> {
    let shown = path.display();
    let wrong = |fault: String| format!("the client certificate in {shown} cannot be used: {fault}");
    let pem = std::fs::read(path).map_err(|fault| wrong(fault.to_string()))?;
    Identity::from_pem(&pem).map_err(|_| wrong("it needs a certificate and its key, both PEM".to_owned()))
}

/// What one try came to: what arrived, and the fault that kept it from being a whole answer.
#[derive(Debug, Default)]
pub struct Tried {
    /// What arrived; status zero when nothing did.
    pub reply: Reply,
    /// Why it is not a whole answer; `None` when it is one.
    pub fault: Option<Fault>,
    /// Whether the request surely never left: there was no connection to send it on.
    pub never_left: bool,
}

/// Sends a request once and reads the whole answer.
pub async fn exchange(client: &Client, request: Request, time_max: Duration, body_bytes_max: usize) -> Tried {
    let is_head = request.method() == Method::HEAD;
    let mut tried = Tried::default();
    let work = fill(client, request, body_bytes_max, is_head, &mut tried);
    let fault = match tokio::time::timeout(time_max, work).await {
        Ok(outcome) => outcome.err(),
        Err(_) => Some(Fault::new(
            FaultKind::Timeout,
            format!("no whole answer within {} s", (time_max.as_secs_f64() * 10.0).round() / 10.0),
        )),
    };
    Tried { fault, ..tried }
}

async fn fill(
    client: &Client,
    request: Request,
    body_bytes_max: usize,
    is_head: bool,
    tried: &mut Tried,
) -> Result<(), Fault> {
    let mut response = client.execute(request).await.map_err(|fault| {
        tried.never_left = fault.is_connect() || fault.is_builder();
        fault_of(&fault)
    })?;
    let reply = &mut tried.reply;
    reply.status = response.status().as_u16();
    reply.headers = headers(&response);
    let too_large = || {
        Fault::new(
            FaultKind::BodyTooLarge,
            format!("the answer has more than {body_bytes_max} bytes (body_bytes_max)"),
        )
    };
    // A HEAD tells the length of a body that it does not send.
    if !is_head && response.content_length().is_some_and(|length| length > body_bytes_max as u64) {
        return Err(too_large());
    }
    while let Some(chunk) = response.chunk().await.map_err(|fault| cut_off(&fault))? {
        let room = body_bytes_max - reply.body.len();
        reply.body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            return Err(too_large());
        }
    }
    Ok(())
}

fn headers(response: &Response) -> Vec<(String, String)> {
    let text = |value: &reqwest::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    response.headers().iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

fn cut_off(fault: &reqwest::Error) -> Fault {
    if fault.is_timeout() {
        return Fault::new(FaultKind::Timeout, "the answer did not come to its end in time");
    }
    Fault::new(FaultKind::CutOff, format!("the answer broke off: {}", told(fault)))
}

/// Sorts what kept an answer from coming. What is nothing else broke off on the way.
pub fn fault_of(fault: &reqwest::Error) -> Fault {
    let kind = if is_tls(fault) {
        FaultKind::Tls
    } else if fault.is_connect() {
        FaultKind::Connect
    } else if fault.is_timeout() {
        FaultKind::Timeout
    } else if fault.is_redirect() {
        FaultKind::Redirect
    } else if fault.is_builder() {
        FaultKind::Question
    } else {
        FaultKind::CutOff
    };
    let what = match kind {
        FaultKind::Tls => "no secure connection",
        FaultKind::Connect => "no connection",
        FaultKind::Timeout => "no answer in time",
        FaultKind::Question => "the question cannot be sent",
        _ => "the connection broke off without an answer",
    };
    Fault::new(kind, format!("{what}: {}", told(fault)))
}

fn is_tls(fault: &reqwest::Error) -> bool {
    causes(fault).any(|cause| {
        // An I/O error hides what it wraps from the chain of causes, and there may be several around the one.
        let mut wrapped: Option<&(dyn std::error::Error + 'static)> = Some(cause);
        while let Some(inner) = wrapped {
            if inner.is::<rustls::Error>() {
                return true;
            }
            let io = inner.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
            wrapped = io.map(|inner| inner as &(dyn std::error::Error + 'static));
        }
        false
    })
}

fn causes<'fault>(
    fault: &'fault reqwest::Error,
) -> impl Iterator<Item = &'fault (dyn std::error::Error + 'static)> {
    std::iter::successors(std::error::Error::source(fault), |cause| cause.source())
}

/// The innermost cause in words. The outer ones repeat the address, which may hold what must not be shown.
fn told(fault: &reqwest::Error) -> String {
    let text = causes(fault).last().map_or_else(
        || {
            let bare = fault.to_string();
            fault.url().map_or(bare.clone(), |url| bare.replace(url.as_str(), "the address"))
        },
        ToString::to_string,
    );
    clean_cut(&text, DETAIL_CHARS_MAX)
}
