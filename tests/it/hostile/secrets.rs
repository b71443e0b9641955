//! Everything is done once, with secrets wherever they can be; then all that the program left behind is searched for them.

use super::server::{Act, Asked, Server, answer, tells};
use crate::world::{Ran, World};
use pretty_assertions::assert_eq;
use std::fmt::Write as _;
use std::path::Path;

/// The token in the environment: characters that an address and JSON spell otherwise.
const TOKEN: &str = "tokenEnv+9f8e7d6c/5b4a3\"x";
/// The pair in the file.
const PAIR: &str = "svc:fileSecret-Q7w8E9r0";
const PAIR_PASSWORD: &str = "fileSecret-Q7w8E9r0";
const HOOK: &str = "hookSecret-1q2w3e4r5t";
const PASSWORD: &str = "payloadPassword-zx12cv34";
const HOLDER: &str = "Ana-Maria-Quintero-771";
const CARD: &str = "5555555555554444";
const CARD_ANSWERED: &str = "4000056655665556";
const URL_PASSWORD: &str = "urlPassword-77aa88bb";
const ERROR_TOKEN: &str = "errorToken-abc123def456";
const SECRETS: [&str; 10] =
    [TOKEN, PAIR, PAIR_PASSWORD, HOOK, PASSWORD, HOLDER, CARD, CARD_ANSWERED, URL_PASSWORD, ERROR_TOKEN];

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0_usize, |all, byte| all << 8 | usize::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..=three.len() {
            text.push(char::from(LETTERS[bits >> (18 - 6 * place) & 63]));
        }
    }
    text
}

/// A secret in every spelling that somebody could read it from.
fn spellings(secret: &str) -> Vec<(&'static str, String)> {
    let hex = secret.bytes().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    });
    // Within a longer text the same bytes are spelled in three ways; the letters at both ends belong to others too.
    let within = |before: usize| {
        let spelled = base64(&[&vec![b'x'; before], secret.as_bytes()].concat());
        spelled[if before == 0 { 0 } else { 4 }..spelled.len() - 2].to_owned()
    };
    vec![
        ("plain", secret.to_owned()),
        ("JSON", serde_json::to_string(secret).unwrap().trim_matches('"').to_owned()),
        ("address", url::form_urlencoded::byte_serialize(secret.as_bytes()).collect()),
        ("hexadecimal", hex.clone()),
        ("HEXADECIMAL", hex.to_uppercase()),
        ("base64", within(0)),
        ("base64, one further", within(1)),
        ("base64, two further", within(2)),
    ]
}

/// What an artefact gives away.
fn given_away(what: &str, bytes: &[u8]) -> Vec<String> {
    let holds = |spelled: &str| bytes.windows(spelled.len()).any(|window| window == spelled.as_bytes());
    let all =
        SECRETS.iter().flat_map(|secret| spellings(secret).into_iter().map(move |spelled| (secret, spelled)));
    all.filter(|(_, (_, spelled))| holds(spelled))
        .map(|(secret, (how, _))| format!("{what} holds {secret} ({how})"))
        .collect()
}

/// The search finds what it is there to find.
#[test]
fn a_secret_is_found_in_every_spelling() {
    for secret in SECRETS {
        for (how, spelled) in spellings(secret) {
            assert!(!given_away("x", format!("..{spelled}..").as_bytes()).is_empty(), "{secret} as {how}");
        }
        for before in ["", "a", "ab", "abc"] {
            let within = base64(format!("{before}{secret}:more").as_bytes());
            assert!(!given_away("x", within.as_bytes()).is_empty(), "{secret} after {before:?}");
        }
    }
    assert_eq!(given_away("x", b"nothing of the kind"), Vec::<String>::new());
}

/// Answers that echo what they were sent, and more.
fn provider() -> Act {
    tells(|asked: &Asked| {
        let authorization =
            asked.head.lines().find_map(|line| line.strip_prefix("authorization: ")).unwrap_or("");
        assert!(!authorization.is_empty(), "the secret was sent: {}", asked.head);
        if asked.head.starts_with("POST") {
            let said = format!("no, {authorization} is wrong; the body was {}", asked.body);
            let status = if asked.body.contains("pay-1") { "400 Bad" } else { "202 Taken" };
            return answer(status, "", said);
        }
        let reference = asked.query("reference");
        // Each provider knows the one secret that it was sent.
        let sent = if authorization.starts_with("Bearer") { TOKEN } else { PAIR };
        let status = if reference == "inv-1" || reference == "pay-1" { "succeeded" } else { "failed" };
        if reference == "inv-4" {
            let hex = spellings(sent)[3].1.clone();
            let cut = format!(
                r#"{{"error":"{authorization} is wrong","token":{},"holder":"{HOLDER}","hex":"{hex}","card":{CARD_ANSWERED},"address":"https://svc:{URL_PASSWORD}@host/","holder":{{"name":"{HOLDER}"#,
                serde_json::Value::from(sent)
            );
            return answer("401 No", &format!("X-Echo: {authorization}\r\n"), cut);
        }
        let echo = serde_json::json!({
            "object": "list",
            "data": [{
                "id": format!("ch-{reference}"), "reference": reference, "status": status, "amount": 1200, "currency": "eur",
                "created": 1_800_000_000, "card": CARD_ANSWERED, "number": CARD_ANSWERED.parse::<u64>().unwrap(),
                "note": format!("paid with {CARD_ANSWERED} by {authorization}"), "holder": HOLDER,
                "echo": { "raw": authorization, "base64": base64(sent.as_bytes()), "header": asked.head, "password": PASSWORD },
                "link": format!("https://svc:{URL_PASSWORD}@host/?token={ERROR_TOKEN}"),
            }],
            "has_more": false,
        });
        answer("200 OK", &format!("X-Echo: {authorization}\r\n"), echo.to_string())
    })
}

const CONFIG: &str = include_str!("../../fixtures/hostile/secrets.toml");

/// The place: jobs with secrets in error and payload, and a provider that gives away what it gets.
fn stage() -> (World, Server) {
    let (world, server) = (World::new(), Server::start(provider()));
    let error = format!(
        "401 at https://svc:{URL_PASSWORD}@api.example.com/v1: Authorization: Bearer {ERROR_TOKEN} was refused for card {CARD}: {{\"holder\":\"{HOLDER}\"}}; Read timed out"
    );
    let payload = serde_json::json!({
        "password": PASSWORD, "card": CARD, "holder": HOLDER, "list": [{ "api_token": ERROR_TOKEN, "note": format!("card {CARD}") }],
    });
    let database = world.database(
        "jobs.db",
        "CREATE TABLE invoices (id, state, error, args, updated_at); CREATE TABLE payouts (id, state, error, args, updated_at);",
    );
    let connection = rusqlite::Connection::open(database).unwrap();
    for (table, keys) in [("invoices", &["inv-1", "inv-2", "inv-3", "inv-4"][..]), ("payouts", &["pay-1"])] {
        for key in keys {
            let sql = format!(
                "INSERT INTO {table} VALUES (?1, 'failed', ?2, ?3, strftime('%Y-%m-%dT%H:%M:%f', 'now', '-2 hours'))"
            );
            connection.execute(&sql, [key, error.as_str(), &payload.to_string()]).unwrap();
        }
    }
    world.write("pair.secret", format!("{PAIR}\n"));
    std::fs::create_dir(world.path("presets")).unwrap();
    let ledger = include_str!("../../../assets/presets/ledger.toml");
    world.write(
        "presets/basic.toml",
        ledger.replace(r#"name = "ledger""#, r#"name = "basic""#).replace(
            "[auth]\nkind = \"bearer\"",
            "[auth]\nkind = \"basic\"\nsecret_is = \"user_and_password\"",
        ),
    );
    world.write("config.toml", CONFIG.replace("BASE", &server.base));
    std::fs::create_dir(world.path("tmp")).unwrap();
    (world, server)
}

fn run(world: &World, arguments: &str) -> Ran {
    let mut command = world.command();
    command
        .env("UNSTUCK_LEDGER_TOKEN", TOKEN)
        .env("UNSTUCK_HOOK_TOKEN", HOOK)
        .env("TMPDIR", world.path("tmp"));
    let words = arguments.split_whitespace().map(|word| word.replace('_', " "));
    let output = command.args(["--config", "config.toml"]).args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Every file below a folder, but for what was put there.
fn left_behind(folder: &Path) -> Vec<(String, Vec<u8>)> {
    const OURS: [&str; 4] = ["jobs.db", "pair.secret", "config.toml", "presets"];
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !OURS.contains(&name.as_str()) {
            files.extend(left_behind(&path));
        } else if path.is_file() && !OURS.contains(&name.as_str()) {
            files.push((name, std::fs::read(&path).unwrap()));
        }
    }
    files
}

#[test]
fn nothing_that_is_left_behind_holds_a_secret() {
    let (world, server) = stage();
    let mut searched = 0;
    let mut found = Vec::new();
    let mut search = |what: &str, bytes: &[u8]| {
        searched += 1;
        found.extend(given_away(what, bytes));
    };
    for arguments in [
        "list",
        "list --json",
        "list --csv",
        "check --all",
        "check --all --json",
        "check --all --csv",
        "doctor",
        "doctor --json",
        "decide inv-1 --source invoices --done --reason seen --dry-run",
        "decide inv-1 --source invoices --done --reason seen",
        "decide inv-2 --source invoices --retry --reason declined --override --json",
        "decide inv-3 --source invoices --escalate --reason look_at_it",
        "decide pay-1 --source payouts --escalate --reason look_at_it --json",
        "decide inv-4 --source invoices --done --reason why",
        "audit list",
        "audit list --json",
        "audit verify",
        "audit export --format json",
        "audit export --format csv",
    ] {
        let ran = run(&world, arguments);
        assert!(!(ran.out.is_empty() && ran.err.is_empty()), "{arguments} says nothing");
        let code = match arguments.split_whitespace().nth(1) {
            Some("pay-1" | "inv-4") => Some(1),
            _ => Some(0),
        };
        assert_eq!(ran.code, code, "{arguments}: {}{}", ran.out, ran.err);
        search(&format!("stdout of {arguments}"), ran.out.as_bytes());
        search(&format!("stderr of {arguments}"), ran.err.as_bytes());
    }
    let export = run(&world, "audit export --format json").out;
    for event in ["checked", "intended", "applied", "dry_run", "••••"] {
        assert!(export.contains(event), "{event} is on record: {export}");
    }
    #[cfg(unix)]
    for (what, bytes) in on_a_terminal(&world) {
        search(&what, &bytes);
    }
    let files = left_behind(&world.path(""));
    for name in ["audit.db", "receipts.jsonl"] {
        assert!(files.iter().any(|(known, _)| known == name), "{name} is there");
    }
    for (name, bytes) in &files {
        search(name, bytes);
    }
    assert!(server.requests() > 20 && searched > 40, "{} requests, {searched} artefacts", server.requests());
    assert_eq!(found, Vec::<String>::new());
}

/// A token that looks like nothing, given back as what the program takes from an answer and repeats.
#[test]
fn a_token_that_comes_back_as_an_effect_is_nowhere() {
    const PLAIN: &str = "plaintoken77x";
    const STRANGERS: [&str; 2] = ["sk_live_Zq81mm20Rt", "sk_live_Wn77kk31Pv"];
    let (world, _) = stage();
    let server = Server::start(tells(|asked| {
        let reference = asked.query("reference");
        let one = |id: &str, status: &str, currency: &str| {
            serde_json::json!({
                "id": id, "reference": reference, "status": status, "amount": 1200, "currency": currency, "created": 1_800_000_000,
            })
        };
        let data = match reference.as_str() {
            "inv-1" => vec![one(PLAIN, "succeeded", "eur")],
            "inv-2" => vec![one("ch_2", PLAIN, PLAIN)],
            "inv-3" => STRANGERS.map(|id| one(id, "succeeded", "eur")).to_vec(),
            // An effect that is none is told with what it is instead.
            _ => vec![PLAIN.into()],
        };
        // Told up to its 80th character, which is within the token.
        let error = format!("{}{PLAIN}", "e".repeat(70));
        let body = match reference.as_str() {
            "pay-1" => serde_json::json!({ "object": "list", "error": error, "data": [], "has_more": false }),
            _ => serde_json::json!({ "object": "list", "data": data, "has_more": false }),
        };
        answer("200 OK", "", body.to_string())
    }));
    world.write("config.toml", CONFIG.replace("BASE", &server.base));
    // The other provider knows it as a password.
    world.write("pair.secret", format!("svc:{PLAIN}"));
    let run = |arguments: &str| {
        let mut command = world.command();
        command.env("UNSTUCK_LEDGER_TOKEN", PLAIN).env("UNSTUCK_HOOK_TOKEN", HOOK);
        let words = arguments.split_whitespace();
        let output = command.args(["--config", "config.toml"]).args(words).output().unwrap();
        (output.status.code(), output.stdout, output.stderr)
    };
    let mut artefacts = Vec::new();
    for arguments in [
        "check --all",
        "check --all --json",
        "check --all --csv",
        "decide inv-1 --source invoices --done --reason seen --json",
        "decide inv-2 --source invoices --escalate --reason odd",
        "audit list --json",
        "audit export --format json",
        "audit export --format csv",
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!(code, Some(0), "{arguments}: {}", String::from_utf8_lossy(&err));
        artefacts.push((format!("stdout of {arguments}"), out));
        artefacts.push((format!("stderr of {arguments}"), err));
    }
    let checked = String::from_utf8(artefacts[2].1.clone()).unwrap();
    let verdict = |key: &str| {
        let lines = checked.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let mut of_key = lines.filter(|line| line["key"] == key);
        of_key.next().unwrap()["verdict"].as_str().unwrap().to_owned()
    };
    let verdicts = ["inv-1", "inv-2", "inv-3", "inv-4", "pay-1"].map(verdict);
    assert_eq!(verdicts, ["happened", "unknown", "duplicated", "unknown", "unknown"]);
    artefacts.extend(left_behind(&world.path("")));
    for name in ["audit.db", "receipts.jsonl"] {
        assert!(artefacts.iter().any(|(known, _)| known == name), "{name} is there");
    }
    // Its beginning too: what is cut off does not make the rest less of a secret.
    for secret in [PLAIN, "PLAINTOKEN77X", "plaint", STRANGERS[0], STRANGERS[1]] {
        let holds = |bytes: &[u8]| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        let holding: Vec<&String> =
            artefacts.iter().filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect();
        assert_eq!(holding, Vec::<&String>::new(), "{secret}");
    }
}

/// The console with everything opened, once to its end and once to a break: the bytes that reached the terminal.
#[cfg(unix)]
fn on_a_terminal(world: &World) -> Vec<(String, Vec<u8>)> {
    use crate::pty::terminal::{Start, Terminal};
    let arguments = format!("--config '{}'", world.path("config.toml").display());
    let temporary = world.path("tmp").display().to_string();
    let environment = [
        ("UNSTUCK_LEDGER_TOKEN", TOKEN),
        ("UNSTUCK_HOOK_TOKEN", HOOK),
        ("UNSTUCK_OPERATOR", "ana"),
        ("UNSTUCK_PANIC_ON_KEY", "console"),
        ("TMPDIR", temporary.as_str()),
    ];
    let start = Start {
        arguments: &arguments,
        size: (160, 50),
        environment: &environment,
        has_own_temporary: false,
        ..Start::default()
    };
    let mut screens = Vec::new();
    // Only builds with debug assertions can be made to break.
    for (end, code) in [("\x03", 0), ("!", 101)] {
        if code == 101 && !cfg!(debug_assertions) {
            continue;
        }
        let mut terminal = Terminal::start(&start);
        terminal.shows("findings");
        terminal.press("C");
        terminal.shows(" checked");
        terminal.press("\r");
        terminal.until("the payload", |screen| screen.contents().contains("Payload"));
        terminal.shows("••••");
        terminal.press("\x06");
        terminal.press("\x06");
        terminal.press("G");
        terminal.press("e");
        terminal.shows("Reason [");
        terminal.press("why");
        terminal.escape("Reason [");
        terminal.press(end);
        terminal.is_over(code);
        screens.push((format!("the console that ends with {code}"), terminal.written().into_bytes()));
    }
    screens
}
