use super::*;
use rstest::rstest;

const GOOD: &str = r#"
type = "escalation"
name = "desk"
title = "The desk"
key_protects = false
repeat = "It is asked first."
auth = { kind = "bearer" }
[send]
path = "/tickets"
success = [201]
body = { key = "{{ dedup_key }}", text = "{{ details }}" }
[look_up]
unanswerable = "it answers no questions, and nobody knows why it was built so"
"#;

#[test]
fn a_preset_is_read_with_its_request_and_its_look_up() {
    let preset = EscalationPreset::parse(GOOD).unwrap();
    assert_eq!((&*preset.target.name, preset.key_protects), ("desk", false));
    assert_eq!((preset.send.success.as_slice(), preset.send.uses_secret), (&[201][..], false));
    assert_eq!(preset.target.operations.keys().collect::<Vec<_>>(), [LOOK_UP]);
}

#[rstest]
#[case::no_send("[send]", "[sent]", "`send` is missing")]
#[case::no_repeat(
    "repeat = \"It is asked first.\"",
    "repeat = \"\"",
    "`repeat` must say what a repeat comes to"
)]
#[case::no_key("{{ dedup_key }}", "{{ key }}", "nothing carries `dedup_key`")]
#[case::unknown_name("{{ details }}", "{{ nonsense }}", "a notice has no `nonsense`")]
#[case::status("[201]", "[302]", "it lists the statuses from 200 to 299")]
#[case::secret_in_address("/tickets", "/{{ secret }}", "addresses are shown")]
#[case::query_in_path("/tickets", "/tickets?x=1", "parameters belong into `query`")]
#[case::own_header(
    "success = [201]",
    "success = [201]\nheaders = { Authorization = 'x' }",
    "is not a preset's to set"
)]
#[case::unknown_field("success = [201]", "success = [201]\nsucces = 1", "unknown field")]
#[case::template("{{ details }}", "{{ details", "cannot be read")]
fn what_is_wrong_is_said_in_a_sentence(#[case] from: &str, #[case] to: &str, #[case] expected: &str) {
    assert!(GOOD.contains(from));
    let sentence = EscalationPreset::parse(&GOOD.replace(from, to)).unwrap_err();
    assert!(sentence.contains(expected) && !sentence.contains("provider preset"), "{sentence}");
}
