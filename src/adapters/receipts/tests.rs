use super::*;
use pretty_assertions::assert_eq;

fn receipt(key: &str, reason: Option<&str>) -> Receipt {
    Receipt {
        ts: "2027-01-15T08:00:00Z".to_owned(),
        event: "unstuck_decision".to_owned(),
        job_key: key.to_owned(),
        attempt: Some(2),
        previous_status: "running".to_owned(),
        action: "retry_applied".to_owned(),
        reason: reason.map(str::to_owned),
        operator: "ana".to_owned(),
        verdict: None,
        audit: Some(7),
    }
}

#[test]
fn a_receipt_is_one_line_in_the_order_of_its_fields() {
    let folder = tempfile::tempdir().unwrap();
    let receipts = FileReceipts::new(folder.path().join("logs/receipts.jsonl"));
    receipts.write(&receipt("inv-1", Some("not there"))).unwrap();
    receipts.write(&receipt("a\nb\u{202e}", None)).unwrap();
    let text = std::fs::read_to_string(receipts.path()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines,
        [
            r#"{"ts":"2027-01-15T08:00:00Z","event":"unstuck_decision","job_key":"inv-1","attempt":2,"previous_status":"running","action":"retry_applied","reason":"not there","operator":"ana","verdict":null,"audit":7}"#,
            r#"{"ts":"2027-01-15T08:00:00Z","event":"unstuck_decision","job_key":"a\nb\u202e","attempt":2,"previous_status":"running","action":"retry_applied","reason":null,"operator":"ana","verdict":null,"audit":7}"#,
        ]
    );
    assert_eq!(serde_json::from_str::<Receipt>(lines[1]).unwrap(), receipt("a\nb\u{202e}", None));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(receipts.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn secrets_in_a_reason_are_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let receipts = FileReceipts::new(folder.path().join("receipts.jsonl"));
    receipts.write(&receipt("inv-1", Some("asked with token=abcdef for 4242424242424242"))).unwrap();
    let text = std::fs::read_to_string(receipts.path()).unwrap();
    assert!(text.contains(r#""reason":"asked with token=•••• for ••••""#), "{text}");
}

#[test]
fn lines_of_several_writers_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("receipts.jsonl");
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let receipts = FileReceipts::new(&path);
            scope.spawn(move || {
                for at in 0..50 {
                    receipts.write(&receipt(&format!("{writer}-{at}"), Some(&"x".repeat(900)))).unwrap();
                }
            });
        }
    });
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().filter(|line| serde_json::from_str::<Receipt>(line).is_ok()).count(), 200);
}

#[test]
fn what_cannot_be_written_is_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let told = FileReceipts::new(folder.path()).write(&receipt("inv-1", None)).unwrap_err();
    let start = format!("The receipt could not be written to {}: ", folder.path().display());
    assert!(told.starts_with(&start) && told.ends_with('.'), "{told}");
}
