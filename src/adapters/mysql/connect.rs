//! Connecting: what the address says, the few connections that are kept, and telling the server to stop when nobody waits
//! any more.

use super::conn::Conn;
use super::fault::fault_of_sql;
use crate::adapters::sql::silence::{CONNECT_MAX, GRACE, unconnected};
use crate::adapters::sql::{Address, Misfit};
use crate::domain::moment::parse_duration;
use crate::domain::text::clean_cut;
use crate::ports::source::{SourceFault, SourceFaultKind};
use mysql_async::{DriverError, Error, Opts, OptsBuilder, SslOpts};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// How long one query may read, where the address does not say it.
const READ_MAX: Duration = Duration::from_mins(1);
/// How long a decision waits for a row that somebody holds, in seconds.
const LOCK_WAITS_MAX_SECONDS: u64 = 10;
/// How long each statement of a decision may take.
const WRITE_MAX: Duration = Duration::from_secs(30);
/// How many connections are kept for the next read.
const IDLE_MAX: usize = 3;
/// Parameters of an address that are ours, or that the driver does not know.
const OWN: [&str; 6] =
    ["sslmode", "ssl-mode", "sslrootcert", "ssl-ca", "statement_timeout", "connect_timeout"];
/// One way of spelling for every session: no backslash rules or quotes of the server's own, and times in UTC.
const SPELLING: &str = "SET time_zone = '+00:00', \
     sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'";

/// A database on a server, and the connections that are kept to it.
#[derive(Debug)]
pub(super) struct Place {
    address: Address,
    idle: Arc<Mutex<Vec<Conn>>>,
}

/// How a server is connected to: with TLS, and if the server has none and that is allowed, without.
#[derive(Clone)]
struct Way {
    opts: Opts,
    or_plain: Option<Opts>,
    read_max: Duration,
    /// How long a connection may take to come about, whatever keeps it.
    connect_max: Duration,
}

impl Way {
    async fn connect(&self) -> Result<mysql_async::Conn, Error> {
        match (mysql_async::Conn::new(self.opts.clone()).await, &self.or_plain) {
            (Err(Error::Driver(DriverError::NoClientSslFlagFromServer)), Some(plain)) => {
                mysql_async::Conn::new(plain.clone()).await
            }
            (connected, _) => connected,
        }
    }
}

impl Place {
    pub(super) fn new(address: Address) -> Self {
        Self { address, idle: Arc::default() }
    }

    /// Where it is, without a password.
    pub(super) fn shown(&self) -> &str {
        &self.address.shown
    }

    pub(super) fn fault(&self, fault: &Error) -> SourceFault {
        fault_of_sql(self.shown(), fault)
    }

    pub(super) fn fault_of(&self, kind: SourceFaultKind, what: &str, do_next: &str) -> SourceFault {
        SourceFault::at(self.shown(), kind, what, do_next)
    }

    /// What does not fit there.
    pub(super) fn misfit(&self, (kind, what, do_next): Misfit) -> SourceFault {
        self.fault_of(kind, &what, do_next)
    }

    /// A session that cannot write: one that was kept and still answers, or a new one.
    pub(super) async fn to_read(&self) -> Result<Lent, SourceFault> {
        let way = self.way()?;
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let kept = match kept {
            Some(mut conn) => conn.still_answers().await.then_some(conn),
            None => None,
        };
        let conn = if let Some(conn) = kept {
            conn
        } else {
            let connecting = async {
                let mut conn = self.connect(&way, way.read_max).await?;
                conn.query_drop("SET SESSION TRANSACTION READ ONLY").await?;
                limit(&mut conn, way.read_max).await?;
                Ok(conn)
            };
            self.in_time(&way, connecting).await?
        };
        Ok(Lent { conn: Some(conn), idle: Arc::clone(&self.idle), way })
    }

    /// A session for one decision.
    pub(super) async fn to_write(&self) -> Result<Conn, SourceFault> {
        let way = self.way()?;
        let connecting = async {
            let mut conn = self.connect(&way, WRITE_MAX).await?;
            conn.query_drop(format!("SET innodb_lock_wait_timeout = {LOCK_WAITS_MAX_SECONDS}")).await?;
            Ok(conn)
        };
        self.in_time(&way, connecting).await
    }

    /// What makes a connection, within its time.
    async fn in_time(
        &self,
        way: &Way,
        connecting: impl Future<Output = Result<Conn, Error>>,
    ) -> Result<Conn, SourceFault> {
        match timeout(way.connect_max, connecting).await {
            Ok(connected) => connected.map_err(|fault| self.fault(&fault)),
            Err(_) => Err(unconnected(self.shown(), way.connect_max)),
        }
    }

    /// A connection whose statements may take so long.
    async fn connect(&self, way: &Way, statement_max: Duration) -> Result<Conn, Error> {
        let mut conn = Conn::new(way.connect().await?, statement_max + GRACE);
        conn.query_drop(SPELLING).await?;
        Ok(conn)
    }

    /// What the address adds up to.
    fn way(&self) -> Result<Way, SourceFault> {
        let odd = |what: String| {
            self.fault_of(
                SourceFaultKind::Mismatch,
                &what,
                "Write mysql://USER@HOST:PORT/DATABASE?sslmode=…; docs/sources.md explains each part.",
            )
        };
        let (mut url, own) =
            self.address.split(&OWN).map_err(|what| odd(format!("is no address ({what})")))?;
        let own = |names: &[&str]| {
            own.iter().find(|(known, _)| names.contains(&known.as_str())).map(|(_, value)| value.as_str())
        };
        if url.set_scheme("mysql").is_err() {
            return Err(odd("is no address".to_owned()));
        }
        let opts = Opts::from_url(url.as_str()).map_err(|fault| odd(format!("is no address ({fault})")))?;
        if opts.db_name().is_none_or(str::is_empty) {
            return Err(odd("names no database".to_owned()));
        }
        let is_near = opts.addr_is_loopback() || opts.socket().is_some();
        let mut builder = OptsBuilder::from_opts(opts)
            .client_found_rows(true)
            // An address that names a port means the port, also where there is a socket.
            .prefer_socket(false);
        if let Some(password) = self.address.password()? {
            builder = builder.pass(Some(password));
        }
        let read_max = match own(&["statement_timeout"]) {
            Some(text) => parse_duration(text).map_err(odd)?.to_std().unwrap_or(READ_MAX),
            None => READ_MAX,
        };
        let connect_max = match own(&["connect_timeout"]) {
            Some(text) => match text.parse() {
                Ok(seconds @ 1_u64..) => Duration::from_secs(seconds),
                _ => {
                    return Err(odd(format!(
                        "`connect_timeout` is `{}`, no number of seconds",
                        clean_cut(text, 20)
                    )));
                }
            },
            None => CONNECT_MAX,
        };
        let mode = own(&["sslmode", "ssl-mode"]).unwrap_or(if is_near { "disable" } else { "prefer" });
        let (ssl, may_be_plain) = ssl_of(mode, own(&["sslrootcert", "ssl-ca"])).map_err(odd)?;
        let plain = Opts::from(builder.clone());
        let opts = Opts::from(builder.ssl_opts(ssl));
        Ok(Way { opts, or_plain: may_be_plain.then_some(plain), read_max, connect_max })
    }
}

/// What a TLS mode asks for, in PostgreSQL's words or MySQL's; and whether it may go without.
fn ssl_of(mode: &str, roots: Option<&str>) -> Result<(Option<SslOpts>, bool), String> {
    let anybody =
        || SslOpts::default().with_danger_accept_invalid_certs(true).with_danger_skip_domain_validation(true);
    let known = || match roots {
        Some(path) => SslOpts::default()
            .with_root_certs(vec![PathBuf::from(path).into()])
            .with_disable_built_in_roots(true),
        None => SslOpts::default(),
    };
    match mode.to_ascii_lowercase().replace('-', "_").as_str() {
        "disable" | "disabled" => Ok((None, false)),
        "prefer" | "preferred" => Ok((Some(anybody()), true)),
        "require" | "required" if roots.is_none() => Ok((Some(anybody()), false)),
        "require" | "required" | "verify_ca" | "verify_full" | "verify_identity" => {
            Ok((Some(known()), false))
        }
        other => Err(format!(
            "`sslmode` is `{}`; there are disable, prefer, require, verify-ca and verify-full",
            clean_cut(other, 20)
        )),
    }
}

/// Bounds how long a query may read. MariaDB and MySQL call it differently.
async fn limit(conn: &mut Conn, read_max: Duration) -> Result<(), Error> {
    let seconds = read_max.as_secs_f64();
    let mariadb = conn.query_drop(format!("SET max_statement_time = {seconds}")).await;
    match mariadb {
        Err(Error::Server(_)) => {
            conn.query_drop(format!("SET max_execution_time = {}", read_max.as_millis())).await
        }
        other => other,
    }
}

/// A connection that was lent. Dropped in the middle of a query, it tells the server to stop.
pub(super) struct Lent {
    conn: Option<Conn>,
    idle: Arc<Mutex<Vec<Conn>>>,
    way: Way,
}

impl Lent {
    #[expect(clippy::expect_used, reason = "only giving it back takes it away, and that takes this too")]
    pub(super) fn conn(&mut self) -> &mut Conn {
        self.conn.as_mut().expect("it is there until it is given back")
    }

    /// Gives it back after work that went well; after a fault the connection is not used again.
    pub(super) fn ended<T>(mut self, result: Result<T, SourceFault>) -> Result<T, SourceFault> {
        let conn = self.conn.take();
        if result.is_ok()
            && let Some(conn) = conn
        {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < IDLE_MAX {
                idle.push(conn);
            }
        }
        result
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let (Some(conn), Ok(runtime)) = (self.conn.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let way = self.way.clone();
        drop(runtime.spawn(async move {
            // The connection is kept until then: its number must not be another session's by now.
            if let Ok(Ok(other)) = timeout(way.connect_max, way.connect()).await {
                // A server that does not hear it stops by itself at the statement's time-out.
                let mut other = Conn::new(other, GRACE);
                drop(other.query_drop(format!("KILL QUERY {}", conn.id())).await);
                other.disconnect().await;
            }
            drop(conn);
        }));
    }
}
