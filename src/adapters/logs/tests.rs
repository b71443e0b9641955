use super::*;
use crate::domain::moment::stamp;
use flate2::Compression;
use flate2::write::GzEncoder;
use pretty_assertions::assert_eq;
use std::io::Write;
use std::path::PathBuf;
use tempfile::TempDir;

fn line(minute: u32, key: &str, attempt: i64, action: &str) -> String {
    format!(
        "{{\"ts\": \"2026-11-30T12:{minute:02}:00.250000Z\", \"event\": \"job_attempt\", \"job_key\": \"{key}\", \
         \"attempt\": {attempt}, \"previous_status\": \"running\", \"action\": \"{action}\", \"reason\": null}}\n"
    )
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn place(path: PathBuf) -> LogPlace {
    LogPlace { name: "app".into(), path, source: None, layout: crate::domain::log_line::Layout::default() }
}

fn read(paths: &[PathBuf], keys: &[&str]) -> LogsRead {
    let places: Vec<LogPlace> = paths.iter().cloned().map(place).collect();
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    scan::receipts(&places, &WantedLines { keys, ..WantedLines::default() })
}

fn told(read: &LogsRead) -> Vec<String> {
    read.happenings.iter().map(|one| format!("{} {}", one.place, one.what.as_str())).collect()
}

#[test]
fn only_wanted_lines_are_kept_and_the_reach_is_that_of_the_whole_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("r.jsonl");
    let text = [
        line(0, "a", 1, "done"),
        line(1, "b", 1, "failed"),
        line(2, "ab", 1, "done"),
        line(3, "a", 2, "done"),
    ];
    std::fs::write(&path, text.concat()).unwrap();
    let read = read(&[path], &["b"]);
    assert_eq!(told(&read), ["r.jsonl:2 ended_failed"]);
    let coverage = &read.coverage;
    assert_eq!((coverage.given, coverage.files, coverage.lines, coverage.broken), (1, 1, 4, 0));
    let reach = (coverage.first.map(stamp).unwrap(), coverage.last.map(stamp).unwrap());
    assert_eq!(reach, ("2026-11-30T12:00:00.250Z".to_owned(), "2026-11-30T12:03:00.250Z".to_owned()));
}

#[test]
fn rotated_and_compressed_files_are_read_the_oldest_first_and_a_copy_counts_once() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("r.jsonl"), line(2, "a", 3, "done")).unwrap();
    // Copied before it was cut: its last line stands in both.
    std::fs::write(path("r.jsonl.1"), line(1, "a", 2, "failed") + &line(2, "a", 3, "done")).unwrap();
    std::fs::write(path("r.jsonl.2.gz"), gzipped(&line(0, "a", 1, "failed"))).unwrap();
    std::fs::write(path("r.jsonl.bak"), line(0, "a", 9, "done")).unwrap();
    let whole = read(&[path("r.jsonl")], &["a"]);
    let expected = ["r.jsonl.2.gz:1 ended_failed", "r.jsonl.1:1 ended_failed", "r.jsonl.1:2 ended_done"];
    assert_eq!(told(&whole), expected);
    assert_eq!(whole.coverage.files, 3);
    // The same files by a pattern and by name are the same files.
    let twice = read(&[path("r.jsonl"), path("r.json*.1")], &["a"]);
    assert_eq!(told(&twice), expected);
}

#[test]
fn broken_lines_are_counted_and_never_fatal() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("r.jsonl");
    let mut text = b"\xef\xbb\xbf".to_vec();
    text.extend(line(0, "a", 1, "done").bytes());
    text.extend(b"Traceback (most recent call last):\n\n{\"job_key\": \"a\", \"action\": \n\xff\xfe\x00{\n");
    text.extend(format!("{{\"job_key\":\"a\",\"x\":\"{}\"}}\n", "y".repeat(lines::LINE_BYTES_MAX)).bytes());
    text.extend(line(4, "a", 2, "done").bytes());
    text.extend(b"{\"job_key\": \"a\", \"acti");
    std::fs::write(&path, text).unwrap();
    let read = read(&[path], &["a"]);
    assert_eq!(told(&read), ["r.jsonl:1 ended_done", "r.jsonl:7 ended_done"]);
    assert_eq!((read.coverage.lines, read.coverage.broken), (7, 5));
    assert!(!read.coverage.is_whole());
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_still_read() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("good.jsonl"), line(0, "a", 1, "done")).unwrap();
    std::fs::write(path("packed.jsonl"), b"\x28\xb5\x2f\xfd rest").unwrap();
    let mut cut = gzipped(&line(0, "a", 1, "failed").repeat(50));
    cut.truncate(cut.len() - 12);
    std::fs::write(path("cut.jsonl.gz"), cut).unwrap();
    let read =
        read(&["missing.jsonl", "packed.jsonl", "cut.jsonl.gz", "no*.jsonl", "good.jsonl"].map(path), &["a"]);
    let troubles: Vec<String> = read
        .coverage
        .troubles
        .iter()
        .map(|one| one.replace(&folder.path().display().to_string(), "FOLDER"))
        .collect();
    assert_eq!(troubles[0], "FOLDER/missing.jsonl: there is no such file");
    assert_eq!(
        troubles[1],
        "FOLDER/packed.jsonl: cannot be read (it is compressed with zstd: unpack it, or use gzip)"
    );
    assert!(troubles[2].starts_with("FOLDER/cut.jsonl.gz: cannot be read ("), "{troubles:?}");
    assert_eq!(troubles[3], "FOLDER/no*.jsonl: no file is called so");
    assert!(told(&read).contains(&"good.jsonl:1 ended_done".to_owned()));
    assert!(!read.coverage.is_whole());
}

/// What JSON writers spell in several ways is found in each of them.
#[test]
fn a_key_is_found_however_json_spells_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("r.jsonl");
    let text = concat!(
        "{\"key\":\"caf\\u00e9/7\",\"action\":\"done\"}\n",
        "{\"key\":\"café\\/7\",\"action\":\"failed\"}\n",
        "{\"key\":\"cafe/7\",\"action\":\"done\"}\n",
    );
    std::fs::write(&path, text).unwrap();
    assert_eq!(told(&read(&[path], &["café/7"])), ["r.jsonl:1 ended_done", "r.jsonl:2 ended_failed"]);
}

/// A log of 200,000 lines of others: one pass, and only what is wanted is kept.
#[test]
fn a_big_log_is_read_in_one_pass() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("r.jsonl");
    let others: String =
        (0..2_000).map(|number| line(number % 60, &format!("other:{number}"), 1, "done")).collect();
    let mut file = std::fs::File::create(&path).unwrap();
    for _ in 0..100 {
        file.write_all(others.as_bytes()).unwrap();
    }
    file.write_all(line(59, "mine", 1, "done").as_bytes()).unwrap();
    drop(file);
    let read = read(&[path], &["mine"]);
    assert_eq!((told(&read), read.coverage.lines), (vec!["r.jsonl:200001 ended_done".to_owned()], 200_001));
}

#[tokio::test]
async fn marks_are_read_from_files_and_from_what_was_said() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("deploys.log");
    std::fs::write(&path, "# ours\n2026-11-30T12:00:00Z deploy v1\n\n{\"ts\":\"2026-11-30T12:05:00Z\",\"text\":\"dns down\"}\nnonsense\n")
        .unwrap();
    let marks = vec![MarksPlace { name: "deploys".into(), path }];
    let said = vec![
        mark::read_line("2026-11-30T12:01:00Z worker restarted password=hunter2 4111 1111 1111 1111")
            .unwrap(),
    ];
    let read = FileLogs::new(Vec::new(), marks, said).marks().await;
    let words: Vec<String> =
        read.happenings.iter().map(|one| format!("{}: {}", one.place, one.what.sentence())).collect();
    assert_eq!(
        words,
        [
            "said with --mark: restart: worker restarted password=•••• ••••",
            "deploys.log:2: deploy: deploy v1",
            "deploys.log:4: network incident: dns down",
        ]
    );
    assert_eq!((read.coverage.given, read.coverage.lines, read.coverage.broken), (2, 3, 1));
    let nothing = FileLogs::default().marks().await;
    assert_eq!(nothing, LogsRead::default());
}
