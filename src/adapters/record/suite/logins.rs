//! Who wrote, as the server knows it; and what a role that may look and add cannot do.

use super::*;
use crate::domain::audit::RECORDED_BY;
use pretty_assertions::assert_eq;

fn by_of(entry: &Entry) -> Value {
    let body: Value = serde_json::from_str(&entry.body).unwrap();
    body[RECORDED_BY].clone()
}

#[tokio::test]
async fn a_file_knows_no_logins() {
    let audit = Audit::of(Sqlite).await.unwrap();
    assert_eq!(audit.record().recorded_by().await, Ok(None));
    let placed = audit.record().append(vec![entry(Event::Checked, None, "a")]).await.unwrap();
    assert_eq!(by_of(&placed[0]), Value::Null);
}

/// Each entry says who the server let in, under its own hash; the server wrote the same beside it.
#[tokio::test]
async fn each_entry_says_who_the_server_let_in() {
    let Some(audit) = Audit::of(Postgres).await else { return };
    let (ana, ben) = (audit.role("ana").await, audit.role("ben").await);
    for login in [&ana, &ben] {
        let record = audit.record_of(login);
        let known = record.recorded_by().await.unwrap().unwrap();
        assert_eq!(&*known.login, login.as_str());
        let placed = record.append(vec![entry(Event::Checked, None, "a")]).await.unwrap();
        assert_eq!(by_of(&placed[0]), known.to_json());
    }
    assert!(audit.verify().await.is_whole());
    audit.tamper(&format!("UPDATE entries SET login = '{ana}' WHERE seq = 2")).await;
    let flaw = audit.verify().await.flaws[0].to_string();
    let told = format!("entry 2: does not say what the server wrote beside it: that `{ana}` wrote it");
    assert_eq!(flaw, told);
}

const AGAIN: &str =
    "INSERT INTO entries (seq, at, event, decision, source, key, operator, origin, body, prev, hash)
     SELECT {seq}, at, event, decision, source, key, operator, origin, {body}, {prev}, hash FROM entries";

/// With the rights that `audit init --grant` gives, by hand: nothing but what the program itself would add.
#[rstest]
#[case::change("UPDATE entries SET operator = 'eve'", "permission denied for table entries")]
#[case::removal("DELETE FROM entries", "permission denied for table entries")]
#[case::emptying("TRUNCATE entries CASCADE", "permission denied for table entries")]
#[case::head("UPDATE head SET seq = 0", "permission denied for table head")]
#[case::triggers("ALTER TABLE entries DISABLE TRIGGER ALL", "must be owner of table entries")]
#[case::in_anothers_name("2,replace(body, '\"ana_', '\"ben_'),hash", "the entry does not say that ana_")]
#[case::in_no_name("2,'{}',hash", "the entry does not say that ana_")]
#[case::a_gap("3,body,hash", "the audit grows at its end: entry 3 does not follow entry 1")]
#[case::another_link("2,body,prev", "the audit grows at its end: entry 2 does not follow entry 1")]
#[case::a_trigger_of_ones_own(
    "CREATE TEMPORARY TABLE mine (seq int); CREATE TRIGGER t BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION place()",
    "permission denied for function place"
)]
#[tokio::test]
async fn a_role_that_may_add_can_do_nothing_else(#[case] statement: &str, #[case] told: &str) {
    let Some(audit) = Audit::of(Postgres).await else { return };
    let ana = audit.role("ana").await;
    audit.record_of(&ana).append(vec![entry(Event::Checked, None, "a")]).await.unwrap();
    let statement = match statement.chars().next() {
        Some('0'..='9') => {
            let (seq, rest) = statement.split_once(',').unwrap();
            let (body, prev) = rest.rsplit_once(',').unwrap();
            AGAIN.replace("{seq}", seq).replace("{body}", body).replace("{prev}", prev)
        }
        _ => statement.to_owned(),
    };
    let fault = audit.sql_of(&ana, &statement).await.unwrap_err();
    assert!(fault.contains(told), "{fault}");
    let verified = audit.verify().await;
    assert_eq!((verified.entries, verified.is_whole()), (1, true));
}

#[tokio::test]
async fn a_role_without_rights_is_told_how_to_get_them() {
    let Some(audit) = Audit::of(Postgres).await else { return };
    let ana = audit.role("ana").await;
    audit.sql(&format!("REVOKE INSERT ON entries FROM {ana}")).await.unwrap();
    let fault = audit.record_of(&ana).append(vec![entry(Event::Checked, None, "a")]).await.unwrap_err();
    assert!(fault.what.contains("the role lacks a right"), "{fault:?}");
    assert_eq!(fault.do_next, "Whoever owns the audit grants it: `unstuck audit init --grant ROLE`.");
}

/// Whatever a program believes: the database lets no login approve what it proposed.
#[tokio::test]
async fn no_login_approves_what_it_proposed() {
    let Some(audit) = Audit::of(Postgres).await else { return };
    let (ana, ben) = (audit.role("ana").await, audit.role("ben").await);
    let proposed = [1, 2].map(|id| entry(Event::Proposed, Some(id), "a"));
    audit.record_of(&ana).append(proposed.to_vec()).await.unwrap();
    let by_other = NewEntry { operator: "ben".to_owned(), ..entry(Event::Intended, Some(1), "a") };
    let fault = audit.record_of(&ana).append_once(by_other.clone()).await.unwrap_err();
    let told = format!("the login {ana} proposed it, and nobody approves a proposal of their own");
    assert!(fault.what.contains(&told), "{fault:?}");
    assert!(matches!(audit.record_of(&ben).append_once(by_other).await, Ok(Once::Placed(_))));
    assert!(audit.verify().await.is_whole());
}
