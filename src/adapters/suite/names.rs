//! Names of tables and columns are names, whatever is in them.

use super::*;
use crate::domain::decision::Choice;
use crate::ports::source::Applied;
use pretty_assertions::assert_eq;
use rstest::rstest;

/// A table and three columns of odd names, read and written.
async fn read_and_written(on: Engine, table: &str, key: &str, status: &str, time: &str) {
    let quote = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let create = format!(
        "CREATE TABLE {table} ({key} {{name}} PRIMARY KEY, {status} {{name}}, {time} {{name}});
         INSERT INTO {table} VALUES ('a', 'running', '2026-05-04 10:00:00'), ('it''s', 'failed', NULL)",
        table = quote(table),
        key = quote(key),
        status = quote(status),
        time = quote(time),
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let text = |name: &str| serde_json::to_string(name).unwrap();
    let (sql_status, sql_time) = (text(&db.quoted(status)), text(&db.quoted(time)));
    let statement = format!(
        "\"UPDATE {{table}} SET {} = 'done', {} = :now WHERE {{unchanged}}\"",
        sql_status.trim_matches('"'),
        // A quote at the end of the name itself is escaped, so only the JSON's own are taken off.
        sql_time.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap(),
    );
    let statement = statement.replace(
        sql_status.trim_matches('"'),
        sql_status.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap(),
    );
    let (table_text, key, status, time) = (text(table), text(key), text(status), text(time));
    let source = db.through(&format!(
        r#"
        table = {table_text}
        key = {key}
        status = {status}
        version = [{status}, {time}]
        times = {{ updated = {time} }}
        state = [
            {{ is = "running", when = {{ {status} = "running" }} }},
            {{ is = "failed", when = {{ {status} = ["failed", "it's"] }} }},
            {{ is = "done", when = {{ {status} = "done" }} }},
        ]
        [decisions]
        late_writer = "guarded"
        done = {{ leaves = "done", statements = [{{ rows = 1, sql = {statement} }}] }}
        "#
    ));
    assert_eq!(keys(&scan_all(&*source, &page_of(1)).await), ["a", "it's"]);
    let change = change_of(&reading(&*source, "it's").await);
    let applied = source.apply(Choice::MarkDone, &change).await.unwrap();
    assert!(matches!(applied, Applied::Written { .. }), "{applied:?}");
    let rows = ["a|running|2026-05-04 10:00:00", "it's|done|2026-11-30T08:00:00.250000"];
    assert_eq!(db.dump(table).await, rows);
    let lines = source.examine().await;
    assert!(lines.iter().all(|line| line.health == crate::ports::source::Health::Good), "{lines:?}");
}

#[rstest]
#[case::double_quotes("we\"ird; drop", "the \"key\"", "sta\"tus", "updated at")]
#[case::backticks("we`ird", "the`key", "``", "`at`")]
#[case::spaces("two words", " k", "s s", "u  u")]
#[case::letters("Aufträge", "schlüssel", "状態", "время")]
#[case::percent("50%", "%s", "%", "%(u)s")]
#[case::places("a:b", ":now", ":seen_k", "u?")]
#[case::numbered("$1", "$2", "?", "?1")]
#[case::backslash("a\\b", "k\\", "s\\'", "u'")]
#[case::key_words("select", "from", "where", "order")]
#[case::capitals("Jobs", "Key", "STATUS", "updatedAt")]
#[case::dots("a.b", "k.k", "s.", "u.u")]
#[case::braces("{x}", "{k}", "{{s}}", "{u}")]
#[tokio::test]
async fn odd_names(
    #[case] table: &str,
    #[case] key: &str,
    #[case] status: &str,
    #[case] time: &str,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    read_and_written(on, table, key, status, time).await;
}

/// PostgreSQL tells names apart by case: the one that the preset writes is the one that is meant.
#[tokio::test]
async fn names_that_differ_in_case_are_two() {
    let create =
        "CREATE TABLE t (\"K\" integer, k text PRIMARY KEY, \"S\" integer, s text, \"V\" integer, v text);
         INSERT INTO t VALUES (1, 'a', 1, 'failed', 1, 'x')";
    let Some(db) = Db::with(Postgres, create).await else { return };
    let source = db.through(VERSIONED);
    let change = change_of(&reading(&*source, "a").await);
    db.run("UPDATE t SET v = 'y'").await;
    assert!(matches!(source.apply(Choice::MarkDone, &change).await.unwrap(), Applied::Changed(Some(_))));
    let change = change_of(&reading(&*source, "a").await);
    assert!(matches!(source.apply(Choice::MarkDone, &change).await.unwrap(), Applied::Written { .. }));
    assert_eq!(db.dump("t").await, ["1|a|1|done|1|y"]);
}

/// Two columns whose names become one parameter, of which the preset names only one.
#[rstest]
#[tokio::test]
async fn a_column_that_the_preset_does_not_name_is_not_taken_for_one_that_it_does(
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let create = "CREATE TABLE t (\"the v\" {int}, k {int} PRIMARY KEY, s {text}, the_v {int});
         INSERT INTO t VALUES (1, 7, 'failed', 2)";
    let Some(db) = Db::with(on, create).await else { return };
    let source = db.through(&VERSIONED.replace("[\"v\"]", "[\"the_v\"]"));
    let change = change_of(&reading(&*source, "7").await);
    let applied = source.apply(Choice::MarkDone, &change).await.unwrap();
    assert!(matches!(applied, Applied::Written { .. }), "{applied:?}");
}

/// A table is called the same by every source that reads it, and otherwise than its namesake in another database.
#[rstest]
#[tokio::test]
async fn a_table_has_one_name_whatever_its_source_is(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let Some(db) = Db::with(on, &format!("{TABLES}{JOBS}")).await else { return };
    let Some(other) = Db::with(on, TABLES).await else { return };
    let mut names = Vec::new();
    for source in [
        db.preset("jobs"),
        db.through(
            &VERSIONED
                .replace("\"t\"", "\"jobs\"")
                .replace("\"k\"", "\"key\"")
                .replace("\"s\"", "\"status\"")
                .replace("[\"v\"]", "[\"updated_at\"]")
                .replace("{ s =", "{ status ="),
        ),
        db.preset("sent_emails"),
        other.preset("jobs"),
    ] {
        assert_eq!(source.facts().table, None, "nothing was read yet");
        source.scan(&everything(), None).await.unwrap();
        names.push(source.facts().table.clone().unwrap());
    }
    assert_eq!(names[0], names[1]);
    assert_ne!(names[0], names[2]);
    assert_ne!(names[0], names[3]);
    let end = match on {
        Sqlite | Mysql => "/jobs",
        Postgres => "/public.jobs",
    };
    assert!(names[0].starts_with(on.as_str()) && names[0].ends_with(end), "{}", names[0]);
}
