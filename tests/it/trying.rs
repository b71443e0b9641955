//! `unstuck doctor --provider NAME --reference X`: what it shows, what it keeps, and that what it keeps says the same.

use crate::provider_presets::played_back::play_all;
use crate::world::World;
use pretty_assertions::assert_eq;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use wiremock::matchers::{any, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

const SECRET: &str = "sk_test_51ABCDEFsecret";
/// What nobody may find in an example.
const PERSONAL: [&str; 9] = [
    "Ana Silva",
    "ana.silva@example.com",
    "bob@example.org",
    "+351 912 345 678",
    "Rua das Flores",
    "4242424242424242",
    "pay.stripe.com",
    "other-customers-order",
    SECRET,
];

fn charge(id: &str, reference: &str, amount: u64) -> Value {
    json!({
        "id": id, "object": "charge", "amount": amount, "amount_captured": amount, "currency": "eur", "created": 1_795_960_925,
        "status": "succeeded", "metadata": { "job_id": reference, "who": "bob@example.org" },
        "billing_details": {
            "name": "Ana Silva", "email": "ana.silva@example.com", "phone": "+351 912 345 678",
            "address": { "line1": "Rua das Flores 7", "city": "Porto" },
        },
        "receipt_url": "https://pay.stripe.com/receipts/payment/CAcQARoX",
        "statement": "Thank you, Ana Silva", "number": "4242424242424242", "echo": SECRET,
    })
}

/// Two pages of charges, two of them ours.
async fn serve(server: &MockServer) {
    let first = json!({
        "object": "list", "has_more": true,
        "data": [charge("ch_1", "job-7", 1050), charge("ch_2", "other-customers-order", 99)],
    });
    let last = json!({ "object": "list", "has_more": false, "data": [charge("ch_3", "job-7", 2000)] });
    Mock::given(query_param_is_missing("starting_after"))
        .respond_with(ResponseTemplate::new(200).set_body_json(first))
        .mount(server)
        .await;
    Mock::given(query_param("starting_after", "ch_2"))
        .respond_with(ResponseTemplate::new(200).set_body_json(last))
        .mount(server)
        .await;
}

struct Stage {
    world: World,
    _server: MockServer,
    runtime: Runtime,
}

impl Stage {
    fn new(serve: impl AsyncFnOnce(&MockServer)) -> Self {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(async {
            let server = MockServer::start().await;
            serve(&server).await;
            server
        });
        let world = World::new();
        world.write(
            "config.toml",
            format!(
                "[[sources]]\nurl = 'sqlite://jobs.db'\npreset = 'jobs'\nname = 'jobs'\n[providers.pay]\npreset = 'stripe'\n\
                 base_url = '{}'\nsecret_file = 'key'\nvariables = {{ metadata_key = 'job_id' }}\n",
                server.uri()
            ),
        );
        world.write("key", SECRET);
        Self { world, _server: server, runtime }
    }

    fn doctor(&self, arguments: &str) -> crate::world::Ran {
        self.world.run(&format!("--config config.toml doctor --provider pay --reference job-7 {arguments}"))
    }
}

#[test]
fn every_step_is_shown_and_the_secret_is_not() {
    let stage = Stage::new(serve);
    let ran = stage.doctor("--operation charge --tried 18h --json");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(!ran.out.contains(SECRET) && !ran.out.contains("4242424242424242"));
    let steps = ran.each("step");
    let expected = [
        "question", "request", "answer", "page", "effect", "effect", "request", "answer", "page", "effect",
        "absence", "clock", "clock", "clock", "verdict",
    ];
    assert_eq!(steps, expected);
    let lines = ran.json();
    let headers = lines[1]["headers"].as_array().unwrap();
    assert!(headers.contains(&json!("authorization: ••••")), "{headers:?}");
    assert_eq!((&lines[2]["status"], &lines[3]["items"]), (&json!(200), &json!(2)));
    assert_eq!(lines[3]["matched_by"], "`$.metadata['job_id']` of each effect, exactly");
    let ours = &lines[4];
    assert_eq!(
        (&ours["id"], &ours["is_ours"], &ours["money"]),
        (&json!("ch_1"), &json!(true), &json!("10.50 EUR"))
    );
    assert_eq!((&ours["status"], &ours["amounts_to"]), (&json!("succeeded"), &json!("happened")));
    let other = &lines[5];
    assert_eq!((&other["id"], &other["is_ours"]), (&json!("ch_2"), &json!(false)));
    assert_eq!(other["carries"], json!(["other-customers-order"]));
    let clocks: Vec<&Value> = lines[11..14].iter().map(|line| &line["is"]).collect();
    assert_eq!(clocks, ["2 min", "365 d", "1 d"]);
    let verdict = lines.last().unwrap();
    assert_eq!((&verdict["verdict"], &verdict["effects"]), (&json!("duplicated"), &json!(2)));
    // The same for a person.
    let told = stage.doctor("--operation charge --tried 18h");
    assert!(told.out.contains("verdict   verdict        duplicated\n"), "{}", told.out);
    assert!(!told.out.contains(SECRET));
}

#[test]
fn what_is_recorded_holds_nobodys_details_and_plays_back_to_the_same_verdict() {
    let stage = Stage::new(serve);
    for nth in 1..=2 {
        let ran = stage.doctor("--operation charge --tried 18h --record kept");
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        assert!(ran.out.contains(&format!("charge.recorded.{nth}.toml")), "{}", ran.out);
    }
    let folder = stage.world.path("kept");
    let mut files = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let found: Vec<&&str> = PERSONAL.iter().filter(|personal| text.contains(**personal)).collect();
        assert!(found.is_empty(), "{found:?} in {text}");
        files += 1;
    }
    assert_eq!(files, 6, "two indexes, and two pages each");
    assert_eq!(stage.runtime.block_on(play_all("stripe", &folder)), 2);
}

#[test]
fn no_file_is_ever_written_over() {
    let stage = Stage::new(serve);
    std::fs::create_dir(stage.world.path("kept")).unwrap();
    stage.world.write("kept/charge.recorded.1.1.json", "mine");
    let ran = stage.doctor("--operation charge --record kept");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("is there already, and stays as it is"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(stage.world.path("kept/charge.recorded.1.1.json")).unwrap(), "mine");
    stage.world.write("file", "mine");
    assert_eq!(stage.doctor("--operation charge --record file").code, Some(2));
}

#[rstest]
#[case::absent_and_settled(200, json!({"object": "list", "data": [], "has_more": false}), "--tried 18h", 0, "not_found")]
#[case::absent_and_nobody_knows_when(200, json!({"object": "list", "data": [], "has_more": false}), "", 0, "unknown")]
#[case::refused(401, json!({"error": {"message": "No such key"}}), "--tried 18h", 1, "unknown")]
#[case::shape(200, json!({"other": []}), "--tried 18h", 1, "unknown")]
#[case::no_json(200, Value::from("<html>"), "--tried 18h", 1, "unknown")]
fn the_exit_code_says_whether_there_was_an_answer(
    #[case] status: u16,
    #[case] body: Value,
    #[case] more: &str,
    #[case] code: i32,
    #[case] verdict: &str,
) {
    let stage = Stage::new(async |server: &MockServer| {
        let text = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
        let answer = ResponseTemplate::new(status).set_body_string(text);
        Mock::given(any()).respond_with(answer).mount(server).await;
    });
    let ran = stage.doctor(&format!("--operation charge {more} --json --record kept"));
    assert_eq!(ran.code, Some(code), "{}", ran.err);
    let lines = ran.json();
    let told = lines.iter().find(|line| line["step"] == "verdict").unwrap();
    assert_eq!(told["verdict"], verdict, "{told}");
    assert_eq!(stage.runtime.block_on(play_all("stripe", &stage.world.path("kept"))), 1);
}

#[test]
fn nobody_there_is_3_and_a_wrong_call_is_2() {
    let stage = Stage::new(serve);
    let config = std::fs::read_to_string(stage.world.path("config.toml")).unwrap();
    let port_of_nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (before, rest) = config.split_once("base_url = '").unwrap();
    let (_, after) = rest.split_once('\'').unwrap();
    stage.world.write("config.toml", format!("{before}base_url = 'http://{port_of_nobody}'{after}"));
    let ran = stage.doctor("--operation charge");
    assert_eq!(ran.code, Some(3), "{}", ran.out);
    let ran = stage.doctor("");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("has the operations charge, payment_intent"), "{}", ran.err);
    let ran = stage.world.run("--config config.toml doctor --provider nobody --reference x");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("no provider `nobody` is configured (there is pay)"), "{}", ran.err);
    let ran = stage.doctor("--operation charge --tried yesterday");
    assert!(ran.err.contains("--tried `yesterday` is no moment"), "{}", ran.err);
}
