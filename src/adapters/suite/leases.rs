//! Who holds an item and for how long, in every way that a preset can tell it.

use super::*;
use crate::domain::item::{Holder, Lease};
use crate::domain::moment::Reading as Time;
use pretty_assertions::assert_eq;
use rstest::rstest;

#[rstest]
#[case::ends_at(
    "ends_at = \"l\"",
    "{moment}",
    "'2026-05-04 10:00:00.5'",
    Lease::EndsAt(Time::Known(at("2026-05-04T10:00:00.5Z")))
)]
#[case::ends_at_millis(
    "ends_at = { column = \"l\", format = \"epoch_ms\" }",
    "{int}",
    "1777888800500",
    Lease::EndsAt(Time::Known(at("2026-05-04T10:00:00.5Z")))
)]
#[case::endless("ends_at = \"l\"", "{moment}", "NULL", Lease::EndsAt(Time::Missing))]
#[case::lasts("lasts = \"2m\"", "{int}", "0", Lease::Seconds(Some(120)))]
#[case::seconds("seconds = \"l\"", "{int}", "3600", Lease::Seconds(Some(3600)))]
#[case::unlimited("seconds = \"l\"\nunlimited = [-1, 0]", "{int}", "-1", Lease::Seconds(None))]
#[case::zero_is_a_limit("seconds = \"l\"", "{int}", "0", Lease::Seconds(Some(0)))]
#[case::negative("seconds = \"l\"", "{int}", "-1", Lease::None)]
#[case::no_number("seconds = \"l\"", "{text}", "'soon'", Lease::None)]
#[case::heartbeat(
    "heartbeat = \"l\"\nheartbeat_limit = \"1m\"",
    "{moment}",
    "'2026-05-04 10:00:00'",
    Lease::Heartbeat { beat: Time::Known(at("2026-05-04T10:00:00Z")), limit_seconds: 60 }
)]
#[case::told_live("told = \"l\"", "{text}", "'live'", Lease::Told(Holder::Live))]
#[case::told_expired("told = \"l\"", "{text}", "'expired'", Lease::Told(Holder::Expired))]
#[case::told_otherwise("told = \"l\"", "{text}", "'LIVE'", Lease::Told(Holder::Unknown))]
#[case::told_nothing("told = \"l\"", "{text}", "NULL", Lease::Told(Holder::Unknown))]
#[tokio::test]
async fn a_lease_is_read_as_the_preset_says(
    #[case] lease: &str,
    #[case] declared: &str,
    #[case] value: &str,
    #[case] expected: Lease,
    #[values(Sqlite, Postgres, Mysql)] on: Engine,
) {
    let create = format!(
        "CREATE TABLE t (k {{int}} PRIMARY KEY, s {{text}}, l {declared}, u {{moment}});
         INSERT INTO t VALUES (1, 'running', {}, '2026-05-04 10:00:00')",
        moment(on, value, declared)
    );
    let Some(db) = Db::with(on, &create).await else { return };
    let source = db.mapped(&format!("times = {{ updated = \"u\" }}\n[lease]\n{lease}"));
    // A lease decides by itself: no age keeps such a row from being handed out.
    let items = scan_all(&*source, &older_than(TimeDelta::days(30_000))).await;
    assert_eq!(items[0].times.lease, expected);
}

/// A time in UTC, as an application in another zone hands it over.
fn moment(on: Engine, value: &str, declared: &str) -> String {
    match (on, declared) {
        (Postgres, "{moment}") => value.replace("00'", "00+00'").replace(".5'", ".5+00'"),
        _ => value.to_owned(),
    }
}

/// What a query makes of workers' heartbeats.
#[rstest]
#[tokio::test]
async fn a_query_tells_who_lives(#[values(Sqlite, Postgres, Mysql)] on: Engine) {
    let create = "
        CREATE TABLE jobs (id {int} PRIMARY KEY, state {text}, worker {int});
        CREATE TABLE workers (id {int} PRIMARY KEY, beat {int});
        INSERT INTO jobs VALUES (1, 'running', 5), (2, 'running', 6), (3, 'running', 7), (4, 'running', NULL);
        INSERT INTO workers VALUES (5, 100), (6, 1);";
    let Some(db) = Db::with(on, create).await else { return };
    let source = db.through(
        r#"
        table = "jobs"
        select = "SELECT j.id AS k, j.state AS s, CASE WHEN w.id IS NULL THEN 'unknown' WHEN w.beat > 50 THEN 'live' ELSE 'expired' END AS holder FROM {schema}jobs j LEFT JOIN {schema}workers w ON w.id = j.worker;"
        key = "k"
        status = "s"
        version = ["s", "holder"]
        lease = { told = "holder" }
        state = [
            { is = "running", when = { s = "running" } },
            { is = "failed", when = { s = "failed" } },
            { is = "done", when = { s = "done" } },
        ]
        "#,
    );
    let items = scan_all(&*source, &page_of(2)).await;
    let mut leases: Vec<_> = items.iter().map(|item| (item.key.as_str(), item.times.lease.clone())).collect();
    leases.sort_unstable_by_key(|(key, _)| *key);
    let told = |holder| Lease::Told(holder);
    let expected = [
        ("1", told(Holder::Live)),
        ("2", told(Holder::Expired)),
        ("3", told(Holder::Unknown)),
        ("4", told(Holder::Unknown)),
    ];
    assert_eq!(leases, expected);
    assert_eq!(reading(&*source, "2").await.item.times.lease, told(Holder::Expired));
}
