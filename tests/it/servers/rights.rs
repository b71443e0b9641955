//! Servers that let us in and do not show everything, or not let us write.

use super::Desk;
use super::postgres::Postgres;
use pretty_assertions::assert_eq;

const NAME_IT: &str = "Name table and schema in the configuration; `unstuck doctor` lists those there are.";
const GRANT_IT: &str = "GRANT it: SELECT on the tables to look, and UPDATE, DELETE or INSERT to decide.";
const POLICY: &str = "Connect as the table's owner or a role with BYPASSRLS, or CREATE POLICY for this one.";

fn desk(server: &Postgres) -> Desk {
    Desk::new(&server.url("ana:s3cr3t-of-ana"), "")
}

/// What a fault of this server begins with.
fn told(server: &Postgres, what: &str) -> String {
    format!("{}: {what}", server.shown("ana"))
}

#[test]
fn a_table_that_there_is_not() {
    let Some(server) = Postgres::start() else { return };
    server.sql("ALTER TABLE jobs RENAME TO tasks");
    let desk = desk(&server);
    desk.tells(2, &told(&server, "has no table `jobs`"), NAME_IT);
    // And which there are.
    let (_, health, tables) = desk.doctor("tables there are");
    assert_eq!(
        (health.as_str(), tables.as_str()),
        ("doubtful", "tasks(key, status, updated_at, last_error)")
    );
}

#[test]
fn a_table_in_a_schema_that_is_not_looked_into() {
    let Some(server) = Postgres::start() else { return };
    server.sql("CREATE SCHEMA app; GRANT USAGE ON SCHEMA app TO ana; ALTER TABLE jobs SET SCHEMA app");
    let desk = desk(&server);
    desk.tells(2, &told(&server, "has no table `jobs`"), NAME_IT);
    let (_, _, tables) = desk.doctor("tables there are");
    assert_eq!(tables, "app.jobs(key, status, updated_at, last_error)");
}

#[test]
fn a_column_that_there_is_not() {
    let Some(server) = Postgres::start() else { return };
    server.sql("ALTER TABLE jobs RENAME COLUMN last_error TO error");
    desk(&server).tells(
        2,
        &told(&server, "table `jobs` has no column `last_error`"),
        "Map the columns in the configuration; `unstuck doctor` lists those there are.",
    );
}

#[test]
fn a_role_that_may_not_read_the_table() {
    let Some(server) = Postgres::start() else { return };
    server.sql("REVOKE ALL ON jobs FROM ana");
    let what = told(&server, "the role lacks a right (permission denied for table jobs)");
    desk(&server).tells(3, &what, GRANT_IT);
}

#[test]
fn a_role_that_may_not_read_one_column() {
    let Some(server) = Postgres::start() else { return };
    server.sql("REVOKE SELECT ON jobs FROM ana; GRANT SELECT (key, status, updated_at) ON jobs TO ana");
    let what = told(&server, "the role lacks a right (permission denied for table jobs)");
    desk(&server).tells(3, &what, GRANT_IT);
}

#[test]
fn a_role_that_may_not_use_the_schema() {
    let Some(server) = Postgres::start() else { return };
    server.sql("CREATE SCHEMA app; ALTER TABLE jobs SET SCHEMA app");
    let url = server.url("ana:s3cr3t-of-ana");
    let desk = Desk::new(&format!("{url}?schema=app"), "");
    let place = format!("{}?schema=app", server.shown("ana"));
    let what = "the role lacks a right (USAGE on schema `app`, which has a table `jobs`)";
    desk.tells(3, &format!("{place}: {what}"), "GRANT it: USAGE on the schema, SELECT on the tables to look, and UPDATE, DELETE or INSERT to decide.");
}

/// To look is allowed, to decide is not: the decision fails, is on record as that, and nothing was written.
#[test]
fn a_role_that_may_only_read() {
    let Some(server) = Postgres::start() else { return };
    server.sql("REVOKE INSERT, UPDATE, DELETE ON jobs FROM ana");
    let desk = desk(&server);
    assert_eq!(desk.listed(), ["inv-1", "inv-2", "mail-1"]);
    let (code, health, finding) = desk.doctor("decisions");
    assert_eq!((code, health.as_str()), (Some(0), "doubtful"));
    assert_eq!(finding, "this role may not UPDATE and DELETE: decisions will be refused");
    let ran = desk.run("decide inv-1 --source billing --done --override --reason seen");
    let why = told(&server, "the role lacks a right (permission denied for table jobs)");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(
        ran.err.lines().next(),
        Some(&*format!("unstuck: inv-1: mark done failed: nothing was written: {why}"))
    );
    assert_eq!(server.status_of("inv-1"), "running");
    let events = desk.run("audit list --json").each("event");
    assert_eq!(events, ["failed", "intended"]);
    desk.hides_passwords();
}

/// Case 28: what read-only looks at it looks at by reading alone, as the server's own log of every statement shows; and a
/// role that may do no more is enough for all of it.
#[test]
fn case_28_read_only_sends_no_statement_that_writes() {
    let settings = ["log_statement = 'all'", "log_line_prefix = '%u> '", "logging_collector = off"];
    let Some(server) = Postgres::empty(&settings) else { return };
    server.sql(super::postgres::JOBS);
    server.sql("REVOKE INSERT, UPDATE, DELETE ON jobs FROM ana");
    let desk = desk(&server);
    for looks in [
        "list",
        "check --all",
        "check inv-1",
        "doctor",
        "decide inv-1 --source billing --done --override --reason=x --dry-run",
    ] {
        let ran = desk.run(&format!("--read-only {looks}"));
        assert!(!ran.err.contains("lacks a right"), "{looks}: {ran:?}");
    }
    for decides in ["--done", "--retry", "--escalate"] {
        let ran =
            desk.run(&format!("--read-only decide inv-1 --source billing {decides} --override --reason=x"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
    }
    assert_eq!(server.status_of("inv-1"), "running");
    let log = server.log();
    let mark = regex::Regex::new(r"(?m)^(\w*)> ([A-Z]+):  ").unwrap();
    let marks: Vec<_> = mark.captures_iter(&log).collect();
    let ends = marks.iter().skip(1).map(|next| next.get_match().start()).chain([log.len()]);
    let logged = marks.iter().zip(ends).map(|(mark, end)| (mark, &log[mark.get_match().end()..end]));
    let of_ana = logged.filter(|(mark, _)| (&mark[1], &mark[2]) == ("ana", "LOG")).map(|(_, logged)| logged);
    let sent: Vec<&str> = of_ana
        .filter_map(|logged| {
            let is_one = logged.starts_with("statement: ") || logged.starts_with("execute ");
            logged.split_once(": ").filter(|_| is_one).map(|(_, sql)| sql)
        })
        .flat_map(|sql| sql.split(';'))
        .map(str::trim)
        .filter(|sql| sql.chars().any(char::is_alphabetic))
        .collect();
    assert!(sent.len() > 10, "{log}");
    let harmless = [
        "BEGIN", "SELECT", "SET", "SHOW", "DECLARE", "FETCH", "CLOSE", "ROLLBACK", "COMMIT", "WITH", "RESET",
    ];
    for sql in sent {
        let word = sql.split(|letter: char| !letter.is_ascii_alphabetic()).find(|word| !word.is_empty());
        assert!(word.is_some_and(|word| harmless.contains(&&*word.to_uppercase())), "{sql}");
        assert!(!sql.starts_with("BEGIN") || sql.contains("READ ONLY"), "{sql}");
    }
}

#[test]
fn row_level_security_without_a_policy() {
    let Some(server) = Postgres::start() else { return };
    server.sql("ALTER TABLE jobs ENABLE ROW LEVEL SECURITY");
    let what = told(&server, "row-level security hides every row of `jobs` from this role");
    desk(&server).tells(3, &what, POLICY);
}

#[test]
fn row_level_security_with_a_policy_for_somebody_else() {
    let Some(server) = Postgres::start() else { return };
    server.sql(
        "CREATE ROLE eva; ALTER TABLE jobs ENABLE ROW LEVEL SECURITY; CREATE POLICY hers ON jobs TO eva USING (true)",
    );
    let what = told(&server, "row-level security hides every row of `jobs` from this role");
    desk(&server).tells(3, &what, POLICY);
}

/// Such as one for a tenant that this session does not name.
#[test]
fn row_level_security_with_a_policy_that_shows_nothing() {
    let Some(server) = Postgres::start() else { return };
    server.sql(
        "ALTER TABLE jobs ENABLE ROW LEVEL SECURITY; \
         CREATE POLICY own ON jobs USING (key = current_setting('app.tenant', true))",
    );
    let what = told(&server, "row-level security shows this role no row of `jobs`, which holds some");
    desk(&server).tells(3, &what, POLICY);
}

/// Then it is listed, and `doctor` says that it may not be all.
#[test]
fn row_level_security_with_a_policy_that_shows_some() {
    let Some(server) = Postgres::start() else { return };
    server
        .sql("ALTER TABLE jobs ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON jobs USING (key <> 'inv-1')");
    let desk = desk(&server);
    assert_eq!(desk.listed(), ["inv-2", "mail-1"]);
    let (code, health, finding) = desk.doctor("hidden rows");
    assert_eq!((code, health.as_str()), (Some(0), "doubtful"));
    assert_eq!(finding, "row-level security is on for `jobs`: this role sees only what a policy lets it see");
}

/// A policy may show a row and not let it be written: no row is changed, so nothing is.
#[test]
fn row_level_security_that_does_not_let_a_row_be_written() {
    let Some(server) = Postgres::start() else { return };
    server
        .sql("ALTER TABLE jobs ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON jobs FOR SELECT USING (true)");
    let desk = desk(&server);
    assert_eq!(desk.listed(), ["inv-1", "inv-2", "mail-1"]);
    let ran = desk.run("decide inv-1 --source billing --done --override --reason seen");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let told = "inv-1: mark done failed: nothing was written: statement 1 would have changed 0 rows and must change 1";
    assert!(ran.err.contains(told), "{}", ran.err);
    assert_eq!(server.status_of("inv-1"), "running");
}

/// Who owns the table sees all of it.
#[test]
fn row_level_security_for_the_owner_and_for_an_empty_table() {
    let Some(server) = Postgres::start() else { return };
    server.sql("ALTER TABLE jobs OWNER TO ana; ALTER TABLE jobs ENABLE ROW LEVEL SECURITY");
    assert_eq!(desk(&server).listed(), ["inv-1", "inv-2", "mail-1"]);
    server.sql(
        "ALTER TABLE jobs OWNER TO postgres; GRANT SELECT ON jobs TO ana; TRUNCATE jobs; CREATE POLICY own ON jobs USING (key <> 'inv-1')",
    );
    assert_eq!(desk(&server).listed(), ["mail-1"]);
}

/// The statements of the page on sources, one block after the other.
#[test]
fn the_rights_that_the_page_names_are_enough() {
    let Some(server) = Postgres::start() else { return };
    let page = include_str!("../../../docs/sources.md");
    let blocks: Vec<&str> =
        page.split("```sql\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect();
    let [look, decide, policy] = blocks[..] else { panic!("not three blocks of SQL: {blocks:?}") };
    server.sql(look);
    server.sql("ALTER ROLE unstuck PASSWORD 's3cr3t'");
    let desk = Desk::new(&server.url("unstuck:s3cr3t"), "");
    assert_eq!(desk.listed(), ["inv-1", "inv-2", "mail-1"]);
    let choose =
        |choice: &str| desk.run(&format!("decide {choice} --source billing --override --reason seen")).code;
    assert_eq!(choose("inv-1 --done"), Some(1));
    server.sql(decide);
    assert_eq!((choose("inv-1 --done"), choose("inv-2 --retry")), (Some(0), Some(0)));
    assert_eq!((server.status_of("inv-1").as_str(), server.status_of("inv-2").as_str()), ("done", ""));
    server.sql("UPDATE jobs SET status = 'failed'; ALTER TABLE jobs ENABLE ROW LEVEL SECURITY");
    assert_eq!(desk.run("list").code, Some(3));
    server.sql(policy);
    assert_eq!(desk.listed(), ["inv-3", "inv-1", "mail-1"]);
}
