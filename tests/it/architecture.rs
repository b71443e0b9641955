//! The arrows between modules point one way, and no test file was left out of this binary.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Each module and those of ours that it may use. `ports` and `preset` share words: a preset says what a choice leaves.
const MAY_USE: [(&str, &[&str]); 12] = [
    ("domain", &[]),
    ("ports", &["domain"]),
    ("preset", &["domain", "ports"]),
    ("config", &["domain", "ports", "preset"]),
    ("adapters", &["domain", "ports", "preset"]),
    ("workflow", &["domain", "ports", "preset", "config"]),
    ("output", &["domain", "workflow"]),
    ("console", &["domain", "ports", "workflow"]),
    ("runtime", &["domain", "ports", "workflow", "console"]),
    ("demo", &["domain", "config"]),
    ("wiring", &["domain", "ports", "preset", "config", "adapters", "workflow"]),
    (
        "commands",
        &[
            "domain", "ports", "preset", "config", "adapters", "workflow", "output", "console", "runtime",
            "demo", "wiring",
        ],
    ),
];

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Whether a file is only compiled for tests, which may join whatever they test.
fn is_test(path: &Path) -> bool {
    path.iter().any(|part| matches!(part.to_str(), Some("tests" | "tests.rs" | "fakes" | "fakes.rs")))
}

#[test]
fn modules_use_only_those_below_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut arrows = 0;
    for file in rust_files(&root) {
        let inside = file.strip_prefix(&root).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if matches!(module, "lib" | "main") || is_test(inside) {
            continue;
        }
        let (_, may) = MAY_USE.iter().find(|(name, _)| *name == module).expect("a module without a rule");
        let text = std::fs::read_to_string(&file).unwrap();
        for used in text.split("crate::").skip(1) {
            let used: String = used.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            let is_module = MAY_USE.iter().any(|(name, _)| *name == used);
            arrows += usize::from(is_module);
            if is_module && used != module && !may.contains(&used.as_str()) {
                wrong.push(format!("{} uses {used}", inside.display()));
            }
        }
    }
    assert!(arrows > 100, "only {arrows} arrows were seen: the test reads the wrong files");
    assert!(wrong.is_empty(), "arrows that point the wrong way:\n{}", wrong.join("\n"));
}

#[test]
fn every_test_file_is_in_this_binary() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    let named: BTreeSet<&str> =
        main.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).collect();
    let there: BTreeSet<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|stem| stem != "main")
        .collect();
    assert_eq!(there.iter().map(String::as_str).collect::<BTreeSet<_>>(), named);
}

#[test]
fn no_file_is_too_long_to_read() {
    const LINES_MAX: usize = 600;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["src", "tests"] {
        for file in rust_files(&root.join(folder)) {
            let lines = std::fs::read_to_string(&file).unwrap().lines().count();
            assert!(lines <= LINES_MAX, "{} has {lines} lines", file.display());
        }
    }
}
