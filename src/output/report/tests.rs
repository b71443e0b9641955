use super::*;
use crate::domain::audit::Entry;
use crate::domain::incident::{Incident, Mark, Note};
use crate::domain::report::Scope;
use pretty_assertions::assert_eq;
use serde_json::json;
use uuid::Uuid;

const HOSTILE: &str = "<script>alert(1)</script> [x](http://e.example) `|` \u{1b}[31m\u{202e}=1+1";

fn entry(seq: i64, event: &str, body: &serde_json::Value) -> Entry {
    Entry {
        seq,
        at: format!("2026-11-30T08:{seq:02}:00.123456Z"),
        event: event.to_owned(),
        decision: "0199c3a4-8f1e-7c3b-9d55-2f6c1f0b7a11".to_owned(),
        source: "jobs".to_owned(),
        key: HOSTILE.to_owned(),
        operator: "ana".to_owned(),
        origin: "ana@host".to_owned(),
        body: body.to_string(),
        prev: String::new(),
        hash: format!("{seq:064}"),
    }
}

fn report() -> Report {
    let check = json!({
        "kind": "invoice", "verdict": "happened", "advice": "mark_done", "effects": 1, "effect_ids": [HOSTILE],
        "effects_told": [{ "amount": "12.50", "currency": "EUR", "state": "happened" }], "evidence": { "hash": "e1" },
    });
    let intent = json!({ "choice": "mark_done", "reason": HOSTILE, "check": check });
    let mark = Mark { at: "2026-11-30T08:00:00Z".to_owned(), by: HOSTILE.to_owned(), entry: 7 };
    let incident = Incident {
        id: Uuid::nil(),
        name: HOSTILE.to_owned(),
        since: "2026-11-30T07:00:00Z".parse().unwrap(),
        opened: mark.clone(),
        closed: None,
        notes: vec![Note { mark, text: HOSTILE.to_owned() }],
    };
    let scope = Scope { incident: Some(incident), from: None, until: None };
    let applied = entry(2, "applied", &json!({}));
    let mut asked = entry(3, "checked", &json!({ "verdict": "unknown", "advice": "wait" }));
    asked.decision.clear();
    asked.key = "other".to_owned();
    Report::of(scope, &[entry(1, "intended", &intent), applied, asked])
}

fn written(report: &Report) -> Written<'_> {
    let now = Now {
        findings: Some(3),
        by_source: vec![FindingCount { source: "jobs".to_owned(), finding: "stuck".to_owned(), count: 3 }],
        unread: vec!["mails".to_owned()],
    };
    let (written_at, audit) = ("2026-11-30T09:00:00Z".to_owned(), "audit.db".to_owned());
    Written { report, written_at, written_by: "ana", audit, waiting_now: Vec::new(), now: Some(now) }
}

#[test]
fn markdown_is_read_in_a_pager() {
    insta::assert_snapshot!(markdown(&written(&report())).unwrap());
}

/// Whatever stands in a key, a reason or an answer is shown, and runs nowhere.
#[test]
fn nothing_from_outside_is_more_than_text() {
    let report = report();
    let written = written(&report);
    let page = html(&written).unwrap();
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"), "{page}");
    assert_eq!(
        page.matches("http").count(),
        page.matches("[x](http:").count() + page.matches("http-equiv").count()
    );
    assert!(!page.contains("src=") && !page.contains("href="), "nothing is fetched from elsewhere");
    let text = markdown(&written).unwrap();
    assert!(!text.contains("<script") && !text.contains(" [x]("), "{text}");
    for spelled in [&page, &text, &json_line(&written), &csv(&report)] {
        assert!(!spelled.contains(['\u{1b}', '\u{202e}']), "{spelled}");
    }
    assert_eq!(json_line(&written).lines().count(), 1);
}

#[test]
fn a_cell_of_the_sheet_is_no_formula() {
    let check = json!({ "verdict": "unknown", "effect_ids": ["=HYPERLINK(1)"] });
    let body = json!({ "choice": "retry", "reason": "=1+1", "why": "@x", "check": check });
    let sheet =
        csv(&Report::of(Scope { incident: None, from: None, until: None }, &[entry(1, "refused", &body)]));
    let mut reader = csv::Reader::from_reader(sheet.as_bytes());
    assert_eq!(reader.headers().unwrap().len(), CSV.len());
    let row = reader.records().next().unwrap().unwrap();
    assert!(row.iter().all(|cell| !cell.starts_with(['=', '@', '+', '-'])), "{row:?}");
    assert_eq!((&row[8], &row[9], &row[18]), ("'@x", "'=1+1", "'=HYPERLINK(1)"));
}

#[test]
fn an_empty_report_says_so() {
    let report = Report::of(Scope { incident: None, from: None, until: None }, &[]);
    let written = Written { now: None, ..written(&report) };
    let text = markdown(&written).unwrap();
    assert!(text.contains("From the beginning until now.") && text.contains("- decisions: 0"), "{text}");
    assert!(
        text.ends_with("## Decisions\n\nNone.\n") && html(&written).unwrap().contains("<p>None.</p>"),
        "{text}"
    );
}
