//! Who holds an item, since when, and whether it is stuck: over the tables of the systems that the cases come from.

use crate::databases::Database;
use crate::world::{Ran, World};
use pretty_assertions::assert_eq;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use unstuck::preset::source::Engine;

/// A system's tables with the rows of its own tests, and some more; `None` where its engine has no server here.
fn system(engine: Engine, file: &str, more: &str) -> Option<Database> {
    let database = Database::new(engine)?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/systems");
    database.execute(&std::fs::read_to_string(folder.join(file)).unwrap());
    database.execute(more);
    Some(database)
}

fn run(database: &Database, arguments: &str) -> Ran {
    World::new().run(&format!("{arguments} --db {}", database.url()))
}

fn listed(database: &Database) -> Vec<Value> {
    let ran = run(database, "list --json");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    ran.json()
}

fn line_of<'a>(lines: &'a [Value], key: &str) -> &'a Value {
    lines.iter().find(|line| line["key"] == key).unwrap_or_else(|| panic!("no {key} in {lines:#?}"))
}

fn keys(lines: &[Value]) -> BTreeSet<&str> {
    lines.iter().map(|line| line["key"].as_str().unwrap()).collect()
}

#[test]
fn case_01_whose_owner_is_gone_is_listed_with_node_start_and_age_and_no_other() {
    let more = "DELETE FROM oban_jobs;
        INSERT INTO oban_jobs (id, state, worker, attempt, max_attempts, attempted_at, attempted_by, errors, meta) OVERRIDING SYSTEM VALUE
        SELECT i, 'executing', 'app.Charge', 1, 20, timezone('UTC', now()) - interval '2 hours',
               CASE WHEN i <= 10 THEN '{web-1,00000000-0000-0000-0000-0000000000ff}'::text[]
                    ELSE '{a,00000000-0000-0000-0000-00000000000a}' END, '[]', '{}'
          FROM generate_series(1, 12) AS i";
    let Some(database) = system(Engine::Postgres, "oban.python.postgres.sql", more) else { return };
    let lines = listed(&database);
    let expected: Vec<String> = (1..=10).map(|id| id.to_string()).collect();
    assert_eq!(keys(&lines), expected.iter().map(String::as_str).collect());
    for line in &lines {
        assert_eq!(line["finding"], "stuck");
        assert!(line["notes"].to_string().contains("Its owner on node web-1 is gone."), "{line}");
        assert!(line["since"].as_str().is_some_and(|since| since.ends_with('Z')), "{line}");
        assert!((7_200..7_800).contains(&line["age_seconds"].as_i64().unwrap()), "{line}");
    }
    // Whoever lives is told as that by name.
    let live = run(&database, "check 11 --json").json().remove(0);
    assert_eq!(live["finding"], Value::Null);
    assert_eq!(live["notes"], json!(["It runs for 2 h, and its holder lives, as its source shows."]));
}

#[test]
fn case_02_thousands_of_running_rows_are_counted_exactly_and_listed_oldest_first() {
    let more = "DELETE FROM river_job;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5133)
        INSERT INTO river_job (id, state, kind, queue, attempt, attempted_at, created_at)
        SELECT i, 'running', 'kind_' || (i % 42), 'queue_' || (i % 7), 1,
               strftime('%Y-%m-%d %H:%M:%f', 'now', '-' || (2 + i * 7919 % 2182) || ' hours'), datetime('now', '-92 days') FROM n;";
    let Some(database) = system(Engine::Sqlite, "river.sqlite.sql", more) else { return };
    let lines = listed(&database);
    assert_eq!(lines.len(), 5133);
    let ages: Vec<i64> = lines.iter().map(|line| line["age_seconds"].as_i64().unwrap()).collect();
    assert!(ages.is_sorted_by(|a, b| a >= b), "oldest first");
    let kinds: BTreeSet<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.len(), 42);
    // A kind and an age are counted by the filter.
    let of_kind = lines.iter().filter(|line| line["kind"] == "kind_7").count();
    let world = World::new();
    let filtered = world.run_all(&["list", "--json", "--where", "kind:kind_7", "--db", &database.url()]);
    assert_eq!((filtered.json().len(), of_kind > 100), (of_kind, true));
}

#[test]
fn case_03_a_kind_without_a_limit_is_not_stuck_and_says_so_where_it_is_asked_about() {
    let world = World::new();
    world.database(
        "jobs.db",
        &format!(
            "{} INSERT INTO jobs SELECT 'long', 'running', strftime('%Y-%m-%dT%H:%M:%f', 'now', '-30 hours'), NULL;",
            crate::world::TABLES
        ),
    );
    let with = |stuck_after: &str| {
        let kind = format!("[kinds.jobs]\nrisk = \"check_first\"\nstuck_after = \"{stuck_after}\"\n");
        world.write(
            "config.toml",
            format!("{kind}[[sources]]\nname = \"jobs\"\nurl = \"sqlite://jobs.db\"\npreset = \"jobs\"\nkind = \"jobs\"\n"),
        );
        world.run("list --json --config config.toml")
    };
    assert_eq!(with("30m").each("key"), ["long"]);
    let ran = with("never");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    let told = world.run("check long --json --config config.toml").json().remove(0);
    assert_eq!(
        (&told["finding"], &told["notes"]),
        (&Value::Null, &json!(["It runs for 1 d 6 h, and no limit is set for it."]))
    );
    let doctor = world.run("doctor --config config.toml");
    assert!(doctor.out.contains("never stuck by its age"), "{}", doctor.out);
}

#[test]
fn case_04_08_and_49_a_claim_whose_process_row_is_gone_is_stuck_and_a_job_without_any_row_is_kept() {
    let more = "INSERT INTO solid_queue_jobs (id, queue_name, class_name, arguments, created_at, updated_at)
        SELECT id, 'default', 'ChargeJob', '{}', datetime('now', '-3 hours'), datetime('now', '-3 hours')
          FROM (SELECT 21 AS id UNION SELECT 22 UNION SELECT 23 UNION SELECT 24);
        INSERT INTO solid_queue_claimed_executions (id, job_id, process_id, created_at)
        SELECT 100 + id, id, 7, datetime('now', '-2 minutes') FROM solid_queue_jobs WHERE id BETWEEN 21 AND 23;
        INSERT INTO solid_queue_processes (id, kind, last_heartbeat_at, pid, hostname, created_at, name)
        VALUES (9, 'Worker', datetime('now', '-3 days'), 103, 'c', datetime('now', '-4 days'), 'worker-9');
        INSERT INTO solid_queue_claimed_executions (id, job_id, process_id, created_at)
        VALUES (124, 24, 9, datetime('now', '-2 minutes'));";
    let Some(database) = system(Engine::Sqlite, "solid_queue.sqlite.sql", more) else { return };
    let lines = listed(&database);
    for key in ["21", "22", "23"] {
        let line = line_of(&lines, key);
        assert_eq!(line["finding"], "stuck");
        assert!(line["notes"].to_string().contains("Its process 7 has no row any more."), "{line}");
    }
    let without = line_of(&lines, "6");
    assert_eq!(without["finding"], "stuck");
    assert!(without["notes"].to_string().contains("its process has no row any more"), "{without}");
    // The owner has a row and has been silent for three days.
    let silent = line_of(&lines, "24");
    assert_eq!(silent["finding"], "stuck");
    assert_eq!(silent["notes"], json!(["Whoever held it is gone, as its source shows."]));
    // No table of the queue knows it any more; the jobs' own does.
    let lost = line_of(&lines, "9");
    assert_eq!((&lost["status"], &lost["state"]), (&json!("lost"), &json!("dead")));
}

#[test]
fn case_05_a_discarded_job_with_an_open_attempt_is_one_item_that_says_so() {
    let more = "INSERT INTO good_job_executions (created_at, updated_at, active_job_id, job_class)
        VALUES (now(), now(), '00000000-0000-0000-0000-000000000002', 'ChargeJob')";
    let Some(database) = system(Engine::Postgres, "good_job.postgres.sql", more) else { return };
    let lines = listed(&database);
    let key = "00000000-0000-0000-0000-000000000002";
    assert_eq!(lines.iter().filter(|line| line["key"] == key).count(), 1);
    let line = line_of(&lines, key);
    assert_eq!(line["finding"], "ambiguous");
    assert!(line["notes"].to_string().contains("The record of its last attempt disagrees"), "{line}");
    let whole = line_of(&lines, "00000000-0000-0000-0000-000000000007");
    assert!(!whole["notes"].to_string().contains("disagrees"), "{whole}");
}

#[test]
fn case_06_an_owner_that_is_silent_for_20_days_is_told_with_its_age_and_no_promise_of_a_retry() {
    let more = "UPDATE hangfire.state SET createdat = now() - interval '20 days 1 minute' WHERE id = 109;
        UPDATE hangfire.server SET lastheartbeat = now() - interval '20 days' WHERE id = 'b:1:x'";
    let Some(database) = system(Engine::Postgres, "hangfire.postgres.sql", more) else { return };
    let lines = listed(&database);
    let line = line_of(&lines, "1");
    assert_eq!(line["finding"], "stuck");
    assert!(line["notes"].to_string().contains("No automatic retry of it is visible."), "{line}");
    let text = run(&database, "list").out;
    assert!(text.lines().any(|line| line.contains("20 d")), "{text}");
    // One whose server lives is no finding.
    assert!(!keys(&lines).contains("5"));
}

#[test]
fn case_07_a_lock_tells_its_end_and_that_its_owner_is_not_known() {
    let Some(database) = system(Engine::Postgres, "graphile_worker.postgres.sql", "") else { return };
    let stuck = listed(&database);
    let note = line_of(&stuck, "8")["notes"].to_string();
    assert!(
        note.contains("Its lock ends at 20") && note.contains("whether worker pool-1 lives is not known."),
        "{note}"
    );
    // By a policy that gives it the four hours of its lock it is not stuck.
    let world = World::new();
    let config = format!(
        "[[sources]]\nname = \"g\"\nurl = \"{}\"\npreset = \"graphile_worker\"\n\
         [kinds.refund]\nrisk = \"check_first\"\nstuck_after = \"4h\"\n",
        database.url()
    );
    world.write("config.toml", config);
    let ran = world.run("list --json --config config.toml --where finding:stuck");
    assert_eq!(ran.each("key"), ["1"], "{}", ran.err);
    let told = world.run("check 8 --json --config config.toml").json().remove(0);
    let notes = told["notes"].to_string();
    assert!(
        told["finding"].is_null() && notes.contains("and may for 4 h.") && notes.contains("Its lock ends at"),
        "{told}"
    );
}

#[test]
fn case_09_a_fresh_second_attempt_is_not_stuck_by_its_first() {
    let more = "UPDATE procrastinate_jobs SET worker_id = NULL WHERE id = 1;
        DELETE FROM procrastinate_events WHERE job_id = 1;
        INSERT INTO procrastinate_events (job_id, type, at) VALUES
            (1, 'deferred', now() - interval '7 hours'), (1, 'started', now() - interval '6 hours'),
            (1, 'deferred_for_retry', now() - interval '10 minutes'), (1, 'started', now() - interval '5 minutes')";
    let Some(database) = system(Engine::Postgres, "procrastinate.postgres.sql", more) else { return };
    assert!(!keys(&listed(&database)).contains("1"));
    let told = run(&database, "check 1 --json").json().remove(0);
    assert_eq!(told["finding"], Value::Null);
    let note = told["notes"][0].as_str().unwrap();
    assert!(note.starts_with("It runs for 5 min") && note.ends_with("and may for 30 min."), "{note}");
}

#[test]
fn case_31_a_time_is_the_same_after_a_restart() {
    let Some(database) = system(Engine::Sqlite, "river.sqlite.sql", "") else { return };
    let told = || -> Vec<(Value, Value)> {
        listed(&database).into_iter().map(|line| (line["key"].clone(), line["since"].clone())).collect()
    };
    let first = told();
    assert!(
        first.iter().all(|(_, since)| since.as_str().is_some_and(|text| text.ends_with('Z'))),
        "{first:?}"
    );
    assert_eq!(told(), first);
}

#[test]
fn case_32_a_snoozed_job_waits_and_is_no_finding() {
    let more = "INSERT INTO river_job (id, state, kind, attempt, attempted_at, created_at, scheduled_at)
        VALUES (32, 'scheduled', 'charge', 1, datetime('now', '-2 hours'), datetime('now', '-3 hours'), datetime('now', '+2 hours'))";
    let Some(database) = system(Engine::Sqlite, "river.sqlite.sql", more) else { return };
    assert!(!keys(&listed(&database)).contains("32"));
    let told = run(&database, "check 32 --json");
    let line = told.json().remove(0);
    assert_eq!((&line["status"], &line["state"]), (&json!("scheduled"), &json!("pending")));
    assert!(line["age_seconds"].as_i64().is_none_or(|age| age >= 0), "{line}");
}

#[test]
fn case_50_the_rows_own_limit_wins_over_the_policys() {
    let sql = |minutes: i32| {
        format!(
            "UPDATE pgboss.job SET started_on = now() - interval '{minutes} minutes', expire_seconds = 7200 WHERE state = 'active'"
        )
    };
    let Some(database) = system(Engine::Postgres, "pg_boss_26.postgres.sql", &sql(90)) else { return };
    let stuck =
        || listed(&database).into_iter().filter(|line| line["finding"] == "stuck").collect::<Vec<_>>();
    assert_eq!(stuck(), Vec::<Value>::new());
    let key =
        database.first("SELECT name || '/' || id FROM pgboss.job WHERE state = 'active' ORDER BY id LIMIT 1");
    let told = run(&database, &format!("check {key} --json")).json().remove(0);
    let notes = told["notes"].to_string();
    assert!(notes.contains("It runs for 1 h 30 min, and its lease ends in 29 min"), "{told}");
    database.execute(&sql(121));
    let lines = stuck();
    assert!(!lines.is_empty());
    assert!(
        lines.iter().all(|line| line["notes"].to_string().contains("Its lease ended 1 min")),
        "{lines:#?}"
    );
}

#[test]
fn case_51_what_a_stuck_item_keeps_waiting_is_counted_and_settling_it_is_one_decision() {
    let more = "INSERT INTO graphile_worker._private_jobs (id, job_queue_id, task_id, payload, run_at, attempts, max_attempts, created_at, updated_at)
        OVERRIDING SYSTEM VALUE SELECT i, 1, 2, '{}', now(), 0, 25, now(), now() FROM generate_series(21, 24) AS i";
    let Some(database) = system(Engine::Postgres, "graphile_worker.postgres.sql", more) else { return };
    let lines = listed(&database);
    let stuck = line_of(&lines, "1");
    assert!(stuck["notes"].to_string().contains("It blocks 5 jobs of its queue."), "{stuck}");
    let world = World::new();
    let config = format!(
        "[audit]\npath = \"audit.db\"\n[[sources]]\nname = \"g\"\nurl = \"{}\"\npreset = \"graphile_worker\"\n",
        database.url()
    );
    world.write("config.toml", config);
    let ran = world.run("--config config.toml decide 1 --source g --retry --override --reason dead");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let entries = world.run("--config config.toml audit list --json").json();
    let decisions: BTreeSet<&str> = entries.iter().filter_map(|entry| entry["decision"].as_str()).collect();
    assert_eq!(decisions.len(), 1);
    let free = database
        .first("SELECT count(*) FROM graphile_worker._private_job_queues WHERE id = 1 AND locked_at IS NULL");
    assert_eq!(free, "1", "its queue goes on");
}

/// How many rows of a table were read so far; the server counts them when a session ends.
fn rows_read(database: &Database, table: &str) -> i64 {
    let sql = format!(
        "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = '{table}'"
    );
    let mut told: Vec<i64> = Vec::new();
    // Until it has said the same for a while.
    while told.len() < 8 || told[told.len() - 8..].iter().any(|count| Some(count) != told.last()) {
        told.push(database.first(&sql).parse().unwrap());
        std::thread::sleep(std::time::Duration::from_millis(250));
    }
    told[told.len() - 1]
}

#[test]
fn case_39_and_62_finished_jobs_are_not_read() {
    let more = "CREATE INDEX index_solid_queue_jobs_on_finished_at ON solid_queue_jobs (finished_at);
        INSERT INTO solid_queue_jobs (id, queue_name, class_name, arguments, finished_at, created_at, updated_at)
        SELECT i, 'default', 'ChargeJob', '{}', now(), now(), now() FROM generate_series(1001, 21000) AS i;
        ANALYZE solid_queue_jobs";
    let Some(database) = system(Engine::Postgres, "solid_queue.postgres.sql", more) else { return };
    let before = rows_read(&database, "solid_queue_jobs");
    let lines = listed(&database);
    assert_eq!(keys(&lines), BTreeSet::from(["1", "6", "10", "2", "7", "9", "11"]));
    let read = rows_read(&database, "solid_queue_jobs") - before;
    assert!((1..1_000).contains(&read), "{read} rows were read");
}

/// Oban's own indexes on the state, and 200,000 completed jobs beside 40 whose node died. With 5,000,000 of them the server
/// reads its table by the same ones.
const MANY_OBAN_JOBS: &str = "DELETE FROM oban_jobs;
    INSERT INTO oban_jobs (id, state, worker, attempt, attempted_at, attempted_by, completed_at)
    SELECT i, CASE WHEN i % 5000 = 0 THEN 'executing' ELSE 'completed' END::oban_job_state, 'MyApp.ChargeWorker', 1,
           timezone('UTC', now()) - interval '2 hours', '{web@a}',
           CASE WHEN i % 5000 > 0 THEN timezone('UTC', now()) - interval '1 hour' END
      FROM generate_series(1, 200000) AS i;
    CREATE INDEX oban_jobs_state_queue_priority_scheduled_at_id_index
        ON oban_jobs (state, queue, priority, scheduled_at, id);
    CREATE INDEX oban_jobs_state_cancelled_at_index ON oban_jobs (state, cancelled_at);
    CREATE INDEX oban_jobs_state_discarded_at_index ON oban_jobs (state, discarded_at);
    ANALYZE oban_jobs";

#[test]
fn case_38_the_stuck_of_many_jobs_are_read_by_the_index_on_an_enum() {
    let Some(database) = system(Engine::Postgres, "oban.postgres.sql", MANY_OBAN_JOBS) else { return };
    let whole = "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'oban_jobs'";
    let before = (rows_read(&database, "oban_jobs"), database.first(whole));
    let lines = listed(&database);
    let expected: Vec<String> = (1..=40).map(|at| (at * 5_000).to_string()).collect();
    assert_eq!(keys(&lines), expected.iter().map(String::as_str).collect());
    // What was not read was not sorted either.
    let read = rows_read(&database, "oban_jobs") - before.0;
    assert!((40..1_000).contains(&read), "{read} rows were read");
    assert_eq!(database.first(whole), before.1, "the table was read from end to end");
}

#[test]
fn an_older_list_of_states_lacks_some_and_a_newer_one_has_more() {
    // `suspended` came late, and nobody knows what is to come.
    let words = |words: &str| {
        format!(
            "ALTER TABLE oban_jobs ALTER state DROP DEFAULT;
             ALTER TYPE oban_job_state RENAME TO before;
             CREATE TYPE oban_job_state AS ENUM ({words});
             ALTER TABLE oban_jobs ALTER state TYPE oban_job_state USING state::text::oban_job_state"
        )
    };
    let older = "'available', 'scheduled', 'executing', 'retryable', 'completed', 'discarded', 'cancelled'";
    let Some(database) = system(Engine::Postgres, "oban.postgres.sql", &words(older)) else { return };
    let found: BTreeSet<String> = keys(&listed(&database)).into_iter().map(str::to_owned).collect();
    assert!(found.contains("1") && found.contains("2") && found.contains("6"), "{found:?}");
    database.execute("DROP TYPE before");
    database.execute(&words(&format!("{older}, 'paused'")));
    database.execute("UPDATE oban_jobs SET state = 'paused' WHERE id = 4");
    let again: BTreeSet<String> = keys(&listed(&database)).into_iter().map(str::to_owned).collect();
    assert_eq!(again, found);
    // A status that no rule names is no finding, and is there as it is.
    let paused = run(&database, "check 4 --json").json().remove(0);
    assert_eq!((&paused["status"], &paused["finding"]), (&json!("paused"), &Value::Null));
}
