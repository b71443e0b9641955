//! The audit's tables in a database: made by an explicit command alone, shown before, and compared when the audit is verified.

use super::refused::fault_of;
use crate::adapters::postgres::client::{Client, Error, value_at};
use crate::adapters::postgres::connect::Place;
use crate::adapters::record::fault;
use crate::adapters::sql::quoted;
use crate::domain::text::clean_cut;
use crate::ports::record::RecordFault;
use crate::preset::source::Engine;
use std::collections::BTreeSet;
use std::path::Path;
use tokio_postgres::types::Type;

/// The schema where the address names none.
pub(super) const SCHEMA: &str = "unstuck";
/// The version of the tables below.
pub(super) const VERSION: i32 = 1;
/// The oldest server that is known to do.
const SERVER_VERSION_MIN: i32 = 120_000;
/// How much of a name of somebody else's is told.
const TOLD_CHARS_MAX: usize = 200;

/// The tables, `{s}` for the schema. Texts compare byte by byte whatever the database's collation and its libc.
const TABLES: [(&str, &str); 5] = [
    (
        "about",
        "CREATE TABLE {s}.about (one boolean PRIMARY KEY DEFAULT true CHECK (one), format integer NOT NULL)",
    ),
    (
        "head",
        "CREATE TABLE {s}.head (one boolean PRIMARY KEY DEFAULT true CHECK (one), seq bigint NOT NULL, hash text COLLATE \"C\" NOT NULL)",
    ),
    (
        "entries",
        "CREATE TABLE {s}.entries (
  seq bigint PRIMARY KEY,
  at text COLLATE \"C\" NOT NULL,
  event text COLLATE \"C\" NOT NULL,
  decision text COLLATE \"C\" NOT NULL,
  source text COLLATE \"C\" NOT NULL,
  key text COLLATE \"C\" NOT NULL,
  operator text COLLATE \"C\" NOT NULL,
  origin text COLLATE \"C\" NOT NULL,
  body text COLLATE \"C\" NOT NULL,
  prev text COLLATE \"C\" NOT NULL,
  hash text COLLATE \"C\" NOT NULL,
  login text COLLATE \"C\" NOT NULL,
  address text COLLATE \"C\",
  written_at timestamptz NOT NULL
)",
    ),
    (
        "attachments",
        "CREATE TABLE {s}.attachments (
  seq bigint NOT NULL REFERENCES {s}.entries,
  place bigint NOT NULL,
  sha256 text COLLATE \"C\" NOT NULL,
  text text COLLATE \"C\" NOT NULL,
  text_sha256 text COLLATE \"C\" NOT NULL,
  PRIMARY KEY (seq, place)
)",
    ),
    (
        "checkpoints",
        "CREATE TABLE {s}.checkpoints (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text COLLATE \"C\" NOT NULL,
  line text COLLATE \"C\" NOT NULL UNIQUE,
  login text COLLATE \"C\" NOT NULL,
  address text COLLATE \"C\",
  written_at timestamptz NOT NULL
)",
    ),
];

/// One index for each question. The two unique ones keep a decision from being settled or ended twice, whatever programs do.
const INDEXES: [(&str, bool, &str); 7] = [
    (
        "entries_intended",
        false,
        "CREATE INDEX entries_intended ON {s}.entries (seq) WHERE event = 'intended'",
    ),
    (
        "entries_proposed",
        false,
        "CREATE INDEX entries_proposed ON {s}.entries (seq) WHERE event = 'proposed'",
    ),
    (
        "entries_of_decision",
        false,
        "CREATE INDEX entries_of_decision ON {s}.entries (decision, event) WHERE decision <> ''",
    ),
    ("entries_of_key", false, "CREATE INDEX entries_of_key ON {s}.entries (key, seq)"),
    ("entries_of_item", false, "CREATE INDEX entries_of_item ON {s}.entries (source, key, seq)"),
    (
        "entries_once_a_decision",
        true,
        "CREATE UNIQUE INDEX entries_once_a_decision ON {s}.entries (decision) WHERE event IN ('intended', 'withdrawn', 'lapsed')",
    ),
    (
        "entries_end_a_decision_once",
        true,
        "CREATE UNIQUE INDEX entries_end_a_decision_once ON {s}.entries (decision) WHERE decision <> '' AND event IN ('applied', 'refused', 'failed')",
    ),
];

/// Functions of triggers: name, whether it acts with its owner's rights, text.
///
/// `place` gives the chain one order: who would add an entry waits for the row of `head`, and only what follows the last
/// entry is taken. Only it may move `head`, so that a cut-off end shows, as `sqlite_sequence` shows it in a file. It writes
/// down who the server let in, and refuses an entry that says another: that word is under the entry's hash.
const FUNCTIONS: [(&str, bool, &str); 3] = [
    (
        "place",
        true,
        "
DECLARE
  last record;
  told text;
BEGIN
  SELECT seq, hash INTO STRICT last FROM {s}.head FOR UPDATE;
  IF NEW.seq <> last.seq + 1 OR NEW.prev <> last.hash THEN
    RAISE EXCEPTION 'the audit grows at its end: entry % does not follow entry %', NEW.seq, last.seq;
  END IF;
  NEW.login := session_user;
  NEW.address := host(inet_client_addr());
  NEW.written_at := clock_timestamp();
  told := '\"recorded_by\":{\"login\":' || to_json(NEW.login) || ',\"address\":' || coalesce(to_json(NEW.address)::text, 'null') || '}}';
  IF right(NEW.body, length(told) + 1) NOT IN (',' || told, '{' || told) THEN
    RAISE EXCEPTION 'the entry does not say that % wrote it', NEW.login;
  END IF;
  IF NEW.event = 'intended' AND EXISTS (
    SELECT 1 FROM {s}.entries WHERE decision = NEW.decision AND event = 'proposed' AND login = NEW.login) THEN
    RAISE EXCEPTION 'the login % proposed it, and nobody approves a proposal of their own', NEW.login;
  END IF;
  UPDATE {s}.head SET seq = NEW.seq, hash = NEW.hash;
  RETURN NEW;
END
",
    ),
    (
        "sign",
        false,
        "
BEGIN
  NEW.login := session_user;
  NEW.address := host(inet_client_addr());
  NEW.written_at := clock_timestamp();
  RETURN NEW;
END
",
    ),
    (
        "stay",
        false,
        "
BEGIN
  RAISE EXCEPTION 'the audit only grows: % cannot be changed, removed or emptied', TG_TABLE_NAME;
END
",
    ),
];

/// Triggers: name, table, function, type as PostgreSQL keeps it, and what makes it. `ALWAYS`: also where somebody sets
/// `session_replication_role`.
const TRIGGERS: [(&str, &str, &str, i16, &str); 5] = [
    (
        "entries_place",
        "entries",
        "place",
        7,
        "BEFORE INSERT ON {s}.entries FOR EACH ROW EXECUTE FUNCTION {s}.place()",
    ),
    (
        "checkpoints_sign",
        "checkpoints",
        "sign",
        7,
        "BEFORE INSERT ON {s}.checkpoints FOR EACH ROW EXECUTE FUNCTION {s}.sign()",
    ),
    (
        "entries_stay",
        "entries",
        "stay",
        58,
        "BEFORE UPDATE OR DELETE OR TRUNCATE ON {s}.entries FOR EACH STATEMENT EXECUTE FUNCTION {s}.stay()",
    ),
    (
        "attachments_stay",
        "attachments",
        "stay",
        58,
        "BEFORE UPDATE OR DELETE OR TRUNCATE ON {s}.attachments FOR EACH STATEMENT EXECUTE FUNCTION {s}.stay()",
    ),
    (
        "checkpoints_stay",
        "checkpoints",
        "stay",
        58,
        "BEFORE UPDATE OR DELETE OR TRUNCATE ON {s}.checkpoints FOR EACH STATEMENT EXECUTE FUNCTION {s}.stay()",
    ),
];

/// What makes an audit.
pub(super) fn making(schema: &str) -> Vec<String> {
    let s = quoted(Engine::Postgres, schema);
    let within = |text: &str| text.replace("{s}", &s);
    let mut all = vec![format!("CREATE SCHEMA IF NOT EXISTS {s}")];
    all.extend(TABLES.iter().map(|(_, made)| within(made)));
    all.extend(INDEXES.iter().map(|(_, _, made)| within(made)));
    for (name, as_owner, text) in FUNCTIONS {
        let rights = if as_owner { "SECURITY DEFINER" } else { "SECURITY INVOKER" };
        let text = within(text);
        all.push(format!(
            "CREATE FUNCTION {s}.{name}() RETURNS trigger LANGUAGE plpgsql {rights} SET search_path = pg_catalog, pg_temp AS $audit${text}$audit$"
        ));
        // Nobody else may hang it on a table of theirs.
        all.push(format!("REVOKE ALL ON FUNCTION {s}.{name}() FROM PUBLIC"));
    }
    for (name, table, _, _, made) in TRIGGERS {
        all.push(format!("CREATE TRIGGER {name} {}", within(made)));
        all.push(format!("ALTER TABLE {s}.{table} ENABLE ALWAYS TRIGGER {name}"));
    }
    all.push(format!("INSERT INTO {s}.about (format) VALUES ({VERSION})"));
    all.push(format!("INSERT INTO {s}.head (seq, hash) VALUES (0, '{}')", crate::domain::audit::GENESIS));
    all
}

/// What lets a role use an audit: to look and to add, and nothing else.
pub(super) fn granting(schema: &str, role: &str) -> Vec<String> {
    let (s, role) = (quoted(Engine::Postgres, schema), quoted(Engine::Postgres, role));
    vec![
        format!("GRANT USAGE ON SCHEMA {s} TO {role}"),
        format!("GRANT SELECT, INSERT ON {s}.entries, {s}.attachments, {s}.checkpoints TO {role}"),
        format!("GRANT SELECT ON {s}.head, {s}.about TO {role}"),
    ]
}

/// A schema whose name needs no thought where it stands in a function's text.
pub(super) fn refuse_odd_name(shown: &Path, schema: &str) -> Result<(), RecordFault> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if !schema.is_empty() && schema.len() <= 63 && schema.chars().all(is_plain) {
        return Ok(());
    }
    Err(fault::of(
        shown,
        &format!("the schema `{}` has a name that is not made", clean_cut(schema, 63)),
        "Name one of letters, digits and `_`: ?schema=NAME in the address.",
    ))
}

/// Makes the audit where it is not there yet, and lets roles use it; says whether it was made.
pub(super) async fn make(
    place: &Place,
    shown: &Path,
    schema: &str,
    roles: &[String],
) -> Result<bool, RecordFault> {
    refuse_odd_name(shown, schema)?;
    let writing = place.to_append().await.map_err(|fault| super::refused::of_place(&fault))?;
    let sql = |fault: &Error| fault_of(shown, fault);
    writing.begin().await.map_err(|fault| sql(&fault))?;
    let client = writing.client();
    refuse_odd_server(client, shown).await?;
    let format = format_of(client).await.map_err(|fault| sql(&fault))?;
    if let Some(format) = format {
        refuse_other_version(shown, format)?;
    } else {
        for statement in making(schema) {
            client.batch_execute(&statement).await.map_err(|fault| sql(&fault))?;
        }
    }
    for role in roles {
        for statement in granting(schema, role) {
            client.batch_execute(&statement).await.map_err(|fault| sql(&fault))?;
        }
    }
    client.batch_execute("COMMIT").await.map_err(|fault| sql(&fault))?;
    Ok(format.is_none())
}

/// The version of the audit there; `None` where there is none.
async fn format_of(client: &Client) -> Result<Option<i32>, Error> {
    let there = client.query_typed_one("SELECT to_regclass('about') IS NOT NULL", &[]).await?;
    if !there.try_get::<_, bool>(0)? {
        return Ok(None);
    }
    value_at(&client.query_typed_one("SELECT format FROM about", &[]).await?, 0).map(Some)
}

pub(super) fn refuse_other_version(shown: &Path, format: i32) -> Result<(), RecordFault> {
    if format == VERSION {
        return Ok(());
    }
    Err(fault::of(
        shown,
        &format!("has version {format}, and this program knows version {VERSION}"),
        "Use the version of `unstuck` that made it, or name another schema.",
    ))
}

async fn refuse_odd_server(client: &Client, shown: &Path) -> Result<(), RecordFault> {
    let asked = "SELECT current_setting('server_version_num')::int4, current_setting('server_encoding')";
    let row = client.query_typed_one(asked, &[]).await.map_err(|fault| fault_of(shown, &fault))?;
    let read = || Ok::<(i32, String), Error>((row.try_get(0)?, row.try_get(1)?));
    let (version, encoding) = read().map_err(|fault| fault_of(shown, &fault))?;
    if version < SERVER_VERSION_MIN {
        let what = format!("the server is too old for an audit (version {}, it takes 12)", version / 10_000);
        return Err(fault::of(shown, &what, "Keep the audit on a newer server, or in a file."));
    }
    if encoding != "UTF8" {
        let what = format!(
            "the database's encoding is {}, and the audit's texts are UTF-8",
            clean_cut(&encoding, 20)
        );
        return Err(fault::of(shown, &what, "Make a database for it: CREATE DATABASE … ENCODING 'UTF8'."));
    }
    Ok(())
}

/// What is not as it was made, in sentences.
pub(super) async fn flaws(client: &Client, schema: &str) -> Result<Vec<String>, Error> {
    let (expected, there) = (objects_made(schema), objects_there(client, schema).await?);
    let lost = expected
        .difference(&there)
        .map(|(kind, name, _)| format!("the {kind} `{name}` is missing or changed"));
    let is_known =
        |kind: &str, name: &str| expected.iter().any(|(known, named, _)| known == kind && named == name);
    let foreign = there.iter().filter(|(kind, name, _)| !is_known(kind, name)).map(|(kind, name, _)| {
        format!("the {kind} `{}` is not of this program", clean_cut(name, TOLD_CHARS_MAX))
    });
    Ok(lost.chain(foreign).collect())
}

/// Kind, name, and what it is.
type Object = (String, String, String);

fn objects_made(schema: &str) -> BTreeSet<Object> {
    let object = |kind: &str, name: &str, is: String| (kind.to_owned(), name.to_owned(), is);
    let within = |text: &str| text.replace("{s}", &quoted(Engine::Postgres, schema));
    let mut all = BTreeSet::new();
    for (table, _) in TABLES {
        all.insert(object("table", table, "p,false,false".to_owned()));
    }
    for (index, is_unique, _) in INDEXES {
        all.insert(object("index", index, format!("{is_unique},true")));
    }
    for (index, is_unique) in [
        ("about_pkey", true),
        ("head_pkey", true),
        ("entries_pkey", true),
        ("attachments_pkey", true),
        ("checkpoints_pkey", true),
        ("checkpoints_line_key", true),
    ] {
        all.insert(object("index", index, format!("{is_unique},true")));
    }
    for (function, as_owner, text) in FUNCTIONS {
        all.insert(object("function", function, format!("{as_owner}:{}", within(text))));
    }
    for (trigger, table, function, kind, _) in TRIGGERS {
        all.insert(object("trigger", trigger, format!("{table},{function},{kind},A")));
    }
    all
}

/// Everything in the schema that could change what is written or read there.
async fn objects_there(client: &Client, schema: &str) -> Result<BTreeSet<Object>, Error> {
    let asked = "
SELECT 'table', relname::text, relpersistence::text || ',' || relrowsecurity || ',' || relhasrules
  FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')
UNION ALL SELECT 'index', c.relname::text, i.indisunique || ',' || (i.indisvalid AND i.indisready)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = $1::regnamespace
UNION ALL SELECT 'function', proname::text, prosecdef || ':' || prosrc
  FROM pg_proc WHERE pronamespace = $1::regnamespace
UNION ALL SELECT 'trigger', t.tgname::text, c.relname || ',' || p.proname || ',' || t.tgtype || ',' || t.tgenabled::text
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_proc p ON p.oid = t.tgfoid
  WHERE c.relnamespace = $1::regnamespace AND NOT t.tgisinternal";
    let quoted = quoted(Engine::Postgres, schema);
    let rows = client.query_typed(asked, &[(&quoted, Type::TEXT)]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))).collect()
}
