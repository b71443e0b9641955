//! Scores the built-in rules on texts met in the field and on our own set.

use unstuck::domain::error_class::{ErrorClass, ErrorTable};

fn table() -> ErrorTable {
    ErrorTable::parse(include_str!("../../assets/errors.toml")).unwrap()
}

/// Prints the confusion and returns (right, all, ambiguous texts called anything else).
fn score(name: &str, tsv: &str) -> (usize, usize, usize) {
    let table = table();
    let (mut right, mut all, mut costly) = (0, 0, 0);
    let mut confusion = std::collections::BTreeMap::new();
    for line in tsv.lines().skip(1) {
        let mut fields = line.splitn(3, '\t');
        let (client, class, text) = (fields.next().unwrap(), fields.next().unwrap(), fields.next().unwrap());
        let got = table.classify(Some(text));
        *confusion.entry((class.to_owned(), got.class.as_str())).or_insert(0) += 1;
        all += 1;
        if got.class.as_str() == class {
            right += 1;
        } else {
            println!("{name}: {client}: want {class}, got {} by {:?}: {text}", got.class, got.rule);
            costly += usize::from(class == ErrorClass::Ambiguous.as_str());
        }
    }
    println!("{name}: {right}/{all} right, {costly} costly, {confusion:?}");
    (right, all, costly)
}

#[test]
fn texts_met_in_the_field() {
    let (right, all, costly) = score("field", include_str!("../fixtures/error-texts.tsv"));
    assert_eq!(costly, 0);
    assert!(right * 100 >= all * 97, "{right} of {all}");
}

#[test]
fn our_own_texts() {
    let (right, all, costly) = score("own", include_str!("../fixtures/own.tsv"));
    assert_eq!(costly, 0);
    assert!(right * 100 >= all * 97, "{right} of {all}");
}

#[test]
fn a_second_set_written_after_the_rules() {
    let (right, all, costly) = score("second", include_str!("../fixtures/second.tsv"));
    assert_eq!(costly, 0);
    assert!(right * 100 >= all * 97, "{right} of {all}");
}

/// Failures that leave the effect open, as clients word them.
const MARKERS: &[&str] = &[
    "Read timed out",
    "Read timed out. (read timeout=10)",
    "ReadTimeout('')",
    "Connection reset by peer",
    "read ECONNRESET",
    "socket hang up",
    "unexpected EOF",
    "EOFError: end of file reached",
    "Net::ReadTimeout",
    "Broken pipe",
    "Server disconnected",
    "read ETIMEDOUT",
    "The read operation timed out",
    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
    "read tcp 10.0.0.4:51234->203.0.113.7:443: i/o timeout",
    "HTTP 503",
    "status code 502",
    "504 Gateway Timeout",
    "the server responded with status 500",
    "Request failed with status code 409",
    "Operation timed out after 30001 milliseconds with 0 bytes received",
    "Empty reply from server",
    "signal: killed",
    "OOMKilled",
    "Remote end closed connection without response",
    "%Mint.TransportError{reason: :closed}",
    "Unable to read data from the transport connection: Operation canceled.",
    "HeadersTimeoutError: Headers Timeout Error",
    "job stalled more than allowable limit",
    "timed out",
    "A task was canceled.",
    "timeout of 10000ms exceeded",
    "context deadline exceeded",
    "context canceled",
    "execution expired",
    "ETIMEDOUT",
    "The operation was aborted",
];

#[test]
fn an_ambiguous_failure_beside_another_one_stays_ambiguous() {
    let table = table();
    let sets = concat!(include_str!("../fixtures/error-texts.tsv"), include_str!("../fixtures/own.tsv"));
    for line in sets.lines().skip(1).filter(|line| !line.contains("\tambiguous\t")) {
        let text = line.rsplit('\t').next().unwrap();
        for marker in MARKERS {
            let both = [
                format!("attempt 1: {marker}; attempt 2: {text}"),
                format!("attempt 1: {text}; attempt 2: {marker}"),
                format!("{marker}\n{text}"),
                format!("{text}\n{marker}"),
                format!("{marker}, {text}"),
                format!("{text} - {marker}"),
            ];
            for both in both {
                let got = table.classify(Some(&both));
                assert_eq!(got.class, ErrorClass::Ambiguous, "{:?}: {both}", got.rule);
            }
        }
    }
}
