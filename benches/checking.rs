//! 10,000 checks against a server on loopback, 64 in flight: the whole workflow with a durable audit, beside a bare loop
//! that sends the same requests and looks at nothing, and beside `oha` where it is installed (`cargo install oha`).

mod measure;

use chrono::TimeDelta;
use futures_util::{StreamExt, stream};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use measure::{Bounds, Fault, median, millis, own_peak_bytes};
use rusqlite::Connection;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use unstuck::adapters::system::SystemClock;
use unstuck::config::load;
use unstuck::domain::moment::stamp;
use unstuck::domain::plan::Wish;
use unstuck::domain::verdict::Verdict;
use unstuck::ports::clock::Clock;
use unstuck::wiring::{self, AuditUse, Options};
use unstuck::workflow::scan::Pages;
use unstuck::workflow::sweep::{Recorded, answers, plan_all, recorded};
use unstuck::workflow::{Desk, Found};

/// How many findings are checked.
const CHECKS: usize = 10_000;
/// How many requests are under way at once.
const IN_FLIGHT: usize = 64;
/// How often both are measured, in turns.
const ROUNDS: usize = 3;
/// How much memory everything together may hold, the server included.
const MEMORY_MAX: u64 = 150 * 1_000_000;
/// How much longer than the bare loop the checks may take. The loop throws away answers of a server that needs next to no
/// time, some 25 microseconds a request; a check besides renders its question, reads, judges, masks and hashes the answer,
/// and is durable in the audit before it counts, some 300 microseconds. No real provider lets itself be asked so fast.
const RATIO_MAX: f64 = 25.0;

#[tokio::main]
async fn main() -> Result<ExitCode, Fault> {
    unstuck::adapters::http::install_tls();
    let folder = tempfile::Builder::new().prefix("unstuck-bench-").tempdir()?;
    let address = serve().await?;
    make_table(&folder.path().join("jobs.db"))?;
    let desk = desk(folder.path(), address)?;
    let found = all_findings(&desk).await?;
    println!("{CHECKS} checks, {IN_FLIGHT} in flight, server on loopback in the same process");
    let (mut ours, mut bare, mut oha) = (Vec::new(), Vec::new(), Vec::new());
    // The first round warms up connections and file.
    for round in 0..=ROUNDS {
        let (our_wall, bare_wall) = (check_all(&desk, &found).await?, ask_all(address, &found).await?);
        let oha_wall = ask_by_oha(address).await?;
        if round > 0 {
            ours.push(our_wall);
            bare.push(bare_wall);
            oha.extend(oha_wall);
        }
    }
    tell("checks with audit", median(&ours));
    tell("bare requests", median(&bare));
    if oha.is_empty() {
        println!("oha                is not installed");
    } else {
        tell("oha", median(&oha));
    }
    let ratio = median(&ours).as_secs_f64() / median(&bare).as_secs_f64();
    let mut bounds = Bounds::default();
    bounds.check(ratio <= RATIO_MAX, &format!("checks / bare requests = {ratio:.2}, bound {RATIO_MAX}"));
    bounds.check_memory("this process, server included", own_peak_bytes(), MEMORY_MAX);
    Ok(bounds.exit())
}

fn tell(what: &str, wall: Duration) {
    #[expect(clippy::cast_precision_loss, reason = "shown without decimals")]
    let per_second = CHECKS as f64 / wall.as_secs_f64();
    println!("{what:18} {:>11}, {per_second:.0} a second", millis(wall));
}

/// Checks everything and puts it on record.
async fn check_all(desk: &Desk, found: &[Arc<Found>]) -> Result<Duration, Fault> {
    let begun = Instant::now();
    // One by one: by the provider's list it would be a few hundred requests, and no measure of asking.
    let planned = plan_all(desk, found.to_vec(), Wish::ByItem);
    let mut batches = recorded(desk, answers(desk, planned));
    let mut happened = 0;
    while let Some(Recorded { answered, fault, .. }) = batches.next().await {
        fault.map_or(Ok(()), |fault| Err(fault.what))?;
        happened += answered.iter().filter(|(_, checked)| checked.verdict() == Verdict::Happened).count();
    }
    if happened == CHECKS {
        Ok(begun.elapsed())
    } else {
        Err(format!("{happened} of {CHECKS} happened").into())
    }
}

/// Sends the same requests with nothing around them.
async fn ask_all(address: SocketAddr, found: &[Arc<Found>]) -> Result<Duration, Fault> {
    let client = reqwest::Client::builder().no_proxy().tls_certs_only(Vec::new()).build()?;
    let begun = Instant::now();
    let requests = found.iter().map(|found| {
        let reference = found.reference.as_deref().unwrap_or_default();
        client.get(format!("http://{address}/v1/charges?reference={reference}&limit=100"))
    });
    let mut answers =
        stream::iter(requests)
            .map(|request| async move {
                request.bearer_auth("bench").send().await?.error_for_status()?.bytes().await
            })
            .buffer_unordered(IN_FLIGHT);
    while let Some(answer) = answers.next().await {
        answer?;
    }
    Ok(begun.elapsed())
}

/// Lets `oha` send as many requests with as many at once; `None` where it is not installed.
async fn ask_by_oha(address: SocketAddr) -> Result<Option<Duration>, Fault> {
    let (count, at_once) = (CHECKS.to_string(), IN_FLIGHT.to_string());
    let mut oha = Command::new("oha");
    oha.args(["-n", &count, "-c", &at_once, "--no-tui", "--output-format", "json"]);
    oha.args(["-H", "authorization: Bearer bench"]);
    let address = format!("http://{address}/v1/charges?reference=invoice:1:2026-05&limit=100");
    // The server is on other threads of this process.
    let told = match tokio::task::spawn_blocking(move || oha.arg(address).output()).await? {
        Ok(told) => told,
        Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(fault) => return Err(fault.into()),
    };
    let told: serde_json::Value = serde_json::from_slice(&told.stdout)?;
    let summary = &told["summary"];
    match (summary["successRate"].as_f64(), summary["total"].as_f64()) {
        (Some(1.0), Some(seconds)) => Ok(Some(Duration::from_secs_f64(seconds))),
        _ => Err(format!("oha told {summary}").into()),
    }
}

/// A ledger that answers at once: one charge under whatever reference it is asked for.
async fn serve() -> Result<SocketAddr, Fault> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let service = service_fn(|request| async move { Ok::<_, Infallible>(answer(&request)) });
                let connection = hyper::server::conn::http1::Builder::new();
                // Connections are closed when a round has ended.
                drop(connection.serve_connection(TokioIo::new(stream), service).await);
            });
        }
    });
    Ok(address)
}

fn answer(request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let query = url::form_urlencoded::parse(request.uri().query().unwrap_or_default().as_bytes());
    let reference =
        query.into_iter().find(|(name, _)| name == "reference").map(|(_, value)| value).unwrap_or_default();
    let body = format!(
        "{{\"object\":\"list\",\"data\":[{{\"id\":\"ch_{reference}\",\"status\":\"succeeded\",\"created\":1777863600,\
         \"reference\":\"{reference}\",\"amount\":1041,\"currency\":\"brl\"}}],\"has_more\":false}}"
    );
    Response::new(Full::new(Bytes::from(body)))
}

fn make_table(path: &Path) -> Result<(), Fault> {
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE jobs (key TEXT PRIMARY KEY, status TEXT, updated_at TEXT, last_error TEXT)",
    )?;
    let at = stamp(SystemClock.now() - TimeDelta::hours(3));
    for number in 0..CHECKS {
        let key = format!("invoice:{number}:2026-05");
        transaction.execute("INSERT INTO jobs VALUES (?1, 'failed', ?2, 'Read timed out')", [&key, &at])?;
    }
    transaction.commit()?;
    Ok(())
}

/// The desk as a configuration makes it, its pace so high that it never waits.
fn desk(folder: &Path, address: SocketAddr) -> Result<Desk, Fault> {
    std::fs::write(folder.join("token"), "bench")?;
    let config = folder.join("config.toml");
    std::fs::write(
        &config,
        format!(
            r#"
                [audit]
                path = "audit.db"
                [[sources]]
                name = "jobs"
                url = "sqlite://jobs.db"
                preset = "jobs"
                kind = "invoice"
                [kinds.invoice]
                risk = "financial"
                check = "ledger.charge"
                reference = "{{{{ key }}}}"
                idempotency_key = "{{{{ key }}}}"
                [providers.ledger]
                preset = "ledger"
                base_url = "http://{address}"
                secret_file = "token"
                pace_per_second = 1000000
                in_flight_max = {IN_FLIGHT}
            "#
        ),
    )?;
    let settings = load::load(&config, folder.join("audit.db")).map_err(|fault| fault.what)?;
    let options =
        Options { operator: Some("bench".to_owned()), audit: AuditUse::Write, ..Options::default() };
    Ok(wiring::desk(&settings, &options).map_err(|fault| fault.what)?)
}

async fn all_findings(desk: &Desk) -> Result<Vec<Arc<Found>>, Fault> {
    let source = desk.source("jobs").ok_or("the source is not there")?;
    let (mut found, mut pages) = (Vec::new(), Pages::in_order(desk, source));
    while let Some(page) = pages.next().await {
        found.extend(page.map_err(|fault| fault.what)?.found.into_iter().map(Arc::new));
    }
    if found.len() == CHECKS { Ok(found) } else { Err(format!("{} findings", found.len()).into()) }
}
