//! The commands of tests/systems/README.md for apalis, on PostgreSQL and on SQLite.

mod db;

use std::env;
use std::fs::{self, File};
use std::future::pending;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use apalis::prelude::BoxDynError;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use db::{Body, Db, Worker};

const LASTS: Duration = Duration::from_secs(600);
const PATIENCE: Duration = Duration::from_secs(30);

type Result<T, E = BoxDynError> = std::result::Result<T, E>;

struct Call {
    command: String,
    url: String,
    key: Option<String>,
    job: Option<String>,
    go: Option<String>,
    seconds: u64,
    role: String,
}

impl Call {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let mut call = Self {
            command: words.next().ok_or("no command")?,
            url: String::new(),
            key: None,
            job: None,
            go: None,
            seconds: 10,
            role: String::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--db" => call.url = value()?,
                "--job" => call.job = Some(value()?),
                "--go" => call.go = Some(value()?),
                "--seconds" => call.seconds = value()?.parse()?,
                "--role" => call.role = value()?,
                _ => call.key = Some(word),
            }
        }
        Ok(call)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let Err(error) = run().await else { return ExitCode::SUCCESS };
    eprintln!("{}", error.to_string().lines().next().unwrap_or_default());
    ExitCode::FAILURE
}

async fn run() -> Result<()> {
    let call = Call::read(env::args().skip(1))?;
    let db = Db::open(&call.url).await?;
    match call.command.as_str() {
        "install" => db.install().await,
        "incident" => incident(&db, &call).await,
        "work" => work(&db, &call).await,
        "state" => state(&db, &call).await,
        "late" => late(&db, &call).await,
        "facts" => {
            print(&db.facts());
            Ok(())
        }
        "worker" => timeout(LASTS, worker(&db, &call)).await.unwrap_or(Ok(())),
        other => Err(format!("no such command: {other}").into()),
    }
}

fn print(line: &Value) {
    println!("{line}");
}

async fn incident(db: &Db, call: &Call) -> Result<()> {
    let stuck = db.enqueue("stuck", None).await?;
    let mut dead = begin(call, "stuck", &[])?;
    dead.kill()?;
    dead.wait()?;
    db.age(&stuck).await?;
    print(&json!({"case": "stuck", "job": "stuck", "key": stuck}));

    // The worker before this line is dead and the one after it does not live yet: the worker that
    // ends these three cannot take what is meant for another.
    for (job, tries) in [("timed_out", Some(1)), ("before", Some(1)), ("done", None)] {
        db.enqueue(job, tries).await?;
    }
    let ended = launch(call, "ending", &[])?.wait()?;
    if !ended.success() {
        return Err(format!("a worker ended with {ended}; see STANDIN_LOG").into());
    }
    for job in ["timed_out", "before", "done"] {
        print(&json!({"case": job, "job": job, "key": db.find(job).await?}));
    }

    let fresh = db.enqueue("fresh", None).await?;
    let pid = begin(call, "fresh", &[])?.id();
    print(&json!({"case": "fresh", "job": "fresh", "key": fresh, "pid": pid}));
    Ok(())
}

async fn late(db: &Db, call: &Call) -> Result<()> {
    let (Some(job), Some(go)) = (&call.job, &call.go) else {
        return Err("late needs --job and --go".into());
    };
    let key = db.enqueue(job, None).await?;
    let pid = begin(call, "late", &["--job", job, "--go", go])?.id();
    db.age(&key).await?;
    print(&json!({"key": key, "pid": pid}));
    Ok(())
}

async fn state(db: &Db, call: &Call) -> Result<()> {
    let key = match (&call.key, &call.job) {
        (Some(key), _) => Some(key.clone()),
        (None, Some(job)) => db.find(job).await?,
        (None, None) => return Err("state needs a key or --job".into()),
    };
    let row = match key {
        Some(key) => db.fetch(&key).await?,
        None => None,
    };
    let (state, job) = row.map_or_else(|| ("gone".to_owned(), None), |(state, job)| (state, Some(job)));
    let effects = match call.job.as_ref().or(job.as_ref()) {
        Some(job) => Some(db.effects(job).await?),
        None => None,
    };
    print(&json!({"state": state, "effects": effects}));
    Ok(())
}

async fn work(db: &Db, call: &Call) -> Result<()> {
    let acting = db.clone();
    until_idle(db, Duration::from_secs(call.seconds), None, move |job| {
        let db = acting.clone();
        Box::pin(async move {
            print(&json!({"ran": job}));
            db.act(&job).await?;
            Ok("charged".to_owned())
        })
    })
    .await
}

/// A worker's life as a process of its own, to be killed, left alone or waited for.
async fn worker(db: &Db, call: &Call) -> Result<()> {
    match call.role.as_str() {
        "ending" => ending(db).await,
        "late" => come_back_late(db, call).await,
        role => take_and_wait(db, role, role == "stuck").await,
    }
}

async fn take_and_wait(db: &Db, role: &str, acts: bool) -> Result<()> {
    let acting = db.clone();
    let body = move |job: String| -> db::Running {
        let db = acting.clone();
        Box::pin(async move {
            if acts {
                db.act(&job).await?;
            }
            db.until_running(&job).await?;
            println!("took it");
            pending().await
        })
    };
    Ok(db.serve(Worker::new(role), Arc::new(body)).await?)
}

async fn ending(db: &Db) -> Result<()> {
    let acting = db.clone();
    until_idle(db, PATIENCE, Some(Duration::from_secs(1)), move |job| {
        let db = acting.clone();
        Box::pin(async move {
            if job == "before" {
                // Nothing listens on port 1.
                TcpStream::connect("127.0.0.1:1")?;
            }
            db.act(&job).await?;
            if job == "timed_out" {
                sleep(PATIENCE).await;
            }
            Ok("charged".to_owned())
        })
    })
    .await
}

async fn come_back_late(db: &Db, call: &Call) -> Result<()> {
    let (Some(job), Some(go)) = (call.job.clone(), call.go.clone()) else {
        return Err("late needs --job and --go".into());
    };
    let key = db.find(&job).await?.ok_or("no such job")?;
    // The library keeps what a body returns, but not who returned it.
    let said = format!("late, process {}", std::process::id());
    // No heartbeat while it waits: the worker too is to look dead.
    let late = Worker { heartbeat: LASTS * 6, ..Worker::new("late") };
    let stop = late.context.clone();
    let (acting, saying, waiting) = (db.clone(), said.clone(), go.clone());
    let body = move |taken: String| -> db::Running {
        let (db, said, go, stop) = (acting.clone(), saying.clone(), waiting.clone(), stop.clone());
        Box::pin(async move {
            db.act(&taken).await?;
            db.until_running(&taken).await?;
            println!("took it");
            while !Path::new(&go).exists() {
                sleep(Duration::from_millis(100)).await;
            }
            // Asked to stop before it returns: it acknowledges this job and takes no other.
            stop.stop()?;
            Ok(said)
        })
    };
    let served = db.serve(late, Arc::new(body)).await;
    let answer = json!({
        "acknowledged": db.returned(&key, &said).await?,
        "error": served.err().map(|error| error.to_string()),
    });
    fs::write(format!("{go}.part"), format!("{answer}\n"))?;
    fs::rename(format!("{go}.part"), format!("{go}.done"))?;
    Ok(())
}

async fn until_idle(
    db: &Db,
    patience: Duration,
    limit: Option<Duration>,
    body: impl Fn(String) -> db::Running + Send + Sync + 'static,
) -> Result<()> {
    let worker = Worker { limit, ..Worker::new("work") };
    let (name, watched, context) = (worker.name.clone(), db.clone(), worker.context.clone());
    let body: Body = Arc::new(body);
    let idle = async move {
        let since = Instant::now();
        let mut idle = 0;
        // Twice in a row, and never before the worker had a chance to look.
        while idle < 2 && since.elapsed() < patience {
            sleep(Duration::from_millis(500)).await;
            idle = if watched.waiting(&name).await? == 0 { idle + 1 } else { 0 };
        }
        context.stop()?;
        Ok(())
    };
    let (served, idled) = tokio::join!(db.serve(worker, body), idle);
    served?;
    idled
}

/// A process group of its own, and none of this process's pipes: who reads those would wait for it.
fn launch(call: &Call, role: &str, more: &[&str]) -> Result<Child> {
    let log = || -> Result<Stdio> {
        let Some(path) = env::var_os("STANDIN_LOG") else { return Ok(Stdio::null()) };
        Ok(File::options().append(true).create(true).open(path)?.into())
    };
    let worker = Command::new(env::current_exe()?)
        .args(["worker", "--db", &call.url, "--role", role])
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log()?)
        .process_group(0)
        .spawn()?;
    Ok(worker)
}

fn begin(call: &Call, role: &str, more: &[&str]) -> Result<Child> {
    let mut child = launch(call, role, more)?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().ok_or("no pipe")?).read_line(&mut line)?;
    if line.is_empty() {
        return Err(format!("the {role} worker ended before it took its job; see STANDIN_LOG").into());
    }
    Ok(child)
}
