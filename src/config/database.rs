//! Where a database is: a file, or a server's address with whatever opens it.

use super::ConfigFault;
use crate::domain::text::clean_cut;
use crate::preset::provider::SecretPlace;
use crate::preset::source::Engine;
use secrecy::SecretString;
use std::path::{Path, PathBuf};
use url::Url;

/// Where a database is.
#[derive(Debug, Clone)]
pub enum Database {
    /// A SQLite file.
    File(PathBuf),
    /// A server.
    Server(Server),
}

/// A database on a server.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its engine.
    pub engine: Engine,
    /// Its address as it was written: it may hold a password.
    pub url: SecretString,
    /// Its address without a password.
    pub shown: String,
    /// The database's name, for the names of sources; empty where the address leaves it to the account.
    pub name: String,
    /// Where its password is, when it is not in the address; `None` leaves it to the platform's own ways.
    pub secret: Option<SecretPlace>,
}

impl Database {
    /// Reads an address: `sqlite://PATH` or a path, `postgres://…`, `mysql://…`, `mariadb://…`.
    ///
    /// # Errors
    /// An address of another engine, or none.
    pub fn parse(url: &str) -> Result<Self, ConfigFault> {
        for prefix in ["sqlite://", "sqlite:", "file://", "file:"] {
            if let Some(path) = url.strip_prefix(prefix) {
                return file(path);
            }
        }
        let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
        let engine = match scheme.as_deref() {
            None if is_almost_a_server(url) => {
                // Never with the address itself: it may hold a password.
                return Err(ConfigFault::new(
                    "this is no file's path: it looks like a server's address whose beginning is missing or misspelt",
                    "Write postgres://USER@HOST/DATABASE or mysql://USER@HOST/DATABASE; a file with such a name is sqlite://PATH.",
                ));
            }
            None => return file(url),
            Some("postgres" | "postgresql") => Engine::Postgres,
            Some("mysql" | "mariadb") => Engine::Mysql,
            Some(other) => {
                return Err(ConfigFault::new(
                    format!("`{}` databases cannot be read by this version", clean_cut(other, 20)),
                    "Name one of these: sqlite://PATH, postgres://HOST/DATABASE, mysql://HOST/DATABASE.",
                ));
            }
        };
        server(engine, url).map(Self::Server)
    }

    /// The same, a relative file counted from a folder.
    #[must_use]
    pub fn in_folder(self, folder: &Path) -> Self {
        match self {
            Self::File(path) => Self::File(folder.join(path)),
            server @ Self::Server(_) => server,
        }
    }

    /// Its engine.
    pub fn engine(&self) -> Engine {
        match self {
            Self::File(_) => Engine::Sqlite,
            Self::Server(server) => server.engine,
        }
    }

    /// Where it is, without a password.
    pub fn shown(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Server(server) => server.shown.clone(),
        }
    }

    /// A short name that tells it from others.
    pub fn stem(&self) -> String {
        match self {
            Self::File(path) => {
                path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
            }
            Self::Server(server) if server.name.is_empty() => server.engine.as_str().to_owned(),
            Self::Server(server) => server.name.clone(),
        }
    }
}

/// Whether a text without an engine is more likely an address with a password than a path: `user:password@host`, or an
/// engine's name with too few slashes.
fn is_almost_a_server(text: &str) -> bool {
    let has_password = text.split_once('@').is_some_and(|(before, _)| before.contains(':'));
    let begins =
        |engine: &&str| text.get(..engine.len()).is_some_and(|head| head.eq_ignore_ascii_case(engine));
    has_password || ["postgres:", "postgresql:", "mysql:", "mariadb:"].iter().any(begins)
}

fn file(path: &str) -> Result<Database, ConfigFault> {
    if path.is_empty() {
        return Err(ConfigFault::new("the address names no file", "Write sqlite://PATH."));
    }
    Ok(Database::File(PathBuf::from(path)))
}

fn server(engine: Engine, url: &str) -> Result<Server, ConfigFault> {
    let scheme = engine.as_str();
    // Never with the address itself: its password may be what is written wrongly.
    let odd = |what: &str| {
        ConfigFault::new(
            format!("the {engine} address cannot be read ({what})"),
            format!(
                "Write {scheme}://USER@HOST:PORT/DATABASE; a sign such as @ or / in a password is written %40 or %2F."
            ),
        )
    };
    // A socket's folder as a host (`postgres://%2Frun%2Fpostgresql/db`) is for the driver to read.
    let mut parsed = Url::parse(url).map_err(|fault| odd(&fault.to_string()))?;
    let name = parsed.path().trim_start_matches('/').to_owned();
    if parsed.password().is_some() && parsed.set_password(None).is_err() {
        return Err(odd("no host"));
    }
    let query: Vec<(String, String)> = parsed
        .query_pairs()
        .filter(|(name, _)| !SECRET_PARAMETERS.contains(&&**name))
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    parsed.set_query(None);
    if !query.is_empty() {
        parsed.query_pairs_mut().extend_pairs(query);
    }
    Ok(Server {
        engine,
        url: SecretString::from(url.to_owned()),
        shown: parsed.to_string(),
        name,
        secret: None,
    })
}

/// Parameters of an address that are never shown.
const SECRET_PARAMETERS: [&str; 3] = ["password", "sslpassword", "passfile"];

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::path("jobs.db", Engine::Sqlite, "jobs.db", "jobs")]
    #[case::sqlite("sqlite:///var/jobs.db", Engine::Sqlite, "/var/jobs.db", "jobs")]
    #[case::postgres("postgres://ana@db/app", Engine::Postgres, "postgres://ana@db/app", "app")]
    #[case::password(
        "postgresql://ana:s3cr%40t@db:5433/app?sslmode=require&password=x",
        Engine::Postgres,
        "postgresql://ana@db:5433/app?sslmode=require",
        "app"
    )]
    #[case::mariadb(
        "mariadb://root:x@127.0.0.1/test",
        Engine::Mysql,
        "mariadb://root@127.0.0.1/test",
        "test"
    )]
    #[case::nameless("postgres://db", Engine::Postgres, "postgres://db", "postgres")]
    fn an_address_is_read_and_shown_without_its_password(
        #[case] url: &str,
        #[case] engine: Engine,
        #[case] shown: &str,
        #[case] stem: &str,
    ) {
        let database = Database::parse(url).unwrap();
        assert_eq!((database.engine(), &*database.shown(), &*database.stem()), (engine, shown, stem));
        assert!(!format!("{database:?}").contains("s3cr"), "a password must not be printed");
    }

    #[rstest]
    #[case::other("oracle://db/app", "`oracle` databases cannot be read by this version")]
    #[case::empty("sqlite://", "the address names no file")]
    #[case::no_engine("ana:s3cr3t@db/app", ALMOST)]
    #[case::one_slash("postgres:/ana:s3cr3t@db/app", ALMOST)]
    #[case::capitals("MySQL:ana@db/app", ALMOST)]
    #[case::port("postgres://db:port/app", "the PostgreSQL address cannot be read (invalid port number)")]
    fn an_address_that_cannot_be_used_is_told(#[case] url: &str, #[case] what: &str) {
        let fault = Database::parse(url).unwrap_err();
        assert_eq!(fault.what, what);
        assert!(!fault.what.contains("s3cr3t") && !fault.do_next.contains("s3cr3t"));
    }

    const ALMOST: &str =
        "this is no file's path: it looks like a server's address whose beginning is missing or misspelt";

    #[rstest]
    #[case::capitals("POSTGRES://ana@db/app", Engine::Postgres)]
    #[case::a_file_all_the_same("sqlite://a:b@c.db", Engine::Sqlite)]
    #[case::a_path_with_a_sign("jobs@prod.db", Engine::Sqlite)]
    fn an_engine_is_read_in_any_case_and_a_path_stays_a_path(#[case] url: &str, #[case] engine: Engine) {
        assert_eq!(Database::parse(url).unwrap().engine(), engine);
    }
}
