//! Real rows by the real libraries: exactly the right ones are found, each decision is taken, and the library itself says
//! what came of it. `tests/systems/README.md` has the scripts' contract.

mod stand_in;

use crate::databases::Database;
use crate::world::{Ran, World};
use pretty_assertions::assert_eq;
use rstest::rstest;
use stand_in::StandIn;
use std::collections::BTreeSet;
use std::sync::Arc;
use unstuck::ports::source::LateWriter;
use unstuck::preset::catalogue::Catalogue;
use unstuck::preset::source::{Engine, Mapping, Writing};

/// One library on one engine.
struct System {
    /// The script, and what tells it which version to use.
    script: &'static str,
    version: &'static str,
    engine: Engine,
    preset: &'static str,
    /// The jobs of the incident that must be found. `before` is among them where the library keeps no error text.
    found: &'static [&'static str],
    /// The library's word for a job that is done.
    done: &'static str,
    /// Whether a worker that comes back late writes over a decision.
    late_writes: bool,
}

const STUCK_AND_TIMED_OUT: &[&str] = &["stuck", "timed_out"];

impl System {
    fn postgres(script: &'static str, preset: &'static str, done: &'static str) -> Self {
        Self {
            script,
            version: "",
            engine: Engine::Postgres,
            preset,
            found: STUCK_AND_TIMED_OUT,
            done,
            late_writes: false,
        }
    }

    /// A fresh database with the library's tables and its incident; `None` where something is not here.
    fn incident(&self) -> Option<Incident> {
        let stand_in = StandIn::new(self.script, self.version)?;
        let database = Database::new(self.engine)?;
        stand_in.run(&database, &["install"]);
        let jobs = stand_in.run(&database, &["incident"]);
        Some(Incident { jobs, stand_in, database, world: World::new() })
    }

    /// The shape of the preset that the program picks for a database.
    fn mapping(&self, database: &Database) -> Arc<Mapping> {
        let told = World::new().run_all(&["doctor", "--json", "--db", &database.url()]);
        let subject = format!("source {}", self.preset);
        let lines = told.json();
        let line = lines.iter().find(|line| line["subject"] == subject.as_str() && line["what"] == "variant");
        let picked = line.map_or("", |line| line["finding"].as_str().unwrap());
        let catalogue = Catalogue::new(&[]).unwrap();
        let (_, preset) = &catalogue.sources[self.preset];
        Arc::clone(preset.variants.iter().find(|variant| &*variant.variant == picked).unwrap())
    }

    fn can(&self, database: &Database, choice: &str) -> bool {
        let decisions = &self.mapping(database).decisions;
        let writing = if choice == "--done" { &decisions.done } else { &decisions.retry };
        matches!(writing, Writing::Statements { .. })
    }
}

/// A database in which a library's jobs went wrong.
struct Incident {
    jobs: Vec<serde_json::Value>,
    stand_in: StandIn,
    database: Database,
    world: World,
}

impl Incident {
    fn key(&self, job: &str) -> String {
        // A late job's line does not say its name: it is the only one.
        let line = self.jobs.iter().find(|line| line["job"] == job).unwrap_or(&self.jobs[0]);
        line["key"].as_str().map_or_else(|| line["key"].to_string(), str::to_owned)
    }

    fn unstuck(&self, arguments: &[&str]) -> Ran {
        self.world.run_all(&[arguments, &["--db", &self.database.url()]].concat())
    }

    fn found(&self, preset: &str) -> BTreeSet<String> {
        let ran = self.unstuck(&["list", "--json", "--source", preset]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        ran.each("key").into_iter().collect()
    }

    fn decide(&self, preset: &str, key: &str, choice: &str) {
        let ran =
            self.unstuck(&["decide", key, "--source", preset, choice, "--override", "--reason", "seen"]);
        assert!(ran.code == Some(0) && ran.out.contains("applied"), "{choice} of {key}: {ran:?}");
    }

    /// The jobs that a real worker runs now, sorted.
    fn work(&self) -> Vec<String> {
        let ran = self.stand_in.run(&self.database, &["work", "--seconds", "20"]);
        let mut jobs: Vec<_> = ran.iter().map(|line| line["ran"].as_str().unwrap().to_owned()).collect();
        jobs.sort();
        jobs
    }

    /// What the library says of a job, and how often it acted.
    fn state(&self, job: &str, key: &str) -> (String, i64) {
        let lines = self.stand_in.run(&self.database, &["state", key, "--job", job]);
        (lines[0]["state"].as_str().unwrap().to_owned(), lines[0]["effects"].as_i64().unwrap())
    }
}

impl Drop for Incident {
    fn drop(&mut self) {
        self.jobs.iter().filter_map(|line| line["pid"].as_i64()).for_each(stand_in::end);
    }
}

#[rstest]
#[case::procrastinate(System { found: &["stuck", "timed_out", "before"], ..System::postgres("procrastinate_rows.py", "procrastinate", "succeeded") })]
#[case::pgqueuer(System::postgres("pgqueuer_rows.py", "pgqueuer", "successful"))]
#[case::oban_for_python(System::postgres("oban_rows.py", "oban", "completed"))]
#[case::pg_boss_12(System { version: "12", ..System::postgres("pgboss.mjs", "pg_boss", "completed") })]
#[case::pg_boss_11(System { version: "11", ..System::postgres("pgboss.mjs", "pg_boss", "completed") })]
#[case::pg_boss_10(System { version: "10", ..System::postgres("pgboss.mjs", "pg_boss", "completed") })]
#[case::graphile_worker(System::postgres("graphile_worker.mjs", "graphile_worker", "gone"))]
#[case::apalis_postgres(System::postgres("apalis", "apalis", "Done"))]
#[case::apalis_sqlite(System { engine: Engine::Sqlite, ..System::postgres("apalis", "apalis", "Done") })]
fn what_a_library_left_behind_is_found_and_settled(#[case] system: System) {
    let Some(incident) = system.incident() else { return };
    let preset = system.preset;
    let expected: BTreeSet<String> = system.found.iter().map(|job| incident.key(job)).collect();
    assert_eq!(incident.found(preset), expected, "{:?}", incident.jobs);

    incident.decide(preset, &incident.key("stuck"), "--done");
    incident.decide(preset, &incident.key("timed_out"), "--retry");
    assert_eq!(incident.work(), ["timed_out"], "done stays done, and a retried one runs once");
    assert_eq!(incident.work(), [""; 0], "and not again");
    assert_eq!(incident.state("stuck", &incident.key("stuck")), (system.done.to_owned(), 1));
    assert_eq!(incident.state("timed_out", &incident.key("timed_out")), (system.done.to_owned(), 2));
    let settled = [incident.key("stuck"), incident.key("timed_out")];
    assert!(incident.found(preset).iter().all(|key| !settled.contains(key)));

    let Some(incident) = system.incident() else { return };
    incident.decide(preset, &incident.key("stuck"), "--retry");
    assert_eq!(incident.work(), ["stuck"]);
    assert_eq!(incident.work(), [""; 0]);
    assert_eq!(incident.state("stuck", &incident.key("stuck")), (system.done.to_owned(), 2));
}

/// Result tables are no queues: what is retried is another system's to say.
#[rstest]
#[case::celery("celery_rows.py", "celery_taskmeta", &["fresh", "stuck", "timed_out"])]
#[case::django("django_celery_results_rows.py", "django_celery_results", STUCK_AND_TIMED_OUT)]
fn what_a_result_table_says_is_found_and_marked_done(
    #[case] script: &'static str,
    #[case] preset: &'static str,
    #[case] found: &'static [&'static str],
    #[values(Engine::Postgres, Engine::Mysql, Engine::Sqlite)] engine: Engine,
) {
    let system = System { script, version: "", engine, preset, found, done: "SUCCESS", late_writes: false };
    let Some(incident) = system.incident() else { return };
    let expected: BTreeSet<String> = system.found.iter().map(|job| incident.key(job)).collect();
    assert_eq!(incident.found(preset), expected, "{:?}", incident.jobs);
    assert!(system.can(&incident.database, "--done") && !system.can(&incident.database, "--retry"));
    incident.decide(preset, &incident.key("stuck"), "--done");
    incident.decide(preset, &incident.key("timed_out"), "--done");
    for job in STUCK_AND_TIMED_OUT {
        assert_eq!(incident.state(job, &incident.key(job)), ("SUCCESS".to_owned(), 1));
    }
}

/// Its queue forgets what it failed, so only a lease that passed is found.
#[rstest]
fn a_lease_that_passed_is_found_and_settled(
    #[values(Engine::Postgres, Engine::Mysql, Engine::Sqlite)] engine: Engine,
) {
    let base = System::postgres("django_q2_rows.py", "django_q2", "gone");
    let system = System { engine, found: &["stuck"], ..base };
    let Some(incident) = system.incident() else { return };
    assert_eq!(incident.found(system.preset), BTreeSet::from([incident.key("stuck")]));
    incident.decide(system.preset, &incident.key("stuck"), "--done");
    assert_eq!(incident.work(), [""; 0]);
    assert_eq!(incident.state("stuck", &incident.key("stuck")).0, "gone");

    let Some(incident) = system.incident() else { return };
    incident.decide(system.preset, &incident.key("stuck"), "--retry");
    assert_eq!(incident.work(), ["stuck"]);
    assert_eq!(incident.work(), [""; 0]);
}

/// A worker comes back after its job was marked done, and after its job was retried. Where the preset calls it guarded, it
/// writes neither time.
#[rstest]
#[case::procrastinate(System { late_writes: true, ..System::postgres("procrastinate_rows.py", "procrastinate", "succeeded") })]
#[case::pgqueuer(System { late_writes: true, ..System::postgres("pgqueuer_rows.py", "pgqueuer", "successful") })]
#[case::oban_for_python(System::postgres("oban_rows.py", "oban", "completed"))]
// Before its fence for attempts a late success lands only where somebody is at it again; a late failure, too early.
#[case::pg_boss_10(System { version: "10", ..System::postgres("pgboss.mjs", "pg_boss", "completed") })]
#[case::pg_boss_11(System { version: "11", ..System::postgres("pgboss.mjs", "pg_boss", "completed") })]
#[case::pg_boss_12(System { version: "12", ..System::postgres("pgboss.mjs", "pg_boss", "completed") })]
#[case::graphile_worker(System { late_writes: true, ..System::postgres("graphile_worker.mjs", "graphile_worker", "gone") })]
#[case::apalis_postgres(System::postgres("apalis", "apalis", "Done"))]
#[case::apalis_sqlite(System { engine: Engine::Sqlite, ..System::postgres("apalis", "apalis", "Done") })]
#[case::celery(System::postgres("celery_rows.py", "celery_taskmeta", "SUCCESS"))]
#[case::django(System { late_writes: true, ..System::postgres("django_celery_results_rows.py", "django_celery_results", "SUCCESS") })]
// Its queue forgets what was marked done; the worker still writes its own success down elsewhere.
#[case::django_q2(System { late_writes: true, ..System::postgres("django_q2_rows.py", "django_q2", "success") })]
fn a_worker_that_comes_back_late_does_what_the_preset_says(#[case] system: System) {
    let (mut wrote, mut late_writer) = (Vec::new(), None);
    for choice in ["--done", "--retry"] {
        let Some(stand_in) = StandIn::new(system.script, system.version) else { return };
        let Some(database) = Database::new(system.engine) else { return };
        stand_in.run(&database, &["install"]);
        let says = system.mapping(&database).decisions.late_writer;
        late_writer = Some(says);
        if !system.can(&database, choice) {
            continue;
        }
        let world = World::new();
        let go = world.path("go");
        let jobs = stand_in.run(&database, &["late", "--job", "late", "--go", go.to_str().unwrap()]);
        let incident = Incident { jobs, stand_in, database, world };
        let key = incident.key("late");
        incident.decide(system.preset, &key, choice);
        std::fs::write(&go, "").unwrap();
        let ended = stand_in::wait_for(&incident.world.path("go.done"));
        wrote.push(ended["acknowledged"] == true);
        if choice == "--done" {
            assert_eq!(incident.state("late", &key).0, system.done, "done stays done");
        } else if says == LateWriter::Guarded {
            assert_eq!(incident.work(), ["late"], "retried, and run once, whoever came back");
            assert_eq!(incident.state("late", &key), (system.done.to_owned(), 2));
        }
    }
    let late_wrote = wrote.contains(&true);
    assert_eq!(late_wrote, system.late_writes, "{wrote:?}");
    assert!(!late_wrote || late_writer == Some(LateWriter::Unguarded), "the preset calls it {late_writer:?}");
}
