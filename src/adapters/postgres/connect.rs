//! Connecting: what the address, the environment and the password file add up to; the few connections that are kept; and
//! telling the server to stop when nobody waits any more.

use super::client::{Client, Error};
use super::fault::{driver_told, fault_of_sql};
use super::passfile;
use super::tls::{self, Tls};
use crate::adapters::secret::Environment;
use crate::adapters::sql::silence::{CONNECT_MAX, GRACE, KEPT_ANSWERS_MAX, unconnected};
use crate::adapters::sql::{Address, Misfit, quoted};
use crate::domain::moment::parse_duration;
use crate::domain::text::clean_cut;
use crate::ports::source::{SourceFault, SourceFaultKind};
use crate::preset::source::Engine;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::timeout;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// How long one query may read, where the address does not say it.
const READ_MAX: Duration = Duration::from_mins(1);
/// How long a decision may wait for a row that somebody holds.
const LOCK_WAITS_MAX: Duration = Duration::from_secs(10);
/// How long each statement of a decision may take.
const WRITE_MAX: Duration = Duration::from_secs(30);
/// How many connections are kept for the next read.
const IDLE_MAX: usize = 3;
/// Parameters of an address that are ours or that the driver does not know.
const OWN: [&str; 5] = ["schema", "sslmode", "sslrootcert", "statement_timeout", "passfile"];
/// The way of spelling: values are read as text and must be spelled the same for everybody. A database that takes any bytes
/// for text must not be asked to prove that they are some.
const SPELLING: &str = "SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'iso_8601'; \
     SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'; SET LOCAL standard_conforming_strings = on; \
     SELECT set_config('client_encoding', 'SQL_ASCII', true) WHERE current_setting('server_encoding') = 'SQL_ASCII'";

/// The same, where a standby may be asked to have it too: whatever is weaker than `on` is made `on`.
const DURABLE_AT_LEAST: &str = "SELECT set_config('synchronous_commit', 'on', true) \
     WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')";

/// What is told as written must outlive a crash of the server, also where its applications do without.
const DURABLE: &str =
    "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'";

/// A database on a server, and the connections that are kept to it.
#[derive(Debug)]
pub(in crate::adapters) struct Place {
    address: Address,
    /// The schema where the address names none; `None` leaves it to the server.
    schema: Option<&'static str>,
    idle: Arc<Mutex<Vec<Client>>>,
}

/// How a server is connected to.
struct Way {
    config: Config,
    tls: Tls,
    schema: Option<String>,
    read_max: Duration,
    /// How long a connection may take to come about, whatever keeps it.
    connect_max: Duration,
}

/// Everything is set for the length of a transaction alone: a pooler may give the server's session to somebody else next.
impl Way {
    fn reading(&self) -> String {
        let read_max = self.read_max.as_millis();
        format!(
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {SPELLING}; SET LOCAL statement_timeout = {read_max}; \
             SET LOCAL idle_in_transaction_session_timeout = {read_max}{}",
            self.path()
        )
    }

    fn writing(&self) -> String {
        let waits_max = LOCK_WAITS_MAX.as_millis();
        format!(
            "BEGIN ISOLATION LEVEL REPEATABLE READ; {SPELLING}; SET LOCAL lock_timeout = {waits_max}; \
             SET LOCAL statement_timeout = {0}; SET LOCAL idle_in_transaction_session_timeout = {0}{1}; {DURABLE}",
            WRITE_MAX.as_millis(),
            self.path()
        )
    }

    /// Each statement sees what was committed before it, so that what is read behind a lock is what the lock protects: a
    /// snapshot of the whole transaction would be taken before the lock is there.
    fn appending(&self) -> String {
        let waits_max = LOCK_WAITS_MAX.as_millis();
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED; {SPELLING}; SET LOCAL lock_timeout = {waits_max}; \
             SET LOCAL statement_timeout = {0}; SET LOCAL idle_in_transaction_session_timeout = {0}{1}; \
             {DURABLE_AT_LEAST}",
            WRITE_MAX.as_millis(),
            self.path()
        )
    }

    /// Where tables are looked for, where the address says it.
    fn path(&self) -> String {
        let schema = self.schema.as_deref().map(|schema| quoted(Engine::Postgres, schema));
        schema.map_or_else(String::new, |schema| format!("; SET LOCAL search_path = {schema}"))
    }
}

impl Place {
    pub(super) fn new(address: Address) -> Self {
        Self { address, schema: None, idle: Arc::default() }
    }

    /// A place whose tables are in this schema, unless the address names another.
    pub(in crate::adapters) fn in_schema(address: Address, schema: &'static str) -> Self {
        Self { schema: Some(schema), ..Self::new(address) }
    }

    /// The schema that the address names, or the one of the place.
    pub(in crate::adapters) fn schema(&self) -> Result<Option<String>, SourceFault> {
        self.way().map(|way| way.schema)
    }

    /// Where it is, without a password.
    pub(in crate::adapters) fn shown(&self) -> &str {
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

    /// A transaction that cannot write, on a connection that was kept or on a new one.
    pub(in crate::adapters) async fn to_read(&self) -> Result<Lent, SourceFault> {
        let way = self.way()?;
        let begin = way.reading();
        let client = if let Some(client) = self.begun(&begin).await {
            client
        } else {
            let connecting = async {
                let client = self.connect(&way, way.read_max).await?;
                client.batch_execute(&begin).await.map_err(|fault| self.fault(&fault))?;
                Ok(client)
            };
            self.in_time(&way, connecting).await?
        };
        Ok(Lent { client: Some(client), begin, idle: Arc::clone(&self.idle), tls: way.tls })
    }

    /// Whether the address says in which schema tables are looked for.
    pub(super) fn names_schema(&self) -> Result<bool, SourceFault> {
        self.way().map(|way| way.schema.is_some())
    }

    /// A transaction for one decision. Where the server or the role only reads by default, it does not ask for more.
    pub(super) async fn to_write(&self) -> Result<Writing, SourceFault> {
        let way = self.way()?;
        let begun = async {
            let writing = Writing { client: self.connect(&way, WRITE_MAX).await?, begin: way.writing() };
            writing.begin().await.map_err(|fault| self.fault(&fault))?;
            Ok(writing)
        };
        self.in_time(&way, begun).await
    }

    /// A connection whose transactions add to an audit; none is begun yet.
    pub(in crate::adapters) async fn to_append(&self) -> Result<Writing, SourceFault> {
        let way = self.way()?;
        let client = self.in_time(&way, self.connect(&way, WRITE_MAX)).await?;
        Ok(Writing { client, begin: way.appending() })
    }

    /// A connection that was kept and on which the transaction could be begun: a server that was started anew is connected to
    /// anew.
    async fn begun(&self, begin: &str) -> Option<Client> {
        while let Some(client) = self.kept() {
            match client.batch_execute_within(begin, KEPT_ANSWERS_MAX).await {
                Ok(()) => return Some(client),
                // The others lay as long: they are not waited for as well.
                Err(Error::Silent(_)) => self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear(),
                Err(Error::Told(_)) => {}
            }
        }
        None
    }

    /// A connection that is kept and still stands.
    fn kept(&self) -> Option<Client> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|client| !client.is_closed());
        idle.pop()
    }

    /// What makes a connection, within its time: the driver bounds how long a port may take to open, and nothing after it.
    async fn in_time<T>(
        &self,
        way: &Way,
        connecting: impl Future<Output = Result<T, SourceFault>>,
    ) -> Result<T, SourceFault> {
        let connected = timeout(way.connect_max, connecting).await;
        connected.unwrap_or_else(|_| Err(unconnected(self.shown(), way.connect_max)))
    }

    /// A connection whose statements may take so long.
    async fn connect(&self, way: &Way, statement_max: Duration) -> Result<Client, SourceFault> {
        let connected = way.config.connect(way.tls.clone()).await;
        let (client, connection) = connected.map_err(|fault| self.fault(&fault.into()))?;
        // It ends by itself once its client is dropped; what it died of is told to whoever uses the client.
        drop(tokio::spawn(async move { drop(connection.await) }));
        Ok(Client::new(client, statement_max + GRACE))
    }

    /// What the address, the environment and the password file add up to, as libpq does it.
    fn way(&self) -> Result<Way, SourceFault> {
        let odd = |what: String| {
            self.fault_of(
                SourceFaultKind::Mismatch,
                &what,
                "Write postgres://USER@HOST:PORT/DATABASE?sslmode=…; docs/sources.md explains each part.",
            )
        };
        let no_address = |what: String| odd(format!("is no address ({what})"));
        let (mut url, own) = self.address.split(&OWN).map_err(no_address)?;
        let own = |name: &str| own.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let environment = &self.address.environment;
        // The driver would take the usual port where a host is named without one.
        if url.host().is_some_and(|host| !host.to_string().is_empty())
            && url.port().is_none()
            && let Some(port) = port_of(environment).map_err(odd)?
        {
            url.set_port(Some(port)).map_err(|()| no_address("its host takes no port".to_owned()))?;
        }
        let mut config: Config = url.as_str().parse().map_err(|fault| no_address(driver_told(&fault)))?;
        fill(&mut config, environment).map_err(odd)?;
        let mode = own("sslmode").map(str::to_owned).or_else(|| environment("PGSSLMODE"));
        let roots = own("sslrootcert").map(str::to_owned).or_else(|| environment("PGSSLROOTCERT"));
        let (ssl_mode, tls) = tls::of(mode.as_deref().unwrap_or("prefer"), roots.as_deref()).map_err(odd)?;
        let is_socket = matches!(config.get_hosts(), [Host::Unix(_), ..]);
        config.ssl_mode(if is_socket { SslMode::Disable } else { ssl_mode });
        if let Some(password) = self.address.password()? {
            config.password(password);
        } else if config.get_password().is_none() {
            let passfile = own("passfile").map(str::to_owned);
            if let Some(password) = passfile::password(&config, passfile, environment) {
                config.password(password);
            }
        }
        let read_max = match own("statement_timeout") {
            Some(text) => parse_duration(text).map_err(odd)?.to_std().unwrap_or(READ_MAX),
            None => READ_MAX,
        };
        let schema = own("schema").or(self.schema).map(str::to_owned);
        // Each of several hosts has its time.
        let hosts = u32::try_from(config.get_hosts().len().max(1)).unwrap_or(u32::MAX);
        let connect_max = config.get_connect_timeout().copied().unwrap_or(CONNECT_MAX).saturating_mul(hosts);
        Ok(Way { config, tls, schema, read_max, connect_max })
    }
}

fn port_of(environment: &Environment) -> Result<Option<u16>, String> {
    let odd = |port: &str| format!("$PGPORT is `{}`, which is no port", clean_cut(port, 20));
    environment("PGPORT").map(|port| port.parse().map_err(|_| odd(&port))).transpose()
}

/// What the address leaves open: the environment's word, else the platform's.
fn fill(config: &mut Config, environment: &Environment) -> Result<(), String> {
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        let host = environment("PGHOST").unwrap_or_else(|| {
            let socket = "/var/run/postgresql";
            if Path::new(socket).is_dir() { socket.to_owned() } else { "localhost".to_owned() }
        });
        config.host(&host);
    }
    if config.get_ports().is_empty()
        && let Some(port) = port_of(environment)?
    {
        config.port(port);
    }
    if config.get_user().is_none() {
        config.user(environment("PGUSER").unwrap_or_else(crate::adapters::system::login));
    }
    if config.get_dbname().is_none() {
        let name = environment("PGDATABASE").or_else(|| config.get_user().map(str::to_owned));
        config.dbname(name.unwrap_or_default());
    }
    if config.get_password().is_none()
        && let Some(password) = environment("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_MAX);
    }
    if config.get_application_name().is_none() {
        config.application_name("unstuck");
    }
    Ok(())
}

/// A transaction that is going to write, on a connection of its own. Dropped, it is rolled back.
pub(in crate::adapters) struct Writing {
    client: Client,
    begin: String,
}

impl Writing {
    pub(in crate::adapters) fn client(&self) -> &Client {
        &self.client
    }

    /// Begins anew; nothing that was not committed is left.
    pub(super) async fn begin_again(&self) -> Result<(), Error> {
        self.client.batch_execute("ROLLBACK").await?;
        self.begin().await
    }

    pub(in crate::adapters) async fn begin(&self) -> Result<(), Error> {
        self.client.batch_execute_within(&self.begin, CONNECT_MAX).await
    }

    /// Begins on a connection that was kept, which may be of no use any more.
    pub(in crate::adapters) async fn begin_kept(&self) -> Result<(), Error> {
        self.client.batch_execute_within(&self.begin, KEPT_ANSWERS_MAX).await
    }
}

/// A connection that was lent, in a transaction that cannot write. Dropped in the middle of a query, it tells the server to
/// stop.
pub(in crate::adapters) struct Lent {
    client: Option<Client>,
    begin: String,
    idle: Arc<Mutex<Vec<Client>>>,
    tls: Tls,
}

impl Lent {
    #[expect(clippy::expect_used, reason = "only giving it back takes it away, and that takes this too")]
    pub(in crate::adapters) fn client(&self) -> &Client {
        self.client.as_ref().expect("it is there until it is given back")
    }

    /// Begins anew: after a query that failed the server takes no other.
    pub(super) async fn begin_again(&self) -> Result<(), Error> {
        self.client().batch_execute("ROLLBACK").await?;
        self.client().batch_execute(&self.begin).await
    }

    /// Gives it back: nothing runs on it.
    pub(super) async fn done(mut self) {
        let is_over = self.client().batch_execute_within("ROLLBACK", KEPT_ANSWERS_MAX).await.is_ok();
        if let Some(client) = self.client.take().filter(|_| is_over) {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < IDLE_MAX {
                idle.push(client);
            }
        }
    }

    /// Gives it back after work that went well; after a fault the connection is not used again.
    pub(in crate::adapters) async fn ended<T, E>(mut self, result: Result<T, E>) -> Result<T, E> {
        match result {
            Ok(value) => {
                self.done().await;
                Ok(value)
            }
            Err(fault) => {
                self.client.take();
                Err(fault)
            }
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let (Some(client), Ok(runtime)) = (self.client.take(), tokio::runtime::Handle::try_current()) else {
            return;
        };
        let (token, tls) = (client.cancel_token(), self.tls.clone());
        // The client is kept until then: the server must not take the request for another session's.
        drop(runtime.spawn(async move {
            // A server that does not hear it stops by itself at the statement's time-out.
            drop(timeout(CONNECT_MAX, token.cancel_query(tls)).await);
            drop(client);
        }));
    }
}
